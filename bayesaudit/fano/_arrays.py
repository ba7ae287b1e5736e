"""Arrays in and out of the broadcasting functions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["nonnegative", "plain"]


def nonnegative(values: Any, name: str) -> NDArray[np.float64]:
    """Return real numbers >= 0 as an array of floats; infinity is allowed, NaN is not."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be real numbers, got {values!r:.60}.")
    array = array.astype(float)
    if not (array >= 0).all():
        raise ValueError(f"{name} must be >= 0, got {float(array[~(array >= 0)].flat[0])!r}.")
    return array


def plain(values: NDArray[np.float64]) -> Any:
    """Return a float for a scalar, the array itself otherwise."""
    return float(values) if np.ndim(values) == 0 else values

"""The kernel density of draws, reflected at the ends of the measure's range."""

import numpy as np
from numpy.typing import NDArray

from bayesaudit.posteriors._error import mean_error

__all__ = ["bandwidth", "kernel_mean"]

Array = NDArray[np.float64]
#: Kernel values held at once.
CHUNK = 4_000_000


def bandwidth(values: Array) -> float:
    """Return Silverman's robust bandwidth; 0 where the draws are constant or absent."""
    if values.size < 2:
        return 0.0
    quarter = np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.349
    spread = np.std(values)
    scale = min(spread, quarter) if quarter > 0 else spread
    return 0.9 * scale * values.size**-0.2


def kernel_mean(
    values: Array,
    keep: NDArray[np.bool_],
    level: Array,
    width: float,
    limits: tuple[float, float],
    *,
    errors: bool,
) -> tuple[Array, Array]:
    """Return the mean over all draws of the kernels of those kept, and its standard error.

    Parameters
    ----------
    values : numpy.ndarray, shape (chains, draws)
        The draws.
    keep : numpy.ndarray of bool
        Which of them have a kernel: not the atom, nor the infinite ones.
    level : numpy.ndarray, shape (n,)
        Where to evaluate.
    width : float
        Standard deviation of the kernel.
    limits : tuple of float
        Ends of the range; kernels are reflected at those that are finite, and 0 outside.
    errors : bool
        Whether the standard error is wanted; else it is NaN.
    """
    density, error = np.zeros(level.size), np.full(level.size, np.nan)
    if width == 0:
        return np.where(np.isnan(level), np.nan, density), error
    ends = [end for end in limits if np.isfinite(end)]
    flat = np.where(keep, values, np.inf).ravel()
    step = max(1, CHUNK // flat.size)
    inside = (level >= limits[0]) & (level <= limits[1])
    for first in range(0, level.size, step):
        x = level[first : first + step, None]
        kernels = np.zeros((x.shape[0], flat.size))
        for centre in (flat, *(2 * end - flat for end in ends)):
            kernels += np.exp(-0.5 * ((x - centre) / width) ** 2)
        kernels /= width * np.sqrt(2 * np.pi)
        density[first : first + step] = kernels.mean(axis=1)
        if errors:
            error[first : first + step] = [mean_error(row.reshape(values.shape)) for row in kernels]
    density[~inside & ~np.isnan(level)] = 0.0
    return density, error

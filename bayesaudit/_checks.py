"""Checks at the public boundary: one function a rule; messages name argument, rule and value."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BayesAuditError",
    "DataError",
    "check_choice",
    "check_integers",
    "check_nonnegative",
    "check_number",
    "check_prob",
    "check_probability",
]


class BayesAuditError(Exception):
    """Base class of every error that bayesaudit defines."""


class DataError(BayesAuditError, ValueError):
    """Input data that cannot be an attack's output; the message names the file, row and rule."""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def check_number(value: Any, name: str) -> float:
    """Return a real scalar as a float; refuse booleans, strings, arrays and NaN."""
    if isinstance(value, bool | np.bool_ | str | bytes) or np.ndim(value) != 0:
        raise TypeError(f"{name} must be a real number, got {_shown(value)}.")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a real number, got {_shown(value)}.") from None
    if np.isnan(number):
        raise ValueError(f"{name} must be a real number, got NaN.")
    return number


def check_nonnegative(value: Any, name: str) -> float:
    """Return a finite float >= 0."""
    number = check_number(value, name)
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be finite and >= 0, got {number!r}.")
    return number


def check_probability(value: Any, name: str) -> float:
    """Return a float in [0, 1]."""
    number = check_number(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {number!r}.")
    return number


def check_prob(value: Any, name: str = "prob") -> float:
    """Return an interval's mass, a float strictly between 0 and 1; hint at a percentage."""
    number = check_number(value, name)
    if 1 < number < 100:
        raise ValueError(
            f"{name} must be in (0, 1), got {number!r}; did you mean {number / 100:g}?"
        )
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in (0, 1), got {number!r}.")
    return number


def check_choice(value: Any, name: str, choices: Collection[str]) -> str:
    """Return `value` if it is one of the closed choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {_shown(value)}.")
    return value


def check_integers(value: ArrayLike, name: str, *, minimum: int = 0) -> NDArray[np.int64]:
    """Return whole numbers as int64; refuse booleans, fractions, NaN, strings and overflow.

    Parameters
    ----------
    value : array_like of int, any shape
        Integers, or floats with no fractional part.
    name : str
        The argument's name, for the message.
    minimum : int
        The smallest value allowed.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        raise TypeError(f"{name} must be whole numbers, got a ragged sequence.") from None
    if array.dtype.kind not in "iuf":
        kind = "booleans" if array.dtype.kind == "b" else _shown(value)
        raise TypeError(f"{name} must be whole numbers, got {kind}.")
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array) | (array != np.trunc(array)) | (np.abs(array) >= 2.0**53)
        if bad.any():
            first = float(array[bad].flat[0])
            raise ValueError(f"{name} must be whole numbers, got {first!r}.")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must fit in 64 bits, got {int(array.max())}.")
    array = array.astype(np.int64)
    if array.size and array.min() < minimum:
        raise ValueError(f"{name} must be >= {minimum}, got {int(array.min())}.")
    return array

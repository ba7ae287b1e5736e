"""Piecewise Chebyshev interpolation: fast, and as precise as the panels are fine."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["clenshaw", "coefficients", "lobatto", "matrix"]

Array = NDArray[np.float64]


@cache
def lobatto(points: int) -> Array:
    """Return Chebyshev–Lobatto points on [−1, 1], in increasing order."""
    return -np.cos(np.pi * np.arange(points) / (points - 1))


@cache
def _to_coefficients(points: int) -> Array:
    return np.linalg.inv(np.polynomial.chebyshev.chebvander(lobatto(points), points - 1)).T


def coefficients(values: Array) -> Array:
    """Return the Chebyshev coefficients of values at Lobatto points (the last axis)."""
    return values @ _to_coefficients(values.shape[-1])


def matrix(points: int, at: Array) -> Array:
    """Return the matrix that takes values at Lobatto points to values `at` points of [−1, 1]."""
    return _to_coefficients(points) @ np.polynomial.chebyshev.chebvander(at, points - 1).T


def clenshaw(rows: Array, u: Array) -> Array:
    """Evaluate Chebyshev series: coefficients on the first axis of `rows`, one series a point.

    Parameters
    ----------
    rows : numpy.ndarray, shape (degree + 1, ...)
        Coefficients, broadcasting against `u` after the first axis.
    u : numpy.ndarray
        Points in [−1, 1].
    """
    twice = 2 * u
    last, now = np.zeros_like(u), np.zeros_like(u)
    for k in range(rows.shape[0] - 1, 0, -1):
        last, now = now, rows[k] + twice * now - last
    return rows[0] + u * now - last

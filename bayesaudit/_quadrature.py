"""Quadrature rules on (0, 1), with the distance to either end kept in full precision."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["legendre_rule", "tanh_sinh_rule"]

Array = NDArray[np.float64]


@cache
def legendre_rule(nodes: int, *, singular: bool = False) -> tuple[Array, Array, Array]:
    """Return a Gauss–Legendre rule, for a smooth integrand or one with a root at an end.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    singular : bool
        Substitute u = sin²(πv/2) first, which makes a square-root singularity at either end
        analytic: that is what the CDF of a rate with zero counts has where the boundary of a
        region meets the axis. It costs a factor π/2 in the spacing of the nodes.

    Returns
    -------
    (u, uc, weight) : tuple of numpy.ndarray, shape (nodes,)
        Nodes in (0, 1), their complements, and weights that sum to 1.
    """
    v, w = np.polynomial.legendre.leggauss(nodes)
    if not singular:
        return (1 + v) / 2, (1 - v) / 2, w / 2
    half = np.pi / 4 * (1 + v)
    return np.sin(half) ** 2, np.cos(half) ** 2, w * np.pi / 4 * np.sin(2 * half)


@cache
def tanh_sinh_rule(step: float = 1 / 16, reach: float = 4.3) -> tuple[Array, Array, Array]:
    """Return a double-exponential rule, for any algebraic singularity at the ends.

    Returns
    -------
    (u, uc, weight) : tuple of numpy.ndarray
        Nodes in (0, 1), their complements, and weights that sum to 1.

    References
    ----------
    Takahasi and Mori, "Double Exponential Formulas for Numerical Integration", 1974.
    """
    t = np.arange(-reach, reach + step / 2, step)
    s = np.pi * np.sinh(t)
    u, uc = 1 / (1 + np.exp(-s)), 1 / (1 + np.exp(s))
    return u, uc, step * np.pi * np.cosh(t) * u * uc

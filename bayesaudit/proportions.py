"""Intervals of a binomial proportion: the one place that knows Clopper–Pearson."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesaudit._checks import check_choice

__all__ = ["METHODS", "proportion_interval"]

Array = NDArray[np.float64]
METHODS = ("clopper-pearson", "jeffreys", "wilson")


def proportion_interval(
    k: ArrayLike, n: ArrayLike, tail: float, *, method: str = "clopper-pearson"
) -> tuple[Array, Array]:
    """Return an interval of a binomial proportion.

    Parameters
    ----------
    k, n : array_like of int
        Successes and trials; they broadcast. Without trials the interval is (0, 1).
    tail : float
        One-sided tail of either end, in (0, ½).
    method : {"clopper-pearson", "jeffreys", "wilson"}
        "clopper-pearson" is guaranteed; "jeffreys" has the equal tails of the posterior
        Beta(k + ½, n − k + ½), with ends 0 at k = 0 and 1 at k = n; "wilson" inverts the score
        test and is asymptotic.

    Returns
    -------
    (lower, upper) : tuple of numpy.ndarray

    Examples
    --------
    >>> lower, upper = proportion_interval(0, 1000, 5e-8)
    >>> print(f"{upper:.12f}")
    0.016670722432
    """
    check_choice(method, "method", METHODS)
    k, n = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    if method == "wilson":
        z2 = special.ndtri(tail) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = (k + z2 / 2) / (n + z2)
            half = np.sqrt(z2) / (n + z2) * np.sqrt(k * (n - k) / n + z2 / 4)
        lower, upper = centre - half, centre + half
    else:
        # Upper ends by the complement's quantile: 1 − tail would lose the tail's digits.
        shift = 1.0 if method == "clopper-pearson" else 0.5
        a, b = k + 1 - shift, n - k + 1 - shift
        lower = special.betaincinv(np.where(k > 0, a, 1), n - k + shift, tail)
        upper = special.betainccinv(k + shift, np.where(k < n, b, 1), tail)
    # At k = 0 and k = n the end is the boundary, also where a formula leaves rounding.
    return np.where(k == 0, 0.0, lower), np.where(k == n, 1.0, upper)

"""The local level of a band over all thresholds, from exact boundary-crossing probabilities."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["band_ranks", "crossing_probability", "local_level"]

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Up to this many rows every rank carries a bound of its own.
ALL_RANKS = 1000
#: Probabilities below this are dropped, which can only raise the crossing probability.
NEGLIGIBLE = 1e-16
#: Shorter operands are convolved directly.
DIRECT = 64
#: Where the search for a local level starts: log10(n) and the log of significance/level.
EFFECTIVE = ([0, 1, 2, 3, 4, 5, 6, 7], np.log([1, 6.8, 23, 45, 64, 88, 112, 135]))
#: To what the search is taken, in the log of the probability.
TOLERANCE = 1e-5


@lru_cache(maxsize=64)
def band_ranks(n: int) -> Integers:
    """Return the ranks 0 <= k < n that carry a bound: all of them, or for large n a thinned grid.

    The grid depends on n alone. Its gaps are at most half a standard deviation of the rank or 1 %
    of the distance to the nearer end, whichever is wider, so that a bound at the next rank is
    hardly larger than a bound at the rank itself.
    """
    if n <= ALL_RANKS:
        return np.arange(n)
    ranks, k = [], 0
    while k <= n // 2:
        ranks.append(k)
        k += max(1, int(0.5 * np.sqrt(k)), int(0.01 * k))
    half = np.array(ranks)
    return np.unique(np.concatenate([half, n - 1 - half]))


def crossing_probability(n: int, ranks: Integers, bounds: Array) -> float:
    """Return P(U_(k+1) > bound_k for some rank k) of n uniform order statistics.

    Parameters
    ----------
    n : int
        Sample size.
    ranks : numpy.ndarray of int, shape (m,)
        Rising ranks k in [0, n).
    bounds : numpy.ndarray, shape (m,)
        Rising bounds in (0, 1].

    Notes
    -----
    ``U_(k+1) <= c`` says that more than k points lie at or below c. The number of points is a
    Poisson process of rate n given that it ends at n; its law, cut at every bound to paths that
    comply, is carried along by convolution with Poisson laws.

    References
    ----------
    Moscovich and Nadler, "Fast calculation of boundary crossing probabilities for Poisson
    processes", Statistics & Probability Letters 123 (2017) 177, arXiv:1503.04363.

    Examples
    --------
    >>> round(crossing_probability(2, np.array([0, 1]), np.array([0.5, 1.0])), 12)
    0.25
    """
    start, law, before = 0, np.ones(1), 0.0
    for rank, bound in zip(ranks.tolist(), bounds.tolist(), strict=True):
        first, step = _poisson(n * (bound - before))
        law, start, before = _convolve(law, step), start + first, bound
        if rank + 1 > start:
            law, start = law[rank + 1 - start :], rank + 1
        law = law[: n - start + 1]
        kept = np.flatnonzero(law > NEGLIGIBLE)
        if kept.size == 0:
            return 1.0
        law, start = law[kept[0] : kept[-1] + 1], start + int(kept[0])
    rest = n - start - np.arange(law.size)
    staying = float(np.sum(law * np.exp(_log_poisson(rest, n * (1 - before)))))
    return 1 - staying / float(np.exp(_log_poisson(np.array(n), float(n))))


def _log_poisson(k: Integers, mean: float) -> Array:
    return special.xlogy(k, mean) - mean - special.gammaln(k + 1.0)


def _poisson(mean: float) -> tuple[int, Array]:
    """Return a Poisson law as its first value and the probabilities from there."""
    spread = 9 * np.sqrt(mean)
    first = max(0, int(mean - spread - 12))
    return first, np.exp(_log_poisson(np.arange(first, int(mean + spread + 26)), mean))


def _convolve(left: Array, right: Array) -> Array:
    if min(left.size, right.size) < DIRECT:
        return np.convolve(left, right)
    size = left.size + right.size - 1
    padded = 1 << (size - 1).bit_length()
    return np.fft.irfft(np.fft.rfft(left, padded) * np.fft.rfft(right, padded), padded)[:size]


@lru_cache(maxsize=256)
def local_level(n: int, significance: float) -> float:
    """Return the local level a′ at which Clopper–Pearson upper bounds hold at all ranks at once.

    Parameters
    ----------
    n : int
        Sample size, >= 1.
    significance : float
        Probability, in (0, 1), that any of the bounds fails.

    Notes
    -----
    With F the distribution of the scores of one class, and k of its n rows below a threshold t,
    F(t) is at most F at the (k+1)-th smallest score, a uniform order statistic U_(k+1) or less. The
    bound ``c_k = Clopper–Pearson(k, n, a′)`` fails for some threshold only if ``U_(k+1) > c_k`` for
    some k, whichever threshold the data suggest. The level solves P(that) = significance; for
    continuous scores it is attained, with ties it errs less.

    Examples
    --------
    >>> round(local_level(1, 0.025), 6), round(local_level(100, 0.025), 6)
    (0.025, 0.001094)
    """
    ranks = band_ranks(n)
    if n == 1:
        return significance
    # Between Bonferroni over the ranks, which is too strict, and a single rank.
    low, high = np.log(significance / ranks.size), np.log(significance)
    point = np.log(significance) - float(np.interp(np.log10(n), *EFFECTIVE))
    before, slope = None, 1.0
    for _ in range(100):
        bounds = special.betainccinv(ranks + 1.0, n - ranks, np.exp(point))
        excess = float(np.log(crossing_probability(n, ranks, bounds) / significance))
        if abs(excess) <= TOLERANCE:
            break
        low, high = (low, point) if excess > 0 else (point, high)
        if before is not None and point != before[0]:
            slope = (excess - before[1]) / (point - before[0])
        before = (point, excess)
        point = point - excess / slope if slope > 0 else (low + high) / 2
        if not low < point < high:
            point = (low + high) / 2
    # On the safe side of what is left of the search.
    return float(np.exp(point - 4 * TOLERANCE))

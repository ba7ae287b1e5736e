"""Binomial probabilities over a window of outcomes, for many rates at once."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Window"]

Array = NDArray[np.float64]
#: Probability left outside a window, on either side, for every rate it was made for.
OUTSIDE = 1e-14
#: Rates are kept this far from 0 and 1, where the logit would be infinite.
SMALL = 1e-300
#: Inflation of the largest probabilities: covers the rounding of log-gamma up to n = 1e6.
INFLATE = 1 + 1e-9


class Window:
    """Outcomes `low`..`high` of Binomial(n, p), outside which no p in [p_low, p_high] has mass.

    Parameters
    ----------
    n : int
        Trials, >= 1.
    p_low, p_high : float
        Range of the rate.
    """

    def __init__(self, n: int, p_low: float, p_high: float) -> None:
        self.n = n
        self.low = _first(lambda k: special.bdtr(k, n, p_low) > OUTSIDE, 0, n)
        self.high = _first(lambda k: special.bdtrc(k, n, p_high) <= OUTSIDE, self.low, n)
        self.k = np.arange(self.low, self.high + 1)
        self.size = self.k.size
        self._weights = tuple(_log_coefficients(trials, self.k) for trials in (n, n - 1))
        self._shift = self.k - self.k[self.size // 2]

    def pmf(self, p: Array, *, fewer: bool = False) -> Array:
        """Return probabilities, shape (len(p), size), normalised over the window.

        Parameters
        ----------
        p : numpy.ndarray, shape (m,)
            Rates in [p_low, p_high].
        fewer : bool
            Of Binomial(n − 1, p) instead.
        """
        p = np.clip(p, SMALL, 1 - 2.0**-53)[:, None]
        log = self._weights[fewer] + self._shift * (np.log(p) - np.log1p(-p))
        np.exp(log - log.max(axis=1, keepdims=True), out=log)
        log /= log.sum(axis=1, keepdims=True)
        return log

    def largest(self, *, fewer: bool = False) -> Array:
        """Return every outcome's largest probability over all p, that at p = k/n."""
        n = self.n - fewer
        k = np.minimum(self.k, n)
        log = (
            special.gammaln(n + 1.0)
            - special.gammaln(k + 1.0)
            - special.gammaln(n - k + 1.0)
            + special.xlogy(k, k / max(n, 1))
            + special.xlogy(n - k, (n - k) / max(n, 1))
        )
        return np.where(self.k <= n, np.minimum(np.exp(log) * INFLATE, 1.0), 0.0)

    def bounds(self, p0: Array, p1: Array, *, fewer: bool = False) -> tuple[Array, Array]:
        """Return the smallest and largest probability of every outcome over p in [p0, p1].

        A probability is unimodal in p with its mode at k/n: its largest value is there or at the
        nearer end, its smallest at an end.
        """
        ends = self.pmf(p0, fewer=fewer), self.pmf(p1, fewer=fewer)
        mode = self.k / max(self.n - fewer, 1)
        above = np.maximum(*ends) * INFLATE
        inside = (p0[:, None] < mode) & (mode < p1[:, None])
        return np.minimum(*ends) / INFLATE, np.where(inside, self.largest(fewer=fewer), above)


def _log_coefficients(n: int, k: NDArray[np.int64]) -> Array:
    """Log of C(n, k) up to a constant, summed from the ratios of neighbours; −inf for k > n."""
    with np.errstate(divide="ignore"):
        steps = np.log(np.maximum(n - k[:-1], 0)) - np.log(k[1:])
    log = np.concatenate([[0.0], np.cumsum(steps)])
    return log - log[log.size // 2] if np.isfinite(log[log.size // 2]) else log


def _first(condition, low: int, high: int) -> int:
    """Return the first integer in [low, high] at which a condition that stays true is true."""
    while low < high:
        middle = (low + high) // 2
        if condition(middle):
            high = middle
        else:
            low = middle + 1
    return low

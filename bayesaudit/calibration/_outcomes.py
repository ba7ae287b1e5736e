"""The outcomes of an audit that matter, and their probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit.counts import AttackCounts

__all__ = ["Outcomes", "binomial_pmf", "binomial_window"]

Array = NDArray[np.float64]
#: Probability of all outcomes left out together.
LEFT_OUT = 1e-10


def binomial_window(n: int, p: float, left_out: float = LEFT_OUT) -> tuple[int, int]:
    """Return the first and last outcome of Binomial(n, p), but for `left_out`/4 on either side."""
    k = np.arange(n + 1)
    if n > 10_000:
        spread = 12 * np.sqrt(n * p * (1 - p)) + 60
        k = k[max(0, int(n * p - spread)) : int(n * p + spread) + 1]
    tail = left_out / 4
    inside = (special.bdtr(k, n, p) > tail) & (special.bdtrc(k - 1, n, p) > tail)
    # Without k = 0 in range, bdtrc(−1) has no meaning; P(X >= 0) is 1.
    inside |= (k == 0) & (special.bdtr(0, n, p) > tail)
    kept = k[inside]
    return int(kept[0]), int(kept[-1])


def binomial_pmf(k: Array, n: int, p: float) -> Array:
    """Return binomial probabilities."""
    k = np.asarray(k, float)
    log = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.exp(log + special.xlogy(k, p) + special.xlog1py(n - k, -p))


@dataclass(frozen=True)
class Outcomes:
    """A rectangle of outcomes (FN, FP), with the probability of each.

    Parameters
    ----------
    n_pos, n_neg : int
        Trials a side, >= 1.
    fn, fp : numpy.ndarray of int
        Outcomes of either side.
    """

    n_pos: int
    n_neg: int
    fn: NDArray[np.int64]
    fp: NDArray[np.int64]

    @staticmethod
    def likely(n_pos: int, n_neg: int, fnr: Array, fpr: Array) -> "Outcomes":
        """Return the outcomes that hold all but 1e-10 of the probability for every pair."""
        ranges = []
        for n, rates in ((n_pos, fnr), (n_neg, fpr)):
            ends = [binomial_window(n, float(p)) for p in (np.min(rates), np.max(rates))]
            ranges.append(np.arange(ends[0][0], ends[1][1] + 1))
        return Outcomes(n_pos, n_neg, *ranges)

    @property
    def size(self) -> int:
        """Number of outcomes."""
        return self.fn.size * self.fp.size

    def probability(self, fnr: float, fpr: float) -> Array:
        """Return the probability of every outcome, shape (fn.size, fp.size)."""
        return np.outer(
            binomial_pmf(self.fn, self.n_pos, fnr), binomial_pmf(self.fp, self.n_neg, fpr)
        )

    def counts(self, chosen: NDArray[np.bool_] | None = None) -> AttackCounts:
        """Return the outcomes as tallies: all of them in a grid, or the chosen ones in a row."""
        fn, fp = np.meshgrid(self.fn, self.fp, indexing="ij")
        if chosen is not None:
            fn, fp = fn[chosen], fp[chosen]
        return AttackCounts(fn=fn, tp=self.n_pos - fn, fp=fp, tn=self.n_neg - fp)

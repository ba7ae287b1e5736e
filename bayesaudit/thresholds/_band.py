"""A confidence band over all thresholds at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_prob
from bayesaudit._result import Table
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.roc import RocCurve
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds._calibration import band_ranks, local_level

__all__ = ["ConfidenceBand", "confidence_band"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceBand(Table):
    """Upper confidence bounds on both error rates that hold at every threshold at once.

    Parameters
    ----------
    roc : RocCurve
        The operating points.
    fnr_upper, fpr_upper : numpy.ndarray, shape (n_points,)
        Upper bounds at the operating points.
    prob : float
        Level in (0, 1): all the bounds together err by (1 − prob)/2.
    local_levels : tuple of float
        The tails of the single Clopper–Pearson bounds, for members and non-members.
    """

    roc: RocCurve
    fnr_upper: Array
    fpr_upper: Array
    prob: float
    local_levels: tuple[float, float]

    _omit = ("roc",)

    def columns(self) -> dict[str, Array]:
        """Return the operating points and their bounds by column name."""
        upper = {"fnr_upper": self.fnr_upper, "fpr_upper": self.fpr_upper}
        return self.roc.columns() | upper

    def lower(self, measure: Measure) -> Array:
        """Return lower bounds on a measure at every operating point, shape (n_points,).

        The bounds hold for all points, and for all measures of the declared direction, at once.
        """
        return np.asarray(measure.one_direction().of(self.fnr_upper, self.fpr_upper))

    def best(self, measure: Measure) -> tuple[float, int]:
        """Return the largest lower bound on a measure and the index of its operating point."""
        corners = self.roc.corners()
        lower = measure.one_direction().of(self.fnr_upper[corners], self.fpr_upper[corners])
        index = int(np.argmax(lower))
        return float(lower[index]), int(corners[index])

    def counts(self, index: int) -> AttackCounts:
        """Return the counts of one operating point."""
        return self.roc.counts[index]


def confidence_band(scores: AttackScores, prob: float = 0.90) -> ConfidenceBand:
    """Return Clopper–Pearson bounds calibrated to hold at all thresholds at once.

    Parameters
    ----------
    scores : AttackScores
        Scores, whose rows count as independent.
    prob : float
        Level in (0, 1): the probability that any bound fails is at most (1 − prob)/2, half of it
        for each rate.

    Notes
    -----
    The band is exact in finite samples and needs neither a seed nor a held-out part: whichever
    threshold, δ or measure the scores suggest, the bound there holds. Of all ranks of an order
    statistic, every single Clopper–Pearson bound has the same local level, found from the exact
    probability that uniform order statistics cross the bounds. For more than 1000 rows of a class
    the ranks are thinned to a grid that depends on their number alone, and a threshold uses the
    bound of the next rank.

    References
    ----------
    Moscovich, Nadler and Spiegelman, "On the exact Berk–Jones statistics and their p-value
    calculation", Electronic Journal of Statistics 10 (2016) 2329, arXiv:1311.3190, Section 3.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> scores = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)
    >>> band = confidence_band(scores)
    >>> lower, index = band.best(ba.Epsilon(delta=0))
    >>> print(f"{lower:.4f}", band.counts(index))
    2.6513 AttackCounts(fn=0, tp=100, fp=0, tn=100)
    """
    prob = check_prob(prob)
    roc = scores.roc()
    half = (1 - prob) / 4
    fnr_upper, fnr_level = _upper(roc.n_pos - roc.tp, roc.n_pos, half)
    fpr_upper, fpr_level = _upper(roc.fp, roc.n_neg, half)
    return ConfidenceBand(roc, fnr_upper, fpr_upper, prob, (fnr_level, fpr_level))


def _upper(errors: NDArray[np.int64], n: int, significance: float) -> tuple[Array, float]:
    """Upper bounds on a rate at every number of errors; 1 where all n are errors."""
    level = local_level(n, significance)
    ranks = band_ranks(n)
    bounds = np.append(special.betainccinv(ranks + 1.0, n - ranks, level), 1.0)
    return bounds[np.searchsorted(ranks, errors)], level

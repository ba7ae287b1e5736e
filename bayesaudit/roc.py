"""The operating points that scores allow: a block of tied scores goes in whole or not at all."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_probability
from bayesaudit._result import Result, Table
from bayesaudit.counts import AttackCounts

__all__ = ["OperatingPoint", "RocCurve", "roc_curve"]

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OperatingPoint(Result):
    """One threshold and what the attack did there.

    Parameters
    ----------
    threshold : float
        "member" iff score >= threshold; NaN guesses "member" for no row.
    counts : AttackCounts
        The realised counts.
    requested_fpr : float
        The false positive rate that was asked for.
    """

    threshold: float
    counts: AttackCounts
    requested_fpr: float

    _also = ("tpr", "fpr")

    @property
    def tpr(self) -> float:
        """Realised true positive rate."""
        return float(self.counts.tp / self.counts.n_pos)

    @property
    def fpr(self) -> float:
        """Realised false positive rate, at most the requested one."""
        return float(self.counts.fp / self.counts.n_neg)


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve(Table):
    """Every operating point that a threshold can reach, from "nobody" to "everybody".

    Parameters
    ----------
    threshold : numpy.ndarray, shape (n_points,)
        Falling thresholds: first one that no row reaches (infinity, or NaN where a score is
        infinite itself), then the distinct scores.
    tp, fp : numpy.ndarray of int, shape (n_points,)
        Members and non-members with score >= threshold.
    n_pos, n_neg : int
        Numbers of members and non-members.

    Notes
    -----
    Rows with equal scores move together. The area then counts a tied pair of a member and a
    non-member as one half: it is the Mann–Whitney statistic.

    References
    ----------
    Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27 (2006) 861,
    doi:10.1016/j.patrec.2005.10.010, Sections 5 and 7.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> curve = ba.AttackScores(score=[9, 9, 5, 5], member=[1, 0, 1, 0]).roc()
    >>> curve.threshold.tolist(), curve.tpr.tolist(), curve.fpr.tolist()
    ([inf, 9.0, 5.0], [0.0, 0.5, 1.0], [0.0, 0.5, 1.0])
    >>> curve.auc
    0.5
    """

    threshold: Array
    tp: Integers
    fp: Integers
    n_pos: int
    n_neg: int

    _also = ("auc",)

    @property
    def tpr(self) -> Array:
        """True positive rates, shape (n_points,)."""
        return self.tp / self.n_pos

    @property
    def fpr(self) -> Array:
        """False positive rates, shape (n_points,)."""
        return self.fp / self.n_neg

    def columns(self) -> dict[str, Array]:
        """Return the points by column name, for a table or a CSV file."""
        return {name: getattr(self, name) for name in ("threshold", "tp", "fp", "tpr", "fpr")}

    @property
    def counts(self) -> AttackCounts:
        """Counts of every operating point, on one axis."""
        return AttackCounts(
            fn=self.n_pos - self.tp, tp=self.tp, fp=self.fp, tn=self.n_neg - self.fp
        )

    @property
    def auc(self) -> float:
        """Area under the curve: P(member's score > non-member's) + P(equal)/2."""
        twice = np.sum(np.diff(self.fp) * (self.tp[1:] + self.tp[:-1]))
        return float(twice) / 2 / (self.n_pos * self.n_neg)

    @property
    def informative(self) -> bool:
        """Whether some threshold tells rows apart; false if all scores are equal."""
        return self.threshold.size > 2

    def corners(self) -> Integers:
        """Return the indices of points that no other point beats in both counts.

        A bound that falls with either error count is largest at one of these.
        """
        last_of_fp = np.append(np.diff(self.fp) > 0, True)
        first_of_tp = np.append(True, np.diff(self.tp) > 0)
        return np.flatnonzero(last_of_fp & first_of_tp)

    def tpr_at_fpr(self, fpr: float) -> OperatingPoint:
        """Return the point with the largest TPR whose realised FPR is at most `fpr`.

        There is no interpolation between points: no threshold reaches what lies between them.

        Parameters
        ----------
        fpr : float
            Requested false positive rate, in [0, 1].

        Examples
        --------
        >>> import bayesaudit as ba
        >>> scores = ba.AttackScores(score=[5, 4, 3, 2, 1], member=[1, 0, 1, 0, 0])
        >>> point = scores.roc().tpr_at_fpr(0.4)
        >>> point.threshold, point.tpr, round(point.fpr, 3)
        (3.0, 1.0, 0.333)
        """
        fpr = check_probability(fpr, "fpr")
        # fp/n <= fpr as the division rounds, so that 0.1 allows 1 of 10.
        allowed = int(np.searchsorted(self.fp / self.n_neg, fpr, side="right")) - 1
        index = int(np.searchsorted(self.tp, self.tp[allowed], side="left"))
        return OperatingPoint(float(self.threshold[index]), self.counts[index], fpr)


def roc_curve(score: Array, member: NDArray[np.bool_]) -> RocCurve:
    """Return the operating points of checked scores; a class may be empty."""
    order = np.argsort(score)[::-1]
    ranked, truth = score[order], member[order]
    # The last row of every block of equal scores.
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)[: ranked.size])
    tp = np.cumsum(truth, dtype=np.int64)[ends]
    fp = 1 + ends - tp
    nobody = np.nan if ranked.size and np.isposinf(ranked[0]) else np.inf
    n_pos = int(member.sum())
    return RocCurve(
        threshold=np.append(nobody, ranked[ends]),
        tp=np.append(0, tp),
        fp=np.append(0, fp),
        n_pos=n_pos,
        n_neg=member.size - n_pos,
    )

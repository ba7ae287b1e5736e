"""The best operating point of given rows, and the bound of a point that other rows chose."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit.counts import AttackCounts
from bayesaudit.intervals import confidence_interval
from bayesaudit.measures import Epsilon, Measure
from bayesaudit.posteriors.two_direction import two_direction_bound
from bayesaudit.proportions import proportion_interval
from bayesaudit.rates import IndependentRates, Prior
from bayesaudit.roc import RocCurve

__all__ = ["Method", "best_point", "best_threshold", "lower_bound"]

Array = NDArray[np.float64]
Method = Literal["clopper-pearson", "exact-unconditional", "two-direction", "betting"]
#: Of more points than this the best by an approximate bound are compared exactly.
SHORTLIST = 512


def best_point(
    roc: RocCurve, measure: Measure, prob: float, *, method: Method = "clopper-pearson"
) -> int:
    """Return the operating point with the largest lower bound on these very rows.

    For any purpose but choosing a threshold for *other* rows that bound is far too optimistic.
    Points are compared by their rectangles of Clopper–Pearson (or, for "two-direction", Jeffreys)
    ends, and where these bounds are equal, as at 0, by the least sum of the two rates.
    """
    tail = (1 - prob) / 4

    def ranked(points: NDArray[np.int64], ends: str) -> NDArray[np.int64]:
        fnr = proportion_interval(roc.n_pos - roc.tp[points], roc.n_pos, tail, method=ends)[1]
        fpr = proportion_interval(roc.fp[points], roc.n_neg, tail, method=ends)[1]
        return points[np.lexsort((fnr + fpr, -measure.of(fnr, fpr)))]

    points = roc.corners()
    if points.size > SHORTLIST:
        # Score intervals are closed forms close to the exact ones: they name the candidates.
        points = ranked(points, "wilson")[:SHORTLIST]
    return int(ranked(points, "jeffreys" if method == "two-direction" else "clopper-pearson")[0])


def best_threshold(roc: RocCurve, measure: Measure, prob: float) -> float:
    """Return a threshold for other rows: midway between the best point and the next lower score.

    It gives these rows the best point's counts, and other rows of the same kind a fairer chance.
    """
    index = best_point(roc, measure, prob)
    upper = float(roc.threshold[index])
    if np.isnan(upper):
        return np.inf
    if not np.isfinite(upper) or index + 1 >= roc.threshold.size:
        return upper
    lower = float(roc.threshold[index + 1])
    middle = lower + (upper - lower) / 2 if np.isfinite(lower) else upper
    return middle if lower < middle <= upper else upper


def lower_bound(
    data: AttackCounts | IndependentRates,
    measure: Measure,
    prob: float,
    *,
    method: Method,
    prior: Prior,
) -> Any:
    """Return the lower bound of a threshold that these counts had no part in choosing."""
    if method != "two-direction":
        return confidence_interval(data, measure, prob, method=method).lower
    if isinstance(measure, Epsilon):
        return two_direction_bound(data, measure.delta, prob, prior=prior).lower
    raise ValueError(f'method "two-direction" needs an Epsilon, got {measure!r}.')

"""What the interval would be at correlations that the data cannot tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_number, check_prob
from bayesaudit._result import Table
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.posteriors import posterior
from bayesaudit.rates import Prior, check_models

__all__ = ["NOT_IDENTIFIED", "ONE_RUN_AUDITS", "TippingCurve", "tipping_point"]

Array = NDArray[np.float64]

NOT_IDENTIFIED = "not identified, the interval is prior-driven"
#: What one training run still supports, under any dependence within it.
ONE_RUN_AUDITS = (
    "audits of one run stay valid under any dependence within it: the all-subset bound and that of "
    "Steinke et al. (2023) (bayesaudit.onerun; `estimate --one-run`)"
)


@dataclass(frozen=True, slots=True, eq=False)
class TippingCurve(Table):
    """Credible intervals of a measure at fixed intra-model correlations.

    Parameters
    ----------
    icc : numpy.ndarray, shape (n,)
        Correlations, in [0, 1); the same for both sides.
    lower, upper, median : numpy.ndarray, shape (n,)
        Equal-tailed credible interval and median at each.
    prob : float
        Mass of the intervals.
    measure : str
        Name of the measure.
    n_models : int
        Trained models behind the data.
    identified : bool
        Whether the data can tell these correlations apart: not with one model.
    """

    icc: Array
    lower: Array
    upper: Array
    median: Array
    prob: float
    measure: str
    n_models: int
    identified: bool

    _omit = ("icc", "lower", "upper", "median")
    _also = ("points=records", "message")

    def columns(self) -> dict[str, Array]:
        """Return the curve by column name."""
        return {name: getattr(self, name) for name in self._omit}

    @property
    def message(self) -> str:
        """One plain sentence on what the curve means."""
        if self.identified:
            return (
                f"{self.n_models} models identify the intra-model correlation; this curve only "
                "shows how much the interval depends on it."
            )
        return f"one model: the intra-model correlation is {NOT_IDENTIFIED}."

    def icc_at_lower(self, level: float) -> float:
        """Return the correlation up to which the lower end stays at or above a level.

        Linear between the curve's points; NaN where it is below the level already at the first, and
        the last correlation where it never falls below.
        """
        level = check_number(level, "level")
        below = np.flatnonzero(self.lower < level)
        if not below.size:
            return float(self.icc[-1])
        if below[0] == 0:
            return float("nan")
        i = int(below[0])
        share = (self.lower[i - 1] - level) / (self.lower[i - 1] - self.lower[i])
        return float(self.icc[i - 1] + share * (self.icc[i] - self.icc[i - 1]))


def tipping_point(
    counts: AttackCounts,
    measure: Measure,
    prob: float = 0.90,
    *,
    icc: Sequence[float] = (0.0, 0.01, 0.1, 0.3),
    prior: Prior = "jeffreys",
) -> TippingCurve:
    """Return credible intervals of a measure at fixed intra-model correlations.

    With a single model the correlation is not identified, and no prior makes it so: what can be
    said honestly is how far the answer depends on it.

    Parameters
    ----------
    counts : AttackCounts, shape () or (n_models,)
        One tally a trained model; a single tally is one model.
    measure : Measure
        What is measured.
    prob : float
        Mass of the equal-tailed intervals.
    icc : sequence of float
        Correlations in [0, 1), increasing.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Beta prior of the population rates.

    Returns
    -------
    TippingCurve

    Examples
    --------
    >>> import bayesaudit as ba
    >>> one = AttackCounts(fn=280, tp=220, fp=176, tn=324)
    >>> curve = tipping_point(one, ba.Epsilon(delta=1e-5))
    >>> for row in zip(curve.icc, curve.lower, curve.upper):
    ...     print("{:.2f} {:.3f} {:.3f}".format(*row))
    0.00 0.094 0.353
    0.01 0.023 0.549
    0.10 0.039 1.396
    0.30 0.061 2.267
    >>> curve.message
    'one model: the intra-model correlation is not identified, the interval is prior-driven.'
    """
    if isinstance(counts, AttackCounts) and not counts.shape:
        counts = counts[None]
    counts = check_models(counts)
    prob = check_prob(prob)
    if len(counts.shape) != 1:
        raise ValueError(f"counts must be one audit of shape (n_models,), got {counts.shape}.")
    values = np.array([check_number(value, "icc") for value in icc])
    if not values.size or np.any(np.diff(values) <= 0):
        raise ValueError(f"icc must hold increasing numbers, got {list(icc)}.")
    rows = []
    for value in values:
        post = posterior(
            counts, measure, prior=prior, dependence="beta-binomial", icc_prior=float(value)
        )
        rows.append((*post.interval(prob), post.median()))
    lower, upper, median = np.array(rows, float).T
    used = np.sum((counts.n_pos > 0) | (counts.n_neg > 0))
    return TippingCurve(
        icc=values,
        lower=lower,
        upper=upper,
        median=median,
        prob=prob,
        measure=measure.name,
        n_models=int(used),
        identified=bool(used > 1),
    )

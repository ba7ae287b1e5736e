"""The trade-off curve at a few thresholds that were not chosen by the labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_integers, check_prob, check_probability
from bayesaudit._result import Result, Table
from bayesaudit.counts import AttackCounts
from bayesaudit.posteriors.two_direction import two_direction_bound
from bayesaudit.rates import Prior, conjugate_rates
from bayesaudit.scores import AttackScores

__all__ = ["MAX_BINS", "DirichletSupremum", "TradeoffCurve", "dirichlet_supremum", "tradeoff_curve"]

Array = NDArray[np.float64]
#: More bins spend the level on thresholds that add little.
MAX_BINS = 10


@dataclass(frozen=True, slots=True, eq=False)
class TradeoffCurve(Table):
    """Posteriors of (FPR, FNR) at the thresholds between K bins, each at level/(K − 1).

    Parameters
    ----------
    threshold : numpy.ndarray, shape (n_thresholds,)
        Rising thresholds between the bins.
    counts : AttackCounts
        Counts of every threshold, on one axis.
    fnr, fpr : numpy.ndarray, shape (3, n_thresholds)
        Lower end, median and upper end of either rate's posterior.
    prob : float
        Level: all ends of a rate of one side together err by (1 − prob)/2 in posterior mass.
    prior : str or tuple or dict
        Prior of the rates.
    """

    threshold: Array
    counts: AttackCounts
    fnr: Array
    fpr: Array
    prob: float
    prior: Prior

    _omit = ("counts", "prior")
    _also = ("pointwise_prob",)

    @property
    def pointwise_prob(self) -> float:
        """Level of a single threshold: 1 − (1 − prob)/(K − 1)."""
        return 1 - (1 - self.prob) / self.threshold.size

    def epsilon(self, delta: float) -> Array:
        """Return the two-direction posterior bound at every threshold, at level/(K − 1).

        Parameters
        ----------
        delta : float
            δ in [0, 1].

        Returns
        -------
        numpy.ndarray, shape (n_thresholds,)
            Lower bounds in nats; their maximum may be quoted at level `prob`.
        """
        check_probability(delta, "delta")
        found = two_direction_bound(self.counts, delta, self.pointwise_prob, prior=self.prior)
        return np.asarray(found.lower)

    def best(self, delta: float) -> tuple[float, float]:
        """Return the largest of the bounds `epsilon` and its threshold."""
        lower = self.epsilon(delta)
        index = int(np.argmax(lower))
        return float(lower[index]), float(self.threshold[index])

    def columns(self) -> dict[str, Array]:
        """Return the curve by column name, for a table or a CSV file."""
        names = ("lower", "median", "upper")
        return {
            "threshold": self.threshold,
            **{f"fpr_{name}": row for name, row in zip(names, self.fpr, strict=True)},
            **{f"fnr_{name}": row for name, row in zip(names, self.fnr, strict=True)},
            **{name: getattr(self.counts, name) for name in ("fn", "tp", "fp", "tn")},
        }


def tradeoff_curve(
    scores: AttackScores,
    n_bins: int = MAX_BINS,
    prob: float = 0.90,
    *,
    thresholds: ArrayLike | None = None,
    prior: Prior = "jeffreys",
) -> TradeoffCurve:
    """Return the posterior trade-off curve at the thresholds between label-blind bins.

    Parameters
    ----------
    scores : AttackScores
        Scores, whose rows count as independent.
    n_bins : int
        Number K of bins, in [2, 10], between quantiles of the pooled scores; tied scores merge
        bins.
    prob : float
        Level in (0, 1), spent on all thresholds: each has 1 − (1 − prob)/(K − 1).
    thresholds : array_like, optional
        One to nine thresholds declared beforehand, in place of quantiles.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the rates at every threshold.

    Returns
    -------
    TradeoffCurve

    Raises
    ------
    ValueError
        If there are more bins than 10, or all scores are equal.

    Notes
    -----
    The bins must not be chosen by the labels; quantiles of pooled scores are not. The level is
    shared out by Bonferroni, which for at most 9 thresholds costs little, where the best threshold
    of a joint posterior over many bins is badly optimistic (see `dirichlet_supremum`).

    References
    ----------
    Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, arXiv:1905.02383,
    Definition 2.1 (trade-off functions).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> scores = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)
    >>> curve = tradeoff_curve(scores, n_bins=4)
    >>> curve.threshold.tolist(), curve.counts.fp.tolist()
    ([50.0, 100.0, 150.0], [50, 0, 0])
    >>> print(f"{curve.best(delta=1e-5)[0]:.3f}")
    3.373
    """
    prob = check_prob(prob)
    cuts = _cuts(scores, n_bins, thresholds)
    tallies = [scores.counts(cut) for cut in cuts]
    counts = AttackCounts(
        **{name: [getattr(tally, name) for tally in tallies] for name in ("fn", "tp", "fp", "tn")}
    )
    rates = conjugate_rates(counts, prior)
    tail = (1 - prob) / 2 / cuts.size
    levels = np.array([[tail], [0.5], [1 - tail]])
    return TradeoffCurve(
        threshold=cuts,
        counts=counts,
        fnr=rates.fnr.quantile(levels),
        fpr=rates.fpr.quantile(levels),
        prob=prob,
        prior=prior,
    )


def _cuts(scores: AttackScores, n_bins: int, thresholds: ArrayLike | None) -> Array:
    if thresholds is not None:
        cuts = np.unique(np.asarray(thresholds, float))
        if not 1 <= cuts.size < MAX_BINS or np.isnan(cuts).any():
            raise ValueError(f"thresholds must be 1 to {MAX_BINS - 1} numbers, got {cuts.size}.")
        return cuts
    n_bins = int(check_integers(n_bins, "n_bins", minimum=2))
    if n_bins > MAX_BINS:
        raise ValueError(
            f"n_bins must be at most {MAX_BINS}, got {n_bins}: more thresholds spend the level."
        )
    cuts = np.quantile(scores.score, np.arange(1, n_bins) / n_bins, method="higher")
    cuts = np.unique(cuts[cuts > scores.score.min()])
    if cuts.size == 0:
        raise ValueError("n_bins must leave two bins, but the scores are too often equal.")
    return cuts


@dataclass(frozen=True, slots=True, eq=False)
class DirichletSupremum(Result):
    """Draws of the supremum over thresholds of ε, from a joint posterior: descriptive only.

    There is no interval, and no lower bound, on purpose: at n = 200 without any leak the 5 %
    quantile is positive in 6 % of audits with 2 bins, 53 % with 10 and 90 % with 50.

    Parameters
    ----------
    draws : numpy.ndarray, shape (n_draws,)
        Draws of the supremum, in nats.
    delta : float
        δ.
    n_bins : int
        Bins that were left after ties merged some.
    random_seed : int
        The seed.
    """

    draws: Array
    delta: float
    n_bins: int
    random_seed: int

    _omit = ("draws",)
    _also = ("median", "mean", "statement", "is_bound")

    is_bound = False
    statement = "descriptive"

    @property
    def median(self) -> float:
        """Median of the draws."""
        return float(np.median(self.draws))

    @property
    def mean(self) -> float:
        """Mean of the draws."""
        return float(np.mean(self.draws))


def dirichlet_supremum(
    scores: AttackScores,
    delta: float,
    n_bins: int = MAX_BINS,
    *,
    concentration: float = 0.5,
    draws: int = 4000,
    random_seed: int = 0,
) -> DirichletSupremum:
    """Draw the supremum over thresholds of ε from a joint Dirichlet posterior of binned scores.

    For description only: its lower end errs far more often than stated, and is not offered.

    Parameters
    ----------
    scores : AttackScores
        Scores, whose rows count as independent.
    delta : float
        δ in [0, 1].
    n_bins : int
        Number of label-blind bins, as in `tradeoff_curve`.
    concentration : float
        Dirichlet parameter of every bin, > 0.
    draws : int
        Number of draws.
    random_seed : int
        Seed, >= 0.

    Notes
    -----
    Bin probabilities of members and non-members have independent Dirichlet posteriors; every draw
    gives a whole trade-off curve, and its supremum of ε of the declared direction.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> scores = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)
    >>> found = dirichlet_supremum(scores, delta=1e-5, n_bins=2)
    >>> found.statement, found.is_bound
    ('descriptive', False)
    """
    from bayesaudit.measures import Epsilon

    if not 0 < concentration < np.inf:
        raise ValueError(f"concentration must be > 0, got {concentration!r}.")
    size = int(check_integers(draws, "draws", minimum=1))
    seed = int(check_integers(random_seed, "random_seed"))
    measure = Epsilon(delta, "member")
    cuts = _cuts(scores, n_bins, None)
    rng = np.random.default_rng(seed)
    above = []
    for rows in (scores.score[scores.member], scores.score[~scores.member]):
        counts = np.bincount(np.searchsorted(cuts, rows, side="right"), minlength=cuts.size + 1)
        bins = rng.dirichlet(counts + concentration, size=size)
        above.append(np.cumsum(bins[:, :0:-1], axis=1)[:, ::-1])
    tpr, fpr = (np.clip(rates, 0.0, 1.0) for rates in above)
    values = measure.of(1 - tpr, fpr, tpr=tpr)
    return DirichletSupremum(values.max(axis=1), measure.delta, cuts.size + 1, seed)

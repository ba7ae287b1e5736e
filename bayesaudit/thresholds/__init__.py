"""Thresholds: how the operating point is chosen, declared as a strategy, and what it then proves.

A bound from a threshold that was chosen on the same rows does not hold: at a nominal 5 % it errs in
up to 16 % of audits with Clopper–Pearson ends and in up to 41 % with Jeffreys ends. Every strategy
here says what it promises, and the one that promises nothing is called "optimistic".
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayesaudit._checks import check_choice, check_integers, check_number, check_prob
from bayesaudit._interval import Interval
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Epsilon, Measure
from bayesaudit.rates import Prior
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds._band import ConfidenceBand, confidence_band
from bayesaudit.thresholds._calibration import crossing_probability, local_level
from bayesaudit.thresholds._points import Method, best_point, lower_bound
from bayesaudit.thresholds._split import split_counts

__all__ = [
    "STRATEGIES",
    "ConfidenceBand",
    "ThresholdBound",
    "confidence_band",
    "crossing_probability",
    "local_level",
    "threshold_bound",
]

Strategy = Literal["fixed", "band", "split", "multi-split", "bonferroni", "optimistic"]

#: Strategy -> what it does, for help texts and tables.
STRATEGIES: dict[str, str] = {
    "fixed": "one threshold, declared beforehand",
    "band": "Clopper–Pearson band calibrated to hold at all thresholds at once",
    "split": "chosen on one part of the rows (or models), bound on the other",
    "multi-split": "median of the bounds of several splits, at a corrected level",
    "bonferroni": "best point of a grid that is blind to the labels, at a corrected level",
    "optimistic": "best threshold on the same rows: not a bound",
}
NOT_A_BOUND = (
    "optimistic: not a bound, since the threshold was chosen on the rows that it is judged by."
)


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdBound:
    """A lower bound on a measure, and the strategy that chose its threshold.

    Parameters
    ----------
    lower : float
        The lower end of a two-sided interval of level `prob`: it errs by (1 − prob)/2.
    strategy : str
        One of `STRATEGIES`.
    method : {"clopper-pearson", "two-direction"}
        How counts become a bound.
    guarantee : str
        "guaranteed", "near nominal", "asymptotic" or "not a bound"; all but the last assume that
        rows are independent.
    threshold : float or None
        "member" iff score >= threshold; NaN for a point that no row reaches; ``None`` where there
        is no single one.
    counts : AttackCounts or None
        The counts that the bound rests on: for "split" those of the part that did not choose.
    measure : Measure
        What is bounded, with its direction declared: higher scores mean "member".
    prob : float
        The level.
    n_selection : int
        Rows that served to choose the threshold alone.
    random_seed : int or None
        The seed of the splits; ``None`` where none is used.
    warnings : tuple of str
        What the reader must know.
    """

    lower: float
    strategy: Strategy
    method: Method
    guarantee: str
    threshold: float | None
    counts: AttackCounts | None
    measure: Measure
    prob: float
    n_selection: int = 0
    random_seed: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_bound(self) -> bool:
        """Whether the number is a bound at all: not for "optimistic"."""
        return self.strategy != "optimistic"

    @property
    def statement(self) -> Literal["credible", "confidence"]:
        """Which kind of statement the bound is."""
        return "credible" if self.method == "two-direction" else "confidence"

    def interval(self) -> Interval:
        """Return the bound as an interval of kind "lower"."""
        return Interval(
            lower=self.lower,
            upper=self.measure.highest,
            prob=self.prob,
            kind="lower",
            statement=self.statement,
            method=f"{self.strategy} ({self.method})",
            guarantee=self.guarantee,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; a lower end or a threshold that is not finite is ``None``."""
        finite = self.threshold is not None and math.isfinite(self.threshold)
        return {
            "lower": self.lower if math.isfinite(self.lower) else None,
            "strategy": self.strategy,
            "method": self.method,
            "statement": self.statement,
            "guarantee": self.guarantee,
            "is_bound": self.is_bound,
            "threshold": self.threshold if finite else None,
            "counts": None if self.counts is None else self.counts.to_dict(),
            "measure": self.measure.name,
            "delta": self.measure.delta if isinstance(self.measure, Epsilon) else None,
            "prob": self.prob,
            "n_selection": self.n_selection,
            "random_seed": self.random_seed,
            "warnings": list(self.warnings),
        }


def threshold_bound(
    scores: AttackScores,
    measure: Measure,
    prob: float = 0.90,
    *,
    strategy: Strategy = "band",
    method: Method | None = None,
    threshold: float | None = None,
    random_seed: int = 0,
    selection: float = 0.3,
    n_splits: int = 11,
    grid: Any = 10,
    prior: Prior = "jeffreys",
) -> ThresholdBound:
    """Return a lower bound on a measure from scores, with a declared choice of the threshold.

    Parameters
    ----------
    scores : AttackScores
        Scores; higher means "member". Rows count as independent.
    measure : Measure
        What is bounded, ``Epsilon(1e-5)`` say. The direction is declared by the scores, so that of
        a folded measure the one direction counts; a lower bound on it also bounds the folded one.
    prob : float
        Level in (0, 1): the bound errs by (1 − prob)/2.
    strategy : str
        "fixed"
            `threshold`, chosen without looking at these rows. Guaranteed with Clopper–Pearson.
        "band"
            `confidence_band`: exact at all thresholds at once, without a seed. The default for
            classical bounds.
        "split"
            The threshold is chosen on a random part of the rows, `selection` of each class, by
            models where there are several, and the bound rests on the other rows alone. The
            default for the posterior.
        "multi-split"
            The median of the bounds of `n_splits` such splits, each at a level corrected for that
            by Markov's inequality. It depends on the seed far less than one split.
        "bonferroni"
            The best of a grid of thresholds at level (1 − prob)/K. A grid of numbers declared
            beforehand is guaranteed. A number K stands for K quantiles of the pooled scores, which
            is blind to the labels; that the counts there are binomial is then an asymptotic
            statement.
        "optimistic"
            The best threshold on the same rows. **Not a bound.**
    method : {"clopper-pearson", "two-direction"}, optional
        How counts become a bound; "two-direction" is `two_direction_bound`, near nominal rather
        than guaranteed. By default that for "split", and Clopper–Pearson for the others.
    threshold : float
        The threshold of "fixed".
    random_seed : int
        Seed of the splits, >= 0: declare it before seeing the scores.
    selection : float
        Fraction, in (0, 1), that chooses the threshold.
    n_splits : int
        Number of splits of "multi-split", odd.
    grid : int or array_like of float
        Size K of the label-blind grid of "bonferroni", or thresholds declared beforehand.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the rates for "two-direction".

    Returns
    -------
    ThresholdBound

    Raises
    ------
    ValueError, TypeError
        If an option is unknown, out of range, or does not go with the strategy.

    Notes
    -----
    Median of splits: if every one of B bounds errs with probability a, then by Markov's inequality
    at least (B + 1)/2 of them err at once with probability at most 2Ba/(B + 1), which the level of
    a single split makes equal to (1 − prob)/2.

    References
    ----------
    Meinshausen, Meier and Bühlmann, "p-Values for High-Dimensional Regression", JASA 104 (2009)
    1671, arXiv:0811.2177, Section 3 (aggregated splits). Moscovich, Nadler and Spiegelman,
    arXiv:1311.3190, Section 3 (bands of equal local level).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> scores = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)
    >>> found = threshold_bound(scores, ba.Epsilon(delta=1e-5), strategy="band")
    >>> print(f"{found.lower:.4f} at {found.threshold:g}: {found.guarantee}")
    2.6513 at 100: guaranteed
    """
    if not isinstance(scores, AttackScores):
        raise TypeError(f"scores must be AttackScores, got {type(scores).__name__}.")
    if not isinstance(measure, Measure):
        raise TypeError(f"measure must be a Measure such as Epsilon(1e-5), got {measure!r}.")
    prob = check_prob(prob)
    check_choice(strategy, "strategy", STRATEGIES)
    if (threshold is not None) != (strategy == "fixed"):
        rule = "needs a threshold" if strategy == "fixed" else "takes no threshold"
        raise ValueError(f"strategy {strategy!r} {rule}, got {threshold!r}.")
    if method is None:
        posterior = strategy == "split" and isinstance(measure, Epsilon)
        method = "two-direction" if posterior else "clopper-pearson"
    check_choice(method, "method", ("clopper-pearson", "two-direction"))
    question = _Question(scores, measure.one_direction(), prob, method, prior)
    if strategy == "fixed":
        return question.fixed(check_number(threshold, "threshold"))
    if strategy in ("split", "multi-split"):
        if not 0 < check_number(selection, "selection") < 1:
            raise ValueError(f"selection must be in (0, 1), got {selection!r}.")
        seed = int(check_integers(random_seed, "random_seed"))
        count = 1
        if strategy == "multi-split":
            count = int(check_integers(n_splits, "n_splits", minimum=1))
            if count % 2 == 0:
                raise ValueError(f"n_splits must be odd, got {count}.")
        return question.split(strategy, selection, count, seed)
    if strategy == "bonferroni":
        return question.bonferroni(grid)
    return question.band() if strategy == "band" else question.optimistic()


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of the scores; one method a strategy."""

    scores: AttackScores
    measure: Measure
    prob: float
    method: Method
    prior: Prior

    def fixed(self, threshold: float) -> ThresholdBound:
        counts = self.scores.counts(threshold)
        return self._found("fixed", self._bound(counts), threshold, counts)

    def band(self) -> ThresholdBound:
        if self.method != "clopper-pearson":
            raise ValueError(f'strategy "band" is Clopper–Pearson only, got {self.method!r}.')
        band = confidence_band(self.scores, self.prob)
        lower, index = band.best(self.measure)
        return self._found("band", lower, float(band.roc.threshold[index]), band.counts(index))

    def split(
        self, strategy: Strategy, selection: float, count: int, random_seed: int
    ) -> ThresholdBound:
        significance = (1 - self.prob) / 2 * (count + 1) / (2 * count)
        seeds = np.random.SeedSequence(random_seed).spawn(count)
        parts = [
            split_counts(
                self.scores, self.measure, self.prob, selection, np.random.default_rng(seed)
            )
            for seed in seeds
        ]
        cells = {name: [getattr(part[1], name) for part in parts] for name in _CELLS}
        lower = float(np.median(self._bound(AttackCounts(**cells), 1 - 2 * significance)))
        threshold, counts, chose = parts[0]
        single = count == 1
        return self._found(
            strategy,
            lower,
            threshold if single else None,
            counts if single else None,
            n_selection=chose,
            random_seed=random_seed,
        )

    def bonferroni(self, grid: Any) -> ThresholdBound:
        if np.ndim(grid) == 0:
            size = int(check_integers(grid, "grid", minimum=1))
            levels = np.arange(1, size + 1) / (size + 1)
            thresholds = np.quantile(self.scores.score, levels, method="higher")
        else:
            thresholds = np.asarray(grid, float).ravel()
            size = thresholds.size
            if size == 0 or np.isnan(thresholds).any():
                raise ValueError("grid must hold numbers, got none or NaN.")
        tallies = [self.scores.counts(threshold) for threshold in np.unique(thresholds)]
        cells = {name: [getattr(tally, name) for tally in tallies] for name in _CELLS}
        counts = AttackCounts(**cells)
        lower = np.asarray(self._bound(counts, 1 - (1 - self.prob) / size))
        best = int(np.argmax(lower))
        guarantee = "asymptotic" if np.ndim(grid) == 0 else None
        return self._found(
            "bonferroni",
            float(lower[best]),
            float(np.unique(thresholds)[best]),
            counts[best],
            guarantee=guarantee,
        )

    def optimistic(self) -> ThresholdBound:
        roc = self.scores.roc()
        index = best_point(roc, self.measure, self.prob, method=self.method)
        counts = roc.counts[index]
        return self._found(
            "optimistic",
            self._bound(counts),
            float(roc.threshold[index]),
            counts,
            guarantee="not a bound",
        )

    def _bound(self, counts: AttackCounts, prob: float | None = None) -> Any:
        return lower_bound(
            counts,
            self.measure,
            self.prob if prob is None else prob,
            method=self.method,
            prior=self.prior,
        )

    def _found(
        self,
        strategy: Strategy,
        lower: Any,
        threshold: float | None,
        counts: AttackCounts | None,
        *,
        guarantee: str | None = None,
        **more: Any,
    ) -> ThresholdBound:
        if guarantee is None or (guarantee == "asymptotic" and self.method == "two-direction"):
            guarantee = "guaranteed" if self.method == "clopper-pearson" else "near nominal"
        notes = [NOT_A_BOUND] if strategy == "optimistic" else []
        if np.all(self.scores.score == self.scores.score[0]):
            notes.append("all scores are equal: the attack carries no information.")
        if self.scores.clustered:
            notes.append(
                "several rows come from one model and are dependent; the bound treats rows as "
                "independent, and only the split by models keeps its two parts apart."
            )
        return ThresholdBound(
            lower=float(lower),
            strategy=strategy,
            method=self.method,
            guarantee=guarantee,
            threshold=threshold,
            counts=counts,
            measure=self.measure,
            prob=self.prob,
            warnings=tuple(notes),
            **more,
        )


_CELLS = ("fn", "tp", "fp", "tn")

"""What each strategy does with the scores, and the result that says what it promises."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayesaudit._checks import check_integers
from bayesaudit._interval import Interval
from bayesaudit._result import Result
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.rates import IndependentRates, Prior
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds._band import confidence_band
from bayesaudit.thresholds._points import Method, best_point, lower_bound
from bayesaudit.thresholds._split import declared_mask, selection_mask, split_scores

__all__ = ["STRATEGIES", "Question", "Strategy", "ThresholdBound"]

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
class ThresholdBound(Result):
    """A lower bound on a measure, and the strategy that chose its threshold.

    Parameters
    ----------
    lower : float
        The lower end of a two-sided interval of level `prob`: it errs by (1 − prob)/2.
    strategy : str
        One of `STRATEGIES`.
    method : {"clopper-pearson", "exact-unconditional", "two-direction", "betting"}
        How counts become a bound.
    guarantee : str
        "guaranteed", "near nominal", "asymptotic" or "not a bound"; all but the last assume that
        rows are independent, or for "betting" that models are.
    threshold : float or None
        "member" iff score >= threshold; NaN for a point that no row reaches; ``None`` where there
        is no single one.
    counts : AttackCounts or None
        The counts that the bound rests on: for "split" those of the part that did not choose.
    measure : Measure
        What is bounded, with its direction declared: higher scores mean "member".
    prob : float
        The level.
    rows : AttackScores or None
        The rows that the bound rests on, ``None`` where several parts do.
    n_selection : int
        Rows that served to choose the threshold alone.
    random_seed : int or None
        The seed of the splits; ``None`` where none is used.
    frozen : bool
        Whether the threshold stays the same as rows are added: "fixed", and "split" with a declared
        selection part. Only then are the counts of successive looks those of one growing sample,
        and only then does `calibration.anytime_bound` of `counts` hold at all looks at once.
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
    rows: AttackScores | None = None
    n_selection: int = 0
    random_seed: int | None = None
    frozen: bool = False
    warnings: tuple[str, ...] = ()

    _omit = ("rows",)
    _also = ("statement", "is_bound", "measure=measure.name", "delta")

    @property
    def delta(self) -> float | None:
        """The measure's δ; ``None`` for one that has none."""
        return getattr(self.measure, "delta", None)

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


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the scores; one method a strategy."""

    scores: AttackScores
    measure: Measure
    prob: float
    method: Method
    prior: Prior
    rates: Callable[[AttackCounts], IndependentRates] | None

    def fixed(self, threshold: float) -> ThresholdBound:
        """Bound at a declared threshold."""
        lower = self._bound(self._data(self.scores, threshold))
        return self._found("fixed", lower, threshold, self.scores.counts(threshold), frozen=True)

    def band(self) -> ThresholdBound:
        """Bound at the best point of a simultaneous band."""
        if self.method != "clopper-pearson":
            raise ValueError(f'strategy "band" is Clopper–Pearson only, got {self.method!r}.')
        band = confidence_band(self.scores, self.prob)
        lower, index = band.best(self.measure)
        return self._found("band", lower, float(band.roc.threshold[index]), band.counts(index))

    def split(
        self, strategy: Strategy, selection: Any, count: int, random_seed: int
    ) -> ThresholdBound:
        """Bound on the rows that did not choose; the median of several such bounds."""
        declared = declared_mask(self.scores, selection)
        if declared is None:
            seeds = np.random.SeedSequence(random_seed).spawn(count)
            rngs = [np.random.default_rng(seed) for seed in seeds]
            masks = [selection_mask(self.scores, selection, rng) for rng in rngs]
        elif strategy == "split":
            masks = [declared]
        else:
            raise ValueError(f'a declared selection part goes with "split", got {strategy!r}.')
        parts = [split_scores(self.scores, self.measure, self.prob, mask) for mask in masks]
        significance = (1 - self.prob) / 2 * (count + 1) / (2 * count)
        threshold, rest = parts[0]
        if self._by_model:
            lower = self._bound(self._data(rest, threshold))
        else:
            counts = _joined([part.counts(cut) for cut, part in parts])
            lower = np.median(self._bound(counts, 1 - 2 * significance))
        single = strategy == "split"
        return self._found(
            strategy,
            lower,
            threshold if single else None,
            rest.counts(threshold) if single else None,
            rows=rest if single else None,
            n_selection=len(self.scores) - len(rest),
            random_seed=random_seed if declared is None else None,
            frozen=declared is not None,
        )

    def bonferroni(self, grid: Any) -> ThresholdBound:
        """Bound at the best of a few thresholds."""
        if np.ndim(grid) == 0:
            size = int(check_integers(grid, "grid", minimum=1))
            levels = np.arange(1, size + 1) / (size + 1)
            thresholds = np.quantile(self.scores.score, levels, method="higher")
        else:
            thresholds = np.asarray(grid, float).ravel()
            size = thresholds.size
            if size == 0 or np.isnan(thresholds).any():
                raise ValueError("grid must hold numbers, got none or NaN.")
        counts = _joined([self.scores.counts(threshold) for threshold in np.unique(thresholds)])
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
        """Quote the best point of the same rows."""
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

    @property
    def _by_model(self) -> bool:
        """Whether the bound allows for the dependence of a model's rows."""
        return self.rates is not None or self.method == "betting"

    def _data(self, scores: AttackScores, threshold: float) -> AttackCounts | IndependentRates:
        if not self._by_model:
            return scores.counts(threshold)
        counts = scores.counts_by_model(threshold)
        return counts if self.rates is None else self.rates(counts)

    def _bound(self, data: AttackCounts | IndependentRates, prob: float | None = None) -> Any:
        return lower_bound(
            data,
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
            guarantee = "near nominal" if self.method == "two-direction" else "guaranteed"
        notes = [NOT_A_BOUND] if strategy == "optimistic" else []
        if more.get("n_selection", len(self.scores)) == 0:
            notes.append("too few rows to choose a threshold on some of them.")
        if np.all(self.scores.score == self.scores.score[0]):
            notes.append("all scores are equal: the attack carries no information.")
        if self.scores.clustered and not self._by_model:
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
            **{"rows": self.scores, **more},
        )


def _joined(tallies: list[AttackCounts]) -> AttackCounts:
    """Return tallies on one axis."""
    return AttackCounts(
        **{name: [getattr(tally, name) for tally in tallies] for name in ("fn", "tp", "fp", "tn")}
    )

"""Trials that share a trained model: what the data say of that, and the lines that allow for it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bayesaudit._result import Result
from bayesaudit._table import format_table
from bayesaudit.audits._counts import one_trial_each
from bayesaudit.audits._line import (
    BETA_BINOMIAL,
    CROSSED,
    EXACT_POSTERIOR,
    UNIFORM_ICC,
    Line,
    line_of_interval,
    line_of_posterior,
)
from bayesaudit.audits._question import ANYTIME, Question
from bayesaudit.betting import anytime_models
from bayesaudit.counts import AttackCounts
from bayesaudit.dependence import (
    ICC,
    SharedChallenges,
    TippingCurve,
    cluster_bootstrap,
    compare,
    icc,
    negative_icc,
    tipping_point,
)
from bayesaudit.dependence.comparison import ModelComparison
from bayesaudit.dependence.tipping import NOT_IDENTIFIED, ONE_RUN_AUDITS
from bayesaudit.dependence.xbern import xbern_interval
from bayesaudit.intervals import BETTING, confidence_interval
from bayesaudit.measures import Measure
from bayesaudit.posteriors import posterior
from bayesaudit.rates import check_icc_prior

__all__ = [
    "Dependence",
    "clustered_lines",
    "dependence_of",
    "dependent_lines",
    "promised_by_model",
]

#: What to report from one training run, since its correlation is not identified.
ONE_RUN = "one-run"
#: Below this number of models, methods that are asymptotic in it are left out.
FEW_MODELS = 5
MODELS = "trained models are independent"
NO_CORRELATION = (
    "every model has one trial a side: no trials depend on each other through a model, "
    "and the intra-model correlation does not matter."
)


@dataclass(frozen=True, slots=True, eq=False)
class Dependence(Result):
    """What the data say of the dependence of trials within a trained model.

    Parameters
    ----------
    icc : ICC
        The intra-model correlations, by side.
    recommended : str
        The line of the audit to quote: "beta-binomial"; "crossed" where trials of a shared
        challenge point err together; or "one-run" for a single model.
    message : str or None
        What a reader must know.
    comparison : ModelComparison or None
        Whether the independent model survives.
    tipping_point : TippingCurve or None
        For a single model: the interval at several correlations.
    challenges : SharedChallenges or None
        Whether trials of one challenge point err together across models, where models share them.
    """

    _omit = ("icc",)
    _also = ("icc=estimates", "icc_detail=sides", "n_models", "identified")

    icc: ICC
    recommended: str
    message: str | None
    comparison: ModelComparison | None
    tipping_point: TippingCurve | None
    challenges: SharedChallenges | None = None

    @property
    def n_models(self) -> int:
        """Number of trained models."""
        return self.icc.n_models

    @property
    def identified(self) -> bool:
        """Whether the data identify the correlations."""
        return self.icc.identified

    @property
    def estimates(self) -> dict[str, float | None]:
        """The estimated correlations, by side."""
        return {name: getattr(self.icc, name).estimate for name in ("fnr", "fpr")}

    @property
    def sides(self) -> dict[str, Any]:
        """All that is known of either side."""
        return {name: getattr(self.icc, name).to_dict() for name in ("fnr", "fpr")}

    def __str__(self) -> str:
        lines = [f"models: {self.n_models}"]
        for name, side in self.sides.items():
            if not side["identified"]:
                lines.append(
                    f"{name.upper()}: intra-model correlation not identified ({side['reason']})"
                )
                continue
            ends = ""
            if side["lower"] is not None:
                ends = f" [{side['lower']:.3f}, {side['upper']:.3f}]"
            lines.append(
                f"{name.upper()}: intra-model correlation {side['estimate']:.3f}{ends}, design "
                f"effect {side['design_effect']:.2f}, {side['n_trials']} trials worth "
                f"{side['n_eff']:.0f} independent ones"
            )
        if self.tipping_point is not None:
            rows = [
                [f"{point['icc']:g}", *(f"{point[n]:.5f}" for n in ("lower", "upper", "median"))]
                for point in self.tipping_point.to_dict()["points"]
            ]
            lines += ["", format_table(("correlation", "lower", "upper", "median"), rows)]
        candidates = [] if self.comparison is None else self.comparison.to_dict()["candidates"]
        if len(candidates) > 2:
            rows = [
                (
                    row["name"],
                    f"{row['elpd']:.1f}",
                    f"{row['difference']:.1f} ± {row['se_difference']:.1f}",
                )
                for row in candidates
            ]
            lines += ["", format_table(("LOO by model", "elpd", "difference to the best"), rows)]
        if self.challenges is not None:
            lines += ["", f"{self.challenges.message}"]
        if self.message:
            lines += ["", self.message[:1].upper() + self.message[1:]]
        if self.recommended == ONE_RUN:
            lines.append("Recommended: train more models, or audit the one run as such.")
        else:
            lines.append(f"Recommended: the {self.recommended} interval.")
        return "\n".join(lines)


def dependence_of(
    counts: AttackCounts,
    measure: Measure,
    question: Question,
    challenges: SharedChallenges | None = None,
) -> Dependence:
    """Return what counts per model say of dependence within a model."""
    found = icc(counts, question.prob)
    if found.n_models < 2:
        return Dependence(
            icc=found,
            recommended=ONE_RUN,
            message=f"one model: the intra-model correlation is {NOT_IDENTIFIED}; "
            f"{ONE_RUN_AUDITS}.",
            comparison=None,
            tipping_point=tipping_point(counts, measure, question.prob, prior=question.prior),
        )
    message, recommended = None, BETA_BINOMIAL
    if not found.identified:
        sides = {name: getattr(found, name) for name in ("fnr", "fpr")}
        reasons = [f"{name}: {side.reason}" for name, side in sides.items() if side.reason]
        message = (
            f"the intra-model correlation is not identified ({'; '.join(reasons)}): there the "
            "interval is prior-driven."
        )
        if max(side.n_trials - side.n_models for side in sides.values()) == 0:
            message = NO_CORRELATION
            recommended = EXACT_POSTERIOR
    comparison = None
    icc_prior = _icc_prior(question)
    if all(value != 0.0 for value in check_icc_prior(icc_prior).values()):
        comparison = compare(counts, prior=question.prior, icc_prior=icc_prior)
        message = message or comparison.sentence
    alike = "" if challenges is not None else negative_icc(counts)
    if alike:
        message = f"{message} {alike[:1].upper() + alike[1:]}" if message else alike
    crossed = challenges is not None and challenges.detected
    return Dependence(
        icc=found,
        recommended=CROSSED if crossed else recommended,
        message=message,
        comparison=comparison,
        tipping_point=None,
        challenges=challenges,
    )


def _icc_prior(question: Question) -> Any:
    return "default" if question.icc_prior is None else question.icc_prior


def dependent_lines(counts: AttackCounts, delta: float, question: Question) -> Iterator[Line]:
    """Yield the lines that allow for dependence: credible ones, then frequentist ones."""
    prior_driven = counts.shape[-1] < 2
    for method, icc_prior in ((BETA_BINOMIAL, _icc_prior(question)), (UNIFORM_ICC, "uniform")):
        main = method == BETA_BINOMIAL
        promise = "credible, cautious companion"
        if main:
            promise = "credible, trials of one model dependent"
            if prior_driven:
                promise = "credible, but not identified: prior-driven"
        yield line_of_posterior(
            posterior(
                counts,
                question.measure(delta),
                prior=question.prior,
                dependence="beta-binomial",
                icc_prior=icc_prior,
            ),
            delta,
            question.prob,
            question.claim,
            method=method,
            label=None if main else "  uniform ICC prior",
            guarantee="prior-driven" if prior_driven else "posterior mass",
            promise=promise,
            assumption=f"{MODELS}, their rates beta-distributed",
            summary={"icc_prior": icc_prior},
        )


def clustered_lines(counts: AttackCounts, delta: float, question: Question) -> Iterator[Line]:
    """Yield the bounds that allow for dependence within a model: the guaranteed one first."""
    measure = question.measure(delta)
    if question.looks == ANYTIME:
        # Files have their models in the order of the names, which grows in the middle.
        yield line_of_interval(
            anytime_models(counts, measure, question.prob, order="any"),
            delta,
            promise="confidence, guaranteed after each model, under any dependence within one",
            assumption=f"{MODELS}, the numbers of their trials fixed beforehand",
        )
        return
    yield replace(
        line_of_interval(
            confidence_interval(counts, measure, question.level, method=BETTING),
            delta,
            promise="confidence, guaranteed under any dependence within a model",
            assumption=f"{MODELS}, the numbers of their trials fixed beforehand",
        ),
        prob=question.prob,
    )
    if counts.shape[-1] < FEW_MODELS:
        return
    found = cluster_bootstrap(counts, measure, question.level)
    promise = {"promise": "confidence, approximate: whole models resampled"}
    if found.guarantee == "not identified":
        promise = {}
    line = line_of_interval(found, delta, method="cluster-bootstrap", assumption=MODELS, **promise)
    yield replace(line, prob=question.prob)
    if all((n == n[0]).all() and n[0] > 0 for n in (counts.n_pos, counts.n_neg)):
        yield replace(
            line_of_interval(
                xbern_interval(counts, measure, question.level),
                delta,
                method="xbern",
                promise="confidence, asymptotic in the number of models",
                assumption=f"{MODELS}, their trials exchangeable",
            ),
            prob=question.prob,
        )


def promised_by_model(promise: str, counts: AttackCounts) -> str:
    """Return the promise of a line of independent trials, for trials that may share a model."""
    words = "guaranteed only if trials of a model are independent, too"
    if one_trial_each(counts):
        words = "guaranteed: every model has one trial"
    return promise.replace("guaranteed if trials are independent", words)

"""Scores by a model of them: the curve, its companions, and whether the model fits."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from bayesaudit._checks import check_choice
from bayesaudit._plain import envelope
from bayesaudit._result import Result
from bayesaudit.diagnostics import Diagnosis, TailPrediction, diagnose, tail_prediction
from bayesaudit.measures import Direction, Epsilon
from bayesaudit.score_curves import TradeoffPosterior, tradeoff_posterior
from bayesaudit.score_laws import ScoreDraws
from bayesaudit.scores import AttackScores

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SCORE_MODELS", "ScoreAudit", "audit_score_draws", "audit_scores", "holds_scores"]

SCORE_MODELS = ("location", "binormal", "student")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreAudit(Result):
    """Draws of a score model, what they say of the trade-off curve, and the verdict on both.

    Parameters
    ----------
    curve : TradeoffPosterior
        The curve's numbers, each with its basis, and the companions without a model of scores.
    tails : TailPrediction
        What the model predicts for the tails, and what was observed.
    diagnosis : dict of float to Diagnosis
        The verdict at every δ: on the draws, on the model's fit, on its prior.
    warnings : tuple of str
        What the reader must know first.
    dt : xarray.DataTree
        The draws.
    source : str
        Where the scores come from.
    """

    curve: TradeoffPosterior
    tails: TailPrediction
    diagnosis: dict[float, Diagnosis]
    warnings: tuple[str, ...]
    dt: "xr.DataTree" = field(repr=False)
    source: str = "scores"

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(found.passed for found in self.diagnosis.values())

    def with_warnings(self, notes: Iterable[str]) -> "ScoreAudit":
        """Return the same with hints on the file before its own warnings."""
        return replace(self, warnings=(*notes, *self.warnings))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, in the envelope that every command prints."""
        attrs = self.dt.attrs
        inputs = {"source": self.source, "model": self.curve.family, "prob": self.curve.prob}
        names = ("method", "draws", "chains", "tune", "target_accept", "sampler", "transform")
        inputs |= {name: attrs[name] for name in names if name in attrs}
        inputs |= {"seed": int(attrs["random_seed"]), "support": self.curve.support}
        inputs |= {"shifts": list(self.curve.shifts), "direction": self.curve.direction}
        diagnoses = [{"delta": delta, **one.to_dict()} for delta, one in self.diagnosis.items()]
        results = {"curve": self.curve, "tails": self.tails, "diagnostics": diagnoses}
        return envelope(inputs=inputs, results=results, warnings=self.warnings)

    def __str__(self) -> str:
        verdicts = [f"at delta {delta:g}: {one}" for delta, one in self.diagnosis.items()]
        return "\n".join([str(self.curve), "", str(self.tails), "", *verdicts])


def audit_scores(
    scores: AttackScores,
    model: Literal["location", "binormal", "student"],
    *,
    delta: ArrayLike = 1e-5,
    fpr: ArrayLike = (1e-3, 1e-2, 1e-1),
    prob: float = 0.90,
    direction: Direction = "member",
    extrapolate: bool = False,
    support: int = 5,
    transform: Literal["identity", "logit"] = "identity",
    source: str = "scores",
    **settings: Any,
) -> ScoreAudit:
    """Sample a model of scores, and return its curve with the verdict on its fit.

    Parameters
    ----------
    scores : AttackScores
        The scores; columns ``model`` and ``challenge`` become random shifts.
    model : {"location", "binormal", "student"}
        A function of `bayesaudit.models`.
    delta, fpr, prob, direction, extrapolate
        As for `bayesaudit.tradeoff_posterior`.
    support, transform
        As for the model.
    source : str
        Where the scores come from.
    **settings
        As for `bayesaudit.sample`: draws, tune, chains, target_accept, random_seed, sampler, ….

    Returns
    -------
    ScoreAudit

    Raises
    ------
    ValueError, TypeError
        As the model and `bayesaudit.tradeoff_posterior`.
    """
    from bayesaudit import models
    from bayesaudit.sampling import sample

    check_choice(model, "model", SCORE_MODELS)
    if not isinstance(scores, AttackScores):
        raise TypeError(f"{source}: a model of scores needs scores, got {type(scores).__name__}.")
    # What a Student model predicts for every score is neither needed nor small.
    groups = ("prior", "log_prior", "log_likelihood")[: 2 if model == "student" else 3]
    settings = {"groups": groups} | settings
    built = getattr(models, model)(scores, support=support, transform=transform)
    dt = sample(built, **settings)
    return audit_score_draws(
        dt,
        delta=delta,
        fpr=fpr,
        prob=prob,
        direction=direction,
        extrapolate=extrapolate,
        source=source,
    )


def holds_scores(dt: "xr.DataTree") -> bool:
    """Whether a tree holds draws of a model of scores."""
    return ScoreDraws.held_by(dt)


def audit_score_draws(
    dt: "xr.DataTree",
    *,
    delta: ArrayLike = 1e-5,
    fpr: ArrayLike = (1e-3, 1e-2, 1e-1),
    prob: float = 0.90,
    direction: Direction = "member",
    extrapolate: bool = False,
    source: str = "draws",
) -> ScoreAudit:
    """Return the curve and the verdict of draws of a score model (see `audit_scores`)."""
    curve = tradeoff_posterior(
        dt, delta=delta, fpr=fpr, prob=prob, direction=direction, extrapolate=extrapolate
    )
    deltas = [one.at for one in curve.estimates if one.quantity == "epsilon"]
    diagnoses = {
        value: diagnose(dt, Epsilon(value, direction), prob=prob) for value in dict.fromkeys(deltas)
    }
    warnings = []
    misfit = {
        check.name: check.meaning
        for found in diagnoses.values()
        for check in found.failed
        if check.name.startswith("score_")
    }
    warnings += [f"the model does not fit ({name}): {why}." for name, why in misfit.items()]
    if not curve.rows_independent and "model" not in curve.shifts:
        warnings.append("rows of one trained model count as independent: no shift is in the model.")
    if curve.extrapolated:
        warnings.append("numbers labelled 'extrapolated by the model' rest on unseen tails.")
    return ScoreAudit(curve, tail_prediction(dt, prob=prob), diagnoses, tuple(warnings), dt, source)

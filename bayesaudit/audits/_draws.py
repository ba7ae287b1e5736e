"""Draws beside the lines: which model is sampled, what its draws say, and whether to trust them."""

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesaudit.audits._line import DRAWS, Line, line_of_posterior
from bayesaudit.audits._question import Question
from bayesaudit.counts import AttackCounts
from bayesaudit.diagnostics import CrossCheck, Diagnosis, cross_check, diagnose
from bayesaudit.posteriors import posterior

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "Sampled",
    "comparison_with",
    "draw",
    "exact_twin",
    "judge",
    "one_tally",
    "recorded_twin",
]

#: Acceptance rate for data of one model, where the correlation's prior speaks and is hard to walk.
CAREFUL = 0.99
INTEGRATE = "let the model define log_marginal, its effects of trained models integrated out"


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Draws of the rates, and the verdicts on them at every delta.

    Parameters
    ----------
    dt : xarray.DataTree
        The draws.
    cross_check : dict of float to CrossCheck
        The comparison with the exact posterior at each delta; empty where there is none.
    diagnosis : dict of float to Diagnosis
        What the diagnostics say at each delta.
    tallies : tuple of (Sampled, tuple of Line)
        For many tallies: the draws and lines of each, in place of the verdicts above.
    """

    dt: "xr.DataTree"
    cross_check: dict[float, CrossCheck]
    diagnosis: dict[float, Diagnosis]
    tallies: tuple[tuple["Sampled", tuple[Line, ...]], ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        verdicts = (*self.cross_check.values(), *self.diagnosis.values())
        ones = (one for one, _ in self.tallies)
        return all(verdict.passed for verdict in (*verdicts, *ones))

    @property
    def model(self) -> str:
        """Name of the sampled model."""
        return str(self.dt.attrs.get("model", "unknown"))

    def inputs(self) -> dict[str, Any]:
        """Return how the draws were made, as the JSON holds it."""
        attrs = self.dt.attrs
        settings = {name: attrs[name] for name in ("method", "draws", "chains")}
        if settings["method"] == "nuts":
            settings |= {name: attrs[name] for name in ("tune", "target_accept", "sampler")}
            settings |= {"target_accept": float(attrs["target_accept"]), "model": attrs["model"]}
        return settings | {"seed": int(attrs["random_seed"])}


def draw(
    counts: AttackCounts, per_model: bool, question: Question, model: str | None, **settings: Any
) -> "xr.DataTree":
    """Draw from the posterior: of the named model, or of independent trials where there is none."""
    from bayesaudit.models import build_model, load_builder
    from bayesaudit.sampling import sample

    accept, trials = settings.pop("target_accept", None), settings.pop("trials", None)
    if model is None:
        return sample(
            counts.pooled() if per_model else counts,
            prior=question.prior,
            target_accept=0.9 if accept is None else accept,
            **settings,
        )
    if not per_model and counts.shape:
        counts = counts[0]
    builder = load_builder(model)
    known = inspect.signature(builder).parameters
    offered = {"prior": question.prior, "icc_prior": question.icc_prior}
    if model == "independent":
        offered["axis"] = "model" if per_model else "tally"
    anything = any(p.kind is p.VAR_KEYWORD for p in known.values())
    priors = {
        key: value
        for key, value in offered.items()
        if value is not None and (key in known or (anything and key == "prior"))
    }
    if accept is None:
        accept = CAREFUL if per_model and counts.shape[-1] == 1 else 0.9
    settings.pop("method", None)
    sampler = settings.get("sampler", "nutpie")
    built = build_model(builder, counts, trials=trials, sampler=sampler, **priors)
    dt = sample(built, target_accept=accept, **settings)
    dt.attrs["model"] = model
    return dt


def exact_twin(
    counts: AttackCounts | None, per_model: bool, question: Question, model: str | None
) -> tuple[AttackCounts, dict[str, Any]] | None:
    """Return counts and options of the exact posterior that the draws should equal, if any."""
    if counts is None:
        return None
    options: dict[str, Any] = {"prior": question.prior}
    if model is None or (model == "independent" and not per_model):
        return (counts.pooled() if per_model else counts), options
    if per_model and model == "independent":
        return counts, options | {"dependence": "independent"}
    if per_model and model == "beta_binomial":
        icc_prior = "default" if question.icc_prior is None else question.icc_prior
        return counts, options | {"dependence": "beta-binomial", "icc_prior": icc_prior}
    return None


def recorded_twin(dt: "xr.DataTree") -> tuple[AttackCounts, dict[str, Any]] | None:
    """Return what a tree records of its counts and prior, if its model is the independent one."""
    attrs = dt.attrs
    if attrs.get("model") != "independent" or not str(attrs.get("prior", "")).startswith("{"):
        return None
    prior = {name: tuple(shapes) for name, shapes in json.loads(attrs["prior"]).items()}
    return AttackCounts(**json.loads(attrs["counts"])), {"prior": prior}


def judge(
    dt: "xr.DataTree", question: Question, twin: tuple[AttackCounts, dict[str, Any]] | None
) -> tuple[Sampled, tuple[Line, ...]]:
    """Return the draws with their verdicts, and their lines."""
    checks: dict[float, CrossCheck] = {}
    diagnoses: dict[float, Diagnosis] = {}
    lines = []
    for delta in question.delta:
        measure, groups = question.measure(delta), []
        draws = posterior(dt, measure)
        diagnoses[delta] = diagnose(dt, measure, prob=question.prob)
        if draws.shape:
            groups, draws = list(_groups(draws, delta, question)), draws.maximum()
        elif twin is not None:
            checks[delta] = cross_check(draws, posterior(twin[0], measure, **twin[1]))
        dims = f", the largest over {groups[0][0]}" if groups else ""
        lines += [line for _, line in groups]
        lines.append(_draws_line(draws, delta, question, DRAWS, dims))
    return Sampled(dt, checks, diagnoses), tuple(lines)


def _draws_line(
    draws: Any, delta: float, question: Question, method: str, what: str = "", **place: Any
) -> Line:
    return line_of_posterior(
        draws,
        delta,
        question.prob,
        question.claim,
        method=method,
        promise=f"credible, by Monte Carlo{what}",
        assumption="the model, and draws that pass their diagnostics",
        summary={"mcse": draws.to_dict(question.prob)["mcse"], **place},
    )


def _groups(draws: Any, delta: float, question: Question) -> Iterator[tuple[str, Line]]:
    """Yield the dims and the line of every group of a model whose rates have named dims."""
    import xarray as xr

    dims = draws.tally_dims
    names = [name for name in ("fnr", "fpr", "tpr", "tnr") if name in draws.dt["posterior"]]
    rates = draws.dt["posterior"].dataset[names]
    for index in np.ndindex(draws.shape):
        at = dict(zip(dims, index, strict=True))
        chosen = rates.isel({dim: i for dim, i in at.items() if dim in rates.dims}, drop=True)
        tree = xr.DataTree.from_dict({"posterior": chosen})
        labels = {
            dim: str(rates[dim].values[i]) if dim in rates.coords else str(i)
            for dim, i in at.items()
        }
        told = ", ".join(f"{dim} {label}" for dim, label in labels.items())
        one = posterior(tree, draws.measure)
        line = _draws_line(one, delta, question, f"{DRAWS}, {told}", **labels)
        yield " and ".join(dims), line


def one_tally(dt: "xr.DataTree", number: int, counts: AttackCounts) -> "xr.DataTree":
    """Return the tree of one tally of many."""
    import xarray as xr

    groups = {
        node.path: data.isel(tally=number, drop=True) if "tally" in data.dims else data
        for node in dt.subtree
        for data in [node.to_dataset(inherit=False)]
    }
    one = xr.DataTree.from_dict(groups)
    one.attrs = {**dt.attrs, "counts": json.dumps(counts.to_dict())}
    return one


def comparison_with(
    counts: AttackCounts, dt: "xr.DataTree", model: str, question: Question
) -> tuple[Any, list[str]]:
    """Return the comparison with the sampled model among the candidates, and what to know of it."""
    from bayesaudit.dependence import compare

    icc_prior = "default" if question.icc_prior is None else question.icc_prior
    try:
        found = compare(counts, {model: dt}, prior=question.prior, icc_prior=icc_prior)
    except ValueError as error:
        return None, [f"not in the comparison: {error}"]
    if found[model].reliable:
        return found, []
    reason = "a few trained models are influential"
    if "log_marginal" not in dt["posterior"].dataset:
        reason = INTEGRATE
    return found, [f"the LOO of {model} is rough (Pareto k {found[model].worst_k:.2f}): {reason}."]

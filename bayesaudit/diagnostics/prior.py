"""Checks of the prior: how much of the answer is its own, and which number that is."""

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit.counts import AttackCounts
from bayesaudit.diagnostics.convergence import label
from bayesaudit.rates import check_prior

if TYPE_CHECKING:
    import xarray as xr

    from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = ["contraction", "prior_interval", "prior_sensitivity"]

Array = NDArray[np.float64]
Found = tuple[float, str] | tuple[float, str, str] | str
#: Fewer errors, or right guesses, than this and a rate's prior is worth a remark.
FEW = 5
#: Powers of the prior between which the ends of the interval are told to move.
POWERS = (0.8, 1.25)
#: An end that moves by more than this share of the interval's width is the prior's.
MUCH = 0.25
CELLS = {"fnr": ("FN", "TP", "fn", "n_pos"), "fpr": ("FP", "TN", "fp", "n_neg")}


def _without(dt: "xr.DataTree", group: str, plain: str) -> str:
    """Return why a tree has no such group."""
    return json.loads(dt.attrs.get("skipped_groups", "{}")).get(group, plain)


def prior_sensitivity(draws: "DrawsPosterior", prob: float) -> Found:
    """Return the power-scaling sensitivity of the measure to the prior, the worst tally's."""
    dt = draws.dt
    if "log_prior" not in dt.children:
        return _without(dt, "log_prior", "no log_prior")
    dims = draws.tally_dims
    log_prior = _population_priors(dt["log_prior"].dataset, dims)
    varying = [name for name, array in log_prior.items() if np.ptp(array.values) > 0]
    if not varying:
        return "the prior is flat: its density is constant, and no power of it differs"
    worst, where, reasons = -np.inf, "", []
    at_worst: dict[str, Any] = {}
    for position, tally in enumerate(np.ndindex(draws.shape)):
        values = draws.by_tally[position]
        if np.ptp(values) == 0 or not np.isfinite(values).all():
            reasons.append("draws are constant or not finite")
            continue
        at = dict(zip(dims, tally, strict=True))
        # A tally's own prior alone: power-scaling all of them at once would be another question.
        local = {
            str(name): log_prior[name].isel({d: i for d, i in at.items() if d in array.dims})
            for name, array in log_prior[varying].items()
        }
        try:
            value = _worst_psense(draws.draws.isel(at), local)
        except ValueError as error:
            reasons.append(f"not available: {' '.join(str(error).split())}")
            continue
        if np.isnan(value):
            reasons.append("not available: the draws are too few, or take too few values")
        elif value > worst:
            worst, at_worst = value, local
            where = f"{'/'.join(dims)} {label(draws.draws, position)[1:-1]}" if tally else ""
    if np.isneginf(worst):
        return reasons[0]
    return worst, where, "" if draws.shape else _detail(draws, prob, at_worst)


def _population_priors(log_prior: "xr.Dataset", dims: tuple[str, ...]) -> "xr.Dataset":
    """Return the log priors of population parameters.

    Effects of single models or challenges are part of the model rather than of its prior.
    """
    allowed = {"chain", "draw", *dims}
    names = [name for name, array in log_prior.data_vars.items() if set(array.dims) <= allowed]
    return log_prior[names] if names else log_prior


def _worst_psense(measure: "xr.DataArray", local: dict[str, "xr.DataArray"]) -> float:
    """Return the largest sensitivity: to all priors, to those of the rates, to all others.

    Two priors that pull in opposite directions would cancel in the sum.
    """
    rates = {name: array for name, array in local.items() if name.startswith(("fnr", "fpr"))}
    others = {name: array for name, array in local.items() if name not in rates}
    groups = [local, rates, others] if rates and others else [local]
    return float(np.max([_psense(measure, group) for group in groups]))


def _psense(measure: "xr.DataArray", log_prior: dict[str, "xr.DataArray"]) -> float:
    import xarray as xr
    from arviz_stats import psense

    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"measure": measure.reset_coords(drop=True)}),
            "log_prior": xr.Dataset(
                {name: array.reset_coords(drop=True) for name, array in log_prior.items()}
            ),
        }
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return float(psense(tree, group="prior")["measure"].values)


# -- which number is the prior's -------------------------------------------------------------------


def _detail(draws: "DrawsPosterior", prob: float, log_prior: dict[str, "xr.DataArray"]) -> str:
    """Name the rates with few errors, and the ends of the interval that move with the prior."""
    few = _few(draws.dt)
    moves = _exact_moves(draws, prob) or _power_moves(draws, prob, log_prior)
    return f"{few}: {moves}" if few else moves


def _few(dt: "xr.DataTree") -> str:
    """Return "FN = 0", say, for every count that is small."""
    if not {"observed_data", "constant_data"} <= set(dt.children):
        return ""
    observed, constant = dt["observed_data"].dataset, dt["constant_data"].dataset
    found = []
    for errors_name, rights_name, errors, trials in CELLS.values():
        if errors not in observed or trials not in constant:
            continue
        wrong = int(observed[errors].sum())
        right = int(constant[trials].broadcast_like(observed[errors]).sum()) - wrong
        found += [f"{n} = {k}" for n, k in ((errors_name, wrong), (rights_name, right)) if k < FEW]
    return ", ".join(found)


def _exact_moves(draws: "DrawsPosterior", prob: float) -> str:
    """Compare two priors by quadrature, where the model and its counts are known; else ""."""
    from bayesaudit.posteriors import posterior

    attrs = draws.dt.attrs
    kinds: dict[Any, dict[str, Any]] = {
        "independent": {"dependence": "independent"},
        "beta_binomial": {"dependence": "beta-binomial"},
    }
    text = str(attrs.get("prior", ""))
    if attrs.get("model") not in kinds or "counts" not in attrs or not text.startswith("{"):
        return ""
    options = kinds[attrs["model"]]
    counts = AttackCounts(**json.loads(attrs["counts"]))
    if not counts.shape:
        options = {}
    if attrs["model"] == "beta_binomial":
        icc_prior = attrs.get("icc_prior", "default")
        options["icc_prior"] = (
            icc_prior if icc_prior in ("default", "uniform") else _json(icc_prior)
        )
    own = {name: tuple(pair) for name, pair in json.loads(text).items()}
    other = "jeffreys" if own == check_prior("uniform") else "uniform"
    named = next((n for n in ("jeffreys", "uniform") if own == check_prior(n)), "this prior")
    ends = [
        tuple(posterior(counts, draws.measure, prior=prior, **options).interval(prob))
        for prior in (own, other)
    ]
    return _told(*ends, f"under {NAMES.get(named, named)}", f"under {NAMES[other]}")


NAMES = {"jeffreys": "Jeffreys' prior", "uniform": "the uniform one"}


def _json(text: str) -> Any:
    """Return a prior from its text in the tree."""
    if text in ("default", "uniform"):
        return text
    value = json.loads(text)
    if isinstance(value, dict):
        return {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _power_moves(draws: "DrawsPosterior", prob: float, log_prior: dict[str, "xr.DataArray"]) -> str:
    """Weigh the draws by powers of the prior."""
    values = draws.by_tally[0].ravel()
    log_p = sum(array.transpose("chain", "draw", ...).values for array in log_prior.values())
    log_p = np.reshape(log_p, (values.size, -1)).sum(axis=1)
    order = np.argsort(values)
    tail = (1 - prob) / 2
    ends = []
    for power in POWERS:
        weight = (power - 1) * log_p
        weight = np.exp(weight - weight.max())
        cdf = np.cumsum(weight[order]) / weight.sum()
        place = np.searchsorted(cdf, [tail, 1 - tail])
        ends.append(tuple(values[order][np.minimum(place, values.size - 1)]))
    return _told(*ends, *(f"under the prior to the power {power:g}" for power in POWERS))


def _told(one: tuple, two: tuple, first: str, second: str) -> str:
    """Say how two ends move, the one that moves most first."""
    width = max(one[1] - one[0], two[1] - two[0])
    gaps = {"lower": abs(one[0] - two[0]), "upper": abs(one[1] - two[1])}
    position = {"lower": 0, "upper": 1}
    main, rest = sorted(gaps, key=lambda name: -gaps[name])
    a, b = (ends[position[main]] for ends in (one, two))
    verb = "is the prior's" if width > 0 and gaps[main] > MUCH * width else "moves"
    c, d = (ends[position[rest]] for ends in (one, two))
    return (
        f"the {main} end {verb}: {a:.3g} {first}, {b:.3g} {second}; the {rest} end moves from "
        f"{c:.3g} to {d:.3g}"
    )


def contraction(draws: "DrawsPosterior") -> Found:
    """Return 1 − Var(posterior)/Var(prior), the smallest over rates and tallies."""
    dt = draws.dt
    if "prior" not in dt.children:
        return _without(dt, "prior", "no prior draws")
    before, after = dt["prior"].dataset, dt["posterior"].dataset
    if not {"fnr", "fpr"} <= set(before.data_vars):
        return "no prior draws of fnr and fpr"
    worst, where = np.inf, ""
    for name in ("fnr", "fpr"):
        spread = before[name].var(("chain", "draw"))
        if not bool((spread > 0).all()):
            continue
        ratio = after[name].var(("chain", "draw")) / spread
        value = 1 - float(ratio.max())
        if value < worst:
            worst, where = value, f"{name}{label(ratio, int(np.argmax(ratio.values)))}"
    return (worst, where) if np.isfinite(worst) else "the prior's draws are constant"


def prior_interval(draws: "DrawsPosterior", prob: float) -> tuple[float, float] | None:
    """Return the measure's interval under the prior alone; None for many tallies, or no prior."""
    import xarray as xr

    if draws.shape or "prior" not in draws.dt.children:
        return None
    prior = draws.dt["prior"].to_dataset()
    if not {"fnr", "fpr"} <= set(prior.data_vars):
        return None
    before = type(draws)(xr.DataTree.from_dict({"posterior": prior}), draws.measure)
    lower, upper = before.interval(prob)
    return float(lower), float(upper)

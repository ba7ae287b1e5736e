"""Checks of the model: does the prior speak, and could it have made these data."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

    from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = [
    "contraction",
    "dispersion",
    "pearson_dispersion",
    "prior_interval",
    "prior_sensitivity",
    "trained_models",
]

Array = NDArray[np.float64]
Found = tuple[float, str] | str
SIDES = (("fn", "n_pos"), ("fp", "n_neg"))


def prior_sensitivity(draws: "DrawsPosterior") -> Found:
    """Return the power-scaling sensitivity of the measure to the prior, the worst tally's."""
    dt = draws.dt
    missing = [name for name in ("log_prior", "log_likelihood") if name not in dt.children]
    if missing:
        return f"no {' and '.join(missing)}"
    if any(np.ptp(values) == 0 for values in draws.by_tally) or np.isinf(draws.by_tally).any():
        return "draws are constant or infinite"
    dims = draws.tally_dims
    log_prior = _population_priors(dt["log_prior"].dataset, dims)
    worst, where = 0.0, ""
    for tally in np.ndindex(draws.shape):
        at = dict(zip(dims, tally, strict=True))
        # A tally's own prior alone: power-scaling all of them at once would be another question.
        local = {
            name: array.isel({dim: i for dim, i in at.items() if dim in array.dims})
            for name, array in log_prior.data_vars.items()
        }
        value = _worst_psense(draws.draws.isel(at), local)
        if np.isnan(value) or value > worst:
            worst, where = value, f"tally {', '.join(map(str, tally))}" if tally else ""
    return worst, where


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
    import warnings

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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(psense(tree, group="prior")["measure"].values)


def contraction(draws: "DrawsPosterior") -> Found:
    """Return 1 − Var(posterior)/Var(prior), the smallest over rates and tallies."""
    dt = draws.dt
    if "prior" not in dt.children:
        return "no prior draws"
    before, after = dt["prior"].dataset, dt["posterior"].dataset
    if not {"fnr", "fpr"} <= set(before.data_vars):
        return "no prior draws of fnr and fpr"
    worst, where = np.inf, ""
    for name in ("fnr", "fpr"):
        ratio = after[name].var(("chain", "draw")) / before[name].var(("chain", "draw"))
        value = 1 - float(ratio.max())
        if value < worst:
            at = f"[{int(np.argmax(ratio.values))}]" if ratio.ndim else ""
            worst, where = value, f"{name}{at}"
    return worst, where


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


def trained_models(draws: "DrawsPosterior") -> tuple[float, str] | None:
    """Return the number of trained models behind the counts; None where these name none."""
    if "observed_data" not in draws.dt.children:
        return None
    size = draws.dt["observed_data"].dataset.sizes.get("model")
    return None if size is None else (float(size), "")


def pearson_dispersion(errors: Array, trials: Array) -> Array:
    """Return Pearson's χ² of counts about their pooled rate, over the last axis.

    Parameters
    ----------
    errors : numpy.ndarray, shape (..., models)
        Counts.
    trials : numpy.ndarray, shape (models,)
        Their numbers of trials.

    Examples
    --------
    >>> float(pearson_dispersion(np.array([2, 8]), np.array([10, 10])).round(12))
    7.2
    """
    rate = errors.sum(axis=-1, keepdims=True) / trials.sum()
    expected = trials * rate
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (errors - expected) ** 2 / (expected * (1 - rate))
    return np.sum(np.where(expected * (1 - rate) > 0, terms, 0.0), axis=-1)


def dispersion(draws: "DrawsPosterior") -> Found:
    """Return the posterior predictive P of a dispersion between models as large as observed."""
    dt = draws.dt
    for group in ("posterior_predictive", "observed_data", "constant_data"):
        if group not in dt.children:
            return f"no {group}"
    predicted, observed, constant = (
        dt[group].dataset for group in ("posterior_predictive", "observed_data", "constant_data")
    )
    found = []
    for side, trials in SIDES:
        present = side in predicted and side in observed and trials in constant
        if present and "model" in observed[side].dims and observed[side].sizes["model"] > 1:
            n = constant[trials].broadcast_like(observed[side]).transpose(..., "model").values
            seen = pearson_dispersion(observed[side].transpose(..., "model").values, n)
            made = predicted[side].transpose("chain", "draw", ..., "model").values
            again = pearson_dispersion(made, n)
            found.append((float(np.mean(again >= seen * (1 - 1e-12))), side))
    return min(found) if found else "no counts along a model dim, so nothing to disperse"

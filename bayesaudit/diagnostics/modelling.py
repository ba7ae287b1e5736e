"""Checks of the model: did it see these counts, and could it have made them."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._observed import observed_mismatch
from bayesaudit.counts import AttackCounts

if TYPE_CHECKING:
    import xarray as xr

    from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = [
    "dispersion",
    "of_these_models",
    "pearson_dispersion",
    "saw_the_counts",
    "trained_models",
]

Array = NDArray[np.float64]
Found = tuple[float, str] | tuple[float, str, str] | str | None
SIDES = (("fn", "n_pos"), ("fp", "n_neg"))


def _group(dt: "xr.DataTree", name: str) -> Any:
    return dt[name].dataset if name in dt.children else {}


def saw_the_counts(draws: "DrawsPosterior", counts: AttackCounts | None) -> Found:
    """Return 1 if data of the model are not the counts, else 0; None where nothing is recorded."""
    dt = draws.dt
    if counts is None:
        if "counts" not in dt.attrs:
            return None
        counts = AttackCounts(**json.loads(dt.attrs["counts"]))
    data = {
        name: array.values
        for group in ("constant_data", "observed_data")
        for name, array in _group(dt, group).items()
    }
    if not data.keys() & {"fn", "fp"}:
        return None
    found = observed_mismatch(data, counts)
    return float(bool(found)), found.split(" is ")[0] if found else "", found


def of_these_models(draws: "DrawsPosterior") -> Found:
    """Return how many rates are the mean of these models; None where that is not recorded."""
    if draws.dt.attrs.get("method") != "nuts":
        return None
    found = json.loads(draws.dt.attrs.get("rates_of_these_models", "{}"))
    detail = ", ".join(f"{rate} is a function of {effect}" for rate, effect in found.items())
    return float(len(found)), ", ".join(found), detail


def trained_models(draws: "DrawsPosterior") -> Found:
    """Return the number of trained models behind the counts; None where these name none."""
    observed = _group(draws.dt, "observed_data")
    size = observed.sizes.get("model") if len(observed) else None
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
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = errors.sum(axis=-1, keepdims=True) / trials.sum(axis=-1, keepdims=True)
        expected = trials * rate
        terms = (errors - expected) ** 2 / (expected * (1 - rate))
    return np.sum(np.where(expected * (1 - rate) > 0, terms, 0.0), axis=-1)


def dispersion(draws: "DrawsPosterior") -> Found:
    """Return the posterior predictive P of a dispersion between models as large as observed.

    The smallest over the counts, times their number (Bonferroni).
    """
    dt = draws.dt
    for group in ("posterior_predictive", "observed_data", "constant_data"):
        if group not in dt.children:
            skipped = json.loads(dt.attrs.get("skipped_groups", "{}"))
            return skipped.get(group, f"no {group}")
    predicted, observed, constant = (
        dt[group].dataset for group in ("posterior_predictive", "observed_data", "constant_data")
    )
    found: list[tuple[float, str]] = []
    unknown = []
    for side, trials in SIDES:
        if side not in predicted or side not in observed:
            continue
        axis = _between(observed[side])
        if axis is None or observed[side].sizes[axis] < 2:
            continue
        data = observed[side].transpose(..., axis)
        n = constant[trials] if trials in constant else _recorded_trials(dt, trials, data)
        if n is None:
            unknown.append(f"{trials} of {side}")
            continue
        n = n.broadcast_like(data).transpose(*data.dims).values if n.dims != data.dims else n.values
        made = predicted[side].transpose("chain", "draw", *data.dims).values
        again = pearson_dispersion(made, n)
        seen = pearson_dispersion(data.values, n)
        p = np.mean(again >= seen * (1 - 1e-12), axis=(0, 1))
        found += [(float(value), side) for value in np.ravel(p)]
    if not found and unknown:
        return f"the model does not say how many trials there were ({', '.join(unknown)})"
    if not found:
        return "no counts along a model dim, so nothing to disperse"
    smallest, side = min(found)
    return min(1.0, smallest * len(found)), side


def _recorded_trials(dt: "xr.DataTree", name: str, data: "xr.DataArray") -> Any:
    """Return the trials of the counts that the tree records, where these are of the data's form."""
    if "counts" not in dt.attrs:
        return None
    trials = getattr(AttackCounts(**json.loads(dt.attrs["counts"])), name)
    return data.copy(data=trials) if trials.shape == data.shape else None


def _between(data: "xr.DataArray") -> str | None:
    """Return the dim of the trained models: ``model``, or the one dim that has no name."""
    if "model" in data.dims:
        return "model"
    unnamed = f"{data.name}_dim_0"
    return unnamed if data.dims == (unnamed,) else None

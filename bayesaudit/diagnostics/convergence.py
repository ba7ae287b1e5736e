"""Checks of the draws and of the sampler that made them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit.posteriors._error import ess, quantile_error, share_ess

if TYPE_CHECKING:
    import xarray as xr

    from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = ["convergence_values", "end_values", "label", "sampler_values"]

Array = NDArray[np.float64]
#: name -> (value, where, and a detail if there is one)
Values = dict[str, tuple[Any, ...]]
#: Complements say nothing that the rates do not.
COMPLEMENTS = ("tpr", "tnr")
HUGE = np.finfo(float).max / 4


def _series(draws: "DrawsPosterior") -> list[tuple[str, Array]]:
    """Return every scalar component of the posterior and the measure: (name, (chain, draw))."""
    found = []
    group = draws.dt["posterior"].dataset
    arrays = [group[name] for name in group.data_vars if name not in COMPLEMENTS]
    arrays = [array for array in arrays if array.name != draws.measure.name]
    for array in [draws.draws, *arrays]:
        if not {"chain", "draw"} <= set(array.dims) or array.dtype.kind not in "fiu":
            continue
        values = array.transpose("chain", "draw", ...).values.astype(float)
        flat = values.reshape(*values.shape[:2], -1)
        for position in range(flat.shape[2]):
            found.append((f"{array.name}{label(array, position)}", flat[:, :, position]))
    return found


def label(array: "xr.DataArray", position: int) -> str:
    """Return where a flattened position lies, by the labels of its dims: "[b]"; "" for a scalar."""
    dims = [str(dim) for dim in array.dims if dim not in ("chain", "draw")]
    if not dims:
        return ""
    index = np.unravel_index(position, [array.sizes[dim] for dim in dims])
    at = zip(dims, index, strict=True)
    names = (array[dim].values[i] if dim in array.coords else int(i) for dim, i in at)
    return f"[{', '.join(map(str, names))}]"


def convergence_values(draws: "DrawsPosterior", prob: float) -> Values:
    """Return R-hat, bulk and tail ESS, and what is constant or infinite."""
    from arviz_stats.base import array_stats

    constant, infinite, infinite_in = [], 0, ""
    missing: dict[str, int] = {}
    rhat, bulk, tail = (1.0, ""), (np.inf, ""), (np.inf, "")
    for name, values in _series(draws):
        if np.isnan(values).any():
            missing[name] = int(np.isnan(values).sum())
            continue
        if name.split("[")[0] == draws.measure.name and np.isinf(values).any():
            infinite += int(np.isinf(values).sum())
            infinite_in = infinite_in or name
        values = np.clip(values, -HUGE, HUGE)
        if np.ptp(values) == 0:
            constant.append((name, values[0, 0]))
            continue
        # A single chain is compared with itself, half against half.
        halves = values if values.shape[0] > 1 else _halves(values)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            found = float(array_stats.rhat(halves))
        rhat = _worse(rhat, (found, name), np.greater)
        bulk = _worse(bulk, (ess(values, "bulk"), name), np.less)
        tail = _worse(tail, (ess(values, "tail", (0.05, 0.95)), name), np.less)
    values = {
        "nan_draws": _missing(missing, draws),
        "n_chains": _chains(draws),
        "infinite_draws": (infinite, infinite_in),
        "constant_draws": _constant(draws, constant),
    }
    if bulk[1]:
        values |= {"rhat": rhat, "ess_bulk": bulk, "ess_tail": tail}
    return values


def _missing(found: dict[str, int], draws: "DrawsPosterior") -> tuple[float, str, str]:
    # The measure is NaN where a rate is: the rate is what to name.
    names = [name for name in found if name.split("[")[0] != draws.measure.name] or list(found)
    where = ", ".join(names[:5])
    detail = ", ".join(f"{name}: {found[name]} of {draws.n_draws}" for name in names[:5])
    return float(sum(found[name] for name in names)), where, detail


def _chains(draws: "DrawsPosterior") -> tuple[float, str, str]:
    count = draws.draws.sizes["chain"]
    detail = ""
    if count == 1 and "sample_stats" not in draws.dt.children:
        detail = (
            "and no statistics of a sampler: independent draws of any approximation, a variational "
            "one say, pass R-hat and ESS whatever they approximate"
        )
    return float(count), "", detail


def _halves(values: Array) -> Array:
    half = values.shape[1] // 2
    return values[:, : 2 * half].reshape(2, half)


def _worse(one: tuple[float, str], other: tuple[float, str], worse: Any) -> tuple[float, str]:
    if np.isnan(one[0]):
        return one
    return other if np.isnan(other[0]) or worse(other[0], one[0]) else one


def _constant(draws: "DrawsPosterior", found: list[tuple[str, float]]) -> tuple[float, str]:
    """Count constant variables; a measure whose every draw is at its atom is no fault."""
    measure = draws.measure
    at_atom = [
        name
        for name, value in found
        if name.split("[")[0] == measure.name and measure.has_atom and value == measure.lowest
    ]
    faults = [name for name, _ in found if name not in at_atom]
    if faults:
        return len(faults), ", ".join(faults[:5])
    note = f"every draw of {at_atom[0]} is {measure.lowest:g}" if at_atom else ""
    return 0, note


def end_values(draws: "DrawsPosterior", prob: float) -> Values:
    """Return the ESS at both ends of the interval, and their error relative to its width."""
    lower, upper = (np.ravel(end) for end in draws.interval(prob))
    found: Values = {"ess_lower": (np.inf, ""), "ess_upper": (np.inf, ""), "mcse_ends": (0.0, "")}
    tail = (1 - prob) / 2
    many, checked = lower.size > 1, False
    for tally, values in enumerate(draws.by_tally):
        if np.isnan(values).any() or np.ptp(np.clip(values, -HUGE, HUGE)) == 0:
            continue
        where = f"{'/'.join(draws.tally_dims)} {label(draws.draws, tally)[1:-1]}" if many else ""
        for name, end in (("ess_lower", lower[tally]), ("ess_upper", upper[tally])):
            found[name] = _worse(found[name], (share_ess(values, end), where), np.less)
        # An end at infinity has an infinite error.
        ratio = np.inf
        if np.isfinite(upper[tally]) and np.isfinite(lower[tally]):
            error = max(quantile_error(values, q) for q in (tail, 1 - tail))
            width = upper[tally] - lower[tally]
            ratio = error / width if width > 0 else 0.0
        found["mcse_ends"] = _worse(found["mcse_ends"], (ratio, where), np.greater)
        checked = True
    return found if checked else {}


def sampler_values(dt: "xr.DataTree", skipped: dict[str, str]) -> Values:
    """Return what NUTS recorded; direct draws and trees without statistics skip it."""
    names = ("divergences", "tree_depth", "bfmi")
    if dt.attrs.get("method") == "conjugate":
        skipped |= dict.fromkeys(names, "direct draws, no Markov chain")
        return {}
    if "sample_stats" not in dt.children:
        skipped |= dict.fromkeys(names, "no sample_stats")
        return {}
    stats = dt["sample_stats"].dataset
    found: Values = {}
    # nutpie and PyMC name the same thing differently.
    columns = {"divergences": ("diverging",), "tree_depth": ("maxdepth_reached",)}
    columns["tree_depth"] += ("reached_max_treedepth",)
    for name, candidates in columns.items():
        present = [column for column in candidates if column in stats]
        if present:
            found[name] = (int(stats[present[0]].astype(bool).sum()), "")
        else:
            skipped[name] = "not recorded"
    if "energy" in stats:
        from arviz_stats.base import array_stats

        energy = stats["energy"].transpose("chain", "draw").values
        found["bfmi"] = (float(np.min(array_stats.bfmi(energy))), "")
    else:
        skipped["bfmi"] = "not recorded"
    return found

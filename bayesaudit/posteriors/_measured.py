"""Measures of the draws in a tree: as arrays for the draws engine, as variables for ArviZ."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesaudit.measures import Epsilon, Measure

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["add_measures", "as_tree", "measure_draws"]


def as_tree(data: Any) -> "xr.DataTree | None":
    """Return draws as a DataTree; None where they are none.

    Draws are a DataTree (or of a class derived from it) whose ``posterior`` or, without one, whose
    only group with ``fnr`` and ``fpr`` holds them; an ``xarray.Dataset`` with these variables; or a
    mapping of these names to arrays of shape (draws,) or (chains, draws), the latter with further
    axes if there are many tallies.

    Raises
    ------
    ValueError
        If a tree has no such group, or several, or if a mapping lacks a rate or mixes shapes.
    """
    kinds = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(data).__mro__}
    if ("xarray", "DataTree") in kinds:
        return _with_posterior(data)
    dataset = ("xarray", "Dataset") in kinds
    if not dataset and not (isinstance(data, Mapping) and {"fnr", "fpr"} & set(data)):
        return None
    import xarray as xr

    if not dataset:
        arrays = {name: _array(name, value) for name, value in data.items()}
        shapes = {name: arrays[name][1].shape for name in ("fnr", "fpr") if name in arrays}
        if len(set(shapes.values())) > 1:
            raise ValueError(
                f"fnr and fpr must have one shape, got {shapes['fnr']} and {shapes['fpr']}."
            )
        data = xr.Dataset(arrays)
    return xr.DataTree.from_dict({"posterior": data})


def _with_posterior(dt: "xr.DataTree") -> "xr.DataTree":
    if "posterior" in dt.children:
        return dt
    found = [node for node in dt.subtree if {"fnr", "fpr"} <= set(node.data_vars)]
    if len(found) != 1:
        groups = ", ".join(node.path for node in (found or dt.subtree))
        number = "several" if found else "none"
        raise ValueError(
            "one group of the tree must hold fnr and fpr, or be named posterior: "
            f"{number} of its groups do ({groups})."
        )
    return type(dt).from_dict({"posterior": found[0].to_dataset()})


def _array(name: str, value: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Return dims and values of a variable of a mapping; one axis is the draws of one chain."""
    values = np.asarray(value)
    if values.ndim == 0:
        raise ValueError(f"{name} must be an array of draws, got a number.")
    if values.ndim == 1:
        values = values[None]
    more = ("tally",) if values.ndim == 3 else tuple(f"dim_{i}" for i in range(values.ndim - 2))
    return ("chain", "draw", *more), values


def measure_draws(group: "xr.Dataset", measure: Measure) -> "xr.DataArray":
    """Return a measure of a group's rates, with the dims chain, draw and those of the tallies.

    Raises
    ------
    ValueError
        If the group lacks ``fnr`` or ``fpr``, has no draws, or a rate is outside [0, 1].
    TypeError
        If a rate is no real number.
    """
    import xarray as xr

    missing = [name for name in ("fnr", "fpr") if name not in group]
    if missing:
        raise ValueError(f"the draws must hold fnr and fpr; missing {', '.join(missing)}.")
    names = ["fnr", "fpr", *(name for name in ("tpr", "tnr") if name in group)]
    for name in names:
        if not {"chain", "draw"} <= set(group[name].dims):
            raise ValueError(
                f"{name} must have the dims chain and draw, got {tuple(group[name].dims)}."
            )
        if group[name].dtype.kind not in "fiub":
            raise TypeError(f"{name} must be real numbers, got {group[name].dtype}.")
        if not group[name].size:
            raise ValueError(f"{name} must hold at least one draw, got none.")
        unknown = int(np.isnan(group[name].values).sum())
        if unknown:
            warnings.warn(
                f"{name} is NaN in {unknown} of {group[name].size} draws: what follows from them "
                "is not a number",
                UserWarning,
                stacklevel=2,
            )
    arrays = xr.broadcast(*(group[name] for name in names))
    dims = ("chain", "draw", *(d for d in arrays[0].dims if d not in ("chain", "draw")))
    rates = dict(zip(names, (array.transpose(*dims) for array in arrays), strict=True))
    values = measure.of(
        rates["fnr"].values,
        rates["fpr"].values,
        **{name: rates[name].values for name in names[2:]},
    )
    return xr.DataArray(values, dims=dims, coords=rates["fnr"].coords, name=measure.name)


def add_measures(dt: "xr.DataTree", *measures: Measure) -> "xr.DataTree":
    """Return the tree with measures of its draws as variables, for ArviZ's own functions.

    Parameters
    ----------
    dt : xarray.DataTree
        What `bayesaudit.sample` returned; it is left as it is.
    *measures : Measure
        What to add to ``posterior``, and to ``prior`` where that exists. Every `Epsilon` becomes
        one entry of the variable ``epsilon`` along the dim ``delta``; any other measure is a
        variable of its own name.

    Raises
    ------
    ValueError
        If two measures would be one entry of one variable.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> dt = ba.sample(ba.AttackCounts(fn=3, tp=7, fp=1, tn=9), random_seed=1)
    >>> dt = add_measures(dt, ba.Epsilon(0.0), ba.Epsilon(1e-5), ba.Advantage())
    >>> dt["posterior"]["epsilon"].dims
    ('chain', 'draw', 'delta')
    """
    import xarray as xr

    keys = [(m.name, m.delta) if isinstance(m, Epsilon) else (m.name, None) for m in measures]
    if len(set(keys)) < len(keys):
        raise ValueError(f"measures must differ in name or delta, got {keys}.")
    groups = {}
    for node in dt.subtree:
        data = node.to_dataset(inherit=False)
        if node.path in ("/posterior", "/prior"):
            found: dict[str, list[xr.DataArray]] = {}
            for measure in measures:
                values = measure_draws(data, measure)
                if isinstance(measure, Epsilon):
                    values = values.expand_dims(delta=[measure.delta], axis=-1)
                found.setdefault(measure.name, []).append(values)
            data = data.drop_vars([n for n in (*found, "delta") if n in data.variables])
            data = data.assign(
                {n: v[0] if len(v) == 1 else xr.concat(v, "delta") for n, v in found.items()}
            )
        groups[node.path] = data
    return xr.DataTree.from_dict(groups)

"""DataTrees: how draws are put together, labelled, written and read back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesaudit._checks import DataError
from bayesaudit._files import write_atomically
from bayesaudit._version import __version__

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["build_tree", "dataset", "load", "provenance", "save"]

PACKAGES = ("pymc", "arviz", "nutpie", "pytensor", "numpy", "scipy")
SAMPLE_DIMS = ("chain", "draw")


def dataset(
    variables: Mapping[str, Any],
    *,
    dims: tuple[str, ...] = (),
    coords: Mapping[str, Any] | None = None,
    sampled: bool = True,
) -> "xr.Dataset":
    """Return a Dataset of arrays that share their dims, after ``chain`` and ``draw`` if sampled."""
    import xarray as xr

    dims = (*SAMPLE_DIMS, *dims) if sampled else dims
    arrays = {name: np.asarray(value) for name, value in variables.items()}
    coords = dict(coords or {})
    if sampled and arrays:
        chains, draws = next(iter(arrays.values())).shape[:2]
        coords = {"chain": np.arange(chains), "draw": np.arange(draws), **coords}
    return xr.Dataset(
        {name: (dims[: value.ndim], value) for name, value in arrays.items()},
        coords={name: value for name, value in coords.items() if name in dims},
        attrs={"sample_dims": list(SAMPLE_DIMS) if sampled else []},
    )


def build_tree(groups: Mapping[str, "xr.Dataset"], attrs: Mapping[str, Any]) -> "xr.DataTree":
    """Return a DataTree of the groups in ArviZ's order, with attributes at the root."""
    import xarray as xr

    order = (
        "posterior",
        "posterior_predictive",
        "prior",
        "log_likelihood",
        "log_prior",
        "sample_stats",
        "observed_data",
        "constant_data",
    )
    names = [name for name in order if name in groups] + [g for g in groups if g not in order]
    tree = xr.DataTree.from_dict({f"/{name}": groups[name] for name in names})
    tree.attrs = dict(attrs)
    return tree


def provenance(**settings: Any) -> dict[str, Any]:
    """Return a tree's attributes: versions, time, and the settings, as strings and numbers."""
    attrs = {
        "creation_library": "bayesaudit",
        "creation_library_version": __version__,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": json.dumps({name: version(name) for name in PACKAGES}),
    }
    for name, value in settings.items():
        if value is None:
            continue
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        attrs[name] = value if plain else json.dumps(value)
    return attrs


def save(dt: "xr.DataTree", path: str | Path, *, overwrite: bool = True) -> Path:
    """Write a tree of draws as netCDF, whole or not at all.

    Parameters
    ----------
    dt : xarray.DataTree
        What `sample` returned.
    path : str or path
        Where to; an existing file is replaced in one step.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The path.

    Raises
    ------
    OSError
        If the path is no regular file, exists and must not be replaced, or cannot be written.
    """
    # HDF5 itself does not survive a full disk: it gets memory to write to.
    content = _storable(dt).to_netcdf(engine="h5netcdf")
    write_atomically(path, lambda file: file.write(content), overwrite=overwrite)
    return Path(path)


def _storable(dt: "xr.DataTree") -> "xr.DataTree":
    """Replace what netCDF cannot hold: booleans in attributes, and columns of Python objects."""
    import xarray as xr

    groups = {}
    for node in dt.subtree:
        data = node.to_dataset(inherit=False)
        for name in list(data.data_vars):
            if data[name].dtype.kind == "O":
                text = np.vectorize(lambda item: "" if item is None else str(item), otypes=[str])
                data = data.assign({name: (data[name].dims, text(data[name].values))})
        data.attrs = {
            key: json.dumps(value) if isinstance(value, dict | bool) else value
            for key, value in data.attrs.items()
            if value is not None and (not isinstance(value, list | tuple) or len(value))
        }
        groups[node.path] = data
    return xr.DataTree.from_dict(groups)


def load(path: str | Path) -> "xr.DataTree":
    """Read a tree of draws into memory.

    Parameters
    ----------
    path : str or path
        A netCDF file that `save` or ArviZ wrote.

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    OSError
        If the file cannot be opened.
    DataError
        If it is no netCDF file of draws with a posterior of ``fnr`` and ``fpr``.
    """
    import xarray as xr

    path = Path(path)
    with open(path, "rb"):
        pass
    try:
        with xr.open_datatree(path, engine="h5netcdf") as opened:
            tree = opened.load()
    except OSError:
        raise DataError(f"{path}: must be a netCDF file of draws.") from None
    tree.attrs = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in tree.attrs.items()
    }
    missing = {"fnr", "fpr"}
    if "posterior" in tree.children:
        missing -= set(map(str, tree["posterior"].data_vars))
    if missing:
        raise DataError(
            f"{path}: must hold a posterior with fnr and fpr; missing {', '.join(sorted(missing))}."
        )
    return tree

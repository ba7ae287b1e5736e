"""The groups of any PyMC model beside its posterior: data, predictions, likelihood and prior."""

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from pymc.backends.arviz import find_constants, find_observations
from pymc.stats import compute_log_likelihood, compute_log_prior

from bayesaudit.sampling._settings import PRIOR_DRAWS, Settings
from bayesaudit.sampling._trees import build_tree

__all__ = ["model_data", "model_groups", "quiet_pymc"]


def model_data(model: pm.Model) -> dict[str, xr.Dataset]:
    """Return the observed and constant data of a model."""
    dims, coords = model.named_vars_to_dims, model.coords
    groups = {}
    for group, found in (
        ("observed_data", find_observations(model)),
        ("constant_data", find_constants(model)),
    ):
        arrays = {}
        for name, value in found.items():
            value = np.asarray(value)
            named = tuple(dims.get(name) or ())
            if len(named) != value.ndim:
                named = tuple(f"{name}_dim_{axis}" for axis in range(value.ndim))
            arrays[name] = (named, value)
        used = {dim for named, _ in arrays.values() for dim in named}
        labels = {dim: np.asarray(coords[dim]) for dim in used if coords.get(dim) is not None}
        groups[group] = xr.Dataset(arrays, coords=labels, attrs={"sample_dims": []})
    return groups


@contextlib.contextmanager
def quiet_pymc(quiet: bool) -> Iterator[None]:
    """Keep standard output clean, and PyMC's log down to errors if `quiet`."""
    log = logging.getLogger("pymc")
    before = log.level
    if quiet:
        log.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        log.setLevel(before)


def model_groups(
    model: pm.Model,
    built: dict[str, xr.Dataset],
    wanted: tuple[str, ...],
    settings: Settings,
) -> dict[str, xr.Dataset]:
    """Return the wanted groups of any model, by PyMC."""
    tree = build_tree({"posterior": built["posterior"]}, {})
    found: dict[str, Any] = {}
    quiet = {"progressbar": False}
    with warnings.catch_warnings(), quiet_pymc(not settings.progress):
        # Some distributions have no compiled sampler; they draw slowly and rightly.
        warnings.filterwarnings("ignore", message=".*object mode.*")
        if "log_likelihood" in wanted:
            compute_log_likelihood(tree, model=model, **quiet)
        if "log_prior" in wanted:
            compute_log_prior(tree, model=model, **quiet)
        if "posterior_predictive" in wanted:
            with model:
                found |= pm.sample_posterior_predictive(
                    tree, random_seed=settings.integer(2), **quiet
                ).children
        if "prior" in wanted:
            with model:
                found |= pm.sample_prior_predictive(
                    PRIOR_DRAWS, random_seed=settings.integer(3)
                ).children
    found |= tree.children
    return {name: found[name].to_dataset() for name in wanted if name in found}

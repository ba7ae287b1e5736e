"""The groups of any PyMC model beside its posterior: data, predictions, likelihood and prior."""

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from pymc.backends.arviz import find_constants, find_observations
from pymc.stats import compute_log_likelihood, compute_log_prior
from pytensor.graph.traversal import ancestors

from bayesaudit.sampling._settings import PRIOR_DRAWS, Settings
from bayesaudit.sampling._trees import build_tree

__all__ = ["model_data", "model_groups", "quiet_pymc"]

#: Observed errors -> the number of trials behind them.
TRIALS = {"fn": "n_pos", "fp": "n_neg"}


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
        if group == "constant_data":
            arrays |= _trials(model, groups["observed_data"], arrays)
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


def _trials(model: pm.Model, observed: xr.Dataset, known: dict[str, Any]) -> dict[str, Any]:
    """Return numbers of trials that Binomial nodes hold, named n_pos for fn and n_neg for fp.

    A model need not keep them in a container for the check of dispersion between models.
    """
    found = {}
    for variable in model.observed_RVs:
        name = TRIALS.get(variable.name, f"n_{variable.name}")
        op = variable.owner.op
        if name in known or getattr(op, "name", None) not in ("binomial", "beta_binomial"):
            continue
        n = op.dist_params(variable.owner)[0]
        if set(ancestors([n])) & set(model.basic_RVs) or variable.name not in observed:
            continue
        data = observed[variable.name]
        found[name] = (data.dims, np.broadcast_to(n.eval(), data.shape).astype(np.int64))
    return found


@dataclass
class _Groups:
    """The groups of a model, each made by a method of its name."""

    model: pm.Model
    settings: Settings
    tree: xr.DataTree

    def log_likelihood(self) -> None:
        compute_log_likelihood(self.tree, model=self.model, progressbar=False)

    def log_prior(self) -> None:
        compute_log_prior(self.tree, model=self.model, progressbar=False)

    def posterior_predictive(self) -> None:
        seed = self.settings.integer(2)
        with self.model:
            made = pm.sample_posterior_predictive(self.tree, random_seed=seed, progressbar=False)
        self.tree.update({"posterior_predictive": made["posterior_predictive"]})

    def prior(self) -> None:
        with self.model:
            made = pm.sample_prior_predictive(PRIOR_DRAWS, random_seed=self.settings.integer(3))
        self.tree.update({"prior": made["prior"]})


def model_groups(
    model: pm.Model,
    built: dict[str, xr.Dataset],
    wanted: tuple[str, ...],
    settings: Settings,
) -> tuple[dict[str, xr.Dataset], dict[str, str]]:
    """Return the wanted groups of any model, by PyMC, and why others cannot be had."""
    groups = _Groups(model, settings, build_tree({"posterior": built["posterior"]}, {}))
    skipped = {}
    with warnings.catch_warnings(), quiet_pymc(not settings.progress):
        # Some distributions have no compiled sampler; they draw slowly and rightly.
        warnings.filterwarnings("ignore", message=".*object mode.*")
        warnings.filterwarnings("ignore", message=".*effect of Potentials.*")
        for name in wanted:
            if name in ("log_prior", "prior") and model.potentials:
                potentials = ", ".join(potential.name for potential in model.potentials)
                skipped[name] = (
                    f"the model has a pm.Potential ({potentials}), which {name} does not hold"
                )
                continue
            try:
                with _default_start(model):
                    getattr(groups, name)()
            except NotImplementedError as error:
                skipped[name] = f"a distribution of the model has no random: {_first(error)}"
    found = groups.tree.children
    return {name: found[name].to_dataset() for name in wanted if name in found}, skipped


@contextlib.contextmanager
def _default_start(model: pm.Model) -> Iterator[None]:
    """Forget starting values: PyMC cannot take a model's random variables apart with them."""
    before = dict(model.rvs_to_initial_values)
    model.rvs_to_initial_values.update(dict.fromkeys(before))
    try:
        yield
    finally:
        model.rvs_to_initial_values.update(before)


def _first(error: Exception) -> str:
    return str(error).strip().split(", but")[0].split("\n")[0]

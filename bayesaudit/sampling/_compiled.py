"""Compiled models, which are fitted again to other data without compiling again."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesaudit._checks import check_choice
from bayesaudit.counts import AttackCounts
from bayesaudit.rates import check_prior
from bayesaudit.sampling._nuts import run_nutpie, run_pymc
from bayesaudit.sampling._settings import Settings
from bayesaudit.sampling._trees import build_tree

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = ["CompiledAudit", "Sampler", "compile_model"]

#: Compiled built-in models by form, so that another data set of the same form costs a tenth of a
#: second: compiling takes seconds and does not depend on the counts.
_COMPILED: dict[tuple, Any] = {}
KEPT = 8

Sampler = Literal["nutpie", "pymc"]
#: Data containers of the built-in models: name -> where in the counts.
CONTAINERS = {"n_pos": "n_pos", "n_neg": "n_neg", "fn_counted": "fn", "fp_counted": "fp"}


def compile_model(model: "pm.Model", *, sampler: Sampler = "nutpie") -> "CompiledAudit":
    """Compile a model once, to fit it to many data sets.

    Parameters
    ----------
    model : pymc.Model
        A model that defines ``fnr`` and ``fpr``. What shall change from fit to fit must be in
        ``pm.Data`` containers: counts, numbers of trials, covariates.
    sampler : {"nutpie", "pymc"}
        Who runs NUTS; PyMC's own sampler compiles at every fit.

    Returns
    -------
    CompiledAudit
        With the method `refit`. A built-in model of the same form (shapes and priors) as one before
        is not compiled again.

    Raises
    ------
    TypeError, ValueError
        If the model does not keep the contract (see `bayesaudit.models.validate_model`).

    Examples
    --------
    Another audit of the same shape costs a fraction of a second:

    >>> import bayesaudit as ba
    >>> compiled = ba.compile_model(ba.models.independent(ba.AttackCounts(fn=3, tp=7, fp=1, tn=9)))
    >>> dt = compiled.refit(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), draws=50, random_seed=1)
    >>> dict(dt["posterior"].sizes)
    {'chain': 4, 'draw': 50}
    """
    import pymc as pm

    from bayesaudit.models._origin import origin_of
    from bayesaudit.models.contract import check_structure

    if not isinstance(model, pm.Model):
        raise TypeError(f"data must be AttackCounts or a pm.Model, got {type(model).__name__}.")
    check_choice(sampler, "sampler", ("nutpie", "pymc"))
    check_structure(model, sampler)
    origin = origin_of(model)
    counts = None if origin is None else origin.counts
    if sampler == "pymc":
        return CompiledAudit(model, None, counts)
    form = None if origin is None else origin.form
    if form is None:
        return CompiledAudit(model, _compile(model), counts)
    if form not in _COMPILED:
        if len(_COMPILED) >= KEPT:
            _COMPILED.pop(next(iter(_COMPILED)))
        _COMPILED[form] = _compile(model)
    return CompiledAudit(model, _COMPILED[form], counts, shared=True)


def _compile(model: "pm.Model") -> Any:
    import nutpie

    with _exact_arithmetic():
        return nutpie.compile_pymc_model(model)


@contextlib.contextmanager
def _exact_arithmetic() -> Iterator[None]:
    import pytensor

    with pytensor.config.change_flags(numba__fastmath=False):
        yield


@dataclass(frozen=True)
class CompiledAudit:
    """A compiled model, made by `compile_model`.

    Parameters
    ----------
    model : pymc.Model
        The model.
    compiled : object or None
        What nutpie made of it; None for PyMC's own sampler.
    counts : AttackCounts or None
        The counts behind the model's own data, where these are known.
    shared : bool
        Whether `compiled` may hold the data of another model of the same form.
    """

    model: "pm.Model"
    compiled: Any
    counts: AttackCounts | None = None
    shared: bool = False

    def of_counts(self, counts: AttackCounts) -> "CompiledAudit":
        """Return the same with the counts behind the model's own data."""
        return replace(self, counts=counts)

    def refit(
        self,
        data: "AttackCounts | Mapping[str, Any] | None" = None,
        *,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        target_accept: float = 0.9,
        random_seed: int | None = None,
        cores: int | None = None,
    ) -> "xr.DataTree":
        """Fit the model to new data without compiling again.

        Parameters
        ----------
        data : AttackCounts or mapping, optional
            Counts of the shape that the model was built for, for a model with the containers
            ``fn_counted``, ``fp_counted``, ``n_pos`` and ``n_neg``, as the built-in ones have; or
            values of the model's ``pm.Data`` containers by name; by default the model's own data.
        draws, tune, chains, target_accept, random_seed, cores
            As in `sample`.

        Returns
        -------
        xarray.DataTree
            With posterior, sample_stats and constant_data only: the statistics of a simulation
            study rarely need more.

        Raises
        ------
        ValueError
            If the model has no such container, or a value has another shape than it.

        Examples
        --------
        >>> import bayesaudit as ba
        >>> compiled = ba.compile_model(
        ...     ba.models.independent(ba.AttackCounts(fn=3, tp=7, fp=1, tn=9))
        ... )
        >>> compiled.refit({"fn": 3})
        Traceback (most recent call last):
            ...
        ValueError: data must name the model's pm.Data containers n_pos, fn_counted, n_neg, \
fp_counted, got 'fn'.
        """
        if self.compiled is None:
            raise ValueError("refit needs sampler='nutpie', got 'pymc'.")
        settings = Settings(draws, tune, chains, target_accept, random_seed, "nutpie", cores, False)
        counts = data if isinstance(data, AttackCounts) else None
        values = self._containers(data)
        built = self.fit(settings, values)
        built["constant_data"] = self._constant_data(values)
        fitted = self if data is None else replace(self, counts=counts)
        return build_tree(built, fitted.attrs(settings))

    def sample(self, *, settings: Settings, groups: tuple[str, ...], **root: Any) -> "xr.DataTree":
        """Fit the model to its own data and add the other groups; `bayesaudit.sample` calls it."""
        from bayesaudit.sampling._model_groups import model_data, model_groups

        built = self.fit(settings)
        with _exact_arithmetic():
            built |= model_data(self.model)
            found, skipped = model_groups(self.model, built, groups, settings)
        if skipped:
            root["skipped_groups"] = skipped
        return build_tree(built | found, self.attrs(settings, **root))

    def fit(
        self, settings: Settings, values: Mapping[str, Any] | None = None
    ) -> dict[str, "xr.Dataset"]:
        """Return posterior and sample_stats, of other data where `values` of containers are given.

        PyMC's own sampler takes the model's data only.
        """
        if self.compiled is None:
            with _exact_arithmetic():
                return run_pymc(self.model, settings)
        if self.shared:
            own = {variable.name: variable.get_value() for variable in self.model.data_vars}
            values = own | dict(values or {})
        # A container that is kept for checks alone is no part of what was compiled.
        used = {variable.name for variable in self.compiled.shared_var_keys}
        values = {name: value for name, value in (values or {}).items() if name in used}
        compiled = self.compiled.with_data(**values) if values else self.compiled
        return run_nutpie(compiled, settings)

    def attrs(self, settings: Settings, **root: Any) -> dict[str, Any]:
        """Return what the root of a tree says of a fit."""
        from bayesaudit.models._origin import origin_of
        from bayesaudit.models.contract import of_these_models

        origin = origin_of(self.model)
        known: dict[str, Any] = {"model": self.model.name or "user model"}
        if origin is not None:
            known["model"] = origin.name
            known |= {key: _prior_text(key, value) for key, value in origin.priors.items()}
        if self.counts is not None:
            known["counts"] = self.counts.to_dict()
        sampled = of_these_models(self.model)
        if sampled:
            known["rates_of_these_models"] = sampled
        return settings.attrs(
            method="nuts",
            sampler="pymc" if self.compiled is None else "nutpie",
            tune=settings.tune,
            target_accept=settings.target_accept,
            **known | root,
        )

    def _containers(self, data: Any) -> dict[str, np.ndarray]:
        """Return values of the model's data containers, checked."""
        known = {variable.name: np.shape(variable.get_value()) for variable in self.model.data_vars}
        if data is None:
            return {}
        if isinstance(data, AttackCounts):
            data = {name: getattr(data, cell) for name, cell in CONTAINERS.items() if name in known}
            if "fn_counted" not in data or "fp_counted" not in data:
                raise ValueError(
                    "data must be a mapping of the model's pm.Data containers "
                    f"({', '.join(known) or 'it has none'}): counts need fn_counted and fp_counted."
                )
        found = {}
        for name, value in data.items():
            if name not in known:
                raise ValueError(
                    "data must name the model's pm.Data containers "
                    f"{', '.join(known) or '(it has none)'}, got {name!r}."
                )
            found[name] = np.asarray(value)
            if found[name].shape != known[name]:
                raise ValueError(
                    f"{name} must have the shape {known[name]} that the model was compiled for, "
                    f"got {found[name].shape}."
                )
        return found

    def _constant_data(self, values: Mapping[str, np.ndarray]) -> "xr.Dataset":
        import xarray as xr

        dims = self.model.named_vars_to_dims
        arrays = {}
        for variable in self.model.data_vars:
            value = np.asarray(values.get(variable.name, variable.get_value()))
            named = dims.get(variable.name) or [
                f"{variable.name}_dim_{axis}" for axis in range(value.ndim)
            ]
            arrays[variable.name] = (tuple(named), value)
        return xr.Dataset(arrays)


def _prior_text(name: str, value: Any) -> str:
    """Return a prior as text: JSON for names, numbers and pairs, else what Python shows."""
    if name == "prior":
        with contextlib.suppress(TypeError, ValueError):
            value = {side: list(pair) for side, pair in check_prior(value).items()}
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except TypeError:
        return repr(value)

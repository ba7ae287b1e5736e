"""The extension contract: what a user's model must hold, and one line for every way it may not.

A model is a function ``(counts, **priors) -> pm.Model``. The model defines the *population* rates
``fnr`` and ``fpr`` in [0, 1], scalars or with named dims such as ``group`` or ``attack``, and has
at least one observed variable that they reach. It may define ``tpr`` and ``tnr`` (the complements,
to full precision), and ``log_marginal`` with the dim ``model``: the log likelihood of each trained
model with its effects integrated out, which `bayesaudit.compare` then uses.
"""

import warnings
from typing import Any, Literal

import numpy as np
import pymc as pm
from pymc.logprob.utils import ParameterValueError
from pytensor.compile.mode import Mode
from pytensor.graph.traversal import ancestors

from bayesaudit._checks import BayesAuditError
from bayesaudit._observed import observed_mismatch
from bayesaudit.counts import AttackCounts

__all__ = [
    "ModelError",
    "check_counts",
    "check_structure",
    "of_these_models",
    "validate_model",
]

RATES = ("fnr", "fpr")
#: Python code, not optimised: a check runs once, so that compiling would be nearly all of it.
QUICK = Mode(linker="py", optimizer=None)
Sampler = Literal["nutpie", "pymc"]


class ModelError(BayesAuditError, ValueError):
    """A model that does not hold what bayesaudit asks of it."""


def validate_model(
    model: pm.Model, *, draws: int = 50, random_seed: int = 0, sampler: Sampler = "nutpie"
) -> pm.Model:
    """Check that a model keeps the contract, and return it.

    Parameters
    ----------
    model : pymc.Model
        The model.
    draws : int
        Draws from the prior for the check that rates are rates; left out where a distribution
        cannot be drawn from (a ``pm.CustomDist`` without ``random``, ``pm.Flat``).
    random_seed : int
        Seed of those draws.
    sampler : {"nutpie", "pymc"}
        Who will sample it: only PyMC's own sampler takes discrete latent variables.

    Returns
    -------
    pymc.Model
        The same model.

    Raises
    ------
    TypeError
        If it is no ``pm.Model``.
    ModelError
        If a rate is missing, has the dim ``model`` or an unnamed one, is outside [0, 1], or never
        reaches the data; if there is no observed variable, or a masked one; if a latent variable
        is discrete; or if the density is not finite at the start.

    Warns
    -----
    UserWarning
        If a rate is a function of the effects of these trained models: that is their mean, not the
        population rate.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     fnr = pm.Uniform("fnr")
    ...     _ = pm.Binomial("fn", 100, fnr, observed=35)
    >>> try:
    ...     validate_model(model)
    ... except ModelError as error:
    ...     print(error)
    the model must define the population rates fnr and fpr; missing fpr.
    """
    check_structure(model, sampler)
    _check_reach(model)
    _check_range(model, draws, random_seed)
    _check_density(model)
    return model


def check_structure(model: Any, sampler: Sampler = "nutpie") -> None:
    """Check what needs no computation; see `validate_model`."""
    if not isinstance(model, pm.Model):
        hint = ": is `return model` missing?" if model is None else "."
        raise TypeError(f"the model must be a pm.Model, got {type(model).__name__}{hint}")
    missing = [name for name in RATES if name not in model.named_vars]
    if missing:
        raise ModelError(
            f"the model must define the population rates fnr and fpr; missing {', '.join(missing)}."
        )
    for name in RATES:
        dims = tuple(model.named_vars_to_dims.get(name) or ())
        if "model" in dims:
            raise ModelError(
                f"{name} must be a population rate, a scalar or with dims such as group, got the "
                f"dims {dims}: integrate over the distribution of effects (models.population_rate)."
            )
        if model[name].ndim != len(dims) or None in dims:
            raise ModelError(
                f"{name} must be a population rate, a scalar or with dims such as group, got "
                f"{model[name].ndim} unnamed dimension(s): pass dims=."
            )
    if not model.observed_RVs and not model.potentials:
        raise ModelError(
            "the model must have an observed variable, got none: nothing ties it to the counts "
            "(pass observed=)."
        )
    _check_latents(model, sampler)
    found = of_these_models(model)
    if found:
        rate, effect = next(iter(found.items()))
        warnings.warn(
            f"{rate} is a function of {effect}, an effect of these trained models: that is their "
            "mean, and its interval is too narrow for the population rate; integrate over the "
            "distribution of effects (models.population_rate).",
            UserWarning,
            stacklevel=3,
        )


def _check_latents(model: pm.Model, sampler: Sampler) -> None:
    names = {variable.name for variable in model.observed_RVs}
    for variable in model.free_RVs:
        base = variable.name.removesuffix("_unobserved")
        if base != variable.name and (f"{base}_observed" in names or base in model.named_vars):
            raise ModelError(
                f"{base} must have no masked observations, which would be drawn as unknowns: leave "
                "those trials out of the data."
            )
        if sampler == "nutpie" and np.dtype(variable.dtype).kind in "biu":
            raise ModelError(
                f"{variable.name} is discrete, which nutpie cannot draw: marginalise it, or "
                "sampler='pymc'."
            )


def of_these_models(model: pm.Model) -> dict[str, str]:
    """Return the rates that are functions of a free variable with the dim ``model``, and which."""
    dims = model.named_vars_to_dims
    effects = [v for v in model.free_RVs if "model" in (dims.get(v.name) or ())]
    found = {}
    for name in RATES:
        above = set(ancestors([model[name]]))
        names = [effect.name for effect in effects if effect in above]
        if names:
            found[name] = names[0]
    return found


def _check_reach(model: pm.Model) -> None:
    """Refuse a rate that the data say nothing about."""
    tied = set(ancestors([*model.observed_RVs, *model.potentials]))
    for name in RATES:
        if not tied & set(ancestors([model[name]])) & set(model.free_RVs):
            raise ModelError(
                f"{name} must reach the data, but shares no free variable with any observed one: "
                "its posterior would be its prior."
            )


def _check_range(model: pm.Model, draws: int, random_seed: int) -> None:
    try:
        with model:
            found = pm.draw(
                [model[name] for name in RATES], draws=draws, random_seed=random_seed, mode=QUICK
            )
    except NotImplementedError:
        return
    for name, values in zip(RATES, found, strict=True):
        bad = ~((values >= 0) & (values <= 1))
        if bad.any():
            raise ModelError(
                f"{name} must be in [0, 1], got {values[bad].flat[0]:.4g} in a draw from the "
                "prior: is it on a logit or probit scale?"
            )


def _check_density(model: pm.Model) -> None:
    parts = model.basic_RVs + model.potentials
    density = model.compile_fn(model.logp(vars=parts, sum=False), mode=QUICK)
    try:
        values = density(model.initial_point())
    except ParameterValueError as error:
        raise ModelError(
            "the model's log density must be finite at its starting point, where a distribution "
            f"needs {str(error).splitlines()[0]}: pass initval=."
        ) from None
    for part, value in zip(parts, values, strict=True):
        if not np.isfinite(np.sum(value)):
            raise ModelError(
                f"the model's log density must be finite at its starting point, got "
                f"{np.sum(value)} from {part.name}: are the observed counts possible there?"
            )


def check_counts(model: pm.Model, counts: AttackCounts) -> None:
    """Check that data named fn, tp, fp, tn, n_pos or n_neg are those of the counts.

    Parameters
    ----------
    model : pymc.Model
        The model.
    counts : AttackCounts
        What it was built from.

    Raises
    ------
    ModelError
        If they differ. Data of other names cannot be checked.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=3, tp=7, fp=1, tn=9)
    >>> check_counts(ba.models.independent(counts), counts)
    """
    from pymc.backends.arviz import find_observations

    data = {v.name: v.get_value() for v in model.data_vars}
    found = observed_mismatch(data | find_observations(model), counts)
    if found:
        raise ModelError(f"the model must see the counts: {found}.")

"""The extension contract: what a user's model must hold, and one line for every way it may not.

A model is a function ``(counts, **priors) -> pm.Model``. The model defines the *population* rates
``fnr`` and ``fpr``, scalars in [0, 1], and has at least one observed variable that they reach.
It may define ``tpr`` and ``tnr`` (the complements, to full precision), and ``log_marginal`` with
the dim ``model``: the log likelihood of each trained model with its effects integrated out,
which `bayesaudit.compare` then uses.
"""

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
from pytensor.compile.mode import Mode
from pytensor.graph.traversal import ancestors

from bayesaudit._checks import BayesAuditError
from bayesaudit.counts import AttackCounts

__all__ = ["ModelError", "build_model", "check_structure", "load_builder", "validate_model"]

RATES = ("fnr", "fpr")
#: Python code, not optimised: a check runs once, so that compiling would be nearly all of it.
QUICK = Mode(linker="py", optimizer=None)


class ModelError(BayesAuditError, ValueError):
    """A model that does not hold what bayesaudit asks of it."""


def validate_model(model: pm.Model, *, draws: int = 50, random_seed: int = 0) -> pm.Model:
    """Check that a model keeps the contract, and return it.

    Parameters
    ----------
    model : pymc.Model
        The model.
    draws : int
        Draws from the prior for the check that rates are rates.
    random_seed : int
        Seed of those draws.

    Returns
    -------
    pymc.Model
        The same model.

    Raises
    ------
    TypeError
        If it is no ``pm.Model``.
    ModelError
        If a rate is missing, has other dims than ``tally``, is outside [0, 1], or never reaches the
        data; if there is no observed variable; or if the density is not finite at the start.

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
    check_structure(model)
    _check_reach(model)
    with model:
        found = pm.draw(
            [model[name] for name in RATES], draws=draws, random_seed=random_seed, mode=QUICK
        )
    for name, values in zip(RATES, found, strict=True):
        bad = ~((values >= 0) & (values <= 1))
        if bad.any():
            raise ModelError(
                f"{name} must be in [0, 1], got {values[bad].flat[0]:.4g} in a draw from the "
                "prior: is it on a logit or probit scale?"
            )
    parts = model.basic_RVs + model.potentials
    density = model.compile_fn(model.logp(vars=parts, sum=False), mode=QUICK)
    for part, value in zip(parts, density(model.initial_point()), strict=True):
        if not np.isfinite(np.sum(value)):
            raise ModelError(
                f"the model's log density must be finite at its starting point, got "
                f"{np.sum(value)} from {part.name}: are the observed counts possible there?"
            )
    return model


def check_structure(model: Any) -> None:
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
        if model[name].ndim and dims != ("tally",):
            shown = f"the dims {dims}" if dims else f"{model[name].ndim} unnamed dimension(s)"
            raise ModelError(
                f"{name} must be a population rate, a scalar (or with the dim tally), got {shown}: "
                "average the rates of trained models over their effects."
            )
    if not model.observed_RVs and not model.potentials:
        raise ModelError(
            "the model must have an observed variable, got none: nothing ties it to the counts "
            "(pass observed=)."
        )


def _check_reach(model: pm.Model) -> None:
    """Refuse a rate that the data say nothing about."""
    tied = set(ancestors([*model.observed_RVs, *model.potentials]))
    for name in RATES:
        if not tied & set(ancestors([model[name]])) & set(model.free_RVs):
            raise ModelError(
                f"{name} must reach the data, but shares no free variable with any observed one: "
                "its posterior would be its prior."
            )


def build_model(builder: Callable[..., pm.Model], counts: AttackCounts, **priors: Any) -> pm.Model:
    """Call a model function and check what it returns.

    Parameters
    ----------
    builder : callable
        ``(counts, **priors) -> pm.Model``.
    counts : AttackCounts
        The data.
    **priors
        Handed to the function.

    Raises
    ------
    TypeError, ModelError
        As `validate_model`; and if the function cannot be called so, or fails, naming it.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> build_model(lambda counts: None, ba.AttackCounts(fn=1, tp=1, fp=1, tn=1))
    Traceback (most recent call last):
        ...
    TypeError: <lambda>: the model must be a pm.Model, got NoneType: is `return model` missing?
    """
    name = getattr(builder, "__name__", type(builder).__name__)
    if not callable(builder):
        raise TypeError(f"a model must be a function (counts, **priors), got {builder!r}.")
    try:
        model = builder(counts, **priors)
    except Exception as error:
        kind = type(error).__name__
        raise ModelError(f"{name} failed to build its model: {kind}: {_first(error)}") from error
    try:
        return validate_model(model)
    except (TypeError, ModelError) as error:
        raise type(error)(f"{name}: {error}") from None


def load_builder(path: str) -> Callable[..., pm.Model]:
    """Import a model function named ``package.module:function``.

    Parameters
    ----------
    path : str
        Module and function; the working directory is searched first. A name without a colon is a
        function of `bayesaudit.models`.

    Raises
    ------
    ModelError
        If the module cannot be imported, or has no such function.

    Examples
    --------
    >>> load_builder("bayesaudit.models:beta_binomial").__name__
    'beta_binomial'
    """
    module_name, _, function = path.rpartition(":")
    if not module_name:
        module_name = "bayesaudit.models"
        function = function.replace("-", "_")
    added = os.getcwd() not in sys.path
    if added:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        kind = type(error).__name__
        raise ModelError(f"cannot import {module_name!r}: {kind}: {_first(error)}") from error
    finally:
        if added:
            sys.path.remove(os.getcwd())
    found = getattr(module, function, None)
    if not callable(found) or isinstance(found, type):
        raise ModelError(
            f"{module_name} must have a function {function!r} (package.module:function)."
        )
    return found


def _first(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else "no message"

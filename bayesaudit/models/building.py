"""From a builder's name and the data to a model that keeps the contract."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pymc as pm

from bayesaudit.counts import AttackCounts
from bayesaudit.models._origin import record_origin
from bayesaudit.models.contract import ModelError, Sampler, check_counts, validate_model

__all__ = ["build_model", "load_builder"]


def build_model(
    builder: Callable[..., pm.Model],
    counts: AttackCounts,
    *,
    trials: Mapping[str, Any] | None = None,
    sampler: Sampler = "nutpie",
    **priors: Any,
) -> pm.Model:
    """Call a model function and check what it returns, and that it saw these counts.

    Parameters
    ----------
    builder : callable
        ``(counts, **priors) -> pm.Model``. It may also take the trials one by one, by the names of
        `trials`, as `crossed` does; or all of them as ``trials``.
    counts : AttackCounts
        The data.
    trials : mapping of str to array_like, optional
        The columns ``guess``, ``member``, ``model`` and ``challenge``, one entry a trial.
    sampler : {"nutpie", "pymc"}
        As in `validate_model`.
    **priors
        Handed to the function.

    Raises
    ------
    TypeError, ModelError
        As `validate_model`; and if the function cannot be called so, or fails, naming it; and if
        data of the model named fn, tp, fp or tn are not those of the counts.

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
    data, rows = _arguments(builder, name, counts, trials)
    try:
        model = builder(*data, **rows, **priors)
    except Exception as error:
        kind = type(error).__name__
        raise ModelError(f"{name} failed to build its model: {kind}: {_first(error)}") from error
    try:
        validate_model(model, sampler=sampler)
        check_counts(model, counts)
    except (TypeError, ModelError) as error:
        raise type(error)(f"{name}: {error}") from None
    module = getattr(builder, "__module__", "")
    return record_origin(model, f"{module}:{name}", counts, priors)


def _arguments(
    builder: Callable[..., pm.Model], name: str, counts: AttackCounts, trials: Any
) -> tuple[list[AttackCounts], dict[str, Any]]:
    """Return the counts, unless the builder takes trials alone, and the trials that it names."""
    known = inspect.signature(builder).parameters
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    takes_counts = not known or any(p.kind not in kinds for p in known.values())
    wanted = [p for p in ("guess", "member", "model", "challenge") if p in known]
    columns = {key: value for key, value in (trials or {}).items() if value is not None}
    missing = [column for column in wanted if column not in columns]
    if missing and known[missing[0]].default is inspect.Parameter.empty:
        raise ModelError(
            f"{name} needs the trials one by one, with the columns {', '.join(wanted)}; missing "
            f"{', '.join(missing)}."
        )
    rows = {column: columns[column] for column in wanted if column in columns}
    if "trials" in known:
        rows["trials"] = columns
    return [counts] if takes_counts else [], rows


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

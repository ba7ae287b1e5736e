"""Where a model comes from: its builder's name, the counts and the priors that were given."""

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pymc as pm

from bayesaudit.counts import AttackCounts

__all__ = ["Origin", "origin_of", "record_origin"]

_ORIGINS: WeakKeyDictionary[pm.Model, "Origin"] = WeakKeyDictionary()


@dataclass(frozen=True)
class Origin:
    """What is known of how a model was built.

    Parameters
    ----------
    name : str
        "beta_binomial" for a built-in model, ``package.module:function`` for another.
    counts : AttackCounts or None
        The counts that it was built from.
    priors : dict
        The priors that were handed to the builder.
    form : tuple or None
        Equal for models that differ only in what their ``pm.Data`` containers hold, so that one
        compilation serves them all; None where that is not known.
    """

    name: str
    counts: AttackCounts | None = None
    priors: dict[str, Any] = field(default_factory=dict)
    form: tuple | None = None


def record_origin(
    model: pm.Model,
    name: str,
    counts: AttackCounts | None = None,
    priors: dict[str, Any] | None = None,
    form: Any = None,
) -> pm.Model:
    """Note where a model comes from, unless that is known; return the model.

    `form` is what beside the name, the priors and the shapes of the data the model's graph depends
    on; None where a model must be compiled on its own.
    """
    priors = priors or {}
    if model not in _ORIGINS:
        key = None
        if form is not None and all(_plain(value) for value in priors.values()):
            shapes = tuple((v.name, np.shape(v.get_value())) for v in model.data_vars)
            key = (name, repr(sorted(priors.items())), shapes, form)
        _ORIGINS[model] = Origin(name, counts, priors, key)
    return model


def origin_of(model: pm.Model) -> Origin | None:
    """Return what was recorded of a model."""
    return _ORIGINS.get(model)


def _plain(value: Any) -> bool:
    """Say whether a prior is told by its text alone, as an object or a callable is not."""
    if isinstance(value, dict):
        return all(_plain(each) for each in value.values())
    if isinstance(value, tuple | list):
        return all(_plain(each) for each in value)
    return value is None or isinstance(value, str | int | float)

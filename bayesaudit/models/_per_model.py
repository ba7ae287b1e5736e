"""What the models of dependent samples share: data containers, and priors of shares in (0, 1)."""

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.dist_math import normal_lcdf

from bayesaudit.counts import AttackCounts
from bayesaudit.models.independent import LARGEST
from bayesaudit.models.priors import RatePrior
from bayesaudit.rates import check_icc_prior, check_models

__all__ = ["SIDES", "count_data", "create_share", "per_model", "probit", "share_priors"]

#: rate -> (its complement, errors, trials)
SIDES = {"fnr": ("tpr", "fn", "n_pos"), "fpr": ("tnr", "fp", "n_neg")}


def per_model(counts: AttackCounts) -> AttackCounts:
    """Return counts of one audit, shape (n_models,), that PyMC can hold."""
    counts = check_models(counts)
    if len(counts.shape) != 1:
        raise ValueError(f"counts must be one audit of shape (n_models,), got {counts.shape}.")
    largest = max(int(n.max()) for n in (counts.n_pos, counts.n_neg))
    if largest > LARGEST:
        raise ValueError(f"a PyMC model takes at most {LARGEST} trials a model, got {largest}.")
    return counts


def count_data(counts: AttackCounts, errors: str, trials: str) -> tuple[Any, Any]:
    """Create the data containers of one side, as in the independent model."""
    n = pm.Data(trials, getattr(counts, trials), dims="model")
    return n, pm.Data(f"{errors}_counted", getattr(counts, errors), dims="model")


def share_priors(prior: Any, name: str) -> dict[str, Any]:
    """Return a prior per rate for a share in (0, 1): shapes, a number, an object or a callable."""
    if not isinstance(prior, dict):
        prior = {"fnr": prior, "fpr": prior}
    elif set(prior) != {"fnr", "fpr"}:
        raise ValueError(f"{name} must name 'fnr' and 'fpr', got {sorted(map(str, prior))}.")
    found = {}
    for side, value in prior.items():
        if callable(value) or isinstance(value, RatePrior):
            found[side] = value
        else:
            found[side] = check_icc_prior(value)[side]
    return found


def create_share(prior: Any, name: str) -> Any:
    """Create a scalar share in (0, 1) of any prior in the model on top of the stack."""
    model = pm.modelcontext(None)
    if isinstance(prior, tuple) and prior[0] == 1:
        # Beta(1, b) is 1 − U^(1/b); U = Φ(−z) gives Gaussian tails in z, where the log-odds
        # scale has an exponential one.
        z = pm.Normal(f"{name}_z")
        share = -pt.expm1(normal_lcdf(0.0, 1.0, -z) / prior[1])
        return pm.Deterministic(name, share)
    if isinstance(prior, tuple):
        return pm.Beta(name, *prior)
    if isinstance(prior, float):
        return pm.Data(name, np.array(prior))
    share = prior.create_variable(name) if isinstance(prior, RatePrior) else prior(name, dims=None)
    return share if name in model.named_vars else pm.Deterministic(name, share)


def probit(rate: Any, complement: Any) -> Any:
    """Φ⁻¹(rate), from whichever of the rate and its complement is small."""
    magnitude = math.sqrt(2) * pt.erfcinv(2 * pt.minimum(rate, complement))
    return pt.where(pt.lt(rate, complement), -magnitude, magnitude)

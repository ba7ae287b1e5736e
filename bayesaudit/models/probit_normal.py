"""The bivariate probit-normal model: correlated FN and FP effects of every trained model."""

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesaudit.counts import AttackCounts
from bayesaudit.models._origin import record_origin
from bayesaudit.models._per_model import (
    SIDES,
    count_data,
    create_share,
    per_model,
    probit,
    share_priors,
)
from bayesaudit.models.priors import create_rate, rate_priors

__all__ = ["probit_normal"]

#: Nodes over each effect, for the likelihood of a model with its effects integrated out.
GRID = np.linspace(-6.0, 6.0, 61)


def probit_normal(
    counts: AttackCounts,
    *,
    prior: Any = "jeffreys",
    share_prior: Any = (1.0, 9.0),
    correlation: float | None = None,
) -> pm.Model:
    """Build the bivariate probit-normal model of dependent samples.

    The rate of trained model j is ``p_j = Φ((Φ⁻¹(μ) + √τ z_j)/√(1 − τ))`` with z_j ~ N(0, 1), on
    each side; the two effects of a model have correlation c.

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model.
    prior : str, tuple, RatePrior, callable or dict
        Prior of the population rates μ (``fnr``, ``fpr``; see `rate_priors`).
    share_prior : str, tuple, float, RatePrior, callable or dict
        Prior of τ (``share_fnr``, ``share_fpr``), the share of the latent variance that lies
        between models, as `beta_binomial`'s ``icc_prior``. τ is on the latent scale: the ICC of
        the outcomes is smaller (μ = .35, τ = .1: .061).
    correlation : float, optional
        A known c in (−1, 1); by default ``correlation`` ~ U(−1, 1).

    Returns
    -------
    pymc.Model
        With the dim ``model``, and ``log_marginal``, the log likelihood of each model with
        its effects integrated out, which `compare` uses.

    Notes
    -----
    The mean of p_j over z_j is μ exactly, so that μ is the population rate and keeps its
    prior. The effects are not centred.

    References
    ----------
    Vasicek, "The distribution of loan portfolio value", Risk, December 2002 (the distribution of
    p_j).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> sorted(v.name for v in probit_normal(counts).free_RVs)[:3]
    ['correlation', 'effect_fnr', 'effect_fpr_given_fnr']
    """
    counts = per_model(counts)
    priors, shares = rate_priors(prior), share_priors(share_prior, "share_prior")
    if correlation is not None and not -1 < correlation < 1:
        raise ValueError(f"correlation must be in (-1, 1), got {correlation!r}.")
    with pm.Model(coords={"model": range(counts.shape[0])}) as model:
        if correlation is None:
            c = pm.Uniform("correlation", -1.0, 1.0)
        else:
            c = pt.as_tensor_variable(float(correlation))
        first = pm.Normal("effect_fnr", dims="model")
        other = pm.Normal("effect_fpr_given_fnr", dims="model")
        effects = {"fnr": first, "fpr": c * first + pt.sqrt(1 - c**2) * other}
        on_grid = {}
        for side, (_, errors, trials) in SIDES.items():
            rate, complement = create_rate(priors[side], side)
            share = create_share(shares[side], f"share_{side}")
            location = probit(rate, complement)

            def rate_at(z: Any, location: Any = location, share: Any = share) -> Any:
                return pm.math.invprobit((location + pt.sqrt(share) * z) / pt.sqrt(1 - share))

            n, counted = count_data(counts, errors, trials)
            pm.Binomial(errors, n=n, p=rate_at(effects[side]), observed=counted, dims="model")
            p = pt.clip(rate_at(pt.constant(GRID)), 1e-15, 1 - 1e-15)
            on_grid[side] = pm.logp(pm.Binomial.dist(n=n[:, None], p=p), counted[:, None])
        pm.Deterministic(
            "log_marginal", _integrated(on_grid["fnr"], on_grid["fpr"], c), dims="model"
        )
    return record_origin(
        model,
        "probit_normal",
        counts,
        {"prior": prior, "share_prior": share_prior, "correlation": correlation},
        (),
    )


def _integrated(fnr: Any, fpr: Any, c: Any) -> Any:
    """Log of ∫∫ L(z) L(w) φ_c(z, w) dz dw by the trapezoid rule, a model."""
    z, w = GRID[:, None], GRID[None, :]
    gap = (w - c * z) / pt.sqrt(1 - c**2)
    # Normalised in w, so that a correlation near ±1 keeps its mass on the grid.
    kernel = pt.special.softmax(-(gap**2) / 2, axis=1)
    first = np.exp(-(GRID**2) / 2) / math.sqrt(2 * math.pi) * (GRID[1] - GRID[0])
    top_fnr, top_fpr = (pt.max(x, axis=1, keepdims=True) for x in (fnr, fpr))
    inner = pt.exp(fpr - top_fpr) @ kernel.T
    total = pt.sum(pt.exp(fnr - top_fnr) * first * inner, axis=1)
    return pt.log(total) + top_fnr[:, 0] + top_fpr[:, 0]

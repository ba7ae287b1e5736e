"""The beta-binomial model: one intra-model correlation a side, no latent variables."""

from typing import Any

import pymc as pm

from bayesaudit.counts import AttackCounts
from bayesaudit.models._origin import record_origin
from bayesaudit.models._per_model import SIDES, count_data, create_share, per_model, share_priors
from bayesaudit.models.priors import create_rate, rate_priors

__all__ = ["beta_binomial"]


def beta_binomial(
    counts: AttackCounts, *, prior: Any = "jeffreys", icc_prior: Any = "default"
) -> pm.Model:
    """Build the beta-binomial model of dependent samples.

    Per side, ``errors_j ~ BetaBinomial(n_j, μκ, (1 − μ)κ)`` with κ = (1 − ρ)/ρ: μ is the population
    rate (``fnr``, ``fpr``) and ρ the correlation of two trials of one model (``icc_fnr``,
    ``icc_fpr``).

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model.
    prior : str, tuple, RatePrior, callable or dict
        Prior of the population rates (see `rate_priors`).
    icc_prior : str, tuple, float, RatePrior, callable or dict
        Prior of ρ: "default" is Beta(1, 9), "uniform" Beta(1, 1), a pair (a, b) a Beta, a number in
        (0, 1) a known ρ; or an object of the Protocol, or a callable
        ``(name, dims=None) -> tensor``, with values in (0, 1).

    Returns
    -------
    pymc.Model
        With the dim ``model``.

    Notes
    -----
    The exact engine integrates ρ out: ``ba.posterior(counts, measure, dependence="beta-binomial")``
    has the same answer in milliseconds, and is the oracle to check this model against. Use this one
    for priors that are no Beta, and for ArviZ's tools. With one model the correlation is not
    identified; sample that with ``target_accept=0.99``.

    References
    ----------
    Griffiths, "Maximum likelihood estimation for the beta-binomial distribution and an
    application to the household distribution of the total number of cases of a disease",
    Biometrics 29 (1973) 637.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> model = beta_binomial(counts)
    >>> [variable.name for variable in model.observed_RVs], model.named_vars_to_dims["fn"]
    (['fn', 'fp'], ('model',))
    """
    counts = per_model(counts)
    priors, iccs = rate_priors(prior), share_priors(icc_prior, "icc_prior")
    if 0.0 in iccs.values():
        raise ValueError("icc_prior must be > 0 where it is a number: use models.independent.")
    with pm.Model(coords={"model": range(counts.shape[0])}, name="") as model:
        for side, (_, errors, trials) in SIDES.items():
            rate, complement = create_rate(priors[side], side)
            icc = create_share(iccs[side], f"icc_{side}")
            kappa = (1 - icc) / icc
            n, counted = count_data(counts, errors, trials)
            pm.BetaBinomial(
                errors,
                n=n,
                alpha=rate * kappa,
                beta=complement * kappa,
                observed=counted,
                dims="model",
            )
    return record_origin(
        model, "beta_binomial", counts, {"prior": prior, "icc_prior": icc_prior}, ()
    )

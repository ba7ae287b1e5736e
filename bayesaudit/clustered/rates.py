"""From counts per model to the two marginals of the exact engine."""

import numpy as np
from numpy.typing import NDArray

from bayesaudit.clustered.priors import ICCPrior, check_icc_prior
from bayesaudit.clustered.rate import BetaBinomialRate, tables_of
from bayesaudit.counts import AttackCounts
from bayesaudit.rates import IndependentRates, Prior, check_prior

__all__ = ["beta_binomial_rates", "check_models"]


def check_models(counts: AttackCounts) -> AttackCounts:
    """Return counts that have a trailing ``model`` axis with at least one model on it."""
    if not isinstance(counts, AttackCounts):
        raise TypeError(f"counts must be AttackCounts, got {type(counts).__name__}.")
    if not counts.shape:
        raise ValueError(
            "counts must have a trailing model axis (one tally a trained model), got a single "
            "tally: dependence within a model cannot be told from it."
        )
    if counts.shape[-1] == 0:
        raise ValueError("counts must have at least one model, got none.")
    return counts


def beta_binomial_rates(
    counts: AttackCounts, *, prior: Prior = "jeffreys", icc_prior: ICCPrior = "default"
) -> IndependentRates:
    """Return the posteriors of the population FNR and FPR under the beta-binomial model.

    Per side, k_j ~ BetaBinomial(n_j, μκ, (1 − μ)κ) with κ = (1 − ρ)/ρ: the rate of a trained model
    is drawn from a Beta of mean μ, and two trials of one model have correlation ρ. μ is the
    population rate, averaged over the randomness of training, which is what DP bounds.

    Parameters
    ----------
    counts : AttackCounts, shape (..., n_models)
        Counts with a trailing ``model`` axis; models may differ in size, and a model without
        trials on one side adds nothing there.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Beta prior of the population rates, see `bayesaudit.rates.check_prior`.
    icc_prior : {"default", "uniform"} or tuple or float or dict
        Prior of ρ, see `check_icc_prior`.

    Returns
    -------
    IndependentRates
        Of shape ``counts.shape[:-1]``.

    Notes
    -----
    The likelihood of a thousand models is three functions of one variable; ρ is integrated by the
    trapezoid rule in its logit, and μ is kept as Chebyshev panels in its logit, to about 1e-10.

    References
    ----------
    Griffiths, "Maximum likelihood estimation for the beta-binomial distribution and an
    application to the household distribution of the total number of cases of a disease",
    Biometrics 29 (1973) 637.

    Examples
    --------
    >>> counts = AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> rates = beta_binomial_rates(counts)
    >>> rates.fnr.quantile([0.05]).round(3), rates.fnr.quantile([0.95]).round(3)
    (array([0.206]), array([0.546]))
    """
    counts = check_models(counts)
    shapes, iccs = check_prior(prior), check_icc_prior(icc_prior)
    models, shape = counts.shape[-1], counts.shape[:-1]

    def rows(cell: NDArray[np.int64]) -> NDArray[np.int64]:
        return cell.reshape(-1, models)

    tables = tables_of(rows(counts.fn), rows(counts.tp), shapes["fnr"], iccs["fnr"])
    tables += tables_of(rows(counts.fp), rows(counts.tn), shapes["fpr"], iccs["fpr"])
    both = BetaBinomialRate.of_tables(tables)
    half = len(tables) // 2
    return IndependentRates(
        fnr=both.take(slice(0, half)), fpr=both.take(slice(half, None)), shape=shape
    )

"""Rates: the joint posterior of (FNR, FPR), as two independent marginals.

`beta` holds the conjugate posteriors of independent trials, `beta_binomial` those of trials that
share a trained model, `priors` what stands behind both. A prior whose posterior is neither becomes
another `RateMarginal`, and nothing else changes.
"""

from bayesaudit.rates.beta import BetaRate, IndependentRates, RateMarginal, conjugate_rates
from bayesaudit.rates.beta_binomial import BetaBinomialRate, beta_binomial_rates, check_models
from bayesaudit.rates.priors import ICCPrior, Prior, check_icc_prior, check_prior

__all__ = [
    "BetaBinomialRate",
    "BetaRate",
    "ICCPrior",
    "IndependentRates",
    "Prior",
    "RateMarginal",
    "beta_binomial_rates",
    "check_icc_prior",
    "check_models",
    "check_prior",
    "conjugate_rates",
]

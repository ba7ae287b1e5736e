"""Rates of an audit with many trained models, whose trials are dependent within a model."""

from bayesaudit.clustered.priors import ICCPrior, check_icc_prior
from bayesaudit.clustered.rate import BetaBinomialRate
from bayesaudit.clustered.rates import beta_binomial_rates, check_models

__all__ = ["BetaBinomialRate", "ICCPrior", "beta_binomial_rates", "check_icc_prior", "check_models"]

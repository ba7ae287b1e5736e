"""PyMC models: the only place that builds a ``pm.Model``.

A model is any ``pm.Model`` that defines ``fnr`` and ``fpr``: *population* error rates in [0, 1],
scalars or with named dims (``tally``, ``group``, ``attack``). Where it also defines their
complements ``tpr`` and ``tnr``, these are used in place of ``1 - rate``, which loses its digits as
a rate nears 1. `sample`, `posterior`, `diagnose`, `cross_check` and the plots ask nothing else of
it.
"""

from bayesaudit.models.beta_binomial import beta_binomial
from bayesaudit.models.building import build_model, load_builder
from bayesaudit.models.contract import check_counts, validate_model
from bayesaudit.models.crossed import crossed
from bayesaudit.models.independent import independent
from bayesaudit.models.mechanism import mechanism
from bayesaudit.models.population import PopulationRate, population_rate
from bayesaudit.models.priors import BetaPrior, RatePrior, create_rate, rate_priors
from bayesaudit.models.probit_normal import probit_normal
from bayesaudit.models.scores import binormal, location, score_containers, student

__all__ = [
    "BetaPrior",
    "PopulationRate",
    "RatePrior",
    "beta_binomial",
    "binormal",
    "build_model",
    "check_counts",
    "create_rate",
    "crossed",
    "independent",
    "load_builder",
    "location",
    "mechanism",
    "population_rate",
    "probit_normal",
    "rate_priors",
    "score_containers",
    "student",
    "validate_model",
]

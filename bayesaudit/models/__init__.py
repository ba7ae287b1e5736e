"""PyMC models: the only place that builds a ``pm.Model``.

A model is any ``pm.Model`` that defines ``fnr`` and ``fpr``: *population* error rates in [0, 1],
scalars or with the dim ``tally``. Where it also defines their complements ``tpr`` and ``tnr``,
these are used in place of ``1 - rate``, which loses its digits as a rate nears 1. `sample`,
`posterior`, `diagnose`, `cross_check` and the plots ask nothing else of it.
"""

from bayesaudit.models.independent import independent
from bayesaudit.models.priors import BetaPrior, RatePrior, create_rate, rate_priors

__all__ = ["BetaPrior", "RatePrior", "create_rate", "independent", "rate_priors"]

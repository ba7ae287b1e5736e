"""PyMC models: the only place that builds a ``pm.Model``.

A model is any ``pm.Model`` that defines ``fnr`` and ``fpr``: *population* error rates in [0, 1],
scalars or with the dim ``tally``. Where it also defines their complements ``tpr`` and ``tnr``, these
are used wherever a rate is so close to 1 that ``1 - rate`` has lost its digits. `sample`,
`posterior`, `diagnose`, `cross_check` and the plots ask nothing else of it.
"""

from bayesaudit.models.independent import independent
from bayesaudit.models.priors import BetaPrior, RatePrior, create_rate, rate_priors

__all__ = ["BetaPrior", "RatePrior", "create_rate", "independent", "rate_priors"]

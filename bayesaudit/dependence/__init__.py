"""Dependent samples: trials that share a trained model.

How large the intra-model correlation is (`icc`), whether the independent model survives
(`dispersion_test`, `compare`), what an interval would be at correlations the data cannot tell apart
(`tipping_point`), frequentist companions (`cluster_bootstrap`, `xbern_interval`), and the epsilon
of the mechanism behind several attacks (`mechanism_posterior`).
"""

from bayesaudit.dependence.bootstrap import cluster_bootstrap
from bayesaudit.dependence.challenges import (
    SharedChallenges,
    crossed_interval,
    negative_icc,
    shared_challenges,
)
from bayesaudit.dependence.comparison import ModelComparison, compare
from bayesaudit.dependence.dispersion import DispersionTest, dispersion_test
from bayesaudit.dependence.icc import ICC, SideICC, icc
from bayesaudit.dependence.loo import loo_by_model
from bayesaudit.dependence.mechanism import MechanismPosterior, mechanism_posterior
from bayesaudit.dependence.tipping import TippingCurve, tipping_point
from bayesaudit.dependence.xbern import xbern_bound, xbern_interval

__all__ = [
    "ICC",
    "DispersionTest",
    "MechanismPosterior",
    "ModelComparison",
    "SharedChallenges",
    "SideICC",
    "TippingCurve",
    "cluster_bootstrap",
    "compare",
    "crossed_interval",
    "dispersion_test",
    "icc",
    "loo_by_model",
    "mechanism_posterior",
    "negative_icc",
    "shared_challenges",
    "tipping_point",
    "xbern_bound",
    "xbern_interval",
]

"""bayesaudit: from what an attack guessed to the posterior of how private the training was.

Names are loaded when first used (PEP 562), so that ``import bayesaudit`` and the whole exact path
import NumPy and ``scipy.special`` only; PyMC, ArviZ and Matplotlib load with the names that need
them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from bayesaudit._version import __version__

# Public name -> the module that defines it; a module's own name maps to itself.
_EXPORTS: dict[str, str] = {
    "BayesAuditError": "_checks",
    "DataError": "_checks",
    "Interval": "_interval",
    "AttackCounts": "counts",
    "Advantage": "measures",
    "Epsilon": "measures",
    "GaussianMu": "measures",
    "Measure": "measures",
    "AttackScores": "scores",
    "BetaRate": "rates",
    "IndependentRates": "rates",
    "anytime_models": "betting",
    "betting_bound": "betting",
    "betting_ceiling": "betting",
    "confidence_interval": "intervals",
    "rectangle": "intervals",
    "boundary_polygon": "measures",
    "BetaBinomialRate": "rates",
    "beta_binomial_rates": "rates",
    "ModelComparison": "dependence",
    "compare": "dependence",
    "read_attack": "reading",
    "report": "reports",
    "OperatingPoint": "roc",
    "RocCurve": "roc",
    "ConfidenceBand": "thresholds",
    "ThresholdBound": "thresholds",
    "confidence_band": "thresholds",
    "threshold_bound": "thresholds",
    "dirichlet_supremum": "curves",
    "epsilon_curve": "curves",
    "tradeoff_curve": "curves",
    "TradeoffPosterior": "score_curves",
    "tradeoff_posterior": "score_curves",
    "Posterior": "posteriors",
    "ExactPosterior": "posteriors",
    "posterior": "posteriors",
    "two_direction_bound": "posteriors.two_direction",
    "DrawsPosterior": "posteriors.draws",
    "add_measures": "posteriors.draws",
    "CrossCheck": "diagnostics",
    "Diagnosis": "diagnostics",
    "cross_check": "diagnostics",
    "diagnose": "diagnostics",
    "Audit": "audits",
    "Line": "audits",
    "audit": "audits",
    "audit_draws": "audits",
    "audit_one_run": "audits",
    "compile_model": "sampling",
    "load": "sampling",
    "sample": "sampling",
    "save": "sampling",
}
_MODULES: tuple[str, ...] = (
    "audits",
    "calibration",
    "dependence",
    "diagnostics",
    "fano",
    "games",
    "models",
    "onerun",
    "plots",
    "sampling",
)

__all__ = ["__version__", *_EXPORTS, *_MODULES]

if TYPE_CHECKING:
    from bayesaudit._checks import BayesAuditError, DataError
    from bayesaudit._interval import Interval
    from bayesaudit.audits import Audit, Line, audit, audit_draws, audit_one_run
    from bayesaudit.betting import anytime_models, betting_bound, betting_ceiling
    from bayesaudit.counts import AttackCounts
    from bayesaudit.curves import dirichlet_supremum, epsilon_curve, tradeoff_curve
    from bayesaudit.dependence import ModelComparison, compare
    from bayesaudit.diagnostics import CrossCheck, Diagnosis, cross_check, diagnose
    from bayesaudit.intervals import confidence_interval, rectangle
    from bayesaudit.measures import Advantage, Epsilon, GaussianMu, Measure, boundary_polygon
    from bayesaudit.posteriors import ExactPosterior, Posterior, posterior
    from bayesaudit.posteriors.draws import DrawsPosterior, add_measures
    from bayesaudit.posteriors.two_direction import two_direction_bound
    from bayesaudit.rates import (
        BetaBinomialRate,
        BetaRate,
        IndependentRates,
        beta_binomial_rates,
    )
    from bayesaudit.reading import read_attack
    from bayesaudit.reports import report
    from bayesaudit.roc import OperatingPoint, RocCurve
    from bayesaudit.sampling import compile_model, load, sample, save
    from bayesaudit.score_curves import TradeoffPosterior, tradeoff_posterior
    from bayesaudit.scores import AttackScores
    from bayesaudit.thresholds import (
        ConfidenceBand,
        ThresholdBound,
        confidence_band,
        threshold_bound,
    )


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"bayesaudit.{name}")
    if name in _EXPORTS:
        value = getattr(importlib.import_module(f"bayesaudit.{_EXPORTS[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bayesaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))

"""Calibration and planning: prove coverage, offer a bound that has it, say how much to train.

Credible is not confidence: a posterior interval says what one data set says, and how often such
intervals hold the truth in repeated audits is another question. It is answered here exactly.
"""

from bayesaudit.anytime import anytime_bound
from bayesaudit.betting import anytime_models
from bayesaudit.calibration.assurance import assurance_curve
from bayesaudit.calibration.coverage import Coverage, Expected, coverage, expected
from bayesaudit.calibration.pit import PIT, sbc_exact
from bayesaudit.calibration.planning import Plan, plan
from bayesaudit.calibration.sbc import SBC, sbc
from bayesaudit.calibration.scale import map_replicates, map_tallies
from bayesaudit.calibration.sequential import Looks, looks_prob, simulate_looks
from bayesaudit.unconditional import exact_unconditional

__all__ = [
    "PIT",
    "SBC",
    "Coverage",
    "Expected",
    "Looks",
    "Plan",
    "anytime_bound",
    "anytime_models",
    "assurance_curve",
    "coverage",
    "exact_unconditional",
    "expected",
    "looks_prob",
    "map_replicates",
    "map_tallies",
    "plan",
    "sbc",
    "sbc_exact",
    "simulate_looks",
]

"""Calibration and planning: prove coverage, offer a bound that has it, say how much to train.

Credible is not confidence: a posterior interval says what one data set says, and how often such
intervals hold the truth in repeated audits is another question. It is answered here exactly.
"""

from bayesaudit.calibration.coverage import Coverage, Expected, coverage, expected
from bayesaudit.calibration.planning import Plan, assurance_curve, plan
from bayesaudit.unconditional import exact_unconditional

__all__ = [
    "Coverage",
    "Expected",
    "Plan",
    "assurance_curve",
    "coverage",
    "exact_unconditional",
    "expected",
    "plan",
]

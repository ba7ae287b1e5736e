"""Calibration and planning: prove coverage, offer a bound that has it, say how many models to train.

Credible is not confidence: a posterior interval says what one data set says, and how often such
intervals hold the truth in repeated audits is another question. It is answered here exactly.
"""

from bayesaudit.calibration.coverage import Coverage, Expected, coverage, expected
from bayesaudit.unconditional import exact_unconditional

__all__ = ["Coverage", "Expected", "coverage", "exact_unconditional", "expected"]

"""Diagnostics: can this posterior be trusted? Verdicts with reasons."""

from bayesaudit.diagnostics.cross import CrossCheck, CrossCheckRow, cross_check
from bayesaudit.diagnostics.diagnose import diagnose
from bayesaudit.diagnostics.result import Check, Diagnosis
from bayesaudit.diagnostics.score_fit import TailPrediction, score_loo, tail_prediction

__all__ = [
    "Check",
    "CrossCheck",
    "CrossCheckRow",
    "Diagnosis",
    "TailPrediction",
    "cross_check",
    "diagnose",
    "score_loo",
    "tail_prediction",
]

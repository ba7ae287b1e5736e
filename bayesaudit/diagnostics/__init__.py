"""Diagnostics: can this posterior be trusted? Verdicts with reasons."""

from bayesaudit.diagnostics.cross import CrossCheck, CrossCheckRow, cross_check
from bayesaudit.diagnostics.diagnose import diagnose
from bayesaudit.diagnostics.result import Check, Diagnosis

__all__ = ["Check", "CrossCheck", "CrossCheckRow", "Diagnosis", "cross_check", "diagnose"]

"""Diagnostics: can this posterior be trusted? Verdicts with reasons."""

from bayesaudit.diagnostics.cross import CrossCheck, CrossCheckRow, cross_check

__all__ = ["CrossCheck", "CrossCheckRow", "cross_check"]

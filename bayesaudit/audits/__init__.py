"""Audits: everything that belongs together in one audit, as one object.

`audit` takes counts, scores or a file, `audit_one_run` the guesses of one training run, and
`audit_draws` draws of the rates. Each returns an `Audit`, whose *lines* are all of one class:
posterior, confidence, approximate, not a bound. Which lines belong together, what each promises
for the sequence of looks that was asked for, what to warn of and what to quote is decided here,
and nowhere else. `audits.score_model` samples a model of the
scores themselves; its curve has no bound.
"""

from bayesaudit.audits._attack import STRATEGIES, audit
from bayesaudit.audits._audit import Audit
from bayesaudit.audits._curve import BandCurve
from bayesaudit.audits._line import BETA_BINOMIAL, DRAWS, EXACT_POSTERIOR, Line
from bayesaudit.audits._one_run import audit_one_run
from bayesaudit.audits._question import Question
from bayesaudit.audits._run import audit_draws

__all__ = [
    "BETA_BINOMIAL",
    "DRAWS",
    "EXACT_POSTERIOR",
    "STRATEGIES",
    "Audit",
    "BandCurve",
    "Line",
    "Question",
    "audit",
    "audit_draws",
    "audit_one_run",
]

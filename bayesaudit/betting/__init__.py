"""A bound that holds whatever the dependence within a model: testing by betting.

Whoever doubts a claim bets on the models of an audit, one stake a model. If the claim holds, no bet
gains on average, however the trials of a model hang together; who got rich has refuted it.
"""

from bayesaudit.betting.bound import betting_bound, betting_ceiling
from bayesaudit.betting.sequence import anytime_models

__all__ = ["anytime_models", "betting_bound", "betting_ceiling"]

"""Audits from one training run: lower bounds on epsilon from guesses about many canaries.

The setting of Steinke, Nasr and Jagielski (2023): m canaries are put in or left out of one training
set by independent fair coins; the auditor then releases exactly r guesses (r fixed before looking),
of which v are right. Every bound here holds with a stated confidence; they differ in what they
assume:

=================  =========================================================================
``"all-subset"``   (epsilon, delta)-DP alone, any dependence between canaries; the default
``"steinke"``      (epsilon, delta)-DP alone, any dependence; looser for delta > 0
``"f-dp"``         f-DP with a stated trade-off curve, any dependence; the Gaussian curve is an
                   assumption about the mechanism, the (epsilon, delta) curve is not
``"xiang"``        the same curves, but assumes independent canaries, which DP does not give
=================  =========================================================================

There is no posterior here, and on purpose: DP bounds the probability of many right guesses from
above and says nothing else about their law (dependence between canaries is free), so there is no
likelihood. The whole confidence curve, the lower bound at every level, is what the data say.

From the counts of many runs, the bound on mu of Nasr et al. (2023, arXiv:2302.07956) is the lower
end of ``ba.confidence_interval(counts, ba.GaussianMu("member"), prob)``, and epsilon, if the
mechanism is Gaussian, is ``GaussianCurve().epsilon(mu, delta)``.
"""

from bayesaudit.onerun._audit import METHODS, OneRunAudit, audit
from bayesaudit.onerun._curves import (
    EpsilonDeltaCurve,
    GaussianCurve,
    LaplaceCurve,
    TradeOffFamily,
)
from bayesaudit.onerun._fdp import f_dp_parameter_lower, f_dp_rejects
from bayesaudit.onerun._rules import count_guesses
from bayesaudit.onerun._scores import OneRunScoreAudit, audit_pareto, audit_scores

__all__ = [
    "METHODS",
    "EpsilonDeltaCurve",
    "GaussianCurve",
    "LaplaceCurve",
    "OneRunAudit",
    "OneRunScoreAudit",
    "TradeOffFamily",
    "audit",
    "audit_pareto",
    "audit_scores",
    "count_guesses",
    "f_dp_parameter_lower",
    "f_dp_rejects",
]

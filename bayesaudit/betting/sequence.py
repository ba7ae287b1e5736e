"""The bound of models in a declared order: look after each, stop when you like."""

import math
from typing import Any, Literal

import numpy as np

from bayesaudit._checks import check_choice, check_integers, check_prob
from bayesaudit._interval import Interval
from bayesaudit.betting._lines import lines_of
from bayesaudit.betting._rows import rows_of
from bayesaudit.betting._wealth import Wealth, lower_end, stakes_for, stakes_from
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.rates import check_models

__all__ = ["anytime_models"]

#: The lowest stake where the number of models is not known: about that for 5000 models.
OPEN_ENDED = 0.05


def anytime_models(
    counts: AttackCounts,
    measure: Measure,
    prob: float = 0.90,
    *,
    planned: int | None = None,
    order: Literal["declared", "any"] = "declared",
) -> Interval:
    """Return a lower bound from models in their order that holds after each of them (guaranteed).

    The audit may be looked at after every model and stopped for any reason; within a model trials
    may depend on each other in any way.

    **Assumption**: models are trained independently and come one by one; the numbers of a model's
    trials are fixed before it is attacked. **Estimand**: the measure at the rates averaged over the
    randomness of training, of which every model is one draw.

    Parameters
    ----------
    counts : AttackCounts, shape (..., n_models)
        The models so far, in their order on the trailing axis. The i-th model with members alone
        and the i-th with non-members alone count as one when both are there.
    measure : Epsilon, GaussianMu or Advantage
        As for `betting_bound`.
    prob : float
        Level in (0, 1): over all moments together the bound errs with probability (1 − prob)/2 at
        most.
    planned : int, optional
        How many models are planned, declared beforehand, >= 1: stakes are then chosen for about so
        many. The bound holds whether or not there are so many in the end.
    order : {"declared", "any"}
        "declared": the axis has the order in which the models came, and no other is tried. "any":
        the axis may have another order at each look, that of their names, say; the bound is then
        that of the wealth now, and models with one side only, whose partners would change, say
        nothing.

    Returns
    -------
    Interval
        Kind "lower", statement "confidence", method "anytime betting", guarantee "guaranteed"; of
        shape ``counts.shape[:-1]``. In a declared order it never falls as models are added.

    Notes
    -----
    The wealth of `betting_bound`, with stakes that do not depend on the number of models, is a
    supermartingale along the models if the claim holds, so that by Ville's inequality its largest
    value so far reaches 2/(1 − prob) with probability (1 − prob)/2 at most. That largest value may
    be used along a declared order only: another order has another one, and the best of several is
    no bound. The wealth itself does not depend on the order.

    References
    ----------
    Waudby-Smith and Ramdas, JRSS B 2024, arXiv:2010.09686. Ramdas et al., Statist. Sci. 38 (2023)
    576, arXiv:2210.01948 (Ville's inequality).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=[2] * 40, tp=[8] * 40, fp=[1] * 40, tn=[9] * 40)
    >>> bounds = [anytime_models(counts[:n], ba.Epsilon(1e-5)).lower for n in (10, 20, 40)]
    >>> print(*[f"{bound:.3f}" for bound in bounds])
    0.268 0.824 1.249
    """
    counts, prob = check_models(counts), check_prob(prob)
    goal = -math.log((1 - prob) / 2)
    stakes: Any = stakes_from(OPEN_ENDED)
    if planned is not None:
        stakes = stakes_for(int(check_integers(planned, "planned", minimum=1)), goal)
    shape = counts.shape[:-1]
    lines = lines_of(measure)
    lower = []
    for audit in np.ndindex(shape):
        one = counts[audit]
        if check_choice(order, "order", ("declared", "any")) == "any":
            rows = rows_of(one[(one.n_pos > 0) & (one.n_neg > 0)], None).gathered()
        else:
            rows = rows_of(one, None)
        wealth = Wealth(lines, rows, stakes, in_order=order == "declared")
        lower.append(lower_end(wealth, measure, goal))
    return Interval(
        lower=np.array(lower).reshape(shape)[()],
        upper=np.full(shape, measure.highest)[()],
        prob=prob,
        kind="lower",
        statement="confidence",
        method="anytime betting",
        guarantee="guaranteed",
    )

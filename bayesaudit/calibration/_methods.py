"""Every way to an interval under one name, for whatever is counted over outcomes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice
from bayesaudit.calibration._lattice import survival_above
from bayesaudit.calibration._outcomes import Outcomes
from bayesaudit.counts import AttackCounts
from bayesaudit.intervals import EXACT, METHODS, confidence_interval
from bayesaudit.measures import Epsilon, Measure
from bayesaudit.posteriors import posterior
from bayesaudit.posteriors.two_direction import two_direction_bound
from bayesaudit.rates import Prior

__all__ = ["NAMES", "Method", "check_method", "ends", "sides"]

Array = NDArray[np.float64]
Bool = NDArray[np.bool_]
#: A name, or any function (counts, measure, prob) -> (lower, upper).
Method = str | Callable[[AttackCounts, Measure, float], Any]

NAMES = ("posterior", "two-direction", EXACT, *METHODS)


def check_method(method: Method, measure: Measure) -> None:
    """Refuse an unknown method, or one that the measure does not have."""
    if callable(method):
        return
    check_choice(method, "method", NAMES)
    if method == "two-direction" and not (
        isinstance(measure, Epsilon) and not measure.folded and measure.term == "max"
    ):
        raise ValueError(
            "method 'two-direction' bounds the larger of two log ratios: measure must be "
            f'Epsilon(delta, direction="member"), got {measure!r}.'
        )


def ends(
    method: Method, counts: AttackCounts, measure: Measure, prob: float, prior: Prior
) -> tuple[Array, Array]:
    """Return the lower and upper ends of a method's interval for every tally."""
    if callable(method):
        lower, upper = method(counts, measure, prob)
    elif method == "posterior":
        lower, upper = posterior(counts, measure, prior=prior).interval(prob)
    elif method == "two-direction":
        lower, upper = two_direction_bound(counts, measure.delta, prob, prior=prior)
    else:
        lower, upper = confidence_interval(counts, measure, prob, method=method)
    shape = counts.shape
    return np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)


def sides(
    method: Method,
    outcomes: Outcomes,
    measure: Measure,
    truth: float,
    prob: float,
    prior: Prior,
) -> tuple[Bool, Bool]:
    """Return for every outcome whether the lower and the upper end miss the truth.

    Posterior methods need no quantile for that: the lower end, the quantile of probability t, is
    above the truth where P(measure > truth) > 1 − t.
    """
    tail = (1 - prob) / 2
    if method == "posterior":
        low, held = survival_above(outcomes, measure, truth, (1 - tail, tail), prior)
        # The upper end falls short of the truth where P(measure > truth) < tail; the equality that
        # "not above" adds has no outcome in practice and errs on the safe side.
        return low, ~held
    if method == "two-direction":
        terms = [Epsilon(measure.delta, "member", term) for term in ("fnr", "fpr")]
        missed = [survival_above(outcomes, t, truth, (1 - tail / 2,), prior)[0] for t in terms]
        return missed[0] | missed[1], np.zeros_like(missed[0])
    lower, upper = ends(method, outcomes.counts(), measure, prob, prior)
    return lower > truth, upper < truth

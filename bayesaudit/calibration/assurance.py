"""Assurance: the probability that an audit yet to be run shows what is claimed."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_integers, check_nonnegative, check_prob, check_probability
from bayesaudit.calibration._lattice import survival_above
from bayesaudit.calibration._methods import Method, check_method, ends, sides
from bayesaudit.calibration._outcomes import Outcomes
from bayesaudit.calibration._strength import Pilot, Rates, strength
from bayesaudit.counts import AttackCounts
from bayesaudit.intervals import EXACT
from bayesaudit.measures import Epsilon
from bayesaudit.rates import Prior
from bayesaudit.unconditional import exceeds

__all__ = ["assurance", "assurance_curve", "ceiling"]

Bool = NDArray[np.bool_]
#: Outcomes up to which a closed-form method is evaluated on all of them.
ALL = 2_000


def assurance(
    attack: Rates | Pilot,
    n: int,
    claim: float,
    measure: Epsilon,
    prob: float,
    method: Method,
    prior: Prior,
) -> float:
    """Return P(lower end > claim) with n trials a side, by enumeration."""
    outcomes = attack.outcomes(n)
    rows, columns = attack.probability(outcomes)
    if method == EXACT and not measure.folded:
        last = _exact_staircase(outcomes, claim, measure, prob)
    elif method in ("posterior", "two-direction") or callable(method) or outcomes.size <= ALL:
        shown, _ = sides(method, outcomes, measure, claim, prob, prior)
        return float(rows @ shown @ columns)
    else:
        last = _staircase(outcomes, claim, measure, prob, method, prior)
    below = np.concatenate([[0.0], np.cumsum(columns)])
    return float(rows @ below[last + 1])


def ceiling(n: int, measure: Epsilon, prob: float, method: Method, prior: Prior) -> float:
    """Return the largest lower end that n trials a side can show, those of a perfect attack."""
    perfect = AttackCounts(fn=0, tp=n, fp=0, tn=n)
    return float(ends(method, perfect, measure, prob, prior)[0])


def _staircase(outcomes: Outcomes, claim, measure, prob, method, prior) -> NDArray[np.intp]:
    """Last column that shows the claim in every row, by bisection: the lower end falls in FP."""
    low = np.full(outcomes.fn.size, -1)
    high = np.full(outcomes.fn.size, outcomes.fp.size)
    while np.any(high - low > 1):
        middle = np.clip((low + high) // 2, 0, outcomes.fp.size - 1)
        fn, fp = outcomes.fn, outcomes.fp[middle]
        counts = AttackCounts(fn=fn, tp=outcomes.n_pos - fn, fp=fp, tn=outcomes.n_neg - fp)
        shown = ends(method, counts, measure, prob, prior)[0] > claim
        open_ = high - low > 1
        low, high = (
            np.where(open_ & shown, middle, low),
            np.where(open_ & ~shown, middle, high),
        )
    return low


def _exact_staircase(outcomes: Outcomes, claim, measure, prob) -> NDArray[np.intp]:
    """Do the same for the exact unconditional bound, one test a tally, row after row.

    The bound falls in both counts in every table that was enumerated (a test does it again), so
    that the search in a row starts at the last row's answer.
    """
    last = np.empty(outcomes.fn.size, np.intp)
    # Where the ordering itself, max of the half-planes' quantiles, passes the claim: a good start.
    terms = [measure.term] if measure.term != "max" else ["fnr", "fpr"]
    level = (1 - prob) / 2
    near = np.zeros((outcomes.fn.size, outcomes.fp.size), bool)
    for term in terms:
        one = Epsilon(measure.delta, "member", term)
        near |= survival_above(outcomes, one, claim, (1 - level,), "jeffreys")[0]
    guess = near.sum(axis=1) - 1

    def shown(row: int, column: int) -> bool:
        fn, fp = int(outcomes.fn[row]), int(outcomes.fp[column])
        counts = AttackCounts(fn=fn, tp=outcomes.n_pos - fn, fp=fp, tn=outcomes.n_neg - fp)
        return exceeds(counts, measure, prob, claim)

    most, offset = outcomes.fp.size - 1, 0
    for row in range(outcomes.fn.size):
        column = int(np.clip(guess[row] + offset, 0, most))
        if shown(row, column):
            while column < most and shown(row, column + 1):
                column += 1
        else:
            column -= 1
            while column >= 0 and not shown(row, column):
                column -= 1
        last[row] = column
        offset, most = column - guess[row], column
        if column < 0:
            last[row:] = -1
            break
    return last


def assurance_curve(
    claim: float,
    n: ArrayLike,
    delta: float = 1e-5,
    *,
    fnr: float | None = None,
    fpr: float | None = None,
    mu: float | None = None,
    pilot: AttackCounts | None = None,
    prob: float = 0.90,
    method: Method = "posterior",
    direction: Literal["member", "both"] = "member",
    prior: Prior = "jeffreys",
) -> NDArray[np.float64]:
    """Return the assurance at many n; parameters as for `plan`.

    Parameters
    ----------
    n : array_like of int
        Independent trials a side, >= 1.

    Returns
    -------
    numpy.ndarray
        Of n's shape.

    Examples
    --------
    >>> assurance_curve(0.5, [50, 100, 200], fnr=0.35, fpr=0.25).round(3)
    array([0.625, 0.857, 0.984])
    """
    measure = Epsilon(check_probability(delta, "delta"), direction)
    check_method(method, measure)
    claim, prob = check_nonnegative(claim, "claim"), check_prob(prob)
    attack = strength(fnr, fpr, mu, pilot, prior)
    sizes = check_integers(n, "n", minimum=1)
    found = [
        assurance(attack, int(size), claim, measure, prob, method, prior) for size in sizes.flat
    ]
    return np.array(found).reshape(sizes.shape)[()]

"""The lines of counts: the posterior, and the confidence bounds that belong beside it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayesaudit.audits._line import (
    EXACT_POSTERIOR,
    MEMBER,
    Line,
    line_of_interval,
    line_of_posterior,
)
from bayesaudit.audits._question import ANYTIME, Question
from bayesaudit.counts import AttackCounts
from bayesaudit.intervals import EXACT, METHODS, confidence_interval
from bayesaudit.measures import Epsilon
from bayesaudit.posteriors import posterior
from bayesaudit.posteriors.two_direction import two_direction_bound

__all__ = [
    "cautious",
    "confidence_lines",
    "one_trial_each",
    "posterior_lines",
    "same_ends",
]

#: Trials a side up to which the exact unconditional bound is computed.
EXACT_LIMIT = 100_000
#: Where the folded interval and that of the declared direction are the same to a reader.
SAME = 1e-6

NEAR_CHANCE = (
    "the attack is near chance or worse: epsilon-hat of direction both folds the two "
    "directions, so its lower end is positive also for a coin flip; the interval of "
    "the declared direction stands beside it."
)
LEFT_OUT = (
    f"exact-unconditional is left out above {EXACT_LIMIT} trials a side, where it takes "
    "seconds: confidence_interval(..., method='exact-unconditional') computes it."
)


def posterior_lines(
    counts: AttackCounts, delta: float, question: Question, notes: list[str], *, if_: str = ""
) -> Iterator[Line]:
    """Yield the exact posterior, and that of the declared direction where folding matters."""
    post = posterior(counts, question.measure(delta), prior=question.prior)
    promise = f"credible: holds this posterior mass{if_}"
    folded = line_of_posterior(
        post, delta, question.prob, question.claim, method=EXACT_POSTERIOR, promise=promise
    )
    yield folded
    if question.direction == "both":
        member = line_of_posterior(
            posterior(counts, Epsilon(delta, "member"), prior=question.prior),
            delta,
            question.prob,
            question.claim,
            method=MEMBER,
            label="  direction member",
            promise="credible, of the declared direction alone",
        )
        if not np.all(same_ends(folded, member)):
            notes.append(NEAR_CHANCE)
            yield member


def same_ends(line: Line, other: Line) -> np.ndarray:
    """Say where two lines have the same ends to a reader."""
    pairs = ((line.lower, other.lower), (line.upper, other.upper))
    with np.errstate(invalid="ignore"):
        return np.all([(a == b) | (np.abs(np.subtract(a, b)) <= SAME) for a, b in pairs], axis=0)


def confidence_lines(
    counts: AttackCounts, delta: float, question: Question, notes: list[str]
) -> Iterator[Line]:
    """Yield the confidence bounds of independent trials: the exact, then the classical ones."""
    measure = question.measure(delta)
    if question.looks == ANYTIME:
        from bayesaudit.anytime import anytime_bound

        yield line_of_interval(anytime_bound(counts, measure, question.prob), delta)
        return
    methods = list(METHODS)
    if max(np.max(counts.n_pos, initial=0), np.max(counts.n_neg, initial=0)) <= EXACT_LIMIT:
        methods.insert(0, EXACT)
    else:
        notes.append(LEFT_OUT)
    for method in methods:
        found = confidence_interval(counts, measure, question.level, method=method)
        yield replace(line_of_interval(found, delta), prob=question.prob)


def one_trial_each(counts: AttackCounts) -> bool:
    """Say whether no two trials share a model: they are then as independent as the models."""
    return bool(np.max(counts.n_pos + counts.n_neg, initial=0) <= 1)


def cautious(line: Line, counts: AttackCounts, question: Question, **dependence: object) -> Line:
    """Return a credible line whose lower end is that of the two-direction bound, which is lower.

    The interval then holds at least its mass, and its lower end errs near its level.
    """
    lower = two_direction_bound(
        counts, line.delta, question.prob, prior=question.prior, **dependence
    ).lower
    summary = {"joint_lower": line.lower, "lower_method": "two-direction", **line.summary}
    promise = line.promise.replace(
        "credible: holds this posterior mass",
        "credible: at least this mass, lower end two-direction",
    )
    if promise == line.promise:
        promise += ", lower end two-direction"
    return replace(line, lower=float(lower), summary=summary, promise=promise)

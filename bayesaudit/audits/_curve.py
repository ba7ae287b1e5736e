"""Epsilon as a function of delta, for counts and for a band of all thresholds."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._result import Table
from bayesaudit.audits._question import ANYTIME, Question
from bayesaudit.counts import AttackCounts
from bayesaudit.curves import EpsilonCurve, delta_grid, epsilon_curve
from bayesaudit.intervals import rectangle
from bayesaudit.measures import Epsilon
from bayesaudit.posteriors import posterior
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds import confidence_band

__all__ = ["BandCurve", "band_curve", "counts_curve"]

Array = NDArray[np.float64]
#: Values of delta in the curve of a band, beside those asked for.
LOWEST, HIGHEST, POINTS = 1e-9, 0.5, 36


@dataclass(frozen=True, slots=True, eq=False)
class BandCurve(Table):
    """The guaranteed lower bound of a band at many values of delta, all at once.

    Parameters
    ----------
    delta : numpy.ndarray, shape (n_delta,)
        Rising values.
    lower : numpy.ndarray, shape (n_delta,)
        The bound on epsilon, nats: the band holds at all thresholds at once, so that these hold at
        all deltas at once.
    threshold : numpy.ndarray, shape (n_delta,)
        Where it is attained.
    prob : float
        The level: all ends together err by (1 − prob)/2.
    """

    delta: Array
    lower: Array
    threshold: Array
    prob: float


def counts_curve(counts: AttackCounts, question: Question, delta: Any) -> EpsilonCurve:
    """Return the posterior curve of one tally, with confidence ends for all delta at once.

    Declared looks share the level of the confidence ends, not of the posterior ones, which are a
    statement about these data.
    """
    curve = epsilon_curve(
        counts,
        _posterior_grid(counts, question) if delta is None else delta,
        question.prob,
        direction=question.direction,
        prior=question.prior,
    )
    if question.looks is None:
        return curve
    if question.looks == ANYTIME:
        raise ValueError("curve does not go with looks anytime: its ends hold at one look.")
    box = rectangle(counts, question.level)
    ends = [tuple(box.interval(question.measure(float(value)))) for value in curve.delta]
    lower, upper = np.array(ends, float).T
    return replace(curve, confidence_lower=lower, confidence_upper=upper)


def band_curve(scores: AttackScores, question: Question, delta: Any) -> BandCurve:
    """Return the bound of the band at many values of delta."""
    band = confidence_band(scores, question.level)
    grid = _grid(question, delta)
    best = [band.best(Epsilon(float(value), "member")) for value in grid]
    return BandCurve(
        delta=grid,
        lower=np.array([lower for lower, _ in best]),
        threshold=np.array([float(band.roc.threshold[index]) for _, index in best]),
        prob=question.prob,
    )


def _posterior_grid(counts: AttackCounts, question: Question) -> Array:
    rates = posterior(counts, question.measure(0.0), prior=question.prior).rates
    return np.concatenate([delta_grid(rates, question.direction), question.delta])


def _grid(question: Question, delta: Any) -> Array:
    if delta is not None:
        return np.atleast_1d(np.asarray(delta, float))
    return np.unique(np.concatenate([np.geomspace(LOWEST, HIGHEST, POINTS), question.delta]))

"""Splitting the rows: choose the threshold on one part, bound on the other."""

import numpy as np
from numpy.typing import NDArray

from bayesaudit.measures import Measure
from bayesaudit.roc import roc_curve
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds._points import best_threshold

__all__ = ["selection_mask", "split_scores"]


def selection_mask(
    scores: AttackScores, selection: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which rows serve to choose the threshold, drawn without looking at the scores.

    Of each class the fraction `selection`, rounded down but at least one of two; where rows come
    from several models, that fraction of the models (drawn apart for models with both classes and
    with one), so that no model is on both sides.
    """
    if scores.model is None or scores.models.size == 1:
        group, kind = np.arange(len(scores)), scores.member.astype(int)
    else:
        _, group = np.unique(scores.model, return_inverse=True)
        has = [np.bincount(group[rows]) for rows in (scores.member, ~scores.member)]
        size = scores.models.size
        members, others = (np.pad(count, (0, size - count.size)) > 0 for count in has)
        kind = members + 2 * others
    chosen = np.zeros(kind.size, bool)
    for one in np.unique(kind):
        units = np.flatnonzero(kind == one)
        count = max(int(selection * units.size), int(units.size > 1))
        chosen[rng.permutation(units)[:count]] = True
    return chosen[group]


def split_scores(
    scores: AttackScores,
    measure: Measure,
    prob: float,
    selection: float,
    rng: np.random.Generator,
) -> tuple[float, AttackScores]:
    """Return the chosen threshold and the rows that had no part in choosing it."""
    chosen = selection_mask(scores, selection, rng)
    roc = roc_curve(scores.score[chosen], scores.member[chosen])
    return best_threshold(roc, measure, prob), scores[~chosen]

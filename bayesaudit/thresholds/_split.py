"""Splitting the rows: choose the threshold on one part, bound on the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_number
from bayesaudit.measures import Measure
from bayesaudit.roc import roc_curve
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds._points import best_threshold

__all__ = ["declared_mask", "selection_mask", "split_scores"]


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


def declared_mask(scores: AttackScores, selection: Any) -> NDArray[np.bool_] | None:
    """Return the declared rows that choose: the first so many, or a mask; None for a fraction.

    A declared part stays the same as rows are added, so that the threshold does, and every later
    row is judged by a threshold that it had no part in.
    """
    if isinstance(selection, bool | np.bool_):
        raise TypeError(f"selection must be a fraction, a number of rows or a mask: {selection!r}.")
    if np.ndim(selection) == 0:
        if not isinstance(selection, int | np.integer):
            if not 0 < check_number(selection, "selection") < 1:
                raise ValueError(f"selection must be in (0, 1), got {selection!r}.")
            return None
        if not 0 < selection < len(scores):
            raise ValueError(
                f"selection must be fewer rows than the {len(scores)} there are, and one at least, "
                f"got {selection}."
            )
        chosen = np.arange(len(scores)) < selection
    else:
        chosen = np.asarray(selection)
        if chosen.dtype != bool or chosen.shape != (len(scores),):
            raise ValueError(
                f"selection must be a mask of True and False for all {len(scores)} rows, got "
                f"{chosen.dtype} of shape {chosen.shape}."
            )
    for name, rows in (("rows that choose", chosen), ("other rows", ~chosen)):
        if np.unique(scores.member[rows]).size < 2:
            raise ValueError(f"selection must leave both classes among the {name}.")
    if scores.model is not None:
        shared = np.intersect1d(scores.model[chosen], scores.model[~chosen])
        if shared.size and scores.models.size > 1:
            raise ValueError(
                f"selection must keep the rows of a model together, got model {shared[0]} on both "
                "sides."
            )
    return chosen


def split_scores(
    scores: AttackScores, measure: Measure, prob: float, chosen: NDArray[np.bool_]
) -> tuple[float, AttackScores]:
    """Return the threshold that some rows choose, and the rows that had no part in choosing it."""
    roc = roc_curve(scores.score[chosen], scores.member[chosen])
    return best_threshold(roc, measure, prob), scores[~chosen]

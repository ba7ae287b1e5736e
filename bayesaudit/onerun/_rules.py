"""Rules that turn scores into guesses without looking at membership, and what they got right."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import DataError
from bayesaudit.onerun._check import check_count

__all__ = ["count_guesses"]

Rule = int | tuple[int, int]


def check_scores(score: ArrayLike, member: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return scores as floats and membership as booleans, 1-D and equally long."""
    scores, bits = np.asarray(score, dtype=float), np.asarray(member)
    if scores.ndim != 1 or bits.shape != scores.shape or scores.size == 0:
        raise DataError(
            f"score and member must be 1-D and equally long, got {scores.shape} and {bits.shape}."
        )
    if np.isnan(scores).any():
        raise DataError(
            f"score must not be NaN, got NaN at index {int(np.isnan(scores).argmax())}."
        )
    if bits.dtype.kind not in "biuf" or not np.isin(bits, (0, 1)).all():
        raise DataError("member must be booleans, or 0 and 1.")
    return scores, bits.astype(bool)


def warn_unfair_coins(bits: NDArray) -> None:
    """Warn if so many or so few members cannot come from fair coins (5 standard deviations)."""
    n_members, m = int(bits.sum()), bits.size
    if abs(2 * n_members - m) > 5 * np.sqrt(m):
        warnings.warn(
            f"{n_members} of {m} canaries are members: fair coins do not give that, and without "
            "them a one-run bound is not valid.",
            stacklevel=3,
        )


def check_rule(rule: Any, n_canaries: int) -> tuple[int, int]:
    """Return (k+, k-) of one declared rule."""
    if isinstance(rule, tuple):
        if len(rule) != 2:
            raise ValueError(f"a pair of guesses must be (top, bottom), got {rule!r}.")
        top, bottom = (check_count(part, "guesses") for part in rule)
    else:
        total = check_count(rule, "guesses")
        top, bottom = (total + 1) // 2, total // 2
    if top + bottom > n_canaries:
        raise ValueError(f"guesses must be <= the {n_canaries} canaries, got {top + bottom}.")
    return top, bottom


def _fewest_right(scores: NDArray, right: NDArray, k: int) -> int:
    """Count the right guesses among the k highest scores; a cut block gives its fewest.

    Tied scores are one block. If the budget ends inside a block, which of it are guessed is not
    said by the scores; whatever label-blind choice is made has at least as many right as this.
    """
    if k == 0:
        return 0
    cut = np.partition(scores, scores.size - k)[scores.size - k]
    above, tied = scores > cut, scores == cut
    still_to_guess = k - int(above.sum())
    wrong_in_block = int((tied & ~right).sum())
    return int((above & right).sum()) + max(0, still_to_guess - wrong_in_block)


def count_guesses(score: ArrayLike, member: ArrayLike, guesses: Rule) -> tuple[int, int]:
    """Guess "member" for the highest scores and "non-member" for the lowest, and count.

    Parameters
    ----------
    score : array_like of float, shape (n_canaries,)
        Attack scores; higher means more likely a member. Infinite scores are legal, NaN is not.
    member : array_like of bool, shape (n_canaries,)
        Whether each canary was in the training set.
    guesses : int or (int, int)
        The budget, declared before membership is seen: r guesses, the odd one at the top, or the
        pair (k+, k-) of guesses at the top and at the bottom.

    Returns
    -------
    n_guesses, n_correct : int
        The tally. Where the budget ends inside a block of tied scores, the block counts with the
        fewest right guesses that any choice within it can have: deterministic, and never more than
        a label-blind choice gets.

    Raises
    ------
    DataError
        For NaN, unequal shapes, or labels other than 0/1.
    ValueError, TypeError
        For a budget that is negative, fractional, or larger than the number of canaries.

    References
    ----------
    Steinke, Nasr and Jagielski (NeurIPS 2023), Algorithm 1 (k+ and k-); arXiv:2305.08846.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> onerun.count_guesses([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0], 2)
    (2, 2)
    >>> onerun.count_guesses([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0], (3, 0))
    (3, 2)
    """
    scores, bits = check_scores(score, member)
    top, bottom = check_rule(guesses, scores.size)
    n_correct = _fewest_right(scores, bits, top) + _fewest_right(-scores, ~bits, bottom)
    return top + bottom, n_correct


def pareto_counts(scores: NDArray, bits: NDArray) -> NDArray:
    """Return (members, non-members) below each threshold on the ROC curve's hull, shape (K, 2)."""
    order = np.argsort(scores, kind="stable")
    below = np.cumsum(np.stack([bits[order], ~bits[order]], axis=1), axis=0)
    last_of_block = np.append(scores[order][1:] != scores[order][:-1], True)
    points = np.concatenate([np.zeros((1, 2), below.dtype), below[last_of_block]])
    hull: list[tuple[int, int]] = []
    for x, y in points.tolist():
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2], hull[-1]
            if (y1 - y0) * (x - x1) > (y - y1) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    return np.array(hull)

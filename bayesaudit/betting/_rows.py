"""Rows: models, or groups of models that have one side only, as the bets see them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesaudit.counts import AttackCounts

__all__ = ["Rows", "rows_of"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Independent pairs of observed fractions.

    Parameters
    ----------
    tpr, tnr : numpy.ndarray, shape (n_rows,)
        Observed fractions of right guesses.
    apart : numpy.ndarray of bool, shape (n_rows,)
        Whether the two sides come from different models.
    times : numpy.ndarray or None, shape (n_rows,)
        How often a row occurs; ``None`` for once each.
    """

    tpr: Array
    tnr: Array
    apart: NDArray[np.bool_]
    times: Array | None = None

    def gathered(self) -> "Rows":
        """Return the distinct rows, where that is worth while."""
        whole = np.column_stack([self.tpr, self.tnr, self.apart])
        distinct, times = np.unique(whole, axis=0, return_counts=True)
        if 4 * times.size > 3 * self.tpr.size:
            return self
        return Rows(distinct[:, 0], distinct[:, 1], distinct[:, 2] > 0, times.astype(float))


def rows_of(counts: AttackCounts, rng: np.random.Generator | None) -> Rows:
    """Return the rows of one audit; models with one side only are put together.

    With a generator at random, in as many groups as the scarcer side has models. Without one in
    their order: the i-th model with members alone and the i-th with non-members alone make a row
    where the later of them stands.
    """
    with np.errstate(invalid="ignore"):
        tpr, tnr = counts.tp / counts.n_pos, counts.tn / counts.n_neg
    both = np.flatnonzero((counts.n_pos > 0) & (counts.n_neg > 0))
    sides = [
        np.flatnonzero((own > 0) & (other == 0))
        for own, other in ((counts.n_pos, counts.n_neg), (counts.n_neg, counts.n_pos))
    ]
    groups = min(side.size for side in sides)
    if rng is None:
        means = [rate[side[:groups]] for rate, side in zip((tpr, tnr), sides, strict=True)]
        place = np.append(both, np.maximum(sides[0][:groups], sides[1][:groups]))
    else:
        means = []
        for rate, side in zip((tpr, tnr), sides, strict=True):
            group = rng.permutation(side.size) % max(groups, 1)
            sums = np.bincount(group, rate[side], groups)
            means.append((sums / np.maximum(np.bincount(group, minlength=groups), 1))[:groups])
        place = np.arange(both.size + groups)
    order = np.argsort(place, kind="stable")
    return Rows(
        np.append(tpr[both], means[0])[order],
        np.append(tnr[both], means[1])[order],
        (np.arange(both.size + groups) >= both.size)[order],
    )

"""The rejection region of a half-plane's posterior: a down-set of outcomes, traced row by row.

F(i, j) = P(x + E y >= 1 − δ | i, j) rises in the number of errors i and j, since the posterior of a
rate rises in its count. ``{F <= level}`` is then a down-set, and one number a row says all of it:
the last column in the set. The boundary is found on a few rows, interpolated to all, and every row
is then verified, so that a row costs two or three values of F.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit.measures import Epsilon
from bayesaudit.posteriors._outside import NODES, Outside
from bayesaudit.rates import BetaRate, IndependentRates
from bayesaudit.unconditional._binomial import Window

__all__ = ["Region", "trace"]

Array = NDArray[np.float64]
Integers = NDArray[np.intp]
COARSE = 9
CHUNK = 4096


class Region(NamedTuple):
    """A down-set of outcomes within a window of rows (FN) and columns (FP).

    Parameters
    ----------
    rows, columns : Window
        The windows.
    last_column : numpy.ndarray of int, shape (rows.size,)
        Position in `columns` of the last one in the set; −1 where there is none.
    last_row : numpy.ndarray of int, shape (columns.size,)
        The same, by column.
    """

    rows: Window
    columns: Window
    last_column: Integers
    last_row: Integers

    @staticmethod
    def make(rows: Window, columns: Window, last_column: Integers) -> "Region":
        """Return the region with `last_row` filled in; `last_column` must not rise."""
        # The rows that reach column j are the first so many, since last_column falls.
        reach = np.searchsorted(-last_column, -np.arange(columns.size), side="right")
        return Region(rows, columns, last_column, reach - 1)

    def transposed(self) -> "Region":
        """Return the region with the rates' roles swapped."""
        return Region(self.columns, self.rows, self.last_row, self.last_column)

    def union(self, other: "Region") -> "Region":
        """Return the union of two regions of the same windows."""
        both = np.maximum(self.last_column, other.last_column)
        return Region.make(self.rows, self.columns, both)


def trace(
    rows: Window, columns: Window, terms: tuple[str, ...], delta: float, order: float, level: float
) -> Region:
    """Return ``{(i, j): min over terms of F(order; i, j) <= level}`` within the windows.

    Parameters
    ----------
    rows, columns : Window
        Outcomes of FN and FP.
    terms : tuple of {"fpr", "fnr"}
        The half-planes, named as in `Epsilon`.
    delta : float
        δ.
    order : float
        The ε of the half-planes.
    level : float
        The posterior probability that bounds the region.
    """
    region = None
    surface = _Surface(rows, columns, terms, delta, order, level)
    for last in _boundary(surface, rows.size, columns.size, len(terms)):
        one = Region.make(rows, columns, last)
        region = one if region is None else region.union(one)
    return region


class _Surface:
    """z(term, i, j): the normal score of F less that of the level, <= 0 in the region."""

    def __init__(self, rows, columns, terms, delta, order, level) -> None:
        self._fnr = BetaRate(rows.k + 0.5, rows.n - rows.k + 0.5)
        self._fpr = BetaRate(columns.k + 0.5, columns.n - columns.k + 0.5)
        self._terms, self._order = terms, order
        # Both terms are the same half-plane, with the rates' roles swapped.
        self._measure = Epsilon(delta, "member", "fpr")
        self._level = level
        # Fewer nodes tell most outcomes from the level; the rest are evaluated again.
        self._nodes, self._margin = (28, 1.5e-3) if columns.size < 400 else (40, 1e-6)

    def __call__(self, term: Integers, i: Integers, j: Integers) -> Array:
        parts = [
            self._chunk(*(a[first : first + CHUNK] for a in (term, i, j)))
            for first in range(0, i.size, CHUNK)
        ]
        return np.concatenate(parts)

    def _chunk(self, term: Integers, i: Integers, j: Integers) -> Array:
        value = self._value(term, i, j, self._nodes)
        close = np.flatnonzero(np.abs(value - self._level) < self._margin)
        if close.size:
            value[close] = self._value(term[close], i[close], j[close], NODES)
        with np.errstate(divide="ignore"):
            return special.ndtri(value) - special.ndtri(self._level)

    def _value(self, term: Integers, i: Integers, j: Integers, nodes: int) -> Array:
        chosen = [np.flatnonzero(term == t) for t in range(len(self._terms))]
        outer, inner = [], []
        for name, at in zip(self._terms, chosen, strict=True):
            pair = self._fnr.take(i[at]), self._fpr.take(j[at])
            outer.append(pair[0] if name == "fpr" else pair[1])
            inner.append(pair[1] if name == "fpr" else pair[0])
        size = i.size
        rates = IndependentRates(BetaRate.join(outer), BetaRate.join(inner), (size,))
        outside = Outside(rates, self._measure, nodes)
        value = np.empty(size)
        above, _ = outside(np.arange(size), np.full(size, self._order))
        value[np.concatenate(chosen)] = np.clip(1 - above, 0.0, 1.0)
        return value


def _boundary(surface: _Surface, n_rows: int, n_columns: int, n_terms: int) -> list[Integers]:
    """Last column with z <= 0 in every row, one array a term."""
    coarse = np.unique(np.linspace(0, n_rows - 1, min(n_rows, COARSE)).astype(int))
    term = np.repeat(np.arange(n_terms), coarse.size)
    row = np.tile(coarse, n_terms)
    start = np.full(row.size, n_columns // 2)
    last, crossing = _search(surface, term, row, start, n_columns)
    if coarse.size < n_rows:
        everything = np.arange(n_rows)
        split = crossing.reshape(n_terms, -1)
        guess = np.concatenate([np.interp(everything, coarse, c) for c in split])
        term, row = np.repeat(np.arange(n_terms), n_rows), np.tile(everything, n_terms)
        # Rows that lie between two of the same last column need no search: it cannot rise.
        found = np.empty((n_terms, n_rows), int)
        known = np.zeros((n_terms, n_rows), bool)
        for t, ends in enumerate(last.reshape(n_terms, -1)):
            gap = np.minimum(np.searchsorted(coarse, everything, side="right"), coarse.size - 1)
            found[t], known[t] = ends[gap], ends[gap - 1] == ends[gap]
            found[t, coarse], known[t, coarse] = ends, True
        open_ = np.flatnonzero(~known.ravel())
        if open_.size:
            found.ravel()[open_], _ = _search(
                surface, term[open_], row[open_], np.floor(guess[open_]).astype(int), n_columns
            )
        last = found.ravel()
    # F rises in i too; should rounding say otherwise, the down-closure is the safe side.
    return [np.maximum.accumulate(part[::-1])[::-1] for part in last.reshape(n_terms, n_rows)]


def _search(
    surface: _Surface, term: Integers, row: Integers, start: Integers, n_columns: int
) -> tuple[Integers, Array]:
    """Return the last column with z <= 0, and where z crosses 0 between it and the next one.

    Two neighbouring columns at a time are tried; where both lie on one side, their difference
    extrapolates to the next trial, within a bracket that shrinks by half when that fails.
    """
    low, high = np.full(row.size, -1), np.full(row.size, n_columns)
    trial = np.clip(start, 0, max(n_columns - 2, 0))
    crossing = np.empty(row.size)
    todo = np.arange(row.size)
    for step in range(200):
        left = trial[todo]
        right = np.minimum(left + 1, n_columns - 1)
        pair = np.concatenate([left, right])
        z = surface(np.tile(term[todo], 2), np.tile(row[todo], 2), pair).reshape(2, -1)
        for column, value in zip((left, right), z, strict=True):
            inside = value <= 0
            low[todo] = np.where(inside, np.maximum(low[todo], column), low[todo])
            high[todo] = np.where(inside, high[todo], np.minimum(high[todo], column))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            root = left - z[0] / (z[1] - z[0])
        usable = np.isfinite(root)
        fallback = np.where(low[todo] < 0, -0.5, np.where(high[todo] >= n_columns, n_columns, left))
        crossing[todo] = np.where(usable, np.clip(root, -1, n_columns), fallback)
        done = high[todo] - low[todo] <= 1
        middle = (low[todo] + high[todo]) // 2
        # Every third step halves the bracket, whatever the extrapolation says.
        follow = usable & (root > low[todo]) & (root < high[todo]) & (step % 3 != 2)
        new = np.where(follow, np.floor(np.where(usable, root, 0.0)).astype(int), middle)
        trial[todo] = np.clip(new, np.maximum(low[todo], 0), np.minimum(high[todo], n_columns - 1))
        todo = todo[~done]
        if todo.size == 0:
            break
    return low, np.maximum(np.minimum(crossing, low + 1.0), low)

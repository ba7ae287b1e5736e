"""Wealth: what the bets against a level have made of 1, and the level that they leave standing."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit.betting._lines import Lines, lines_of
from bayesaudit.betting._rows import Rows, rows_of
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure

__all__ = ["Wealth", "lower_end", "stakes_for", "stakes_from"]

Array = NDArray[np.float64]
#: Stakes of a line, and how they crowd towards the boldest: u = lowest^((1 − s)^CROWDING).
STAKES, CROWDING = 16, 2.5
#: The lowest stake is so many times √(2 log(1/α)/n_rows), but at most BOLDEST.
CAUTION, BOLDEST = 1.5, 0.98
TOLERANCE = 1e-9
#: Rows whose wealth is computed at once, and rows multiplied before a logarithm is taken.
CHUNK, BLOCK = 4096, 16


@dataclass(frozen=True)
class Wealth:
    """Bets against every level of a measure, and what they made of 1 on the models of an audit.

    Parameters
    ----------
    lines : Lines
        The lines that are bet on.
    rows : Rows
        The models.
    stakes : numpy.ndarray, shape (n_stakes,)
        Shares of the wealth that are staked on every model, of equal capital on every line.
    in_order : bool
        Whether rows are in a declared order and the wealth after each of them counts.
    """

    lines: Lines
    rows: Rows
    stakes: Array
    in_order: bool = False

    @classmethod
    def once(
        cls, counts: AttackCounts, measure: Measure, goal: float, rng: np.random.Generator
    ) -> "Wealth":
        """Return the wealth on all models of one audit, whose number was fixed beforehand."""
        rows = rows_of(counts, rng)
        return cls(lines_of(measure), rows.gathered(), stakes_for(rows.tpr.size, goal))

    @property
    def capital(self) -> Array:
        """What every bet starts with, shape (n_bets,); the sum is 1."""
        return np.repeat(self.lines.weight / self.stakes.size, self.stakes.size)

    def logs(self, level: float) -> Array:
        """Return the log of each bet's wealth, its capital included.

        Returns
        -------
        numpy.ndarray, shape (n_bets, n_moments)
            After every row if in order, else once.
        """
        lines = self.lines.at(level)
        size = self.rows.tpr.size
        found = [np.zeros((lines[0].size * self.stakes.size, 0))]
        for first in range(0, size, CHUNK):
            part = slice(first, min(first + CHUNK, size))
            found.append(self._joined(self._factors(part, *lines), part))
        logs = np.concatenate(found, axis=1)
        logs = np.cumsum(logs, axis=1) if self.in_order else logs.sum(axis=1, keepdims=True)
        return logs + np.log(self.capital)[:, None]

    def factors(self, level: float) -> Array:
        """Return what each row makes of 1 in every bet, shape (n_bets, n_rows)."""
        factor = self._factors(slice(None), *self.lines.at(level))
        return factor.reshape(-1, factor.shape[-1])

    def _factors(self, part: slice, a: Array, b: Array) -> Array:
        """Return what each row makes of 1 in every bet, shape (n_lines, n_stakes, n_rows)."""
        tpr, tnr = self.rows.tpr[part], self.rows.tnr[part]
        inverted = self.lines.inverted[:, None]
        x = np.where(inverted, 1 - tpr, tpr) * a[:, None]
        y = np.where(inverted, 1 - tnr, tnr) * b[:, None]
        stakes = self.stakes[:, None]
        factor = stakes * (x + y - 1)[:, None, :]
        factor += 1
        apart = self.rows.apart[part]
        if apart.any():
            # Sides of different models: the even line is two bets, one after the other.
            for line in np.flatnonzero(self.lines.even):
                twice = 1 + stakes * (2 * x[line, apart] - 1)
                factor[line][:, apart] = twice * (1 + stakes * (2 * y[line, apart] - 1))
        return factor

    def _joined(self, factor: Array, part: slice) -> Array:
        """Return logs of the factors, shape (n_bets, n_rows); fewer columns where sums will do."""
        factor = factor.reshape(-1, factor.shape[-1])
        if self.in_order:
            return np.log(factor)
        if self.rows.times is not None:
            return (np.log(factor) @ self.rows.times[part])[:, None]
        # A logarithm costs as much as five products.
        whole = factor.shape[1] // BLOCK * BLOCK
        product = factor[:, :whole].reshape(len(factor), BLOCK, -1).prod(axis=1)
        return np.log(np.concatenate([product, factor[:, whole:]], axis=1))


def stakes_for(rows: int, goal: float) -> Array:
    """Return the stakes for so many rows and the log of the wealth wanted."""
    return stakes_from(min(CAUTION * math.sqrt(2 * goal / max(rows, 1)), BOLDEST))


def stakes_from(lowest: float) -> Array:
    """Return stakes from `lowest` to nearly 1, crowding towards 1."""
    middle = (np.arange(STAKES) + 0.5) / STAKES
    return lowest ** ((1 - middle) ** CROWDING)


def lower_end(wealth: Wealth, measure: Measure, goal: float) -> float:
    """Return the lowest level against which the wealth is below e^goal."""
    from scipy.optimize import brentq

    start = wealth.lines.start

    def excess(level: float) -> float:
        return _log_sum(wealth.logs(level)) - goal

    known = wealth.logs(start)
    if _log_sum(known) < goal:
        return measure.lowest
    step = 1.0
    while excess(min(start + step, measure.highest)) >= 0:
        step *= 2
    root = brentq(excess, start, min(start + step, measure.highest), xtol=TOLERANCE / 10)
    # Below the root all levels must be rejected. Between two levels each bet has at least the
    # smaller of its wealths at these; so a step is certain where the sum of those is large enough.
    level, step = start, root - TOLERANCE - start
    while step > TOLERANCE / 2 and level < root - TOLERANCE:
        found = wealth.logs(level + step)
        if _log_sum(np.minimum(known, found)) >= goal:
            level, known = level + step, found
        else:
            step /= 2
    return level


def _log_sum(logs: Array) -> float:
    """Return the log of the largest wealth of any moment; −inf before the first model."""
    return float(special.logsumexp(logs, axis=0).max()) if logs.size else -math.inf

"""Which outcomes have a posterior probability above a threshold, from few values of it.

P(measure > level | i, j) falls in both counts for a measure that falls in both rates, and for a
folded one it is the sum of such a part and of one that rises, the inverted attack's. Values on a
coarse lattice therefore enclose those between; only points whose enclosure holds a threshold are
evaluated, on ever finer lattices.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesaudit.calibration._outcomes import Outcomes
from bayesaudit.measures import Measure
from bayesaudit.posteriors._outside import NODES, Outside
from bayesaudit.rates import BetaRate, IndependentRates, Prior, check_prior

__all__ = ["survival_above"]

Array = NDArray[np.float64]
Bool = NDArray[np.bool_]
COARSE = 16
CHUNK = 4096
#: Nodes of a quick value, and a bound on its error.
QUICK, MARGIN = 28, 1.5e-3


def survival_above(
    outcomes: Outcomes, measure: Measure, level: float, thresholds: Sequence[float], prior: Prior
) -> list[Bool]:
    """Return for each threshold whether P(measure > level | outcome) exceeds it.

    Parameters
    ----------
    outcomes : Outcomes
        The grid; consecutive numbers of errors on either side.
    measure : Measure
        Falling in both rates, or the fold of such a one.
    level : float
        The level, finite.
    thresholds : sequence of float
        Probabilities.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the rates.

    Returns
    -------
    list of numpy.ndarray of bool, shape (outcomes.fn.size, outcomes.fp.size)
    """
    shape = (outcomes.fn.size, outcomes.fp.size)
    if level < measure.lowest or level >= measure.highest:
        value = 1.0 if level < measure.lowest else 0.0
        return [np.full(shape, value > threshold) for threshold in thresholds]
    parts = [_Part(outcomes, measure.one_direction(), level, prior, inverted=False)]
    if measure.folded:
        parts.append(_Part(outcomes, measure.one_direction(), level, prior, inverted=True))
    axes = [np.array([0, size - 1]) for size in shape]
    step = COARSE
    while True:
        finer = [np.unique(np.append(np.arange(0, size, step), size - 1)) for size in shape]
        i, j = (axis.ravel() for axis in np.meshgrid(*finer, indexing="ij"))
        for part in parts:
            part.inherit(axes, i, j)
        open_ = _undecided(parts, thresholds, i, j)
        for part in parts:
            part.evaluate(i[open_], j[open_], quick=True)
        axes = finer
        if step == 1:
            break
        step //= 2
    open_ = _undecided(parts, thresholds, i, j)
    for part in parts:
        part.evaluate(i[open_], j[open_], quick=False)
    low = sum(part.bounds[0] for part in parts)
    return [low > threshold for threshold in thresholds]


def _undecided(parts: list["_Part"], thresholds: Sequence[float], i: Array, j: Array) -> Bool:
    low, high = (sum(part.bounds[end][i, j] for part in parts) for end in (0, 1))
    open_ = np.zeros(i.size, bool)
    for threshold in thresholds:
        open_ |= (low <= threshold) & (high > threshold)
    return open_


class _Part:
    """Lower and upper bounds of one direction's probability at every outcome."""

    def __init__(
        self, outcomes: Outcomes, measure: Measure, level: float, prior: Prior, *, inverted: bool
    ) -> None:
        shapes = check_prior(prior)
        rates = []
        for name, errors, n in (
            ("fnr", outcomes.fn, outcomes.n_pos),
            ("fpr", outcomes.fp, outcomes.n_neg),
        ):
            rate = BetaRate(errors + shapes[name][0], n - errors + shapes[name][1])
            rates.append(rate.mirrored() if inverted else rate)
        self._rates, self._measure, self._level = rates, measure, level
        self._inverted = inverted
        size = outcomes.fn.size, outcomes.fp.size
        self.bounds = np.zeros(size), np.ones(size)
        self._known = np.zeros(size, bool)

    def inherit(self, axes: list[Array], i: Array, j: Array) -> None:
        """Bound new points by their neighbours on the coarser lattice."""
        before = [
            axis[np.searchsorted(axis, at, side="right") - 1]
            for axis, at in zip(axes, (i, j), strict=True)
        ]
        after = [
            axis[np.searchsorted(axis, at, side="left")]
            for axis, at in zip(axes, (i, j), strict=True)
        ]
        # The probability is larger at the neighbour with fewer errors, unless inverted.
        larger, smaller = (after, before) if self._inverted else (before, after)
        new = ~self._known[i, j]
        low = np.maximum(self.bounds[0][i, j], self.bounds[0][tuple(smaller)])
        high = np.minimum(self.bounds[1][i, j], self.bounds[1][tuple(larger)])
        self.bounds[0][i[new], j[new]] = low[new]
        self.bounds[1][i[new], j[new]] = high[new]

    def evaluate(self, i: Array, j: Array, *, quick: bool) -> None:
        """Find the values of points; a quick one leaves an enclosure."""
        new = ~self._known[i, j]
        i, j = i[new], j[new]
        nodes, margin = (QUICK, MARGIN) if quick else (NODES, 0.0)
        for first in range(0, i.size, CHUNK):
            at = i[first : first + CHUNK], j[first : first + CHUNK]
            size = at[0].size
            fnr, fpr = (rate.take(index) for rate, index in zip(self._rates, at, strict=True))
            outside = Outside(IndependentRates(fnr, fpr, (size,)), self._measure, nodes)
            value, _ = outside(np.arange(size), np.full(size, self._level))
            self.bounds[0][at], self.bounds[1][at] = value - margin, value + margin
            self._known[at] = not quick

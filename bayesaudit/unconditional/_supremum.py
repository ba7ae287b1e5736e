"""The largest probability of a region under a hypothesis: found quickly, then certified.

On the boundary x = D − E y of a half-plane, with y in [a, b], the probability of a down-set is
f(y) = Σ_i b(i; n₁, x) B(c_i; n₀, y), and its slope

    f′(y) = E n₁ Σ_j b(j; n₀, y) b(a_j; n₁ − 1, x) − n₀ Σ_i b(i; n₁, x) b(c_i; n₀ − 1, y)

with c_i and a_j the last column and row of the region. Every probability b(k; n, ·) is unimodal, so
that the slope has an enclosure over an interval: a bound on f there that needs no grid to be fine
enough.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesaudit.unconditional._region import Region

__all__ = ["Edge", "Peak", "edges", "highest", "stays_below"]

Array = NDArray[np.float64]
GRID = 25
ZOOM = 9
ROUNDS = 60
#: Doubles in one block of tables.
BLOCK = 400_000


class Edge(NamedTuple):
    """A piece of a hypothesis' boundary: x = d − e·y for y in [low, high]; rows count x."""

    region: Region
    d: float
    e: float
    low: float
    high: float

    def at(self, y: Array) -> Array:
        """Return x on the edge, within [0, 1]."""
        return np.clip(self.d - self.e * y, 0.0, 1.0)

    def probability(self, y: Array) -> Array:
        """Return the probability of the region at points of the edge."""
        step = max(1, BLOCK // (self.region.rows.size + self.region.columns.size))
        parts = [
            _probability(self.region, self.at(part), part)
            for part in (y[first : first + step] for first in range(0, y.size, step))
        ]
        return np.concatenate(parts)


class Peak(NamedTuple):
    """Where on an edge, as a fraction, the probability is highest, and how high."""

    value: float
    place: float


def edges(
    region: Region,
    terms: tuple[str, ...],
    delta: float,
    epsilon: float,
    box: tuple[tuple[float, float], tuple[float, float]],
) -> list[Edge]:
    """Return the pieces of boundary on which the supremum over hypothesis ∩ box is attained.

    A corner counts as an edge of length 0; without a point in the box there is no edge.

    Parameters
    ----------
    region : Region
        The down-set.
    terms : tuple of {"fpr", "fnr"}
        The hypothesis is the intersection of these half-planes: "fpr" is x + e^ε y >= 1 − δ.
    delta, epsilon : float
        δ, and ε of the hypothesis.
    box : tuple of tuple of float
        Ranges of FNR and FPR.
    """
    d, e = 1 - delta, float(np.exp(epsilon))
    (x_low, x_high), (y_low, y_high) = box
    inside = {"fpr": x_low + e * y_low >= d, "fnr": y_low + e * x_low >= d}
    if all(inside[term] for term in terms):
        # The corner nearest 0 lies in the hypothesis: the probability is highest there.
        return [Edge(region, x_low, 0.0, y_low, y_low)]
    kink = d / (1 + e) if len(terms) == 2 else np.inf
    found = []
    for term in terms:
        if term == "fpr":
            ends, turned = (x_low, x_high, y_low, y_high), region
        else:
            ends, turned = (y_low, y_high, x_low, x_high), region.transposed()
        low = max(0.0, ends[2], (d - ends[1]) / e)
        high = min(d / e, ends[3], (d - ends[0]) / e, kink)
        # A single point must not be lost to rounding.
        if low <= high * (1 + 1e-14):
            found.append(Edge(turned, d, e, min(low, high), high))
    return found


def highest(edge: Edge, *, grid: int = GRID, near: float | None = None) -> Peak:
    """Return the highest probability on an edge, by ever finer grids; approximate.

    Parameters
    ----------
    edge : Edge
        The edge.
    grid : int
        Points of the first grid.
    near : float, optional
        A fraction of the edge close to the peak; only its neighbourhood is then searched.
    """
    span = edge.high - edge.low
    if span <= 0:
        return Peak(float(edge.probability(np.array([edge.low]))[0]), 0.0)
    if near is None:
        places = np.linspace(0.0, 1.0, grid)
    else:
        width = 1 / (GRID - 1)
        places = np.linspace(max(0.0, near - width), min(1.0, near + width), ZOOM)
    for _ in range(8):
        values = edge.probability(edge.low + span * places)
        best = int(np.argmax(values))
        left, right = places[max(best - 1, 0)], places[min(best + 1, places.size - 1)]
        if right - left < 2e-3:
            break
        places = np.linspace(left, right, ZOOM)
    value, place = float(values[best]), float(places[best])
    if 0 < best < places.size - 1:
        # The vertex of the parabola through the three highest points.
        before, after = values[best - 1], values[best + 1]
        bend = before - 2 * value + after
        if bend < 0:
            shift = 0.5 * (before - after) / bend
            value -= 0.25 * (before - after) * shift
            place += shift * float(places[1] - places[0])
    return Peak(value, place)


def stays_below(edge: Edge, limit: float, place: float) -> bool:
    """Return whether the probability is certainly <= limit on the whole edge.

    Parameters
    ----------
    edge : Edge
        The edge.
    limit : float
        The probability not to be exceeded.
    place : float
        Where the peak is thought to be; intervals start out shorter near it.
    """
    span = edge.high - edge.low
    if span <= 0:
        return bool(edge.probability(np.array([edge.low]))[0] <= limit)
    offsets = 0.5 ** np.arange(1, 16)
    places = np.concatenate([np.linspace(0, 1, 17), [place], place + offsets, place - offsets])
    nodes = edge.low + span * np.unique(np.clip(places, 0.0, 1.0))
    low, high = nodes[:-1], nodes[1:]
    step = max(1, BLOCK // (8 * (edge.region.rows.size + edge.region.columns.size)))
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        open_ = []
        for first in range(0, low.size, step):
            part = slice(first, first + step)
            certain = _certain(edge, low[part], middle[part], high[part], limit)
            if certain is None:
                return False
            open_.append(~certain)
        left = np.concatenate(open_)
        if not left.any():
            return True
        low, high = (
            np.concatenate([low[left], middle[left]]),
            np.concatenate([middle[left], high[left]]),
        )
    return False


def _certain(
    edge: Edge, low: Array, middle: Array, high: Array, limit: float
) -> NDArray[np.bool_] | None:
    """Whether each interval certainly stays below the limit; None where a point does not."""
    region = edge.region
    points = np.concatenate([low, middle, high])
    values = edge.probability(points).reshape(3, -1)
    if values.max() > limit:
        return None
    # A down-set is the more probable the smaller either rate.
    certain = _probability(region, edge.at(high), low) <= limit
    todo = np.flatnonzero(~certain)
    if todo.size:
        below, above = _slope(edge, low[todo], high[todo])
        steepest = np.maximum(above, -below)
        enclosed = values[1, todo] + (high - low)[todo] / 2 * steepest <= limit
        certain[todo] = (below >= 0) | (above <= 0) | enclosed
    return certain


def _slope(edge: Edge, low: Array, high: Array) -> tuple[Array, Array]:
    """Enclosure of f′ over each interval."""
    rows, columns, last_column, last_row = edge.region
    x0, x1 = edge.at(high), edge.at(low)
    x, x_fewer = (rows.bounds(x0, x1, fewer=fewer) for fewer in (False, True))
    y, y_fewer = (columns.bounds(low, high, fewer=fewer) for fewer in (False, True))
    rise, fall = [], []
    for end in (0, 1):
        rise.append(edge.e * rows.n * np.sum(y[end] * _take(x_fewer[end], last_row), axis=1))
        fall.append(columns.n * np.sum(x[end] * _take(y_fewer[end], last_column), axis=1))
    return rise[0] - fall[1], rise[1] - fall[0]


def _take(table: Array, position: NDArray[np.intp]) -> Array:
    """Columns of a table, 0 where the position is −1."""
    return np.where(position >= 0, table[:, position], 0.0)


def _probability(region: Region, x: Array, y: Array) -> Array:
    """P(region) at pairs of rates."""
    cumulative = np.cumsum(region.columns.pmf(y), axis=1)
    below = _take(cumulative, region.last_column)
    return np.einsum("ij,ij->i", region.rows.pmf(x), below)

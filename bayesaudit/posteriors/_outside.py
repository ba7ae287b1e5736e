"""The integral of the exact engine: the posterior mass of rates whose measure exceeds a level.

``P(measure > level) = Σ over wedges ∫ f_outer(x) F_inner(curve(x)) dx``, plus the corner boxes: the
complement of BEDP's Eq. 3, written with positive terms only, so that a tail keeps its relative
precision. The outer rate runs over the angle θ with rate = sin²θ, on the one stretch where
the outer density is not negligible and the inner CDF is neither 0 nor 1; there the integrand is
smooth, and one Gauss–Legendre panel serves.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesaudit._quadrature import legendre_rule, tanh_sinh_rule
from bayesaudit.measures import Measure, Wedge
from bayesaudit.rates import IndependentRates, RateMarginal

__all__ = ["Outside"]

Array = NDArray[np.float64]

NODES = 56
#: Nodes of each piece, for marginals that say where their density bends (`breaks`).
PIECE_NODES = 8
#: An inner support that starts this close to 0, relative to its width, has a root there.
NEAR_END = 1e-2
#: Below this survival the panels are placed anew, around the peak of the integrand.
FAR = 1e-7
#: The integrand is cut where it has fallen by this many nats from its peak.
DROP = 42.0


class Outside:
    """Evaluate P(measure > level) and the posterior density of the measure.

    Parameters
    ----------
    rates : IndependentRates
        Marginals of `size` tallies.
    measure : Measure
        The measure.
    nodes : int
        Nodes of a panel's rule. With 28 the error is below 1e-3 and with 40 below 1e-6, for any
        counts, which is enough to tell a probability from a threshold that is not close.
    """

    def __init__(self, rates: IndependentRates, measure: Measure, nodes: int = NODES) -> None:
        self._size = rates.fnr.size
        by_curve: dict[int, list[Wedge]] = {}
        for wedge in measure.wedges():
            by_curve.setdefault(id(wedge.curve), []).append(wedge)
        self._pieces = []
        for wedges in by_curve.values():
            self._pieces += _pieces(wedges, rates, nodes)

    def __call__(self, index: Array, level: Array, *, density: bool = False) -> tuple[Array, Array]:
        """Return survival and density at one level for each chosen tally.

        Parameters
        ----------
        index : numpy.ndarray of int, shape (n,)
            Tallies; may repeat.
        level : numpy.ndarray, shape (n,)
            Finite levels.
        density : bool
            Whether the density is wanted too; else it is NaN.

        Returns
        -------
        (sf, pdf) : tuple of numpy.ndarray, shape (n,)
        """
        sf = np.zeros(level.size)
        pdf = np.zeros(level.size) if density else np.full(level.size, np.nan)
        for piece in self._pieces:
            mass, dense = piece.evaluate(index, level, density)
            sf += mass
            if density:
                pdf += dense
        return np.minimum(sf, 1.0), pdf

    def log_far(self, index: Array, level: Array) -> Array:
        """Return the log of the survival where it is tiny, to a relative 1e-8 and better."""
        terms = np.concatenate([piece.log_far(index, level) for piece in self._pieces])
        top = terms.max(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = top + np.log(np.sum(np.exp(terms - top), axis=0))
        return np.where(np.isneginf(top), -np.inf, total)


def _pieces(wedges: list[Wedge], rates: IndependentRates, nodes: int) -> Iterable["_Piece"]:
    pairs = [rates.oriented(wedge.outer, wedge.mirrored) for wedge in wedges]
    outer, inner = zip(*pairs, strict=True)
    join = getattr(type(outer[0]), "join", None)
    if join is None or len({type(m) for pair in pairs for m in pair}) > 1:
        for wedge, (one, other) in zip(wedges, pairs, strict=True):
            yield _Piece(wedge, one, other, np.array([wedge.corner]), nodes)
    else:
        corner = np.array([wedge.corner for wedge in wedges])
        yield _Piece(wedges[0], join(outer), join(inner), corner, nodes)


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """What a piece needs of chosen tallies, one row a wedge and tally."""

    outer: RateMarginal
    inner: RateMarginal
    support: tuple[Array, ...]
    inner_low: Array
    inner_ends: Array
    roots: tuple[NDArray[np.bool_], ...]
    corner: NDArray[np.bool_]


class _Piece:
    """Wedges of one boundary; its marginals hold `copies` blocks of the tallies, one a wedge."""

    def __init__(
        self,
        wedge: Wedge,
        outer: RateMarginal,
        inner: RateMarginal,
        corner: NDArray[np.bool_],
        nodes: int,
    ) -> None:
        self.wedge, self.outer, self.inner, self.corner = wedge, outer, inner, corner
        self.copies = corner.size
        self.size = outer.size // self.copies
        low, high = inner.support
        # Few errors, or few right guesses, give the inner CDF a root where the boundary meets 0 or
        # 1; so does an unknown inverse, for want of knowing where that is.
        near = NEAR_END * (high - low)
        self._roots = low < near, np.pi / 2 - high < near
        if not (outer.smooth and inner.smooth):
            rules = [tanh_sinh_rule()] * 2
        else:
            rules = [legendre_rule(nodes), legendre_rule(nodes, singular=True)]
        self._rules = tuple(np.array(part) for part in zip(*rules, strict=True))
        self._inner_ends = np.stack(
            [np.sin(low) ** 2, np.cos(low) ** 2, np.sin(high) ** 2, np.cos(high) ** 2]
        )
        self._last: tuple[bytes, _Chosen] | None = None

    def _choose(self, index: Array) -> "_Chosen":
        """Return what belongs to the chosen tallies; a search asks for the same ones again."""
        key = index.tobytes()
        if self._last is None or self._last[0] != key:
            rows = (np.arange(self.copies)[:, None] * self.size + index).ravel()
            chosen = _Chosen(
                outer=self.outer.take(rows),
                inner=self.inner.take(rows),
                support=tuple(end[rows] for end in self.outer.support),
                inner_low=self.inner.support[0][rows],
                inner_ends=self._inner_ends[:, rows],
                roots=tuple(root[rows] for root in self._roots),
                corner=np.repeat(self.corner, index.size),
            )
            self._last = key, chosen
        return self._last[1]

    def _start(self, level: Array) -> tuple[Array, Array]:
        if self.wedge.start is None:
            return np.full(level.shape, -np.inf), np.ones(level.shape)
        return self.wedge.start(level)

    def evaluate(self, index: Array, level: Array, density: bool) -> tuple[Array, Array]:
        """Survival mass and density of these wedges, summed, for every (tally, level)."""
        at, level = self._choose(index), np.tile(level, self.copies)
        log_start, start_c = self._start(level)
        start = np.exp(log_start)
        support_low, support_high = at.support
        start_angle = _angle(start, start_c)
        low, high = np.maximum(support_low, start_angle), support_high
        mass, dense = np.zeros(level.size), np.zeros(level.size)
        singular = np.ones(level.size, bool)
        if self.wedge.inverse is not None:
            last = _angle(*self.wedge.inverse(level, *at.inner_ends[:2]))
            # Up to `full` the boundary lies above all of the inner rate's mass.
            full, full_c = self.wedge.inverse(level, *at.inner_ends[2:])
            full_angle = _angle(full, full_c)
            whole = np.flatnonzero(full_angle > low)
            if whole.size:
                outer = at.outer.take(whole)
                clipped = np.clip(full[whole], 0, 1), np.clip(full_c[whole], 0, 1)
                mass[whole] = _between(outer, (start[whole], start_c[whole]), clipped)
            # A root matters only where the panel ends at it or close by.
            margin = (support_high - support_low) / 2
            root_low, root_high = at.roots
            singular = root_low & (last < support_high + margin)
            singular |= root_high & (full_angle > low - margin)
            low, high = np.maximum(low, full_angle), np.minimum(high, last)
        corner = np.flatnonzero(
            at.corner & (start_angle > support_low) & (start_angle > at.inner_low)
        )
        if corner.size:
            box = start[corner, None], start_c[corner, None]
            inside = at.outer.take(corner).cdf(*box) * at.inner.take(corner).cdf(*box)
            mass[corner] += inside[:, 0]
        active = np.flatnonzero(high > low)
        if active.size:
            area, line = self._panel(
                at.outer.take(active),
                at.inner.take(active),
                *(part[active] for part in (level, low, high, singular)),
                density,
            )
            mass[active] += area
            if density:
                dense[active] += line
        shape = (self.copies, index.size)
        return mass.reshape(shape).sum(axis=0), dense.reshape(shape).sum(axis=0)

    def _panel(
        self,
        outer: RateMarginal,
        inner: RateMarginal,
        level: Array,
        low: Array,
        high: Array,
        singular: NDArray[np.bool_],
        density: bool,
    ) -> tuple[Array, Array | None]:
        if hasattr(outer, "breaks"):
            theta, theta_c, weight = self._pieced(outer, inner, level, low, high)
        else:
            u, uc, weight = (part[singular.astype(np.intp)] for part in self._rules)
            width = (high - low)[:, None]
            theta, theta_c = low[:, None] + width * u, (np.pi / 2 - high)[:, None] + width * uc
            weight = weight * width
        x, xc = np.sin(theta) ** 2, np.sin(theta_c) ** 2
        log_y, yc, log_slope = self.wedge.curve(level[:, None], x, xc)
        y = np.exp(log_y)
        log_outer = outer.log_density(x, xc)
        scaled = np.exp(log_outer) * weight
        mass = np.einsum("ij,ij->i", scaled, inner.cdf(y, yc))
        if not density:
            return mass, None
        with np.errstate(divide="ignore", invalid="ignore"):
            # d(inner)/dθ is 2√(y(1−y)): the density in the rate itself follows from that in θ.
            log_inner = inner.log_density(y, yc) - np.log(2) - 0.5 * (log_y + np.log(yc))
            line = np.exp(log_inner + log_slope)
        line = np.where(np.isfinite(line), line, 0.0)
        return mass, np.einsum("ij,ij->i", scaled, line)

    def _pieced(
        self, outer: RateMarginal, inner: RateMarginal, level: Array, low: Array, high: Array
    ) -> tuple[Array, Array, Array]:
        """Nodes (θ, π/2 − θ) and weights of a panel for each piece between known breaks."""
        cuts = [outer.breaks]
        if self.wedge.inverse is not None and hasattr(inner, "breaks"):
            y, yc = np.sin(inner.breaks) ** 2, np.cos(inner.breaks) ** 2
            cuts.append(_angle(*self.wedge.inverse(level[:, None], y, yc)))
        inside = np.clip(np.concatenate(cuts, axis=1), low[:, None], high[:, None])
        edges = np.sort(np.concatenate([low[:, None], inside, high[:, None]], axis=1), axis=1)
        u, uc, weight = legendre_rule(PIECE_NODES)
        width = np.diff(edges)[:, :, None]
        theta = edges[:, :-1, None] + width * u
        theta_c = (np.pi / 2 - edges[:, 1:, None]) + width * uc
        # Most pieces of some rows are empty: keep no more columns than the fullest row needs.
        used = width[:, :, 0] > 0
        order = np.argsort(~used, axis=1, kind="stable")[:, : max(1, int(used.sum(axis=1).max()))]
        theta, theta_c, weight = (
            np.take_along_axis(part, order[:, :, None], axis=1).reshape(low.size, -1)
            for part in (theta, theta_c, width * weight)
        )
        return theta, theta_c, weight

    def log_far(self, index: Array, level: Array) -> Array:
        """Log of each wedge's mass and of the corners, shape (2·copies, n)."""
        at, level = self._choose(index), np.tile(level, self.copies)
        outer, inner = at.outer, at.inner
        log_start, start_c = self._start(level)
        left = _angle(np.exp(log_start), start_c)[:, None]

        def log_integrand(theta: Array, theta_c: Array) -> Array:
            x, xc = np.sin(theta) ** 2, np.sin(theta_c) ** 2
            log_y, yc, _ = self.wedge.curve(level[:, None], x, xc)
            with np.errstate(invalid="ignore", divide="ignore"):
                value = outer.log_density(x, xc) + inner.log_cdf(log_y, yc)
            return np.where(np.isnan(value), -np.inf, value)

        corner = np.full(level.size, -np.inf)
        has = np.flatnonzero(at.corner)
        box = log_start[has, None], start_c[has, None]
        corner[has] = (outer.take(has).log_cdf(*box) + inner.take(has).log_cdf(*box))[:, 0]
        right = np.full_like(left, np.pi / 2)
        if self.wedge.inverse is not None:
            zero = np.zeros(level.size)
            right = _angle(*self.wedge.inverse(level, zero, zero + 1))[:, None]
        area = _log_integral(log_integrand, left, np.maximum(left, right))
        return np.concatenate([area, corner]).reshape(2 * self.copies, index.size)


def _angle(x: Array, xc: Array) -> Array:
    return np.arctan2(np.sqrt(np.maximum(x, 0.0)), np.sqrt(np.maximum(xc, 0.0)))


def _between(marginal: RateMarginal, low: tuple[Array, Array], high: tuple[Array, Array]) -> Array:
    """P(low < rate <= high) as a difference of whichever tails are small."""
    (x0, x0c), (x1, x1c) = ((end[0][:, None], end[1][:, None]) for end in (low, high))
    below = marginal.cdf(x1, x1c) - marginal.cdf(x0, x0c)
    mirror = marginal.mirrored()
    above = mirror.cdf(x0c, x0) - mirror.cdf(x1c, x1)
    return np.maximum(np.where(marginal.cdf(x0, x0c) < 0.5, below, above)[:, 0], 0.0)


def _log_integral(log_integrand, low: Array, high: Array) -> Array:
    """Log of the integral of exp(log_integrand) over [low, high], for a unimodal integrand.

    Each row's peak is found on ever finer grids, then the points at which the integrand has fallen
    by `DROP` nats on either side; a panel on either side of the peak does the rest.
    """
    grid = np.linspace(0.0, 1.0, 25)
    left, right = low.copy(), high.copy()
    for _ in range(9):
        theta = left + (right - left) * grid
        values = log_integrand(theta, np.pi / 2 - theta)
        best = np.argmax(values, axis=1)[:, None]
        left = np.take_along_axis(theta, np.maximum(best - 1, 0), axis=1)
        right = np.take_along_axis(theta, np.minimum(best + 1, grid.size - 1), axis=1)
    peak = np.take_along_axis(theta, best, axis=1)
    top = np.take_along_axis(values, best, axis=1)
    total = np.full(low.shape[0], -np.inf)
    for end in (low, high):
        near, far = peak, end
        for _ in range(6):
            theta = near + (far - near) * grid
            values = log_integrand(theta, np.pi / 2 - theta)
            below = (values < top - DROP) & (grid > 0)
            first = np.where(below.any(axis=1), np.argmax(below, axis=1), grid.size - 1)[:, None]
            far = np.take_along_axis(theta, first, axis=1)
            # Zoom in only while the whole drop happens within a few grid steps.
            if np.all(first > 4):
                break
        u, uc, weight = tanh_sinh_rule()
        a, b = np.minimum(peak, far), np.maximum(peak, far)
        values = log_integrand(a + (b - a) * u, (np.pi / 2 - b) + (b - a) * uc)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.log(np.sum(np.exp(values - top) * weight, axis=1)) + np.log(b - a)[:, 0]
        total = np.logaddexp(total, np.where(np.isneginf(top[:, 0]), -np.inf, part + top[:, 0]))
    return total

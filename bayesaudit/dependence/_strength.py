"""The likelihood of a mechanism's ε and of the strength s of attacks on it, from tables."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Epsilon
from bayesaudit.posteriors import posterior
from bayesaudit.rates._chebyshev import clenshaw, coefficients, lobatto

__all__ = ["StrengthLikelihood"]

Array = NDArray[np.float64]

POINTS = 13
#: Probabilities of each attack's ε̂ at which panels break.
BREAKS = (1e-9, 1e-5, 1e-2, 0.15, 0.5, 0.85, 1 - 1e-2, 1 - 1e-5, 1 - 1e-9)
#: Nodes in s over which a region's δ = sδ is interpolated: of a small δ, and of others.
FEW, DELTAS, SMALL = 3, 7, 1e-3
WIDEST = 2.5
FLOOR = 1e-14


class StrengthLikelihood:
    """log p(X, Y | ε, s), summed over attacks, less a constant.

    Parameters
    ----------
    counts : AttackCounts, shape (n_attacks,)
        One tally an attack.
    delta : float
        δ of the mechanism.
    highest : float
        Largest ε that is asked for.
    """

    def __init__(self, counts: AttackCounts, delta: float, highest: float) -> None:
        self.delta, self.attacks = delta, counts.shape[0]
        nodes = FEW if delta <= SMALL else DELTAS
        self._s = (1 + lobatto(nodes)) / 2 if delta > 0 else np.array([1.0])
        at_full = posterior(counts, Epsilon(delta), prior="uniform")
        breaks = np.ravel(at_full.quantile(np.array(BREAKS)[:, None]))
        edges = np.unique(np.clip(np.concatenate([[0.0], breaks, [highest]]), 0.0, highest))
        edges = edges[np.concatenate([[True], np.diff(edges) > 1e-9])]
        parts = np.maximum(np.ceil(np.diff(edges) / WIDEST).astype(int), 1)
        pieces = [
            np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(edges, edges[1:], parts, strict=False)
        ]
        self.edges = np.concatenate([*pieces, edges[-1:]])
        nodes = self.edges[:-1, None] + np.diff(self.edges)[:, None] * (1 + lobatto(POINTS)) / 2
        # The CDF as it is, since it has a root at 0; the survival by its log, as its tail is
        # exponential and is compared with an area that is so too.
        lower, log_upper = [], []
        for s in self._s:
            post = at_full if s == 1 else posterior(counts, Epsilon(s * delta), prior="uniform")
            levels = nodes.reshape(-1, 1)
            logs = np.log(np.maximum(post.sf(levels), FLOOR))
            for found, value in ((lower, post.cdf(levels)), (log_upper, logs)):
                found.append(np.moveaxis(value.reshape(*nodes.shape, self.attacks), 2, 0))
        # (points, attacks, deltas, panels)
        self._cdf, self._log_sf = (
            np.ascontiguousarray(np.moveaxis(coefficients(np.stack(x, axis=1)), -1, 0))
            for x in (lower, log_upper)
        )
        self._bary = _barycentric(self._s)

    def __call__(self, epsilon: Array, s: Array) -> Array:
        """Return the log likelihood at ε > 0 and s in (0, 1), arrays of shape (n,)."""
        low = s * epsilon
        # In regions of one nested family the larger always contains the smaller.
        area = (1 - s * self.delta) ** 2 * special.expit(-low)
        area = 2 * (area - (1 - self.delta) ** 2 * special.expit(-epsilon))
        upper_cdf, upper_sf = self._tails(epsilon, None)
        lower_cdf, lower_sf = self._tails(low, s)
        gap = np.where(upper_cdf < 0.5, upper_cdf - lower_cdf, lower_sf - upper_sf)
        return np.sum(np.log(np.maximum(gap, FLOOR**2)), axis=0) - self.attacks * np.log(area)

    def _tails(self, level: Array, s: Array | None) -> tuple[Array, Array]:
        """CDF and survival of every attack's ε̂ at δ = sδ, shape (n_attacks, n)."""
        panel = np.searchsorted(self.edges, level, side="right") - 1
        panel = np.clip(panel, 0, self.edges.size - 2)
        width = self.edges[panel + 1] - self.edges[panel]
        u = np.clip(2 * (level - self.edges[panel]) / width - 1, -1, 1)
        found = []
        for rows in (self._cdf, self._log_sf):
            if s is None or self._s.size == 1:
                value = clenshaw(rows[:, :, -1, panel], np.broadcast_to(u, (self.attacks, u.size)))
            else:
                shape = (self.attacks, self._s.size, u.size)
                value = clenshaw(rows[:, :, :, panel], np.broadcast_to(u, shape))
                value = np.einsum("ijk,jk->ik", value, self._weights(s))
            found.append(value)
        return found[0], np.exp(found[1])

    def _weights(self, s: Array) -> Array:
        gap = s - self._s[:, None]
        exact = np.abs(gap) < 1e-14
        weight = self._bary[:, None] / np.where(exact, 1.0, gap)
        weight = np.where(exact.any(axis=0), exact.astype(float), weight)
        return weight / weight.sum(axis=0)


def _barycentric(nodes: Array) -> Array:
    gap = nodes[:, None] - nodes
    np.fill_diagonal(gap, 1.0)
    return 1 / gap.prod(axis=1)

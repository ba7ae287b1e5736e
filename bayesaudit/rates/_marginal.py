"""The posterior of a population rate with the ICC integrated out, as a table in s = logit μ.

In s the log density has nearly straight tails, so that panels of Chebyshev polynomials hold it, and
the logarithms of its two tail probabilities, to about 1e-10. Panels are bisected until their last
coefficients vanish. The ICC is integrated by the trapezoid rule in its logit, where the integrand
decays exponentially on both sides, so that the rule converges exponentially.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesaudit._quadrature import legendre_rule
from bayesaudit.rates._chebyshev import coefficients, lobatto, matrix
from bayesaudit.rates._likelihood import BetaBinomialLikelihood

__all__ = ["Integrand", "MarginalTable", "tabulate"]

Array = NDArray[np.float64]

#: Points a panel in s, and the size its last coefficients may have.
POINTS = 13
TOLERANCE = 1e-10
#: Nats below its peak at which the marginal of s, and the integrand over the ICC, are cut.
DROP, ICC_DROP = 42.0, 30.0
#: Fewest nodes over the ICC, and the widest step in its logit.
ICC_NODES, ICC_STEP = 72, 0.35
SPLITS = 14
#: Points of the scans, each inside the last one's window, that find where the integrand is.
SCANS = (32, 16, 16)
#: Widest panel in s: in the tails the density is straight but near s = 0.
WIDEST = 4.0


@dataclass(frozen=True, slots=True)
class MarginalTable:
    """Panels of one marginal posterior of s = logit μ.

    Parameters
    ----------
    edges : numpy.ndarray, shape (panels + 1,)
        Panel edges in s.
    nodes : numpy.ndarray, shape (panels, POINTS)
        Lobatto points of the panels.
    log_density, log_cdf, log_sf : numpy.ndarray, shape (panels, POINTS)
        At the nodes: the log density *with respect to θ* (μ = sin²θ), and the log tails.
    mean_icc : float or None
        Posterior mean of the ICC; ``None`` where the ICC was given.
    log_evidence : float
        Log of the likelihood's integral over the prior, less a constant that the priors alone
        determine, and without binomial coefficients.
    mean_rate : float
        Posterior mean of μ.
    """

    edges: Array
    nodes: Array
    log_density: Array
    log_cdf: Array
    log_sf: Array
    mean_icc: float | None
    log_evidence: float
    mean_rate: float


class Integrand:
    """The unnormalised marginal of s, with respect to θ, on panels that share nodes in the ICC."""

    def __init__(
        self,
        likelihood: BetaBinomialLikelihood,
        mu_prior: tuple[float, float],
        icc_prior: tuple[float, float] | float,
    ) -> None:
        self.likelihood, self.mu_prior, self.icc_prior = likelihood, mu_prior, icc_prior
        if not isinstance(icc_prior, float):
            a, b = icc_prior
            trials = likelihood.n_errors + likelihood.n_rights
            self._ends = -(2 * np.log(trials + 2) + 8 + ICC_DROP / a), 8 + ICC_DROP / b

    def _joint(self, s: Array, r: Array) -> Array:
        """Log integrand at s (panels, points) and r = logit ρ (panels, nodes)."""
        log_mu, log_muc = -np.logaddexp(0, -s)[:, :, None], -np.logaddexp(0, s)[:, :, None]
        a, b = self.icc_prior
        r = r[:, None, :]
        weight = -a * np.logaddexp(0, -r) - b * np.logaddexp(0, r)
        return self.likelihood(log_mu, log_muc, r) + weight

    def _window(self, s: Array) -> tuple[Array, Array]:
        """Return ends in r, a panel, outside which the integrand at all of s is negligible."""
        panels = s.shape[0]
        low, high = np.full(panels, self._ends[0]), np.full(panels, self._ends[1])
        for points in SCANS:
            r = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, points)
            value = self._joint(s, r)
            kept = (value > value.max(axis=2, keepdims=True) - ICC_DROP).any(axis=1)
            first, last = np.argmax(kept, axis=1), points - 1 - np.argmax(kept[:, ::-1], axis=1)
            rows = np.arange(panels)
            low = r[rows, np.maximum(first - 1, 0)]
            high = r[rows, np.minimum(last + 1, points - 1)]
        return low, high

    @staticmethod
    def of(
        errors: NDArray[np.int64],
        rights: NDArray[np.int64],
        mu_prior: tuple[float, float],
        icc_prior: tuple[float, float] | float,
    ) -> "Integrand":
        """Return the integrand of counts."""
        return Integrand(BetaBinomialLikelihood(errors, rights), mu_prior, icc_prior)

    def on_grid(self, s: Array, nodes: int) -> tuple[Array, Array]:
        """Return nodes in logit ρ, and the log of the joint density of (θ, logit ρ) on the grid."""
        a, b = self.mu_prior
        prior = (0.5 - a) * np.logaddexp(0, -s) + (0.5 - b) * np.logaddexp(0, s)
        if isinstance(self.icc_prior, float):
            r = np.array([np.log(self.icc_prior) - np.log1p(-self.icc_prior)])
            log_mu, log_muc = -np.logaddexp(0, -s)[:, None], -np.logaddexp(0, s)[:, None]
            return r, prior[:, None] + self.likelihood(log_mu, log_muc, r)
        low, high = self._window(s[None, :: max(1, s.size // 8)])
        r = low[0] + (high[0] - low[0]) * np.linspace(0, 1, nodes)
        return r, prior[:, None] + self._joint(s[None], r[None])[0]

    def __call__(self, s: Array, *, coarse: bool = False) -> tuple[Array, Array | None]:
        """Return the log marginal at s (panels, points), and the mean of ρ there.

        Parameters
        ----------
        s : numpy.ndarray, shape (panels, points)
            Points, increasing along a panel.
        coarse : bool
            Whether a rough answer serves: it places the panels.
        """
        a, b = self.mu_prior
        log_mu, log_muc = -np.logaddexp(0, -s), -np.logaddexp(0, s)
        # A Beta(a, b) prior with respect to θ; 0 for Jeffreys.
        prior = (a - 0.5) * log_mu + (b - 0.5) * log_muc
        if isinstance(self.icc_prior, float):
            if self.icc_prior == 0.0:
                plain = self.likelihood.n_errors * log_mu + self.likelihood.n_rights * log_muc
                return prior + plain, None
            r = np.full((1, 1), np.log(self.icc_prior) - np.log1p(-self.icc_prior))
            return prior + self.likelihood(log_mu, log_muc, r), None
        low, high = self._window(s[:, [0, s.shape[1] // 2, -1]] if s.shape[1] > 3 else s)
        wide = int(np.ceil((high - low).max() / ICC_STEP))
        nodes = max(ICC_NODES // (2 if coarse else 1), wide // (2 if coarse else 1))
        r = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, nodes)
        value = self._joint(s, r)
        top = value.max(axis=2)
        weight = np.exp(value - top[:, :, None])
        total = weight.sum(axis=2)
        icc = np.einsum("ijk,ik->ij", weight, 1 / (1 + np.exp(-r))) / total
        step = ((high - low) / (nodes - 1))[:, None]
        return prior + top + np.log(total * step), icc


def tabulate(
    errors: NDArray[np.int64],
    rights: NDArray[np.int64],
    *,
    mu_prior: tuple[float, float] = (0.5, 0.5),
    icc_prior: tuple[float, float] | float = (1.0, 9.0),
) -> MarginalTable:
    """Tabulate the marginal posterior of the population rate of one side.

    Parameters
    ----------
    errors, rights : numpy.ndarray of int, shape (n_models,)
        Numbers of errors and of right guesses of every model.
    mu_prior : tuple of float
        Shape parameters of the Beta prior of the population rate.
    icc_prior : tuple of float or float
        Shape parameters of the Beta prior of the ICC, or the ICC itself, in [0, 1).
    """
    likelihood = BetaBinomialLikelihood(errors, rights)
    integrand = Integrand(likelihood, mu_prior, icc_prior)
    lows, highs = _first_panels(integrand, likelihood)
    unit = (1 + lobatto(POINTS)) / 2
    done: list[tuple[Array, ...]] = []
    top = -np.inf
    for split in range(SPLITS):
        s = lows[:, None] + (highs - lows)[:, None] * unit
        value, icc = integrand(s)
        top = max(top, float(value.max()))
        tail = np.abs(coefficients(value)[:, -2:]).max(axis=1)
        allowed = TOLERANCE * np.exp(np.minimum(top - value.max(axis=1), 10.0))
        # Rounding of a log likelihood of this size is a floor to what splitting can do.
        floor = 4e-15 * np.abs(value).max(axis=1)
        good = (tail <= np.maximum(allowed, floor)) | (split == SPLITS - 1)
        mean = value if icc is None else icc
        done.append((s[good], value[good], mean[good]))
        if good.all():
            break
        left, right = lows[~good], highs[~good]
        middle = (left + right) / 2
        lows, highs = np.concatenate([left, middle]), np.concatenate([middle, right])
    s, value, mean = (np.concatenate(part) for part in zip(*done, strict=True))
    order = np.argsort(s[:, 0])
    known = None if isinstance(icc_prior, float) else mean[order]
    return _finish(s[order], value[order] - top, known, top)


def _first_panels(integrand: Integrand, likelihood: BetaBinomialLikelihood) -> tuple[Array, Array]:
    """Panels that grow with the distance from the peak, over all of the mass."""
    k, m = likelihood.n_errors + 0.5, likelihood.n_rights + 0.5
    centre, scale = np.log(k / m), np.sqrt(1 / k + 1 / m)
    steps = scale * 2.0 ** np.arange(60)
    steps = np.concatenate([[0.0], steps[steps < 160]])
    grid = np.concatenate([centre - steps[:0:-1], centre + steps])
    mass = _log_mass(integrand, grid[:, None])[:, 0]
    top = mass.max()
    kept = np.flatnonzero(mass > top - DROP)
    first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, grid.size - 1)
    # The outermost panels are cut where the mass ends: beyond, it may underflow.
    unit = np.linspace(0.0, 1.0, 17)
    outer = np.array([[grid[first], grid[first + 1]], [grid[last], grid[last - 1]]])
    fine = outer[:, :1] + np.diff(outer) * unit
    ordered = np.stack([fine[0], fine[1, ::-1]])
    below = _log_mass(integrand, ordered) < top - DROP
    below[1] = below[1, ::-1]
    low, high = (
        float(row[max(np.count_nonzero(out) - 1, 0)]) for row, out in zip(fine, below, strict=True)
    )
    edges = np.concatenate([[low], grid[first + 1 : last], [high]])
    parts = np.maximum(np.ceil(np.diff(edges) / WIDEST).astype(int), 1)
    edges = np.concatenate(
        [
            *(
                np.linspace(a, b, n + 1)[:-1]
                for a, b, n in zip(edges, edges[1:], parts, strict=False)
            ),
            edges[-1:],
        ]
    )
    return edges[:-1], edges[1:]


def _log_mass(integrand: Integrand, s: Array) -> Array:
    """Rough log density with respect to s, of any size."""
    value, _ = integrand(s, coarse=True)
    return value + _log_angle_slope(s)


def _finish(s: Array, value: Array, icc: Array | None, top: float) -> MarginalTable:
    """Normalise, and add the two tails, each summed from its own end."""
    u, _, weight = legendre_rule(6)
    unit = lobatto(POINTS)
    gaps = np.diff(unit)
    inner = (unit[:-1, None] + gaps[:, None] * u).ravel()
    half = (s[:, -1] - s[:, 0]) / 2
    at = ((s[:, 0] + s[:, -1]) / 2)[:, None] + half[:, None] * inner
    log_mass = value @ matrix(POINTS, inner) + _log_angle_slope(at)
    part = np.exp(log_mass).reshape(s.shape[0], gaps.size, u.size) @ weight
    part *= half[:, None] * gaps
    ends = []
    for row, column, sign in ((0, 0, 1), (-1, -1, -1)):
        # Beyond the table the density of s is exponential.
        pair = np.array([s[row, column], s[row, column + sign]])
        log_p = np.array([value[row, column], value[row, column + sign]]) + _log_angle_slope(pair)
        slope = (log_p[1] - log_p[0]) / (pair[1] - pair[0])
        ends.append(np.exp(log_p[0]) / max(abs(slope), 1e-3))
    flat = part.ravel()
    below = ends[0] + np.concatenate([[0.0], np.cumsum(flat)])
    above = ends[1] + np.concatenate([np.cumsum(flat[::-1])[::-1], [0.0]])
    total = below[-1] + ends[1]
    index = (POINTS - 1) * np.arange(s.shape[0])[:, None] + np.arange(POINTS)
    mean = None
    if icc is not None:
        averaged = icc @ matrix(POINTS, inner)
        moments = (np.exp(log_mass) * averaged).reshape(s.shape[0], gaps.size, u.size) @ weight
        mean = float((moments * half[:, None] * gaps).sum() / total)
    rate = (np.exp(log_mass) / (1 + np.exp(-at))).reshape(s.shape[0], gaps.size, u.size) @ weight
    return MarginalTable(
        edges=np.concatenate([s[:, 0], s[-1:, -1]]),
        nodes=s,
        log_density=value - np.log(total),
        log_cdf=np.log(below[index] / total),
        log_sf=np.log(above[index] / total),
        mean_icc=mean,
        log_evidence=float(top + np.log(total)),
        mean_rate=float((rate * half[:, None] * gaps).sum() / total),
    )


def _log_angle_slope(s: Array) -> Array:
    """Log of dθ/ds = sin θ cos θ / 2."""
    return -0.5 * (np.logaddexp(0, -s) + np.logaddexp(0, s)) - np.log(2)

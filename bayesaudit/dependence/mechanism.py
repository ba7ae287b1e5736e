"""The epsilon of the mechanism behind several attacks, which is not the epsilon-hat of one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesaudit._checks import check_choice, check_number, check_prob, check_probability
from bayesaudit._interval import Interval, Kind
from bayesaudit._quadrature import legendre_rule
from bayesaudit._result import Result
from bayesaudit.counts import AttackCounts
from bayesaudit.dependence._strength import StrengthLikelihood

__all__ = ["MechanismPosterior", "mechanism_posterior"]

Array = NDArray[np.float64]

NODES = 10
#: The prior of ε is cut where its tail is below 1e-15.
PRIOR_REACH = 8.0


@dataclass(frozen=True, eq=False)
class MechanismPosterior(Result):
    """Posterior of a mechanism's ε and of the strength of the attacks on it.

    Made by `mechanism_posterior`. Its ε is the mechanism's, which bounds what any attack can reach;
    the ε̂ of an attack (`bayesaudit.posterior`) is what that attack did reach.

    Parameters
    ----------
    counts : AttackCounts, shape (n_attacks,)
        The data, echoed.
    delta : float
        δ of the mechanism's (ε, δ)-DP.
    epsilon_scale : float
        Scale of the half-normal prior of ε.
    strength_prior : tuple of float
        Shape parameters of the Beta prior of the strength s.
    """

    counts: AttackCounts
    delta: float
    epsilon_scale: float
    strength_prior: tuple[float, float]

    @cached_property
    def likelihood(self) -> StrengthLikelihood:
        """The likelihood of (ε, s), with the rates of the attacks integrated out."""
        return StrengthLikelihood(self.counts, self.delta, PRIOR_REACH * self.epsilon_scale)

    @cached_property
    def _grid(self) -> tuple[Array, Array, Array, Array, Array]:
        """Panel edges, ε (panels, nodes), and s, weight of each (ε, s) point."""
        edges = self.likelihood.edges
        u, _, weight = legendre_rule(NODES)
        a, b = self.strength_prior
        width = np.diff(edges)
        epsilon = edges[:-1, None] + width[:, None] * u
        strengths, weights = [], []
        # The lower level sε has the same bends as ε: integrate over it, panel by panel.
        for panel in range(width.size):
            for node in range(NODES):
                level = epsilon[panel, node]
                starts, ends = edges[: panel + 1], np.append(edges[1 : panel + 1], level)
                low = (starts[:, None] + (ends - starts)[:, None] * u).ravel()
                mass = ((ends - starts)[:, None] * weight).ravel() / level
                strengths.append(low / level)
                weights.append(mass)
        size = max(s.size for s in strengths)
        s = np.stack([np.pad(x, (0, size - x.size), constant_values=0.5) for x in strengths])
        ds = np.stack([np.pad(x, (0, size - x.size)) for x in weights])
        log_joint = np.full(s.shape, -np.inf)
        inside = ds > 0
        rows = np.broadcast_to(epsilon.reshape(-1, 1), s.shape)
        log_joint[inside] = self.likelihood(rows[inside], s[inside])
        log_joint += special.xlogy(a - 1, s) + special.xlog1py(b - 1, -s)
        log_joint -= 0.5 * (rows / self.epsilon_scale) ** 2
        top = log_joint.max()
        with np.errstate(divide="ignore"):
            joint = np.exp(log_joint - top) * ds
        d_epsilon = (width[:, None] * weight).reshape(-1, 1)
        total = float((joint * d_epsilon).sum())
        density = joint.sum(axis=1).reshape(epsilon.shape) / total
        return edges, epsilon, density, s, joint * d_epsilon / total

    @cached_property
    def _masses(self) -> tuple[Array, Array]:
        edges, _, density, _, _ = self._grid
        _, _, weight = legendre_rule(NODES)
        panel = density @ weight * np.diff(edges)
        return panel, np.concatenate([[0.0], np.cumsum(panel)])

    def cdf(self, epsilon: ArrayLike) -> Array:
        """Return P(mechanism's ε <= epsilon | data)."""
        edges, _, density, _, _ = self._grid
        _, below = self._masses
        x = np.asarray(epsilon, float)
        inside = np.clip(x, edges[0], edges[-1])
        panel = np.clip(np.searchsorted(edges, inside, side="right") - 1, 0, edges.size - 2)
        width = np.diff(edges)[panel]
        part = _partial(density[panel], (inside - edges[panel]) / width) * width
        return np.clip(below[panel] + part, 0.0, 1.0)[()]

    def sf(self, epsilon: ArrayLike) -> Array:
        """Return P(mechanism's ε > epsilon | data)."""
        return 1 - self.cdf(epsilon)

    def prob_above(self, epsilon: ArrayLike) -> Array:
        """Return P(mechanism's ε > epsilon | data), the answer to a claimed ε."""
        return self.sf(epsilon)

    def quantile(self, q: ArrayLike) -> Array:
        """Return the quantile of the mechanism's ε; q in [0, 1]."""
        q = np.asarray(q, float)
        if np.any((q < 0) | (q > 1) | np.isnan(q)):
            raise ValueError("q must be in [0, 1].")
        edges, _, _, _, _ = self._grid
        low, high = np.full(q.shape, edges[0]), np.full(q.shape, edges[-1])
        for _ in range(60):
            middle = (low + high) / 2
            under = self.cdf(middle) < q
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return ((low + high) / 2)[()]

    def median(self) -> Array:
        """Return the median of the mechanism's ε."""
        return self.quantile(0.5)

    def mean(self) -> float:
        """Return the mean of the mechanism's ε."""
        _, epsilon, _, _, weight = self._grid
        return float((weight.sum(axis=1) * epsilon.ravel()).sum())

    def interval(self, prob: float = 0.90, kind: Kind = "eti") -> Interval:
        """Return a credible interval of the mechanism's ε.

        Parameters
        ----------
        prob : float
            Mass of the two-sided interval.
        kind : {"eti", "lower", "upper"}
            Equal-tailed, or one end of that alone.
        """
        prob = check_prob(prob)
        check_choice(kind, "kind", ("eti", "lower", "upper"))
        lower, upper = self.quantile([(1 - prob) / 2, (1 + prob) / 2])
        return Interval(
            lower=float(lower) if kind != "upper" else 0.0,
            upper=float(upper) if kind != "lower" else np.inf,
            prob=prob,
            kind=kind,
            statement="credible",
            method="exact posterior of the mechanism's epsilon",
            guarantee="posterior mass",
        )

    def strength_mean(self) -> float:
        """Return the mean of the strength s of the attacks."""
        _, _, _, s, weight = self._grid
        return float((s * weight).sum())

    def strength_quantile(self, q: ArrayLike) -> Array:
        """Return the quantile of the strength s, to the resolution of the grid (about 1e-3)."""
        _, _, _, s, weight = self._grid
        order = np.argsort(s, axis=None)
        below = np.cumsum(weight.ravel()[order])
        return np.interp(q, below, s.ravel()[order])[()]

    def to_dict(self, prob: float = 0.90) -> dict[str, Any]:
        """Return plain JSON types, under names that no ε̂ bears."""
        lower, upper = self.interval(prob)
        tails = ((1 - prob) / 2, (1 + prob) / 2)
        return {
            "mechanism_epsilon": {
                "lower": lower,
                "upper": upper,
                "median": float(self.median()),
                "mean": self.mean(),
            },
            "strength": {
                "lower": float(self.strength_quantile(tails[0])),
                "upper": float(self.strength_quantile(tails[1])),
                "mean": self.strength_mean(),
            },
            "prob": prob,
            "delta": self.delta,
            "counts": self.counts.to_dict(),
            "epsilon_scale": self.epsilon_scale,
            "strength_prior": list(self.strength_prior),
        }


def _partial(values: Array, x: Array) -> Array:
    """Integral from 0 to x of the polynomial through values at the Legendre nodes of (0, 1)."""
    u, _, weight = legendre_rule(NODES)
    order = np.arange(NODES)
    at_nodes = special.eval_legendre(order[:, None], 2 * u - 1)
    coefficients = (values * weight) @ at_nodes.T * (2 * order + 1)
    t = 2 * np.asarray(x)[..., None] - 1
    ahead, behind = special.eval_legendre(order + 1, t), special.eval_legendre(order - 1, t)
    integral = np.where(order == 0, (t + 1) / 2, (ahead - behind) / (2 * (2 * order + 1)))
    return (coefficients * integral).sum(axis=-1)


def mechanism_posterior(
    counts: AttackCounts,
    delta: float,
    *,
    epsilon_scale: float = 10**0.5,
    strength_prior: tuple[float, float] = (1.0, 1.0),
) -> MechanismPosterior:
    """Return the posterior of a mechanism's ε from several attacks on it.

    An attack need not reach its mechanism's ε. Its rates are uniform on what (ε, δ)-DP allows and
    (sε, sδ)-DP does not, with a strength s common to the attacks: at s near 1 attacks are nearly
    optimal, and at s near 0 they say little.

    Parameters
    ----------
    counts : AttackCounts, shape (n_attacks,) or ()
        One tally an attack, each of independent trials.
    delta : float
        δ, in [0, 1).
    epsilon_scale : float
        ε ~ HalfNormal with this scale, > 0.
    strength_prior : tuple of float
        s ~ Beta(a, b), shape parameters > 0.

    Returns
    -------
    MechanismPosterior

    Notes
    -----
    The rates of an attack integrate out: with F the posterior CDF of its ε̂ under uniform priors
    and A(e, d) the area of the region R(e, d),
    ``p(X, Y | ε, s) ∝ [F(ε, δ) − F(sε, sδ)] / [A(ε, δ) − A(sε, sδ)]``. That leaves two parameters,
    and quadrature instead of Markov chains. The paper's bivariate normal counts are not here.

    References
    ----------
    Yildirim et al., "MCMC for Bayesian Estimation of Differential Privacy from Membership Inference
    Attacks", 2025, arXiv:2504.16683. Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199, Eq. 3.

    Examples
    --------
    >>> attacks = AttackCounts(fn=[35, 40], tp=[65, 60], fp=[25, 30], tn=[75, 70])
    >>> post = mechanism_posterior(attacks, 1e-5)
    >>> lower, upper = post.interval(0.90)
    >>> bool(0 < lower < post.median() < upper)
    True
    """
    if not isinstance(counts, AttackCounts):
        raise TypeError(f"counts must be AttackCounts, got {type(counts).__name__}.")
    counts = counts if counts.shape else counts[None]
    if len(counts.shape) != 1 or counts.shape[0] < 1:
        raise ValueError(f"counts must hold one tally an attack, got shape {counts.shape}.")
    delta = check_probability(delta, "delta")
    if delta == 1:
        raise ValueError("delta must be < 1: (epsilon, 1)-DP allows everything.")
    scale = check_number(epsilon_scale, "epsilon_scale")
    if not 0 < scale < np.inf:
        raise ValueError(f"epsilon_scale must be finite and > 0, got {scale!r}.")
    shapes = tuple(check_number(shape, "strength_prior") for shape in strength_prior)
    if len(shapes) != 2 or not all(0 < shape < np.inf for shape in shapes):
        raise ValueError(f"strength_prior must be two numbers > 0, got {strength_prior!r}.")
    return MechanismPosterior(counts, delta, scale, shapes)

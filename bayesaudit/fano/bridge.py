"""The bridge from a posterior of epsilon to a posterior of the advantage."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_prob
from bayesaudit._result import Result

__all__ = ["AdvantagePosterior", "posterior_advantage"]

_NODES = np.polynomial.legendre.leggauss(24)
_PANELS = (0.0, 1e-6, 1e-4, 1e-2, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6, 1.0)


class EpsilonPosterior(Protocol):
    """What the bridge needs of a posterior of epsilon: its distribution, both ways."""

    def cdf(self, x: Any) -> Any:
        """Return P(epsilon <= x)."""
        ...

    def quantile(self, q: Any) -> Any:
        """Return the level that epsilon is below with probability q."""
        ...


@dataclass(frozen=True, slots=True)
class AdvantagePosterior(Result):
    """Posterior of ``bound(epsilon)``; credible statements about a number, made by `bound`.

    Attributes
    ----------
    epsilon : EpsilonPosterior
        The posterior of epsilon that was pushed forward.
    bound : callable
        Non-decreasing map from epsilon >= 0 to the advantage in [0, 1].
    """

    epsilon: EpsilonPosterior
    bound: Callable[[float], float]

    def _map(self, epsilon: float) -> float:
        return float(self.bound(float(epsilon)))

    def quantile(self, q: ArrayLike) -> float | NDArray[np.float64]:
        """Return the advantage that is not exceeded with posterior probability q."""
        levels = np.asarray(q, dtype=float)
        values = [self._map(np.squeeze(self.epsilon.quantile(float(x)))) for x in levels.flat]
        return float(values[0]) if levels.ndim == 0 else np.reshape(values, levels.shape)

    def interval(
        self, prob: float, *, kind: Literal["eti", "lower", "upper"] = "eti"
    ) -> tuple[float, float]:
        """Return a credible interval of mass `prob`: equal tails, or one-sided in [0, 1]."""
        check_choice(kind, "kind", ("eti", "lower", "upper"))
        mass = check_prob(prob)
        if kind == "lower":
            return self.quantile(1.0 - mass), 1.0
        if kind == "upper":
            return 0.0, self.quantile(mass)
        return self.quantile(0.5 * (1.0 - mass)), self.quantile(0.5 * (1.0 + mass))

    def cdf(self, advantage: ArrayLike) -> float | NDArray[np.float64]:
        """Return P(bound(epsilon) <= advantage)."""
        levels = np.asarray(advantage, dtype=float)
        values = [self._cdf(float(x)) for x in levels.flat]
        return float(values[0]) if levels.ndim == 0 else np.reshape(values, levels.shape)

    def _cdf(self, level: float) -> float:
        if level >= 1.0:
            return 1.0
        if self._map(0.0) > level:
            return 0.0
        high = 1.0
        while self._map(high) <= level:
            high *= 2.0
            if high > 1e6:  # the bound never exceeds this level
                return 1.0
        low = 0.0 if high == 1.0 else 0.5 * high
        for _ in range(80):
            middle = 0.5 * (low + high)
            if self._map(middle) <= level:
                low = middle
            else:
                high = middle
        return float(np.squeeze(self.epsilon.cdf(low)))

    def sf(self, advantage: ArrayLike) -> float | NDArray[np.float64]:
        """Return P(bound(epsilon) > advantage)."""
        return 1.0 - self.cdf(advantage)

    def prob_above(self, advantage: ArrayLike) -> float | NDArray[np.float64]:
        """Return P(bound(epsilon) > advantage), under the name that posteriors use."""
        return self.sf(advantage)

    def mean(self) -> float:
        """Return the posterior mean: the quantile function integrated over panels of [0, 1]."""
        nodes, weights = _NODES
        total = 0.0
        for low, high in pairwise(_PANELS):
            levels = 0.5 * (high - low) * nodes + 0.5 * (high + low)
            total += 0.5 * (high - low) * float(weights @ np.asarray(self.quantile(levels)))
        return total

    def to_dict(self, prob: float = 0.9) -> dict[str, float]:
        """Return plain JSON types: the ends of a credible interval, median and mean."""
        lower, upper = self.interval(prob)
        return {
            "prob": prob,
            "lower": lower,
            "upper": upper,
            "median": self.quantile(0.5),
            "mean": self.mean(),
        }


def posterior_advantage(
    posterior: EpsilonPosterior, bound: Callable[[float], float]
) -> AdvantagePosterior:
    """Push a posterior of epsilon through a bound: the posterior of the advantage it implies.

    Parameters
    ----------
    posterior : object with `cdf` and `quantile`
        Such as ``ba.posterior(counts, ba.Epsilon(delta))``, exact or from draws; of one tally.
    bound : callable
        A non-decreasing function of epsilon in nats with values in [0, 1], for example
        ``lambda eps: ba.fano.pure_dp_advantage(eps, categories=10)``.

    Returns
    -------
    AdvantagePosterior
        With `quantile`, `interval`, `cdf`, `sf` and `mean`.

    Notes
    -----
    Quantiles of a monotone function are the function of the quantiles, so nothing is sampled.
    What the result says: *if* the mechanism's guarantee were the epsilon that this attack
    measured, no reconstruction adversary would gain more. The attack measures a lower end of the
    true epsilon, so that this is not a bound for stronger attacks.

    Examples
    --------
    >>> class Uniform:
    ...     def cdf(self, x):
    ...         return min(max(x, 0.0), 1.0)
    ...     def quantile(self, q):
    ...         return q
    >>> from bayesaudit.fano import humphries_advantage
    >>> result = posterior_advantage(Uniform(), humphries_advantage)
    >>> round(result.quantile(0.5), 6), round(result.cdf(result.quantile(0.25)), 6)
    (0.244919, 0.25)
    """
    for verb in ("cdf", "quantile"):
        if not callable(getattr(posterior, verb, None)):
            raise TypeError(f"posterior must have the method {verb!r}, got {type(posterior)!r}.")
    if not callable(bound):
        raise TypeError(f"bound must be a function of epsilon, got {bound!r:.60}.")
    return AdvantagePosterior(posterior, bound)

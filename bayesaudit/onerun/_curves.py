"""Trade-off curves with one parameter, for the f-DP bounds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bayesaudit import _gdp
from bayesaudit._checks import check_probability

__all__ = ["EpsilonDeltaCurve", "GaussianCurve", "LaplaceCurve", "TradeOffFamily"]

_ROOT_HALF = math.sqrt(0.5)


@runtime_checkable
class TradeOffFamily(Protocol):
    """A family of symmetric trade-off curves f, ordered by one parameter >= 0 (0 is no leakage).

    Any object with these members can be given as `curve`. The bounds need no more of a curve than
    the inverse of 1 - f.
    """

    name: str
    assumption: str

    def inverse(self, parameter: float) -> Callable[[float], float]:
        """Return the inverse of 1 - f at a parameter: a function from [0, 1] to [0, 1]."""
        ...

    def epsilon(self, parameter: float, delta: float) -> float:
        """Return the smallest epsilon with (epsilon, delta)-DP at a parameter."""
        ...

    def parameter(self, epsilon: float, delta: float) -> float:
        """Return the largest parameter with (epsilon, delta)-DP."""
        ...


@dataclass(frozen=True, slots=True)
class GaussianCurve:
    """Gaussian DP: f = T(N(0, 1), N(mu, 1)); the parameter is mu.

    References
    ----------
    Dong, Roth and Su, *Gaussian Differential Privacy* (JRSS-B 2022); arXiv:1905.02383.
    """

    name: str = "gaussian"
    assumption: str = (
        "assumes a Gaussian trade-off curve (mu-GDP), which (epsilon, delta)-DP does not give"
    )

    def inverse(self, parameter: float) -> Callable[[float], float]:
        """Return y -> Phi(Phi^-1(y) - mu)."""
        if parameter == 0:
            return lambda y: y
        from statistics import NormalDist

        quantile = NormalDist().inv_cdf
        erfc, mu = math.erfc, parameter

        def inverse(y: float) -> float:
            if 0.0 < y < 1.0:
                return 0.5 * erfc((mu - quantile(y)) * _ROOT_HALF)
            return 0.0 if y <= 0.0 else 1.0

        return inverse

    def epsilon(self, parameter: float, delta: float) -> float:
        """Return epsilon(delta) of mu-GDP; infinite at delta = 0 unless mu is 0."""
        return float(_gdp.gdp_epsilon(parameter, delta))

    def parameter(self, epsilon: float, delta: float) -> float:
        """Return the largest mu with (epsilon, delta)-DP."""
        return float(_gdp.gdp_mu(epsilon, delta))


@dataclass(frozen=True, slots=True)
class EpsilonDeltaCurve:
    """The curve of (epsilon, delta)-DP itself at a fixed delta; the parameter is epsilon.

    References
    ----------
    Wasserman and Zhou (JASA 2010), Theorem 2.4; Kairouz, Oh and Viswanath (ICML 2015).
    """

    delta: float
    name: str = "epsilon-delta"
    assumption: str = "(epsilon, delta)-DP alone, under any dependence between canaries"

    def __post_init__(self) -> None:
        check_probability(self.delta, "delta")

    def inverse(self, parameter: float) -> Callable[[float], float]:
        """Return y -> max(0, (y - delta) e^-epsilon, 1 - delta - e^epsilon (1 - y))."""
        delta, shrink = self.delta, math.exp(-parameter)
        grow = 1 / shrink if shrink > 0 else math.inf

        def inverse(y: float) -> float:
            gap = 1 - y
            high = 1 - delta - grow * gap if gap > 0 else 1 - delta
            return max(0.0, (y - delta) * shrink, high)

        return inverse

    def epsilon(self, parameter: float, delta: float) -> float:
        """Return the parameter, at the curve's own delta."""
        self._same(delta)
        return parameter

    def parameter(self, epsilon: float, delta: float) -> float:
        """Return epsilon, at the curve's own delta."""
        self._same(delta)
        return epsilon

    def _same(self, delta: float) -> None:
        if delta != self.delta:
            raise ValueError(f"delta must be the curve's own {self.delta!r}, got {delta!r}.")


@dataclass(frozen=True, slots=True)
class LaplaceCurve:
    """The Laplace mechanism: f = T(Lap(0, 1), Lap(theta, 1)); the parameter is theta.

    References
    ----------
    Dong, Roth and Su, *Gaussian Differential Privacy* (JRSS-B 2022); arXiv:1905.02383.
    """

    name: str = "laplace"
    assumption: str = (
        "assumes the Laplace mechanism's trade-off curve, which (epsilon, delta)-DP does not give"
    )

    def inverse(self, parameter: float) -> Callable[[float], float]:
        """Return the inverse of 1 - f, in its three pieces."""
        shrink = math.exp(-parameter)

        def inverse(y: float) -> float:
            if y <= 0.5:
                return max(y, 0.0) * shrink
            if y <= 1 - shrink / 2:
                return shrink / (4 * (1 - y))
            return 1 - (1 - y) / shrink if y < 1 else 1.0

        return inverse

    def epsilon(self, parameter: float, delta: float) -> float:
        """Return epsilon(delta) = max(0, theta + 2 log(1 - delta))."""
        return max(0.0, parameter + 2 * math.log1p(-delta)) if delta < 1 else 0.0

    def parameter(self, epsilon: float, delta: float) -> float:
        """Return the largest theta with (epsilon, delta)-DP."""
        return epsilon - 2 * math.log1p(-delta) if delta < 1 else math.inf

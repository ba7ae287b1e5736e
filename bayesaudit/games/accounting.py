"""Claims: what an accountant says of an implementation, with the neighbouring relation named.

The games substitute one record for another, so the relation that speaks of them is REPLACE_ONE. A
claim under ADD_OR_REMOVE is translated before anything is compared with it: it says less of a
substitution, and correct code must not be blamed for that.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from bayesaudit._checks import (
    check_choice,
    check_integers,
    check_nonnegative,
    check_number,
    check_probability,
)
from bayesaudit._gdp import gdp_delta, gdp_epsilon
from bayesaudit._result import Result

__all__ = [
    "ADD_OR_REMOVE",
    "REPLACE_ONE",
    "PrivacyClaim",
    "dpsgd_claim",
    "gaussian_claim",
    "noise_for_epsilon",
]

REPLACE_ONE = "REPLACE_ONE"
ADD_OR_REMOVE = "ADD_OR_REMOVE"
Relation = Literal["REPLACE_ONE", "ADD_OR_REMOVE"]

# Grid of the privacy-loss distribution. 1e-3 moves a calibrated noise multiplier by less than 1e-2
# (measured for the settings of the tests) and is four times quicker than 1e-4.
_DISCRETIZATION = 1e-3
# A calibrated noise multiplier is at most about this far above the least one, relative.
_CALIBRATION = 1e-4


@dataclass(frozen=True, slots=True)
class PrivacyClaim(Result):
    """An (epsilon, delta) guarantee, the relation it holds under and, if known, its whole curve.

    Parameters
    ----------
    epsilon : float
        Privacy parameter in nats at `delta`, >= 0 (infinity: no guarantee).
    delta : float
        Privacy parameter in [0, 1].
    relation : {"REPLACE_ONE", "ADD_OR_REMOVE"}
        The neighbouring relation of the guarantee.
    curve : callable, optional
        ``curve(epsilon) -> delta`` for any epsilon >= 0 under the same relation. Without it the
        curve is the one that the pair implies.

    Examples
    --------
    >>> claim = PrivacyClaim(1.0, 1e-5)
    >>> round(claim.delta_at(0.0), 4)
    0.4621
    >>> round(PrivacyClaim(1.0, 1e-5, "ADD_OR_REMOVE").substitution().epsilon, 4)
    2.0
    """

    epsilon: float
    delta: float
    relation: Relation = REPLACE_ONE
    curve: Callable[[float], float] | None = None

    _omit = ("relation", "curve")
    _also = ("neighboring_relation=relation", "max_accuracy")

    def __post_init__(self) -> None:
        if check_number(self.epsilon, "epsilon") < 0:
            raise ValueError(f"epsilon must be >= 0, got {self.epsilon!r}.")
        check_probability(self.delta, "delta")
        check_choice(self.relation, "relation", (REPLACE_ONE, ADD_OR_REMOVE))

    def delta_at(self, epsilon: float) -> float:
        """Return the claimed delta at another epsilon >= 0, in [0, 1].

        Notes
        -----
        Without a curve: an (e, d)-DP mechanism is dominated by the pair's own trade-off, for which
        delta(epsilon) = max(0, d + (1 - d)(exp(e) - exp(epsilon))/(exp(e) + 1)) below e and d at
        and above it (Kairouz, Oh & Viswanath 2015, Theorem 3.2 with one mechanism).
        """
        epsilon = check_nonnegative(epsilon, "epsilon")
        if self.curve is not None:
            return min(1.0, max(0.0, float(self.curve(epsilon))))
        if epsilon >= self.epsilon:
            return self.delta
        # (exp(e) - exp(epsilon)) / (exp(e) + 1), without overflow.
        share = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return self.delta + (1 - self.delta) * share

    @property
    def max_accuracy(self) -> float:
        """The largest accuracy of any guess at a fair coin: (1 + delta(0)) / 2, REPLACE_ONE."""
        return (1 + self.substitution().delta_at(0.0)) / 2

    def substitution(self) -> "PrivacyClaim":
        """Return the claim in terms of substitution (REPLACE_ONE).

        Notes
        -----
        A substitution is a removal and an addition. The pair becomes
        (2 epsilon, (1 + exp(epsilon)) delta) by group privacy; the curve becomes
        delta'(epsilon) = (1 + exp(epsilon / 2)) delta(epsilon / 2), at epsilon = 0 the triangle
        inequality 2 delta(0). An upper bound; an accountant run under REPLACE_ONE is sharper.
        """
        if self.relation == REPLACE_ONE:
            return self
        claimed = self

        def curve(epsilon: float) -> float:
            return (1 + math.exp(min(epsilon, 1400.0) / 2)) * claimed.delta_at(epsilon / 2)

        factor = 1 + math.exp(min(self.epsilon, 700.0))
        delta = min(1.0, factor * self.delta)
        return PrivacyClaim(2 * self.epsilon, delta, REPLACE_ONE, curve)


def gaussian_claim(mu: float, delta: float) -> PrivacyClaim:
    """Return the claim of mu-Gaussian differential privacy.

    Parameters
    ----------
    mu : float
        Distance of the two Gaussians in standard deviations, >= 0.
    delta : float
        Where epsilon is reported, in (0, 1).

    References
    ----------
    .. [1] Dong, Roth & Su (2022), Gaussian differential privacy, Corollary 1. arXiv:1905.02383.

    Examples
    --------
    >>> round(gaussian_claim(1.0, 1e-5).epsilon, 4)
    4.3772
    """
    mu = check_nonnegative(mu, "mu")
    delta = check_probability(delta, "delta")
    epsilon = float(gdp_epsilon(mu, delta))
    return PrivacyClaim(epsilon, delta, REPLACE_ONE, _GaussianCurve(mu))


@dataclass(frozen=True, slots=True)
class _GaussianCurve:
    """delta(epsilon) of mu-GDP."""

    mu: float

    def __call__(self, epsilon: float) -> float:
        return float(gdp_delta(self.mu, epsilon))


@cache
def _accountant(sigma: float, rate: float, steps: int, relation: str, discretization: float) -> Any:
    try:
        import dp_accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError:
        raise ImportError(
            "accounting of DP-SGD needs dp-accounting: pip install 'bayesaudit[games]'."
        ) from None
    neighbours = getattr(dp_accounting.NeighboringRelation, _DP_ACCOUNTING_NAMES[relation])
    accountant = PLDAccountant(neighbours, value_discretization_interval=discretization)
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    return accountant.compose(dp_accounting.SelfComposedDpEvent(step, steps))


_DP_ACCOUNTING_NAMES = {REPLACE_ONE: "REPLACE_ONE", ADD_OR_REMOVE: "ADD_OR_REMOVE_ONE"}


@dataclass(frozen=True, slots=True)
class _AccountantCurve:
    """delta(epsilon) of DP-SGD; it pickles as its parameters."""

    arguments: tuple[float, float, int, str, float]

    def __call__(self, epsilon: float) -> float:
        return float(_accountant(*self.arguments).get_delta(epsilon))


def dpsgd_claim(
    *,
    noise_multiplier: float,
    sampling_rate: float,
    n_steps: int,
    delta: float = 1e-5,
    relation: Relation = REPLACE_ONE,
    discretization: float = _DISCRETIZATION,
) -> PrivacyClaim:
    """Account for DP-SGD with Poisson sampling, by dp-accounting's privacy-loss distributions.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation over the clipping norm, >= 0; 0 gives an infinite epsilon.
    sampling_rate : float
        Probability that a record joins a batch, in (0, 1].
    n_steps : int
        Number of steps, >= 1.
    delta : float
        Where epsilon is reported, in (0, 1).
    relation : {"REPLACE_ONE", "ADD_OR_REMOVE"}
        Neighbouring relation. A substitution moves a clipped sum by up to twice the clipping norm.
    discretization : float
        Grid of the privacy-loss distribution, > 0.

    Returns
    -------
    PrivacyClaim
        With the accountant's whole curve.

    References
    ----------
    .. [1] Doroshenko et al. (2022), Connect the dots: tighter discrete approximations of privacy
       loss distributions. arXiv:2207.04380.

    Examples
    --------
    >>> claim = dpsgd_claim(noise_multiplier=2.0, sampling_rate=1.0, n_steps=1)
    >>> claim.relation, round(claim.epsilon, 2)  # GDP with mu = 2 / 2
    ('REPLACE_ONE', 4.38)
    """
    sigma = check_nonnegative(noise_multiplier, "noise_multiplier")
    rate = check_number(sampling_rate, "sampling_rate")
    if not 0 < rate <= 1:
        raise ValueError(f"sampling_rate must be in (0, 1], got {rate!r}.")
    steps = int(check_integers(n_steps, "n_steps", minimum=1))
    delta = check_probability(delta, "delta")
    check_choice(relation, "relation", tuple(_DP_ACCOUNTING_NAMES))
    if sigma == 0:
        return PrivacyClaim(math.inf, delta, relation, lambda epsilon: 1.0)
    curve = _AccountantCurve((sigma, rate, steps, relation, discretization))
    epsilon = float(_accountant(*curve.arguments).get_epsilon(delta))
    return PrivacyClaim(epsilon, delta, relation, curve)


def noise_for_epsilon(
    epsilon: float,
    *,
    sampling_rate: float,
    n_steps: int,
    delta: float = 1e-5,
    relation: Relation = REPLACE_ONE,
) -> float:
    """Return the least noise multiplier at which DP-SGD's epsilon is at most `epsilon`.

    Parameters
    ----------
    epsilon : float
        Target in nats, > 0.
    sampling_rate, n_steps, delta, relation
        As in `dpsgd_claim`.

    Returns
    -------
    float
        Noise standard deviation over the clipping norm, on the safe side: the epsilon of
        `dpsgd_claim` at it is at most the target, and at 2e-4 less noise (relative) it is not.

    Examples
    --------
    >>> sigma = noise_for_epsilon(4.0, sampling_rate=1.0, n_steps=20)
    >>> round(sigma, 1)
    9.7
    >>> dpsgd_claim(noise_multiplier=sigma, sampling_rate=1.0, n_steps=20).epsilon <= 4.0
    True
    """
    target = check_number(epsilon, "epsilon")
    if not 0 < target < math.inf:
        raise ValueError(f"epsilon must be > 0 and finite, got {target!r}.")

    def reached(log_sigma: float) -> float:
        claim = dpsgd_claim(
            noise_multiplier=math.exp(log_sigma),
            sampling_rate=sampling_rate,
            n_steps=n_steps,
            delta=delta,
            relation=relation,
        )
        return claim.epsilon

    def excess(log_sigma: float) -> float:
        return math.log(max(reached(log_sigma), 1e-9) / target)

    from scipy.optimize import brentq

    # Come down from more noise than a full batch needs: little noise makes wide distributions,
    # which are slow.
    high = math.log(10 * math.sqrt(n_steps) / target)
    while excess(high) > 0:
        high += 0.7
    low = high - 0.5
    while excess(low) < 0:
        low, high = low - 0.5, low
    root = brentq(excess, low, high, xtol=_CALIBRATION)
    while reached(root) > target:  # brentq's root may lie on either side
        root += _CALIBRATION
    return math.exp(root)

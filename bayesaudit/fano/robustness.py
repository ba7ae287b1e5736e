"""Roads to the success of a reconstruction attack that do not pass through the information.

Each function returns a bound on s, the probability that the guess is right, from a privacy
guarantee and p*, the success of a guess made without the output (reconstruction robustness with
the 0-1 loss). They broadcast over the guarantee and over p*. The relation under which the
guarantee must hold is stated by each: "add-or-remove-one" compares the output with the record to
the output without it (a reference distribution that does not depend on the secret).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesaudit._checks import check_choice
from bayesaudit.fano._arrays import nonnegative, plain
from bayesaudit.fano._prior import Prior, as_prior, check_categories
from bayesaudit.fano._solver import phi
from bayesaudit.fano.information import RELATIONS, NeighboringRelation

__all__ = [
    "pure_dp_advantage",
    "renyi_fano",
    "rero_approximate_dp",
    "rero_gdp",
    "rero_rdp",
    "rero_tradeoff",
    "rero_zcdp",
    "tradeoff_fixed_point",
]


def _base(values: Any) -> NDArray[np.float64]:
    base = np.asarray(values)
    if base.dtype.kind not in "iuf" or not ((base > 0) & (base <= 1)).all():
        raise ValueError(f"base_success must be in (0, 1], got {values!r:.60}.")
    return base.astype(float)


def _orders(values: Any) -> NDArray[np.float64]:
    orders = np.asarray(values)
    if orders.dtype.kind not in "iuf" or not (orders >= 1).all():
        raise ValueError(f"order must be >= 1, got {values!r:.60}.")
    return orders.astype(float)


def pure_dp_advantage(
    epsilon: ArrayLike,
    *,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    neighboring_relation: NeighboringRelation = "add-or-remove-one",
) -> float | NDArray[np.float64]:
    """Return the largest advantage against pure differential privacy, for any prior.

    Parameters
    ----------
    epsilon : array_like
        Privacy parameter in nats, >= 0.
    categories, prior
        The secret, as in `advantage`.
    neighboring_relation : {"add-or-remove-one", "replace-one"}
        "replace-one" is exact: ``s = max_k P_k/(1 + (k-1) e^-epsilon)`` with P_k the sum of the k
        largest probabilities; randomised response on those k letters attains it.
        "add-or-remove-one" is the bound ``min(p* e^epsilon, 1 - (1-p*) e^-epsilon)``.

    Returns
    -------
    float or ndarray
        The advantage; exactly 0 for a skewed prior and a small epsilon.

    References
    ----------
    Kairouz, Oh and Viswanath (2016), *Extremal mechanisms for local differential privacy*,
    arXiv:1407.1338 (the optimality of randomised response and of staircase channels).

    Examples
    --------
    >>> round(pure_dp_advantage(1.0, categories=10), 12)
    0.190920203162
    >>> round(pure_dp_advantage(1.0, categories=10, neighboring_relation="replace-one"), 12)
    0.146632574093
    >>> pure_dp_advantage(1.0, prior=[0.7, 0.2, 0.1], neighboring_relation="replace-one")
    0.0
    """
    check_choice(neighboring_relation, "neighboring_relation", RELATIONS)
    value = nonnegative(epsilon, "epsilon")
    law = as_prior(categories, prior)
    if law.delta:
        return plain(np.zeros_like(value))
    shrink, gone = np.exp(-value), -np.expm1(-value)
    if neighboring_relation == "add-or-remove-one":
        odds = law.largest / law.rest
        with np.errstate(over="ignore"):
            return plain(np.minimum(odds * np.expm1(value), gone))
    if law.weights is None:
        return plain(gone / (1.0 + (law.categories - 1.0) * shrink))
    flat = [_pure_dp(law, float(r), float(g)) for r, g in zip(shrink.flat, gone.flat, strict=True)]
    return plain(np.reshape(flat, value.shape))


def _pure_dp(law: Prior, shrink: float, gone: float) -> float:
    weights = law.weights
    assert weights is not None
    # s - p* = sum_{i=2..k} (p_i - p_1 e^-eps) / (1 + (k-1) e^-eps)
    gains = np.cumsum((weights[1:] - weights[0]) + weights[0] * gone)
    best = (gains / (1.0 + np.arange(1.0, weights.size) * shrink)).max()
    return min(max(best, 0.0) / law.rest_weight, 1.0)


def renyi_fano(
    epsilon: ArrayLike, order: ArrayLike, base_success: ArrayLike
) -> float | NDArray[np.float64]:
    """Bound the success by data processing: the largest s with ``d_alpha(s || p*) <= epsilon``.

    Parameters
    ----------
    epsilon : array_like
        Rényi divergence of `order` of the output with the record from the output without it
        (add-or-remove-one), in nats, >= 0.
    order : array_like
        alpha >= 1; 1 is the Han-Verdu bound (Fano for a uniform prior). Optimise over the orders
        that an accountant gives: take the minimum.
    base_success : array_like
        p* in (0, 1].

    Returns
    -------
    float or ndarray
        Bound on s; never above `rero_rdp`, which drops one of the two terms.

    Notes
    -----
    ``d_alpha(s || q) = log(s^alpha q^(1-alpha) + (1-s)^alpha (1-q)^(1-alpha))/(alpha - 1)``,
    evaluated as ``log1p((alpha-1) d_1 + e)/(alpha-1)`` with every term non-negative, so that
    orders next to 1 lose no digits.

    References
    ----------
    van Erven and Harremoes (2014), *Rényi divergence and Kullback-Leibler divergence*,
    arXiv:1206.2459 (data processing).

    Examples
    --------
    >>> round(renyi_fano(1.0, 2.0, 0.1), 12)
    0.49324974833
    """
    budget, orders, base = np.broadcast_arrays(
        nonnegative(epsilon, "epsilon"), _orders(order), _base(base_success)
    )
    beta, rest = orders - 1.0, 1.0 - base
    finite = np.isfinite(beta)
    inside = (budget > 0) & (budget < -np.log(base))
    safe = np.where(base < 1.0, base, 0.5)
    low, high = np.full(budget.shape, -690.0), np.zeros(budget.shape)
    for _ in range(64):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore", invalid="ignore"):
            value = _renyi(np.exp(middle), np.where(finite, beta, 1.0), safe)
        under = value <= budget
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    success = base + rest * np.exp(high)
    success = np.where(finite, success, np.minimum(base * np.exp(np.minimum(budget, 700.0)), 1.0))
    return plain(np.where(inside, success, np.where(budget > 0, 1.0, base)))


def _renyi(
    y: NDArray[np.float64], beta: NDArray[np.float64], base: NDArray[np.float64]
) -> NDArray[np.float64]:
    """d_{1+beta}(s || p*) at the advantage y, in (0, 1)."""
    rest = 1.0 - base
    u = y * rest / base
    log_up, log_down = np.log1p(u), np.log1p(-np.minimum(y, 1.0 - 2.0**-53))
    first = base * phi(u) + rest * phi(-y)
    powers = base * (1.0 + u) * _expm1_minus(np.minimum(beta * log_up, 600.0))
    powers = powers + rest * (1.0 - y) * _expm1_minus(beta * log_down)
    positive = np.where(beta > 0, beta, 1.0)
    value = np.where(beta > 0, np.log1p(positive * first + powers) / positive, first)
    huge = np.log(base) + (1.0 + beta) * log_up
    return np.where(beta * log_up > 600.0, huge / positive, value)


def _expm1_minus(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x - 1 - x without cancellation."""
    near = np.abs(x) < 0.5
    if not near.any():
        return np.expm1(x) - x
    small = np.where(near, x, 0.0)
    series = np.ones_like(small)
    for n in range(16, 2, -1):
        series *= small / n
        series += 1.0
    large = np.where(near, 1.0, x)
    return np.where(near, 0.5 * small * small * series, np.expm1(large) - large)


def rero_rdp(
    epsilon: ArrayLike, order: ArrayLike, base_success: ArrayLike
) -> float | NDArray[np.float64]:
    """Bound the success by ``(p* e^epsilon)^((alpha-1)/alpha)`` (Balle et al. 2022).

    The parameters are those of `renyi_fano` (add-or-remove-one), which is never worse.

    References
    ----------
    Balle, Cherubin and Hayes (2022), *Reconstructing training data with informed adversaries*,
    arXiv:2201.04845.

    Examples
    --------
    >>> round(rero_rdp(1.0, 2.0, 0.1), 12)
    0.521371444218
    """
    budget, orders, base = nonnegative(epsilon, "epsilon"), _orders(order), _base(base_success)
    power = np.where(np.isfinite(orders), 1.0 - 1.0 / orders, 1.0)
    log_bound = np.minimum(power * np.minimum(np.log(base) + budget, 0.0), 0.0)
    return plain(np.exp(log_bound))


def rero_zcdp(rho: ArrayLike, base_success: ArrayLike) -> float | NDArray[np.float64]:
    """Bound the success under rho-zCDP: ``exp(-(sqrt(log 1/p*) - sqrt(rho))^2)``.

    Parameters
    ----------
    rho : array_like
        zCDP parameter (add-or-remove-one) in nats, >= 0.
    base_success : array_like
        p* in (0, 1].

    References
    ----------
    Bun and Steinke (2016), arXiv:1605.02065; Balle, Cherubin and Hayes (2022),
    arXiv:2201.04845, optimised over orders.

    Examples
    --------
    >>> round(rero_zcdp(0.1, 0.5), 12)
    0.765984449001
    """
    gap = np.sqrt(-np.log(_base(base_success))) - np.sqrt(nonnegative(rho, "rho"))
    return plain(np.exp(-(np.maximum(gap, 0.0) ** 2)))


def rero_gdp(mu: ArrayLike, base_success: ArrayLike) -> float | NDArray[np.float64]:
    """Bound the success under mu-Gaussian differential privacy: ``Phi(Phi^-1(p*) + mu)``.

    Parameters
    ----------
    mu : array_like
        GDP parameter (add-or-remove-one), >= 0; 1/z for one full-batch step.
    base_success : array_like
        p* in (0, 1].

    References
    ----------
    Dong, Roth and Su (2022), arXiv:1905.02383; Hayes, Mahloujifar and Balle (2023),
    arXiv:2302.07225; Kaissis et al. (2023), arXiv:2307.03928.

    Examples
    --------
    >>> round(rero_gdp(1.0, 0.1), 12)
    0.389143691645
    """
    base, shift = _base(base_success), nonnegative(mu, "mu")
    return plain(special.ndtr(special.ndtri(base) + shift))


def rero_tradeoff(tradeoff: Callable[[float], float], base_success: float) -> float:
    """Bound the success by ``1 - f(p*)`` from any trade-off function.

    Parameters
    ----------
    tradeoff : callable
        f: [0, 1] -> [0, 1], the least type II error at a type I error, of the output without the
        record against the output with it (add-or-remove-one).
    base_success : float
        p* in (0, 1].

    References
    ----------
    Kulynych et al. (2025), arXiv:2507.06969.

    Examples
    --------
    >>> rero_tradeoff(lambda x: max(0.0, 1 - 2 * x, (1 - x) / 2), 0.25)
    0.5
    """
    base = float(_base(base_success))
    return min(max(1.0 - float(tradeoff(base)), base), 1.0)


def rero_approximate_dp(epsilon: ArrayLike, delta: ArrayLike, base_success: float) -> float:
    """Bound the success by the best of the (epsilon, delta) guarantees of a mechanism.

    Parameters
    ----------
    epsilon, delta : array_like, equal shapes
        Points of the privacy profile (add-or-remove-one), epsilon >= 0 in nats.
    base_success : float
        p* in (0, 1].

    Returns
    -------
    float
        ``min over points of min(e^epsilon p* + delta, 1 - e^-epsilon (1 - p* - delta))``: with
        the whole profile, ``1 - f(p*)`` of the mechanism's trade-off function.

    References
    ----------
    Dong, Roth and Su (2022), arXiv:1905.02383 (the trade-off function of a privacy profile);
    Kulynych et al. (2025), arXiv:2507.06969.

    Examples
    --------
    >>> round(rero_approximate_dp([0.5, 1.0], [0.01, 1e-5], 0.1), 6)
    0.174872
    """
    eps, slack = nonnegative(epsilon, "epsilon"), nonnegative(delta, "delta")
    if eps.shape != slack.shape:
        raise ValueError(
            f"epsilon and delta must have equal shapes, got {eps.shape}, {slack.shape}."
        )
    base = float(_base(base_success))
    with np.errstate(over="ignore"):
        first = np.exp(eps) * base + slack
    second = 1.0 - np.exp(-eps) * np.maximum(1.0 - base - slack, 0.0)
    return float(min(np.min(first), np.min(second), 1.0))


def tradeoff_fixed_point(tradeoff: Callable[[float], float], *, categories: int) -> float:
    """Bound the success on M equally likely values by the fixed point ``f(e/(M-1)) = e``.

    Parameters
    ----------
    tradeoff : callable
        Trade-off function between the outputs under any two values of the secret (replace-one).
    categories : int
        M >= 2.

    Returns
    -------
    float
        ``1 - e``. Never above ``1 - f(1/M)`` with the same f; exact for M = 2 and for pure DP.

    Notes
    -----
    The M decision regions are disjoint, so that the errors of the pairwise tests built from them
    must fit together; convexity of f gives the fixed point for their mean.

    References
    ----------
    Dong, Roth and Su (2022), arXiv:1905.02383 (trade-off functions); the fixed point follows from
    the argument in the notes.

    Examples
    --------
    >>> from scipy.special import ndtr, ndtri
    >>> round(tradeoff_fixed_point(lambda x: ndtr(-ndtri(x) - 4.0), categories=100), 12)
    0.849829500532
    """
    room = check_categories(categories) - 1.0
    top = room / (room + 1.0)
    if float(tradeoff(top / room)) >= top:  # no privacy loss at all
        return 1.0 - top
    low, high = -690.0, float(np.log(top))
    if float(tradeoff(np.exp(low) / room)) < np.exp(low):
        return 1.0
    for _ in range(64):
        middle = 0.5 * (low + high)
        guess = np.exp(middle)
        if float(tradeoff(guess / room)) >= guess:
            low = middle
        else:
            high = middle
    return float(1.0 - np.exp(low))

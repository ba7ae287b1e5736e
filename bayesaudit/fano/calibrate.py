"""From a target advantage to the noise, or the guarantee, that keeps every adversary below it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesaudit._checks import check_choice, check_integers, check_prob, check_probability
from bayesaudit._result import Result
from bayesaudit.fano._prior import Prior, as_prior
from bayesaudit.fano.accounting import profile_success
from bayesaudit.fano.information import (
    RELATIONS,
    NeighboringRelation,
    rdp_information,
    subsampled_gaussian_kl,
)
from bayesaudit.fano.inversion import METHODS, Method, advantage
from bayesaudit.fano.robustness import pure_dp_advantage, renyi_fano, rero_gdp

__all__ = ["Calibration", "calibrate_epsilon", "calibrate_noise", "information_budget"]


@dataclass(frozen=True, slots=True)
class Calibration(Result):
    """The parameter that meets a target, and the bound that it gives.

    Attributes
    ----------
    value : float
        The noise multiplier or epsilon; on the safe side of the exact one.
    parameter : str
        "noise_multiplier" or "epsilon".
    target_advantage : float
        What was asked for.
    advantage : float
        The bound at `value`, at most the target.
    method : str
        The bound that was used.
    neighboring_relation : str
        The relation of the guarantee.
    """

    value: float
    parameter: str
    target_advantage: float
    advantage: float
    method: str
    neighboring_relation: str


def _keywords(law: Prior) -> dict[str, Any]:
    return {"categories": law.categories} if law.uniform else {"prior": law}


def _largest(allowed: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest allowed log-value in [low, high], from below."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        if allowed(middle):
            low = middle
        else:
            high = middle
    return low


def information_budget(
    target_advantage: float,
    *,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    method: Method = "erokhin",
) -> float:
    """Return the largest mutual information in nats at which the advantage is within a target.

    Parameters
    ----------
    target_advantage : float
        In (0, 1).
    categories, prior, method
        As in `advantage`.

    Examples
    --------
    >>> budget = information_budget(0.1, categories=10)
    >>> advantage(budget, categories=10) <= 0.1
    True
    """
    target = check_prob(target_advantage, "target_advantage")
    check_choice(method, "method", METHODS)
    law = as_prior(categories, prior)
    if law.delta:
        return np.inf
    keywords = _keywords(law)
    if advantage(0.0, method=method, **keywords) > target:
        raise ValueError(
            f"target_advantage {target:g} is below the {method} bound at zero information."
        )
    log_value = _largest(
        lambda x: advantage(float(np.exp(x)), method=method, **keywords) <= target,
        -660.0,
        float(np.log(law.entropy)),
    )
    return float(np.exp(log_value))


def calibrate_noise(
    target_advantage: float,
    *,
    sampling_rate: float = 1.0,
    steps: int = 1,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    bound: Literal["erokhin", "paper", "han-verdu", "best"] = "erokhin",
) -> Calibration:
    """Return the least DP-SGD noise multiplier that keeps every adversary below a target.

    Parameters
    ----------
    target_advantage : float
        In (0, 1).
    sampling_rate : float
        Poisson sampling rate q in [0, 1] (add-or-remove-one).
    steps : int
        T >= 1.
    categories, prior
        The secret, as in `advantage`.
    bound : {"erokhin", "paper", "han-verdu", "best"}
        From the information alone (no accountant needed), or the smallest of all bounds, found to
        1e-3 relative; for sampling rates below 1 it needs dp-accounting.

    Examples
    --------
    >>> found = calibrate_noise(0.1, sampling_rate=0.01, steps=1000, categories=10)
    >>> round(found.value, 3), found.advantage <= 0.1
    (1.345, True)
    """
    target = check_prob(target_advantage, "target_advantage")
    check_choice(bound, "bound", (*METHODS, "best"))
    rate = check_probability(sampling_rate, "sampling_rate")
    count = int(check_integers(steps, "steps", minimum=1))
    law = as_prior(categories, prior)
    if law.delta or rate == 0:
        raise ValueError("nothing is revealed: the advantage is 0 without noise.")
    keywords = _keywords(law)
    method = "erokhin" if bound == "best" else bound
    budget = information_budget(target, method=method, **keywords)

    def within(log_noise: float) -> bool:
        return count * subsampled_gaussian_kl(float(np.exp(log_noise)), rate) <= budget

    safe = 0.0
    while not within(safe):
        safe += 1.0
    low = safe - 1.0
    while within(low):
        low -= 1.0
    noise = float(np.exp(-_largest(lambda x: within(-x), -safe, -low)))
    value = advantage(count * subsampled_gaussian_kl(noise, rate), method=method, **keywords)
    if bound == "best":
        best, found = _best_noise(target, law, rate, count)
        if best < noise:
            noise, value = best, found
    return Calibration(
        value=noise,
        parameter="noise_multiplier",
        target_advantage=target,
        advantage=float(value),
        method=bound,
        neighboring_relation="add-or-remove-one",
    )


def _best_noise(target: float, law: Prior, rate: float, steps: int) -> tuple[float, float]:
    """Return the least noise that the trade-off function allows, and the bound there.

    The trade-off function of DP-SGD implies its Rényi and information bounds, so that it is the
    smallest. At rate 1 it is Gaussian; else a coarse grid leads to the root, and a fine one, which
    is never too small, has the last word.
    """
    from scipy.special import expit, logit, ndtri

    success = law.largest + target * law.rest
    distance = float(ndtri(success) - ndtri(law.largest))

    def excess(log_noise: float, grid: float) -> float:
        noise = float(np.exp(log_noise))
        if rate == 1:
            found = float(rero_gdp(np.sqrt(steps) / noise, law.largest))
        else:
            found = profile_success(noise, rate, steps, law.largest, discretization=grid)
        gained = np.clip((found - law.largest) / law.rest, 1e-300, 1.0 - 2.0**-53)
        return float(logit(gained) - logit(target))  # nearly a straight line in log_noise

    if rate == 1:
        near = float(np.log(np.sqrt(steps) / distance))
        log_noise, over = _safe_root(lambda x: excess(x, 0.0), near, -2.0, 1e-9)
    else:
        # Where the central limit theorem puts it: mu = q sqrt(T (e^(1/z^2) - 1)) (Bu et al. 2020,
        # arXiv:1911.11607).
        guess = -0.5 * float(np.log(np.log1p(distance**2 / (steps * rate**2))))
        near, _ = _safe_root(lambda x: excess(x, 1e-2), guess, -2.0, 3e-2)
        log_noise, over = _safe_root(lambda x: excess(x, 1e-3), near, -2.0, 1e-3)
    return float(np.exp(log_noise)), float(expit(logit(target) + over))


def _safe_root(
    excess: Callable[[float], float], start: float, slope: float, step: float
) -> tuple[float, float]:
    """Return (x, excess(x)) on the safe side, excess(x) <= 0, about `step` above the root.

    `excess` falls with x, by about `slope` at first. The secant method, aimed half a step too far.
    """
    x, value = start, excess(start)
    while not -step * abs(slope) <= value <= 0:
        last = (x, value)
        move = -value / slope + 0.5 * step if slope < 0 else np.copysign(1.0, value)
        x += float(np.clip(move, -1.0, 1.0))
        value = excess(x)
        slope = (value - last[1]) / (x - last[0])
    return x, value


def calibrate_epsilon(
    target_advantage: float,
    *,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    guarantee: Literal["pure-dp", "rdp"] = "pure-dp",
    order: float | None = None,
    neighboring_relation: NeighboringRelation = "add-or-remove-one",
) -> Calibration:
    """Return the largest epsilon of a guarantee that keeps every adversary below a target.

    Parameters
    ----------
    target_advantage : float
        In (0, 1).
    categories, prior
        The secret, as in `advantage`.
    guarantee : {"pure-dp", "rdp"}
        "pure-dp" uses `pure_dp_advantage`; "rdp" the smaller of Erokhin's bound and `renyi_fano`
        at one order.
    order : float, optional
        The order >= 1, for "rdp".
    neighboring_relation : {"add-or-remove-one", "replace-one"}
        The relation of the guarantee.

    Examples
    --------
    >>> found = calibrate_epsilon(0.1, categories=2, neighboring_relation="replace-one")
    >>> round(found.value, 6), round(float(np.log(1.1 / 0.9)), 6)
    (0.200671, 0.200671)
    """
    target = check_prob(target_advantage, "target_advantage")
    check_choice(guarantee, "guarantee", ("pure-dp", "rdp"))
    check_choice(neighboring_relation, "neighboring_relation", RELATIONS)
    law = as_prior(categories, prior)
    keywords = _keywords(law)
    if law.delta:
        raise ValueError("one category has all the probability: every epsilon gives advantage 0.")
    if (guarantee == "rdp") != (order is not None):
        raise TypeError("order goes with guarantee='rdp', and only with it.")

    def value(log_epsilon: float) -> float:
        epsilon = float(np.exp(log_epsilon))
        if guarantee == "pure-dp":
            return pure_dp_advantage(epsilon, neighboring_relation=neighboring_relation, **keywords)
        information = rdp_information(
            epsilon, order, neighboring_relation=neighboring_relation, **keywords
        )
        success = renyi_fano(epsilon, order, law.largest)
        return min(advantage(information, **keywords), (success - law.largest) / law.rest)

    found = _largest(lambda x: value(x) <= target, -660.0, 6.5)
    return Calibration(
        value=float(np.exp(found)),
        parameter="epsilon",
        target_advantage=target,
        advantage=float(value(found)),
        method=guarantee if order is None else f"rdp at order {order:g}",
        neighboring_relation=neighboring_relation,
    )

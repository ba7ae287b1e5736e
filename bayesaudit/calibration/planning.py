"""Planning: how many trials, and models, an audit needs to show a claim."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy import special

from bayesaudit._checks import (
    check_integers,
    check_nonnegative,
    check_prob,
    check_probability,
)
from bayesaudit._result import Result
from bayesaudit.calibration._methods import Method, check_method
from bayesaudit.calibration._models import models_plan
from bayesaudit.calibration._strength import Pilot, Rates, strength
from bayesaudit.calibration._unknown_icc import assurance_of_models
from bayesaudit.calibration.assurance import assurance, ceiling
from bayesaudit.calibration.coverage import expected
from bayesaudit.counts import AttackCounts
from bayesaudit.intervals import BETTING
from bayesaudit.measures import Epsilon
from bayesaudit.rates import Prior

__all__ = ["Plan", "plan"]

#: A robust window of at most this many n is checked at each of them; a longer one, where the saw's
#: teeth are small, at so many, evenly spread.
EVERY, SPREAD = 240, 80


@dataclass(frozen=True, slots=True)
class Plan(Result):
    """How many trials show a claim, with what probability, and what limits that.

    Parameters
    ----------
    n : int
        Trials a side (members, and as many non-members). With several a model, of dependent trials:
        `n_effective` times the design effect, filled up to whole models.
    assurance : float
        Probability that the lower end exceeds the claim, with `n_effective` independent trials.
    lowest : float
        The lowest assurance over [n_effective, 1.1 n_effective + 20]: assurance is saw-toothed.
    n_effective : int
        Independent trials a side; for "betting" the models.
    n_first : int or None
        The smallest n whose own assurance reaches the target; ``None`` where n was given.
    n_models : int
        Models to train, every one serving a member trial and a non-member trial `per_model` times.
    n_models_any : int or None
        For "betting": models that reach the target under the dependence within a model that is
        least favourable, whatever `per_model` and `icc`; ``None`` above `max_n` models, where n was
        given, and for other methods.
    assurance_icc_unknown, assurance_icc_unknown_error : float or None
        For dependent trials and the posterior methods: probability, by simulation, that the lower
        end of the beta-binomial posterior of these models exceeds the claim, the correlation being
        unknown to it, with its Monte Carlo standard error. That analysis is what `assurance` would
        be if the correlation were known; with few models it shows less, and more models are needed.
    ceiling : float
        The largest ε that `n_effective` trials (for "betting": models) can show by this method,
        with no error at all.
    expected_lower, expected_width : float or None
        Mean lower end and width of the interval at n_effective; ``None`` for a pilot.
    true_epsilon : float or None
        ε̂ at the planned rates; ``None`` for a pilot.
    limit : float
        What the assurance tends to as n grows: 1, or P(ε̂ > claim | pilot).
    claim, delta, prob, target : float
        The question, echoed.
    method, direction : str
        How the lower end is found.
    per_model : int
        Trials a side a model.
    icc : float
        Intra-model correlation.
    strength : dict
        The attack's rates, or the pilot's counts.
    """

    n: int
    assurance: float
    lowest: float
    n_effective: int
    n_first: int | None
    n_models: int
    ceiling: float
    expected_lower: float | None
    expected_width: float | None
    true_epsilon: float | None
    limit: float
    claim: float
    delta: float
    prob: float
    target: float
    method: str
    direction: str
    per_model: int
    icc: float
    strength: dict[str, Any]
    n_models_any: int | None = None
    assurance_icc_unknown: float | None = None
    assurance_icc_unknown_error: float | None = None

    _if_any = ("n_models_any", "assurance_icc_unknown", "assurance_icc_unknown_error")


def plan(
    claim: float,
    delta: float = 1e-5,
    *,
    fnr: float | None = None,
    fpr: float | None = None,
    mu: float | None = None,
    pilot: AttackCounts | None = None,
    n: int | None = None,
    target: float = 0.80,
    prob: float = 0.90,
    method: Method = "posterior",
    direction: Literal["member", "both"] = "member",
    prior: Prior = "jeffreys",
    per_model: int = 1,
    icc: float = 0.0,
    max_n: int = 1_000_000,
    random_seed: int = 0,
) -> Plan:
    """Return how many trials show that ε̂ exceeds a claim, and with what assurance.

    Parameters
    ----------
    claim : float
        ε in nats, >= 0, that the lower end should exceed.
    delta : float
        δ in [0, 1].
    fnr, fpr : float
        The attack's rates, as planned.
    mu : float
        Instead of `fnr`: a Gaussian trade-off curve, at `fpr` or at its midpoint FNR = FPR.
    pilot : AttackCounts
        Instead of all these: a small audit; the assurance is averaged over its posterior.
    n : int, optional
        Trials a side, of which the assurance is wanted; by default the smallest n that reaches
        `target` robustly is searched.
    target : float
        Assurance wanted, in (0, 1).
    prob : float
        Level of the interval; its lower end errs by (1 − prob)/2.
    method : str or callable
        "posterior", "two-direction", "exact-unconditional" (slow: a test a tally), or a classical
        method, as for `coverage`; or "betting", which is planned in models.
    direction : {"member", "both"}
        Direction of ε̂. Planned attacks are better than chance, where both agree.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the posterior methods, and of the pilot's rates.
    per_model : int
        Trials a side that one model serves.
    icc : float
        Intra-model correlation of a side's trials, in [0, 1].
    max_n : int
        Largest n to consider.
    random_seed : int
        Seed of the simulations, for "betting" and for an unknown correlation.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If the claim cannot be shown: above the ε̂ of the planned rates, above the ceiling of n (or
        `max_n`) trials, or with a target above what the pilot allows; the message has the number.

    Notes
    -----
    ``A(n) = Σ P(FN) P(FP) 1[lower end > claim]``, over outcomes of all but 1e-9 of the probability.
    A(n) is saw-toothed in n; a robust n has A >= target on all of [n, 1.1 n + 20], so that a few
    trials more or less do not matter (windows of more than 240 values are checked at 80, evenly
    spread). Dependent trials count as n/(1 + (m − 1) ρ) independent ones, m = `per_model`, ρ =
    `icc`; that supposes an analysis that allows for the dependence, with ρ known. The analysis that
    is run does not know ρ: `assurance_icc_unknown` simulates it at the same design.

    "betting" supposes nothing of the dependence, but its power depends on it: A(n_models) is the
    share of 1000 simulated audits (fewer of many models; standard error at most .016 with 1000) of
    beta-binomial models with correlation ρ within a side that show the claim, and `n_models_any`
    takes the least favourable dependence instead. Numbers of models are found to one in a hundred.

    References
    ----------
    O'Hagan, Stevens and Campbell, Pharmaceutical Statistics 4 (2005) 187 (assurance). Kish, Survey
    Sampling (1965) (design effect).

    Examples
    --------
    >>> found = plan(0.5, fnr=0.35, fpr=0.25, n=100)
    >>> round(found.assurance, 3)
    0.857
    >>> plan(2.5, fnr=0.05, fpr=0.05).n
    153
    """
    claim, delta = check_nonnegative(claim, "claim"), check_probability(delta, "delta")
    prob, target = check_prob(prob), check_prob(target, "target")
    icc, per_model = check_probability(icc, "icc"), _whole(per_model, "per_model")
    max_n = _whole(max_n, "max_n")
    measure = Epsilon(delta, direction)
    if method != BETTING:
        check_method(method, measure)
    attack = strength(fnr, fpr, mu, pilot, prior)
    effect = 1 + (per_model - 1) * icc
    limit = attack.ceiling(measure, claim)
    true = float(measure.of(attack.fnr, attack.fpr)) if isinstance(attack, Rates) else None

    def chance(size: int) -> float:
        return assurance(attack, size, claim, measure, prob, method, prior)

    if n is None and limit <= target:
        raise ValueError(_too_much(claim, target, limit, true))
    echo = {
        "true_epsilon": true,
        "limit": limit,
        "claim": claim,
        "delta": delta,
        "prob": prob,
        "target": target,
        "method": method if isinstance(method, str) else getattr(method, "__name__", repr(method)),
        "direction": direction,
        "per_model": per_model,
        "icc": icc,
        "strength": attack.to_dict(),
    }
    if method == BETTING:
        fields = models_plan(
            attack,
            measure,
            claim,
            prob,
            target=target,
            per_model=per_model,
            icc=icc,
            models=None if n is None else math.ceil(_whole(n, "n") / per_model),
            most=max_n,
            random_seed=int(check_integers(random_seed, "random_seed")),
        )
        _refuse_above(claim, fields["ceiling"], fields["n_models"], "betting", "models")
        return Plan(**fields, **echo)
    if n is not None:
        n = _whole(n, "n")
        independent = max(1, int(n / effect + 1e-9))
        top = ceiling(independent, measure, prob, method, prior)
        _refuse_above(claim, top, independent, method)
        first, lowest, reached = None, None, chance(independent)
        lowest = reached
    else:
        top = ceiling(max_n, measure, prob, method, prior)
        _refuse_above(claim, top, max_n, method)
        seed = _seed(attack, claim, measure, prob, target)
        known = cache(chance)
        first, independent = _robust(known, target, seed, max_n)
        reached = known(independent)
        lowest = min(known(size) for size in _window(independent))
        n = math.ceil(independent * effect - 1e-9)
        top = ceiling(independent, measure, prob, method, prior)
    models = math.ceil(n / per_model)
    mean = None
    if isinstance(attack, Rates) and method != "exact-unconditional":
        mean = expected(
            measure,
            attack.fnr,
            attack.fpr,
            independent,
            independent,
            prob=prob,
            method=method,
            prior=prior,
        )
    unknown: tuple[float | None, float | None] = None, None
    if effect > 1 and method in ("posterior", "two-direction"):
        unknown = assurance_of_models(
            attack,
            models,
            claim,
            measure,
            prob,
            method,
            prior,
            per_model=per_model,
            icc=icc,
            random_seed=int(check_integers(random_seed, "random_seed")),
        )
    return Plan(
        n=models * per_model,
        assurance=reached,
        lowest=lowest,
        n_effective=independent,
        n_first=first,
        n_models=models,
        ceiling=top,
        expected_lower=None if mean is None else float(mean.lower),
        expected_width=None if mean is None else float(mean.width),
        assurance_icc_unknown=unknown[0],
        assurance_icc_unknown_error=unknown[1],
        **echo,
    )


def _window(n: int) -> list[int]:
    end = math.floor(1.1 * n + 20)
    if end - n < EVERY:
        return list(range(n, end + 1))
    return sorted({round(value) for value in np.linspace(n, end, SPREAD)})


def _robust(known: Callable[[int], float], target: float, seed: int, max_n: int) -> tuple[int, int]:
    """Return the first n that reaches the target, and the first that does so robustly."""
    low, high = 0, min(max(seed, 2), max_n)
    while known(high) < target:
        low, high = high, 2 * high
        if high > max_n:
            raise ValueError(
                f"max_n must be larger: with {low} trials a side the assurance is "
                f"{known(low):.3f}, below the target {target:g}."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if known(middle) >= target else (middle, high)
    # Assurance is saw-toothed: the bisection found one crossing, not always the first one.
    behind = max(1, math.floor(0.93 * high) - 10)
    step = max(1, (high - behind) // 40)
    first = next((n for n in range(behind, high, step) if known(n) >= target), high)
    n = high if first == high else first
    while True:
        failed = [size for size in _window(n) if known(size) < target]
        if not failed:
            return first, n
        n = failed[-1] + 1


def _seed(attack: Rates | Pilot, claim: float, measure: Epsilon, prob: float, target: float) -> int:
    """Return a first n by the normal approximation of the more telling log ratio."""
    if isinstance(attack, Pilot):
        return 50
    best = math.inf
    for x, y in ((attack.fnr, attack.fpr), (attack.fpr, attack.fnr)):
        top, bottom = 1 - measure.delta - x, y
        if top <= 0 or bottom <= 0 or math.log(top / bottom) <= claim:
            continue
        variance = x * (1 - x) / top**2 + (1 - y) / y
        z = special.ndtri((1 + prob) / 2) + special.ndtri(target)
        best = min(best, z**2 * variance / (math.log(top / bottom) - claim) ** 2)
    return int(min(best, 1e6)) + 2 if math.isfinite(best) else 50


def _refuse_above(
    claim: float, top: float, n: int, method: Method, unit: str = "trials a side"
) -> None:
    if claim >= top:
        raise ValueError(
            f"claim must be below {top:.4f}, the largest epsilon that {n} {unit} can show "
            f"by {method if isinstance(method, str) else 'this method'}; got {claim:g}."
        )


def _too_much(claim: float, target: float, limit: float, true: float | None) -> str:
    if true is not None:
        return (
            f"claim must be below {true:.4f}, the epsilon-hat of the planned rates; got {claim:g}."
        )
    return (
        f"target must be below {limit:.4f}, the pilot's posterior probability that epsilon-hat "
        f"exceeds {claim:g}; got {target:g}."
    )


def _whole(value: Any, name: str) -> int:
    array = check_integers(value, name, minimum=1)
    if array.shape:
        raise TypeError(f"{name} must be one number, got shape {array.shape}.")
    return int(array)

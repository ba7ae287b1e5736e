"""How many models show a claim whatever the dependence within them: the betting bound, planned."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit.betting import betting_bound
from bayesaudit.betting._lines import lines_of
from bayesaudit.betting._rows import rows_of
from bayesaudit.betting._wealth import Wealth, stakes_for
from bayesaudit.calibration._outcomes import binomial_pmf
from bayesaudit.calibration._strength import Pilot, Rates, beta_binomial_pmf
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Epsilon

__all__ = ["betting_assurance", "models_plan"]

#: Audits simulated for one assurance; fewer, so that there are at most so many models in all, where
#: models must be drawn one by one: from a pilot, or with more than so many outcomes of a model.
REPLICATES, MODELS, OUTCOMES = 1000, 400_000, 2_500


def models_plan(
    strength: Rates | Pilot,
    measure: Epsilon,
    claim: float,
    prob: float,
    *,
    target: float,
    per_model: int,
    icc: float,
    models: int | None,
    most: int,
    random_seed: int,
) -> dict[str, Any]:
    """Return the fields of a plan in models: at the given correlation and at the worst."""

    @cache
    def chance(size: int, icc: float | None = icc) -> float:
        return betting_assurance(
            strength, size, claim, measure, prob, per_model, icc, random_seed=random_seed
        )

    first = worst = None
    if models is None:
        start = max(2, fewest(claim, measure.delta, prob))
        first = models_for(chance, target, start, most // per_model)
        if first is None:
            raise ValueError(
                f"max_n must be larger: {most // per_model} models of {per_model} trials a side do "
                f"not reach the target {target:g}."
            )
        worst = models_for(lambda size: chance(size, None), target, start, most)
    size = models or first
    return {
        "n": size * per_model,
        "assurance": chance(size),
        "lowest": chance(size),
        "n_effective": size,
        "n_first": first,
        "n_models": size,
        "n_models_any": worst,
        "ceiling": perfect(size, per_model, measure, prob),
        "expected_lower": None,
        "expected_width": None,
    }


def betting_assurance(
    strength: Rates | Pilot,
    models: int,
    claim: float,
    measure: Epsilon,
    prob: float,
    per_model: int,
    icc: float | None,
    *,
    random_seed: int,
) -> float:
    """Return P(lower end > claim) by simulation.

    Parameters
    ----------
    models, per_model : int
        Models, and trials a side of each.
    icc : float or None
        Correlation of a side's trials within a model, the sides being independent. ``None`` for the
        dependence under which wealth grows slowest: all trials of a model are right or wrong
        together, and both sides' errors coincide where they can. (The log of a bet's gain is
        concave in the model's sum of right guesses, so that its mean is least where that sum
        varies most.)
    random_seed : int
        The same seed for different numbers of models makes the answers comparable.
    """
    rng = np.random.default_rng(random_seed)
    trials = 1 if icc is None else per_model
    fn, fp = (side.ravel() for side in np.indices((trials + 1, trials + 1)))
    if icc is None:
        x, y = strength.draw(rng, REPLICATES)
        law = np.hstack([1 - np.maximum(x, y), np.maximum(y - x, 0), np.maximum(x - y, 0)])
        times = rng.multinomial(models, np.hstack([law, np.minimum(x, y)]))
    elif isinstance(strength, Rates) and fn.size <= OUTCOMES:
        sides = (_law(trials, rate, icc) for rate in (strength.fnr, strength.fpr))
        times = rng.multinomial(models, np.outer(*sides).ravel(), REPLICATES)
    else:
        rates = strength.draw(rng, int(np.clip(MODELS // models, 100, REPLICATES)))
        errors = (errors_of_models(rng, rate, icc, trials, models) for rate in rates)
        fn, fp, times = _counted(*errors)
    kept = times.sum(axis=0) > 0
    fn, fp, times = fn[kept], fp[kept], times[:, kept]
    distinct = AttackCounts(fn=fn, tp=trials - fn, fp=fp, tn=trials - fp)
    goal = -math.log((1 - prob) / 2)
    wealth = Wealth(lines_of(measure), rows_of(distinct, rng), stakes_for(models, goal))
    logs = times @ np.log(wealth.factors(claim)).T + np.log(wealth.capital)
    return float(np.mean(special.logsumexp(logs, axis=1) >= goal))


def perfect(models: int, per_model: int, measure: Epsilon, prob: float) -> float:
    """Return the lower end that models without any error show."""
    none, all_ = np.zeros(models, np.int64), np.full(models, per_model)
    return betting_bound(AttackCounts(fn=none, tp=all_, fp=none, tn=all_), measure, prob).lower


def fewest(claim: float, delta: float, prob: float) -> int:
    """Return the number of models below which no bound could show the claim."""
    gain = math.log1p((1 - delta) / (math.exp(claim) + delta))
    return math.floor(-math.log((1 - prob) / 2) / gain) + 1 if gain > 0 else 1


def models_for(chance: Callable[[int], float], target: float, start: int, most: int) -> int | None:
    """Return the models that reach the target, to one in a hundred; ``None`` above `most`."""
    low, high = 0, start
    while high <= most and chance(high) < target:
        low, high = high, 2 * high
    if high > most:
        return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= target else (middle, high)
    return high


def _law(trials: int, rate: float, icc: float) -> NDArray:
    """Return the probabilities of 0 to `trials` errors of a model."""
    errors = np.arange(trials + 1)
    if icc == 1 or rate in (0, 1):
        return (1 - rate) * (errors == 0) + rate * (errors == trials)
    if icc == 0:
        return binomial_pmf(errors, trials, rate)
    kappa = (1 - icc) / icc
    law = beta_binomial_pmf(errors, trials, rate * kappa, (1 - rate) * kappa)
    return law / law.sum()


def errors_of_models(
    rng: np.random.Generator, rate: NDArray, icc: float, trials: int, models: int
) -> NDArray[np.int64]:
    """Return beta-binomial errors of shape (replicates, models)."""
    shape = (len(rate), models)
    if icc == 1:
        return trials * (rng.random(shape) < rate)
    if icc > 0:
        kappa = (1 - icc) / icc
        inside = np.clip(rate, 1e-12, 1 - 1e-12)
        rate = rng.beta(inside * kappa, (1 - inside) * kappa, shape)
    return rng.binomial(trials, np.broadcast_to(rate, shape))


def _counted(fn: NDArray, fp: NDArray) -> tuple[NDArray, NDArray, Any]:
    """Return the distinct outcomes, and how often each occurs in every audit (sparse)."""
    from scipy.sparse import csr_array

    base = fp.max() + 1
    code, where = np.unique(fn * base + fp, return_inverse=True)
    ends = np.arange(0, fn.size + 1, fn.shape[1])
    times = csr_array((np.ones(fn.size), where.ravel(), ends), shape=(len(fn), code.size))
    return *np.divmod(code, base), times

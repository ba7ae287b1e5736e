"""Assurance of the analysis that dependent trials get: the correlation unknown, integrated out."""

import math
from functools import lru_cache

import numpy as np

from bayesaudit.calibration._models import errors_of_models
from bayesaudit.calibration._strength import Pilot, Rates
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Epsilon
from bayesaudit.posteriors import posterior
from bayesaudit.rates import IndependentRates, Prior, beta_binomial_rates

__all__ = ["assurance_of_models"]

#: Sides simulated, each an integral over μ and ρ of some 25 ms; and audits that each is part of.
SIDES, PAIRINGS = 120, 4


def assurance_of_models(
    strength: Rates | Pilot,
    models: int,
    claim: float,
    measure: Epsilon,
    prob: float,
    method: str,
    prior: Prior,
    *,
    per_model: int,
    icc: float,
    random_seed: int,
) -> tuple[float, float]:
    """Return P(lower end > claim) under the beta-binomial model, and its Monte Carlo error.

    Parameters
    ----------
    models, per_model : int
        Models, and trials a side of each.
    method : {"posterior", "two-direction"}
        Which lower end of the beta-binomial posterior, whose prior of the ICC is the default.
    icc : float
        The true correlation, which the analysis does not know.
    """
    prior = tuple(prior) if isinstance(prior, list) else prior
    rates = _posteriors(strength, models, per_model, icc, _Key(prior), random_seed)
    tail = (1 - prob) / 2
    pieces = measure.pieces() if method == "two-direction" else (measure,)
    shown = [posterior(rates, one).sf(claim) > 1 - tail / len(pieces) for one in pieces]
    found = np.any(shown, axis=0).reshape(PAIRINGS, SIDES)
    share = float(found.mean())
    # Of the mean over each member side's audits, and over each non-member side's; never 0.
    members, others = (
        found.mean(axis=0),
        np.mean([np.roll(r, k) for k, r in enumerate(found)], axis=0),
    )
    variance = (members.var() + others.var()) / SIDES
    return share, math.sqrt(max(variance, 0.5 / SIDES**2))


class _Key:
    """A prior that may be a dict, as a key."""

    def __init__(self, prior: Prior) -> None:
        self.prior = prior

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and repr(self.prior) == repr(other.prior)

    def __hash__(self) -> int:
        return hash(repr(self.prior))


@lru_cache(maxsize=2)
def _posteriors(
    strength: Rates | Pilot, models: int, per_model: int, icc: float, key: _Key, seed: int
) -> IndependentRates:
    """Posteriors of simulated audits, one after another pairing of their two sides."""
    rng = np.random.default_rng(seed)
    fn, fp = (
        errors_of_models(rng, rate, icc, per_model, models) for rate in strength.draw(rng, SIDES)
    )
    counts = AttackCounts(fn=fn, tp=per_model - fn, fp=fp, tn=per_model - fp)
    sides = beta_binomial_rates(counts, prior=key.prior)
    first = np.arange(SIDES)
    return IndependentRates(
        fnr=sides.fnr.take(np.tile(first, PAIRINGS)),
        fpr=sides.fpr.take(np.concatenate([np.roll(first, -k) for k in range(PAIRINGS)])),
        shape=(PAIRINGS * SIDES,),
    )

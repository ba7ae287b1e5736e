"""How strong the planned attack is: rates, a Gaussian mu, or what a pilot audit has shown."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_number, check_probability
from bayesaudit._result import Result
from bayesaudit.calibration._outcomes import Outcomes, binomial_pmf, binomial_window
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.posteriors import posterior
from bayesaudit.rates import Prior, check_prior

__all__ = ["Pilot", "Rates", "beta_binomial_pmf", "strength"]

Array = NDArray[np.float64]
#: Probability of the outcomes left out of an assurance.
LEFT_OUT = 1e-9


@dataclass(frozen=True)
class Rates(Result):
    """Known rates of the attack."""

    fnr: float
    fpr: float

    def ceiling(self, measure: Measure, claim: float) -> float:
        """Return the assurance that no number of trials can exceed: 0 or 1."""
        return float(measure.of(self.fnr, self.fpr) > claim)

    def outcomes(self, n: int) -> Outcomes:
        """Return the outcomes that matter with n trials a side."""
        return Outcomes(n, n, *(_range(binomial_window(n, p, LEFT_OUT)) for p in self._pair))

    def probability(self, outcomes: Outcomes) -> tuple[Array, Array]:
        """Return the probabilities of either side's outcomes."""
        return (
            binomial_pmf(outcomes.fn, outcomes.n_pos, self.fnr),
            binomial_pmf(outcomes.fp, outcomes.n_neg, self.fpr),
        )

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """Return FNR and FPR of so many audits, here the same for all; shape (size, 1)."""
        return np.full((size, 1), self.fnr), np.full((size, 1), self.fpr)

    @property
    def _pair(self) -> tuple[float, float]:
        return self.fnr, self.fpr


@dataclass(frozen=True)
class Pilot(Result):
    """Rates as a pilot audit leaves them: a Beta posterior each.

    Outcomes of the audit to come are then beta-binomial, so that the average of the assurance over
    the pilot's posterior needs no draws.
    """

    counts: AttackCounts
    prior: Prior = "jeffreys"

    _omit = ("counts", "prior")
    _also = ("pilot=counts",)

    @property
    def _shapes(self) -> list[tuple[float, float]]:
        prior, counts = check_prior(self.prior), self.counts
        return [
            (float(errors) + prior[name][0], float(rights) + prior[name][1])
            for name, errors, rights in (
                ("fnr", counts.fn, counts.tp),
                ("fpr", counts.fp, counts.tn),
            )
        ]

    def ceiling(self, measure: Measure, claim: float) -> float:
        """Return P(measure > claim | pilot), which the assurance tends to."""
        return float(posterior(self.counts, measure, prior=self.prior).sf(claim))

    def outcomes(self, n: int) -> Outcomes:
        """Return the outcomes that matter with n trials a side."""
        ranges = []
        for a, b in self._shapes:
            low = binomial_window(n, float(special.betaincinv(a, b, LEFT_OUT / 8)), LEFT_OUT)
            high = binomial_window(n, float(special.betainccinv(a, b, LEFT_OUT / 8)), LEFT_OUT)
            ranges.append(np.arange(low[0], high[1] + 1))
        return Outcomes(n, n, *ranges)

    def probability(self, outcomes: Outcomes) -> tuple[Array, Array]:
        """Return the probabilities of either side's outcomes."""
        sides = ((outcomes.fn, outcomes.n_pos), (outcomes.fp, outcomes.n_neg))
        return tuple(
            beta_binomial_pmf(k, n, a, b)
            for (k, n), (a, b) in zip(sides, self._shapes, strict=True)
        )

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """Return FNR and FPR of so many audits, from the posterior; shape (size, 1)."""
        first, second = (rng.beta(a, b, (size, 1)) for a, b in self._shapes)
        return first, second


def strength(
    fnr: Any, fpr: Any, mu: Any, pilot: AttackCounts | None, prior: Prior
) -> Rates | Pilot:
    """Return the strength that the arguments say; exactly one way of saying it is allowed."""
    if pilot is not None:
        if any(value is not None for value in (fnr, fpr, mu)):
            raise ValueError("pilot must stand alone: got rates or mu beside it.")
        if pilot.shape:
            raise ValueError(f"pilot must be one tally, got shape {pilot.shape}.")
        return Pilot(pilot, prior)
    if mu is not None:
        if fnr is not None:
            raise ValueError("mu gives fnr from fpr: got both mu and fnr.")
        mu = check_number(mu, "mu")
        if not mu > 0:
            raise ValueError(f"mu must be > 0, got {mu!r}.")
        y = float(special.ndtr(-mu / 2)) if fpr is None else check_probability(fpr, "fpr")
        return Rates(float(special.ndtr(-special.ndtri(y) - mu)), y)
    if fnr is None or fpr is None:
        raise ValueError("the attack's strength must be given: fnr and fpr, or mu, or a pilot.")
    return Rates(check_probability(fnr, "fnr"), check_probability(fpr, "fpr"))


def _range(window: tuple[int, int]) -> NDArray[np.int64]:
    return np.arange(window[0], window[1] + 1)


def beta_binomial_pmf(k: NDArray[np.int64], n: int, a: float, b: float) -> Array:
    """Return the probabilities of k errors in n trials of a rate from Beta(a, b)."""
    k = np.asarray(k, float)
    log = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.exp(log + special.betaln(k + a, n - k + b) - special.betaln(a, b))

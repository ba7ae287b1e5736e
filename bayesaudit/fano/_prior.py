"""The prior of the secret: M equally likely categories, or a vector of probabilities."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_number
from bayesaudit.fano._solver import phi

__all__ = ["Prior", "as_prior", "check_categories"]

_SUM_TOLERANCE = 1e-6
_SMALLEST = float(np.finfo(float).tiny)  # letters below the normal range count as 0


def check_categories(value: Any, name: str = "categories") -> float:
    """Return the number of equally likely categories as a float >= 2."""
    try:
        number = check_number(value, name)
    except OverflowError:
        raise ValueError(f"{name} must be below 1.8e308.") from None
    if not 2 <= number < np.inf or number != np.floor(number):
        raise ValueError(
            f"{name} must be a whole number >= 2 (with 1 there is nothing to guess), got {value!r}."
        )
    return number


@dataclass(frozen=True, eq=False)
class Prior:
    """A prior with letters of positive probability only, largest first, or a uniform one.

    Weights need not add up to 1: shares are taken of their sum, so that decimal inputs such as
    0.4, 0.35, 0.2, 0.05 keep the accuracy of each letter.
    """

    categories: float
    weights: NDArray[np.float64] | None = None  # None: uniform

    @property
    def uniform(self) -> bool:
        """Whether every category has the same probability."""
        return self.weights is None

    @property
    def delta(self) -> bool:
        """Whether one category has all the probability: nothing is left to guess."""
        return self.categories == 1

    @cached_property
    def total(self) -> float:
        """Sum of the weights."""
        return 1.0 if self.weights is None else float(self.weights[0]) + self.rest_weight

    @cached_property
    def rest_weight(self) -> float:
        """Weight of all letters but the first: never ``1 - p*``, which would cancel."""
        if self.weights is None:
            return (self.categories - 1.0) / self.categories
        return float(self.weights[1:].sum())

    @property
    def largest(self) -> float:
        """p*, the success of a guess made without the output."""
        if self.weights is None:
            return 1.0 / self.categories
        return float(self.weights[0]) / self.total

    @property
    def rest(self) -> float:
        """1 - p*."""
        return self.rest_weight / self.total

    @cached_property
    def entropy(self) -> float:
        """H(X) in nats."""
        if self.weights is None:
            return float(np.log(self.categories))
        shares = self.weights / self.total
        head = (
            -shares[0] * np.log1p(-self.rest) if self.rest < 0.5 else -shares[0] * np.log(shares[0])
        )
        return float(head - (shares[1:] * np.log(shares[1:])).sum())

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The vector of probabilities, largest first; refused for a uniform prior of > 1e8."""
        if self.weights is not None:
            return self.weights / self.total
        if self.categories > 1e8:
            raise ValueError(f"a vector of {self.categories:g} probabilities would not fit.")
        return np.full(int(self.categories), 1.0 / self.categories)

    @cached_property
    def boundaries(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(R, x) at the ends of Erokhin's regimes: information (nats) and excess s - p*.

        Entry k - 1 belongs to the threshold p_{k+1}: k letters are kept. Both are running sums of
        non-negative increments (the integral of ``(k - 1) log(a/theta)`` over the threshold).
        """
        if self.weights is None:
            return np.empty(0), np.empty(0)
        # Weights as given: dividing first would round away the gaps of a nearly uniform prior.
        w = self.weights
        kept = np.arange(w.size - 1, dtype=float)  # k - 1 for k = 1 .. M - 1
        upper = w[:-1]
        step = upper - w[1:]
        growth = kept * step
        excess = np.cumsum(growth, dtype=np.longdouble)
        some = np.flatnonzero(growth > 0)
        increments = np.zeros(kept.size)
        if some.size:
            h, theta, gap = growth[some], upper[some], step[some]
            earlier = np.concatenate(([0.0], excess[:-1].astype(float)))[some]
            before = w[0] + earlier
            increments[some] = (
                h * np.log1p(((w[0] - theta) + earlier) / theta)
                + before * phi(h / before)
                + kept[some] * theta * phi(-gap / theta)
            )
        information = np.cumsum(increments, dtype=np.longdouble)
        return (information / self.total).astype(float), (excess / self.total).astype(float)

    def head(self, letters: int) -> tuple[float, float, float]:
        """Return (odds, lam, spread) of the `letters` most likely categories.

        ``odds = p_1 : (p_2 + ... + p_k)``, ``lam = log(p_1 / mean of the others)`` and ``spread``,
        the divergence of the others from their uniform distribution.
        """
        if self.weights is None:
            return 1.0 / (self.categories - 1.0), 0.0, 0.0
        first, others = float(self.weights[0]), self.weights[1:letters]
        share = float(others.sum())
        mean = share / others.size
        ahead = float((first - others).mean()) if first < 1.5 * mean else first - mean
        lam = float(np.log1p(ahead / mean))
        spread = 0.0 if others[0] == others[-1] else float(phi((others - mean) / mean).mean())
        return first / share, max(lam, 0.0), spread


def as_prior(categories: Any = None, prior: ArrayLike | None = None) -> Prior:
    """Return the prior of a call that names exactly one of `categories` and `prior`."""
    if (categories is None) == (prior is None):
        raise TypeError(
            "give exactly one of categories (equally likely) and prior (probabilities)."
        )
    if prior is None:
        return Prior(check_categories(categories))
    if isinstance(prior, Prior):
        return prior
    try:
        weights = np.asarray(prior)
    except ValueError:
        raise TypeError("prior must be a flat sequence of probabilities.") from None
    if weights.dtype.kind not in "iuf" or weights.ndim != 1 or weights.size == 0:
        raise TypeError("prior must be a non-empty one-dimensional array of probabilities.")
    weights = weights.astype(float)
    if not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError("prior must hold finite probabilities >= 0.")
    total = float(weights.sum())
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise ValueError(f"prior must add up to 1, got {total!r}.")
    weights = np.sort(weights)[::-1]
    weights = weights[: np.count_nonzero(weights >= _SMALLEST)]
    if weights.size > 1 and weights[0] == weights[-1]:
        return Prior(float(weights.size))
    return Prior(float(weights.size), np.ascontiguousarray(weights))

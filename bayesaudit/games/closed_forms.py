"""Mechanisms whose trade-off is known exactly: the truth that games and bounds are tested against.

Each releases something of every record's first features: a noisy mean, or one randomised bit a
record. `trade_off` is the smallest false-negative rate at a false-positive rate over all tests and
all neighbours under REPLACE_ONE, `claim` the guarantee, `log_likelihood` what the optimal test
needs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_nonnegative, check_number
from bayesaudit.games.accounting import REPLACE_ONE, PrivacyClaim, gaussian_claim
from bayesaudit.games.protocols import Datasets

__all__ = ["GaussianMean", "LaplaceMean", "RandomizedResponse"]


def _positive(value: float, name: str) -> None:
    if not 0 < check_number(value, name) < math.inf:
        raise ValueError(f"{name} must be > 0 and finite, got {value!r}.")


def _rates(fpr: ArrayLike) -> NDArray[np.float64]:
    rates = np.asarray(fpr, dtype=float)
    if not ((rates >= 0) & (rates <= 1)).all():
        raise ValueError("fpr must be in [0, 1].")
    return rates


@dataclass(frozen=True, slots=True)
class GaussianMean:
    """The mean of records projected to a ball, with Gaussian noise: exactly mu-GDP.

    Parameters
    ----------
    mu : float
        Distance of the two output distributions in standard deviations, > 0.
    radius : float
        Euclidean radius of the ball records are projected to, > 0; a substitution moves the mean
        by at most ``2 radius / n``.

    References
    ----------
    .. [1] Dong, Roth & Su (2022), Gaussian differential privacy, Theorem 2.7. arXiv:1905.02383.

    Examples
    --------
    >>> mechanism = GaussianMean(mu=1.0)
    >>> round(mechanism.claim(1e-5).epsilon, 4)
    4.3772
    >>> round(float(mechanism.trade_off(0.3085375)), 4)  # the midpoint, Phi(-1/2)
    0.3085
    """

    mu: float
    radius: float = 1.0
    relation: ClassVar[str] = REPLACE_ONE

    def __post_init__(self) -> None:
        _positive(self.mu, "mu")
        _positive(self.radius, "radius")

    def _means(self, datasets: Datasets) -> NDArray[np.float64]:
        x = datasets.x.astype(np.float64)
        norm = np.linalg.norm(x, axis=-1, keepdims=True)
        return (x / np.maximum(1, norm / self.radius)).mean(axis=1)

    def _scale(self, n_records: int) -> float:
        return 2 * self.radius / (n_records * self.mu)

    def train(self, datasets: Datasets, rngs: Sequence[np.random.Generator]) -> NDArray[np.float64]:
        """Return the noisy means, shape (n_models, n_features)."""
        means = self._means(datasets)
        noise = np.stack([rng.standard_normal(means.shape[1]) for rng in rngs])
        return means + self._scale(datasets.n_records) * noise

    def log_likelihood(self, outputs: NDArray, datasets: Datasets) -> NDArray[np.float64]:
        """Return the log density of each output given each data set up to a constant."""
        z = (outputs - self._means(datasets)) / self._scale(datasets.n_records)
        return -0.5 * (z**2).sum(axis=-1)

    def trade_off(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Return the smallest false-negative rate at false-positive rates, elementwise."""
        from scipy.special import ndtr, ndtri

        return ndtr(ndtri(1 - _rates(fpr)) - self.mu)

    def claim(self, delta: float = 1e-5) -> PrivacyClaim:
        """Return the guarantee at `delta`, with its curve."""
        return gaussian_claim(self.mu, delta)


@dataclass(frozen=True, slots=True)
class LaplaceMean:
    """The mean of the first feature clipped to an interval, with Laplace noise: exactly epsilon-DP.

    Parameters
    ----------
    epsilon : float
        Privacy parameter in nats, > 0.
    radius : float
        The feature is clipped to [-radius, radius], > 0.

    References
    ----------
    .. [1] Dwork, McSherry, Nissim & Smith (2006), Calibrating noise to sensitivity.
       doi:10.1007/11681878_14.

    Examples
    --------
    >>> mechanism = LaplaceMean(epsilon=2.0)
    >>> round(float(mechanism.trade_off(0.5 * 2.718281828459045**-1)), 6)  # the midpoint
    0.18394
    """

    epsilon: float
    radius: float = 1.0
    relation: ClassVar[str] = REPLACE_ONE

    def __post_init__(self) -> None:
        _positive(self.epsilon, "epsilon")
        _positive(self.radius, "radius")

    def _means(self, datasets: Datasets) -> NDArray[np.float64]:
        first = datasets.x[:, :, 0].astype(np.float64)
        return np.clip(first, -self.radius, self.radius).mean(axis=1)

    def _scale(self, n_records: int) -> float:
        return 2 * self.radius / (n_records * self.epsilon)

    def train(self, datasets: Datasets, rngs: Sequence[np.random.Generator]) -> NDArray[np.float64]:
        """Return the noisy means, shape (n_models,)."""
        noise = np.array([rng.laplace() for rng in rngs])
        return self._means(datasets) + self._scale(datasets.n_records) * noise

    def log_likelihood(self, outputs: NDArray, datasets: Datasets) -> NDArray[np.float64]:
        """Return the log density of each output given each data set up to a constant."""
        return -np.abs(outputs - self._means(datasets)) / self._scale(datasets.n_records)

    def trade_off(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Return the smallest false-negative rate at false-positive rates, elementwise."""
        rates = _rates(fpr)
        least = math.exp(-self.epsilon)
        middle = least / (4 * np.maximum(rates, least / 2))
        low = 1 - rates * math.exp(self.epsilon)
        return np.where(rates < least / 2, low, np.where(rates > 0.5, least * (1 - rates), middle))

    def claim(self, delta: float = 1e-5) -> PrivacyClaim:
        """Return the guarantee (epsilon, 0), reported at `delta`, with its curve."""
        total = self.epsilon

        def curve(epsilon: float) -> float:
            # 1 - exp((epsilon - total) / 2): the hockey-stick divergence of two Laplace laws.
            return max(0.0, -math.expm1((epsilon - total) / 2))

        attained = max(0.0, total + 2 * math.log1p(-delta))
        return PrivacyClaim(attained, delta, REPLACE_ONE, curve)


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """Every record's bit (first feature > 0), flipped with probability 1/(1 + exp(epsilon)).

    Parameters
    ----------
    epsilon : float
        Privacy parameter in nats, >= 0.

    References
    ----------
    .. [1] Warner (1965), Randomized response. doi:10.1080/01621459.1965.10480775.

    Examples
    --------
    >>> mechanism = RandomizedResponse(epsilon=1.0)
    >>> round(mechanism.flip_probability, 4), round(mechanism.claim(0.0).epsilon, 12)
    (0.2689, 1.0)
    """

    epsilon: float
    relation: ClassVar[str] = REPLACE_ONE

    def __post_init__(self) -> None:
        check_nonnegative(self.epsilon, "epsilon")

    @property
    def flip_probability(self) -> float:
        """The probability that a bit is flipped."""
        return 1 / (1 + math.exp(self.epsilon))

    def train(self, datasets: Datasets, rngs: Sequence[np.random.Generator]) -> NDArray[np.bool_]:
        """Return the released bits, shape (n_models, n_records)."""
        bits = datasets.x[:, :, 0] > 0
        flips = np.stack([rng.random(datasets.n_records) < self.flip_probability for rng in rngs])
        return bits ^ flips

    def log_likelihood(self, outputs: NDArray, datasets: Datasets) -> NDArray[np.float64]:
        """Return the log probability of each output given each data set up to a constant."""
        return -self.epsilon * (outputs != (datasets.x[:, :, 0] > 0)).sum(axis=1)

    def trade_off(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Return the smallest false-negative rate at false-positive rates, elementwise."""
        rates = _rates(fpr)
        steep = 1 - math.exp(self.epsilon) * rates
        return np.maximum(0, np.maximum(steep, math.exp(-self.epsilon) * (1 - rates)))

    def claim(self, delta: float = 1e-5) -> PrivacyClaim:
        """Return the exact guarantee at `delta`, log((1 - p - delta)/p), with its curve."""
        p = self.flip_probability

        def curve(epsilon: float) -> float:
            return max(0.0, 1 - p - math.exp(epsilon) * p)

        attained = math.log((1 - p - delta) / p) if 1 - p - delta > p else 0.0
        return PrivacyClaim(attained, delta, REPLACE_ONE, curve)

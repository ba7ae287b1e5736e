"""The beta-binomial likelihood of many models as three functions of one variable each.

With κ = (1 − ρ)/ρ, K = Σ k_j and N = Σ n_j,

    log L(μ, κ) = K log μ + (N − K) log(1 − μ) + f(μκ) + g((1 − μ)κ) − h(κ),

where f(α) = Σ_j [log Γ(k_j + α) − log Γ(α) − k_j log α] and g and h are the same of n_j − k_j and
n_j. The first two terms are the independent model, the others vanish as κ → ∞. Each function is
summed over the distinct counts only, on a grid, once; after that a thousand models cost
as much as ten.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit.rates._chebyshev import clenshaw, coefficients, lobatto

__all__ = ["BetaBinomialLikelihood", "log_rising"]

Array = NDArray[np.float64]

#: Panel width in log α and points a panel: poles at α = −k, a distance π away, leave 1e-13.
WIDTH, POINTS = 2.0, 17
#: Below this log α a Taylor series in α takes over.
LOW = -12.0
#: So far above the log of the largest count, the first term of the series in 1/α is all there is.
REACH = 17.0
#: Distinct counts times grid points in one pass.
BLOCK = 1 << 20


class RisingFactorials:
    """α ↦ Σ_j [log Γ(k_j + α) − log Γ(α) − k_j log α], from a table.

    Parameters
    ----------
    k : numpy.ndarray of int, shape (n_models,)
        Counts, >= 0.
    """

    def __init__(self, k: NDArray[np.int64]) -> None:
        values, times = np.unique(k[k > 0], return_counts=True)
        self._k, self._times = values.astype(float), times.astype(float)
        self._total, self._models = float(self._k @ self._times), float(times.sum())
        top = np.log(max(float(values[-1]) if values.size else 1.0, 1.0)) + REACH
        panels = int(np.ceil((top - LOW) / WIDTH))
        self._high = LOW + WIDTH * panels
        start = LOW + WIDTH * np.arange(panels)
        grid = start[:, None] + WIDTH * (1 + lobatto(POINTS)) / 2
        table = self._sum(grid.ravel()).reshape(grid.shape)
        self._rows = np.ascontiguousarray(coefficients(table).T)
        self._last = float(table[-1, -1])
        self._taylor = (
            float(self._times @ special.gammaln(self._k)),
            float(self._times @ special.digamma(self._k)) + np.euler_gamma * self._models,
            float(self._times @ special.polygamma(1, self._k) - self._models * np.pi**2 / 6) / 2,
        )

    def __call__(self, log_alpha: Array) -> Array:
        """Return the sum at log α."""
        if not self._k.size:
            return np.zeros_like(log_alpha)
        inside = np.clip(log_alpha, LOW, self._high)
        place = (inside - LOW) / WIDTH
        panel = np.minimum(place.astype(np.intp), self._rows.shape[1] - 1)
        result = clenshaw(self._rows[:, panel], 2 * (place - panel) - 1)
        low = log_alpha < LOW
        if low.any():
            t = log_alpha[low]
            alpha = np.exp(t)
            constant, first, second = self._taylor
            result[low] = (
                (self._models - self._total) * t + constant + alpha * (first + alpha * second)
            )
        high = log_alpha > self._high
        if high.any():
            result[high] = self._last * np.exp(self._high - log_alpha[high])
        return result

    def _sum(self, log_alpha: Array) -> Array:
        result = np.empty(log_alpha.size)
        step = max(1, BLOCK // max(self._k.size, 1))
        for first in range(0, log_alpha.size, step):
            part = slice(first, first + step)
            result[part] = self._exact(log_alpha[part])
        return result

    def _exact(self, log_alpha: Array) -> Array:
        alpha, k = np.exp(log_alpha)[:, None], self._k
        result = np.empty(log_alpha.size)
        small = alpha[:, 0] < 10
        a = alpha[small]
        result[small] = special.gammaln(k + a) @ self._times
        result[small] -= self._models * special.gammaln(a[:, 0]) + self._total * log_alpha[small]
        result[~small] = _by_stirling(k, alpha[~small]) @ self._times
        return result


def log_rising(k: float, alpha: Array) -> Array:
    """Return log Γ(k + α) − log Γ(α) − k log α without cancellation at large α."""
    small = alpha < 10
    a = alpha[small]
    result = np.empty(alpha.shape)
    result[small] = special.gammaln(k + a) - special.gammaln(a) - k * np.log(a)
    result[~small] = _by_stirling(k, alpha[~small])
    return result


def _by_stirling(k: Array, a: Array) -> Array:
    # The difference of two Stirling series, written so that nothing large cancels.
    return (a + k - 0.5) * np.log1p(k / a) - k + (_stirling(a + k) - _stirling(a))


def _stirling(x: Array) -> Array:
    """Remainder of Stirling's formula for log Γ(x), x >= 10, to 1e-13."""
    y = 1 / x
    z = y * y
    return y * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188))))


class BetaBinomialLikelihood:
    """Log likelihood of the population rate μ and the ICC ρ of one side, less a constant.

    Parameters
    ----------
    errors, rights : numpy.ndarray of int, shape (n_models,)
        Numbers of errors and of right guesses of every model.
    """

    def __init__(self, errors: NDArray[np.int64], rights: NDArray[np.int64]) -> None:
        self.n_errors, self.n_rights = float(errors.sum()), float(rights.sum())
        self._f, self._g = RisingFactorials(errors), RisingFactorials(rights)
        self._h = RisingFactorials(errors + rights)

    def __call__(self, log_mu: Array, log_muc: Array, logit_icc: Array) -> Array:
        """Return log L at broadcasting log μ, log(1 − μ) and log(ρ/(1 − ρ))."""
        log_kappa = -logit_icc
        return (
            self.n_errors * log_mu
            + self.n_rights * log_muc
            + self._f(log_mu + log_kappa)
            + self._g(log_muc + log_kappa)
            - self._h(log_kappa)
        )

"""The binomial law of right guesses under randomised response, near its mean and in its tail."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

# The window leaves out at most exp(-80) of the law below and exp(-160) above.
_LOG_LEFT_OUT_BELOW = 80.0
_LOG_LEFT_OUT_ABOVE = 160.0


def upper_tail(n: int, k: int, epsilon: float) -> float:
    """Return P(X >= k) for X ~ Bin(n, 1/(1 + e^-epsilon))."""
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    # The small probability 1/(1 + e^epsilon) is the one to hand over: 1 - q keeps its digits.
    return float(special.betaincc(n - k + 1, k, special.expit(-epsilon)))


def _bernstein(variance: float, log_left_out: float) -> float:
    """Return t with P(X >= mean + t) <= exp(-log_left_out), by Bernstein's inequality."""
    third = log_left_out / 3
    return third + math.sqrt(third**2 + 2 * log_left_out * variance)


@dataclass(frozen=True, slots=True)
class Window:
    """The probabilities of Bin(n, q) on ``first .. last``, up to one common factor."""

    first: int
    core_last: int
    """Beyond this value the tail is below exp(-80)."""
    weight: NDArray[np.float64]

    @property
    def last(self) -> int:
        """The largest value that has a weight."""
        return self.first + self.weight.size - 1


def window(n: int, epsilon: float) -> Window:
    """Return the law of X ~ Bin(n, 1/(1 + e^-epsilon)) where it is not negligible.

    The weights are products of the ratios of neighbouring terms, taken outward from the mode, so
    that no large logarithm of a factorial is ever subtracted from another.
    """
    q, complement = float(special.expit(epsilon)), float(special.expit(-epsilon))
    mean, variance = n - n * complement, n * q * complement
    first = max(0, math.floor(mean - _bernstein(variance, _LOG_LEFT_OUT_BELOW)))
    core_last = min(n, math.ceil(mean + _bernstein(variance, _LOG_LEFT_OUT_BELOW)))
    last = min(n, math.ceil(mean + _bernstein(variance, _LOG_LEFT_OUT_ABOVE)))
    mode = min(max(math.floor((n + 1) * q), first), last)
    k = np.arange(first, last, dtype=float)
    log_ratio = np.log((n - k) / (k + 1)) + epsilon
    cut = mode - first
    log_weight = np.zeros(last - first + 1)
    log_weight[cut + 1 :] = np.cumsum(log_ratio[cut:])
    log_weight[:cut] = -np.cumsum(log_ratio[:cut][::-1])[::-1]
    return Window(first, core_last, np.exp(log_weight))


def tail_over_term(n: int, k: int, epsilon: float) -> float:
    """Return P(X >= k) / P(X = k) for k above the mean, by summing the falling ratios."""
    if k >= n:
        return 1.0
    log_ratio = math.log((n - k) / (k + 1)) + epsilon
    n_terms = min(n - k, math.ceil(40 / max(-log_ratio, 1e-9)) + 1)
    j = np.arange(k, k + n_terms, dtype=float)
    return 1.0 + float(np.exp(np.cumsum(np.log((n - j) / (j + 1)) + epsilon)).sum())

r"""The order-statistics bound of Xiang et al. (2025): assumes independent canaries.

Each canary's score comes from a channel of its own that satisfies the curve. Differential privacy
of the training run does not give that.

The share V of canaries at least as extreme as the cut is Beta(r + 1, m - r); given V, each
released guess is wrong with a probability g(V), independently, so the p-value is
:math:`E\,P(\mathrm{Bin}(r, g(V)) \le r - v)`. For r = m the rate is the curve's best error.
With the Gaussian curve and cut s, V = Phi(mu/2 - s) + Phi(-mu/2 - s) and
g = Phi(-mu/2 - s)/V; with (epsilon, delta), g = (1 - delta/V)_+ / (1 + e^epsilon).

Counterexamples without independence: (1) with probability .06 reveal m delta/.06 bits, which is
(0, delta)-DP: with m = 10^6, delta = 1e-5, r = 100 all guesses are right with probability .06,
and the bound at level .05 claims epsilon >= 3.38. (2) With probability .06 answer every bit by
randomised response, else nothing: mu = .4747 for each canary, and the bound errs 6 % of the
time at a nominal 5 %; the error is the probability of the shared event and can be anything.

Xiang, Wang, Xiao, Tian and Wang, *Tight Privacy Audit in One Run* (2025); arXiv:2509.08704.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["xiang_epsilon_delta", "xiang_gaussian"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_LEFT_OUT = 1e-20


def _at_most(u: int, r: int, rate: NDArray) -> NDArray:
    """Return P(Bin(r, rate) <= u) for rates in [0, 1/2]."""
    return np.ones_like(rate) if u >= r else special.betaincc(u + 1, r - u, rate)


def _log_beta_shape(share: NDArray, rest: NDArray, m: int, r: int) -> NDArray:
    """Return the log density of the released share, Beta(r + 1, m - r), up to a constant."""
    mode = r / max(m - 1, 1)
    first = r * np.log(share / mode)
    second = (m - r - 1) * np.log(rest / (1 - mode)) if m - r > 1 else 0.0
    return first + second


def _average(value: NDArray, log_density: NDArray, weight: NDArray) -> float:
    mass = weight * np.exp(log_density - log_density.max())
    return min(1.0, float(mass @ value / mass.sum()))


def _panels(edges: list[float]) -> tuple[NDArray, NDArray]:
    points, weights = [], []
    for low, high in pairwise(edges):
        half = 0.5 * (high - low)
        points.append(low + half * (1 + _NODES))
        weights.append(half * _WEIGHTS)
    return np.concatenate(points), np.concatenate(weights)


def _share_range(m: int, r: int) -> tuple[float, float]:
    return (
        float(special.betaincinv(r + 1, m - r, _LEFT_OUT)),
        float(special.betainccinv(r + 1, m - r, _LEFT_OUT)),
    )


def _cut(share: float, mu: float) -> float:
    """Return the cut s with P(|score| beyond the cut) = share, under equal odds."""
    low, high = 0.0, mu / 2 + 40.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        if special.ndtr(mu / 2 - middle) + special.ndtr(-mu / 2 - middle) > share:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def xiang_gaussian(m: int, r: int, v: int, mu: float) -> float:
    """Return the p-value under independent mu-GDP canaries; the arguments are checked already."""
    if v == 0:
        return 1.0
    if r == m:
        return float(_at_most(r - v, m, special.ndtr(np.array(-mu / 2))))
    small, large = _share_range(m, r)
    cut, weight = _panels([_cut(large, mu), _cut(small, mu)])
    good, bad = special.ndtr(mu / 2 - cut), special.ndtr(-mu / 2 - cut)
    rest = special.ndtr(cut - mu / 2) - bad
    log_slope = -0.5 * (cut - mu / 2) ** 2 + np.log1p(np.exp(-2 * cut * (mu / 2)))
    log_density = _log_beta_shape(good + bad, rest, m, r) + log_slope
    return _average(_at_most(r - v, r, bad / (good + bad)), log_density, weight)


def xiang_epsilon_delta(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """Return the p-value under independent (epsilon, delta) canaries; the arguments are checked."""
    if v == 0:
        return 1.0
    wrong = special.expit(-epsilon)
    if r == m:
        return float(_at_most(r - v, m, np.array((1 - delta) * wrong)))
    small, large = _share_range(m, r)
    edges = [small, *([delta] if small < delta < large else []), large]
    share, weight = _panels(edges)
    rate = np.maximum(share - delta, 0.0) / share * wrong
    log_density = _log_beta_shape(share, 1 - share, m, r)
    return _average(_at_most(r - v, r, rate), log_density, weight)

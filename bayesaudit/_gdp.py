"""Gaussian differential privacy: the three-way conversion between mu, epsilon and delta.

A mechanism is mu-GDP when telling its outputs on neighbouring data apart is no easier than telling
N(0, 1) from N(mu, 1); it is then (epsilon, delta(epsilon))-DP with the curve of `gdp_delta`.

Everything is computed in logs and without cancellation. With ``a = epsilon/mu - mu/2``,
``b = epsilon/mu + mu/2`` and Mills' ratio ``M(x) = Phi(-x)/phi(x)``, ``e^epsilon phi(b)`` equals
``phi(a)``, so ``delta = phi(a) [M(a) - M(b)]``; for small mu the difference is the integral of
``-M'`` from a to b, whose integrand is positive.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

__all__ = ["gdp_delta", "gdp_epsilon", "gdp_log_delta", "gdp_mu"]

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_SMALL_MU = 0.5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _mills(x: NDArray) -> NDArray:
    return np.sqrt(np.pi / 2) * special.erfcx(x / np.sqrt(2))


def _minus_mills_slope(x: NDArray) -> NDArray:
    """Return ``-M'(x) = 1 - x M(x)`` for x > -1; beyond 10 by its asymptotic series."""
    near = np.minimum(x, 10.0)
    direct = 1 - near * _mills(near)
    inverse_square = 1 / np.square(np.maximum(x, 10.0))
    # 1/x^2 - 3/x^4 + 15/x^6 - ...: at x = 10 the last term is 1e-18 of the first.
    term = inverse_square
    series = inverse_square
    for k in range(1, 30):
        term = -term * (2 * k + 1) * inverse_square
        series = series + term
    return np.where(x < 10, direct, series)


def _mills_difference(a: NDArray, mu: NDArray) -> NDArray:
    """Return ``M(a) - M(a + mu)`` for a > -1 and mu > 0, to a relative 1e-13."""
    half = np.minimum(mu, _SMALL_MU) / 2
    points = (a + half)[..., None] + half[..., None] * _NODES
    integral = half * (_minus_mills_slope(points) @ _WEIGHTS)
    return np.where(mu < _SMALL_MU, integral, _mills(a) - _mills(a + mu))


def _log_delta(mu: NDArray, epsilon: NDArray) -> NDArray:
    """Return log delta for finite mu > 0 and finite epsilon >= 0 (arrays of one shape)."""
    a = epsilon / mu - mu / 2
    tail = a > -_SMALL_MU / 2 - 1e-9  # holds whenever mu < _SMALL_MU
    safe = np.where(tail, a, 0.0)
    in_tail = -0.5 * safe**2 - _LOG_SQRT_2PI + np.log(_mills_difference(safe, mu))
    body = np.where(tail, -1.0, a)
    log_first = special.log_ndtr(-body)
    log_second = -0.5 * body**2 - _LOG_SQRT_2PI + np.log(_mills(np.maximum(body + mu, 0.0)))
    in_body = log_first + np.log(-np.expm1(np.minimum(log_second - log_first, -1e-300)))
    return np.where(tail, in_tail, in_body)


def _slope_in_epsilon(mu: NDArray, epsilon: NDArray, log_delta: NDArray) -> NDArray:
    """Return d log(delta) / d epsilon = -e^epsilon Phi(-b) / delta."""
    a = epsilon / mu - mu / 2
    with np.errstate(under="ignore"):
        return -np.exp(-0.5 * a**2 - _LOG_SQRT_2PI + np.log(_mills(a + mu)) - log_delta)


def _arrays(*values: ArrayLike) -> tuple[NDArray, NDArray, tuple[int, ...]]:
    """Broadcast two arguments; return them flat, with the shape to give the answer."""
    first, second = np.broadcast_arrays(*(np.asarray(value, float) for value in values))
    return first.ravel(), second.ravel(), first.shape


def _newton(start: NDArray, step) -> NDArray:
    """Iterate `step` (the Newton increment at x) until it stops mattering."""
    x = start
    for _ in range(200):
        change = step(x)
        x = x + change
        if np.all(np.abs(change) <= 4e-16 * np.abs(x)):
            break
    return x


def gdp_log_delta(mu: ArrayLike, epsilon: ArrayLike) -> NDArray[np.float64]:
    """Return the natural log of `gdp_delta`, exact where delta underflows."""
    mu, epsilon, shape = _arrays(mu, epsilon)
    result = np.full(mu.shape, -np.inf)
    inside = (mu > 0) & np.isfinite(mu) & np.isfinite(epsilon)
    result[inside] = _log_delta(mu[inside], epsilon[inside])
    result[np.isinf(mu) & np.isfinite(epsilon)] = 0.0
    return result.reshape(shape)[()]


def gdp_delta(mu: ArrayLike, epsilon: ArrayLike) -> NDArray[np.float64]:
    r"""Return the smallest delta at which mu-GDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    mu : array_like of float, any shape
        The GDP parameter, in [0, inf].
    epsilon : array_like of float, broadcasting with `mu`
        Privacy parameter in nats, in [0, inf].

    Returns
    -------
    ndarray of float, the broadcast shape
        delta in [0, 1]; 0 where mu is 0 or epsilon is infinite, 1 where mu is infinite.

    Notes
    -----
    :math:`\delta = \Phi(\mu/2 - \varepsilon/\mu) - e^\varepsilon\,\Phi(-\mu/2 - \varepsilon/\mu)`.

    References
    ----------
    Dong, Roth and Su, *Gaussian Differential Privacy* (JRSS-B 2022), Corollary 1; arXiv:1905.02383.

    Examples
    --------
    >>> float(gdp_delta(1.0, 0.0).round(12))
    0.382924922548
    """
    return np.exp(gdp_log_delta(mu, epsilon))


def gdp_epsilon(mu: ArrayLike, delta: ArrayLike) -> NDArray[np.float64]:
    """Return the smallest epsilon >= 0 at which mu-GDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    mu : array_like of float, any shape
        The GDP parameter, in [0, inf].
    delta : array_like of float, broadcasting with `mu`
        Privacy parameter in [0, 1].

    Returns
    -------
    ndarray of float, the broadcast shape
        epsilon in nats: 0 where mu is 0 or delta >= gdp_delta(mu, 0); infinite where delta is 0
        and mu is not, and where mu is infinite and delta < 1.

    Notes
    -----
    log delta is concave in epsilon (the integral of a log-concave tail), so Newton's method from
    the upper bound ``mu^2/2 - mu Phi^-1(delta)`` falls monotonically to the root.

    References
    ----------
    Dong, Roth and Su, *Gaussian Differential Privacy* (JRSS-B 2022), Corollary 1; arXiv:1905.02383.

    Examples
    --------
    >>> float(gdp_epsilon(1.0, 1e-5).round(10))
    4.3771780957
    """
    mu, delta, shape = _arrays(mu, delta)
    result = np.zeros(mu.shape)
    result[(mu > 0) & (delta == 0)] = np.inf
    result[np.isinf(mu) & (delta < 1)] = np.inf
    inside = (mu > 0) & np.isfinite(mu) & (delta > 0) & (delta < 1)
    inside[inside] = delta[inside] < special.erf(mu[inside] / np.sqrt(8))
    m, target = mu[inside], np.log(delta[inside])
    if m.size:

        def step(x: NDArray) -> NDArray:
            log_delta = _log_delta(m, x)
            return np.maximum((target - log_delta) / _slope_in_epsilon(m, x, log_delta), -x)

        upper = np.maximum(m * (m / 2 - special.ndtri(delta[inside])), 0.0)
        result[inside] = np.maximum(_newton(upper, step), 0.0)
    return result.reshape(shape)[()]


def gdp_mu(epsilon: ArrayLike, delta: ArrayLike) -> NDArray[np.float64]:
    """Return the largest mu such that mu-GDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : array_like of float, any shape
        Privacy parameter in nats, in [0, inf].
    delta : array_like of float, broadcasting with `epsilon`
        Privacy parameter in [0, 1].

    Returns
    -------
    ndarray of float, the broadcast shape
        mu: 0 where delta is 0 and epsilon finite; infinite where delta is 1 or epsilon infinite.

    Notes
    -----
    The derivative of delta in mu is ``phi(mu/2 - epsilon/mu)``, log-concave in mu, so log delta is
    concave too, and Newton's method rises monotonically from a lower bound: the larger of
    ``z + sqrt(z^2 + 2 epsilon)`` with ``z = Phi^-1(delta)`` and the answer for epsilon = 0,
    ``2 Phi^-1((1 + delta)/2)``.

    References
    ----------
    Dong, Roth and Su, *Gaussian Differential Privacy* (JRSS-B 2022), Corollary 1; arXiv:1905.02383.

    Examples
    --------
    >>> float(gdp_mu(gdp_epsilon(1.5, 1e-5), 1e-5).round(12))
    1.5
    """
    epsilon, delta, shape = _arrays(epsilon, delta)
    result = np.zeros(epsilon.shape)
    result[(delta >= 1) | np.isinf(epsilon)] = np.inf
    inside = (delta > 0) & (delta < 1) & np.isfinite(epsilon)
    e, d = epsilon[inside], delta[inside]
    if e.size:
        target = np.log(d)

        def step(x: NDArray) -> NDArray:
            log_delta = _log_delta(x, e)
            a = e / x - x / 2
            with np.errstate(over="ignore"):
                return (target - log_delta) * np.exp(log_delta + 0.5 * a**2 + _LOG_SQRT_2PI)

        z = special.ndtri(d)
        root = np.sqrt(z**2 + 2 * e)
        lower = np.where(z >= 0, z + root, 2 * e / np.where(z >= 0, 1.0, root - z))
        result[inside] = _newton(np.maximum(lower, np.sqrt(8) * special.erfinv(d)), step)
    return result.reshape(shape)[()]

"""Exact values for M Gaussians at equal pairwise distance, for any M and without Monte Carlo.

M points at distance D from each other (a regular simplex, or M orthogonal signals of length
D/sqrt(2)) under isotropic noise sigma. The simplex is the conjectured worst case among M points
of bounded norm (the weak simplex conjecture), not a proven one: these are exact values for this
channel, not bounds for every Gaussian mechanism.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_nonnegative
from bayesaudit.fano._prior import check_categories
from bayesaudit.fano._solver import even_nodes

__all__ = ["gaussian_success", "simplex_information"]


def gaussian_success(distance: float, *, categories: int) -> float:
    """Return the Bayes-optimal success against M equally likely, equidistant Gaussians.

    Parameters
    ----------
    distance : float
        D/sigma >= 0, pairwise distance over the noise's standard deviation.
    categories : int
        M >= 2; 10**10 costs what 2 costs.

    Returns
    -------
    float
        ``E Phi(Z + D/(sigma sqrt 2))^(M-1)``, in [1/M, 1].

    References
    ----------
    Hayes, Mahloujifar and Balle (2023), *Bounding training data reconstruction in DP-SGD*,
    arXiv:2302.07225 (the attack on orthogonal signals).

    Examples
    --------
    >>> round(gaussian_success(4.0, categories=100), 12)
    0.619657766503
    """
    shift = check_nonnegative(distance, "distance") / np.sqrt(2.0)
    count = check_categories(categories)
    if count == 2:
        return float(special.ndtr(shift / np.sqrt(2.0)))
    reach = np.sqrt(2.0 * np.log(count))
    step = min(0.05, 0.2 / (reach + 1.0))
    z = even_nodes(-12.0, reach + 12.0, step)
    log_terms = -0.5 * z * z + (count - 1.0) * special.log_ndtr(z + shift)
    value = step * np.exp(log_terms).sum() / np.sqrt(2.0 * np.pi)
    return float(min(max(value, 1.0 / count), 1.0))


def simplex_information(distance: float, *, categories: int) -> float:
    """Return the mutual information of M equally likely, equidistant Gaussians.

    Parameters
    ----------
    distance : float
        D/sigma >= 0, pairwise distance over the noise's standard deviation.
    categories : int
        M >= 2, any size.

    Returns
    -------
    float
        I(X; Y) in nats, with an absolute error of about 1e-13.

    Notes
    -----
    With ``b = D/(sigma sqrt 2)``, ``L0(t) = E exp(-t e^{bZ})`` and
    ``L1(t) = E exp(-t e^{bZ + b^2})``, the integral ``log a = int_0^inf (e^-t - e^-at) dt/t``
    for the log of a sum of exponentials gives
    ``I = log M + b^2 - int_R [exp(-e^v) - L0(e^v)^(M-1) L1(e^v)] dv``.

    Examples
    --------
    >>> round(simplex_information(1.0, categories=2), 9)
    0.111421482
    """
    b = check_nonnegative(distance, "distance") / np.sqrt(2.0)
    count = check_categories(categories)
    log_m = float(np.log(count))
    if b == 0:
        return 0.0
    if np.log(count) + special.log_ndtr(-b / np.sqrt(2.0)) < -80:  # every guess is right
        return log_m
    step_z = min(0.25, 0.25 / b)
    z = even_nodes(-9.5, 9.5, step_z)
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    step = 0.2
    v = even_nodes(-log_m - 1.5 * b * b - 42.0, 9.5 * b + 6.0, step)
    total = 0.0
    for start in range(0, v.size, 512):
        part = v[start : start + 512]
        log_power = (count - 1.0) * _log_laplace(part, b, z, weight)
        log_power += _log_laplace(part + b * b, b, z, weight)
        total += float((np.expm1(-np.exp(part)) - np.expm1(log_power)).sum())
    value = log_m + b * b - step * total
    capacity = 0.5 * (count - 1.0) * np.log1p(b * b / count)
    return float(min(max(value, 0.0), capacity, log_m))


def _log_laplace(
    v: NDArray[np.float64], b: float, z: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log of E exp(-e^{v + bZ}), accurate near 0 and in the tail."""
    with np.errstate(over="ignore"):
        exponent = -np.exp(v[:, None] + b * z)
    gone = -np.expm1(exponent) @ weight
    with np.errstate(divide="ignore"):
        left = np.log(np.exp(exponent) @ weight)
    return np.where(gone < 0.5, np.log1p(-np.minimum(gone, 0.5)), left)

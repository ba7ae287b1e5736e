"""From a privacy guarantee to a bound on the mutual information of the secret and the output.

Everything is in nats. What a step of a mechanism reveals depends on which datasets count as
neighbours, by a factor 4 in the divergence of a Gaussian, so every function names its relation:

- "add-or-remove-one": the output with the record against the output without it;
- "replace-one": the output with one value of the record against the output with another.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_nonnegative, check_number
from bayesaudit.fano._arrays import nonnegative, plain
from bayesaudit.fano._prior import as_prior
from bayesaudit.fano._solver import even_nodes, phi

__all__ = [
    "RELATIONS",
    "NeighboringRelation",
    "entropy",
    "gaussian_capacity",
    "gaussian_kl",
    "kl_mixture_information",
    "pure_dp_kl",
    "rdp_information",
    "replace_one_information",
    "subsampled_gaussian_kl",
]

NeighboringRelation = Literal["add-or-remove-one", "replace-one"]
RELATIONS = ("add-or-remove-one", "replace-one")


def entropy(*, categories: int | None = None, prior: ArrayLike | None = None) -> float:
    """Return the entropy H(X) of the secret in nats, which no information about it exceeds.

    Parameters
    ----------
    categories, prior
        The secret, as in `advantage`.

    Examples
    --------
    >>> round(entropy(categories=10), 6), round(entropy(prior=[0.5, 0.25, 0.25]), 6)
    (2.302585, 1.039721)
    """
    return float(as_prior(categories, prior).entropy)


def rdp_information(
    epsilon: ArrayLike,
    order: ArrayLike,
    *,
    neighboring_relation: NeighboringRelation = "add-or-remove-one",
    categories: int | None = None,
    prior: ArrayLike | None = None,
) -> float | NDArray[np.float64]:
    """Bound the information of a mechanism with (order, epsilon) Rényi differential privacy.

    Parameters
    ----------
    epsilon : array_like
        Rényi divergence in nats, >= 0.
    order : array_like
        Order alpha >= 1 (infinity: pure differential privacy); broadcasts with `epsilon`. The
        divergence grows with the order, so that every order >= 1 bounds the Kullback-Leibler
        divergence, and the smallest bounds it best; below 1 nothing follows.
    neighboring_relation : {"add-or-remove-one", "replace-one"}
        With "add-or-remove-one" the bound is epsilon itself; with "replace-one" it is
        `kl_mixture_information`, which is smaller, and the prior is needed.
    categories, prior
        The secret, as in `advantage`; where it is given, the bound is at most its entropy.

    Returns
    -------
    float or ndarray
        Bound on I(X; Y) in nats.

    References
    ----------
    Guo, Sablayrolles and Sanjabi (2023), arXiv:2210.13662. Mironov (2017),
    *Rényi differential privacy*, arXiv:1702.07476.

    Examples
    --------
    >>> rdp_information(0.8, 2.0)
    0.8
    >>> round(rdp_information(1.0, 2.0, neighboring_relation="replace-one", categories=10), 6)
    0.841435
    """
    check_choice(neighboring_relation, "neighboring_relation", RELATIONS)
    divergence = nonnegative(epsilon, "epsilon")
    orders = np.asarray(order)
    if orders.dtype.kind not in "iuf" or not (orders >= 1).all():
        raise ValueError(
            f"order must be >= 1 (lower orders do not bound the information), got {order!r:.60}."
        )
    divergence = np.broadcast_arrays(divergence, orders)[0] + 0.0
    if neighboring_relation == "add-or-remove-one":
        if categories is not None or prior is not None:
            divergence = np.minimum(divergence, as_prior(categories, prior).entropy)
        return plain(divergence)
    return kl_mixture_information(divergence, categories=categories, prior=prior)


def replace_one_information(
    kl: ArrayLike, *, categories: int | None = None, prior: ArrayLike | None = None
) -> float | NDArray[np.float64]:
    """Bound the information by convexity: ``(1 - sum p_i**2) kl``, for replace-one divergences.

    Never better than `kl_mixture_information`; kept because it is the one-line argument: the
    divergence of one output from the mixture of all is at most the mean of the pairwise ones.

    Parameters
    ----------
    kl : array_like
        Largest Kullback-Leibler divergence, in nats, between the outputs under two values of
        the secret.
    categories, prior
        The secret, as in `advantage`.

    Examples
    --------
    >>> round(replace_one_information(1.0, categories=10), 12)
    0.9
    """
    law = as_prior(categories, prior)
    divergence = nonnegative(kl, "kl")
    if law.weights is None:
        mixed = law.rest
    else:
        shares = law.weights / law.total
        mixed = float((shares * np.append(law.rest, 1.0 - shares[1:])).sum())
    return plain(mixed * divergence)


def kl_mixture_information(
    kl: ArrayLike, *, categories: int | None = None, prior: ArrayLike | None = None
) -> float | NDArray[np.float64]:
    """Bound the information by pairwise divergences: ``-sum p_i log(p_i + (1-p_i) e^-kl)``.

    Parameters
    ----------
    kl : array_like
        Largest Kullback-Leibler divergence, in nats, between the outputs under two values of the
        secret (replace-one). Compose it over the steps first and apply this bound once: it is
        concave, so that the sum over steps is never better.
    categories, prior
        The secret, as in `advantage`.

    Returns
    -------
    float or ndarray
        Bound on I(X; Y) in nats, at most ``min(kl, H(X))``.

    References
    ----------
    Kulynych et al. (2025), arXiv:2507.06969. Kolchinsky and Tracey (2017), *Estimating mixture
    entropy with pairwise distances*, Entropy 19(7), 361, doi:10.3390/e19070361.

    Examples
    --------
    >>> round(kl_mixture_information(1.0, categories=10), 12)
    0.84143492126
    """
    law = as_prior(categories, prior)
    divergence = nonnegative(kl, "kl")
    if law.weights is None:
        return plain(-_log_mixture(divergence, 1.0 / law.categories, law.rest))
    shares = law.weights / law.total
    others = np.append(law.rest, 1.0 - shares[1:])
    flat = [-float((shares * _log_mixture(x, shares, others)).sum()) for x in np.ravel(divergence)]
    return plain(np.reshape(flat, divergence.shape))


def _log_mixture(kl: Any, share: Any, others: Any) -> NDArray[np.float64]:
    """Return log(p + (1-p) e^-kl), accurate where it is near 0 and where e^-kl vanishes."""
    lost = -np.expm1(-kl) * others
    near = np.log1p(-np.minimum(lost, 0.5))
    return np.where(lost < 0.5, near, np.log(share + others * np.exp(-kl)))


def pure_dp_kl(epsilon: ArrayLike) -> float | NDArray[np.float64]:
    """Return the largest Kullback-Leibler divergence of pure DP: ``epsilon tanh(epsilon/2)``.

    Holds for the relation under which the mechanism is epsilon-DP. For replace-one, put the
    result into `kl_mixture_information`.

    References
    ----------
    Steinke (2022), *Composition of differential privacy and privacy amplification by
    subsampling*, arXiv:2210.00597.

    Examples
    --------
    >>> round(pure_dp_kl(1.0), 12)
    0.46211715726
    """
    value = nonnegative(epsilon, "epsilon")
    return plain(value * np.tanh(value / 2.0))


def gaussian_kl(
    noise_multiplier: ArrayLike,
    *,
    steps: ArrayLike = 1,
    neighboring_relation: NeighboringRelation,
) -> float | NDArray[np.float64]:
    """Return the divergence of `steps` full-batch Gaussian steps with gradients clipped at C.

    Parameters
    ----------
    noise_multiplier : array_like
        z = sigma/C > 0, the noise's standard deviation over the clipping norm of one gradient.
    steps : array_like of int
        Number T of (adaptive) steps.
    neighboring_relation : {"add-or-remove-one", "replace-one"}
        ``T/(2 z^2)`` or ``2 T/z^2``: replacing a gradient moves the sum by up to 2 C.

    References
    ----------
    Mironov (2017), arXiv:1702.07476, at order 1.

    Examples
    --------
    >>> gaussian_kl(2.0, steps=4, neighboring_relation="add-or-remove-one")
    0.5
    >>> gaussian_kl(2.0, steps=4, neighboring_relation="replace-one")
    2.0
    """
    check_choice(neighboring_relation, "neighboring_relation", RELATIONS)
    z, count = nonnegative(noise_multiplier, "noise_multiplier"), nonnegative(steps, "steps")
    factor = 0.5 if neighboring_relation == "add-or-remove-one" else 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(count > 0, factor * count / z**2, 0.0)
    return plain(value)


def gaussian_capacity(noise_multiplier: float, *, categories: int, steps: int = 1) -> float:
    """Bound the information of Gaussian steps by capacity: ``T (M-1)/2 log(1 + 1/(z^2 (M-1)))``.

    Full-batch steps whose M possible gradients have norm at most C: around their mean they span
    at most M - 1 dimensions, and their power is at most C². Holds for any prior, for adaptive
    steps by the chain rule, and for either relation (the mean is removed).

    Parameters
    ----------
    noise_multiplier : float
        z = sigma/C > 0.
    categories : int
        M >= 2 values of the secret.
    steps : int
        Number T of steps.

    References
    ----------
    Cover and Thomas (2006), *Elements of Information Theory*, Chapter 9 (parallel Gaussian
    channels).

    Examples
    --------
    >>> round(gaussian_capacity(1.0, categories=2), 6)
    0.346574
    """
    z = check_nonnegative(noise_multiplier, "noise_multiplier")
    room = as_prior(categories).categories - 1.0
    count = check_nonnegative(steps, "steps")
    if z == 0:
        return 0.0 if count == 0 else np.inf
    return float(count * 0.5 * room * np.log1p(1.0 / (z * z * room)))


def subsampled_gaussian_kl(noise_multiplier: float, sampling_rate: float) -> float:
    """Return KL((1-q) N(0, z²) + q N(1, z²) || N(0, z²)), one Poisson-subsampled Gaussian step.

    The neighbouring relation is add-or-remove-one, from the output with the record to the output
    without it, which is the direction that bounds the information; T adaptive steps give T times
    the value.

    Parameters
    ----------
    noise_multiplier : float
        z = sigma/C > 0.
    sampling_rate : float
        q in [0, 1], the probability that a record is in a batch.

    Returns
    -------
    float
        The divergence in nats, to about 1e-14 relative.

    Notes
    -----
    The integrand ``n(x) phi(u)`` with ``u = q (e^{x/z - 1/(2 z^2)} - 1)`` is non-negative and
    analytic in a strip of width pi z, so that the trapezoidal rule converges geometrically.
    Accountants of Rényi divergences give NaN at order 1 and loose values just above it.

    References
    ----------
    Abadi et al. (2016), arXiv:1607.00133; Mironov, Talwar and Zhang (2019), *Rényi differential
    privacy of the sampled Gaussian mechanism*, arXiv:1908.10530.

    Examples
    --------
    >>> f"{1000 * subsampled_gaussian_kl(1.0, 0.01):.7f}"
    '0.0838122'
    """
    z = check_number(noise_multiplier, "noise_multiplier")
    q = check_number(sampling_rate, "sampling_rate")
    if not 0 < z < np.inf:
        raise ValueError(f"noise_multiplier must be finite and > 0, got {z!r}.")
    if not 0 <= q <= 1:
        raise ValueError(f"sampling_rate must be in [0, 1], got {q!r}.")
    if q == 0:
        return 0.0
    if q == 1:
        return 0.5 / z**2
    if z <= 0.01 and -np.log(q) < 0.4 / z**2:  # the two outputs do not overlap
        return float(q * (0.5 / z**2 + np.log(q)) + (1.0 - q) * np.log1p(-q))
    step = min(0.25, 0.4 * z)
    nodes = even_nodes(-12.0, 2.0 / z + 12.0, step)
    return float(step * sum(_kl_terms(part, z, q) for part in _parts(nodes)))


def _parts(nodes: NDArray[np.float64], size: int = 1 << 16) -> list[NDArray[np.float64]]:
    return [nodes[i : i + size] for i in range(0, nodes.size, size)]


def _kl_terms(x: NDArray[np.float64], z: float, q: float) -> float:
    exponent = x / z - 0.5 / z**2
    log_mass = np.log(q) + exponent  # u + q = q e^exponent
    small = log_mass < np.log(0.5)
    normal = _normal(x)
    u = q * np.expm1(np.minimum(exponent, 700.0))
    u = np.where(exponent < 700.0, u, np.exp(np.minimum(log_mass, 0.0)))
    # Where u is small, n(x) u^2/2 to first order; else (1 + u) n(x) is the mixture's density.
    total = float((normal[small] * phi(u[small])).sum())
    large = ~small
    shifted = q * _normal(x[large] - 1.0 / z)
    log_ratio = np.logaddexp(np.log1p(-q), log_mass[large])
    mixture = (1.0 - q) * normal[large] + shifted
    return total + float((mixture * log_ratio - shifted + q * normal[large]).sum())


def _normal(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)

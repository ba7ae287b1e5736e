"""Exact draws of the normal score models without shifts, whose priors are conjugate."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice

__all__ = ["ConjugateFamily", "conjugate_draws"]

Array = NDArray[np.float64]
ConjugateFamily = Literal["location", "binormal"]


def conjugate_draws(
    family: ConjugateFamily,
    n: ArrayLike,
    mean: ArrayLike,
    spread: ArrayLike,
    *,
    draws: int,
    rng: np.random.Generator,
    separation: float = 5.0,
) -> tuple[Array, Array]:
    """Draw means and standard deviations of both sides from their posterior.

    Parameters
    ----------
    family : {"location", "binormal"}
        The model.
    n, mean, spread : array_like, shape (..., 2)
        Number of rows, mean and sum of squares about it of non-members and members, on the latent
        scale; leading axes are unrelated audits.
    draws : int
        Number of independent draws.
    rng : numpy.random.Generator
        Randomness.
    separation : float
        As in `bayesaudit.models.location`.

    Returns
    -------
    (location, scale) : tuple of numpy.ndarray, shape (draws, ..., 2)

    Notes
    -----
    Normal and inverse-gamma: with coefficients c | σ² ~ N(0, σ²V) and σ² ~ InverseGamma(½, ½), the
    posterior is of that form again. In the location model c is the sides' centre and separation, in
    the binormal one the side's mean.

    References
    ----------
    Gelman et al., Bayesian Data Analysis, 3rd ed., Section 14.8 (conjugate normal regression).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> location, scale = conjugate_draws("location", [9, 9], [-1, 1], [8, 8], draws=5, rng=rng)
    >>> location.shape, bool((scale[:, 0] == scale[:, 1]).all())
    ((5, 2), True)
    """
    check_choice(family, "family", ("location", "binormal"))
    n, mean, spread = np.broadcast_arrays(*(np.asarray(x, float) for x in (n, mean, spread)))
    squares = spread + n * mean**2
    if family == "binormal":
        precision = separation**-2 + n
        center = n * mean / precision
        rest = squares - center**2 * precision
        scale = _scales(n, rest, draws, rng)
        return center + scale / np.sqrt(precision) * rng.standard_normal(scale.shape), scale
    sign = np.array([-0.5, 0.5])
    a, b, d = 1 + n.sum(-1), (n * sign).sum(-1), separation**-2 + n.sum(-1) / 4
    total, contrast = (n * mean).sum(-1), (n * mean * sign).sum(-1)
    determinant = a * d - b**2
    middle = (d * total - b * contrast) / determinant
    distance = (a * contrast - b * total) / determinant
    rest = squares.sum(-1) - middle * total - distance * contrast
    scale = _scales(n.sum(-1), rest, draws, rng)
    first, second = rng.standard_normal((2, *scale.shape))
    # The Cholesky factor of the inverse of [[a, b], [b, d]].
    distance = distance + scale * np.sqrt(a / determinant) * first
    spread_given = -b / a * np.sqrt(a / determinant) * first + second / np.sqrt(a)
    middle = middle + scale * spread_given
    location = middle[..., None] + distance[..., None] * sign
    return location, np.stack([scale, scale], axis=-1)


def _scales(n: Array, rest: Array, draws: int, rng: np.random.Generator) -> Array:
    shape = (draws, *n.shape)
    return np.sqrt((0.5 + rest / 2) / rng.standard_gamma(0.5 + n / 2, shape))

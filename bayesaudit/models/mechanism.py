"""The mechanism's ε behind several attacks, as a PyMC model of two parameters."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import ndimage

from bayesaudit.counts import AttackCounts
from bayesaudit.dependence import mechanism_posterior
from bayesaudit.models._per_model import create_share

__all__ = ["mechanism"]

#: Points of the table over ε and over s.
SHAPE = (241, 97)
#: The likelihood is held constant below this many nats from its peak.
DEEP = 60.0


def mechanism(
    counts: AttackCounts,
    delta: float,
    *,
    epsilon_scale: float = 10**0.5,
    strength_prior: Any = (1.0, 1.0),
) -> pm.Model:
    """Build the model of a mechanism's ε and of the strength of several attacks on it.

    Parameters
    ----------
    counts : AttackCounts, shape (n_attacks,) or ()
        One tally an attack, each of independent trials.
    delta : float
        δ of the mechanism's (ε, δ)-DP, in [0, 1).
    epsilon_scale : float
        ``mechanism_epsilon`` ~ HalfNormal with this scale.
    strength_prior : tuple of float, RatePrior or callable
        Prior of ``strength``, in (0, 1): shapes of a Beta, an object of the Protocol, or a
        callable ``(name, dims=None) -> tensor``.

    Returns
    -------
    pymc.Model
        With ``mechanism_epsilon`` and ``strength``. It has no ``fnr`` and ``fpr``: there is a pair
        of latent rates for each attack, and they are integrated out. Sample it with ``pm.sample``.

    Notes
    -----
    The likelihood is that of `bayesaudit.dependence.mechanism_posterior`, the exact answer, on
    a cubic spline over (ε, s). Use this model for priors of one's own, or as a part of a larger
    one.

    References
    ----------
    Yildirim et al., "MCMC for Bayesian Estimation of Differential Privacy from Membership Inference
    Attacks", 2025, arXiv:2504.16683.

    Examples
    --------
    >>> attacks = AttackCounts(fn=[35, 40], tp=[65, 60], fp=[25, 30], tn=[75, 70])
    >>> [variable.name for variable in mechanism(attacks, 1e-5).free_RVs]
    ['mechanism_epsilon', 'strength_z']
    """
    exact = mechanism_posterior(counts, delta, epsilon_scale=epsilon_scale)
    highest = float(exact.likelihood.edges[-1])
    # Finer where ε is small: ε = highest·x², x on an even grid.
    x, s = np.linspace(0.0, 1.0, SHAPE[0]), np.linspace(0.0, 1.0, SHAPE[1])
    epsilon = np.maximum(highest * x**2, 1e-6)
    inside = np.clip(s, 1e-6, 1 - 1e-6)
    table = exact.likelihood(np.repeat(epsilon, s.size), np.tile(inside, x.size)).reshape(SHAPE)
    table = np.maximum(table - table.max(), -DEEP)
    weights = ndimage.spline_filter(table, order=3, mode="mirror")
    weights = np.pad(weights, 1, mode="reflect")
    with pm.Model() as model:
        level = pm.HalfNormal("mechanism_epsilon", epsilon_scale)
        strength = create_share(strength_prior, "strength")
        place = pt.sqrt(pt.minimum(level / highest, 1.0))
        pm.Potential("attacks", _spline(weights, place, strength))
    return model


def _spline(weights: np.ndarray, x: Any, s: Any) -> Any:
    """Value at (x, s) in the unit square of the cubic B-spline with padded weights."""
    table = pt.constant(weights)
    rows, columns = (size - 2 for size in weights.shape)
    i, wi = _basis(x, rows)
    j, wj = _basis(s, columns)
    patch = table[i[:, None], j[None, :]]
    return pt.sum(patch * wi[:, None] * wj[None, :])


def _basis(x: Any, size: int) -> tuple[Any, Any]:
    place = x * (size - 1)
    first = pt.clip(pt.floor(place), 0, size - 2)
    t = place - first
    basis = [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]
    return pt.cast(first, "int64") + np.arange(4), pt.stack(basis) / 6

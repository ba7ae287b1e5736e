"""The joint density of the two rates on a grid, and the heights that enclose given masses."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["JointDensity", "joint_density"]

Array = NDArray[np.float64]
#: Points of a side of the grid.
GRID = 160
#: The bandwidth of draws as a multiple of the normal reference rule: contours far out have few
#: draws behind them. Their masses are those of the draws, so that they do not grow with it.
WIDER = 2.5


class JointDensity(NamedTuple):
    """The density in the angles arcsin √rate, in which the posterior is closest to normal.

    Parameters
    ----------
    fpr, fnr : numpy.ndarray, shape (n,)
        The grid, as rates.
    height : numpy.ndarray, shape (n, n)
        Density at (FNR, FPR), up to a factor.
    cuts : numpy.ndarray, shape (n_masses,)
        Heights above which lie the masses, in the order asked for.
    """

    fpr: Array
    fnr: Array
    height: Array
    cuts: Array


def joint_density(post: Any, masses: tuple[float, ...]) -> JointDensity:
    """Return the joint density of FPR and FNR of a posterior of either engine."""
    return _of_marginals(post, masses) if post.engine == "exact" else _of_draws(post, masses)


def _of_marginals(post: Any, masses: tuple[float, ...]) -> JointDensity:
    sides = []
    for marginal in (post.rates.fpr, post.rates.fnr):
        low, high = (float(np.arcsin(np.sqrt(marginal.quantile(q)[0]))) for q in (1e-5, 1 - 1e-5))
        angle = np.linspace(low, high, GRID)
        x, xc = np.sin(angle)[None] ** 2, np.cos(angle)[None] ** 2
        sides.append((angle, np.exp(marginal.log_density(x, xc))[0]))
    (a, fa), (b, fb) = sides
    height = fb[:, None] * fa[None, :]
    ordered = np.sort(height.ravel())[::-1]
    mass = np.cumsum(ordered) / ordered.sum()
    cuts = ordered[np.searchsorted(mass, masses)]
    return JointDensity(np.sin(a) ** 2, np.sin(b) ** 2, height, cuts)


def _of_draws(post: Any, masses: tuple[float, ...]) -> JointDensity:
    rates = post.dt["posterior"].dataset
    angles = np.array([np.arcsin(np.sqrt(rates[name].values.ravel())) for name in ("fnr", "fpr")])
    edges = [_edges(angle) for angle in angles]
    count = np.histogram2d(*angles, bins=edges)[0]
    step = np.array([edge[1] - edge[0] for edge in edges])
    scale = WIDER * angles.shape[1] ** (-1 / 6)
    spread = _covariance(angles, edges) * scale**2 / np.outer(step, step)
    height = _smooth(count, spread)
    place = [
        np.clip(((angle - edge[0]) / (edge[1] - edge[0])).astype(int), 0, GRID - 1)
        for angle, edge in zip(angles, edges, strict=True)
    ]
    cuts = np.quantile(height[tuple(place)], 1 - np.array(masses))
    fnr, fpr = (np.sin((edge[1:] + edge[:-1]) / 2) ** 2 for edge in edges)
    return JointDensity(fpr, fnr, height, cuts)


def _edges(angle: Array) -> Array:
    """Return edges of cells that cover the draws, up to 0 or π/2 where these are near."""
    low, high = float(angle.min()), float(angle.max())
    margin = 0.3 * (high - low) + 1e-9
    return np.linspace(max(low - margin, 0.0), min(high + margin, np.pi / 2), GRID + 1)


def _covariance(angles: Array, edges: list[Array]) -> Array:
    """Return the covariance; of angles that pile up at 0 or π/2 that of their mirrored sample."""
    found = np.atleast_2d(np.cov(angles))
    for i, (angle, edge) in enumerate(zip(angles, edges, strict=True)):
        for wall in (0.0, np.pi / 2):
            if wall in (edge[0], edge[-1]) and abs(angle.mean() - wall) < 2 * angle.std():
                found[i] = found[:, i] = 0.0
                found[i, i] = np.mean((angle - wall) ** 2)
    return found


def _smooth(count: Array, covariance: Array) -> Array:
    """Convolve with a normal kernel of that covariance in cells, reflected at the grid's edges.

    Reflection keeps the mass of draws that pile up at a rate of 0; elsewhere the margin is empty.
    """
    doubled = np.pad(count, [(0, n) for n in count.shape], mode="symmetric")
    w = np.meshgrid(*(2 * np.pi * np.fft.fftfreq(n) for n in doubled.shape), indexing="ij")
    power = (
        covariance[0, 0] * w[0] ** 2
        + 2 * covariance[0, 1] * w[0] * w[1]
        + covariance[1, 1] * w[1] ** 2
    )
    smooth = np.fft.ifft2(np.fft.fft2(doubled) * np.exp(-power / 2)).real
    return np.maximum(smooth[: count.shape[0], : count.shape[1]], 0.0)

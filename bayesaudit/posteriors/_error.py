"""Monte Carlo standard errors of means, shares and quantiles, by ArviZ's effective sample sizes."""

import warnings

import numpy as np
from numpy.typing import NDArray

__all__ = ["ess", "mean_error", "quantile_error", "share_error", "share_ess"]

Array = NDArray[np.float64]


def ess(values: Array, method: str, prob: float | tuple[float, float] | None = None) -> float:
    """Return ArviZ's effective sample size of draws, shape (chains, draws); NaN if constant."""
    from arviz_stats.base import array_stats

    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(array_stats.ess(values, method=method, prob=prob))


def mean_error(values: Array) -> float:
    """Return the standard error of the mean; 0 if constant, infinite if a draw is."""
    if np.isinf(values).any():
        return np.inf
    if np.ptp(values) == 0:
        return 0.0
    return float(np.std(values, ddof=1) / np.sqrt(ess(values, "mean")))


def share_ess(values: Array, level: float) -> float:
    """Return the effective sample size of the share of draws at most `level`.

    Where the indicator is constant it is that of the draws as a whole, or their number if they are
    constant themselves.
    """
    below = values <= level
    if below.any() and not below.all():
        found = ess(below.astype(float), "mean")
    else:
        found = ess(np.where(np.isinf(values), np.finfo(float).max, values), "bulk")
    return found if np.isfinite(found) else float(values.size)


def share_error(values: Array, level: float, size: float | None = None) -> float:
    """Return the standard error of the share of draws at most `level`; `size` is its ESS."""
    if np.isnan(level):
        return np.nan
    share = np.mean(values <= level)
    # Pulled half a draw from the edge, where the plain formula would claim certainty.
    share = (share * values.size + 0.5) / (values.size + 1) if share in (0, 1) else share
    size = share_ess(values, level) if size is None else size
    return float(np.sqrt(share * (1 - share) / size))


def quantile_error(values: Array, prob: float) -> float:
    """Return the standard error of a quantile: half the width of its one-sigma order statistics."""
    from scipy import special

    if prob in (0, 1):
        return np.nan
    size = share_ess(values, float(np.quantile(values, prob, method="inverted_cdf")))
    tail = special.ndtr(-1.0)
    ends = special.betaincinv(size * prob + 1, size * (1 - prob) + 1, [tail, 1 - tail])
    low, high = np.quantile(values, ends, method="inverted_cdf")
    return np.inf if np.isinf(high) else float((high - low) / 2)

"""Bounds for the mean of exchangeable bits: many trials a model, many models (XBern)."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesaudit._checks import check_integers, check_number, check_prob
from bayesaudit._interval import Interval
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.rates import check_models

__all__ = ["xbern_bound", "xbern_interval"]


def xbern_bound(
    k: ArrayLike,
    n: int,
    tail: float,
    *,
    order: Literal[1, 2] = 2,
    side: Literal["lower", "upper"] = "upper",
) -> float:
    """Return a confidence bound for the rate of exchangeable trials.

    Parameters
    ----------
    k : array_like of int, shape (n_models,)
        Errors of every model.
    n : int
        Trials of every model, the same for all; >= 2 for order 2.
    tail : float
        Probability that the bound may err, in (0, ½).
    order : {1, 2}
        1 takes the n trials of a model for one (their largest possible correlation); 2 bounds the
        correlation by the second moment, at half of the tail.
    side : {"lower", "upper"}
        Which end.

    Returns
    -------
    float
        In [0, 1].

    Notes
    -----
    With J models, z the normal quantile of the tail, m₁ the mean of k/n and m₂ that of
    k(k − 1)/(n(n − 1)): order 1 is the root of (J + z²)μ² − (2Jm₁ + z²)μ + Jm₁² = 0; order 2 that
    of (J + z²)μ² − (2Jm₁ + z²/n)μ + Jm₁² − z²(n − 1)/n μ₂ = 0 with μ₂ the order-1 upper bound of
    m₂, since the variance of k/n is μ/n + (n − 1)μ₂/n − μ². Neither exceeds m₁ + z√(1/(4J)),
    the largest variance there is. **Asymptotic in the number of models**, not guaranteed.

    References
    ----------
    Pillutla et al., "Unleashing the Power of Randomization in Auditing Differentially Private ML",
    NeurIPS 2023, arXiv:2305.18447, Section 4 and Appendix (Wilson intervals of order 1 and 2).

    Examples
    --------
    >>> round(xbern_bound([3, 5, 4, 2, 6], 20, 0.05), 4)
    0.5583
    """
    k = check_integers(k, "k")
    n = int(check_integers(n, "n", minimum=1))
    tail = check_number(tail, "tail")
    if not 0 < tail < 0.5:
        raise ValueError(f"tail must be in (0, 0.5), got {tail!r}.")
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, got {order!r}.")
    if k.ndim != 1 or k.size < 2:
        raise ValueError(f"k must hold at least two models, got shape {k.shape}.")
    if k.max() > n:
        raise ValueError(f"k must be at most n = {n}, got {int(k.max())}.")
    if side not in ("lower", "upper"):
        raise ValueError(f"side must be 'lower' or 'upper', got {side!r}.")
    # By symmetry the lower bound of a rate is the complement of its complement's upper bound.
    if side == "lower":
        return 1 - _upper(n - k, n, tail, order)
    return _upper(k, n, tail, order)


def _upper(k: np.ndarray, n: int, tail: float, order: int) -> float:
    models, first = k.size, float(np.mean(k / n))
    if order == 2 and n > 1:
        z = -float(special.ndtri(tail / 2))
        second = float(np.mean(k * (k - 1.0) / (n * (n - 1.0))))
        second = min(_root(models, second, z, z**2, 0.0), second + z * np.sqrt(0.25 / models), 1.0)
        found = _root(models, first, z, z**2 / n, z**2 * (n - 1) / n * second)
    else:
        z = -float(special.ndtri(tail))
        found = _root(models, first, z, z**2, 0.0)
    return float(min(found, first + z * np.sqrt(0.25 / models), 1.0))


def _root(models: int, mean: float, z: float, linear: float, constant: float) -> float:
    """Larger root of (J + z²)x² − (2J·mean + linear)x + J·mean² − constant."""
    a, b, c = models + z**2, 2 * models * mean + linear, models * mean**2 - constant
    return (b + np.sqrt(max(b**2 - 4 * a * c, 0.0))) / (2 * a)


def xbern_interval(
    counts: AttackCounts, measure: Measure, prob: float = 0.90, *, order: Literal[1, 2] = 2
) -> Interval:
    """Return the range of a measure over the rectangle of two XBern intervals.

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model; all models have equal numbers of members and of non-members.
    measure : Measure
        What is measured.
    prob : float
        Level in (0, 1); every end of either rate has the tail (1 − prob)/4.
    order : {1, 2}
        See `xbern_bound`.

    Returns
    -------
    Interval
        With statement "confidence" and guarantee "asymptotic".

    References
    ----------
    Pillutla et al., NeurIPS 2023, arXiv:2305.18447.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> xbern_interval(counts, ba.Epsilon(delta=1e-5)).method
    'xbern order 2'
    """
    counts = check_models(counts)
    prob = check_prob(prob)
    if len(counts.shape) != 1 or counts.shape[0] < 2:
        raise ValueError(f"counts must be one audit of at least two models, got {counts.shape}.")
    ends = []
    for name, k, n in (
        ("members", counts.fn, counts.n_pos),
        ("non-members", counts.fp, counts.n_neg),
    ):
        if np.any(n != n[0]) or n[0] < 1:
            raise ValueError(
                f"counts must have equal numbers of {name} in every model, got {n.tolist()[:8]}."
            )
        tail = (1 - prob) / 4
        ends.append(
            tuple(
                np.array(xbern_bound(k, int(n[0]), tail, order=order, side=side))
                for side in ("lower", "upper")
            )
        )
    lower, upper = measure.over(*ends)
    return Interval(
        lower=float(lower),
        upper=float(upper),
        prob=prob,
        kind="eti",
        statement="confidence",
        method=f"xbern order {order}",
        guarantee="asymptotic",
    )

"""The lower bound that holds at all times at once: look when you like, stop when you like."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_prob
from bayesaudit._interval import Interval
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Epsilon
from bayesaudit.rates import BetaRate

__all__ = ["anytime_bound", "log_e_value"]

Array = NDArray[np.float64]
#: Shape parameters of the mixing Beta.
MIX = 0.5
GRID = 65
ZOOMS = 4


def anytime_bound(counts: AttackCounts, measure: Epsilon, prob: float = 0.90) -> Interval:
    """Return a lower bound on ε̂ that holds at all times at once (guaranteed).

    The audit may be looked at after every trial and stopped for any reason.

    Parameters
    ----------
    counts : AttackCounts
        One tally, or an array of tallies, whose trials are independent; for dependent trials of
        several models see `bayesaudit.betting.anytime_models`.
    measure : Epsilon
        Of direction "member", with any `term`. For direction "both" the bound of the declared
        direction is returned, which is one on the folded ε̂ as well.
    prob : float
        Level in (0, 1): over all times together the bound errs with probability (1 − prob)/2 at
        most.

    Returns
    -------
    Interval
        Kind "lower", statement "confidence", method "anytime", guarantee "guaranteed".

    Notes
    -----
    For each rate and every p, ``M(p) = ∫_{q<p} q^k (1−q)^(n−k) dπ(q | q < p) / [p^k (1−p)^(n−k)]``
    with π = Beta(½, ½) is an e-process against {rate >= p}: whatever the rate there, its mean at
    any stopping time is at most 1. The product of the two rates' is one against {FNR >= x, FPR >=
    y}, and ε is rejected when its minimum over the boundary of {ε̂ <= ε} reaches 1/level (Ville).

    References
    ----------
    Robbins, Ann. Math. Statist. 41 (1970) 1397 (mixtures, Ville's inequality). Ramdas et al.,
    Statist. Sci. 38 (2023) 576, arXiv:2210.01948 (e-processes).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=70, tp=130, fp=50, tn=150)
    >>> print(f"{anytime_bound(counts, ba.Epsilon(1e-5, 'member')).lower:.4f}")
    0.4930
    """
    if not isinstance(measure, Epsilon):
        raise TypeError(f"measure must be Epsilon, got {measure!r}.")
    prob = check_prob(prob)
    threshold = -math.log((1 - prob) / 2)
    flat = zip(*(np.ravel(getattr(counts, cell)) for cell in ("fn", "tp", "fp", "tn")), strict=True)
    lower = [_anytime(*(int(v) for v in cells), measure, threshold) for cells in flat]
    return Interval(
        lower=np.array(lower).reshape(counts.shape)[()],
        upper=np.full(counts.shape, math.inf)[()],
        prob=prob,
        kind="lower",
        statement="confidence",
        method="anytime",
        guarantee="guaranteed",
    )


def log_e_value(errors: int, rights: int, p: Array) -> Array:
    """Return log M(p), the e-process against {rate >= p}.

    Parameters
    ----------
    errors, rights : int
        k and n − k.
    p : numpy.ndarray
        Rates in (0, 1).
    """
    p = np.asarray(p, float)
    pc = 1 - p
    log_p = np.log(p)[None, :]
    after = BetaRate([errors + MIX], [rights + MIX])
    before = BetaRate([MIX], [MIX])
    # log_cdf goes on in logs where the incomplete beta function underflows.
    mixture = after.log_cdf(log_p, pc[None, :])[0] + special.betaln(errors + MIX, rights + MIX)
    weight = before.log_cdf(log_p, pc[None, :])[0] + special.betaln(MIX, MIX)
    return mixture - weight - special.xlogy(errors, p) - special.xlogy(rights, pc)


def _anytime(fn: int, tp: int, fp: int, tn: int, measure: Epsilon, threshold: float) -> float:
    room = 1 - measure.delta

    def rejected(epsilon: float) -> bool:
        """Whether the smallest product of e-values on the boundary reaches the threshold."""
        e = math.exp(epsilon)
        kink = room / (1 + e)
        pieces = []
        if measure.term != "fpr":
            # y = room − e x: FNR runs up to the kink, or to where the line meets the axis.
            pieces.append((fn, tp, fp, tn, kink if measure.term == "max" else room / e, e))
        if measure.term != "fnr":
            pieces.append((fp, tn, fn, tp, kink if measure.term == "max" else room / e, e))
        return all(_smallest(*piece, room) >= threshold for piece in pieces)

    if room <= 0 or not rejected(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while rejected(high):
        low, high = high, 2 * high
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


def _smallest(k: int, kc: int, j: int, jc: int, end: float, e: float, room: float) -> float:
    """Minimum of log M₁(x) + log M₂(room − e x) over x in (0, end], by ever finer grids."""
    left, right = 0.0, 1.0
    for _ in range(ZOOMS):
        t = np.linspace(left, right, GRID)
        # Steps in the angle resolve small rates at either end of the line.
        x = np.clip(end * np.sin(np.pi * t / 2) ** 2, 1e-300, None)
        y = np.clip(room - e * x, 1e-300, 1 - 2.0**-53)
        value = log_e_value(k, kc, np.minimum(x, 1 - 2.0**-53)) + log_e_value(j, jc, y)
        best = int(np.argmin(value))
        left, right = t[max(best - 1, 0)], t[min(best + 1, GRID - 1)]
    return float(value[best])

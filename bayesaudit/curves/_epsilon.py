"""ε(δ) from one pair of rates: pointwise and simultaneous bands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_prob, check_probability
from bayesaudit._quadrature import legendre_rule
from bayesaudit._result import Table
from bayesaudit.counts import AttackCounts
from bayesaudit.intervals import rectangle
from bayesaudit.measures import Direction, Epsilon
from bayesaudit.posteriors import ExactPosterior, posterior
from bayesaudit.rates import IndependentRates, Prior

__all__ = ["EpsilonCurve", "band_mass", "epsilon_curve"]

Array = NDArray[np.float64]
#: Panels and nodes in FNR of the mass of a band, whose integrand has kinks: errors are about 1e-7.
PANELS, NODES = 96, 24
#: Pointwise tails tried, as parts of the nominal one, between which the simultaneous one lies.
PARTS = np.geomspace(0.25, 1.0, 9)


@dataclass(frozen=True, slots=True, eq=False)
class EpsilonCurve(Table):
    """The posterior of ε̂ as a function of δ, with bands.

    Parameters
    ----------
    delta : numpy.ndarray, shape (n_delta,)
        Rising values of δ.
    median : numpy.ndarray, shape (n_delta,)
        Posterior median of ε̂(δ).
    lower, upper : numpy.ndarray, shape (n_delta,)
        Pointwise ends: credible at every δ taken alone.
    simultaneous_lower, simultaneous_upper : numpy.ndarray, shape (n_delta,)
        Ends of a band that holds the whole curve.
    prob : float
        Level of both: each end errs by (1 − prob)/2 pointwise, and the band holds the whole curve
        with posterior mass `prob` (or, for kind "lower", the curve is above it with mass
        (1 + prob)/2).
    kind : {"eti", "lower"}
        Two-sided, or lower ends alone.
    pointwise_mass : float
        Posterior mass with which the *pointwise* ends hold the whole curve.
    simultaneous_mass : float
        The same of the simultaneous band: the target, to 1e-4.
    confidence_lower, confidence_upper : numpy.ndarray or None, shape (n_delta,)
        Clopper–Pearson ends. One rectangle of rates serves every δ, so that they hold at all δ at
        once; ``None`` where there are no counts.
    direction : {"both", "member"}
        As in `Epsilon`.
    counts : AttackCounts or None
        The counts, echoed.
    """

    delta: Array
    median: Array
    lower: Array
    upper: Array
    simultaneous_lower: Array
    simultaneous_upper: Array
    prob: float
    kind: Literal["eti", "lower"]
    pointwise_mass: float
    simultaneous_mass: float
    confidence_lower: Array | None
    confidence_upper: Array | None
    direction: Direction
    counts: AttackCounts | None

    _if_any = ("confidence_lower", "confidence_upper")

    def columns(self) -> dict[str, Array]:
        """Return what varies with δ, by column name, for a table or a CSV file."""
        names = ["delta", "median", "lower", "upper", "simultaneous_lower", "simultaneous_upper"]
        names += ["confidence_lower", "confidence_upper"] if self.counts is not None else []
        if self.kind == "lower":
            names = [name for name in names if not name.endswith("upper")]
        return {name: getattr(self, name) for name in names}


def epsilon_curve(
    data: AttackCounts | IndependentRates,
    delta: ArrayLike,
    prob: float = 0.90,
    *,
    direction: Direction = "both",
    kind: Literal["eti", "lower"] = "eti",
    prior: Prior = "jeffreys",
) -> EpsilonCurve:
    """Return the posterior of ε̂ at many δ, from one set of counts.

    Parameters
    ----------
    data : AttackCounts or IndependentRates
        One tally, whose threshold was not chosen on it.
    delta : array_like, shape (n_delta,)
        Values of δ in [0, 1].
    prob : float
        Level in (0, 1).
    direction : {"both", "member"}
        As in `Epsilon`.
    kind : {"eti", "lower"}
        Two-sided bands, or lower ends alone.
    prior : {"jeffreys", "uniform"} or tuple or dict
        See `bayesaudit.posterior`.

    Returns
    -------
    EpsilonCurve

    Notes
    -----
    ε̂(δ) is a function of the two rates, so that all of the curve is known when they are. The
    simultaneous band takes the same pointwise tail at every δ, chosen so that the joint posterior
    of the rates puts mass `prob` on curves inside the band, by quadrature over FNR and in closed
    form over FPR. Pointwise ends at prob 0.9 hold whole curves with nearly that mass, since the
    values at different δ move together.

    Both bands inherit that ε̂ is a maximum of two ratios: where FNR ≈ FPR their lower ends err more
    often than stated (see `two_direction_bound`).

    References
    ----------
    Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199, Eqs. 2 and 3.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> curve = epsilon_curve(counts, [1e-5, 1e-2, 1e-1], kind="lower")
    >>> curve.lower.round(4), round(curve.pointwise_mass, 2)
    (array([0.6626, 0.6459, 0.4812]), 0.95)
    """
    delta = np.unique([check_probability(value, "delta") for value in np.ravel(delta)])
    if delta.size == 0:
        raise ValueError("delta must hold at least one value, got none.")
    prob = check_prob(prob)
    check_choice(kind, "kind", ("eti", "lower"))
    posteriors = [posterior(data, Epsilon(value, direction), prior=prior) for value in delta]
    if posteriors[0].shape != ():
        raise ValueError(f"data must be a single tally, got shape {posteriors[0].shape}.")
    tail = (1 - prob) / 2
    target = 1 - tail if kind == "lower" else prob
    measures = [one.measure for one in posteriors]

    def mass(lower: Array, upper: Array) -> float:
        return band_mass(posteriors[0].rates, measures, lower, upper)

    tails = tail * np.concatenate([[1 / delta.size], PARTS[PARTS > 1 / delta.size]])
    if kind == "lower" or delta.size == 1:
        tails = np.unique(np.append(tails, tail))
    lower, upper = _ends(posteriors, tails, kind)
    masses = np.array([mass(*ends) for ends in zip(lower.T, upper.T, strict=True)])
    # Masses fall as the tails grow; a band of one δ, or one with an atom throughout, is at most
    # conservative at the nominal tail.
    chosen = tail
    if masses[-1] < target:
        chosen = float(np.exp(np.interp(-target, -masses, np.log(tails))))
    band_lower, band_upper = (ends[:, 0] for ends in _ends(posteriors, np.array([chosen]), kind))
    counts = data if isinstance(data, AttackCounts) else None
    confidence = dict.fromkeys(("lower", "upper"))
    if counts is not None:
        box = rectangle(counts, prob)
        found = [box.interval(measure) for measure in measures]
        confidence = {
            end: np.array([float(getattr(one, end)) for one in found]) for end in confidence
        }
    return EpsilonCurve(
        delta=delta,
        median=np.array([float(one.median()) for one in posteriors]),
        lower=lower[:, -1],
        upper=upper[:, -1],
        simultaneous_lower=band_lower,
        simultaneous_upper=band_upper,
        prob=prob,
        kind=kind,
        pointwise_mass=float(masses[-1]),
        simultaneous_mass=mass(band_lower, band_upper),
        confidence_lower=confidence["lower"],
        confidence_upper=confidence["upper"],
        direction=direction,
        counts=counts,
    )


def _ends(posteriors: Sequence[ExactPosterior], tails: Array, kind: str) -> tuple[Array, Array]:
    """Lower and upper ends, shape (n_delta, n_tails)."""
    lower = np.array([one.quantile(tails) for one in posteriors])
    if kind == "lower":
        return lower, np.full(lower.shape, np.inf)
    return lower, np.array([one.isf(tails) for one in posteriors])


def band_mass(
    rates: IndependentRates, measures: Sequence[Epsilon], lower: ArrayLike, upper: ArrayLike
) -> float:
    """Return the posterior mass of ``lower <= ε̂(δ) <= upper`` at all δ at once.

    Parameters
    ----------
    rates : IndependentRates
        One tally.
    measures : sequence of Epsilon
        One a δ, of one direction.
    lower, upper : array_like, shape (n_delta,)
        The band; a lower end of 0 excludes nothing.

    Notes
    -----
    At a given FNR the FPR with ε̂(δ) <= u form an interval that holds the chance line
    FPR = 1 − FNR. Curves below `upper` are an intersection of such intervals, curves below `lower`
    somewhere a union of them, and both are intervals again.
    """
    start, end = (float(edge[0]) for edge in rates.fnr.support)
    u, _, weight = legendre_rule(NODES)
    width = (end - start) / PANELS
    theta = (start + width * (np.arange(PANELS)[:, None] + u)).reshape(1, -1)
    x, xc = np.sin(theta) ** 2, np.cos(theta) ** 2
    density = np.exp(rates.fnr.log_density(x, xc)) * np.tile(weight, PANELS) * width
    low, high = np.zeros_like(x), np.ones_like(x)
    hole_low, hole_high = np.full_like(x, np.inf), np.full_like(x, -np.inf)
    for measure, below, above in zip(measures, np.ravel(lower), np.ravel(upper), strict=True):
        if np.isfinite(above):
            ends = measure.region(above, x)
            low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
        if below > 0:
            ends = measure.region(below, x)
            hole_low, hole_high = np.minimum(hole_low, ends[0]), np.maximum(hole_high, ends[1])

    def cdf(y: Array) -> Array:
        return rates.fpr.cdf(y, 1 - y)

    inside = np.maximum(cdf(high) - cdf(low), 0.0)
    hole_low, hole_high = np.clip(hole_low, low, high), np.clip(hole_high, low, high)
    inside -= np.maximum(cdf(hole_high) - cdf(hole_low), 0.0)
    return float(np.clip(np.sum(density * np.maximum(inside, 0.0)), 0.0, 1.0))

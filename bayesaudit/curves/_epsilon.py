"""ε(δ) from one pair of rates: pointwise and simultaneous bands."""

from collections.abc import Callable, Sequence
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

__all__ = ["EpsilonCurve", "band_mass", "delta_grid", "epsilon_curve"]

Array = NDArray[np.float64]
#: The mass of a band in FNR: panels to begin with, nodes a panel, the change of a panel at which it
#: is halved again, and how often at most. The integrand has kinks, which halving pins down.
PANELS, NODES, SETTLED, HALVINGS = 48, 12, 1e-9, 40
#: Quantiles of both rates at which the fall of the curve is looked for, and the smallest rate.
QUANTILES, TINY = (0.05, 0.5, 0.95), 1e-300
#: Parts of its value at δ = 0 that the curve has lost at the points of the grid.
LOST = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0])
#: Excess of the simultaneous mass over the target, and width in the log of the tail, at which the
#: search for the tail ends; a mass changes by at most the tail itself a unit of its log.
EXCESS, WIDTH = 1e-7, 1e-6


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
        The same of the simultaneous band: at least the target, and above it by less than 1e-6
        unless the mass jumps there, because an end leaves an atom (ε̂ = 0), or unless the pointwise
        ends already hold more.
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
    delta: ArrayLike | None = None,
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
    delta : array_like, shape (n_delta,), optional
        Values of δ in [0, 1]; by default `delta_grid`, fine where the curve falls.
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
    if delta is None:
        delta = delta_grid(posterior(data, Epsilon(0.0, direction), prior=prior).rates, direction)
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

    lower, upper = _ends(posteriors, tail, kind)
    pointwise = held = mass(lower, upper)
    band_lower, band_upper = lower, upper
    if pointwise < target and delta.size > 1:
        band_lower, band_upper, held = _simultaneous(
            lambda tail: _ends(posteriors, tail, kind), mass, tail, pointwise, target, delta.size
        )
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
        lower=lower,
        upper=upper,
        simultaneous_lower=band_lower,
        simultaneous_upper=band_upper,
        prob=prob,
        kind=kind,
        pointwise_mass=pointwise,
        simultaneous_mass=held,
        confidence_lower=confidence["lower"],
        confidence_upper=confidence["upper"],
        direction=direction,
        counts=counts,
    )


def delta_grid(rates: IndependentRates, direction: Direction = "both") -> Array:
    """Return some 35 values of δ that show where ε̂(δ) falls.

    Parameters
    ----------
    rates : IndependentRates
        One tally.
    direction : {"both", "member"}
        As in `Epsilon`.

    Returns
    -------
    numpy.ndarray
        0, decades up to 0.01, and the δ at which ε̂ of low, middle and high quantiles of the rates
        has lost some of its value at δ = 0, from 2 % to all of it.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(0))
    >>> grid = delta_grid(post.rates)
    >>> grid.size, grid[:3].tolist(), round(float(grid[-1]), 2)
    (36, [0.0, 1e-06, 1e-05], 0.54)
    """
    found = [np.array([0.0]), np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2])]
    for q in QUANTILES:
        x, y = (float(np.squeeze(side.quantile(q))) for side in (rates.fnr, rates.fpr))
        if direction == "both" and x + y > 1:
            x, y = 1 - x, 1 - y
        x, y = max(x, TINY), max(y, TINY)
        epsilon = float(Epsilon(0.0, direction).of(x, y))
        level = epsilon * (1 - LOST)
        # The largest δ at which either of log((1 − δ − x)/y) and log((1 − δ − y)/x) is the level.
        fall = np.maximum(1 - x - y * np.exp(level), 1 - y - x * np.exp(level))
        found.append(np.clip(fall, 0.0, 1.0))
    return np.unique(np.concatenate(found))


def _simultaneous(
    ends: Callable[[float], tuple[Array, Array]],
    mass: Callable[[Array, Array], float],
    tail: float,
    pointwise: float,
    target: float,
    size: int,
) -> tuple[Array, Array, float]:
    """Return the band of the largest pointwise tail that holds the target, and what it holds.

    Masses fall as the tail grows, from the target at least at tail/size, by the union bound. They
    jump where an end leaves an atom, so that the end of the bracket that holds enough is kept.
    """
    missed = np.log(1 - target - EXCESS / 2)

    def gap(value: float) -> float:
        """Return how far a mass is above what is sought, on the scale where it is near linear."""
        return float(missed - np.log(max(1 - value, 1e-300)))

    low, high = np.log(tail / size), np.log(tail)
    band = ends(tail / size)
    held = mass(*band)
    above, below, last = gap(held), gap(pointwise), 0
    while held - target > EXCESS and high - low > WIDTH:
        # The secant; an end that stays twice is weighed down (Illinois).
        step = np.clip(above / (above - below), 0.001, 0.999)
        middle = low + step * (high - low)
        found = ends(np.exp(middle))
        value = mass(*found)
        if value >= target:
            low, band, held, above = middle, found, value, gap(value)
            below, last = below / (2 if last == 1 else 1), 1
        else:
            high, below = middle, gap(value)
            above, last = above / (2 if last == -1 else 1), -1
    return *band, held


def _ends(posteriors: Sequence[ExactPosterior], tail: float, kind: str) -> tuple[Array, Array]:
    """Lower and upper ends, shape (n_delta,)."""
    lower = np.array([float(one.quantile(tail)) for one in posteriors])
    if kind == "lower":
        return lower, np.full(lower.shape, np.inf)
    return lower, np.array([float(one.isf(tail)) for one in posteriors])


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
    ends = list(zip(measures, np.ravel(lower), np.ravel(upper), strict=True))

    def cdf(y: Array) -> Array:
        return rates.fpr.cdf(y, 1 - y)

    def integrand(theta: Array) -> Array:
        x, xc = np.sin(theta) ** 2, np.cos(theta) ** 2
        low, high = np.zeros_like(x), np.ones_like(x)
        hole_low, hole_high = np.full_like(x, np.inf), np.full_like(x, -np.inf)
        for measure, below, above in ends:
            if np.isfinite(above):
                inside = measure.region(above, x)
                low, high = np.maximum(low, inside[0]), np.minimum(high, inside[1])
            if below > 0:
                hole = measure.region(below, x)
                hole_low, hole_high = np.minimum(hole_low, hole[0]), np.maximum(hole_high, hole[1])
        held = np.maximum(cdf(high) - cdf(low), 0.0)
        hole_low, hole_high = np.clip(hole_low, low, high), np.clip(hole_high, low, high)
        held -= np.maximum(cdf(hole_high) - cdf(hole_low), 0.0)
        return np.exp(rates.fnr.log_density(x, xc)) * np.maximum(held, 0.0)

    support = (float(edge[0]) for edge in rates.fnr.support)
    return float(np.clip(_integral(integrand, *support), 0.0, 1.0))


def _integral(function: Callable[[Array], Array], start: float, end: float) -> float:
    """Integrate over panels, halved where that still changes anything; takes shape (1, n)."""
    u, _, weight = legendre_rule(NODES)

    def rule(left: Array, width: Array) -> Array:
        value = function((left[:, None] + width[:, None] * u).reshape(1, -1))
        return value.reshape(left.size, NODES) @ weight * width

    left, total = np.linspace(start, end, PANELS, endpoint=False), 0.0
    width = np.full(PANELS, (end - start) / PANELS)
    whole = rule(left, width)
    for _ in range(HALVINGS):
        left, width = np.concatenate([left, left + width / 2]), np.tile(width / 2, 2)
        parts = rule(left, width)
        halves = parts.reshape(2, -1).sum(axis=0)
        open_ = np.abs(halves - whole) > SETTLED
        total += float(halves[~open_].sum())
        if not open_.any():
            return total
        again = np.tile(open_, 2)
        left, width, whole = left[again], width[again], parts[again]
    return total + float(whole.sum())

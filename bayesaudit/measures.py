"""Measures: what of privacy is measured, a function of the two error rates, with its region.

A measure knows two things and nothing about posteriors: `of(fnr, fpr)`, the value at a pair of
rates, and `region(level, fnr)`, the range of FPR for which the value is at most a level. What lies
*above* a level is described once more as disjoint *wedges*, in a form that keeps full relative
precision where a rate or its complement is tiny; that is what the exact engine integrates over.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesaudit._checks import check_choice, check_probability
from bayesaudit._gdp import gdp_delta, gdp_epsilon, gdp_mu

__all__ = ["Advantage", "Epsilon", "GaussianMu", "Measure", "Wedge", "boundary_polygon"]

Array = NDArray[np.float64]
Direction = Literal["both", "member"]
Term = Literal["fnr", "fpr", "max"]
Ends = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True, slots=True)
class Wedge:
    """One piece of the set of rates whose measure exceeds a level.

    The piece is ``{outer > start(level), inner < curve(level, outer)}``, where *outer* is one rate
    and *inner* the other; two wedges over the same falling boundary share the box
    ``{outer <= start, inner <= curve(start)}``, which `corner` counts once.

    Parameters
    ----------
    outer : {"fnr", "fpr"}
        The rate that the engine integrates over.
    mirrored : bool
        Whether the wedge is of the complements (1 − FNR, 1 − FPR): an attack that inverts its
        guesses.
    curve : callable
        ``curve(level, x, xc) -> (log_y, yc, log_slope)``: with x the outer rate and xc = 1 − x, the
        logarithm of the inner rate on the boundary, its complement, and the logarithm of
        −∂y/∂level.
    inverse : callable or None
        ``inverse(level, y, yc) -> (x, xc)``: the outer rate at which the boundary passes y; only
        used to place quadrature panels. ``None``: unknown.
    start : callable or None
        ``start(level) -> (log_x, xc)`` with x = y on the boundary; ``None``: 0, the wedge is whole.
    corner : bool
        Whether this wedge also counts the box below `start`.
    """

    outer: Literal["fnr", "fpr"]
    mirrored: bool
    curve: Callable[[Array, Array, Array], tuple[Array, Array, Array]]
    inverse: Callable[[Array, Array, Array], tuple[Array, Array]] | None = None
    start: Callable[[Array], tuple[Array, Array]] | None = None
    corner: bool = False


def _pair(wedge: Wedge) -> tuple[Wedge, Wedge]:
    """Both orientations of a boundary that is its own inverse; the first counts the corner."""
    shared = (wedge.curve, wedge.inverse, wedge.start)
    return (
        Wedge("fnr", wedge.mirrored, *shared, corner=True),
        Wedge("fpr", wedge.mirrored, *shared),
    )


class Measure(ABC):
    """A function of (FNR, FPR) that falls as either rate rises, possibly folded.

    Subclass it with `of` and `region` to use a new privacy notion with every posterior: the exact
    engine then integrates over FNR alone. Overriding `wedges` as the measures here do adds speed
    and precision in the far tails.
    """

    #: The smallest value; a posterior may have an atom there. ``-inf`` where there is none.
    lowest: float = 0.0
    #: The supremum.
    highest: float = math.inf
    #: Whether the measure is that of the attack or of its inversion, whichever is larger.
    folded: bool = False
    #: Whether rates of positive area have the measure `lowest`, so that a posterior has an atom.
    has_atom: bool = True

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name for axes, tables and files."""

    @abstractmethod
    def of(
        self,
        fnr: ArrayLike,
        fpr: ArrayLike,
        *,
        tpr: ArrayLike | None = None,
        tnr: ArrayLike | None = None,
    ) -> Array:
        """Return the measure at given rates.

        Parameters
        ----------
        fnr, fpr : array_like
            False negative and false positive rates in [0, 1]; they broadcast.
        tpr, tnr : array_like, optional
            Their complements, where these are known more precisely than ``1 - fnr`` and
            ``1 - fpr``.

        Returns
        -------
        numpy.ndarray
            The measure, of the broadcast shape.
        """

    @abstractmethod
    def region(self, level: ArrayLike, fnr: ArrayLike) -> tuple[Array, Array]:
        """Return the range of FPR for which the measure is at most `level`.

        Parameters
        ----------
        level : array_like
            The value of the measure; broadcasts with `fnr`.
        fnr : array_like
            False negative rate in [0, 1].

        Returns
        -------
        (low, high) : tuple of numpy.ndarray
            Clipped to [0, 1]; ``low > high`` where no FPR qualifies.
        """

    def wedges(self) -> tuple[Wedge, ...]:
        """Return the disjoint wedges that together are ``{measure > level}``."""

        def below(level: Array, x: Array, xc: Array) -> tuple[Array, Array, Array]:
            return _curve_of(lambda e: self.region(e, x)[0], level)

        def above(level: Array, x: Array, xc: Array) -> tuple[Array, Array, Array]:
            # In mirrored coordinates x is 1 − FNR and the excluded FPR lie above `high`.
            return _curve_of(lambda e: 1 - self.region(e, xc)[1], level)

        return (Wedge("fnr", False, below), Wedge("fnr", True, above))

    def over(
        self, fnr: Ends, fpr: Ends, *, tpr: Ends | None = None, tnr: Ends | None = None
    ) -> Ends:
        """Return the smallest and the largest value over a rectangle of rates.

        Parameters
        ----------
        fnr, fpr : tuple of array_like
            Lower and upper ends of the rates.
        tpr, tnr : tuple of array_like, optional
            Lower and upper ends of their complements, where these are known more precisely.

        Returns
        -------
        (smallest, largest) : tuple of numpy.ndarray
        """
        tpr, tnr = tpr or _complement(fnr), tnr or _complement(fpr)
        if not self.folded:
            return (
                self.of(fnr[1], fpr[1], tpr=tpr[0], tnr=tnr[0]),
                self.of(fnr[0], fpr[0], tpr=tpr[1], tnr=tnr[1]),
            )
        # A folded measure is g(x, y) or g(1−x, 1−y), whichever is larger and at least `lowest`.
        one = self.one_direction()
        straight = one.over(fnr, fpr, tpr=tpr, tnr=tnr)
        inverted = one.over(tpr, tnr, tpr=fnr, tnr=fpr)
        smallest, largest = (
            np.maximum(np.maximum(a, b), self.lowest)
            for a, b in zip(straight, inverted, strict=True)
        )
        return smallest, largest

    def one_direction(self) -> "Measure":
        """Return the measure of the declared direction alone."""
        if self.folded:
            raise NotImplementedError(f"{type(self).__name__} must define one_direction().")
        return self


def _curve_of(boundary: Callable[[Array], Array], level: Array) -> tuple[Array, Array, Array]:
    """Return a wedge's curve from `region` alone; the slope is a central difference."""
    step = 6e-6 * np.maximum(1.0, np.abs(level))
    y = np.clip(boundary(level), 0.0, 1.0)
    slope = (boundary(level - step) - boundary(level + step)) / (2 * step)
    with np.errstate(divide="ignore"):
        return np.log(y), 1 - y, np.log(np.maximum(slope, 0.0))


def _complement(ends: Ends) -> Ends:
    return 1 - np.asarray(ends[1], float), 1 - np.asarray(ends[0], float)


def _rates(
    fnr: ArrayLike, fpr: ArrayLike, tpr: ArrayLike | None, tnr: ArrayLike | None
) -> tuple[Array, Array, Array, Array]:
    x, y = np.asarray(fnr, float), np.asarray(fpr, float)
    for value, name in ((x, "fnr"), (y, "fpr")):
        if np.any((value < 0) | (value > 1)):
            raise ValueError(
                f"{name} must be in [0, 1], got {value[(value < 0) | (value > 1)][0]}."
            )
    xc = 1 - x if tpr is None else np.asarray(tpr, float)
    yc = 1 - y if tnr is None else np.asarray(tnr, float)
    return x, y, xc, yc


def _log_ratio(top: Array, bottom: Array) -> Array:
    """log(top / bottom) with a non-positive top counting as −inf, also over a zero bottom."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top > 0, np.log(np.maximum(top, 0)) - np.log(bottom), -np.inf)


@dataclass(frozen=True)
class Epsilon(Measure):
    """The ε̂ of a pair of error rates: the smallest ε for which (ε, δ)-DP allows them.

    Parameters
    ----------
    delta : float
        δ of (ε, δ)-DP, in [0, 1].
    direction : {"both", "member"}
        "member": the attack says "member" as declared beforehand, and ε̂ is the larger of
        log((1 − δ − FPR)/FNR) and log((1 − δ − FNR)/FPR). "both" folds: an attack worse than
        chance counts as its inversion, so that all four half-planes bound the region R(ε, δ).
    term : {"max", "fnr", "fpr"}
        With direction "member", a single log-ratio: "fnr" has FNR in the denominator, "fpr" FPR.

    Notes
    -----
    ε̂ is in nats and never negative; it is infinite where a rate is 0 and the other leaves room
    (1 − δ − rate > 0). A log of a non-positive number counts as −∞, so δ ≥ 1 − rate gives 0.

    References
    ----------
    Zanella-Béguelin et al., "Bayesian Estimation of Differential Privacy", ICML 2023,
    arXiv:2206.05199, Eqs. 1 and 2.

    Examples
    --------
    >>> float(Epsilon(delta=0).of(fnr=0.25, fpr=0.25).round(6))
    1.098612
    >>> [round(float(end), 4) for end in Epsilon(delta=0.0).region(1.0, fnr=0.5)]
    [0.1839, 0.8161]
    """

    delta: float
    direction: Direction = "both"
    term: Term = "max"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_probability(self.delta, "delta"))
        check_choice(self.direction, "direction", ("both", "member"))
        check_choice(self.term, "term", ("max", "fnr", "fpr"))
        if self.term != "max" and self.direction != "member":
            raise ValueError(
                f"term={self.term!r} is one half-plane of a declared direction: "
                f'direction must be "member", got {self.direction!r}.'
            )

    @property
    def name(self) -> str:
        """Return "epsilon"."""
        return "epsilon"

    @property
    def folded(self) -> bool:
        """Whether both directions count."""
        return self.direction == "both"

    @property
    def has_atom(self) -> bool:
        """Whether 0 has positive posterior mass: not when folded at δ = 0."""
        return not (self.folded and self.delta == 0)

    def one_direction(self) -> "Epsilon":
        """Return the measure of direction "member"."""
        return Epsilon(self.delta, "member", self.term)

    def of(
        self,
        fnr: ArrayLike,
        fpr: ArrayLike,
        *,
        tpr: ArrayLike | None = None,
        tnr: ArrayLike | None = None,
    ) -> Array:
        """Return ε̂ in nats, >= 0 and possibly infinite (see `Measure.of`)."""
        x, y, xc, yc = _rates(fnr, fpr, tpr, tnr)
        terms = []
        if self.term != "fpr":
            terms.append(_log_ratio(yc - self.delta, x))
        if self.term != "fnr":
            terms.append(_log_ratio(xc - self.delta, y))
        if self.folded:
            terms += [_log_ratio(x - self.delta, yc), _log_ratio(y - self.delta, xc)]
        result = np.zeros(np.broadcast_shapes(x.shape, y.shape))
        for term in terms:
            result = np.fmax(result, term)
        return np.where(np.isnan(x + y), np.nan, result)

    def region(self, level: ArrayLike, fnr: ArrayLike) -> tuple[Array, Array]:
        """Return the ends in FPR of R(ε, δ) (see `Measure.region`)."""
        level, x = np.asarray(level, float), np.asarray(fnr, float)
        low = self._low(level, x, 1 - x)
        high = 1 - self._low(level, 1 - x, x) if self.folded else np.ones_like(low)
        return low, np.where(level < 0, low - 1, high)

    def _low(self, level: Array, x: Array, xc: Array) -> Array:
        room = xc - self.delta
        shallow = room * np.exp(-level)
        with np.errstate(over="ignore", invalid="ignore"):
            steep = np.where(x > 0, (1 - self.delta) - np.exp(level) * x, 1 - self.delta)
        low = {"fpr": shallow, "fnr": steep, "max": np.maximum(shallow, steep)}[self.term]
        return np.clip(low, 0.0, 1.0)

    def wedges(self) -> tuple[Wedge, ...]:
        """Return the wedges under the shallow lines y = (1 − δ − x)/e^ε, of either rate."""
        delta = self.delta

        def curve(level: Array, x: Array, xc: Array) -> tuple[Array, Array, Array]:
            with np.errstate(divide="ignore"):
                log_y = np.log(np.maximum(xc - delta, 0.0)) - level
            yc = -np.expm1(-level) + (delta + x) * np.exp(-level)
            return log_y, yc, log_y

        def inverse(level: Array, y: Array, yc: Array) -> tuple[Array, Array]:
            with np.errstate(over="ignore", invalid="ignore"):
                scaled = np.where(y > 0, y * np.exp(level), 0.0)
            return (1 - delta) - scaled, delta + scaled

        def start(level: Array) -> tuple[Array, Array]:
            log_x = special.log1p(-delta) - np.logaddexp(0.0, level) if delta < 1 else -np.inf
            return log_x + np.zeros_like(level), special.expit(level) + delta * special.expit(
                -level
            )

        if self.term != "max":
            outer = "fnr" if self.term == "fpr" else "fpr"
            return (Wedge(outer, False, curve, inverse),)
        straight = _pair(Wedge("fnr", False, curve, inverse, start))
        if not self.folded:
            return straight
        return straight + _pair(Wedge("fnr", True, curve, inverse, start))

    def region_area(self, level: ArrayLike) -> Array:
        """Return the area of the region in the unit square of rates.

        Parameters
        ----------
        level : array_like
            ε in nats, >= 0.

        Returns
        -------
        numpy.ndarray
            For direction "both" 1 − 2(1 − δ)² e^−ε/(1 + e^−ε), so that a uniform prior's
            prior CDF of ε̂ is this area.

        Examples
        --------
        >>> float(Epsilon(delta=0).region_area(0.0))
        0.0
        """
        shrink = special.expit(-np.asarray(level, float))
        triangle = (1 - self.delta) ** 2
        if self.term != "max":
            return 1 - triangle * np.exp(-np.asarray(level, float)) / 2
        return 1 - (2 if self.folded else 1) * triangle * shrink


@dataclass(frozen=True)
class GaussianMu(Measure):
    """The μ of μ-Gaussian DP: Φ⁻¹(1 − FPR) − Φ⁻¹(FNR).

    Parameters
    ----------
    fold : bool
        Whether an attack worse than chance counts as its inversion, |μ|. By default μ keeps its
        sign, and a negative μ says that the attack is worse than chance.

    Notes
    -----
    A statement about μ assumes that the trade-off curve is Gaussian; `epsilon` and `from_epsilon`
    convert under that assumption.

    References
    ----------
    Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, arXiv:1905.02383,
    Definition 2.6 and Corollary 2.13.

    Examples
    --------
    >>> float(GaussianMu().of(fnr=0.3085375387259869, fpr=0.3085375387259869).round(9))
    1.0
    >>> round(float(GaussianMu.epsilon(1.0, delta=1e-5)), 4)
    4.3772
    """

    fold: bool = False
    has_atom = False

    @property
    def name(self) -> str:
        """Return "mu"."""
        return "mu"

    @property
    def folded(self) -> bool:
        """Whether both directions count."""
        return self.fold

    @property
    def lowest(self) -> float:
        """Return the smallest value: 0 when folded."""
        return 0.0 if self.fold else -math.inf

    def one_direction(self) -> "GaussianMu":
        """Return the signed measure."""
        return GaussianMu()

    @staticmethod
    def epsilon(mu: ArrayLike, delta: ArrayLike) -> Array:
        """Return the ε at which μ-GDP gives (ε, δ)-DP; ``inf`` at δ = 0 unless μ = 0."""
        return gdp_epsilon(mu, delta)

    @staticmethod
    def delta(mu: ArrayLike, epsilon: ArrayLike) -> Array:
        """Return the δ at which μ-GDP gives (ε, δ)-DP."""
        return gdp_delta(mu, epsilon)

    @staticmethod
    def from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Array:
        """Return the largest μ for which μ-GDP gives (ε, δ)-DP."""
        return gdp_mu(epsilon, delta)

    def of(
        self,
        fnr: ArrayLike,
        fpr: ArrayLike,
        *,
        tpr: ArrayLike | None = None,
        tnr: ArrayLike | None = None,
    ) -> Array:
        """Return μ; 0 where a rate is 0 and the other 1, which excludes nothing."""
        x, y, xc, yc = _rates(fnr, fpr, tpr, tnr)
        left, right = -_probit(x, xc), -_probit(y, yc)
        with np.errstate(invalid="ignore"):
            mu = np.where(np.isinf(left) & (left == -right), 0.0, left + right)
        return np.abs(mu) if self.fold else mu

    def region(self, level: ArrayLike, fnr: ArrayLike) -> tuple[Array, Array]:
        """Return the ends in FPR (see `Measure.region`)."""
        level, x = np.asarray(level, float), np.asarray(fnr, float)
        z = special.ndtri(x)
        low = special.ndtr(-(z + level))
        high = special.ndtr(level - z) if self.fold else np.ones_like(low)
        return low, np.where(self.lowest > level, low - 1, high)

    def wedges(self) -> tuple[Wedge, ...]:
        """Return the wedges under the Gaussian trade-off curve."""

        def curve(level: Array, x: Array, xc: Array) -> tuple[Array, Array, Array]:
            z = _probit(x, xc) + level
            return special.log_ndtr(-z), special.ndtr(z), -0.5 * z**2 - 0.5 * math.log(2 * math.pi)

        def inverse(level: Array, y: Array, yc: Array) -> tuple[Array, Array]:
            z = _probit(y, yc) + level
            return special.ndtr(-z), special.ndtr(z)

        def start(level: Array) -> tuple[Array, Array]:
            return special.log_ndtr(-level / 2), special.ndtr(level / 2)

        straight = _pair(Wedge("fnr", False, curve, inverse, start))
        return (
            straight + _pair(Wedge("fnr", True, curve, inverse, start)) if self.fold else straight
        )


def _probit(x: Array, xc: Array) -> Array:
    """Φ⁻¹(x), from whichever of x and 1 − x is small."""
    return np.where(x <= 0.5, special.ndtri(x), -special.ndtri(xc))


@dataclass(frozen=True)
class Advantage(Measure):
    """The membership advantage TPR − FPR = 1 − FNR − FPR.

    Parameters
    ----------
    fold : bool
        Whether an attack worse than chance counts as its inversion, |1 − FNR − FPR|.

    References
    ----------
    Yeom et al., "Privacy Risk in Machine Learning", CSF 2018, arXiv:1709.01604, Definition 4.

    Examples
    --------
    >>> float(Advantage().of(fnr=0.35, fpr=0.25).round(12))
    0.4
    """

    fold: bool = False
    has_atom = False
    highest = 1.0

    @property
    def name(self) -> str:
        """Return "advantage"."""
        return "advantage"

    @property
    def folded(self) -> bool:
        """Whether both directions count."""
        return self.fold

    @property
    def lowest(self) -> float:
        """Return the smallest value: 0 when folded, else −1."""
        return 0.0 if self.fold else -1.0

    def one_direction(self) -> "Advantage":
        """Return the signed measure."""
        return Advantage()

    def of(
        self,
        fnr: ArrayLike,
        fpr: ArrayLike,
        *,
        tpr: ArrayLike | None = None,
        tnr: ArrayLike | None = None,
    ) -> Array:
        """Return the advantage, in [−1, 1] (see `Measure.of`)."""
        x, y, xc, _ = _rates(fnr, fpr, tpr, tnr)
        value = xc - y
        return np.abs(value) if self.fold else value + 0 * x

    def region(self, level: ArrayLike, fnr: ArrayLike) -> tuple[Array, Array]:
        """Return the ends in FPR (see `Measure.region`)."""
        level, x = np.asarray(level, float), np.asarray(fnr, float)
        low = 1 - level - x
        high = 1 + level - x if self.fold else np.ones_like(low)
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        return low, np.where(self.lowest > level, low - 1, high)

    def wedges(self) -> tuple[Wedge, ...]:
        """Return the wedges under the line FNR + FPR = 1 − level."""

        def curve(level: Array, x: Array, xc: Array) -> tuple[Array, Array, Array]:
            y = np.clip(xc - level, 0.0, 1.0)
            with np.errstate(divide="ignore"):
                return np.log(y), np.clip(level + x, 0.0, 1.0), np.zeros_like(y)

        def inverse(level: Array, y: Array, yc: Array) -> tuple[Array, Array]:
            return yc - level, y + level

        def start(level: Array) -> tuple[Array, Array]:
            half = np.clip((1 - level) / 2, 0.0, 1.0)
            with np.errstate(divide="ignore"):
                return np.log(half), np.clip((1 + level) / 2, 0.0, 1.0)

        straight = _pair(Wedge("fnr", False, curve, inverse, start))
        return (
            straight + _pair(Wedge("fnr", True, curve, inverse, start)) if self.fold else straight
        )


def boundary_polygon(measure: Measure, level: float, *, points: int = 257) -> Array:
    """Return the outline of a measure's region in the unit square, for plots.

    Parameters
    ----------
    measure : Measure
        The measure.
    level : float
        The level whose region is drawn.
    points : int
        Points along FNR; kinks of `Epsilon` are added exactly.

    Returns
    -------
    numpy.ndarray, shape (n, 2)
        Vertices (FPR, FNR): up along the lower boundary and back along the upper one; empty where
        the region is.

    Examples
    --------
    >>> boundary_polygon(Epsilon(delta=0), 1.0).shape[1]
    2
    """
    fnr = np.linspace(0.0, 1.0, points)
    if isinstance(measure, Epsilon):
        kink = (1 - measure.delta) * special.expit(-level)
        extra = [kink, 1 - measure.delta, measure.delta, 1 - kink]
        fnr = np.unique(np.concatenate([fnr, extra]))
    low, high = measure.region(level, fnr)
    keep = low <= high
    return np.concatenate(
        [
            np.column_stack([low[keep], fnr[keep]]),
            np.column_stack([high[keep], fnr[keep]])[::-1],
        ]
    )

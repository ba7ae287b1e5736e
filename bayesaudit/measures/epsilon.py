"""The ε̂ of (ε, δ)-DP."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesaudit._checks import check_choice, check_probability
from bayesaudit.measures._base import Array, Measure, Wedge, checked_rates, wedges_of_curve

__all__ = ["Direction", "Epsilon"]

Direction = Literal["both", "member"]
Term = Literal["fnr", "fpr", "max"]


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

    def pieces(self) -> "tuple[Epsilon, ...]":
        """Return the log-ratios: two, unless `term` names one."""
        terms: tuple[Term, ...] = ("fnr", "fpr") if self.term == "max" else (self.term,)
        return tuple(Epsilon(self.delta, "member", term) for term in terms)

    def of(
        self,
        fnr: ArrayLike,
        fpr: ArrayLike,
        *,
        tpr: ArrayLike | None = None,
        tnr: ArrayLike | None = None,
    ) -> Array:
        """Return ε̂ in nats, >= 0 and possibly infinite (see `Measure.of`)."""
        x, y, xc, yc = checked_rates(fnr, fpr, tpr, tnr)
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

    def kinks(self, level: float) -> tuple[float, ...]:
        """Return where two of the half-planes' lines meet, or one meets an axis."""
        kink = (1 - self.delta) * float(special.expit(-level))
        return kink, 1 - self.delta, self.delta, 1 - kink

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
        return wedges_of_curve(curve, inverse, start, folded=self.folded)

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


def _log_ratio(top: Array, bottom: Array) -> Array:
    """log(top / bottom) with a non-positive top counting as −inf, also over a zero bottom."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top > 0, np.log(np.maximum(top, 0)) - np.log(bottom), -np.inf)

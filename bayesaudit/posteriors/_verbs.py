"""What every posterior of a measure can say, whichever engine computes it."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_prob
from bayesaudit._interval import Interval, Kind
from bayesaudit._plain import plain
from bayesaudit._result import ROWS, Result, shown
from bayesaudit.measures import Measure

__all__ = ["Posterior", "probabilities"]

Array = NDArray[np.float64]


class Posterior(Result, ABC):
    """Posterior distribution of a measure, of one tally or of an array of them.

    Plots, reports and the command line use these verbs only. Levels and probabilities broadcast
    against the shape of the tallies.
    """

    #: "exact" or "draws".
    engine: ClassVar[str]
    #: What an interval says of how it was found.
    method: ClassVar[str]
    measure: Measure

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the tallies; () for one."""

    @abstractmethod
    def cdf(self, level: ArrayLike) -> Array:
        """Return P(measure <= level | data)."""

    @abstractmethod
    def sf(self, level: ArrayLike) -> Array:
        """Return P(measure > level | data)."""

    @abstractmethod
    def pdf(self, level: ArrayLike) -> Array:
        """Return the density of the part without atom, per unit of the measure."""

    @abstractmethod
    def quantile(self, q: ArrayLike) -> Array:
        """Return inf{level: CDF(level) >= q}."""

    @abstractmethod
    def isf(self, p: ArrayLike) -> Array:
        """Return the level whose survival is p."""

    @abstractmethod
    def mean(self) -> Array:
        """Return the posterior mean."""

    @abstractmethod
    def _shortest(self, prob: float) -> tuple[Array, Array]:
        """Return the ends of the shortest interval of mass `prob`."""

    def _equal_tailed(self, tail: float) -> tuple[Array, Array]:
        """Return the quantiles that leave `tail` on either side."""
        return self.quantile(tail), self.isf(tail)

    def prob_above(self, level: ArrayLike) -> Array:
        """Return P(measure > level | data), the posterior answer to a claim."""
        return self.sf(level)

    @property
    def prob_zero(self) -> Array:
        """P(measure = its lowest value | data): the atom, exactly 0 where there is none."""
        if not self.measure.has_atom:
            return np.zeros(self.shape)[()]
        return self.cdf(self.measure.lowest)

    def median(self) -> Array:
        """Return the median."""
        return self.quantile(0.5)

    def interval(self, prob: float = 0.90, kind: Kind = "eti") -> Interval:
        """Return a credible interval.

        Parameters
        ----------
        prob : float
            Mass of the two-sided interval, in (0, 1).
        kind : {"eti", "hdi", "lower", "upper"}
            "eti" leaves (1 − prob)/2 in either tail. "hdi" is the shortest interval of that mass.
            "lower" and "upper" are that end of the "eti" alone, so that a lower bound quoted alone
            errs by (1 − prob)/2.

        Returns
        -------
        Interval
            Unpacks as ``lower, upper``; says prob, kind and "credible".
        """
        prob = check_prob(prob)
        check_choice(kind, "kind", ("eti", "hdi", "lower", "upper"))
        tail = (1 - prob) / 2
        lower = np.full(self.shape, self.measure.lowest)[()]
        upper = np.full(self.shape, self.measure.highest)[()]
        if kind == "hdi":
            lower, upper = self._shortest(prob)
        elif kind == "eti":
            lower, upper = self._equal_tailed(tail)
        elif kind == "lower":
            lower = self.quantile(tail)
        else:
            upper = self.isf(tail)
        return Interval(
            lower=lower,
            upper=upper,
            prob=prob,
            kind=kind,
            statement="credible",
            method=self.method,
            guarantee="posterior mass",
        )

    def to_dict(self, prob: float = 0.90) -> dict[str, Any]:
        """Return the summary of one tally as plain JSON types; what is infinite is ``None``.

        Parameters
        ----------
        prob : float
            Mass of the equal-tailed interval.
        """
        if self.shape:
            raise ValueError(f"to_dict is of one tally, got the shape {self.shape}.")
        lower, upper = self.interval(prob)
        summary = {
            "lower": lower,
            "upper": upper,
            "median": self.median(),
            "mean": self.mean(),
            "prob_zero": self.prob_zero,
        }
        return plain(summary)

    def _grid(self) -> tuple[str, list[str], list[list[str]]]:
        prob = 0.90
        name = f"{self.method} of {self.measure!r}, {100 * prob:g} % credible interval"
        if not self.shape:
            return name, [], [[k, shown(value)] for k, value in self.to_dict(prob).items()]
        if math.prod(self.shape) > ROWS:
            return name, [], [["tallies", str(self.shape)]]
        ends = (*self.interval(prob), self.median())
        rows = zip(np.ndindex(self.shape), *(plain(np.ravel(x)) for x in ends), strict=True)
        texts = [[", ".join(map(str, index)), *map(shown, row)] for index, *row in rows]
        return name, ["tally", "lower", "upper", "median"], texts


def probabilities(q: ArrayLike, name: str) -> Array:
    """Return probabilities as an array; refuse what is outside [0, 1]."""
    q = np.asarray(q, float)
    bad = (q < 0) | (q > 1) | np.isnan(q)
    if np.any(bad):
        raise ValueError(f"{name} must be in [0, 1], got {q[bad][0]}.")
    return q

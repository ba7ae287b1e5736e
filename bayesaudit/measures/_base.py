"""What a measure is: `of`, `region`, and the wedges that the exact engine integrates over."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Array",
    "Ends",
    "Measure",
    "Wedge",
    "boundary_polygon",
    "checked_rates",
    "wedges_of_curve",
]

Array = NDArray[np.float64]
Ends = tuple[ArrayLike, ArrayLike]
Curve = Callable[[Array, Array, Array], tuple[Array, Array, Array]]
Inverse = Callable[[Array, Array, Array], tuple[Array, Array]]
Start = Callable[[Array], tuple[Array, Array]]


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
    curve: Curve
    inverse: Inverse | None = None
    start: Start | None = None
    corner: bool = False


def wedges_of_curve(
    curve: Curve, inverse: Inverse, start: Start, *, folded: bool
) -> tuple[Wedge, ...]:
    """Return the wedges of a boundary that is its own inverse, and of its mirror image if folded.

    Each boundary is seen from either rate; the first of the two counts the corner they share.
    """
    return tuple(
        Wedge(outer, mirrored, curve, inverse, start, corner=outer == "fnr")
        for mirrored in ((False, True) if folded else (False,))
        for outer in ("fnr", "fpr")
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

    def kinks(self, level: float) -> tuple[float, ...]:
        """Return the FNR at which the boundary of the region has a corner, for plots."""
        return ()

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

    def pieces(self) -> "tuple[Measure, ...]":
        """Return the smooth measures whose maximum is the measure of the declared direction.

        An estimate of a maximum is biased up where its pieces are close to each other: a bound is
        taken of each piece, at its share of the level.
        """
        return (self.one_direction(),)


def _curve_of(boundary: Callable[[Array], Array], level: Array) -> tuple[Array, Array, Array]:
    """Return a wedge's curve from `region` alone; the slope is a central difference."""
    step = 6e-6 * np.maximum(1.0, np.abs(level))
    y = np.clip(boundary(level), 0.0, 1.0)
    slope = (boundary(level - step) - boundary(level + step)) / (2 * step)
    with np.errstate(divide="ignore"):
        return np.log(y), 1 - y, np.log(np.maximum(slope, 0.0))


def _complement(ends: Ends) -> Ends:
    return 1 - np.asarray(ends[1], float), 1 - np.asarray(ends[0], float)


def checked_rates(
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


def boundary_polygon(measure: Measure, level: float, *, points: int = 257) -> Array:
    """Return the outline of a measure's region in the unit square, for plots.

    Parameters
    ----------
    measure : Measure
        The measure.
    level : float
        The level whose region is drawn.
    points : int
        Points along FNR; the measure's kinks are added exactly.

    Returns
    -------
    numpy.ndarray, shape (n, 2)
        Vertices (FPR, FNR): up along the lower boundary and back along the upper one; empty where
        the region is.

    Examples
    --------
    >>> from bayesaudit.measures import Epsilon
    >>> boundary_polygon(Epsilon(delta=0), 1.0).shape[1]
    2
    """
    fnr = np.unique(np.concatenate([np.linspace(0.0, 1.0, points), measure.kinks(level)]))
    low, high = measure.region(level, fnr)
    keep = low <= high
    return np.concatenate(
        [
            np.column_stack([low[keep], fnr[keep]]),
            np.column_stack([high[keep], fnr[keep]])[::-1],
        ]
    )

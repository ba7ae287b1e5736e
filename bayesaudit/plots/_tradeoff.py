"""The trade-off of the two error rates, with the band that holds at all thresholds at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_nonnegative
from bayesaudit.curves import TradeoffCurve
from bayesaudit.measures import Epsilon, Measure
from bayesaudit.plots._names import names_given, number, symbol
from bayesaudit.plots._style import ink, legend, look, new_axes, spare, tint
from bayesaudit.roc import RocCurve
from bayesaudit.score_curves import TradeoffPosterior
from bayesaudit.thresholds import ConfidenceBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tradeoff"]

Array = NDArray[np.float64]
Curve = TradeoffCurve | TradeoffPosterior | ConfidenceBand | RocCurve


def tradeoff(
    *curves: Curve,
    claim: float | None = None,
    measure: Measure | None = None,
    labels: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the false negative rate against the false positive rate, and the claim's lower limit.

    Parameters
    ----------
    *curves : TradeoffCurve, TradeoffPosterior, ConfidenceBand or RocCurve
        From `bayesaudit.tradeoff_curve`, whose band is credible and has two sides, from
        `bayesaudit.tradeoff_posterior`, whose band is pointwise, from `bayesaudit.confidence_band`,
        which bounds the errors from above, or the observed curve alone.
    claim : float, optional
        A claimed level, >= 0: below its curve no attack should come.
    measure : Measure, optional
        What the claim is a level of; by default ``Epsilon(0)``.
    labels : sequence of str, optional
        Names for the legend, one a curve.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The band of a `TradeoffCurve` follows from its ends at the thresholds and from monotonicity:
    with an FPR of at least some threshold's upper end, the FNR need not exceed that threshold's.

    References
    ----------
    Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, arXiv:1905.02383, Section 2.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> scores = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)
    >>> ax = ba.plots.tradeoff(ba.tradeoff_curve(scores, 5), claim=1, ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1][:2]
    ['90 % credible band', 'posterior medians']
    """
    for curve in curves:
        if not isinstance(curve, Curve):
            raise TypeError(f"curves must be trade-off curves, got {type(curve).__name__}.")
    names = names_given(curves, labels, "curves")
    measure = Epsilon(0.0) if measure is None else measure
    if claim is not None:
        claim = check_nonnegative(claim, "claim")
    ax = new_axes(ax, (4.6, 5.0))
    grid = np.linspace(0, 1, 1001)
    for i, (curve, name) in enumerate(zip(curves, names, strict=True)):
        prefix = "" if name is None else f"{name}: "
        if isinstance(curve, TradeoffCurve):
            _draw_thresholds(ax, curve, prefix, i, grid)
        elif isinstance(curve, TradeoffPosterior):
            _draw_posterior(ax, curve, prefix, i)
        else:
            _draw_observed(ax, curve, prefix, i, grid)
    ax.plot([0, 1], [1, 0], color=ink(ax)[1], lw=0.9, ls=":", label="guessing")
    if claim is not None:
        fnr = np.unique(np.concatenate([grid, measure.kinks(claim)]))
        least = measure.region(claim, fnr)[0]
        label = f"{symbol(measure)} = {number(claim)}, claimed"
        ax.plot(least, fnr, color=ink(ax)[0], lw=1.2, ls="-.", label=label)
    ax.set(xlabel="false positive rate", ylabel="false negative rate", aspect="equal")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    spare(ax)
    legend(ax, columns=2)
    return ax


def _draw_thresholds(
    ax: "Axes", curve: TradeoffCurve, prefix: str, index: int, grid: Array
) -> None:
    style = look(ax, index)
    low = _largest_right_of(grid, curve.fpr[0], curve.fnr[0])
    high = _smallest_left_of(grid, curve.fpr[2], curve.fnr[2])
    label = f"{prefix}{100 * curve.prob:g} % credible band"
    ax.fill_between(grid, low, high, color=tint(ax, style.colour, 0.25), lw=0, label=label)
    order = np.argsort(curve.fpr[1])
    ax.plot(
        curve.fpr[1][order], curve.fnr[1][order], f"{style.marker}-", color=style.colour, ms=4,
        lw=1.2, label=f"{prefix}posterior medians",
    )  # fmt: skip


def _draw_posterior(ax: "Axes", curve: TradeoffPosterior, prefix: str, index: int) -> None:
    style = look(ax, index)
    label = f"{prefix or f'{curve.family} model, '}{100 * curve.prob:g} % credible, pointwise"
    ax.fill_between(curve.fpr, curve.fnr[0], curve.fnr[2], color=style.colour, alpha=0.25, lw=0)
    ax.plot(curve.fpr, curve.fnr[1], color=style.colour, ls=style.line, lw=1.5, label=label)


def _draw_observed(
    ax: "Axes", curve: ConfidenceBand | RocCurve, prefix: str, index: int, grid: Array
) -> None:
    style = look(ax, index)
    if isinstance(curve, ConfidenceBand):
        high = _smallest_left_of(grid, curve.fpr_upper, curve.fnr_upper)
        label = f"{prefix}excluded at confidence {(1 + curve.prob) / 2:g}"
        ax.fill_between(grid, high, 1, color=tint(ax, style.colour, 0.25), lw=0, label=label)
    points = curve.roc if isinstance(curve, ConfidenceBand) else curve
    ax.plot(
        points.fpr, 1 - points.tpr, drawstyle="steps-post", color=style.colour, lw=1.5,
        label=f"{prefix}observed",
    )  # fmt: skip


def _smallest_left_of(grid: Array, x: ArrayLike, y: ArrayLike) -> Array:
    """Return at every grid point the smallest y of the points at or left of it, 1 if none."""
    x, y = np.asarray(x), np.asarray(y)
    order = np.argsort(x, kind="stable")
    least = np.minimum.accumulate(y[order])
    found = np.searchsorted(x[order], grid, side="right") - 1
    return np.where(found >= 0, least[np.maximum(found, 0)], 1.0)


def _largest_right_of(grid: Array, x: ArrayLike, y: ArrayLike) -> Array:
    """Return at every grid point the largest y of the points at or right of it, 0 if none."""
    x, y = np.asarray(x), np.asarray(y)
    return 1 - _smallest_left_of(-grid, -x, 1 - y)

"""The ROC curve on logarithmic axes, with the band that holds at all thresholds at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesaudit.plots._names import names_given
from bayesaudit.plots._style import ink, legend, look, new_axes, spare, tint
from bayesaudit.roc import RocCurve
from bayesaudit.score_curves import TradeoffPosterior
from bayesaudit.thresholds import ConfidenceBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["roc"]

Curve = RocCurve | ConfidenceBand | TradeoffPosterior


def roc(*curves: Curve, labels: Sequence[str] | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw true against false positive rates, both logarithmic: privacy is decided at low FPR.

    Parameters
    ----------
    *curves : RocCurve, ConfidenceBand or TradeoffPosterior
        From ``scores.roc()``, `bayesaudit.confidence_band` or `bayesaudit.tradeoff_posterior`. A
        confidence band shades what it excludes: at every threshold at once, the population's TPR is
        at least its edge. A posterior has its pointwise credible band.
    labels : sequence of str, optional
        Names for the legend, one a curve.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The axes begin at half an error in the rows of each class. Points without any false positive
    lie at the left edge.

    References
    ----------
    Carlini et al., "Membership Inference Attacks From First Principles", IEEE S&P 2022,
    arXiv:2112.03570, Section IV (log–log ROC).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> scores = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)
    >>> ax = ba.plots.roc(ba.confidence_band(scores), ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['observed', 'excluded at confidence 0.95', 'guessing']
    """
    for curve in curves:
        if not isinstance(curve, Curve):
            got = type(curve).__name__
            raise TypeError(
                f"curves must be RocCurve, ConfidenceBand or TradeoffPosterior, got {got}."
            )
    names = names_given(curves, labels, "curves")
    corners = [_corner(curve) for curve in curves]
    left, bottom = (min(ends) for ends in zip(*corners, strict=True))
    ax = new_axes(ax, (4.6, 4.8))
    used = 0
    for curve, name in zip(curves, names, strict=True):
        prefix = "" if name is None else f"{name}: "
        if isinstance(curve, TradeoffPosterior):
            _draw_posterior(ax, curve, prefix, used)
        else:
            points = curve if isinstance(curve, RocCurve) else curve.roc
            x, y = np.maximum(points.fpr, left), np.maximum(points.tpr, bottom)
            colour = look(ax, used).colour
            label = f"{prefix}observed"
            ax.step(x, y, where="post", color=colour, lw=1.8, label=label, zorder=3)
        if isinstance(curve, ConfidenceBand):
            used += 1
            _draw_band(ax, curve, prefix, used, (left, bottom))
        used += 1
    grid = np.geomspace(max(left, bottom), 1, 200)
    ax.plot(grid, grid, color=ink(ax)[1], lw=0.9, ls=":", label="guessing")
    ax.set(xscale="log", yscale="log", xlim=(left, 1), ylim=(bottom, 1.08))
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    spare(ax)
    legend(ax)
    return ax


def _corner(curve: Curve) -> tuple[float, float]:
    """Return where the axes begin."""
    if isinstance(curve, TradeoffPosterior):
        return float(curve.fpr.min()), float(max((1 - curve.fnr[2]).min(), 1e-6))
    points = curve if isinstance(curve, RocCurve) else curve.roc
    if points.n_pos == 0 or points.n_neg == 0:
        raise ValueError("curves must have members and non-members, got none of one.")
    return 0.5 / points.n_neg, 0.5 / points.n_pos


def _draw_posterior(ax: "Axes", curve: TradeoffPosterior, prefix: str, index: int) -> None:
    style = look(ax, index)
    label = f"{prefix or f'{curve.family} model, '}{100 * curve.prob:g} % credible, pointwise"
    ax.fill_between(
        curve.fpr, 1 - curve.fnr[2], 1 - curve.fnr[0], color=style.colour, alpha=0.25, lw=0
    )
    ax.plot(curve.fpr, 1 - curve.fnr[1], color=style.colour, ls=style.line, lw=1.5, label=label)


def _draw_band(
    ax: "Axes", curve: ConfidenceBand, prefix: str, index: int, corner: tuple[float, float]
) -> None:
    # At an FPR of at most fpr_upper the TPR is at least 1 − fnr_upper, and more never hurts.
    left, bottom = corner
    order = np.argsort(curve.fpr_upper)
    x: Any = np.concatenate([[left], np.maximum(curve.fpr_upper[order], left), [1.0]])
    least = np.maximum.accumulate(1 - curve.fnr_upper[order])
    y = np.maximum(np.concatenate([[0.0], least, least[-1:]]), bottom)
    colour = look(ax, index).colour
    ax.fill_between(
        x, bottom, y, step="post", facecolor=tint(ax, colour, 0.25), edgecolor=colour, lw=1.2,
        label=f"{prefix}excluded at confidence {(1 + curve.prob) / 2:g}",
    )  # fmt: skip

"""The ROC curve on logarithmic axes, with the band that holds at all thresholds at once."""

from typing import TYPE_CHECKING

import numpy as np

from bayesaudit.plots._style import ink, legend, look, new_axes, spare, tint
from bayesaudit.roc import RocCurve
from bayesaudit.thresholds import ConfidenceBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["roc"]


def roc(curve: RocCurve | ConfidenceBand, *, ax: "Axes | None" = None) -> "Axes":
    """Draw true against false positive rates, both logarithmic: privacy is decided at low FPR.

    Parameters
    ----------
    curve : RocCurve or ConfidenceBand
        From ``scores.roc()`` or `bayesaudit.confidence_band`. A band shades what it excludes: at
        every threshold at once, the population's TPR is at least its edge.
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
    if not isinstance(curve, RocCurve | ConfidenceBand):
        raise TypeError(f"curve must be a RocCurve or ConfidenceBand, got {type(curve).__name__}.")
    points = curve if isinstance(curve, RocCurve) else curve.roc
    if points.n_pos == 0 or points.n_neg == 0:
        raise ValueError("curve must have members and non-members, got none of one.")
    ax = new_axes(ax, (4.6, 4.8))
    left, bottom = 0.5 / points.n_neg, 0.5 / points.n_pos
    style = look(ax, 0)
    x, y = (np.maximum(rate, edge) for rate, edge in ((points.fpr, left), (points.tpr, bottom)))
    ax.step(x, y, where="post", color=style.colour, lw=1.8, label="observed", zorder=3)
    if isinstance(curve, ConfidenceBand):
        # At an FPR of at most fpr_upper the TPR is at least 1 − fnr_upper, and more never hurts.
        order = np.argsort(curve.fpr_upper)
        x = np.concatenate([[left], np.maximum(curve.fpr_upper[order], left), [1.0]])
        least = np.maximum.accumulate(1 - curve.fnr_upper[order])
        y = np.maximum(np.concatenate([[0.0], least, least[-1:]]), bottom)
        band = look(ax, 1)
        ax.fill_between(
            x, bottom, y, step="post", facecolor=tint(ax, band.colour, 0.25), edgecolor=band.colour,
            lw=1.2, label=f"excluded at confidence {(1 + curve.prob) / 2:g}",
        )  # fmt: skip
    grid = np.geomspace(max(left, bottom), 1, 200)
    ax.plot(grid, grid, color=ink(ax)[1], lw=0.9, ls=":", label="guessing")
    ax.set(xscale="log", yscale="log", xlim=(left, 1), ylim=(bottom, 1.08))
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    spare(ax)
    legend(ax)
    return ax

"""The interval of a measure over correlations that the data cannot tell apart."""

from typing import TYPE_CHECKING

import numpy as np

from bayesaudit.dependence.tipping import TippingCurve
from bayesaudit.plots._common import COLOURS, GREY, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["tipping"]


def tipping(
    curve: TippingCurve, *, claim: float | None = None, ax: "Axes | None" = None
) -> "Figure":
    """Draw a tipping-point curve: intervals and medians at fixed intra-model correlations.

    Parameters
    ----------
    curve : TippingCurve
        From `bayesaudit.dependence.tipping_point`.
    claim : float, optional
        A level to mark.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import bayesaudit as ba
    >>> one = ba.AttackCounts(fn=280, tp=220, fp=176, tn=324)
    >>> curve = ba.dependence.tipping_point(one, ba.Epsilon(delta=1e-5))
    >>> len(tipping(curve).axes)
    1
    """
    if not isinstance(curve, TippingCurve):
        raise TypeError(f"curve must be a TippingCurve, got {type(curve).__name__}.")
    ax = new_axes(ax, (5.2, 3.4))
    place = np.arange(curve.icc.size)
    ax.fill_between(place, curve.lower, curve.upper, color=COLOURS[0], alpha=0.12, lw=0)
    ax.vlines(place, curve.lower, curve.upper, color=COLOURS[0], lw=2.5)
    label = f"{100 * curve.prob:g} % credible interval and median"
    ax.plot(place, curve.median, "o", color=COLOURS[0], label=label)
    if claim is not None:
        ax.axhline(claim, color=COLOURS[1], lw=1.2, ls="--", label=f"claim {claim:g}")
    ax.set_xticks(place, [f"{value:g}" for value in curve.icc])
    ax.set_xlim(-0.4, place[-1] + 0.4)
    ax.set_ylim(bottom=min(0.0, float(curve.lower.min())))
    ax.set_xlabel("intra-model correlation, taken as known")
    symbol = {"epsilon": "$\\hat\\varepsilon$", "mu": "$\\mu$"}.get(curve.measure, curve.measure)
    ax.set_ylabel(symbol)
    if not curve.identified:
        ax.set_title("one model: the data cannot say which of these holds", fontsize=10, color=GREY)
    ax.legend(loc="upper left", frameon=False)
    return ax.figure

"""The interval of a measure over correlations that the data cannot tell apart."""

from typing import TYPE_CHECKING

import numpy as np

from bayesaudit._checks import check_number
from bayesaudit.dependence.tipping import TippingCurve
from bayesaudit.plots._names import axis_label, number
from bayesaudit.plots._style import ink, legend, look, new_axes, spare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tipping"]


def tipping(curve: TippingCurve, *, claim: float | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw a tipping-point curve: intervals and medians at fixed intra-model correlations.

    Parameters
    ----------
    curve : TippingCurve
        From `bayesaudit.dependence.tipping_point`.
    claim : float, optional
        A level to mark.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> one = ba.AttackCounts(fn=280, tp=220, fp=176, tn=324)
    >>> curve = ba.dependence.tipping_point(one, ba.Epsilon(delta=1e-5))
    >>> tipping(curve, ax=Figure().subplots()).get_xlabel()
    'intra-model correlation (assumed)'
    """
    if not isinstance(curve, TippingCurve):
        raise TypeError(f"curve must be a TippingCurve, got {type(curve).__name__}.")
    if claim is not None:
        claim = check_number(claim, "claim")
    ax = new_axes(ax, (5.2, 3.8))
    place, style = np.arange(curve.icc.size), look(ax, 0)
    ax.fill_between(place, curve.lower, curve.upper, color=style.colour, alpha=0.12, lw=0)
    ax.vlines(place, curve.lower, curve.upper, color=style.colour, lw=2.5)
    label = f"{100 * curve.prob:g} % credible interval and median"
    ax.plot(place, curve.median, "o", color=style.colour, label=label)
    if claim is not None:
        ax.axhline(claim, color=ink(ax)[0], lw=1, ls="-.", label=f"claim {number(claim)}")
    ax.set_xticks(place, [f"{value:g}" for value in curve.icc])
    ax.set_xlim(-0.4, place[-1] + 0.4)
    ax.set_ylim(bottom=min(0.0, float(curve.lower.min())))
    ax.set_xlabel("intra-model correlation (assumed)")
    ax.set_ylabel(axis_label(curve.measure))
    if not curve.identified:
        ax.set_title("one model: the data cannot say\nwhich of these holds", size="medium")
    spare(ax)
    legend(ax)
    return ax

"""ε̂ as a function of δ, with pointwise and simultaneous bands."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesaudit.audits import BandCurve
from bayesaudit.curves import EpsilonCurve
from bayesaudit.plots._style import ink, legend, look, new_axes, spare, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["epsilon_curve"]

Array = NDArray[np.float64]
#: A step between neighbouring δ of more than these shares of the figure's width and height is not
#: joined by a line: the corner that the line would draw is the grid's, not the curve's.
ACROSS, DOWN = 0.04, 0.2


def epsilon_curve(curve: EpsilonCurve | BandCurve, *, ax: "Axes | None" = None) -> "Axes":
    r"""Draw ε̂(δ): the median, the pointwise and the simultaneous band, and the confidence ends.

    Parameters
    ----------
    curve : EpsilonCurve or BandCurve
        From `bayesaudit.epsilon_curve` or ``audit.curve()``; with a grid of δ that is fine where
        the curve falls. A `BandCurve` has a lower bound alone.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Where the grid is too coarse for a curve, the intervals at its δ are drawn alone.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> curve = ba.epsilon_curve(counts, [1e-5, 1e-2, 1e-1])
    >>> ba.plots.epsilon_curve(curve, ax=Figure().subplots()).get_xlabel()
    '$\\delta$'
    """
    if not isinstance(curve, EpsilonCurve | BandCurve):
        raise TypeError(f"curve must be an EpsilonCurve or BandCurve, got {type(curve).__name__}.")
    ax = new_axes(ax, (5.2, 4.4))
    names = {"lower"} if isinstance(curve, BandCurve) else set(curve.columns()) - {"delta"}
    columns = {name: np.asarray(getattr(curve, name)) for name in sorted(names)}
    finite = np.concatenate([values[np.isfinite(values)] for values in columns.values()])
    top = 1.05 * float(finite.max(initial=0.0)) or 1.0
    x = _places(curve.delta)
    # An infinite end leaves the figure at its top.
    inside = {name: np.where(np.isfinite(v), v, 2 * top) for name, v in columns.items()}
    across = np.diff(np.log(x)) > ACROSS * np.log(x[-1] / x[0])
    coarse = x.size < 2 or any(
        np.any(across & (np.abs(np.diff(values)) > DOWN * top)) for values in inside.values()
    )
    draw = _draw_band if isinstance(curve, BandCurve) else _draw_posterior
    draw(ax, curve, x, inside, top, coarse)
    _axis(ax, curve.delta, x)
    if coarse:
        ax.set_xlim(x[0] / 2, x[-1] * 2)
    ax.set(ylabel="$\\hat\\varepsilon$ (nats)", ylim=(0, top))
    spare(ax)
    legend(ax, columns=2)
    return ax


def _draw_posterior(
    ax: "Axes",
    curve: EpsilonCurve,
    x: Array,
    inside: dict[str, Array],
    top: float,
    coarse: bool,
) -> None:
    style, level = look(ax, 0), f"{100 * curve.prob:g} %"
    for prefix, when, strength in (("simultaneous_", "all at once", 0.18), ("", "each alone", 0.4)):
        low = inside[f"{prefix}lower"]
        high = inside.get(f"{prefix}upper", np.full_like(low, 2 * top))
        band = {"color": tint(ax, style.colour, strength)}
        band["label"] = f"{level} credible, $\\delta$ {when}"
        if coarse:
            ax.vlines(x, low, high, lw=8 if prefix else 4, **band)
        else:
            ax.fill_between(x, low, high, lw=0, **band)
    line = {"ls": "", "marker": "o", "ms": 4} if coarse else {"ls": "-", "lw": 1.6}
    ax.plot(x, curve.median, color=style.colour, label="posterior median", **line)
    line = {"ls": "", "marker": "_", "ms": 10} if coarse else {"ls": "-.", "lw": 1}
    for name in ("confidence_lower", "confidence_upper"):
        if name in inside:
            label = f"{level} confidence" if name.endswith("lower") else None
            ax.plot(x, inside[name], color=ink(ax)[0], label=label, **line)


def _draw_band(
    ax: "Axes", curve: BandCurve, x: Array, inside: dict[str, Array], top: float, coarse: bool
) -> None:
    style = look(ax, 2)
    line = {"ls": "", "marker": "s", "ms": 4} if coarse else {"ls": "-", "lw": 1.6}
    label = f"lower bound, confidence {(1 + curve.prob) / 2:g}, all $\\delta$ at once"
    ax.plot(x, inside["lower"], color=style.colour, label=label, **line)


def _places(delta: Array) -> Array:
    """Return where each δ stands on a logarithmic axis; 0 a decade left of the smallest other."""
    positive = delta[delta > 0]
    first = positive[0] / 10 if positive.size else 0.1
    return np.where(delta > 0, delta, first)


def _axis(ax: "Axes", delta: Array, x: Array) -> None:
    ax.set(xscale="log", xlabel="$\\delta$")
    if x.size > 1:
        ax.set_xlim(x[0], x[-1])
    if delta[0] == 0:
        first = int(np.ceil(np.log10(x[min(1, x.size - 1)]) - 1e-9))
        decades = [10.0**k for k in range(first, 1) if 10.0**k <= x[-1]]
        ticks = [x[0], *decades[:: max(1, len(decades) // 4)]]
        names = ["0", *(f"$10^{{{round(np.log10(tick))}}}$" for tick in ticks[1:])]
        ax.set_xticks(ticks, names)

"""The privacy region of two error rates, with the posterior, the rectangle and the attack."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice, check_number, check_prob
from bayesaudit.counts import AttackCounts
from bayesaudit.intervals import rectangle as both_rates
from bayesaudit.plots._contours import JointDensity, joint_density
from bayesaudit.plots._names import check_posteriors, delta_of, ends, number, short, symbol
from bayesaudit.plots._style import ink, legend, look, new_axes, tint
from bayesaudit.proportions import METHODS as RECTANGLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["region"]

Array = NDArray[np.float64]
#: A posterior that spans less of the unit square than this, in the wider or the narrower of the
#: rates, is shown enlarged.
SMALL, THIN = 0.25, 0.06
WINDOW = ((0.0, 1.0), (0.0, 1.0))


def region(
    post: Any,
    *,
    levels: tuple[float, ...] | None = None,
    prob: float = 0.90,
    masses: tuple[float, ...] = (0.5, 0.9, 0.99),
    rectangle: str | None = "clopper-pearson",
    zoom: bool | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the region of rates that a level allows, and the posterior of the rates on it.

    Parameters
    ----------
    post : ExactPosterior or DrawsPosterior
        A posterior of one tally.
    levels : tuple of float, optional
        Levels whose regions are shaded; by default the two ends of the credible interval.
    prob : float
        Mass of the credible interval, and level of the rectangle.
    masses : tuple of float
        Posterior masses that the contours hold.
    rectangle : {"clopper-pearson", "jeffreys", "wilson"} or None
        The classical rectangle of both rates to draw, where the counts are known.
    zoom : bool, optional
        Whether to show only where the posterior is, rather than the whole unit square; by default
        where it would be a speck there.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Contours are of the density in the angles arcsin √rate, in which the posterior is closest to
    normal. Of draws it is a kernel estimate there, and each contour holds its mass of the draws.

    References
    ----------
    Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199, Figs. 2 and 3.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(0.05))
    >>> ba.plots.region(post, prob=0.95, ax=Figure().subplots()).get_xlabel()
    'false positive rate'
    """
    check_posteriors((post,))
    check_prob(prob)
    masses = tuple(sorted((check_prob(mass, "masses") for mass in masses), reverse=True))
    if levels is None:
        levels = tuple(float(end) for end in post.interval(prob) if np.isfinite(end))
    levels = tuple(sorted({check_number(level, "levels") for level in levels}, reverse=True))
    counts = _counts_of(post)
    box = None
    if rectangle is not None:
        check_choice(rectangle, "rectangle", RECTANGLES)
        box = None if counts is None else both_rates(counts, prob, method=rectangle)
    joint = joint_density(post, masses)
    span = _span(joint, box)
    if zoom is None:
        sizes = sorted(high - low for low, high in span)
        zoom = sizes[1] < SMALL or sizes[0] < THIN
    window = span if zoom else WINDOW
    ax = new_axes(ax, (5.2, 5.4))
    _shade(ax, post.measure, levels, window[1])
    ax.plot([0, 1], [1, 0], color=ink(ax)[1], lw=0.8, ls=":", label="guessing")
    style = look(ax, 1)
    ax.contour(
        joint.fpr, joint.fnr, joint.height, levels=np.unique(joint.cuts), colors=style.colour,
        linewidths=np.linspace(0.9, 1.5, max(np.unique(joint.cuts).size, 1)),
    )  # fmt: skip
    shown = ", ".join(f"{100 * mass:g}" for mass in masses[::-1])
    ax.plot([], [], color=style.colour, label=f"posterior {shown} %")
    if box is not None:
        _draw_rectangle(ax, box, f"{rectangle} {100 * prob:g} %")
    if counts is not None and counts.n_pos > 0 and counts.n_neg > 0:
        ax.plot(
            counts.fpr, counts.fnr, "+", color=ink(ax)[0], ms=9, mew=1.6, ls="", clip_on=False,
            zorder=4, label="observed rates",
        )  # fmt: skip
    ax.set(xlabel="false positive rate", ylabel="false negative rate")
    ax.set(xlim=window[0], ylim=window[1], aspect="auto" if zoom else "equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(nbins=5)
    delta = delta_of(post.measure)
    if delta is not None:
        ax.set_title(f"$R(\\varepsilon, \\delta)$ at $\\delta$ = {number(delta)}", size="medium")
    legend(ax, columns=2)
    return ax


def _shade(
    ax: "Axes", measure: Any, levels: tuple[float, ...], window: tuple[float, float]
) -> None:
    """Fill the regions of falling levels, the inner ones darker; opaque, as in the legend."""
    colour = look(ax, 0).colour
    names = ends(levels[-1], levels[0]) if len(levels) == 2 else map(short, levels[::-1])
    strengths = np.linspace(0.14, 0.34, len(levels))
    for level, name, strength in zip(levels, [*names][::-1], strengths, strict=True):
        fnr = np.unique(
            np.concatenate(
                [np.linspace(0, 1, 257), np.linspace(*window, 257), measure.kinks(level)]
            )
        )
        low, high = measure.region(level, fnr)
        keep = low <= high
        if not keep.any():
            continue
        label = f"{symbol(measure)} ≤ {name}"
        style = {"facecolor": tint(ax, colour, strength), "lw": 0, "label": label}
        ax.fill_betweenx(fnr[keep], low[keep], high[keep], **style)
        for edge in (low, high):
            ax.plot(edge[keep], fnr[keep], color=colour, lw=0.8)


def _counts_of(post: Any) -> AttackCounts | None:
    if post.engine == "exact":
        counts = post.counts
    else:
        recorded = post.dt.attrs.get("counts")
        counts = AttackCounts(**json.loads(recorded)) if recorded else None
    return counts if counts is not None and counts.shape == () else None


def _draw_rectangle(ax: "Axes", box: Any, label: str) -> None:
    from matplotlib.patches import Rectangle

    (left, right), (bottom, top) = (tuple(map(float, ends)) for ends in (box.fpr, box.fnr))
    ax.add_patch(
        Rectangle(
            (left, bottom), right - left, top - bottom, fill=False, ec=ink(ax)[0], lw=1.1, ls="--",
            zorder=3, label=label,
        )
    )  # fmt: skip


def _span(joint: JointDensity, box: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ranges of FPR and FNR that hold the outermost contour and the rectangle."""
    inside = joint.height >= joint.cuts.min()
    spans = []
    for grid, axis, ends_of_box in (
        (joint.fpr, 0, None if box is None else box.fpr),
        (joint.fnr, 1, None if box is None else box.fnr),
    ):
        there = grid[inside.any(axis=axis)]
        low, high = float(there.min()), float(there.max())
        if ends_of_box is not None:
            low, high = min(low, float(ends_of_box[0])), max(high, float(ends_of_box[1]))
        margin = 0.12 * (high - low)
        spans.append((max(low - margin, 0.0), min(high + margin, 1.0)))
    return spans[0], spans[1]

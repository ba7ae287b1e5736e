"""The privacy region of two error rates, with the posterior, the rectangle and the attack."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice, check_number, check_prob
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import boundary_polygon
from bayesaudit.plots._common import COLOURS, GREY, axis_label, check_single, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["region"]

Array = NDArray[np.float64]
#: Points of a side of the grid on which contours are found.
GRID = 160


def region(
    post: Any,
    *,
    levels: tuple[float, ...] | None = None,
    prob: float = 0.90,
    masses: tuple[float, ...] = (0.5, 0.9, 0.99),
    rectangle: str | None = "clopper-pearson",
    zoom: bool = False,
    ax: "Axes | None" = None,
) -> "Figure":
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
    zoom : bool
        Whether to show only where the posterior is, rather than the whole unit square.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Contours are of the density in the angles arcsin √rate, in which the posterior is closest to
    normal; of draws they come from a Gaussian kernel density there.

    References
    ----------
    Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199, Figs. 2 and 3.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(0.05))
    >>> ba.plots.region(post, prob=0.95).axes[0].get_xlabel()
    'FPR'
    """
    check_single((post,))
    check_prob(prob)
    masses = tuple(sorted((check_prob(mass, "masses") for mass in masses), reverse=True))
    lower, upper = (float(end) for end in post.interval(prob))
    if levels is None:
        levels = tuple(level for level in (lower, upper) if np.isfinite(level))
    levels = tuple(sorted((check_number(level, "levels") for level in levels), reverse=True))
    ax = new_axes(ax, (7.4, 5.2))
    symbol = axis_label(post.measure).split("  (")[0]
    for level, alpha in zip(levels, np.linspace(0.14, 0.3, len(levels)), strict=True):
        outline = boundary_polygon(post.measure, level)
        if outline.size:
            ax.fill(
                *outline.T, facecolor=COLOURS[0], alpha=alpha, lw=0, label=f"{symbol} ≤ {level:.3g}"
            )
            ax.plot(*np.vstack([outline, outline[:1]]).T, color=COLOURS[0], lw=0.8)
    ax.plot([0, 1], [1, 0], color=GREY, lw=0.8, ls=":", label="guessing")
    fpr, fnr, height, cuts = _contours(post, masses)
    ax.contour(
        fpr, fnr, height, levels=cuts, colors=COLOURS[1], linewidths=(0.8, 1.1, 1.4)[: len(cuts)]
    )
    shown = ", ".join(f"{100 * mass:g}" for mass in masses[::-1])
    ax.plot([], [], color=COLOURS[1], label=f"posterior mass {shown} %")
    counts = _counts_of(post)
    box = None
    if counts is not None:
        if rectangle is not None:
            box = _draw_rectangle(ax, counts, prob, rectangle)
        if counts.n_pos > 0 and counts.n_neg > 0:
            ax.plot(
                counts.fpr,
                counts.fnr,
                "k+",
                ms=9,
                mew=1.6,
                ls="",
                clip_on=False,
                label="attack (observed rates)",
            )
    ax.set(xlabel="FPR", ylabel="FNR", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    if zoom:
        _zoom(ax, fpr, fnr, box)
    delta = getattr(post.measure, "delta", None)
    if isinstance(delta, float):
        ax.set_title(f"$R(\\varepsilon, \\delta)$ at $\\delta$ = {delta:g}", fontsize="medium")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    return ax.figure


def _contours(post: Any, masses: tuple[float, ...]) -> tuple[Array, Array, Array, Array]:
    """Return grid coordinates (FPR, FNR), the density in the angles and the levels of masses."""
    if post.engine == "exact":
        axes = []
        for marginal in (post.rates.fpr, post.rates.fnr):
            low, high = (
                float(np.arcsin(np.sqrt(marginal.quantile(q)[0]))) for q in (1e-5, 1 - 1e-5)
            )
            angle = np.linspace(low, high, GRID)
            x, xc = np.sin(angle)[None] ** 2, np.cos(angle)[None] ** 2
            axes.append((angle, np.exp(marginal.log_density(x, xc))[0]))
        (a, fa), (b, fb) = axes
        height = fb[:, None] * fa[None, :]
    else:
        from scipy.ndimage import gaussian_filter

        rates = post.dt["posterior"].dataset
        angles = [np.arcsin(np.sqrt(rates[name].values.ravel())) for name in ("fnr", "fpr")]
        b, a = (_span(angle) for angle in angles)
        edges = [_edges(grid) for grid in (b, a)]
        height = np.histogram2d(*angles, bins=edges)[0]
        # Scott's bandwidth, a little wider for the outer contours' sake; reflected at the edges,
        # where zero counts pile the draws up.
        scale = 1.3 * angles[0].size ** (-1 / 6)
        widths = [
            scale * angle.std() / (grid[1] - grid[0])
            for angle, grid in zip(angles, (b, a), strict=True)
        ]
        height = gaussian_filter(height, widths, mode="reflect")
    ordered = np.sort(height.ravel())[::-1]
    mass = np.cumsum(ordered) / ordered.sum()
    cuts = np.array([ordered[np.searchsorted(mass, m)] for m in masses])
    return np.sin(a) ** 2, np.sin(b) ** 2, height, np.unique(cuts)


def _span(angle: Array) -> Array:
    """Return midpoints of cells that cover the draws, up to 0 or π/2 where these are near."""
    low, high = float(angle.min()), float(angle.max())
    margin = 0.15 * (high - low) + 1e-6
    edges = np.linspace(max(low - margin, 0.0), min(high + margin, np.pi / 2), GRID + 1)
    return (edges[1:] + edges[:-1]) / 2


def _edges(middle: Array) -> Array:
    half = (middle[1] - middle[0]) / 2
    return np.append(middle - half, middle[-1] + half)


def _counts_of(post: Any) -> AttackCounts | None:
    if post.engine == "exact":
        return post.counts
    recorded = post.dt.attrs.get("counts")
    return AttackCounts(**json.loads(recorded)) if recorded else None


def _draw_rectangle(ax: "Axes", counts: AttackCounts, prob: float, method: str) -> Any:
    from matplotlib.patches import Rectangle

    from bayesaudit.intervals import RECTANGLES
    from bayesaudit.intervals import rectangle as both_rates

    check_choice(method, "rectangle", RECTANGLES)
    box = both_rates(counts, prob, method=method)
    (left, right), (bottom, top) = box.fpr, box.fnr
    ax.add_patch(
        Rectangle(
            (float(left), float(bottom)),
            float(right - left),
            float(top - bottom),
            fill=False,
            ec="k",
            lw=1.1,
            ls="--",
            label=f"{method} {100 * prob:g} %",
        )
    )
    return box


def _zoom(ax: "Axes", fpr: Array, fnr: Array, box: Any) -> None:
    ends = [(fpr[0], fpr[-1]), (fnr[0], fnr[-1])]
    if box is not None:
        boxes = [tuple(map(float, box.fpr)), tuple(map(float, box.fnr))]
        ends = [(min(e[0], b[0]), max(e[1], b[1])) for e, b in zip(ends, boxes, strict=True)]
    margins = [0.08 * (high - low) for low, high in ends]
    limits = [
        (max(low - m, 0.0), min(high + m, 1.0))
        for (low, high), m in zip(ends, margins, strict=True)
    ]
    ax.set(xlim=limits[0], ylim=limits[1], aspect="auto")

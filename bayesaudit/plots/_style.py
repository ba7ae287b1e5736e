"""One style for all figures: ink and colours that suit the page, new axes, legends below them.

Nothing here touches Matplotlib's global settings. What is drawn in black on a white page is drawn
in white on a dark one: the page is read off the axes.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MARKERS",
    "Look",
    "check_axes",
    "ink",
    "legend",
    "look",
    "new_axes",
    "plain_ticks",
    "spare",
    "tint",
]

#: Colour-blind safe (Okabe and Ito), in the order that keeps neighbours apart, by the page.
ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
ON_DARK = ("#56B4E9", "#E69F00", "#00B88A", "#CC79A7", "#F0E442", "#D55E00")
#: What tells series apart without colour.
LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = "osD^vPX"
#: Characters after which a label of the legend is broken.
WRAP = 44
#: Axes narrower than this, in inches, have the smaller text.
NARROW = 3.3


class Look(NamedTuple):
    """How one of several series is drawn."""

    colour: str
    line: Any
    marker: str


def check_axes(ax: Any) -> None:
    """Refuse what is not Matplotlib axes."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be Matplotlib axes, got {type(ax).__name__}.")


def new_axes(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    """Return the given axes, or those of a new figure of pyplot, which notebooks show once."""
    if ax is not None:
        check_axes(ax)
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def is_dark(ax: "Axes") -> bool:
    """Whether the page behind the axes is dark; of a transparent one the labels tell."""
    from matplotlib.colors import to_rgba

    for patch in (ax.patch, ax.figure.patch, ax.get_figure(root=True).patch):
        if patch.get_visible() and patch.get_facecolor()[3] > 0.5:
            return _luminance(patch.get_facecolor()) < 0.4
    return _luminance(to_rgba(ax.xaxis.label.get_color())) > 0.6


def _luminance(colour: Sequence[float]) -> float:
    return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]


def ink(ax: "Axes") -> tuple[str, str]:
    """Return the colour of what must be seen, and a quieter one, on this page."""
    return ("#f2f2f2", "#a8a8a8") if is_dark(ax) else ("#1a1a1a", "#6e6e6e")


def look(ax: "Axes", index: int) -> Look:
    """Return how the series of that number is drawn: any number of them, no two alike."""
    colours = ON_DARK if is_dark(ax) else ON_LIGHT
    turn, place = divmod(index, len(colours))
    return Look(colours[place], LINES[(place + turn) % len(LINES)], MARKERS[index % len(MARKERS)])


def tint(ax: "Axes", colour: str, strength: float) -> tuple[float, ...]:
    """Mix a colour into the page: opaque, so that what a legend shows is what is drawn."""
    from matplotlib.colors import to_rgb

    page = (0.0, 0.0, 0.0) if is_dark(ax) else (1.0, 1.0, 1.0)
    strength *= 1.4 if is_dark(ax) else 1.0
    return tuple(
        strength * c + (1 - strength) * p for c, p in zip(to_rgb(colour), page, strict=True)
    )


def spare(ax: "Axes") -> None:
    """Take away the two spines that bound nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def plain_ticks(axis: Any) -> None:
    """Label a short logarithmic axis at 1, 2 and 5 of each decade, in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend(ax: "Axes", *, columns: int = 3) -> None:
    """Put the legend below the axes and its labels, in as many columns as fit.

    Every figure does this itself; call it again after adding something with a label.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes whose artists have labels.
    columns : int
        The most columns to use.

    Notes
    -----
    A figure without a layout engine gets the constrained one, which makes room for it: legends
    then cover neither data nor each other.
    """
    from matplotlib.transforms import ScaledTranslation

    if (old := ax.get_legend()) is not None:
        old.remove()
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    figure = ax.get_figure(root=True)
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    # The axes' labels have the same size at any size of the axes.
    lowest = ax.get_tightbbox().y0
    below = (ax.bbox.y0 - lowest) / figure.dpi + 0.04
    place = ax.transAxes + ScaledTranslation(0, -below, figure.dpi_scale_trans)
    width = ax.get_position(original=True).width * ax.figure.bbox.width
    narrow = width / figure.dpi < NARROW
    for count in range(min(columns, len(handles)), 0, -1):
        drawn = ax.legend(
            handles,
            [textwrap.fill(label, WRAP) if "\n" not in label else label for label in labels],
            ncols=count,
            frameon=False,
            fontsize="x-small" if narrow else "small",
            labelcolor=ink(ax)[0],
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            bbox_transform=place,
            borderaxespad=0,
            columnspacing=1.2,
            handletextpad=0.6,
        )
        if drawn.get_window_extent().width <= 1.12 * width:
            return

"""Figures of calibration and planning; Matplotlib figures are returned, never shown."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_assurance", "plot_coverage"]

#: A colour-blind safe cycle (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")


def plot_assurance(
    n: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    target: float | None = None,
    planned: Mapping[str, int] | None = None,
    title: str = "",
) -> "Figure":
    """Draw assurance against the number of trials, one line a method.

    Parameters
    ----------
    n : array_like of int, shape (k,)
        Trials a side.
    curves : mapping of str to array_like, shape (k,)
        Method -> assurance.
    target : float, optional
        A horizontal line.
    planned : mapping of str to int, optional
        Method -> planned n, marked on its curve at the target.
    title : str
        What is claimed, of which attack.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = plot_assurance([50, 100], {"posterior": [0.6, 0.9]}, target=0.8)
    >>> len(figure.axes[0].lines)
    2
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        style = STYLES[number % len(STYLES)]
        axes.plot(n, curve, color=colour, linestyle=style, linewidth=1.5, label=name)
        if planned is not None and name in planned and target is not None:
            axes.plot(planned[name], target, "o", color=colour, markersize=6, zorder=3)
    if target is not None:
        axes.axhline(target, color="0.5", linewidth=0.8)
        axes.annotate(
            f"target {target:g}",
            (1, target),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 3),
            textcoords="offset points",
            ha="right",
            color="0.4",
            fontsize=8,
        )
    axes.set(xscale="log", xlabel="trials a side", ylim=(-0.02, 1.02), title=title)
    axes.set_ylabel("P(lower end > claim)")
    axes.legend(frameon=False, loc="lower right")
    axes.grid(alpha=0.2)
    return figure


def plot_coverage(
    fpr: ArrayLike,
    fnr: ArrayLike,
    maps: Mapping[str, ArrayLike],
    *,
    nominal: float,
    columns: int = 3,
    floor: float = 0.75,
) -> "Figure":
    """Draw maps of coverage over the two rates, one panel a method.

    Parameters
    ----------
    fpr, fnr : array_like, shape (k,) and (m,)
        Axes of the maps.
    maps : mapping of str to array_like, shape (m, k)
        Method -> coverage of the lower end.
    nominal : float
        The coverage promised; white in the colour scale, below it red and above it blue.
    columns : int
        Panels in a row.
    floor : float
        Lower end of the colour scale.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = plot_coverage([0.1, 0.2], [0.1, 0.2], {"x": np.full((2, 2), 0.9)}, nominal=0.95)
    >>> figure.axes[0].get_title()
    'x: least 0.900'
    """
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.figure import Figure

    names: Sequence[str] = list(maps)
    columns = min(columns, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3.1 * columns + 0.7, 2.9 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    norm = TwoSlopeNorm(vmin=floor, vcenter=nominal, vmax=1.0)
    for axis, name in zip(axes.flat, names, strict=False):
        values = np.asarray(maps[name], float)
        drawn = axis.pcolormesh(fpr, fnr, values, cmap="RdBu", norm=norm, shading="nearest")
        axis.set_title(f"{name}: least {values.min():.3f}", fontsize=9)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    for column in range(columns):
        lowest = axes[(len(names) - 1 - column) // columns, column]
        lowest.set_xlabel("FPR")
        lowest.tick_params(labelbottom=True)
    for axis in axes[:, 0]:
        axis.set_ylabel("FNR")
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8)
    bar.set_label(f"coverage of the lower end (nominal {nominal:g})")
    return figure

"""What the figures share: new axes, checks, names and ranges."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axis_label", "check_single", "legend_label", "levels_of", "new_axes"]

Array = NDArray[np.float64]
#: Colour-blind safe (Okabe and Ito), by the position of the posterior.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
GREY = "0.45"


def new_axes(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    """Return the given axes, or those of a new figure that no window manager knows of."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots()


def check_single(posteriors: tuple[Any, ...]) -> None:
    """Refuse anything but posteriors of one measure and one tally each."""
    if not posteriors:
        raise ValueError("needs at least one posterior, got none.")
    for post in posteriors:
        if getattr(post, "engine", None) not in ("exact", "draws"):
            raise TypeError(f"needs posteriors, got {type(post).__name__}.")
        if post.shape:
            raise ValueError(f"draws one tally at a time, got tallies of shape {post.shape}.")
    names = {post.measure.name for post in posteriors}
    if len(names) > 1:
        raise ValueError(f"posteriors must be of one measure, got {sorted(names)}.")


def axis_label(measure: Any) -> str:
    """Return the measure's name with its symbol."""
    symbols = {"epsilon": "$\\hat\\varepsilon$", "mu": "$\\mu$", "advantage": "advantage"}
    label = symbols.get(measure.name, measure.name)
    delta = getattr(measure, "delta", None)
    return label if not isinstance(delta, float) else f"{label}  ($\\delta$ = {delta:g})"


def legend_label(post: Any, label: str | None) -> str:
    """Return the given label or the engine's name."""
    if label is not None:
        return label
    return "exact" if post.engine == "exact" else f"{post.n_draws:,} draws"


def levels_of(posteriors: tuple[Any, ...], claim: float | None, points: int = 301) -> Array:
    """Return levels that show all of the posteriors, their atom and the claim."""
    low = min(float(post.quantile(0.0005)) for post in posteriors)
    high = max(float(post.quantile(0.9995)) for post in posteriors)
    if not np.isfinite(high):
        finite = [float(post.quantile(q)) for post in posteriors for q in (0.5, 0.9, 0.99)]
        high = max((x for x in finite if np.isfinite(x)), default=low + 1)
    lowest = posteriors[0].measure.lowest
    if np.isfinite(lowest) and low - lowest < 0.35 * (high - lowest):
        low = lowest
    if claim is not None:
        low, high = min(low, claim), max(high, claim)
    if high <= low:
        high = low + 1
    margin = 0.02 * (high - low)
    left = low if low == lowest else low - margin
    return np.linspace(left, high + margin, points)

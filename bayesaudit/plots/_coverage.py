"""Maps of frequentist coverage over the two true rates."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice
from bayesaudit.calibration.coverage import Coverage
from bayesaudit.plots._style import check_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coverage"]

Array = NDArray[np.float64]
End = Literal["lower", "upper", "both"]
NAMES = {"lower": "lower end", "upper": "upper end", "both": "interval"}
#: Errors this many times the promised one, or one part in so many of it, have the full colour.
TIMES = 32.0


def coverage(
    results: Coverage | Sequence[Coverage] | Mapping[str, Coverage],
    *,
    end: End = "lower",
    ax: "Axes | Sequence[Axes] | None" = None,
) -> Any:
    """Draw a map of coverage over FPR and FNR; of several methods, a panel each.

    Parameters
    ----------
    results : Coverage, or a sequence or mapping of Coverage
        From `bayesaudit.calibration.coverage` at a grid of rates; of a mapping the keys are the
        names, otherwise the methods are.
    end : {"lower", "upper", "both"}
        Whose coverage.
    ax : matplotlib.axes.Axes, or as many of them as results, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray of them
        The axes of a `Coverage`, and an array of axes of several.

    Notes
    -----
    Colours follow the logarithm of the error probability against the promised one, white where they
    are equal: 0.98 and 0.999 differ as visibly as 0.95 and 0.90 do.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> fpr, fnr = np.meshgrid([0.1, 0.2, 0.3], [0.1, 0.2])
    >>> found = ba.calibration.coverage(ba.Epsilon(0, "member"), fnr, fpr, 20, 20)
    >>> ba.plots.coverage(found, ax=Figure().subplots()).get_xlabel()
    'false positive rate'
    """
    check_choice(end, "end", NAMES)
    single = isinstance(results, Coverage)
    named = _named(results)
    maps = [_grid(result, end) for _, result in named]
    axes = _axes(ax, len(maps))
    promised = {_promised(result, end) for _, result in named}
    if len(promised) > 1:
        raise ValueError(f"results must share their level, got {sorted(promised)}.")
    nominal = promised.pop()
    for axis, (name, _), (fpr, fnr, values) in zip(axes, named, maps, strict=True):
        drawn = _draw(axis, fpr, fnr, values, nominal)
        axis.set_title(f"{name}\nleast {values.min():.3f}", size="medium")
        axis.set(xlabel="false positive rate", ylabel="false negative rate")
        axis.set(xlim=(min(fpr[0], 0), None), ylim=(min(fnr[0], 0), None))
    bar = axes[0].figure.colorbar(drawn, ax=list(axes), shrink=0.9, extend="both")
    _scale(bar, nominal)
    bar.set_label(f"coverage, {NAMES[end]}")
    return axes[0] if single else axes


def _named(results: Any) -> list[tuple[str, Coverage]]:
    if isinstance(results, Coverage):
        return [(results.method, results)]
    if isinstance(results, Mapping):
        found = [(str(name), result) for name, result in results.items()]
    elif isinstance(results, Sequence) and not isinstance(results, str):
        found = [(getattr(result, "method", ""), result) for result in results]
    else:
        raise TypeError(f"results must be Coverage, or several, got {type(results).__name__}.")
    if not found:
        raise ValueError("results must hold at least one Coverage, got none.")
    for _, result in found:
        if not isinstance(result, Coverage):
            raise TypeError(f"results must be Coverage, got {type(result).__name__}.")
    return found


def _promised(result: Coverage, end: End) -> float:
    return result.prob if end == "both" else (1 + result.prob) / 2


def _grid(result: Coverage, end: End) -> tuple[Array, Array, Array]:
    """Return rising FPR, rising FNR and the coverage at (FNR, FPR)."""
    fnr, fpr, values = (np.asarray(part) for part in (result.fnr, result.fpr, getattr(result, end)))
    if values.ndim != 2 or min(values.shape) < 2:
        raise ValueError(
            f"results must be at a grid of rates, shape (n_fnr, n_fpr), got shape {values.shape}."
        )
    if np.ptp(fpr, axis=1).max() == 0:
        fnr, fpr, values = fnr.T, fpr.T, values.T
    if np.ptp(fpr, axis=0).max() > 0 or np.ptp(fnr, axis=1).max() > 0:
        raise ValueError("results must be at a grid: every FNR with every FPR.")
    down, across = np.argsort(fnr[:, 0]), np.argsort(fpr[0])
    return fpr[0, across], fnr[down, 0], values[np.ix_(down, across)]


def _axes(ax: Any, number: int) -> Any:
    if ax is None:
        import matplotlib.pyplot as plt

        columns = min(number, 3)
        rows = -(-number // columns)
        size = (4.8, 3.8) if number == 1 else (2.7 * columns + 1.0, 2.9 * rows)
        _, made = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        for unused in made.flat[number:]:
            unused.set_axis_off()
        return made.ravel()[:number]
    axes = np.ravel(np.asarray(ax, dtype=object))
    if axes.size != number:
        raise ValueError(f"ax must be as many axes as results, {number}, got {axes.size}.")
    for axis in axes:
        check_axes(axis)
    figure = axes[0].get_figure(root=True)
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    return axes


def _times(coverage: Any, nominal: float) -> Any:
    """Return how many times rarer than promised errors are, in doublings."""
    with np.errstate(divide="ignore"):
        return np.log2(1 - nominal) - np.log2(1 - np.asarray(coverage, float))


def _draw(ax: "Axes", fpr: Array, fnr: Array, values: Array, nominal: float) -> Any:
    limit = np.log2(TIMES)
    colour = np.clip(_times(values, nominal), -limit, limit)
    return ax.pcolormesh(
        fpr, fnr, colour, cmap="RdBu", vmin=-limit, vmax=limit, shading="nearest", rasterized=True
    )


def _scale(bar: Any, nominal: float) -> None:
    """Label the colours by coverage, the promised one among them."""
    error = 1 - nominal
    factors = [factor for factor in (16, 4, 2, 1, 0.5, 0.25, 1 / 16) if factor * error < 1]
    places = [float(_times(1 - factor * error, nominal)) for factor in factors]
    bar.set_ticks(places, labels=[f"{1 - factor * error:.4g}" for factor in factors])

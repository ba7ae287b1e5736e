"""Bounds on the advantage of a reconstruction attack, side by side."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesaudit._checks import check_prob
from bayesaudit.fano import BestBound
from bayesaudit.plots._names import number
from bayesaudit.plots._style import ink, legend, look, new_axes, plain_ticks, spare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["fano_bounds", "fano_curves"]

#: What the bounds are called by their authors and readers.
NAMES = {
    "erokhin": "Fano, from the mutual information",
    "paper": "Fano, as in Guo et al. 2023",
    "han-verdu": "Fano, as in Han & Verdú 1994",
    "pure-dp": "pure DP, exact",
    "renyi-fano": "Rényi–Fano",
    "rero-rdp": "reconstruction robustness, Rényi DP",
    "rero-zcdp": "reconstruction robustness, zCDP",
    "gdp": "reconstruction robustness, Gaussian DP",
    "f-dp": "reconstruction robustness, trade-off curve",
    "f-dp-fixed-point": "fixed point of the trade-off curve",
    "yeom": "Yeom et al. 2018",
    "erlingsson": "Erlingsson et al. 2019",
    "humphries": "Humphries et al. 2023",
}
#: The lowest advantage that a logarithmic axis shows.
LOWEST = 1e-4
LABEL = "advantage (upper bound)"


def fano_bounds(bounds: BestBound, *, ax: "Axes | None" = None) -> "Axes":
    r"""Draw every bound that the premises give, the smallest on top.

    Parameters
    ----------
    bounds : BestBound
        From `bayesaudit.fano.best_bound` or `dp_sgd_bounds`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> found = ba.fano.best_bound(categories=10, pure_epsilon=1.0)
    >>> ax = ba.plots.fano_bounds(found, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['pure DP, exact', 'Fano, from the mutual\ninformation']
    """
    _check(bounds)
    ax = new_axes(ax, (5.6, 1.2 + 0.45 * len(bounds.bounds)))
    for place, bound in enumerate(bounds.bounds):
        style = look(ax, 0 if place == 0 else 1)
        ax.hlines(place, 0, bound.advantage, color=style.colour, lw=1.2)
        ax.plot(bound.advantage, place, style.marker, color=style.colour, ms=6, clip_on=False)
        # Beside the point, on the side where there is room.
        inward = bound.advantage > 0.7
        ax.annotate(
            f"{bound.advantage:.3g}", (bound.advantage, place), xytext=(-7 if inward else 7, 3),
            textcoords="offset points", ha="right" if inward else "left", fontsize="x-small",
            color=ink(ax)[0],
        )  # fmt: skip
    names = [NAMES.get(bound.method, bound.method) for bound in bounds.bounds]
    # The same bound from two premises: these tell them apart.
    names = [
        f"{name} ({bound.premise})" if names.count(name) > 1 else name
        for name, bound in zip(names, bounds.bounds, strict=True)
    ]
    ax.set_yticks(range(len(names)), [textwrap.fill(name, 26) for name in names], size="small")
    ax.set(xlim=(0, 1.02), ylim=(len(names) - 0.4, -0.7), xlabel=LABEL)
    ax.set_title(_secret(bounds), size="medium")
    spare(ax)
    return ax


def fano_curves(
    x: ArrayLike,
    bounds: Sequence[BestBound],
    *,
    xlabel: str,
    methods: Sequence[str] | None = None,
    measured: Sequence[Any] | None = None,
    prob: float = 0.95,
    log: bool = False,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw bounds against a parameter of the training, one line a bound.

    Parameters
    ----------
    x : array_like, shape (n,)
        The parameter: noise multiplier or ε, say.
    bounds : sequence of BestBound, n of them
        The bounds at each.
    xlabel : str
        What x is, with its unit.
    methods : sequence of str, optional
        Which bounds, by their method's name; by default all that are present everywhere.
    measured : sequence of GameResult, optional
        Attacks that were played at each x; drawn with Clopper–Pearson intervals.
    prob : float
        Level of these intervals.
    log : bool
        Whether both axes are logarithmic; advantages below 1e-4 are not shown.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> epsilon = [0.5, 1.0, 2.0]
    >>> found = [ba.fano.best_bound(categories=10, pure_epsilon=e) for e in epsilon]
    >>> ax = ba.plots.fano_curves(epsilon, found, xlabel="ε (nats)", ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['Fano, from the mutual information', 'pure DP, exact']
    """
    place, bounds = np.ravel(np.asarray(x, float)), list(bounds)
    for name, items in (("bounds", bounds), ("measured", measured)):
        if items is not None and len(items) != place.size:
            raise ValueError(f"{name} must be as many as x, {place.size}, got {len(items)}.")
    for bound in bounds:
        _check(bound)
    if not bounds:
        raise ValueError("bounds must hold at least one BestBound, got none.")
    check_prob(prob, "prob")
    present = [{one.method for one in bound.bounds} for bound in bounds]
    shared = set.intersection(*present)
    chosen = [name for name in NAMES if name in shared] if methods is None else list(methods)
    for name in chosen:
        if name not in shared:
            raise ValueError(f"methods must be among {sorted(shared)}, got {name!r}.")
    ax = new_axes(ax, (5.2, 4.6))
    for i, name in enumerate(chosen):
        style = look(ax, i)
        ax.plot(
            place, [bound[name].advantage for bound in bounds], color=style.colour, ls=style.line,
            marker=style.marker, ms=4, markevery=max(1, place.size // 12), lw=1.4,
            label=NAMES.get(name, name),
        )  # fmt: skip
    if measured is not None:
        _draw_measured(ax, place, measured, prob)
    ax.set(xlabel=xlabel, ylabel=LABEL, title=_secret(bounds[0]))
    ax.title.set_size("medium")
    if log:
        smallest = min(bound[name].advantage for bound in bounds for name in chosen)
        ax.set(xscale="log", yscale="log", ylim=(max(0.7 * smallest, LOWEST), 1.3))
        plain_ticks(ax.xaxis)
    else:
        ax.set_ylim(-0.02, 1.02)
    spare(ax)
    legend(ax, columns=2)
    return ax


def _check(bounds: Any) -> None:
    if not isinstance(bounds, BestBound):
        raise TypeError(f"bounds must be BestBound, got {type(bounds).__name__}.")


def _secret(bounds: BestBound) -> str:
    best = bounds.best
    count = number(best.categories)
    if np.isclose(best.base_success * best.categories, 1):
        return f"{count} equally likely secrets"
    return f"{count} secrets, best guess right with {best.base_success:.3g}"


def _draw_measured(ax: "Axes", place: Any, measured: Sequence[Any], level: float) -> None:
    middle = np.array([result.advantage for result in measured])
    ends = np.array([result.interval(level) for result in measured]).T
    base = np.array([result.base_success for result in measured])
    low, high = ((ends - base) / (1 - base)) if (base < 1).all() else np.array([middle, middle])
    ax.errorbar(
        place, middle, [middle - low, high - middle], fmt="o", color=ink(ax)[0], ms=4, capsize=3,
        lw=1, label=f"measured, {100 * level:g} % confidence",
    )  # fmt: skip

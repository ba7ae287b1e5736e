"""The posterior of a measure: its CDF and density with interval, atom, claim and error band."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_number, check_prob
from bayesaudit.plots._names import (
    axis_label,
    check_posteriors,
    ends,
    levels_of,
    names_of,
    number,
    symbol,
)
from bayesaudit.plots._style import Look, ink, legend, look, new_axes, spare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BAND", "band_error", "cdf", "density", "distribution"]

Array = NDArray[np.float64]
#: Standard errors that the Monte Carlo band spans on either side.
BAND = 2.0
#: Atoms smaller than this are not drawn.
SMALL_ATOM = 1e-3


def distribution(
    *posteriors: Any,
    prob: float = 0.90,
    claim: float | None = None,
    labels: Sequence[str] | None = None,
    ax: "Sequence[Axes] | None" = None,
) -> "NDArray[Any]":
    """Draw the CDF and the density side by side.

    Parameters
    ----------
    *posteriors : ExactPosterior or DrawsPosterior
        Posteriors of one kind of measure, each of one tally; δ and direction may differ.
    prob : float
        Mass of the equal-tailed intervals that are marked.
    claim : float, optional
        A claimed value of the measure; the posterior probabilities above it are written beside.
    labels : sequence of str, optional
        Names for the legend; by default what tells the posteriors apart.
    ax : sequence of two matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    numpy.ndarray of matplotlib.axes.Axes, shape (2,)

    References
    ----------
    Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199, Figs. 5 and 6.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(1e-5))
    >>> pair = Figure(figsize=(7, 3)).subplots(1, 2)
    >>> [ax.get_ylabel() for ax in ba.plots.distribution(post, claim=1.0, ax=pair)]
    ['posterior CDF', 'density (per nat)']
    """
    _checked(posteriors, prob, claim, labels)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")[1]
    pair = np.ravel(np.asarray(ax, dtype=object))
    if pair.size != 2:
        raise ValueError(f"ax must be two axes, for CDF and density, got {pair.size}.")
    cdf(*posteriors, prob=prob, claim=claim, labels=labels, ax=pair[0])
    density(*posteriors, prob=prob, claim=claim, labels=labels, ax=pair[1])
    return pair


def cdf(
    *posteriors: Any,
    prob: float = 0.90,
    claim: float | None = None,
    labels: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    r"""Draw the posterior CDF; draws have a band of two Monte Carlo standard errors.

    Parameters
    ----------
    *posteriors, prob, claim, labels
        As in `distribution`; posteriors of Fano's advantage too.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> two = [ba.posterior(counts, ba.Epsilon(delta)) for delta in (0, 0.05)]
    >>> ax = ba.plots.cdf(*two, ax=Figure().subplots())
    >>> print(ax.get_legend_handles_labels()[1][0])
    $\delta$ = 0
    90 % [0.663, 1.28]
    """
    posteriors, names = _checked(posteriors, prob, claim, labels)
    level = levels_of(posteriors, claim)
    ax = new_axes(ax, (5.2, 4.6))
    for i, (post, name) in enumerate(zip(posteriors, names, strict=True)):
        style, value = look(ax, i), post.cdf(level)
        _band(ax, post, level, value, style.colour, "cdf")
        _curve(ax, level, value, style, _facts(post, name, prob, claim))
        tail = (1 - prob) / 2
        for end, height in zip(post.interval(prob), (tail, 1 - tail), strict=True):
            if np.isfinite(end):
                _mark(ax, end, max(height, float(post.cdf(end))), style)
                if len(posteriors) == 1:
                    corner = [[level[0], end, end], [height, height, 0]]
                    ax.plot(*corner, color=ink(ax)[1], lw=0.8, ls=":", zorder=1)
        if (atom := float(post.prob_zero)) >= SMALL_ATOM:
            lowest = post.measure.lowest
            ax.plot([lowest, lowest], [0, atom], color=style.colour, lw=2.5, clip_on=False)
    _finish(ax, posteriors, level, claim)
    ax.set(ylabel="posterior CDF", ylim=(0, 1.02))
    legend(ax)
    return ax


def density(
    *posteriors: Any,
    prob: float = 0.90,
    claim: float | None = None,
    labels: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the posterior density with the ends of its interval, and its atom as a stem.

    Parameters
    ----------
    *posteriors, prob, claim, labels
        As in `distribution`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Mass has no height on an axis of density: the stem of an atom is as tall, as a share of the
    axis, as its probability. The interval is shaded where there is one posterior.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> post = ba.posterior(ba.AttackCounts(fn=50, tp=50, fp=50, tn=50), ba.Epsilon(0.1))
    >>> ax = ba.plots.density(post, ax=Figure().subplots())
    >>> print(ax.get_legend_handles_labels()[1][0])
    exact
    90 % [0, 0.0879], P(= 0) = 0.846
    """
    posteriors, names = _checked(posteriors, prob, claim, labels)
    if not all(hasattr(post, "pdf") for post in posteriors):
        raise TypeError("posteriors of the advantage have no density here: draw their CDF.")
    level = levels_of(posteriors, claim)
    values = [post.pdf(level) for post in posteriors]
    top = max(float(np.max(value[np.isfinite(value)], initial=0.0)) for value in values) or 1.0
    ax = new_axes(ax, (5.2, 4.6))
    for i, (post, name, value) in enumerate(zip(posteriors, names, values, strict=True)):
        style = look(ax, i)
        _band(ax, post, level, value, style.colour, "pdf")
        _curve(ax, level, value, style, _facts(post, name, prob, claim))
        lower, upper = (float(end) for end in post.interval(prob))
        if len(posteriors) == 1:
            inside = (level >= lower) & (level <= upper)
            ax.fill_between(level, value, where=inside, color=style.colour, alpha=0.2, lw=0)
        for end in (lower, upper):
            if np.isfinite(end) and end > post.measure.lowest:
                _mark(ax, end, float(np.interp(end, level, value)), style)
        if (atom := float(post.prob_zero)) >= SMALL_ATOM:
            lowest, height = post.measure.lowest, 1.1 * top * atom
            ax.plot([lowest, lowest], [0, height], color=style.colour, lw=2.5, clip_on=False)
            _mark(ax, lowest, height, style)
    _finish(ax, posteriors, level, claim)
    unit = (
        "nat"
        if posteriors[0].measure.name == "epsilon"
        else f"unit of {symbol(posteriors[0].measure)}"
    )
    ax.set(ylabel=f"density (per {unit})", ylim=(0, 1.1 * top))
    legend(ax)
    return ax


def band_error(post: Any, level: Array, verb: str = "cdf") -> Array:
    """Return the standard error of a verb; it changes slowly, so that a coarser grid serves."""
    if post.engine == "exact":
        return np.zeros_like(level)
    some = level[:: max(1, level.size // 60)]
    return np.interp(level, some, post.mcse(verb, some))


def _band(ax: "Axes", post: Any, level: Array, value: Array, colour: str, verb: str) -> None:
    if post.engine == "draws":
        error = BAND * band_error(post, level, verb)
        low, high = np.maximum(value - error, 0), value + error
        if verb == "cdf":
            high = np.minimum(high, 1)
        ax.fill_between(level, low, high, color=colour, alpha=0.3, lw=0)


def _name_band(ax: "Axes", posteriors: Sequence[Any]) -> None:
    if any(post.engine == "draws" for post in posteriors):
        label = f"± {BAND:g} Monte Carlo s.e."
        ax.fill_between([], [], [], color=ink(ax)[1], alpha=0.4, lw=0, label=label)


def _checked(
    posteriors: Sequence[Any], prob: float, claim: float | None, labels: Sequence[str] | None
) -> tuple[tuple[Any, ...], list[str]]:
    posteriors = check_posteriors(posteriors)
    check_prob(prob)
    if claim is not None:
        check_number(claim, "claim")
    return posteriors, names_of(posteriors, labels)


def _facts(post: Any, name: str, prob: float, claim: float | None) -> str:
    """Return the name of a posterior and, below it, what is marked on its curve."""
    lower, upper = ends(*post.interval(prob))
    facts = [f"{100 * prob:g} % [{lower}, {upper}]"]
    if (atom := float(post.prob_zero)) >= SMALL_ATOM:
        facts.append(f"P(= {post.measure.lowest:g}) = {atom:.3g}")
    if claim is not None:
        facts.append(f"P(> {claim:g}) = {float(post.prob_above(claim)):.3g}")
    return f"{name}\n{', '.join(facts)}"


def _curve(ax: "Axes", x: Array, y: Array, style: Look, label: str) -> None:
    # No point of the curve carries the marker: it stands for the ends, and shows in the legend.
    ax.plot(
        x, y, color=style.colour, ls=style.line, lw=1.8, marker=style.marker, ms=5, markevery=[],
        label=label,
    )  # fmt: skip


def _mark(ax: "Axes", x: float, y: float, style: Look) -> None:
    ax.plot([x], [y], style.marker, color=style.colour, ms=5, clip_on=False, zorder=4)


def _finish(ax: "Axes", posteriors: Sequence[Any], level: Array, claim: float | None) -> None:
    ax.set_xlabel(axis_label(*(post.measure for post in posteriors)))
    ax.set_xlim(level[0], level[-1])
    spare(ax)
    _name_band(ax, posteriors)
    if claim is not None:
        ax.axvline(claim, color=ink(ax)[0], lw=1, ls="-.", label=f"claim {number(claim)}")

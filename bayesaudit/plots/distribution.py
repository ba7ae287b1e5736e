"""The posterior of a measure: its CDF and density with interval, atom, claim and error band."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesaudit._checks import check_number, check_prob
from bayesaudit.plots._common import (
    COLOURS,
    GREY,
    axis_label,
    check_single,
    legend_label,
    levels_of,
    new_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["cdf", "cdf_difference", "density", "distribution"]

#: Standard errors that the Monte Carlo band spans on either side.
BAND = 2.0
#: Atoms smaller than this are not drawn.
SMALL_ATOM = 1e-3


def distribution(
    *posteriors: Any,
    prob: float = 0.90,
    claim: float | None = None,
    labels: Sequence[str] | None = None,
) -> "Figure":
    """Draw the CDF and the density side by side.

    Parameters
    ----------
    *posteriors : ExactPosterior or DrawsPosterior
        Posteriors of one measure, each of one tally.
    prob : float
        Mass of the equal-tailed interval that is marked.
    claim : float, optional
        A claimed value of the measure; its survival probability is written beside it.
    labels : sequence of str, optional
        Names for the legend.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199, Figs. 5 and 6.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(1e-5))
    >>> len(ba.plots.distribution(post, claim=1.0).axes)
    2
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    cdf(*posteriors, prob=prob, claim=claim, labels=labels, ax=left)
    density(*posteriors, prob=prob, claim=claim, labels=labels, ax=right)
    return figure


def cdf(
    *posteriors: Any,
    prob: float = 0.90,
    claim: float | None = None,
    labels: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the posterior CDF; draws have a band of two Monte Carlo standard errors.

    Parameters
    ----------
    *posteriors, prob, claim, labels
        As in `distribution`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    ax, level, names = _prepared(posteriors, prob, claim, labels, ax)
    for post, colour, name in zip(posteriors, COLOURS, names, strict=False):
        value = post.cdf(level)
        exact = post.engine == "exact"
        if not exact:
            # The error changes slowly: a coarser grid serves.
            some = level[:: max(1, level.size // 60)]
            error = np.interp(level, some, post.mcse("cdf", some))
            band = (np.clip(value + side * BAND * error, 0, 1) for side in (-1, 1))
            ax.fill_between(level, *band, color=colour, alpha=0.3, lw=0, label="± 2 MCSE")
        # Draws below, exact dashed above them: one does not hide the other.
        style = {"lw": 1.2, "ls": (0, (5, 2)), "zorder": 3} if exact else {"lw": 2.2, "alpha": 0.8}
        if len(posteriors) == 1:
            style = {"lw": 1.8}
        ax.plot(level, value, color=colour, label=name, **style)
        _atom_on_cdf(ax, post, colour)
        lower, upper = post.interval(prob)
        tail = (1 - prob) / 2
        if post is posteriors[0]:
            for end, height in ((lower, tail), (upper, 1 - tail)):
                if np.isfinite(end):
                    ax.plot([end, end], [0, height], color=GREY, lw=0.8, ls=":")
                    ax.plot([level[0], end], [height, height], color=GREY, lw=0.8, ls=":")
    _finish(ax, posteriors, level, claim, on_cdf=True)
    ax.set(ylabel=f"P({_symbol(posteriors[0])} ≤ x | data)", ylim=(0, 1.02))
    _legend(ax)
    return ax.figure


def density(
    *posteriors: Any,
    prob: float = 0.90,
    claim: float | None = None,
    labels: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the posterior density with its interval shaded and its atom as a stem.

    Parameters
    ----------
    *posteriors, prob, claim, labels
        As in `distribution`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    ax, level, names = _prepared(posteriors, prob, claim, labels, ax)
    top = 0.0
    for post, colour, name in zip(posteriors, COLOURS, names, strict=False):
        value = post.pdf(level)
        top = max(top, float(np.max(value[np.isfinite(value)], initial=0.0)))
        exact = post.engine == "exact"
        style = {"lw": 1.2, "ls": (0, (5, 2)), "zorder": 3} if exact else {"lw": 2.2, "alpha": 0.8}
        if len(posteriors) == 1:
            style = {"lw": 1.8}
        ax.plot(level, value, color=colour, label=name, **style)
        if post is posteriors[0]:
            lower, upper = post.interval(prob)
            inside = (level >= lower) & (level <= upper)
            ax.fill_between(
                level,
                value,
                where=inside,
                color=colour,
                alpha=0.15,
                lw=0,
                label=f"{100 * prob:g} % [{_short(lower)}, {_short(upper)}]",
            )
    top = top or 1.0
    for post, colour in zip(posteriors, COLOURS, strict=False):
        _atom_on_density(ax, post, colour, top)
    _finish(ax, posteriors, level, claim, on_cdf=False)
    ax.set(ylabel="posterior density", ylim=(0, 1.12 * top))
    _legend(ax)
    return ax.figure


def cdf_difference(draws: Any, exact: Any, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the CDF of draws minus the exact one, with bands of one and two standard errors.

    Parameters
    ----------
    draws : DrawsPosterior
        The draws engine's posterior.
    exact : ExactPosterior
        The exact engine's, of the same measure.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> exact = ba.posterior(counts, ba.Epsilon(1e-5))
    >>> draws = ba.posterior(ba.sample(counts, random_seed=1), ba.Epsilon(1e-5))
    >>> ba.plots.cdf_difference(draws, exact).axes[0].get_ylabel()
    'CDF of draws − exact'
    """
    check_single((draws, exact))
    ax = new_axes(ax, (6, 3.2))
    level = levels_of((exact,), None)
    some = level[:: max(1, level.size // 60)]
    error = np.interp(level, some, draws.mcse("cdf", some))
    for width, alpha in ((2, 0.18), (1, 0.3)):
        ax.fill_between(
            level,
            -width * error,
            width * error,
            color=COLOURS[1],
            alpha=alpha,
            lw=0,
            label=f"± {width} MCSE",
        )
    ax.axhline(0, color=GREY, lw=0.8)
    ax.plot(level, draws.cdf(level) - exact.cdf(level), color=COLOURS[0], lw=1.2)
    ax.set(xlabel=axis_label(exact.measure), ylabel="CDF of draws − exact")
    ax.set_xlim(level[0], level[-1])
    ax.legend(frameon=False, fontsize="small", loc="lower right", ncols=2)
    return ax.figure


def _prepared(
    posteriors: tuple[Any, ...],
    prob: float,
    claim: float | None,
    labels: Sequence[str] | None,
    ax: "Axes | None",
) -> tuple[Any, Any, list[str]]:
    check_single(posteriors)
    check_prob(prob)
    if len(posteriors) > len(COLOURS):
        raise ValueError(f"draws at most {len(COLOURS)} posteriors, got {len(posteriors)}.")
    if labels is not None and len(labels) != len(posteriors):
        raise ValueError(f"labels must name {len(posteriors)} posteriors, got {len(labels)}.")
    if claim is not None:
        claim = check_number(claim, "claim")
    names = [
        legend_label(post, None if labels is None else labels[i])
        for i, post in enumerate(posteriors)
    ]
    return new_axes(ax, (5.2, 4.4)), levels_of(posteriors, claim), names


def _legend(ax: "Axes") -> None:
    """Put the legend below the axes, where it hides no curve."""
    ax.legend(
        frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2
    )


def _symbol(post: Any) -> str:
    return axis_label(post.measure).split("  (")[0]


def _short(value: Any) -> str:
    return f"{float(value):.3g}" if np.isfinite(value) else "∞"


def _atom_on_cdf(ax: "Axes", post: Any, colour: str) -> None:
    atom = float(post.prob_zero)
    if atom >= SMALL_ATOM:
        lowest = post.measure.lowest
        ax.plot([lowest, lowest], [0, atom], color=colour, lw=1.2)
        ax.plot([lowest], [atom], "o", color=colour, ms=4.5, clip_on=False, zorder=4)


def _atom_on_density(ax: "Axes", post: Any, colour: str, top: float) -> None:
    atom = float(post.prob_zero)
    if atom >= SMALL_ATOM:
        lowest = post.measure.lowest
        # Mass has no height on an axis of density: the stem is as tall as its share of the top.
        ax.plot([lowest, lowest], [0, atom * top], color=colour, lw=2.5, solid_capstyle="butt")
        ax.plot(
            [lowest],
            [atom * top],
            "o",
            color=colour,
            ms=5,
            clip_on=False,
            zorder=4,
            label=f"P({_symbol(post)} = {lowest:g}) = {atom:.3g}",
        )


def _finish(
    ax: "Axes", posteriors: tuple[Any, ...], level: Any, claim: float | None, *, on_cdf: bool
) -> None:
    ax.set_xlabel(axis_label(posteriors[0].measure))
    ax.set_xlim(level[0], level[-1])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if claim is not None:
        above = float(posteriors[0].prob_above(claim))
        text = f"claim {claim:g}: P(above) = {above:.3g}"
        ax.axvline(claim, color="k", lw=1, ls="-.", label=text)

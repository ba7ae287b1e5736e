"""How far the CDFs of two posteriors are apart, against their Monte Carlo error."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesaudit.plots._distribution import band_error
from bayesaudit.plots._names import axis_label, check_posteriors, levels_of, names_of
from bayesaudit.plots._style import ink, legend, look, new_axes, spare, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cdf_difference"]


def cdf_difference(
    first: Any, second: Any, *, labels: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the CDF of one posterior minus that of another, in bands of one and two standard errors.

    Parameters
    ----------
    first, second : ExactPosterior or DrawsPosterior
        Posteriors of one kind of measure, in either order. Draws against quadrature should stay
        within the bands; of two sets of draws, taken as independent, the squared errors add; two
        exact posteriors have no band.
    labels : sequence of two str, optional
        Their names; by default what tells them apart.
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
    >>> exact = ba.posterior(counts, ba.Epsilon(1e-5))
    >>> draws = ba.posterior(ba.sample(counts, draws=500, random_seed=1), ba.Epsilon(1e-5))
    >>> ba.plots.cdf_difference(draws, exact, ax=Figure().subplots()).get_title()
    'CDF of 2,000 draws − CDF of exact'
    """
    pair = (first, second)
    check_posteriors(pair)
    names = names_of(pair, labels)
    level = levels_of(pair, None)
    error = np.hypot(*(band_error(post, level) for post in pair))
    ax = new_axes(ax, (5.2, 3.4))
    colour = look(ax, 0).colour
    if error.any():
        for width, strength in ((2, 0.18), (1, 0.36)):
            ax.fill_between(
                level, -width * error, width * error, color=tint(ax, colour, strength), lw=0,
                label=f"± {width} Monte Carlo s.e.",
            )  # fmt: skip
    ax.axhline(0, color=ink(ax)[1], lw=0.8)
    ax.plot(level, first.cdf(level) - second.cdf(level), color=ink(ax)[0], lw=1.3)
    ax.set(xlabel=axis_label(*(post.measure for post in pair)), ylabel="difference of CDFs")
    title = f"CDF of {names[0]} − CDF of {names[1]}"
    ax.set_title(textwrap.fill(title, 48), fontsize="medium")
    ax.set_xlim(level[0], level[-1])
    spare(ax)
    legend(ax)
    return ax

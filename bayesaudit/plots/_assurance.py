"""Assurance: the probability that an audit of n trials shows a claim."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesaudit._checks import check_integers
from bayesaudit.calibration.planning import Plan
from bayesaudit.plots._names import number
from bayesaudit.plots._style import ink, legend, look, new_axes, plain_ticks, spare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["assurance"]


def assurance(
    n: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    plans: Plan | Sequence[Plan] = (),
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw assurance against the number of trials, one line a method, and the plans on them.

    Parameters
    ----------
    n : array_like of int, shape (k,)
        Independent trials a side.
    curves : mapping of str to array_like, shape (k,)
        Method -> assurance, from `bayesaudit.calibration.assurance_curve`.
    plans : Plan or sequence of Plan
        Plans of one question, marked at their n; they name the claim and the target.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> n = [50, 100, 200]
    >>> curve = ba.calibration.assurance_curve(0.5, n, fnr=0.35, fpr=0.25)
    >>> plan = ba.calibration.plan(0.5, fnr=0.35, fpr=0.25)
    >>> ax = ba.plots.assurance(n, {"posterior": curve}, plans=plan, ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['posterior, planned n = 84', 'target 0.8']
    """
    sizes = check_integers(n, "n", minimum=1).ravel()
    if not isinstance(curves, Mapping):
        got = type(curves).__name__
        raise TypeError(f"curves must map methods to assurances, got {got}.")
    if not curves:
        raise ValueError("curves must hold at least one method, got none.")
    found = {str(name): np.ravel(np.asarray(curve, float)) for name, curve in curves.items()}
    for name, curve in found.items():
        if curve.size != sizes.size:
            raise ValueError(
                f"curves must have {sizes.size} values each, got {curve.size}: {name}."
            )
    plans = [plans] if isinstance(plans, Plan) else list(plans)
    for plan in plans:
        if not isinstance(plan, Plan):
            raise TypeError(f"plans must be Plans, got {type(plan).__name__}.")
    questions = {(plan.claim, plan.delta, plan.prob, plan.target) for plan in plans}
    if len(questions) > 1:
        raise ValueError(f"plans must be of one question, got {len(questions)}.")
    ax = new_axes(ax, (5.2, 4.4))
    planned: dict[str, Any] = {plan.method: plan for plan in plans}
    for i, (name, curve) in enumerate(found.items()):
        style, plan = look(ax, i), planned.get(name)
        label = name if plan is None else f"{name}, planned n = {plan.n_effective:,}"
        ax.plot(
            sizes, curve, color=style.colour, ls=style.line, lw=1.6, label=label,
            marker=style.marker, ms=5, markevery=[],
        )  # fmt: skip
        if plan is not None:
            place = (plan.n_effective, plan.assurance)
            ax.plot(*place, style.marker, color=style.colour, ms=6, zorder=3)
    if questions:
        claim, delta, prob, target = questions.pop()
        ax.axhline(target, color=ink(ax)[1], lw=0.9, ls=":", label=f"target {target:g}")
        ax.set_title(
            f"claim $\\varepsilon$ > {number(claim)} at $\\delta$ = {number(delta)}\n"
            f"lower end at level {(1 + prob) / 2:g}", size="medium",
        )  # fmt: skip
    ax.set(xscale="log", xlabel="independent trials a side", ylim=(-0.02, 1.02))
    plain_ticks(ax.xaxis)
    ax.set_ylabel("P(lower end > claim)")
    spare(ax)
    legend(ax, columns=2)
    return ax

"""The figures of a report: inline SVG for a light and a dark page, each with what it shows."""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bayesaudit.audits import Audit

__all__ = ["Drawn", "drawn"]

#: Text stays text: small files, and readable ones.
STYLE = {"svg.fonttype": "none", "font.family": "DejaVu Sans", "figure.facecolor": "none"}
DARK = {
    **STYLE,
    "text.color": "#f2f2f2",
    "axes.labelcolor": "#f2f2f2",
    "axes.edgecolor": "#a8a8a8",
    "xtick.color": "#f2f2f2",
    "ytick.color": "#f2f2f2",
    "axes.facecolor": "#15181c",
    "figure.facecolor": "#15181c",
    "savefig.facecolor": "#15181c",
    "legend.edgecolor": "#a8a8a8",
}
FONTS = "'DejaVu Sans', Verdana, sans-serif"


class Drawn(NamedTuple):
    """One figure: its name, what it shows (for those who cannot see it), and the two pictures."""

    name: str
    finding: str
    light: str
    dark: str


def drawn(audit: Audit) -> list[Drawn]:
    """Return the figures that belong to an audit."""
    return [_both(*one) for one in _figures(audit)]


Figure = tuple[str, str, tuple[float, float], Callable[[Any], Any]]


def _figures(audit: Audit) -> Iterator[Figure]:
    """Yield name, finding, size in inches, and what draws it into axes."""
    from bayesaudit import plots

    delta = audit.delta[0]
    lines = [line for line in audit.lines if line.delta == delta]
    where = f"at delta {delta:g}"
    size = (6.4, 1.2 + 0.3 * len(lines))
    if audit.n_tallies is not None:
        size = (6.4, min(1.2 + 0.3 * audit.n_tallies, 9.0))
        lines = [lines[0]]
        finding = f"The posterior intervals of {audit.n_tallies} tallies {where}."
    else:
        finding = f"Every line of the audit {where}. {audit.conclusion_at(delta)}"
    yield "Lines", finding, size, lambda ax: plots.forest(lines, claim=audit.claim, ax=ax)
    if audit.n_tallies is not None:
        return
    posts = [line for line in lines if line.posterior is not None and line.label is None]
    if posts:
        first = posts[-1] if audit.is_per_model or audit.draws is not None else posts[0]
        ends = f"{first.lower:.4f} to {first.upper:.4f}"
        finding = f"The posterior of epsilon-hat by {first.method} {where}: {ends} holds "
        finding += f"{audit.prob:g} of it."
        posteriors = [line.posterior for line in posts]
        names = [line.method for line in posts]
        yield (
            "Posterior",
            finding,
            (6.4, 3.4),
            lambda ax: plots.cdf(
                *posteriors, labels=names, prob=audit.prob, claim=audit.claim, ax=ax
            ),
        )
        finding = f"The joint posterior of the two error rates by {posts[0].method}, with the "
        finding += f"regions of rates that the ends of its interval bound, {where}."
        yield (
            "Error rates",
            finding,
            (5.2, 4.6),
            lambda ax: plots.region(posts[0].posterior, prob=audit.prob, ax=ax),
        )
    if audit.curve_of is not None and audit.question.looks is None:
        curve = audit.curve()
        if hasattr(curve, "simultaneous_lower"):
            finding = "The posterior of epsilon as a function of delta, pointwise and "
            finding += "simultaneous: it falls as delta grows."
            yield (
                "Epsilon and delta",
                finding,
                (6.4, 3.4),
                lambda ax: plots.epsilon_curve(curve, ax=ax),
            )
    if audit.dependence is not None and audit.dependence.tipping_point is not None:
        finding = "The interval at several intra-model correlations, which one model does not "
        finding += "identify: it widens as the correlation grows."
        yield (
            "Tipping point",
            finding,
            (6.4, 3.2),
            lambda ax: plots.tipping(audit.dependence.tipping_point, claim=audit.claim, ax=ax),
        )


def _both(name: str, finding: str, size: tuple[float, float], draw: Any) -> Drawn:
    key = re.sub(r"\W+", "-", name.lower())
    light, dark = (
        _svg(f"{key}-{page}", style, size, draw)
        for page, style in (("light", STYLE), ("dark", DARK))
    )
    return Drawn(name, finding, light, dark)


def _svg(key: str, style: dict[str, Any], size: tuple[float, float], draw: Any) -> str:
    """Return a figure as an SVG element whose identifiers no other figure of the page has."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as MplFigure

    with mpl.rc_context({**style, "svg.hashsalt": key}):
        figure = MplFigure(figsize=size, layout="constrained")
        draw(figure.subplots())
        buffer = io.StringIO()
        none = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=none)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', text)
    text = re.sub(r'(href="#|url\(#)', rf"\1{key}-", text)
    text = re.sub(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1">', text, count=1)
    text = text.replace("'DejaVu Sans'", FONTS).replace("<metadata>", "<metadata hidden>")
    return re.sub(r"<metadata.*?</metadata>\s*", "", text, flags=re.DOTALL)

"""Intervals by method, with what each of them promises as its marker."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_number
from bayesaudit.measures import Epsilon, Measure
from bayesaudit.plots._names import axis_label, number
from bayesaudit.plots._style import Look, ink, legend, look, new_axes, spare, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["forest"]

Array = NDArray[np.float64]
#: Guarantee -> marker, whether it is filled, and which colour; filled is what holds as it stands.
PROMISES = {
    "posterior mass": ("o", True, 0),
    "near nominal": ("o", False, 0),
    "guaranteed": ("s", True, 2),
    "asymptotic": ("D", False, 1),
    "approximate": ("^", False, 1),
    "posterior": ("P", False, 1),
    "prior-driven": ("v", False, 4),
    "not a bound": ("X", False, 3),
}
OTHER = ("*", False, 5)
#: What is drawn of many lines of many tallies, unless methods are named.
FEW, HOLDING = 4, ("posterior mass", "guaranteed")
#: More rows than this are not named one by one.
NAMED = 40


class _Row(NamedTuple):
    name: str
    promise: str
    delta: float | None
    lower: Array
    upper: Array
    reason: str


def forest(
    lines: Any,
    *,
    claim: float | None = None,
    measure: Measure | None = None,
    methods: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw intervals one below the other; the marker at the lower end says what is promised.

    Parameters
    ----------
    lines : Audit, Interval, or a sequence or mapping of lines or Intervals
        An audit's lines, or whatever has `lower`, `upper`, `method`, `statement` and `guarantee`;
        of a mapping the keys are the names. Ends may be arrays, or the mapping's values lists of
        Intervals with ``None`` where there is none: then every tally is a row, and every line a
        series.
    claim : float, optional
        A claimed value to mark.
    measure : Measure, optional
        What the ends are values of; by default ε̂ in nats, at the lines' δ if it is one and the
        same.
    methods : sequence of str, optional
        The lines to draw, by their method; by default all, or where there are both many tallies and
        many lines, the posteriors and the guaranteed bounds.
    labels : sequence of str, optional
        Names of the rows: of the lines, or of the tallies where there are several.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    An end that is infinite or absent is an arrow. A line without any end shows its reason.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from matplotlib.figure import Figure
    >>> counts, measure = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(1e-5)
    >>> found = [ba.posterior(counts, measure).interval(), ba.confidence_interval(counts, measure)]
    >>> ax = ba.plots.forest(found, claim=1.0, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['exact posterior', 'clopper-pearson']
    """
    found = _lines(lines)
    if methods is not None:
        found = _chosen(found, methods)
    rows = sorted((_row(name, line) for name, line in found), key=lambda row: row.delta or 0.0)
    sizes = {row.lower.size for row in rows} - {1}
    if len(sizes) > 1:
        raise ValueError(f"lines must be of equally many tallies, got {sorted(sizes)}.")
    size = sizes.pop() if sizes else 1
    many = size > 1
    if many and methods is None and len(rows) > FEW:
        rows = [row for row in rows if row.promise.split(", ")[-1] in HOLDING] or rows
    if claim is not None:
        claim = check_number(claim, "claim")
    shown = size if many else len(rows)
    if labels is not None and (isinstance(labels, str) or len(labels) != shown):
        got = repr(labels) if isinstance(labels, str) else len(labels)
        raise ValueError(f"labels must name {shown} rows, got {got}.")
    heights, headings = _heights(rows, size)
    ax = new_axes(ax, (5.2, min(1.7 + 0.28 * (shown + len(headings)), 9.0)))
    right = _right(rows, claim)
    for i, (row, height) in enumerate(zip(rows, heights, strict=True)):
        marker, filled, colour = PROMISES.get(row.promise.split(", ")[-1], OTHER)
        style = look(ax, i) if many else look(ax, colour)
        _draw(ax, row, height, Look(style.colour, "-", marker), filled, right, many)
    if labels is None and not many:
        labels = [row.name for row in rows]
    _axis(ax, labels, np.arange(size) if many else np.concatenate(heights), headings)
    if measure is None:
        deltas = {row.delta for row in rows} - {None}
        measure = Epsilon(deltas.pop()) if len(deltas) == 1 else None
    ax.set_xlabel(axis_label("epsilon" if measure is None else measure))
    lowest = min(float(row.lower[np.isfinite(row.lower)].min(initial=0.0)) for row in rows)
    ax.set_xlim(lowest - 0.03 * (right - lowest), right)
    if claim is not None:
        ax.axvline(claim, color=ink(ax)[0], lw=1, ls="-.", label=f"claim {number(claim)}")
    spare(ax)
    legend(ax, columns=2)
    return ax


def _lines(lines: Any) -> list[tuple[str | None, Any]]:
    """Return pairs of a name, if one is given, and a line."""
    lines = getattr(lines, "lines", lines)
    if isinstance(lines, Mapping):
        found = [(str(name), _stacked(line)) for name, line in lines.items()]
    elif hasattr(lines, "lower"):
        found = [(None, lines)]
    elif isinstance(lines, Iterable) and not isinstance(lines, str):
        found = [(None, line) for line in lines]
    else:
        raise TypeError(f"lines must be an Audit, Intervals or lines, got {type(lines).__name__}.")
    if not found:
        raise ValueError("lines must hold at least one line, got none.")
    for _, line in found:
        if not all(hasattr(line, name) for name in ("lower", "upper", "method", "statement")):
            raise TypeError(f"lines must be Intervals or an audit's, got {type(line).__name__}.")
    return found


def _stacked(line: Any) -> Any:
    """Return one line with arrays of ends for a list of lines of one method."""
    if not isinstance(line, list | tuple):
        return line
    given = [one for one in line if one is not None]
    if not given or not all(hasattr(one, "statement") for one in given):
        raise TypeError(f"lines must be Intervals or an audit's, got {given[:1]}.")
    kinds = {(one.statement, one.guarantee, getattr(one, "kind", None)) for one in given}
    if len(kinds) > 1:
        raise ValueError(f"lines of one name must promise the same, got {sorted(map(str, kinds))}.")
    ends = {
        end: [np.nan if one is None else getattr(one, end) for one in line]
        for end in ("lower", "upper")
    }
    common = {key: getattr(given[0], key, None) for key in ("method", "statement", "guarantee")}
    return SimpleNamespace(**ends, **common, kind=getattr(given[0], "kind", None))


def _chosen(
    found: list[tuple[str | None, Any]], methods: Sequence[str]
) -> list[tuple[str | None, Any]]:
    known = {line.method for _, line in found}
    if isinstance(methods, str) or not set(methods) <= known or not methods:
        raise ValueError(f"methods must be among {sorted(known)}, got {methods!r}.")
    return [(name, line) for name, line in found if line.method in methods]


def _heights(rows: list[_Row], size: int) -> tuple[list[Array], list[tuple[float, str]]]:
    """Return the heights of every row's points, and a heading for each of several δ."""
    if size > 1:
        shifts = 0.7 * ((np.arange(len(rows)) + 0.5) / len(rows) - 0.5)
        return [np.arange(size) + shift for shift in shifts], []
    several = len({row.delta for row in rows} - {None}) > 1
    heights, headings, place = [], [], 0.0
    for i, row in enumerate(rows):
        if several and row.delta is not None and (i == 0 or row.delta != rows[i - 1].delta):
            headings.append((place, f"$\\delta$ = {number(row.delta)}"))
            place += 1
        heights.append(np.array([place]))
        place += 1
    return heights, headings


def _row(name: str | None, line: Any) -> _Row:
    guarantee = getattr(line, "guarantee", None)
    promise = ", ".join(dict.fromkeys(part for part in (line.statement, guarantee) if part))
    if "not a bound" in promise:
        promise = "not a bound"
    if name is None:
        name = (getattr(line, "label", None) or str(line.method)).strip()
    lower, upper = (
        np.atleast_1d(np.array(np.nan if end is None else end, float))
        for end in (line.lower, line.upper)
    )
    kind = getattr(line, "kind", None)
    # A bound quoted alone leaves the other end open, whatever the measure's range.
    upper = np.full_like(lower, np.nan) if kind == "lower" else upper
    lower = np.full_like(upper, np.nan) if kind == "upper" else lower
    lower, upper = np.broadcast_arrays(lower, upper)
    reason = str(getattr(line, "reason", None) or "")
    return _Row(name, promise, getattr(line, "delta", None), lower, upper, reason)


def _right(rows: list[_Row], claim: float | None) -> float:
    ends = np.concatenate([np.concatenate([row.lower, row.upper]) for row in rows])
    top = ends[np.isfinite(ends)].max(initial=0.0 if claim is None else claim)
    return 1.08 * float(top) if top > 0 else 1.0


def _draw(
    ax: "Axes", row: _Row, place: Array, style: Look, filled: bool, right: float, many: bool
) -> None:
    low, high = (np.where(np.isfinite(end), end, np.nan) for end in (row.lower, row.upper))
    face = style.colour if filled else ax.get_facecolor()
    thin = place.size > NAMED
    none = np.isnan(low) & np.isnan(high)
    begins = np.where(none, np.nan, np.where(np.isnan(low), min(0.0, right), low))
    stops = np.where(none, np.nan, np.where(np.isnan(high), right, high))
    ax.hlines(place, begins, stops, color=style.colour, lw=0.8 if thin else 1.6)
    size = 3 if thin else 5
    ax.plot(np.where(np.isnan(high), np.nan, stops), place, "|", color=style.colour, ms=size + 2)
    opened = np.where(np.isnan(high) & ~none, right, np.nan)
    ax.plot(opened, place, ">", color=style.colour, ms=size, clip_on=False)
    label = f"{row.name}: {row.promise}" if many else row.promise
    if label in ax.get_legend_handles_labels()[1]:
        label = "_" + label
    ax.plot(
        begins, place, style.marker, color=style.colour, mfc=face, ms=size, ls="", zorder=3,
        clip_on=False, label=label,
    )  # fmt: skip
    why = textwrap.wrap(row.reason or "no end", 34, max_lines=2, placeholder=" …")
    for y in place[none] if row.reason or not many else ():
        text = ax.text(0.01 * right, y, "\n".join(why), color=ink(ax)[1], fontsize="x-small")
        page = {"facecolor": tint(ax, style.colour, 0.0), "edgecolor": "none", "pad": 1}
        text.set(va="center", in_layout=False, bbox=page)


def _axis(
    ax: "Axes",
    names: Sequence[str] | None,
    places: Array,
    headings: list[tuple[float, str]],
) -> None:
    rows = places.size + len(headings)
    if names is None:
        ax.set_ylabel("tally")
    if rows <= NAMED:
        texts = [str(i) for i in range(rows)] if names is None else map(str, names)
        ticks = [*zip(places, (textwrap.fill(text, 30) for text in texts), strict=True), *headings]
        ax.set_yticks([tick for tick, _ in ticks], [text for _, text in ticks])
        for tick in ax.yaxis.get_major_ticks()[places.size :]:
            tick.tick1line.set_visible(False)
        # Rows that are lower than the text is high have a smaller text.
        height = 0.65 * ax.get_position(original=True).height * ax.figure.bbox.height
        points = 72 * height / ax.get_figure(root=True).dpi / rows
        size = ax.yaxis.get_major_ticks()[0].label1.get_size()
        ax.tick_params(axis="y", labelsize=float(np.clip(0.9 * points, 5, size)))
    ax.set_ylim(max(places.max() + 0.6, 0.6), -0.6)

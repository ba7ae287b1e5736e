"""What figures call things: measures with their units, posteriors among others, numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit.fano import AdvantagePosterior
from bayesaudit.posteriors import Posterior

__all__ = [
    "axis_label",
    "check_posteriors",
    "delta_of",
    "ends",
    "levels_of",
    "names_given",
    "names_of",
    "number",
    "short",
    "symbol",
]

Array = NDArray[np.float64]
SYMBOLS = {"epsilon": "$\\hat\\varepsilon$", "mu": "$\\hat\\mu$", "advantage": "advantage"}
UNITS = {"epsilon": " (nats)"}
DIRECTIONS = {
    "both": "both directions",
    "member": "direction declared",
    "fnr": "term of FNR",
    "fpr": "term of FPR",
}


def number(value: float) -> str:
    """Return a number as people write it: 0.05, and a power of ten as one."""
    value = float(value)
    if 0 < abs(value) < 1e-3 or abs(value) >= 1e5:
        mantissa, exponent = f"{value:.2e}".split("e")
        mantissa = f"{float(mantissa):g}"
        power = f"10^{{{int(exponent)}}}"
        return f"${power}$" if mantissa == "1" else f"${mantissa}\\times {power}$"
    return f"{value:g}"


def short(value: Any, digits: int = 3) -> str:
    """Return a few digits, or the sign of infinity."""
    return f"{float(value):.{digits}g}" if np.isfinite(value) else ("∞" if value > 0 else "−∞")


def ends(lower: Any, upper: Any) -> tuple[str, str]:
    """Return two ends with as many digits as tell them apart, three at least."""
    digits, width = 3, upper - lower
    if np.isfinite(width) and width > 0:
        largest = max(abs(float(lower)), abs(float(upper)))
        digits = int(np.clip(2 + np.floor(np.log10(largest)) - np.floor(np.log10(width)), 3, 12))
    return short(lower, digits), short(upper, digits)


def symbol(measure: Any) -> str:
    """Return the symbol of a measure, or of its name."""
    name = measure if isinstance(measure, str) else measure.name
    return SYMBOLS.get(name, name)


def delta_of(measure: Any) -> float | None:
    """Return the δ of a measure that has one, as Epsilon does."""
    delta = getattr(measure, "delta", None)
    return delta if isinstance(delta, float) else None


def axis_label(*measures: Any) -> str:
    """Return the measure with its unit, and with δ where it is one and the same."""
    name = measures[0] if isinstance(measures[0], str) else measures[0].name
    deltas = {delta_of(measure) for measure in measures}
    delta = deltas.pop() if len(deltas) == 1 else None
    at = "" if delta is None else f" at $\\delta$ = {number(delta)}"
    return f"{symbol(name)}{at}{UNITS.get(name, '')}"


@dataclass(frozen=True)
class _OfAdvantage:
    """A posterior of Fano's advantage, with what figures ask of a posterior of a measure."""

    source: AdvantagePosterior
    measure = SimpleNamespace(name="advantage", lowest=0.0, folded=True)
    engine, shape = "exact", ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    @property
    def prob_zero(self) -> float:
        return float(self.source.cdf(0.0))


def check_posteriors(posteriors: Sequence[Any]) -> tuple[Any, ...]:
    """Return posteriors of one kind of measure and one tally each; refuse anything else."""
    posteriors = tuple(
        _OfAdvantage(post) if isinstance(post, AdvantagePosterior) else post for post in posteriors
    )
    if not posteriors:
        raise ValueError("needs at least one posterior, got none.")
    for post in posteriors:
        if not isinstance(post, Posterior | _OfAdvantage):
            raise TypeError(f"needs posteriors, got {type(post).__name__}.")
        if post.shape:
            raise ValueError(f"draws one tally at a time, got tallies of shape {post.shape}.")
    names = {post.measure.name for post in posteriors}
    if len(names) > 1:
        raise ValueError(f"posteriors must be of one measure, got {sorted(names)}.")
    return posteriors


def names_of(posteriors: Sequence[Any], labels: Sequence[str] | None = None) -> list[str]:
    """Return the given labels, or what tells the posteriors apart: engine, δ, direction, data."""
    if labels is not None:
        return [str(name) for name in names_given(posteriors, labels, "posteriors")]
    parts = [(_engine(post), _delta(post), _direction(post), *_data(post)) for post in posteriors]
    told = [k for k in range(len(parts[0])) if len({part[k] for part in parts} - {""}) > 1] or [0]
    names = [", ".join(text for k in told if (text := part[k])) for part in parts]
    names = [name or "posterior" for name in names]
    seen = {name: names.count(name) for name in names}
    return [
        f"{name} ({names[: i + 1].count(name)})" if seen[name] > 1 else name
        for i, name in enumerate(names)
    ]


def names_given(items: Sequence[Any], labels: Sequence[str] | None, what: str) -> list[str | None]:
    """Return a name, or none, for each of at least one item."""
    if not items:
        raise ValueError(f"{what} must hold at least one, got none.")
    if labels is None:
        return [None] * len(items)
    if isinstance(labels, str) or len(labels) != len(items):
        got = repr(labels) if isinstance(labels, str) else len(labels)
        raise ValueError(f"labels must name {len(items)} {what}, got {got}.")
    return [str(label) for label in labels]


def _engine(post: Any) -> str:
    return "exact" if post.engine == "exact" else f"{post.n_draws:,} draws"


def _delta(post: Any) -> str:
    delta = delta_of(post.measure)
    return "" if delta is None else f"$\\delta$ = {number(delta)}"


def _direction(post: Any) -> str:
    term = getattr(post.measure, "term", "max")
    key = term if term != "max" else "both" if post.measure.folded else "member"
    return DIRECTIONS[key]


def _data(post: Any) -> tuple[str, str, str]:
    """Return the counts, the dependence and the prior, where they are known."""
    counts = getattr(post, "counts", None)
    text = ""
    if counts is not None:
        fn, pos, fp, neg = (
            int(np.sum(part)) for part in (counts.fn, counts.n_pos, counts.fp, counts.n_neg)
        )
        text = f"FN {fn} of {pos}, FP {fp} of {neg}"
    prior = getattr(post, "prior", None)
    return text, getattr(post, "dependence", None) or "", "" if prior is None else f"prior {prior}"


def levels_of(posteriors: Sequence[Any], claim: float | None, points: int = 301) -> Array:
    """Return levels that show all of the posteriors, their atom and the claim."""
    low = min(float(post.quantile(0.0005)) for post in posteriors)
    high = max(_finite_top(post) for post in posteriors)
    lowest = min(post.measure.lowest for post in posteriors)
    if not np.isfinite(low):
        low = min(float(post.quantile(0.5)) for post in posteriors)
    if np.isfinite(lowest) and low - lowest < 0.35 * (high - lowest):
        low = lowest
    if claim is not None:
        low, high = min(low, claim), max(high, claim)
    if high <= low:
        high = low + 1
    margin = 0.02 * (high - low)
    left = low if low == lowest else low - margin
    return np.linspace(left, high + margin, points)


def _finite_top(post: Any) -> float:
    tops = (float(post.quantile(q)) for q in (0.9995, 0.99, 0.9, 0.5))
    return next((top for top in tops if np.isfinite(top)), float(post.measure.lowest) + 1)

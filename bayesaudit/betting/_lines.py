"""Supporting lines: what the rates that are allowed at a level satisfy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._gdp import gdp_delta
from bayesaudit.measures import Advantage, Epsilon, GaussianMu, Measure

__all__ = ["Lines", "lines_of"]

Array = NDArray[np.float64]
#: Capital on the line between both log ratios, and on an attack that is the wrong way round.
EVEN, INVERTED = 0.2, 0.1
#: Where the Gaussian curve is touched: the ε >= 0 of its points (ε, δ(ε)), and as many mirrored;
#: and the capital on the point in the middle.
SLOPES, MIDDLE = (0.0, 0.5, 1.0, 2.0, 4.0), 0.3
#: The lowest advantage tested, just above −1: no attack is below that, and there is no line there.
LOWEST_ADVANTAGE = 1e-9 - 1


@dataclass(frozen=True)
class Lines:
    """Supporting lines ``a TPR + b TNR <= 1`` of the rates allowed at a level.

    Parameters
    ----------
    at : callable
        From a level to (a, b), arrays of shape (n_lines,).
    weight : numpy.ndarray, shape (n_lines,)
        Shares of the capital; their sum is 1.
    even, inverted : numpy.ndarray of bool, shape (n_lines,)
        Which lines have a = b at all levels, and which are about the inverted attack's rates.
    start : float
        The lowest level to test: where it is not rejected, none is.
    """

    at: Callable[[float], tuple[Array, Array]]
    weight: Array
    even: NDArray[np.bool_]
    inverted: NDArray[np.bool_]
    start: float


def lines_of(measure: Measure) -> Lines:
    """Return the supporting lines of a measure's regions, the inverted attack's last."""
    start = 0.0
    if isinstance(measure, Epsilon):
        kept = {"max": [0, 1, 2], "fpr": [0], "fnr": [2]}[measure.term]
        weight = np.array([(1 - EVEN) / 2, EVEN, (1 - EVEN) / 2]) if len(kept) > 1 else np.ones(1)

        def declared(level: float) -> tuple[Array, Array]:
            steep, flat = _touching(np.array(level), measure.delta)
            a = np.array([steep, (steep + flat) / 2, flat])
            return a[kept], a[::-1][kept]

    elif isinstance(measure, Advantage):
        weight = np.ones(1)
        start = 0.0 if measure.folded else LOWEST_ADVANTAGE

        def declared(level: float) -> tuple[Array, Array]:
            a = np.array([1 / (1 + level)])
            return a, a

    elif isinstance(measure, GaussianMu):
        slopes = np.array(SLOPES)
        others = np.full(slopes.size - 1, (1 - MIDDLE) / (2 * slopes.size - 2))
        weight = np.concatenate([others, [MIDDLE], others])

        def declared(level: float) -> tuple[Array, Array]:
            steep, flat = _touching(slopes, gdp_delta(level, slopes))
            a = np.concatenate([steep[:0:-1], flat])
            return a, a[::-1]

    else:
        raise TypeError(
            f"measure must be Epsilon, GaussianMu or Advantage for betting, got {measure!r}."
        )
    middle = np.arange(weight.size) == (weight.size - 1) / 2
    even = middle & (not isinstance(measure, Epsilon) or measure.term == "max")
    if not measure.folded:
        return Lines(declared, weight, even, np.zeros(weight.size, bool), start)

    def folded(level: float) -> tuple[Array, Array]:
        a, b = declared(level)
        return np.append(a, a[even]), np.append(b, b[even])

    weight = np.append((1 - INVERTED) * weight, INVERTED)
    return Lines(folded, weight, np.append(even, True), np.arange(weight.size) == even.size, start)


def _touching(epsilon: Array, delta: Any) -> tuple[Array, Array]:
    """Return (a, b) of the line TPR − e^ε FPR = δ; nothing overflows for large ε."""
    shrink = np.exp(-epsilon)
    a = shrink / (1 + delta * shrink)
    return a, 1 - delta * a

"""From a p-value that rises with the privacy parameter to the confidence bound at a level."""

import math
from collections.abc import Callable


def smallest_not_rejected(p_value: Callable[[float], float], level: float) -> float:
    """Return inf{x >= 0: p_value(x) >= level} for a continuous nondecreasing p-value.

    The bracket doubles, so there is no cap; the root is found in log p, to about 1e-13.
    """
    from scipy.optimize import brentq

    def excess(x: float) -> float:
        return max(math.log(max(p_value(x), 1e-320) / level), -700.0)

    if excess(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while (value := excess(high)) < 0:
        low, high = high, 2 * high
    if value == 0:
        return high
    return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))


def largest_rejected(rejects: Callable[[float], bool], *, relative: float = 1e-12) -> float:
    """Return sup{x >= 0: rejects(x)} (0 if nothing is rejected) by bisection, never above it."""
    if not rejects(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while rejects(high):
        low, high = high, 2 * high
    while high - low > relative * max(high, 1e-3):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if rejects(middle):
            low = middle
        else:
            high = middle
    return low

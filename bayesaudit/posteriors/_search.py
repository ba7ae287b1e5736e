"""Root searches of the exact engine: quantiles by safeguarded Newton, and the shortest interval."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayesaudit.measures import Measure
from bayesaudit.rates import IndependentRates

__all__ = ["first_guess", "shortest", "solve"]

Array = NDArray[np.float64]
POINTS = 14
#: Relative gaps in the tail after which one more step of Newton, or of Halley, is exact in double
#: precision: the errors left are of the order of the gap's square and of its cube.
NEWTON_CLOSE, HALLEY_CLOSE = 1e-7, 1e-5
ITERATIONS = 200


def first_guess(rates: IndependentRates, measure: Measure, index: Array, q: Array) -> Array:
    """Return rough quantiles from a small grid of both rates, one per (tally, q)."""
    if rates.fnr.size == 1:
        which, inverse = index[:1], index
    else:
        which, inverse = np.unique(index, return_inverse=True)
    grids = []
    for marginal in (rates.fnr, rates.fpr):
        low, high = (np.arcsin(np.sqrt(marginal.quantile(p)))[which] for p in (5e-4, 1 - 5e-4))
        middle = low[:, None] + (high - low)[:, None] * (np.arange(POINTS) + 0.5) / POINTS
        x, xc = np.sin(middle) ** 2, np.cos(middle) ** 2
        grids.append((x, xc, marginal.take(which).log_density(x, xc)))
    (x, xc, fx), (y, yc, fy) = grids
    value = measure.of(
        x[:, :, None], y[:, None, :], tpr=xc[:, :, None], tnr=yc[:, None, :]
    ).reshape(which.size, -1)
    weight = np.exp(fx[:, :, None] + fy[:, None, :]).reshape(which.size, -1)
    order = np.argsort(value, axis=1)
    value = np.take_along_axis(value, order, axis=1)
    mass = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
    mass /= mass[:, -1:]
    position = np.sum(mass[inverse] < q[:, None], axis=1)
    return value[inverse, np.minimum(position, value.shape[1] - 1)]


def solve(
    evaluate: Callable[[Array, Array], tuple[Array, Array]],
    q: Array,
    tail: Array,
    guess: Array,
    limits: tuple[float, float],
) -> Array:
    """Return the levels at which the CDF is q and the survival is `tail` = 1 − q.

    Newton's method on the logarithm of the smaller tail, inside a bracket that only shrinks.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(which, level) -> (sf, pdf)`` for the problems `which`.
    q, tail : numpy.ndarray, shape (n,)
        Lower and upper tail probabilities, both > 0.
    guess : numpy.ndarray, shape (n,)
        Starting levels.
    limits : tuple of float
        The range of the measure.
    """
    result = np.empty(q.size)
    which = np.arange(q.size)
    upper = q > 0.5
    sign, want = np.where(upper, 1.0, -1.0), np.where(upper, tail, q)
    low, high = np.full(q.size, limits[0]), np.full(q.size, limits[1])
    good = (guess > low) & (guess < high)
    x = guess if good.all() else np.where(good, guess, _inside(low, high, np.ones(q.size)))
    last_x, last_slope = np.full(q.size, np.nan), np.full(q.size, np.nan)
    tried = np.zeros(q.size, bool)
    for _ in range(ITERATIONS):
        sf, pdf = evaluate(which, x)
        have = np.where(upper, sf, 1 - sf)
        right_of = (have < want) == upper
        np.minimum(high, x, out=high, where=right_of)
        np.maximum(low, x, out=low, where=~right_of)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gap = np.log(have / want)
            slope = -sign * pdf / have
            scale = np.abs(1 / slope)
            newton = -gap / slope
            # Halley's step, with the second derivative from the slopes of the last two points.
            bend = (slope - last_slope) / (x - last_x)
            step = newton / np.maximum(1 - gap * bend / (2 * slope**2), 0.5)
        halley = np.isfinite(step)
        new = x + np.where(halley, step, newton)
        good = (new > low) & (new < high)
        close = np.abs(gap) < np.where(halley, HALLEY_CLOSE, NEWTON_CLOSE)
        done = (good & close) | (gap == 0) | (np.nextafter(low, np.inf) >= high)
        if not good.all():
            # An atom may hold q: the lowest value itself is tried before the bracket is cut.
            atom = ~good & (low == limits[0]) & np.isfinite(low) & ~tried
            tried |= atom
            new = np.where(good, new, np.where(atom, low, _inside(low, high, scale)))
        new = np.where(gap == 0, x, new)
        last_x, last_slope, x = x, slope, new
        if done.any():
            result[which[done]] = new[done]
            if done.all():
                return result
            keep = ~done
            which, x, upper, sign, want, low, high, last_x, last_slope, tried = (
                part[keep]
                for part in (
                    which, x, upper, sign, want, low, high, last_x, last_slope, tried,
                )
            )  # fmt: skip
    result[which] = x
    return result


def _inside(low: Array, high: Array, scale: Array) -> Array:
    """Return a point inside brackets that may be infinite on either side."""
    scale = np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
    with np.errstate(invalid="ignore"):
        middle = (low + high) / 2
        middle = np.where(np.isposinf(high), low + np.abs(low) + scale, middle)
        middle = np.where(np.isneginf(low), high - np.abs(high) - scale, middle)
    return np.where(np.isneginf(low) & np.isposinf(high), 0.0, middle)


def shortest(
    quantile: Callable[[Array, Array], Array], shape: tuple[int, ...], prob: float
) -> tuple[Array, Array]:
    """Return the shortest interval of mass `prob` (the HDI where the density has one mode).

    The lower tail p in [0, 1 − prob] is searched: first a grid, since an atom or a fold can make
    more than one dip, then ever finer grids around the best. ``quantile(p, 1 − p)`` takes arrays
    whose last axes are the tallies, of the given shape.
    """
    low = np.zeros(shape)
    high = np.full(shape, 1 - prob)
    fraction = np.linspace(0.0, 1.0, 13).reshape(-1, *[1] * len(shape))
    for _ in range(12):
        p = np.minimum(low + (high - low) * fraction, 1 - prob)
        left = quantile(p, 1 - p)
        tail = np.maximum((1 - prob) - p, 0.0)
        right = quantile(1 - tail, tail)
        with np.errstate(invalid="ignore"):
            width = np.where(np.isfinite(right) & np.isfinite(left), right - left, np.inf)
        best = np.argmin(width, axis=0)[None]
        low = np.take_along_axis(p, np.maximum(best - 1, 0), axis=0)[0]
        high = np.take_along_axis(p, np.minimum(best + 1, fraction.size - 1), axis=0)[0]
    return (
        np.take_along_axis(left, best, axis=0)[0],
        np.take_along_axis(right, best, axis=0)[0],
    )

"""Root searches of the exact engine: quantiles by safeguarded Newton, and the shortest interval."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesaudit.measures import Measure
from bayesaudit.rates import IndependentRates

if TYPE_CHECKING:
    from bayesaudit.posteriors.exact import ExactPosterior

__all__ = ["first_guess", "shortest", "solve"]

Array = NDArray[np.float64]
POINTS = 14


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
    low, high = np.full(q.size, limits[0]), np.full(q.size, limits[1])
    level = np.where((guess > low) & (guess < high) & np.isfinite(guess), guess, np.nan)
    level = np.where(np.isnan(level), _inside(low, high, np.ones(q.size)), level)
    upper = q > 0.5
    todo = np.arange(q.size)
    last_x, last_slope = np.full(q.size, np.nan), np.full(q.size, np.nan)
    tried = np.zeros(q.size, bool)
    for _ in range(200):
        x = level[todo]
        sf, pdf = evaluate(todo, x)
        have, want = np.where(upper[todo], sf, 1 - sf), np.where(upper, tail, q)[todo]
        sign = np.where(upper[todo], 1.0, -1.0)
        right_of = np.where(upper[todo], sf < want, 1 - sf > want)
        high[todo] = np.where(right_of, np.minimum(high[todo], x), high[todo])
        low[todo] = np.where(right_of, low[todo], np.maximum(low[todo], x))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gap = np.log(have / want)
            scale = have / pdf
            # Halley's step, with the second derivative from the slopes of the last two points.
            slope = -sign / scale
            bend = (slope - last_slope[todo]) / (x - last_x[todo])
            newton = -gap / slope
            halley = newton / np.maximum(1 - gap * bend / (2 * slope**2), 0.5)
            new = x + np.where(np.isfinite(halley), halley, newton)
        floor, ceiling = low[todo], high[todo]
        good = (new > floor) & (new < ceiling)
        closed = np.nextafter(floor, np.inf) >= ceiling
        done = (good & (np.abs(gap) < 1e-7)) | (gap == 0) | closed
        if not good.all():
            # An atom may hold q: the lowest value itself is tried before the bracket is cut.
            atom = ~good & (floor == limits[0]) & np.isfinite(floor) & ~tried[todo]
            tried[todo[atom]] = True
            within = _inside(floor, ceiling, np.where(scale > 0, scale, 1.0))
            new = np.where(good, new, np.where(atom, floor, within))
        last_x[todo], last_slope[todo] = x, slope
        level[todo] = np.where(gap == 0, x, new)
        todo = todo[~done]
        if todo.size == 0:
            return level
    return level


def _inside(low: Array, high: Array, scale: Array) -> Array:
    """Return a point inside brackets that may be infinite on either side."""
    scale = np.where(np.isfinite(scale), scale, 1.0)
    with np.errstate(invalid="ignore"):
        middle = (low + high) / 2
        middle = np.where(np.isposinf(high), low + np.abs(low) + scale, middle)
        middle = np.where(np.isneginf(low), high - np.abs(high) - scale, middle)
    return np.where(np.isneginf(low) & np.isposinf(high), 0.0, middle)


def shortest(post: "ExactPosterior", prob: float) -> tuple[Array, Array]:
    """Return the shortest interval of mass `prob` (the HDI where the density has one mode).

    The lower tail p in [0, 1 − prob] is searched: first a grid, since an atom or a fold can make
    more than one dip, then ever finer grids around the best.
    """
    shape = post.shape
    low = np.zeros(shape)
    high = np.full(shape, 1 - prob)
    fraction = np.linspace(0.0, 1.0, 13).reshape(-1, *[1] * len(shape))
    for _ in range(12):
        p = np.minimum(low + (high - low) * fraction, 1 - prob)
        left = post._quantile(p, 1 - p)
        tail = np.maximum((1 - prob) - p, 0.0)
        right = post._quantile(1 - tail, tail)
        with np.errstate(invalid="ignore"):
            width = np.where(np.isfinite(right) & np.isfinite(left), right - left, np.inf)
        best = np.argmin(width, axis=0)[None]
        low = np.take_along_axis(p, np.maximum(best - 1, 0), axis=0)[0]
        high = np.take_along_axis(p, np.minimum(best + 1, fraction.size - 1), axis=0)[0]
    return (
        np.take_along_axis(left, best, axis=0)[0],
        np.take_along_axis(right, best, axis=0)[0],
    )

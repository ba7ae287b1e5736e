"""The one equation behind every inversion of Fano's kind, solved in floating point from above.

Write a prior as its largest probability against the rest: odds ``o = p*/(1 - p*)``, the share of
the rest ``c = 1 - p*``, and let ``y`` in [0, 1] be the advantage, so that the success is
``p* + c y`` and the error ``c (1 - y)``. With ``phi(u) = (1 + u) log(1 + u) - u``,

    Psi(y) = lam y + o phi(y/o) + phi(-y) = r                         (low side, y <= 1/2)
    Gamma(w) = w (A - log w) - (1 - w c) log1p(-w c)/c = rest         (high side, w = 1 - y <= 1/2)

are the same equation written so that no two terms cancel (`lam`, `r`, `A`, `rest` come from the
prior and the information, see `inversion`). Both sides are increasing with an elasticity between
0.48 and 2, so Newton's method in log-log coordinates converges from a crude start.

The root is then replaced by the first number of a coarse grid (45 bits of mantissa) at which the
*computed* left-hand side reaches the right-hand side with a margin for its own rounding. Between
neighbours of that grid the left-hand side moves by more than its rounding error. So the answer is
certified from the safe side, is within 4e-14 of the root, and is monotone in the information for
every pair of arguments, down to neighbouring floats.
"""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["even_nodes", "phi", "solve", "solve_scalar"]

Array = NDArray[np.float64]

_MARGIN = 4e-15
_TINY = 1e-290  # informations below this are raised to it: squares would leave the normal range
_GRID_BITS = 45
_CHUNK = 8192
_SERIES = tuple(1.0 / (2 * j + 3) for j in range(15, -1, -1))


def even_nodes(start: float, stop: float, step: float) -> Array:
    """Return equally spaced nodes; ``np.arange`` rounds its step, and the last nodes drift."""
    return start + step * np.arange(int(np.ceil((stop - start) / step)) + 1)


def _phi_series(u: Array, coefficients: tuple[float, ...] = _SERIES) -> Array:
    ratio = u / (2.0 + u)
    square = ratio * ratio
    total = np.full_like(u, coefficients[0])
    for coefficient in coefficients[1:]:
        total *= square
        total += coefficient
    return u * ratio * (1.0 + (1.0 + ratio) * ratio * total)


def phi(u: Array) -> Array:
    """Return ``(1 + u) log(1 + u) - u`` with full relative accuracy.

    Parameters
    ----------
    u : ndarray of float, any shape, >= -1

    Examples
    --------
    >>> float(phi(np.array(1e-9)))
    4.999999998333333e-19
    """
    u = np.asarray(u, dtype=float)
    if u.size > _CHUNK:
        flat = u.ravel()
        parts = [phi(flat[i : i + _CHUNK]) for i in range(0, flat.size, _CHUNK)]
        return np.concatenate(parts).reshape(u.shape)
    size = np.abs(u)
    largest = size.max(initial=0.0)
    if largest <= 0.5:  # a 1e6-letter prior has mostly small arguments: fewer terms do
        return _phi_series(u, _SERIES[-4:] if largest < 1e-2 else _SERIES)
    near = size <= 0.5
    outside = np.where(near, 1.0, u)
    shifted = 1.0 + outside
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.where(shifted > 0, shifted * np.log1p(outside), 0.0) - outside
    if not near.any():
        return direct
    return np.where(near, _phi_series(np.where(near, u, 0.0)), direct)


def _phi_scalar(u: float) -> float:
    if abs(u) <= 0.5:
        ratio = u / (2.0 + u)
        square = ratio * ratio
        total = 0.0
        for coefficient in _SERIES:
            total = total * square + coefficient
        return u * ratio * (1.0 + (1.0 + ratio) * ratio * total)
    return (1.0 + u) * math.log1p(u) - u if u > -1.0 else 1.0


def _scaled_phi(y: Array, o: Array) -> Array:
    """Return ``o phi(y/o)`` for y in [0, 1/2], without overflow at tiny odds."""
    u = y / o
    near = u <= 0.5
    if near.all():
        return o * _phi_series(u)
    direct = (o + y) * np.log1p(u) - y
    if not near.any():
        return direct
    return np.where(near, o * _phi_series(np.where(near, u, 0.0)), direct)


def _psi(y: Array, o: Array, lam: Array) -> Array:
    return lam * y + _scaled_phi(y, o) + _phi_series(-y)


def _psi_scalar(y: float, o: float, lam: float) -> float:
    u = y / o
    first = o * _phi_scalar(u) if u <= 0.5 else (o + y) * math.log1p(u) - y
    return lam * y + first + _phi_scalar(-y)


def _gamma(w: Array, c: Array, a: Array) -> Array:
    rest = w * c
    return w * (a - np.log(w)) - (1.0 - rest) * np.log1p(-rest) / c


def _gamma_scalar(w: float, c: float, a: float) -> float:
    rest = w * c
    return w * (a - math.log(w)) - (1.0 - rest) * math.log1p(-rest) / c


def _grid_scalar(value: float) -> tuple[float, float]:
    """Return the grid point at or below `value` and the grid's step there."""
    mantissa, exponent = math.frexp(value)
    step = math.ldexp(1.0, exponent - _GRID_BITS)
    return math.floor(math.ldexp(mantissa, _GRID_BITS)) * step, step


def _low_scalar(r: float, o: float, lam: float) -> float:
    r = max(r, _TINY)
    curvature = math.sqrt(2.0 * r) * math.sqrt(1.0 + 1.0 / o)
    y = max(
        2.0 * r / (lam + math.hypot(lam, curvature)),
        r / (1.0 + lam + math.log1p(r / o)),
    )
    y = min(y, 0.5)
    for _ in range(60):
        value = _psi_scalar(y, o, lam)
        slope = y * (lam + math.log1p(y / o) - math.log1p(-y)) / value
        ratio = r / value
        y = min(y * ratio ** (1.0 / slope), 0.5)
        if abs(ratio - 1.0) < 1e-9:
            break
    target = r * (1.0 + _MARGIN)
    grid, step = _grid_scalar(y * (1.0 + _MARGIN / 2))
    if _psi_scalar(grid, o, lam) < target:
        grid += step
        while _psi_scalar(grid, o, lam) < target and grid < 0.5:
            grid += step
        return min(grid, 0.5)
    while _psi_scalar(grid - step, o, lam) >= target:
        grid -= step
    return min(grid, 0.5)


def _high_scalar(rest: float, c: float, a: float) -> float:
    if rest <= _TINY:
        return 0.0
    w = min(0.5, rest / (1.0 + max(0.0, a - math.log(min(rest, 0.5)))))
    for _ in range(60):
        value = _gamma_scalar(w, c, a)
        slope = w * (a - math.log(w) + math.log1p(-w * c)) / value
        ratio = rest / value
        w = min(w * ratio ** (1.0 / slope), 0.5)
        if abs(ratio - 1.0) < 1e-9 or w == 0.0:
            break
    if w < _TINY:
        return 0.0
    target = rest * (1.0 - _MARGIN)
    grid, step = _grid_scalar(w)
    while _gamma_scalar(grid, c, a) > target:
        grid -= step
        if grid <= 0.0:
            return 0.0
    while grid + step <= 0.5 and _gamma_scalar(grid + step, c, a) <= target:
        grid += step
    return grid


def solve_scalar(
    r: float, rest: float, o: float, lam: float, c: float, a: float
) -> tuple[float, float]:
    """Return (y, 1 - y) for one problem, each with its own relative accuracy."""
    if r <= 0.0:
        return 0.0, 1.0
    if r * (1.0 + _MARGIN) <= _psi_scalar(0.5, o, lam):
        y = _low_scalar(r, o, lam)
        return y, 1.0 - y
    w = _high_scalar(rest, c, a)
    return 1.0 - w, w


def _low(r: Array, o: Array, lam: Array) -> Array:
    r = np.maximum(r, _TINY)
    curvature = np.sqrt(2.0 * r) * np.sqrt(1.0 + 1.0 / o)
    y = np.maximum(2.0 * r / (lam + np.hypot(lam, curvature)), r / (1.0 + lam + np.log1p(r / o)))
    y = np.minimum(y, 0.5)
    for _ in range(60):
        value = _psi(y, o, lam)
        slope = y * (lam + np.log1p(y / o) - np.log1p(-y)) / value
        ratio = r / value
        y = np.minimum(y * ratio ** (1.0 / slope), 0.5)
        if np.abs(ratio - 1.0).max() < 1e-9:
            break
    target = r * (1.0 + _MARGIN)
    mantissa, exponent = np.frexp(y * (1.0 + _MARGIN / 2))
    step = np.ldexp(1.0, exponent - _GRID_BITS)
    grid = np.floor(np.ldexp(mantissa, _GRID_BITS)) * step
    # The first grid point that reaches the target; y is within one step of it already.
    reached = _psi(grid, o, lam) >= target
    grid = np.where(reached, grid, grid + step)
    below = _psi(grid - step, o, lam) >= target
    while below.any():
        grid = np.where(below, grid - step, grid)
        below &= _psi(grid - step, o, lam) >= target
    short = ~reached & (_psi(np.minimum(grid, 0.5), o, lam) < target) & (grid < 0.5)
    while short.any():
        grid = np.where(short, grid + step, grid)
        short &= (_psi(np.minimum(grid, 0.5), o, lam) < target) & (grid < 0.5)
    return np.minimum(grid, 0.5)


def _high(rest: Array, c: Array, a: Array) -> Array:
    w = np.minimum(0.5, rest / (1.0 + np.maximum(0.0, a - np.log(np.minimum(rest, 0.5)))))
    w = np.maximum(w, _TINY)
    for _ in range(60):
        value = _gamma(w, c, a)
        slope = w * (a - np.log(w) + np.log1p(-w * c)) / value
        ratio = rest / value
        w = np.clip(w * ratio ** (1.0 / slope), _TINY, 0.5)
        if (np.abs(ratio - 1.0) < 1e-9).all() or (w <= _TINY).all():
            break
    target = rest * (1.0 - _MARGIN)
    mantissa, exponent = np.frexp(w)
    step = np.ldexp(1.0, exponent - _GRID_BITS)
    grid = np.floor(np.ldexp(mantissa, _GRID_BITS)) * step
    above = (_gamma(grid, c, a) > target) & (grid > _TINY)
    while above.any():
        grid = np.where(above, grid - step, grid)
        above &= (_gamma(np.maximum(grid, _TINY), c, a) > target) & (grid > _TINY)
    # Only the points where no step down was taken can have a step up left.
    room = (grid + step <= 0.5) & (_gamma(np.minimum(grid + step, 0.5), c, a) <= target)
    while room.any():
        grid = np.where(room, grid + step, grid)
        room &= (grid + step <= 0.5) & (_gamma(np.minimum(grid + step, 0.5), c, a) <= target)
    return np.where(grid <= _TINY, 0.0, grid)


def solve(r: Array, rest: Array, o: Array, lam: Array, c: Array, a: Array) -> tuple[Array, Array]:
    """Return (y, 1 - y) elementwise for flat arrays of equal length."""
    y, w = np.empty_like(r), np.empty_like(r)
    with np.errstate(over="ignore"):  # only the first guess can overflow, at M near 1e308
        for start in range(0, r.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            y[part], w[part] = _solve_chunk(*(x[part] for x in (r, rest, o, lam, c, a)))
    return y, w


def _solve_chunk(
    r: Array, rest: Array, o: Array, lam: Array, c: Array, a: Array
) -> tuple[Array, Array]:
    half = np.full_like(r, 0.5)
    low = r * (1.0 + _MARGIN) <= _psi(half, o, lam)
    y = np.ones_like(r)
    w = np.zeros_like(r)
    zero = r <= 0.0
    y[zero], w[zero] = 0.0, 1.0
    index = np.flatnonzero(low & ~zero)
    if index.size:
        y[index] = _low(r[index], o[index], lam[index])
        w[index] = 1.0 - y[index]
    index = np.flatnonzero(~low & ~zero & (rest > _TINY))
    if index.size:
        w[index] = _high(rest[index], c[index], a[index])
        y[index] = 1.0 - w[index]
    return y, w

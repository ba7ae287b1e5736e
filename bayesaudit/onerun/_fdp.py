"""The f-DP bound of Mahloujifar, Melis and Chaudhuri (2024), for any trade-off curve."""

import math
from collections.abc import Callable
from typing import Any

from bayesaudit.onerun._check import check_level, check_tally
from bayesaudit.onerun._curves import TradeOffFamily
from bayesaudit.onerun._invert import largest_rejected

__all__ = ["f_dp_parameter_lower", "f_dp_rejects"]


# A step below this share is rounding, which otherwise creeps on for 1e5 steps and more.
_STANDSTILL = 2e-15


def rejects(inverse: Callable[[float], float], m: int, r: int, v: int, level: float) -> bool:
    """Run the recursion; the arguments are checked already."""
    right, wrong, all_guesses = level * v / m, level * (r - v) / m, r / m
    for i in range(v - 1, -1, -1):
        lowest = inverse(right)
        if lowest - wrong <= _STANDSTILL * wrong:
            break  # neither will change again, but for rounding; not rejecting is the safe side
        right += i / (r - i) * (lowest - wrong)
        wrong = lowest
        if right + wrong > all_guesses:
            return True
    return right + wrong > all_guesses


def p_value(inverse: Callable[[float], float], m: int, r: int, v: int) -> float:
    """Return the smallest level that rejects, to a relative 1e-10; 1 if none does."""
    if v == 0 or not rejects(inverse, m, r, v, 1.0):
        return 1.0
    low, high = -745.0, 0.0  # logs of the level: not rejected, rejected
    while high - low > 1e-10:
        middle = 0.5 * (low + high)
        if rejects(inverse, m, r, v, math.exp(middle)):
            high = middle
        else:
            low = middle
    return math.exp(high)


def parameter_lower(curve: TradeOffFamily, m: int, r: int, v: int, level: float) -> float:
    """Return the largest rejected parameter; the arguments are checked already."""
    return largest_rejected(lambda x: rejects(curve.inverse(x), m, r, v, level))


def check_curve(curve: Any) -> TradeOffFamily:
    """Return an object that has the members of a family of curves."""
    if not isinstance(curve, TradeOffFamily):
        raise TypeError(f"curve must have inverse, epsilon and parameter, got {curve!r}.")
    return curve


def f_dp_rejects(
    inverse: Callable[[float], float],
    *,
    n_canaries: int,
    n_guesses: int,
    n_correct: int,
    level: float,
) -> bool:
    r"""Say whether a trade-off curve is rejected at an error level by so many right guesses.

    Parameters
    ----------
    inverse : callable from [0, 1] to [0, 1]
        The inverse of 1 - f for the trade-off curve f (convex, symmetric).
    n_canaries : int
        Canaries put in by independent fair coins, >= 1 (m).
    n_guesses : int
        Guesses released, a number fixed in advance, in [0, n_canaries] (c' in the paper).
    n_correct : int
        Right guesses, in [0, n_guesses] (c).
    level : float
        The error probability, in (0, 1).

    Returns
    -------
    bool
        True if no f-DP mechanism gets `n_correct` or more right with probability `level` or more.

    Raises
    ------
    ValueError, TypeError
        For an impossible tally or level.

    Notes
    -----
    The recursion follows the least total of right and wrong guesses that a tail of probability
    `level` at v forces at v - 1, v - 2, ..., and rejects when the total exceeds r/m. Each step is
    the same inequality for the set "at least i right"; the recursion is the optimum over these.

    References
    ----------
    Mahloujifar, Melis and Chaudhuri, *Auditing f-Differential Privacy in One Run* (ICML 2025),
    the recursion on right and wrong guesses (r_i, h_i); arXiv:2410.22235.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> tally = dict(n_canaries=1000, n_guesses=1000, n_correct=700)
    >>> onerun.f_dp_rejects(onerun.GaussianCurve().inverse(0.5), **tally, level=0.05)
    False
    >>> onerun.f_dp_rejects(onerun.GaussianCurve().inverse(0.3), **tally, level=0.05)
    True
    """
    m, r, v = check_tally(n_canaries, n_guesses, n_correct)
    return rejects(inverse, m, r, v, check_level(level))


def f_dp_parameter_lower(
    curve: TradeOffFamily, *, n_canaries: int, n_guesses: int, n_correct: int, level: float
) -> float:
    """Return the lower confidence bound on the parameter of a family of trade-off curves.

    The bound does not depend on delta: turn it into epsilon at any delta by ``curve.epsilon``.

    Parameters
    ----------
    curve : TradeOffFamily
        `GaussianCurve()` (mu), `LaplaceCurve()`, `EpsilonDeltaCurve(delta)`, or one's own.
    n_canaries, n_guesses, n_correct : int
        The tally, as in `f_dp_rejects`.
    level : float
        The error probability, in (0, 1).

    Returns
    -------
    float
        The largest rejected parameter, >= 0, to a relative 1e-11.

    Raises
    ------
    ValueError, TypeError
        For an impossible tally or level, or an object that is no family of curves.

    References
    ----------
    Mahloujifar, Melis and Chaudhuri (ICML 2025); arXiv:2410.22235.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> tally = dict(n_canaries=1000, n_guesses=1000, n_correct=700)
    >>> round(onerun.f_dp_parameter_lower(onerun.GaussianCurve(), **tally, level=0.05), 6)
    0.357211
    """
    m, r, v = check_tally(n_canaries, n_guesses, n_correct)
    return parameter_lower(check_curve(curve), m, r, v, check_level(level))

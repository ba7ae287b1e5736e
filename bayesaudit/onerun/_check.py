"""The tally of a one-run audit, checked once at the boundary."""

from typing import Any

import numpy as np

from bayesaudit._checks import check_integers, check_number


def check_count(value: Any, name: str, *, minimum: int = 0) -> int:
    """Return one whole number."""
    if np.ndim(value) != 0:
        raise TypeError(f"{name} must be one whole number, got shape {np.shape(value)}.")
    return int(check_integers(value, name, minimum=minimum))


def check_tally(n_canaries: Any, n_guesses: Any, n_correct: Any) -> tuple[int, int, int]:
    """Return (m, r, v) with 0 <= v <= r <= m and m >= 1."""
    m = check_count(n_canaries, "n_canaries", minimum=1)
    r = check_count(n_guesses, "n_guesses")
    v = check_count(n_correct, "n_correct")
    if r > m:
        raise ValueError(f"n_guesses must be <= n_canaries = {m}, got {r}.")
    if v > r:
        raise ValueError(f"n_correct must be <= n_guesses = {r}, got {v}.")
    return m, r, v


def check_level(level: Any) -> float:
    """Return an error probability strictly between 0 and 1."""
    number = check_number(level, "level")
    if not 0 < number < 1:
        raise ValueError(f"level must be in (0, 1), got {number!r}.")
    return number

"""The bound of Steinke, Nasr and Jagielski (2023)."""

import numpy as np

from bayesaudit.onerun._binomial import upper_tail, window
from bayesaudit.onerun._check import check_claim, check_tally

__all__ = ["steinke_p_value"]


def steinke(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """Return the p-value; the arguments are checked already."""
    tail = upper_tail(r, v, epsilon)
    if v == 0 or delta == 0:
        return tail
    law = window(r, epsilon)
    below = min(v - 1, law.last)
    if below < law.first:
        return 1.0
    # Means of the probabilities over v-i .. v-1, for every i that reaches into the window.
    sums = np.cumsum(law.weight[: below - law.first + 1][::-1])
    widths = v - np.arange(below, law.first - 1, -1.0)
    largest_mean = float((sums / widths).max() / law.weight.sum())
    return min(1.0, tail + 2 * m * delta * largest_mean)


def steinke_p_value(
    *, n_canaries: int, n_guesses: int, n_correct: int, epsilon: float, delta: float
) -> float:
    r"""Bound the probability of so many right guesses under (epsilon, delta)-DP, after Steinke.

    Parameters
    ----------
    n_canaries : int
        Canaries put in by independent fair coins, >= 1 (m in the paper).
    n_guesses : int
        Guesses released, a number fixed in advance, in [0, n_canaries] (r).
    n_correct : int
        Right guesses, in [0, n_guesses] (v).
    epsilon : float
        Privacy parameter in nats, >= 0.
    delta : float
        Privacy parameter in [0, 1].

    Returns
    -------
    float
        The p-value of the claim, in [0, 1]; nondecreasing in `epsilon`.

    Raises
    ------
    ValueError, TypeError
        For a tally that is not 0 <= n_correct <= n_guesses <= n_canaries, or a claim out of range.

    Notes
    -----
    With X ~ Bin(r, 1/(1 + e^-epsilon)),

    .. math:: p = P(X \ge v) + 2 m \delta \max_{1 \le i \le v} P(v - i \le X < v)/i .

    The maximum is over means of neighbouring probabilities, so only the window where X has mass
    counts: the cost grows with the standard deviation of X and not with r.

    References
    ----------
    Steinke, Nasr and Jagielski, *Privacy Auditing with One (1) Training Run* (NeurIPS 2023),
    Theorem 5.2; arXiv:2305.08846.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> tally = dict(n_canaries=1000, n_guesses=1000, n_correct=700)
    >>> round(onerun.steinke_p_value(**tally, epsilon=0.7, delta=1e-5), 6)
    0.017499
    """
    m, r, v = check_tally(n_canaries, n_guesses, n_correct)
    epsilon, delta = check_claim(epsilon, delta)
    return steinke(m, r, v, epsilon, delta)

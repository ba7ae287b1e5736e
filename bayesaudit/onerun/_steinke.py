"""The bound of Steinke, Nasr and Jagielski (2023)."""

import numpy as np

from bayesaudit.onerun._binomial import upper_tail, window

__all__ = ["steinke"]


def steinke(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    r"""Return the p-value of v or more right guesses of r, with m canaries; all checked already.

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
    """
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

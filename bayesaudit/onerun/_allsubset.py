r"""The all-subset bound: what (epsilon, delta)-DP says about the number of right guesses.

Setting. Bits :math:`s_1 \dots s_m` are independent fair coins; the mechanism and the guesser make
of them, in whatever dependent way, a guess +, - or none for each, with exactly r guesses in every
outcome. T is the number of right ones and :math:`p_i = P(T = i)`.

**Step 1: one coordinate.** Fix j and let :math:`N_{-j}` count the right guesses at the other
coordinates. Given the other bits, :math:`N_{-j}` is a function of the output that does not look at
:math:`s_j`; so for any set S of numbers, "the guess at j is + and :math:`N_{-j} \in S`" is an
event of the output, and differential privacy compares its probability at the two values of
:math:`s_j`. The same holds with -. Half of each inequality, added up, gives

.. math:: P(j\ \text{right}, N_{-j} \in S) \le
          e^\varepsilon P(j\ \text{wrong}, N_{-j} \in S) + \delta .

**Step 2: add over j.** When j is right and :math:`N_{-j} = i - 1`, T is i, and each outcome with
T = i is counted by its i right coordinates: the left sides add to :math:`\sum i\,p_i`. When j is
wrong and :math:`N_{-j} = i - 1`, T is i - 1, counted by its :math:`r - i + 1` wrong coordinates.
With :math:`d_i = i\,p_i - e^\varepsilon (r - i + 1)\,p_{i-1}` this reads
:math:`\sum_{i-1 \in S} d_i \le m\delta` for **every** S. The tightest S keeps the positive terms:

.. math:: \sum_{i=1}^{r} \bigl(d_i\bigr)_+ \le m\delta . \qquad (*)

Nothing was assumed about the dependence between coordinates, and the factor is m delta, once.

**Step 3: the worst law.** Let X ~ Bin(r, q), q = 1/(1 + e^-epsilon), and x_i = P(X = i), so that
:math:`i\,x_i = e^\varepsilon (r - i + 1)\,x_{i-1}`. Write p_i = c_i x_i. Then
:math:`d_i = i\,x_i (c_i - c_{i-1})`: the budget is spent only where c rises. Cut c >= 0 into
layers, :math:`c_i = \int_0^\infty 1\{c_i > t\}\,dt`, and each layer into runs of consecutive
numbers; a run starts at i for just the levels t in [c_{i-1}, c_i). So p is a mixture of laws
X | a <= X <= b, and the left side of (*) is the mixture of their costs
:math:`a\,x_a / P(a \le X \le b)`, nothing for a = 0. Letting the run go on to r lowers that cost
to :math:`b_a = a\,x_a / P(X \ge a)` and raises the probability of T >= v to
:math:`f_a = P(X \ge v) / P(X \ge a)`, or to 1 if a >= v. The cost rises with a (the binomial's
hazard does), so a > v is never worth it. What is left is to mix the points (b_a, f_a), a = 0..v,
with mean cost at most m delta; and every such mixture is a law that satisfies (*), because (*) is
convex in p. Hence, for v >= 1,

    p-value = the upper concave envelope of the points :math:`(b_i, f_i)`, i = 0..v, at
    :math:`m\delta`, and 1 from :math:`b_v` on.

The tests solve the linear program itself (HiGHS) and find the same numbers. With delta = 0 this is
the exact binomial tail; it is never above the (epsilon, delta) form of Mahloujifar et al. (2024,
arXiv:2410.22235), whose inequalities are (*) for the sets S = {i, i+1, ...} alone. The setting is
that of Steinke, Nasr and Jagielski (NeurIPS 2023, arXiv:2305.08846); the bound is this project's
own result.
"""

import numpy as np
from numpy.typing import NDArray

from bayesaudit.onerun._binomial import tail_over_term, upper_tail, window

__all__ = ["all_subset"]


def _envelope_at(x: float, b: NDArray, f: NDArray) -> float:
    """Return the upper concave envelope of points with increasing b at b[0] <= x < b[-1].

    The envelope's edge over x is the highest chord from a point on the left to one on the right.
    Moving one end at a time to its best place raises the chord until neither end can move; then
    every point is below its line, so it is the edge.
    """
    cut = int(np.searchsorted(b, x, side="right"))
    left_b, left_f, right_b, right_f = b[:cut], f[:cut], b[cut:], f[cut:]
    left, right = cut - 1, -1
    while True:
        best = int(np.argmax((right_f - left_f[left]) / (right_b - left_b[left])))
        if best == right:
            break
        right = best
        new = int(np.argmin((right_f[right] - left_f) / (right_b[right] - left_b)))
        if new == left:
            break
        left = new
    slope = (right_f[right] - left_f[left]) / (right_b[right] - left_b[left])
    return float(left_f[left] + (x - left_b[left]) * slope)


def all_subset(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """Return the largest probability of v or more right guesses of r, with m canaries.

    The p-value of (epsilon, delta)-DP under any dependence; the arguments are checked already.
    """
    tail = upper_tail(r, v, epsilon)
    budget = m * delta
    if v == 0 or delta == 0:
        return tail
    law = window(r, epsilon)
    if v < law.first:
        return 1.0  # the tail is 1 to within exp(-80)
    if v > law.core_last:
        # Far above the mean i P(X = i) falls towards v, so that f_i / b_i <= 1 / b_v, and f_0 is
        # below exp(-80): the envelope is the one chord from (0, f_0) to (b_v, 1).
        b_v = v / tail_over_term(r, v, epsilon)
        return 1.0 if budget >= b_v else min(1.0, tail + (1 - tail) * budget / b_v)
    sums = np.cumsum(law.weight[::-1])[::-1]
    start = max(law.first, 1)
    part = slice(start - law.first, v - law.first + 1)
    b = np.concatenate(([0.0], np.arange(start, v + 1) * law.weight[part] / sums[part]))
    f = np.concatenate(([tail], sums[v - law.first] / sums[part]))
    if budget >= b[-1]:
        return 1.0
    return min(1.0, max(tail, _envelope_at(budget, b, f)))

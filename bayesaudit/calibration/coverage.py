"""Exact coverage of an interval method: every outcome, with its probability; no simulation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_integers, check_prob, check_probability
from bayesaudit._result import Table
from bayesaudit.calibration._methods import Method, check_method, ends, sides
from bayesaudit.calibration._outcomes import Outcomes
from bayesaudit.measures import Measure
from bayesaudit.rates import Prior

__all__ = ["Coverage", "Expected", "coverage", "expected"]

Array = NDArray[np.float64]
#: Outcomes less probable than this share of all that is left out need no interval.
NEGLIGIBLE = 1e-10
#: Means over more outcomes than this are taken over some 24 evenly spread ones a side.
STRIDE_FROM, POINTS = 1_500, 24


@dataclass(frozen=True, slots=True, eq=False)
class Coverage(Table):
    """Frequentist coverage of an interval method at given true rates.

    Parameters
    ----------
    lower, upper : numpy.ndarray
        Probability that the lower end is <= the truth, and that the upper end is >= it.
    both : numpy.ndarray
        Probability that both hold: the coverage of the interval.
    truth : numpy.ndarray
        The measure at the true rates.
    fnr, fpr, n_pos, n_neg : numpy.ndarray
        The setting, echoed in the broadcast shape.
    prob : float
        Nominal level: each end alone should err by (1 − prob)/2.
    method : str
        The method's name.
    """

    lower: Array
    upper: Array
    both: Array
    truth: Array
    fnr: Array
    fpr: Array
    n_pos: Array
    n_neg: Array
    prob: float
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class Expected(Table):
    """What an interval method gives on average at given true rates.

    Parameters
    ----------
    lower : numpy.ndarray
        Mean of the lower end.
    width : numpy.ndarray
        Mean width, infinite where an upper end can be.
    fnr, fpr, n_pos, n_neg : numpy.ndarray
        The setting, echoed in the broadcast shape.
    prob : float
        Level of the interval.
    method : str
        The method's name.
    """

    lower: Array
    width: Array
    fnr: Array
    fpr: Array
    n_pos: Array
    n_neg: Array
    prob: float
    method: str


def coverage(
    measure: Measure,
    fnr: ArrayLike,
    fpr: ArrayLike,
    n_pos: ArrayLike,
    n_neg: ArrayLike,
    *,
    prob: float = 0.90,
    method: Method = "posterior",
    prior: Prior = "jeffreys",
) -> Coverage:
    """Return the exact frequentist coverage of an interval method, by enumeration.

    Parameters
    ----------
    measure : Measure
        What is measured.
    fnr, fpr : array_like
        True rates in [0, 1]; with `n_pos` and `n_neg` they broadcast.
    n_pos, n_neg : array_like of int
        Members and non-members, >= 1.
    prob : float
        Level of the interval; either end alone should err by (1 − prob)/2.
    method : str or callable
        "posterior" (equal-tailed), "two-direction", "exact-unconditional", a name of
        `bayesaudit.intervals.METHODS`, or a function ``(counts, measure, prob) -> (lower, upper)``
        of an array of tallies.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the posterior methods.

    Returns
    -------
    Coverage

    Notes
    -----
    Outcomes of total probability 1e-10 at most are left out on either side of each binomial. Trials
    are independent; rates of a map share the work of their outcomes.

    Examples
    --------
    A credible lower bound is not a confidence bound where FNR = FPR, and never when ε̂ folds and
    the attack flips coins:

    >>> import bayesaudit as ba
    >>> from bayesaudit.calibration import coverage
    >>> found = coverage(ba.Epsilon(1e-5), [0.35, 0.5], [0.25, 0.5], 100, 100)
    >>> found.lower.round(3)
    array([0.945, 0.   ])
    """
    prob = check_prob(prob)
    check_method(method, measure)
    setting = _setting(fnr, fpr, n_pos, n_neg)
    truth = np.asarray(measure.of(setting[0], setting[1]), float)
    result = np.empty((3, truth.size))
    for at, outcomes, pairs in _groups(setting):
        table = None
        if _table_pays(method, outcomes, len(pairs)):
            table = ends(method, outcomes.counts(), measure, prob, prior)
        for where, (x, y) in zip(at, pairs, strict=True):
            probability = outcomes.probability(x, y)
            true = truth.flat[where]
            if table is None:
                low, high = sides(method, outcomes, measure, true, prob, prior)
            else:
                low, high = table[0] > true, table[1] < true
            for row, missed in enumerate((low, high, low | high)):
                result[row, where] = 1 - np.sum(probability[missed])
    shaped = (row.reshape(truth.shape)[()] for row in result)
    return Coverage(*shaped, truth, *setting, prob, _name(method))


def expected(
    measure: Measure,
    fnr: ArrayLike,
    fpr: ArrayLike,
    n_pos: ArrayLike,
    n_neg: ArrayLike,
    *,
    prob: float = 0.90,
    method: Method = "posterior",
    prior: Prior = "jeffreys",
) -> Expected:
    """Return the mean lower end and the mean width of an interval method, by enumeration.

    Parameters are those of `coverage`. Of more than 1500 outcomes, evenly spread ones are weighed:
    the ends are smooth in the counts, and means agree with the full sum to about 1e-4.

    Returns
    -------
    Expected

    Examples
    --------
    >>> import bayesaudit as ba
    >>> from bayesaudit.calibration import expected
    >>> print(f"{expected(ba.Epsilon(1e-5), 0.35, 0.25, 50, 50).width:.2f}")
    0.91
    """
    prob = check_prob(prob)
    check_method(method, measure)
    setting = _setting(fnr, fpr, n_pos, n_neg)
    lower, width = np.empty(setting[0].size), np.empty(setting[0].size)
    for at, outcomes, pairs in _groups(setting):
        weights = [outcomes.probability(x, y) for x, y in pairs]
        if outcomes.size > STRIDE_FROM:
            # The ends are smooth in the counts on the scale of a standard deviation, of which a
            # window has at least 12: every few outcomes weigh up as well as all of them.
            step = tuple(max(1, part.size // POINTS) for part in (outcomes.fn, outcomes.fp))
            every = slice(None, None, step[0]), slice(None, None, step[1])
            outcomes = Outcomes(
                outcomes.n_pos, outcomes.n_neg, outcomes.fn[every[0]], outcomes.fp[every[1]]
            )
            weights = [weight[every] for weight in weights]
        chosen = np.any([_matter(weight) for weight in weights], axis=0)
        low, high = ends(method, outcomes.counts(chosen), measure, prob, prior)
        for where, weight in zip(at, weights, strict=True):
            share = weight[chosen] / weight[chosen].sum()
            lower[where] = np.sum(share * low)
            width[where] = np.sum(share * (high - low))
    shaped = (row.reshape(setting[0].shape)[()] for row in (lower, width))
    return Expected(*shaped, *setting, prob, _name(method))


def _setting(fnr, fpr, n_pos, n_neg) -> tuple[Array, ...]:
    rates = [np.asarray(value, float) for value in (fnr, fpr)]
    for value, name in zip(rates, ("fnr", "fpr"), strict=True):
        for extreme in (np.min(value), np.max(value)):
            check_probability(extreme, name)
    numbers = [
        check_integers(n, name, minimum=1) for n, name in ((n_pos, "n_pos"), (n_neg, "n_neg"))
    ]
    return tuple(np.broadcast_arrays(*rates, *numbers))


def _groups(setting: tuple[Array, ...]):
    """Yield settings by numbers of trials: flat positions, the outcomes that matter, the rates."""
    fnr, fpr, n_pos, n_neg = (part.ravel() for part in setting)
    sizes = np.stack([n_pos, n_neg], axis=1)
    for size in np.unique(sizes, axis=0):
        at = np.flatnonzero((sizes == size).all(axis=1))
        outcomes = Outcomes.likely(int(size[0]), int(size[1]), fnr[at], fpr[at])
        yield at, outcomes, list(zip(fnr[at].tolist(), fpr[at].tolist(), strict=True))


def _table_pays(method: Method, outcomes: Outcomes, pairs: int) -> bool:
    """Whether finding the ends of all outcomes once beats comparing with every truth."""
    if method in ("posterior", "two-direction"):
        return pairs >= 100 and outcomes.size <= 400_000
    return pairs > 1


def _matter(probability: Array) -> NDArray[np.bool_]:
    """Choose the outcomes that are not among the least probable ones of 1e-10 in all."""
    order = np.sort(probability, axis=None)
    total = np.cumsum(order)
    cut = np.searchsorted(total, NEGLIGIBLE)
    return probability >= (order[cut] if cut < order.size else np.inf)


def _name(method: Method) -> str:
    return method if isinstance(method, str) else getattr(method, "__name__", repr(method))

"""Classical intervals of a measure from the same counts: rectangles of rates, and log ratios.

What each promises is in `METHODS` and travels with the result:

* "clopper-pearson" — **guaranteed**: a rectangle of exact binomial intervals;
* "wilson" — asymptotic rectangle of score intervals;
* "jeffreys" — posterior rectangle of equal-tailed Jeffreys intervals, rate by rate;
* "katz-log", "adjusted-log", "bailey", "inv-sinh" — asymptotic intervals of a log ratio of rates,
  for `Epsilon` only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_choice, check_prob
from bayesaudit._interval import Interval
from bayesaudit._result import Table
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Epsilon, Measure
from bayesaudit.posteriors.exact import ExactPosterior
from bayesaudit.proportions import METHODS as RECTANGLES
from bayesaudit.proportions import proportion_interval

__all__ = ["METHODS", "Rectangle", "confidence_interval", "rectangle"]

Array = NDArray[np.float64]
Split = Literal["bonferroni", "none"]

#: Method -> what its interval promises.
METHODS: dict[str, str] = {
    "clopper-pearson": "guaranteed",
    "jeffreys": "posterior",
    "wilson": "asymptotic",
    "katz-log": "asymptotic",
    "adjusted-log": "asymptotic",
    "bailey": "asymptotic",
    "inv-sinh": "asymptotic",
}
#: The recommended lower bound of independent trials, which has a package of its own.
EXACT = "exact-unconditional"
#: The lower bound that holds under any dependence within a model, from counts of every model.
BETTING = "betting"


def confidence_interval(
    counts: AttackCounts,
    measure: Measure,
    prob: float = 0.90,
    *,
    method: str = "clopper-pearson",
    split: Split = "bonferroni",
) -> Interval:
    """Return a classical interval of a measure.

    Parameters
    ----------
    counts : AttackCounts
        One tally, or an array of tallies; for "betting" one a model on the trailing axis.
    measure : Measure
        What is measured; log-ratio methods need an `Epsilon`.
    prob : float
        Level in (0, 1): either end alone errs by (1 − prob)/2.
    method : str
        One of `METHODS`; or "exact-unconditional": a guaranteed lower bound that is hardly
        ever below "clopper-pearson" (see `bayesaudit.unconditional.exact_unconditional`); or
        "betting": a lower bound guaranteed under any dependence within a model, for independent
        models of sizes fixed beforehand, on the measure at rates averaged over models (see
        `bayesaudit.betting.betting_bound`). All others suppose independent trials.
    split : {"bonferroni", "none"}
        How an end's error is shared. "bonferroni": over what the end depends on, the two rates of a
        rectangle (so that every rate's end has the tail (1 − prob)/4), or the log ratios of which ε̂
        is the largest. "none": every one of them at the full (1 − prob)/2, as much published work
        does; nothing is then guaranteed.

    Returns
    -------
    Interval
        With statement "confidence", and what the method promises in `guarantee`.

    Notes
    -----
    "clopper-pearson" with split "bonferroni" is **guaranteed** for a declared direction. Folded
    (direction "both"), the lower end rests on all four ends of the rectangle and near chance may
    err by up to 1 − prob. "jeffreys" is **posterior** in each rate, not in ε̂; all others are
    **asymptotic**.

    References
    ----------
    Clopper and Pearson, Biometrika 26 (1934) 404. Wilson, JASA 22 (1927) 209. Katz et al.,
    Biometrics 34 (1978) 469. Walter, Biometrics 31 (1975) 777 (adjusted log). Bailey, J. Roy.
    Statist. Soc. C 36 (1987) 201. Newcombe, The American Statistician 55 (2001) 200 (inverse
    hyperbolic sine). Zanella-Béguelin et al., arXiv:2206.05199, Section 3 (rectangles).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> lower, upper = confidence_interval(counts, ba.Epsilon(delta=1e-5), 0.90)
    >>> print(f"{lower:.6f}")
    0.458498
    """
    prob = check_prob(prob)
    check_choice(method, "method", (*METHODS, EXACT, BETTING))
    check_choice(split, "split", ("bonferroni", "none"))
    if method == EXACT:
        from bayesaudit.unconditional import exact_unconditional

        return exact_unconditional(counts, measure, prob)
    if method == BETTING:
        from bayesaudit.betting import betting_bound

        return betting_bound(counts, measure, prob)
    if method in RECTANGLES:
        return rectangle(counts, prob, method=method, split=split).interval(measure)
    if not isinstance(measure, Epsilon):
        raise ValueError(
            f"method {method!r} is a log ratio: measure must be Epsilon, got {measure!r}."
        )
    lower, upper = _log_ratio_ends(counts, measure, prob, method, split)
    return Interval(
        lower=lower[()],
        upper=upper[()],
        prob=prob,
        kind="eti",
        statement="confidence",
        method=method,
        guarantee=METHODS[method],
    )


# -- rectangles ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Rectangle(Table):
    """Intervals of both rates; the ε between its corners is BEDP's classical interval.

    Parameters
    ----------
    fnr, fpr : tuple of numpy.ndarray
        Lower and upper ends, of the tallies' shape.
    tpr, tnr : tuple of numpy.ndarray
        The ends of the complements, precise where a rate is near 1.
    method : str
        "clopper-pearson", "jeffreys" or "wilson".
    prob, tail : float
        The level, and the one-sided tail used for every end of every rate.
    split : {"bonferroni", "none"}
        How `tail` follows from `prob`.
    """

    fnr: tuple[Array, Array]
    fpr: tuple[Array, Array]
    tpr: tuple[Array, Array]
    tnr: tuple[Array, Array]
    method: str
    prob: float
    tail: float
    split: Split

    def interval(self, measure: Measure) -> Interval:
        """Return the range of a measure over the rectangle."""
        lower, upper = measure.over(self.fnr, self.fpr, tpr=self.tpr, tnr=self.tnr)
        return Interval(
            lower=lower[()],
            upper=upper[()],
            prob=self.prob,
            kind="eti",
            statement="confidence",
            method=self.method,
            guarantee=METHODS[self.method] if self.split == "bonferroni" else "approximate",
        )

    _omit = ("fnr", "fpr", "tpr", "tnr")

    def columns(self) -> dict[str, Array]:
        """Return the ends of both rates by column name, one row a tally."""
        return {
            f"{rate}_{end}": values
            for rate in ("fnr", "fpr")
            for end, values in zip(("lower", "upper"), getattr(self, rate), strict=True)
        }

    def mass(self, posterior: ExactPosterior) -> Array:
        """Return the posterior mass inside the rectangle (BEDP, Section 3).

        Compare with ``posterior.cdf(upper) - posterior.cdf(lower)``, the mass of the region between
        the rectangle's two ε, which is larger.
        """
        total = np.ones(posterior.rates.fnr.size)
        for marginal, (low, high), (low_c, high_c) in (
            (posterior.rates.fnr, self.fnr, self.tpr),
            (posterior.rates.fpr, self.fpr, self.tnr),
        ):
            columns = (np.ravel(end)[:, None] for end in (high, low_c, low, high_c))
            high, low_c, low, high_c = columns
            total *= (marginal.cdf(high, low_c) - marginal.cdf(low, high_c))[:, 0]
        return total.reshape(posterior.shape)[()]


def rectangle(
    counts: AttackCounts,
    prob: float = 0.90,
    *,
    method: str = "clopper-pearson",
    split: Split = "bonferroni",
) -> Rectangle:
    """Return intervals of both rates at a common tail.

    Parameters
    ----------
    counts : AttackCounts
        One tally, or an array of tallies.
    prob : float
        Level in (0, 1).
    method : {"clopper-pearson", "jeffreys", "wilson"}
        See `bayesaudit.proportions.proportion_interval`.
    split : {"bonferroni", "none"}
        Tail (1 − prob)/4 for every end, or (1 − prob)/2.

    Examples
    --------
    BEDP's worked example is its δ = 0.05, 95 % Clopper–Pearson rectangle:

    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> box = rectangle(counts, 0.95)
    >>> [round(float(end), 5) for end in box.interval(ba.Epsilon(delta=0.05))]
    [0.29515, 1.48873]
    >>> round(float(box.mass(ba.posterior(counts, ba.Epsilon(delta=0.05)))), 4)
    0.963
    """
    prob = check_prob(prob)
    check_choice(method, "method", RECTANGLES)
    check_choice(split, "split", ("bonferroni", "none"))
    tail = (1 - prob) / (4 if split == "bonferroni" else 2)
    return Rectangle(
        fnr=proportion_interval(counts.fn, counts.n_pos, tail, method=method),
        fpr=proportion_interval(counts.fp, counts.n_neg, tail, method=method),
        tpr=proportion_interval(counts.tp, counts.n_pos, tail, method=method),
        tnr=proportion_interval(counts.tn, counts.n_neg, tail, method=method),
        method=method,
        prob=prob,
        tail=tail,
        split=split,
    )


# -- log ratios ----------------------------------------------------------------------------------


def _log_ratio_ends(
    counts: AttackCounts, measure: Epsilon, prob: float, method: str, split: Split
) -> tuple[Array, Array]:
    """Return the ends of the largest of the measure's log ratios, each with its own interval."""
    pos, neg = counts.n_pos, counts.n_neg
    terms: dict[str, tuple[Any, Any, Any, Any]] = {
        "fpr": (counts.tp, pos, counts.fp, neg),
        "fnr": (counts.tn, neg, counts.fn, pos),
    }
    chosen = [terms[name] for name in terms if measure.term in ("max", name)]
    if measure.folded:
        chosen += [(counts.fn, pos, counts.tn, neg), (counts.fp, neg, counts.tp, pos)]
    tail = (1 - prob) / 2 / (len(chosen) if split == "bonferroni" else 1)
    z = -float(special.ndtri(tail))
    ends = [_ratio_bounds(*term, delta=measure.delta, z=z, method=method) for term in chosen]
    lower = np.maximum.reduce([end[0] for end in ends])
    upper = np.maximum.reduce([end[1] for end in ends])
    return np.maximum(lower, 0.0), np.maximum(upper, 0.0)


def _ratio_bounds(
    hit: Array, n_hit: Array, miss: Array, n_miss: Array, *, delta: float, z: float, method: str
) -> tuple[Array, Array]:
    """Interval of log((hit/n_hit − δ) / (miss/n_miss)) by one of the four methods."""
    y1, n1, y2, n2 = np.broadcast_arrays(
        *(np.asarray(v, float) for v in (hit, n_hit, miss, n_miss))
    )
    none1, none2 = y1 == 0, y2 == 0
    full1, full2 = y1 == n1, y2 == n2
    if method != "bailey":  # the others correct full counts only where both are, for 0 variance
        full1 = full2 = full1 & full2
    y1, y2 = np.where(full1, n1 - 0.5, y1), np.where(full2, n2 - 0.5, y2)
    y1, n1, y2, n2 = CORRECTIONS[method](y1, n1, y2, n2, z)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        p1, p2 = y1 / n1, y2 / n2
        top = p1 - delta
        # Relative variances of the numerator and the denominator (delta method).
        v1, v2 = p1 * (1 - p1) / n1 / top**2, (1 - p2) / y2
        log_ratio = np.log(top / p2)
        if method == "bailey":
            spread = z / 3 * np.sqrt(v1 + v2 - z**2 * v1 * v2 / 9)
            scale = 1 - z**2 * v2 / 9
            below, above = (3 * np.log((1 + sign * spread) / scale) for sign in (-1, 1))
        else:
            step = z * np.sqrt(v1 + v2)
            above = 2 * np.arcsinh(step / 2) if method == "inv-sinh" else step
            below = -above
        lower, upper = log_ratio + below, log_ratio + above
    lower = np.where(none1 | (top <= 0) | np.isnan(lower), -np.inf, lower)
    upper = np.where(none2 | (top <= 0) | np.isnan(upper), np.inf, upper)
    return lower, upper


Correction = Callable[[Array, Array, Array, Array, float], tuple[Array, Array, Array, Array]]


def _half(y1: Array, n1: Array, y2: Array, n2: Array, z: float) -> tuple[Array, ...]:
    return np.where(y1 == 0, 0.5, y1), n1, np.where(y2 == 0, 0.5, y2), n2


def _walter(y1: Array, n1: Array, y2: Array, n2: Array, z: float) -> tuple[Array, ...]:
    return y1 + 0.5, n1 + 0.5, y2 + 0.5, n2 + 0.5


def _newcombe(y1: Array, n1: Array, y2: Array, n2: Array, z: float) -> tuple[Array, ...]:
    return np.where(y1 == 0, z**2, y1), n1, np.where(y2 == 0, z**2, y2), n2


#: What each method puts in place of a zero count.
CORRECTIONS: dict[str, Correction] = {
    "katz-log": _half,
    "adjusted-log": _walter,
    "bailey": _half,
    "inv-sinh": _newcombe,
}

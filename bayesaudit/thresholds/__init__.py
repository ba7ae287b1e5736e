"""Thresholds: how the operating point is chosen, declared as a strategy, and what it then proves.

A bound from a threshold that was chosen on the same rows does not hold: at a nominal 5 % it errs in
up to 16 % of audits with Clopper–Pearson ends and in up to 41 % with Jeffreys ends. Every strategy
here says what it promises, and the one that promises nothing is called "optimistic".
"""

from collections.abc import Callable
from typing import Any, get_args

from numpy.typing import ArrayLike

from bayesaudit._checks import check_choice, check_integers, check_number, check_prob
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Epsilon, Measure
from bayesaudit.rates import IndependentRates, Prior
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds._band import ConfidenceBand, confidence_band
from bayesaudit.thresholds._calibration import crossing_probability, local_level
from bayesaudit.thresholds._points import Method
from bayesaudit.thresholds._strategies import STRATEGIES, Question, Strategy, ThresholdBound

__all__ = [
    "STRATEGIES",
    "ConfidenceBand",
    "ThresholdBound",
    "confidence_band",
    "crossing_probability",
    "local_level",
    "threshold_bound",
]


def threshold_bound(
    scores: AttackScores,
    measure: Measure,
    prob: float = 0.90,
    *,
    strategy: Strategy = "band",
    method: Method | None = None,
    threshold: float | None = None,
    random_seed: int = 0,
    selection: float | ArrayLike = 0.3,
    n_splits: int = 11,
    grid: Any = 10,
    prior: Prior = "jeffreys",
    rates: Callable[[AttackCounts], IndependentRates] | None = None,
) -> ThresholdBound:
    """Return a lower bound on a measure from scores, with a declared choice of the threshold.

    Parameters
    ----------
    scores : AttackScores
        Scores; higher means "member". Rows count as independent, unless `method` or `rates` says
        that only models are.
    measure : Measure
        What is bounded, ``Epsilon(1e-5)`` say. The direction is declared by the scores, so that of
        a folded measure the one direction counts; a lower bound on it also bounds the folded one.
    prob : float
        Level in (0, 1): the bound errs by (1 − prob)/2.
    strategy : str
        "fixed"
            `threshold`, chosen without looking at these rows. Guaranteed with Clopper–Pearson.
        "band"
            `confidence_band`: exact at all thresholds at once, without a seed. The default for
            classical bounds.
        "split"
            The threshold is chosen on a random part of the rows, `selection` of each class, by
            models where there are several, and the bound rests on the other rows alone. The
            default for the posterior.
        "multi-split"
            The median of the bounds of `n_splits` such splits, each at a level corrected for that
            by Markov's inequality. It depends on the seed far less than one split.
        "bonferroni"
            The best of a grid of thresholds at level (1 − prob)/K. A grid of numbers declared
            beforehand is guaranteed. A number K stands for K quantiles of the pooled scores, which
            is blind to the labels; that the counts there are binomial is then an asymptotic
            statement.
        "optimistic"
            The best threshold on the same rows. **Not a bound.**
    method : {"clopper-pearson", "exact-unconditional", "two-direction", "betting"}, optional
        How counts become a bound. "exact-unconditional" is guaranteed like Clopper–Pearson,
        tighter and slower; "two-direction" is `two_direction_bound`, near nominal rather than
        guaranteed; "betting", for rows of several models and the strategies "fixed" and "split", is
        guaranteed whatever the dependence within a model (`betting_bound`). By default
        "two-direction" for "split", and Clopper–Pearson for the others.
    threshold : float
        The threshold of "fixed".
    random_seed : int
        Seed of the splits, >= 0: declare it before seeing the scores.
    selection : float or int or array_like of bool
        What chooses the threshold: a random fraction, in (0, 1); or, for "split", a declared part:
        the first so many rows, or a mask over the rows. Rows of a model stay together.
    n_splits : int
        Number of splits of "multi-split", odd.
    grid : int or array_like of float
        Size K of the label-blind grid of "bonferroni", or thresholds declared beforehand.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the rates for "two-direction".
    rates : callable, optional
        For rows of several models: what turns counts with a trailing ``model`` axis into
        posteriors of the two rates, in place of independent trials; ``beta_binomial_rates`` is
        one. For "two-direction" with the strategies "fixed" and "split".

    Returns
    -------
    ThresholdBound

    Raises
    ------
    ValueError, TypeError
        If an option is unknown, out of range, or does not go with the strategy.

    Notes
    -----
    Looking again as rows are added: K looks declared beforehand may each take any strategy at
    `calibration.looks_prob` (Bonferroni). A bound for looks without number needs a threshold that
    never changes (`ThresholdBound.frozen`): "fixed", or "split" with a declared part. A fraction is
    drawn anew at every look, and rows move from one part to the other: then
    `calibration.anytime_bound` errs far more often than stated (13 % for 5 %, randomised response
    at ε = log 19 with a look at every second of 300 rows).

    Quantiles of pooled scores depend on the labels through the counts of both classes alone, yet
    counts there are no longer exactly binomial: in simulations with 10 to 100 rows a class a single
    such threshold erred in at most 4.7 % of audits at a nominal 5 %.

    Median of splits: if every one of B bounds errs with probability a, then by Markov's inequality
    at least (B + 1)/2 of them err at once with probability at most 2Ba/(B + 1), which the level of
    a single split makes equal to (1 − prob)/2.

    References
    ----------
    Meinshausen, Meier and Bühlmann, "p-Values for High-Dimensional Regression", JASA 104 (2009)
    1671, arXiv:0811.2177, Section 3 (aggregated splits). Moscovich, Nadler and Spiegelman,
    arXiv:1311.3190, Section 3 (bands of equal local level).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> scores = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)
    >>> found = threshold_bound(scores, ba.Epsilon(delta=1e-5), strategy="band")
    >>> print(f"{found.lower:.4f} at {found.threshold:g}: {found.guarantee}")
    2.6513 at 100: guaranteed
    """
    if not isinstance(scores, AttackScores):
        raise TypeError(f"scores must be AttackScores, got {type(scores).__name__}.")
    if not isinstance(measure, Measure):
        raise TypeError(f"measure must be a Measure such as Epsilon(1e-5), got {measure!r}.")
    prob = check_prob(prob)
    check_choice(strategy, "strategy", STRATEGIES)
    if (threshold is not None) != (strategy == "fixed"):
        rule = "needs a threshold" if strategy == "fixed" else "takes no threshold"
        raise ValueError(f"strategy {strategy!r} {rule}, got {threshold!r}.")
    if method is None:
        posterior = strategy == "split" and isinstance(measure, Epsilon)
        method = "two-direction" if posterior else "clopper-pearson"
    check_choice(method, "method", get_args(Method))
    if method == "betting":
        if strategy not in ("fixed", "split"):
            raise ValueError(
                f'"betting" goes with the strategies fixed and split, got {strategy!r}.'
            )
        if scores.model is None:
            raise ValueError('"betting" needs scores with a model, got none.')
    if rates is not None:
        if method != "two-direction" or strategy not in ("fixed", "split"):
            raise ValueError('rates goes with "two-direction" and the strategies fixed and split.')
        if scores.model is None:
            raise ValueError("rates needs scores with a model, got none.")
    question = Question(scores, measure.one_direction(), prob, method, prior, rates)
    if strategy == "fixed":
        return question.fixed(check_number(threshold, "threshold"))
    if strategy in ("split", "multi-split"):
        seed = int(check_integers(random_seed, "random_seed"))
        count = 1
        if strategy == "multi-split":
            count = int(check_integers(n_splits, "n_splits", minimum=1))
            if count % 2 == 0:
                raise ValueError(f"n_splits must be odd, got {count}.")
        return question.split(strategy, selection, count, seed)
    if strategy == "bonferroni":
        return question.bonferroni(grid)
    return question.band() if strategy == "band" else question.optimistic()

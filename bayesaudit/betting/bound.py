"""The lower bound from counts of every model, and the ceiling of so many models."""

import math

import numpy as np

from bayesaudit._checks import check_integers, check_prob, check_probability
from bayesaudit._interval import Interval
from bayesaudit.betting._wealth import Wealth, lower_end
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.rates import check_models

__all__ = ["betting_bound", "betting_ceiling"]


def betting_bound(
    counts: AttackCounts, measure: Measure, prob: float = 0.90, *, random_seed: int = 0
) -> Interval:
    """Return a lower bound that holds under any dependence within a model (guaranteed).

    **Assumption**: models are trained independently, and the numbers of their trials are fixed
    beforehand. Trials of one model may depend on each other in any way, also across members and
    non-members. Where models differ in their numbers of trials, the trials of a model are to be
    exchangeable, for its fraction of errors to have its own rate as its mean.

    **Estimand**: the measure at the rates *averaged over models*, which is what DP bounds, every
    model counting alike however many trials it has. Models need not be alike: the bound holds for
    the average of their rates. (Those with one side only are supposed to be alike.) Challenge
    points that models share count as given: the rates are those at these points.

    Parameters
    ----------
    counts : AttackCounts, shape (..., n_models)
        One tally a trained model on the trailing axis; every other axis holds audits. A model
        without trials says nothing. Models with trials on one side only are put together, see
        Notes.
    measure : Epsilon, GaussianMu or Advantage
        What is bounded; a folded one ("both") spends a tenth of the capital on inverted attacks.
    prob : float
        Level in (0, 1): the bound errs with probability (1 − prob)/2 at most.
    random_seed : int
        Seed, declared beforehand, by which models with one side only are put together.

    Returns
    -------
    Interval
        Kind "lower", statement "confidence", method "betting", guarantee "guaranteed"; of shape
        ``counts.shape[:-1]``.

    Raises
    ------
    TypeError, ValueError
        If counts have no model axis, or the measure is none of these three.

    Notes
    -----
    Let (P, N) = (TPR, TNR) be a model's *observed* fractions. A line that supports the rates
    allowed at level ε is a pair a, b >= 0 with ``a TPR + b TNR <= 1`` for all of them, such as
    t = 1/(e^ε + δ) and 1 − δt, which is TPR − e^ε FPR <= δ. Then ``(1 − u) + u (a P + b N)`` has
    mean <= 1 for every stake u in [0, 1], and so has the product over independent models, and the
    average of such products over lines and stakes that are fixed beforehand. By Markov's
    inequality ε is rejected where that average reaches 2/(1 − prob). No other e-value of one model
    beats these: by linear duality each is at most a bet on a supporting line.

    Lines: for ε those along both log ratios (40 % each) and the one between them through the corner
    of the region; for the advantage its own; for μ those that touch the Gaussian curve at its
    points (ε, δ(ε)), ε = 0 (30 %), ±½, ±1, ±2, ±4. Stakes: 16 from 1.5 times √(2 log(1/α)/M), about
    the best one against the largest variance that M models can have, up to nearly 1, crowding
    there. They were chosen among prototypes for this: in no setting of a table more than 1 % below
    evenly spread stakes, and the largest mean gain (``bench_dependent.py``). The order of models
    has no influence; `anytime_models` uses a declared one.

    The bound is the smallest ε that is not rejected. Between two levels every product is at least
    the smaller of those at either (its log is concave in t, or in 1/(1 + advantage); for μ it
    falls), which certifies that nothing in between was missed.

    Models with members alone and models with non-members alone are put together at random into as
    many pairs, or groups, as the scarcer kind has models. The sides of a group are independent, and
    the line of equal a and b is then played as two stakes, one after the other: of K + K models
    that count as 2K. Measured against products of one bettor a side: within 3 % of the sharper of
    the two from 10 + 10 to 500 + 500 models.

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024,
    arXiv:2010.09686, Section 4. Shafer, "Testing by betting", JRSS A 2021. Vovk and Wang,
    "E-values", Ann. Statist. 2021, arXiv:1912.06116 (averages).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=[2] * 40, tp=[8] * 40, fp=[1] * 40, tn=[9] * 40)
    >>> print(f"{betting_bound(counts, ba.Epsilon(1e-5)).lower:.4f}")
    1.3293
    """
    counts, prob = check_models(counts), check_prob(prob)
    seed = int(check_integers(random_seed, "random_seed"))
    goal = -math.log((1 - prob) / 2)
    shape = counts.shape[:-1]
    lower = []
    for audit in np.ndindex(shape):
        rng = np.random.default_rng(seed)
        lower.append(lower_end(Wealth.once(counts[audit], measure, goal, rng), measure, goal))
    return Interval(
        lower=np.array(lower).reshape(shape)[()],
        upper=np.full(shape, measure.highest)[()],
        prob=prob,
        kind="lower",
        statement="confidence",
        method="betting",
        guarantee="guaranteed",
    )


def betting_ceiling(models: int, prob: float = 0.90, delta: float = 0.0) -> float:
    """Return the largest ε that any bound could show from so many models, whatever their trials.

    Trials of a model may be copies of one another, so that M models are worth M independent trials
    a side; with no error in any of them, ε is refuted only if (1 + (1 − δ)/(e^ε + δ))^M reaches
    1/α.

    Parameters
    ----------
    models : int
        Models with trials on both sides, >= 1. (K models with members alone and K without any
        count as 2K.)
    prob : float
        Level in (0, 1); α = (1 − prob)/2.
    delta : float
        δ in [0, 1].

    Examples
    --------
    >>> round(betting_ceiling(100), 4)
    3.493
    """
    models = int(check_integers(models, "models", minimum=1))
    delta = check_probability(delta, "delta")
    growth = math.expm1(-math.log((1 - check_prob(prob)) / 2) / models)
    top = (1 - delta) / growth - delta
    return max(math.log(top), 0.0) if top > 0 else 0.0

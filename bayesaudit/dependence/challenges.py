"""Challenge points that trained models share: a test for their effect, and a line that allows it.

Trials of one challenge point in several models err together, as trials of one model do. Counts by
model cannot show it, except by models that are more alike than chance makes them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_integers
from bayesaudit._interval import Interval
from bayesaudit._result import Result
from bayesaudit.counts import AttackCounts, member_bits
from bayesaudit.dependence.icc import icc
from bayesaudit.measures import Measure
from bayesaudit.posteriors import posterior
from bayesaudit.rates import Prior

__all__ = ["SharedChallenges", "crossed_interval", "negative_icc", "shared_challenges"]

Integers = NDArray[np.int64]
#: Level of the test, both sides together.
LEVEL = 0.05
#: Level at which a negative correlation is called one, both sides together.
NEGATIVE_LEVEL = 0.01
#: Permuted trials held at a time.
BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class SharedChallenges(Result):
    """Whether trials of one challenge point err together across trained models.

    Parameters
    ----------
    fnr, fpr : float
        Permutation p-value of each side; NaN where nothing is shared, or nothing varies.
    n_challenges : int
        Challenge points that occur in two models at least.
    n_models : int
        Trained models.
    n_permutations : int
        Permutations; the smallest p-value is 1/(n_permutations + 1).
    """

    fnr: float
    fpr: float
    n_challenges: int
    n_models: int
    n_permutations: int

    _also = ("pvalue", "detected", "message")

    @property
    def pvalue(self) -> float:
        """The smaller p-value times the number of sides tested; NaN where none was."""
        known = [p for p in (self.fnr, self.fpr) if np.isfinite(p)]
        return min(1.0, len(known) * min(known)) if known else float("nan")

    @property
    def detected(self) -> bool:
        """Whether the p-value is below .05."""
        return bool(self.pvalue < LEVEL)

    @property
    def message(self) -> str:
        """One plain sentence; "" where no challenge is shared."""
        if not self.n_challenges:
            return ""
        shared = f"{self.n_models} models share {self.n_challenges} challenge points"
        if self.detected:
            return (
                f"{shared}, and trials of one challenge err together (permutation p = "
                f"{self.pvalue:.2g}): an interval that lets trials depend on each other through "
                "their model alone is too narrow; use the crossed one."
            )
        told = "nothing to test" if np.isnan(self.pvalue) else f"permutation p = {self.pvalue:.2g}"
        return f"{shared}, and their trials show no sign of erring together ({told})."


def shared_challenges(
    *,
    guess: ArrayLike,
    member: ArrayLike,
    model: ArrayLike,
    challenge: ArrayLike,
    positive: Any = None,
    n_permutations: int = 999,
    random_seed: int = 0,
) -> SharedChallenges:
    """Test whether trials of one challenge point err together across trained models.

    Parameters
    ----------
    guess, member : array_like, shape (n,)
        What the attack said and the truth, as in `AttackCounts.from_guesses`.
    model, challenge : array_like, shape (n,)
        Labels of the trained model and of the challenge point of every trial.
    positive : object, optional
        The label that means "member".
    n_permutations : int
        Permutations, >= 99.
    random_seed : int
        Seed of the permutations.

    Returns
    -------
    SharedChallenges

    Notes
    -----
    Without effects of challenges the errors of one model and one side are exchangeable, whatever
    the model's own rate: they are permuted within model and side. The statistic is the sum over
    challenges of the squared sum of their errors less the model's mean. The test is exact.

    References
    ----------
    Phipson and Smyth, "Permutation P-values should never be zero", Statistical Applications in
    Genetics and Molecular Biology 9 (2010) 39, arXiv:1603.05766.

    Examples
    --------
    Two of four points fool every model:

    >>> found = shared_challenges(
    ...     guess=[0, 0, 1, 1] * 6 + [0] * 24, member=[1] * 24 + [0] * 24,
    ...     model=np.tile(np.repeat(range(6), 4), 2), challenge=list("abcd") * 12,
    ... )
    >>> found.detected, found.n_challenges
    (True, 4)
    """
    truth = member_bits(member, name="member", positive=positive)
    wrong = member_bits(guess, name="guess", positive=positive) != truth
    labels = {"model": np.asarray(model), "challenge": np.asarray(challenge)}
    for name, values in (*labels.items(), ("guess", wrong)):
        if values.shape != truth.shape:
            raise ValueError(
                f"{name} and member must have one length, got {values.size} and {truth.size}."
            )
    n_permutations = int(check_integers(n_permutations, "n_permutations", minimum=99))
    models, of_model = np.unique(labels["model"], return_inverse=True)
    points, of_point = np.unique(labels["challenge"], return_inverse=True)
    pairs = np.unique(of_point.astype(np.int64) * models.size + of_model) // models.size
    shared = int(np.sum(np.bincount(pairs, minlength=points.size) > 1))
    rng = np.random.default_rng(random_seed)
    sides = [
        _permuted(wrong[rows], of_model[rows], of_point[rows], n_permutations, rng)
        if shared
        else float("nan")
        for rows in (truth, ~truth)
    ]
    return SharedChallenges(*sides, shared, models.size, n_permutations)


def _permuted(
    wrong: NDArray[np.bool_], model: Integers, point: Integers, times: int, rng: np.random.Generator
) -> float:
    """Return the permutation p-value of one side."""
    if not wrong.size:
        return float("nan")
    order = np.argsort(model, kind="stable")
    wrong, model, point = wrong[order].astype(float), model[order], point[order]
    mean = np.bincount(model, wrong) / np.maximum(np.bincount(model), 1)
    residual = wrong - mean[model]
    if not residual.any():
        return float("nan")
    size = int(point.max()) + 1

    def statistic(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        index = np.arange(len(rows))[:, None] * size + point
        totals = np.bincount(index.ravel(), rows.ravel(), minlength=len(rows) * size)
        return np.sum(totals.reshape(len(rows), size) ** 2, axis=1)

    seen = statistic(residual[None])[0]
    above, step = 0, max(1, BLOCK // wrong.size)
    for first in range(0, times, step):
        keys = model + rng.random((min(step, times - first), wrong.size))
        above += int(np.sum(statistic(residual[np.argsort(keys, axis=1)]) >= seen * (1 - 1e-9)))
    return (above + 1) / (times + 1)


def negative_icc(counts: AttackCounts) -> str:
    """Return a sentence where models are more alike than chance makes them, else "".

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model.

    Notes
    -----
    The intra-model correlation is called negative where the upper end of its interval is below 0,
    at level .01 over both sides. Trials of one model cannot be negatively correlated by a property
    of the model; challenge points that all models share make them look so.

    Examples
    --------
    >>> alike = AttackCounts(fn=[24, 25] * 4, tp=[26, 25] * 4, fp=[20] * 8, tn=[30] * 8)
    >>> negative_icc(alike)[:51]
    'the intra-model correlation of FNR is negative (-0.'
    """
    found = icc(counts, 1 - NEGATIVE_LEVEL)
    for name in ("fnr", "fpr"):
        side = getattr(found, name)
        if side.identified and side.n_models > 2 and side.upper < 0:
            return (
                f"the intra-model correlation of {name.upper()} is negative ({side.estimate:.3f}, "
                f"upper end {side.upper:.3f}): models are more alike than chance makes them, as "
                "where all share the same challenge points; intervals by model are then too "
                "narrow. A column challenge lets that be tested and allowed for."
            )
    return ""


def crossed_interval(
    measure: Measure,
    prob: float = 0.90,
    *,
    guess: ArrayLike,
    member: ArrayLike,
    model: ArrayLike,
    challenge: ArrayLike,
    positive: Any = None,
    prior: Prior = "jeffreys",
) -> Interval:
    """Return an interval that allows for shared models and for shared challenge points.

    Parameters
    ----------
    measure : Measure
        What is measured.
    prob : float
        Level of the interval in (0, 1).
    guess, member, model, challenge, positive
        The trials, as in `shared_challenges`.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Beta prior of the rates.

    Returns
    -------
    Interval
        With the guarantee "approximate".

    Notes
    -----
    The wider of two exact beta-binomial intervals at each end: trials grouped by trained model with
    the default prior of their correlation, and grouped by challenge point with a uniform one, since
    points differ more than models do. Each grouping leaves the other out, so that neither is the
    posterior of a model of both; that model is `bayesaudit.models.crossed`, by sampling. Measured
    coverage of 90 % intervals is in the tests (50 models that share 10 points).

    References
    ----------
    Cameron, Gelbach and Miller, "Robust inference with multiway clustering", Journal of Business &
    Economic Statistics 29 (2011) 238, doi:10.1198/jbes.2010.07136 (why one way is not enough).
    """
    found = []
    for labels, icc_prior in ((model, "default"), (challenge, "uniform")):
        counts = AttackCounts.from_guesses(
            guess=guess, member=member, model=labels, positive=positive
        )
        post = posterior(
            counts, measure, prior=prior, dependence="beta-binomial", icc_prior=icc_prior
        )
        found.append(post.interval(prob))
    return Interval(
        lower=min(interval.lower for interval in found),
        upper=max(interval.upper for interval in found),
        prob=prob,
        kind="eti",
        statement="credible",
        method="beta-binomial by model and by challenge, the wider end of each",
        guarantee="approximate",
    )

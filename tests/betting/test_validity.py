"""The bound errs at most at its level: exactly in small audits, by simulation in larger ones."""

import itertools
import math

import numpy as np
import pytest
from scipy import special
from scipy.optimize import linprog

import bayesaudit as ba
from bayesaudit.betting._wealth import Wealth

MEASURES = {
    "epsilon member": ba.Epsilon(0.01, "member"),
    "epsilon both": ba.Epsilon(0.0),
    "one log ratio": ba.Epsilon(0.1, "member", "fpr"),
    "advantage": ba.Advantage(),
    "folded advantage": ba.Advantage(fold=True),
    "mu": ba.GaussianMu(),
}


def outcomes(models, trials):
    """All unordered audits of so many models, as counts and as numbers of models in each cell."""
    cells = np.array(list(itertools.product(range(trials + 1), repeat=2)))  # (tp, tn) of a model
    audits = np.array(list(itertools.combinations_with_replacement(range(len(cells)), models)), int)
    tp, tn = cells[audits, 0], cells[audits, 1]
    counts = ba.AttackCounts(fn=trials - tp, tp=tp, fp=trials - tn, tn=tn)
    occurs = np.stack([(audits == cell).sum(axis=1) for cell in range(len(cells))], axis=1)
    return counts, occurs, cells / trials


def laws(cells, rng):
    """Within-model laws on a grid: all-or-nothing, coupled, and sparse ones of any kind."""
    found = []
    corner = [
        int(np.flatnonzero((cells == c).all(axis=1))[0]) for c in ((0, 0), (0, 1), (1, 0), (1, 1))
    ]
    for weights in itertools.product(range(8), repeat=3):
        if sum(weights) <= 7:  # all or nothing on each side, coupled in every way
            law = np.zeros(len(cells))
            law[corner] = np.append(weights, 7 - sum(weights)) / 7
            found.append(law)
    for size in (2, 3, 4):  # a few outcomes only
        for _ in range(500):
            law = np.zeros(len(cells))
            law[rng.choice(len(cells), size, replace=False)] = rng.dirichlet(np.full(size, 0.7))
            found.append(law)
    return np.array(found)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@pytest.mark.parametrize(
    ("models", "trials", "prob"),
    [
        (6, 1, 0.9),
        (6, 1, 0.5),
        (4, 2, 0.5),
        pytest.param(6, 2, 0.9, marks=pytest.mark.slow),
        pytest.param(6, 2, 0.5, marks=pytest.mark.slow),
    ],
)
def test_errs_at_most_at_its_level_by_enumeration(measure, models, trials, prob):
    counts, occurs, cells = outcomes(models, trials)
    lower = ba.confidence_interval(counts, measure, prob, method="betting").lower
    law = laws(cells, np.random.default_rng(1))
    truth = measure.of(*(law @ (1 - cells)).clip(0, 1).T)
    with np.errstate(divide="ignore"):
        log_prob = special.gammaln(models + 1) - special.gammaln(occurs + 1).sum(axis=1)
        log_prob = log_prob[:, None] + special.xlogy(occurs[:, None, :], law[None]).sum(axis=2)
    error = np.where(lower[:, None] > truth + 1e-12, np.exp(log_prob), 0).sum(axis=0)
    assert error.max() <= (1 - prob) / 2
    assert error.max() > 0.1 * (1 - prob) / 2  # the level is within sight: the test can fail


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0], ids="ε = {}".format)
def test_errs_at_most_at_its_level_for_the_worst_laws_that_linear_programs_find(level):
    """Models of different laws, improved one at a time: given the others, an LP finds the worst."""
    trials, models, delta, significance = 2, 3, 0.05, 0.2
    measure = ba.Epsilon(delta, "member")
    cells = np.array(list(itertools.product(range(trials + 1), repeat=2)))
    index = np.array(list(itertools.product(range(len(cells)), repeat=models)))
    tp, tn = cells[index, 0], cells[index, 1]
    counts = ba.AttackCounts(fn=trials - tp, tp=tp, fp=trials - tn, tn=tn)
    lower = ba.confidence_interval(counts, measure, 1 - 2 * significance, method="betting").lower
    rejected = (lower > level).reshape((len(cells),) * models).astype(float)
    tpr, tnr = cells.T / trials
    # The two inequalities of (ε, δ)-DP, as they are written.
    inequalities = [tpr - math.exp(level) * (1 - tnr), tnr - math.exp(level) * (1 - tpr)]
    rng, worst = np.random.default_rng(2), 0.0
    for _ in range(6):
        law = list(rng.dirichlet(np.full(len(cells), 0.3), models))
        for turn in range(4 * models):
            one = turn % models
            others = [law[m] for m in range(models) if m != one]
            gain = np.einsum("abc,b,c->a", np.moveaxis(rejected, one, 0), *others)
            found = linprog(
                -gain,
                A_ub=inequalities,
                b_ub=[delta, delta],
                A_eq=np.ones((1, len(cells))),
                b_eq=[1.0],
            )
            law[one] = found.x
        worst = max(worst, -found.fun)
    assert worst <= significance + 1e-9
    assert level > 0 or worst > significance / 4


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@pytest.mark.parametrize("apart", [False, True], ids=["one model", "a pair of one-sided models"])
def test_no_bet_gains_on_average_by_linear_programming(measure, apart):
    """The largest mean of one row's factor, over all laws or all rates that the level allows."""
    cells = np.array(list(itertools.product((0, 1), repeat=2)))
    for level in (0.0, 0.3, 0.7):
        boundary = np.linspace(0, 1, 401)
        low, high = measure.region(level, boundary)
        if apart:
            x, y = np.concatenate([boundary] * 2), np.concatenate([low, high])
            means = np.stack([x * y, x * (1 - y), (1 - x) * y, (1 - x) * (1 - y)])
        for cell, (tp, tn) in enumerate(cells):
            one = ba.AttackCounts(fn=[1 - tp], tp=[tp], fp=[1 - tn], tn=[tn])
            if apart:
                one = ba.AttackCounts(fn=[1 - tp, 0], tp=[tp, 0], fp=[0, 1 - tn], tn=[0, tn])
            wealth = Wealth.once(one, measure, 3.0, np.random.default_rng(0))
            logs = wealth.logs(level)[:, 0]
            if cell == 0:
                gains = np.empty((4, logs.size))
            capital = np.log(np.repeat(wealth.lines.weight / 16, 16))
            gains[cell] = np.exp(logs - capital)
        if apart:  # cells in the order (tp, tn) = 00, 01, 10, 11; x = FNR, y = FPR
            assert np.max(means.T @ gains) <= 1 + 1e-12
            continue
        # A law of one model: mean rates in the convex hull of the region's boundary.
        fnr = np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
        points = np.stack([np.concatenate([boundary] * 2), np.concatenate([low, high])])
        points = points[:, np.concatenate([low <= high] * 2)]
        equal = np.zeros((4, 4 + points.shape[1]))
        equal[0, :4], equal[1, :4], equal[2, :4] = *fnr, np.ones(4)
        equal[:2, 4:], equal[3, 4:] = -points, 1.0
        for bet in range(0, gains.shape[1], 5):
            objective = np.append(-gains[:, bet], np.zeros(points.shape[1]))
            found = linprog(objective, A_eq=equal, b_eq=[0, 0, 1, 1])
            assert -found.fun <= 1 + 1e-9


# -- simulations -----------------------------------------------------------------------------------


def betas(rng, rate, icc, shape):
    kappa = (1 - icc) / icc
    return rng.beta(rate * kappa, (1 - rate) * kappa, shape)


def audits(kind, rng, shape, trials, fnr, fpr):
    """Counts of audits whose rates averaged over models are FNR and FPR."""
    if kind == "beta-binomial":
        fn = rng.binomial(trials, betas(rng, fnr, 0.1, shape))
        fp = rng.binomial(trials, betas(rng, fpr, 0.1, shape))
    elif kind == "all-or-nothing":
        fn, fp = (trials * rng.binomial(1, rate, shape) for rate in (fnr, fpr))
    elif kind == "coupled":  # both sides fail together where they can
        common = rng.random(shape)
        fn, fp = trials * (common < fnr), trials * (common < fpr)
    else:  # heterogeneous: from perfect models to some twice as bad as the average
        uneven = np.linspace(0, 2, shape[-1])
        fn, fp = (rng.binomial(trials, rate * uneven, shape) for rate in (fnr, fpr))
    return ba.AttackCounts(fn=fn, tp=trials - fn, fp=fp, tn=trials - fp)


@pytest.mark.parametrize("kind", ["beta-binomial", "all-or-nothing", "coupled", "heterogeneous"])
@pytest.mark.parametrize(
    ("models", "replicates"),
    [
        (20, 200),
        pytest.param(5, 2000, marks=pytest.mark.slow),
        pytest.param(100, 2000, marks=pytest.mark.slow),
        pytest.param(1000, 1000, marks=pytest.mark.slow),
    ],
)
def test_errs_at_most_at_its_level_by_simulation(kind, models, replicates, capsys):
    rng = np.random.default_rng([models, len(kind)])
    prob, measure = 0.8, ba.Epsilon(1e-5)
    for fnr, fpr in ((0.45, 0.45), (0.3, 0.05)):
        counts = audits(kind, rng, (replicates, models), 10, fnr, fpr)
        lower = ba.confidence_interval(counts, measure, prob, method="betting").lower
        error = float(np.mean(lower > measure.of(fnr, fpr)))
        mcse = math.sqrt(0.1 * 0.9 / replicates)
        with capsys.disabled():
            if replicates > 500:
                print(f"\n{kind}, {models} models: errs {error:.4f} (allowed .1, MCSE {mcse:.4f})")
        assert error <= 0.1 + 3 * mcse

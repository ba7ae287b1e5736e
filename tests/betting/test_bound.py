"""Values, limits and refusals of the betting bound."""

import math

import mpmath
import numpy as np
import pytest
from dependent_data import simulate

import bayesaudit as ba
from bayesaudit.betting import betting_bound, betting_ceiling
from bayesaudit.betting._wealth import Wealth


def bet(counts, measure, prob=0.9, **more):
    return betting_bound(counts, measure, prob, **more).lower


def alike(models, fn, tp, fp, tn):
    return ba.AttackCounts(
        **{n: [v] * models for n, v in zip(("fn", "tp", "fp", "tn"), (fn, tp, fp, tn), strict=True)}
    )


def joined(*counts):
    return ba.AttackCounts(
        **{n: np.concatenate([getattr(c, n) for c in counts]) for n in ("fn", "tp", "fp", "tn")}
    )


# -- a second computation: the docstring's formula in high precision, one model and bet at a time --


def wealth_by_mpmath(counts, epsilon, delta, prob, folded):
    mpmath.mp.dps = 40
    models = counts.shape[0]
    alpha = mpmath.mpf(1 - prob) / 2
    lowest = min(1.5 * mpmath.sqrt(2 * mpmath.log(1 / alpha) / models), mpmath.mpf("0.98"))
    e = mpmath.e ** mpmath.mpf(epsilon)
    total = mpmath.mpf(0)
    share = 1 - mpmath.mpf("0.1") * folded
    # (lambda of TPR − e FPR − δ, lambda of TNR − e FNR − δ) for a stake of 1, and its capital.
    lines = [((1, 0), 0.4), ((0.5, 0.5), 0.2), ((0, 1), 0.4)]
    for s in range(16):
        stake = lowest ** ((1 - mpmath.mpf(2 * s + 1) / 32) ** mpmath.mpf("2.5"))
        for (first, second), capital in lines:
            product = mpmath.mpf(1)
            turned = mpmath.mpf(1)
            for m in range(models):
                tpr = mpmath.mpf(int(counts.tp[m])) / int(counts.n_pos[m])
                tnr = mpmath.mpf(int(counts.tn[m])) / int(counts.n_neg[m])
                for p, n in ((tpr, tnr), (1 - tpr, 1 - tnr)):
                    z = first * (p - e * (1 - n) - delta) + second * (n - e * (1 - p) - delta)
                    factor = 1 + stake * z / (e + delta)
                    if p == tpr and n == tnr:
                        product *= factor
                    if (p, n) == (1 - tpr, 1 - tnr):
                        turned *= factor
            total += share * mpmath.mpf(str(capital)) / 16 * product
            if folded and first == second:
                total += (1 - share) / 16 * turned
    return total


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.2])
@pytest.mark.parametrize("folded", [False, True])
def test_wealth_at_the_bound_is_one_over_the_level_in_high_precision(delta, folded):
    counts = simulate(np.random.default_rng(3), 25, 20, 0.05, rates=(0.1, 0.06))
    measure = ba.Epsilon(delta, "both" if folded else "member")
    lower = bet(counts, measure)
    assert lower > 0.5
    assert float(wealth_by_mpmath(counts, lower, delta, 0.9, folded)) == pytest.approx(20, rel=1e-6)
    assert wealth_by_mpmath(counts, lower + 1e-6, delta, 0.9, folded) < 20


def test_the_bound_is_the_one_that_confidence_interval_returns():
    counts = alike(40, 2, 8, 1, 9)
    found = ba.confidence_interval(counts, ba.Epsilon(1e-5), 0.90, method="betting")
    assert found.lower == bet(counts, ba.Epsilon(1e-5))
    assert (found.upper, found.kind, found.statement) == (math.inf, "lower", "confidence")
    assert (found.method, found.guarantee, found.prob) == ("betting", "guaranteed", 0.90)
    assert found.error == pytest.approx(0.05)


# -- sharpness -------------------------------------------------------------------------------------


def evenly_spread(counts, delta):
    """Two directions at half the level each, 64 stakes sin² of mid-points: the first prototype."""
    stakes = np.sin((np.arange(64) + 0.5) / 64 * np.pi / 2) ** 2
    tpr, tnr = counts.tp / counts.n_pos, counts.tn / counts.n_neg
    best = 0.0
    for p, n in ((tpr, tnr), (tnr, tpr)):
        low, high = 0.0, 10.0
        while high - low > 1e-6:
            e = math.exp((low + high) / 2)
            z = (p - e * (1 - n) - delta) / (e + delta)
            wealth = np.exp(np.log1p(np.outer(stakes, z)).sum(axis=1)).mean()
            low, high = ((low + high) / 2, high) if wealth >= 40 else (low, (low + high) / 2)
        best = max(best, low)
    return best


#: models, trials a side, FNR, FPR, ICC -> median lower end of that prototype over 60 audits.
TABLE = {
    (100, 20, 0.35, 0.25, 0.0): 0.747,
    (100, 20, 0.35, 0.25, 0.1): 0.737,
    (40, 50, 0.2, 0.2, 0.05): 0.884,
    (20, 50, 0.05, 0.05, 0.1): 1.076,
    (200, 20, 0.05, 0.01, 0.02): 3.292,
    (100, 1, 0.35, 0.25, 0.0): 0.406,
    (1000, 1, 0.35, 0.25, 0.0): 0.754,
}


@pytest.mark.parametrize("setting", TABLE, ids=str)
def test_is_nowhere_much_below_evenly_spread_stakes(setting):
    models, trials, fnr, fpr, icc = setting
    counts = simulate(
        np.random.default_rng(11), models, trials, icc, rates=(fnr, fpr), audits=(15,)
    )
    found = np.median(bet(counts, ba.Epsilon(1e-5)))
    assert found >= 0.98 * np.median([evenly_spread(counts[i], 1e-5) for i in range(15)])


@pytest.mark.slow
@pytest.mark.parametrize("setting", TABLE, ids=str)
def test_medians_are_those_of_the_table_or_better(setting, capsys):
    models, trials, fnr, fpr, icc = setting
    rng = np.random.default_rng(12)
    counts = simulate(rng, models, trials, icc, rates=(fnr, fpr), audits=(400,))
    lower = bet(counts, ba.Epsilon(1e-5))
    median = float(np.median(lower))
    mcse = 1.25 * float(lower.std()) / math.sqrt(400)
    with capsys.disabled():
        print(f"\n{setting}: median {median:.3f} (MCSE {mcse:.3f}), table {TABLE[setting]}")
    assert median >= 0.98 * TABLE[setting]


@pytest.mark.parametrize("models", [8, 20, 100, 1000, 100_000])
def test_comes_near_the_ceiling_of_a_perfect_attack_and_never_above(models):
    lower = bet(alike(models, 0, 50, 0, 50), ba.Epsilon(0.0, "member"))
    top = betting_ceiling(models)
    assert top - 0.35 < lower < top
    assert top == pytest.approx(-math.log(0.05 ** (-1 / models) - 1))


def test_ceiling_has_its_limits():
    assert betting_ceiling(4) == 0.0
    assert betting_ceiling(10**6, delta=1.0) == 0.0
    # With δ the wealth of a perfect attack at the ceiling is exactly 1/α.
    e = math.exp(betting_ceiling(50, delta=0.1))
    assert (1 + 0.9 / (e + 0.1)) ** 50 == pytest.approx(20)


# -- invariances, monotonicity and limits ----------------------------------------------------------


def test_the_order_of_models_has_no_influence_and_audits_are_independent():
    rng = np.random.default_rng(4)
    counts = simulate(rng, 50, 8, 0.1, audits=(3,))
    lower = bet(counts, ba.Epsilon(1e-5))
    assert lower.shape == (3,)
    for audit in range(3):
        shuffled = counts[audit][rng.permutation(50)]
        assert bet(shuffled, ba.Epsilon(1e-5)) == pytest.approx(lower[audit], abs=1e-8)


def test_distinct_and_repeated_rows_agree():
    """Many distinct rows are multiplied in blocks, repeated ones counted."""
    rng = np.random.default_rng(5)
    few = simulate(rng, 400, 3, 0.1)
    wealth = Wealth.once(few, ba.Epsilon(0.01), 3.0, rng)
    assert wealth.rows.times is not None
    rows = wealth.rows
    repeated = [np.repeat(v, rows.times.astype(int)) for v in (rows.tpr, rows.tnr, rows.apart)]
    plain = Wealth(wealth.lines, type(rows)(*repeated), wealth.stakes)
    for level in (0.0, 0.4, 3.0):
        np.testing.assert_allclose(plain.logs(level), wealth.logs(level), rtol=1e-10)


def test_bounds_rise_with_the_evidence_and_fall_with_the_level():
    bounds = [bet(alike(models, 2, 8, 2, 8), ba.Epsilon(1e-5)) for models in (20, 50, 200, 5000)]
    assert bounds == sorted(bounds)
    assert 0 < bounds[0] and bounds[-1] < math.log(4)
    counts = alike(50, 2, 8, 2, 8)
    levels = [bet(counts, ba.Epsilon(1e-5), prob) for prob in (0.5, 0.9, 0.99)]
    assert levels == sorted(levels, reverse=True)
    deltas = [bet(counts, ba.Epsilon(delta, "member")) for delta in (0, 1e-5, 0.1, 0.5, 1)]
    assert deltas == sorted(deltas, reverse=True) and deltas[-1] == 0


@pytest.mark.parametrize("measure", [ba.Epsilon(0.5), ba.Epsilon(0.2, "member"), ba.GaussianMu()])
def test_every_level_below_the_bound_is_rejected(measure):
    """The wealth need not fall in ε where δ is large and TPR small: the infimum is returned."""
    rng, goal = np.random.default_rng(6), math.log(20)
    for _ in range(20):
        models = int(rng.integers(5, 60))
        tp = rng.binomial(4, rng.uniform(0, 1), models)
        fp = rng.binomial(4, rng.choice([0, 0, 0.1]), models)
        counts = ba.AttackCounts(fn=4 - tp, tp=tp, fp=fp, tn=4 - fp)
        lower = bet(counts, measure)
        wealth = Wealth.once(counts, measure, goal, rng)
        for level in np.linspace(0, max(lower, 0), 60):
            assert np.logaddexp.reduce(wealth.logs(level)[:, 0]) >= goal - 1e-9 or lower <= 0


def test_direction_both_sees_an_inverted_attack_and_member_does_not():
    right, wrong = alike(60, 1, 9, 1, 9), alike(60, 9, 1, 9, 1)
    assert bet(wrong, ba.Epsilon(1e-5, "member")) == 0
    assert 1 < bet(wrong, ba.Epsilon(1e-5)) < bet(right, ba.Epsilon(1e-5))
    assert bet(right, ba.Epsilon(1e-5)) < bet(right, ba.Epsilon(1e-5, "member"))
    assert bet(wrong, ba.Advantage()) < -0.5 < 0.5 < bet(wrong, ba.Advantage(fold=True))
    assert bet(wrong, ba.GaussianMu()) == -math.inf
    assert bet(wrong, ba.GaussianMu(fold=True)) > 1


def test_huge_levels_and_no_errors_do_not_overflow():
    counts = alike(100_000, 10, 10, 0, 20)  # no false positives: ε̂ is infinite
    wealth = Wealth.once(counts, ba.Epsilon(0.0), 3.0, np.random.default_rng(0))
    for level in (0.0, 50.0, math.exp(50)):
        assert np.isfinite(wealth.logs(level)).all()
    assert 9 < bet(counts, ba.Epsilon(0.0)) < betting_ceiling(100_000)
    assert 0.99 < bet(alike(100_000, 0, 9, 0, 9), ba.Advantage()) < 1


def test_without_evidence_the_bound_is_the_lowest_value():
    nothing = alike(30, 0, 0, 0, 0)
    assert bet(nothing, ba.Epsilon(1e-5)) == 0
    assert bet(nothing, ba.Advantage()) == -1
    assert bet(nothing, ba.GaussianMu()) == -math.inf
    assert bet(alike(30, 1, 9, 0, 0), ba.Epsilon(1e-5)) == 0  # members alone
    assert bet(alike(3, 0, 9, 0, 9), ba.Epsilon(1e-5)) == 0  # too few to show anything


def test_models_without_trials_and_unequal_sizes():
    counts = joined(alike(20, 2, 8, 1, 9), alike(20, 4, 16, 3, 27))
    alone = bet(counts, ba.Epsilon(1e-5))
    assert bet(joined(counts, alike(7, 0, 0, 0, 0)), ba.Epsilon(1e-5)) == alone
    # Every model counts alike: the same fractions from other numbers of trials are the same.
    assert bet(joined(alike(20, 2, 8, 1, 9), alike(20, 2, 8, 1, 9)), ba.Epsilon(1e-5)) == alone


# -- models with one side only ---------------------------------------------------------------------


def test_one_sided_models_are_grouped_by_a_seed_and_all_count():
    members, others = alike(10, 1, 19, 0, 0), alike(10, 0, 0, 1, 19)
    measure = ba.Epsilon(1e-5, "member")
    paired = bet(joined(members, others), measure)
    # 20 independent models show more than 10 with both sides.
    assert bet(alike(10, 1, 19, 1, 19), measure) + 0.2 < paired < betting_ceiling(20)
    rng = np.random.default_rng(8)
    fp = rng.binomial(20, 0.1, 35)
    more = ba.AttackCounts(fn=[0] * 35, tp=[0] * 35, fp=fp, tn=20 - fp)
    mixed = joined(members, more)
    assert bet(mixed, measure) == bet(mixed, measure, random_seed=0)
    seeds = [bet(mixed, measure, random_seed=seed) for seed in range(20)]
    assert np.std(seeds) < 0.05
    # Fewer models of the same rates on the other side show less.
    assert np.mean(seeds) > bet(joined(members, more[:10]), measure) - 0.1


def test_one_sided_models_err_at_most_at_the_level():
    """All-or-nothing models at a coin flip, by enumeration: K members against K others."""
    size, prob = 6, 0.6
    k, j = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    hits = (np.arange(size) < k[..., None]).astype(int)
    alarms = (np.arange(size) < j[..., None]).astype(int)
    none = np.zeros_like(hits)
    counts = ba.AttackCounts(
        fn=np.concatenate([1 - hits, none], -1),
        tp=np.concatenate([hits, none], -1),
        fp=np.concatenate([none, alarms], -1),
        tn=np.concatenate([none, 1 - alarms], -1),
    )
    measure = ba.Epsilon(0.0, "member")
    lower = bet(counts, measure, prob)
    worst = 0.0
    for x in np.linspace(0.02, 0.98, 49):
        for y in np.linspace(0.02, 0.98, 49):
            law = [math.comb(size, i) for i in range(size + 1)]
            first = law * x ** np.arange(size, -1, -1) * (1 - x) ** np.arange(size + 1)
            second = law * y ** np.arange(size + 1) * (1 - y) ** np.arange(size, -1, -1)
            error = np.outer(first, second)[lower > measure.of(x, y) + 1e-12].sum()
            worst = max(worst, float(error))
    assert 0.05 < worst <= (1 - prob) / 2


# -- refusals --------------------------------------------------------------------------------------


def test_refuses_what_it_cannot_bound():
    one = ba.AttackCounts(fn=1, tp=9, fp=1, tn=9)
    with pytest.raises(ValueError, match="counts must have a trailing model axis"):
        ba.confidence_interval(one, ba.Epsilon(1e-5), method="betting")
    counts = alike(5, 1, 9, 1, 9)
    with pytest.raises(TypeError, match="measure must be Epsilon, GaussianMu or Advantage"):
        betting_bound(counts, "epsilon")
    with pytest.raises(ValueError, match=r"prob must be in \(0, 1\), got 90.0; did you mean 0.9"):
        betting_bound(counts, ba.Epsilon(1e-5), 90)
    with pytest.raises(ValueError, match="random_seed must be >= 0, got -1"):
        betting_bound(counts, ba.Epsilon(1e-5), random_seed=-1)
    with pytest.raises(ValueError, match="models must be >= 1, got 0"):
        betting_ceiling(0)
    with pytest.raises(ValueError, match=r"delta must be in \[0, 1\], got 2.0"):
        betting_ceiling(10, delta=2)

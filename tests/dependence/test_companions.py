"""ICC, design effect, dispersion, tipping point, cluster bootstrap, XBern, LOO and comparison."""

import json

import numpy as np
import pytest
from dependent_data import counts_of, simulate
from scipy import special, stats

import bayesaudit as ba
from bayesaudit.dependence import (
    cluster_bootstrap,
    dispersion_test,
    icc,
    loo_by_model,
    tipping_point,
    xbern_bound,
    xbern_interval,
)
from bayesaudit.dependence import loo as loo_module

EPSILON = ba.Epsilon(1e-5)


# -- ICC -----------------------------------------------------------------------------------------


def anova_by_hand(k, n):
    """One-way ANOVA of the raw 0/1 trials."""
    groups = [np.repeat([1.0, 0.0], [a, b - a]) for a, b in zip(k, n, strict=True)]
    everything = np.concatenate(groups)
    between = sum(g.size * (g.mean() - everything.mean()) ** 2 for g in groups) / (len(groups) - 1)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (everything.size - len(groups))
    size = (everything.size - (np.array(n) ** 2).sum() / everything.size) / (len(groups) - 1)
    return (between - within) / (between + (size - 1) * within), size


@pytest.mark.parametrize("n", [[50] * 6, [10, 40, 25, 60, 3, 12]], ids=["equal", "unequal"])
def test_icc_is_the_anova_of_the_raw_trials(n):
    rng = np.random.default_rng(4)
    n = np.array(n)
    fn, fp = (rng.binomial(n, rng.beta(3, 5, n.size)) for _ in range(2))
    found = icc(ba.AttackCounts(fn=fn, tp=n - fn, fp=fp, tn=n - fp))
    for side, k in ((found.fnr, fn), (found.fpr, fp)):
        right, size = anova_by_hand(k, n)
        assert side.estimate == pytest.approx(right, rel=1e-12)
        assert side.mean_trials == pytest.approx(size, rel=1e-12)
        design = 1 + (size - 1) * max(right, 0)
        assert side.design_effect == pytest.approx(design)
        assert side.n_eff == pytest.approx(n.sum() / design)
        assert side.n_eff_per_model == pytest.approx(size / design)


def test_jackknife_against_a_loop():
    counts = counts_of("D1")
    left_out = []
    for j in range(10):
        kept = np.arange(10) != j
        left_out.append(anova_by_hand(counts.fn[kept], counts.n_pos[kept])[0])
    right = np.sqrt(9 / 10 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    assert icc(counts).fnr.standard_error == pytest.approx(right, rel=1e-10)


def test_icc_is_right_on_average_and_its_interval_covers():
    rng, truth = np.random.default_rng(8), 0.1
    counts = simulate(rng, 25, 40, truth, audits=(400,))
    found = [icc(counts[i]).fnr for i in range(400)]
    estimates = np.array([side.estimate for side in found])
    assert abs(estimates.mean() - truth) < 4 * estimates.std() / 20 + 0.004
    covered = np.mean([side.lower <= truth <= side.upper for side in found])
    # Its promise is "approximate": the F distribution is that of normal data.
    assert 0.82 < covered < 0.96
    independent = simulate(rng, 25, 40, 0.0, audits=(200,))
    zero = np.array([icc(independent[i]).fpr.estimate for i in range(200)])
    assert abs(zero.mean()) < 4 * zero.std() / np.sqrt(200) and zero.min() < 0


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"fn": [5], "tp": [5], "fp": [2], "tn": [8]}, "1 model with trials"),
        ({"fn": [1, 0, 1], "tp": [0, 1, 0], "fp": [2, 2, 2], "tn": [8, 8, 8]}, "one trial a model"),
        ({"fn": [0, 0], "tp": [9, 9], "fp": [2, 3], "tn": [8, 7]}, "came out the same"),
        ({"fn": [0, 0], "tp": [0, 0], "fp": [2, 3], "tn": [8, 7]}, "no models with trials"),
    ],
)
def test_icc_says_why_it_is_not_identified(cells, reason):
    found = icc(ba.AttackCounts(**cells))
    assert not found.identified and reason in found.fnr.reason
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["fnr"]["estimate"] is None and plain["fnr"]["reason"]


def test_icc_limits():
    split = icc(ba.AttackCounts(fn=[20, 0], tp=[0, 20], fp=[3, 4], tn=[7, 6]))
    assert split.fnr.estimate == pytest.approx(1.0) and split.fnr.n_eff == pytest.approx(2.0)
    assert np.isnan(split.fnr.lower) and split.to_dict()["fnr"]["upper"] is None
    assert split.fpr.estimate < 0 and split.fpr.design_effect == 1.0
    with pytest.raises(ValueError, match="trailing model axis"):
        icc(ba.AttackCounts(fn=1, tp=1, fp=1, tn=1))
    with pytest.raises(ValueError, match="one audit"):
        icc(simulate(np.random.default_rng(0), 3, 5, 0.1, audits=(2,)))


# -- dispersion ----------------------------------------------------------------------------------


def test_dispersion_rejects_dependent_data_and_is_uniform_for_independent_data():
    found = dispersion_test(counts_of("D1"))
    assert found.fnr < 0.01 and found.fpr < 0.01 and found.p_value == 2 * min(found.fnr, found.fpr)
    rng = np.random.default_rng(11)
    data = simulate(rng, 12, 30, 0.0, audits=(150,))
    p = [dispersion_test(data[i], n_replicates=400, random_seed=i).fnr for i in range(150)]
    assert stats.kstest(p, "uniform").pvalue > 0.001
    single = dispersion_test(counts_of("D3"))
    assert np.isnan(single.p_value) and single.to_dict()["fnr"] is None


def test_dispersion_statistic_is_pearsons():
    counts = counts_of("D1")
    table = np.array([counts.fn, counts.tp])
    right = stats.chi2_contingency(table, correction=False).statistic / 9
    assert dispersion_test(counts).statistic_fnr == pytest.approx(right, rel=1e-12)


# -- leave one model out -------------------------------------------------------------------------


def test_loo_of_the_independent_model_by_hand():
    counts = counts_of("D1")
    found = loo_by_model(counts, "independent")["fnr"]
    for j in range(10):
        others = np.arange(10) != j
        a, b = counts.fn[others].sum() + 0.5, counts.tp[others].sum() + 0.5
        assert found[j] == pytest.approx(stats.betabinom.logpmf(counts.fn[j], 50, a, b), rel=1e-9)


def test_loo_of_the_beta_binomial_against_a_grid():
    counts = counts_of("D1")
    theta, r = (np.arange(1200) + 0.5) / 1200 * np.pi / 2, np.linspace(-14, 4, 900)
    mu, icc_ = np.sin(theta)[:, None] ** 2, special.expit(r)
    kappa = (1 - icc_) / icc_
    each = np.array(
        [
            special.betaln(k + mu * kappa, 50 - k + (1 - mu) * kappa)
            - special.betaln(mu * kappa, (1 - mu) * kappa)
            for k in counts.fp
        ]
    )
    total = each.sum(axis=0) + np.log(stats.beta.pdf(icc_, 1, 9) * icc_ * (1 - icc_))
    all_in = special.logsumexp(total)
    choose = -np.log(51) - special.betaln(counts.fp + 1, counts.tn + 1)
    right = [all_in - special.logsumexp(total - one) for one in each] + choose
    assert loo_by_model(counts)["fpr"] == pytest.approx(right, abs=1e-7)


@pytest.mark.parametrize("truth", [0.0, 0.1])
def test_loo_by_refits_equals_the_identity(truth, monkeypatch):
    counts = simulate(np.random.default_rng(1), 15, 60, truth)
    found = loo_by_model(counts)
    monkeypatch.setattr(loo_module, "REFITS", 100)
    refits = loo_by_model(counts)
    for side in ("fnr", "fpr"):
        assert found[side] == pytest.approx(refits[side], abs=1e-7)


# -- comparison ----------------------------------------------------------------------------------


def test_dependent_data_reject_the_independent_model():
    found = ba.compare(counts_of("D1"))
    assert found.best == found.preferred == "beta-binomial" and found.rejects_independence
    sides = [found.evidence[side] for side in ("fnr", "fpr")]
    assert found.dispersion.p_value < 0.01
    assert any(side["difference"] > 2 * side["se"] for side in sides)
    assert "not independent" in found.sentence
    json.dumps(found.to_dict(), allow_nan=False)


def test_independent_data_prefer_the_independent_model():
    rng = np.random.default_rng(21)
    found = [ba.compare(simulate(rng, 10, 50, 0.0)) for _ in range(40)]
    preferred = [comparison.preferred == "independent" for comparison in found]
    # Two dispersion tests at .01 and three LOO differences may err in a few of forty.
    assert np.mean(preferred) >= 0.9
    gain = [comparison.evidence["both"]["difference"] for comparison in found]
    assert np.mean(gain) < 0
    sentence = next(c.sentence for c in found if c.preferred == "independent")
    assert "do not reject independence" in sentence and "room for correlations" in sentence


def test_comparison_of_one_model_is_refused():
    with pytest.raises(ValueError, match="not identified"):
        ba.compare(counts_of("D3"))


# -- tipping point -------------------------------------------------------------------------------


def test_tipping_point_of_one_model():
    curve = tipping_point(counts_of("D3"), EPSILON)
    assert "not identified, the interval is prior-driven" in curve.message
    assert not curve.identified and curve.icc.tolist() == [0.0, 0.01, 0.1, 0.3]
    assert np.all(np.diff(curve.upper) > 0)
    pooled = ba.posterior(counts_of("D3").pooled(), EPSILON)
    assert (curve.lower[0], curve.upper[0]) == pytest.approx(tuple(pooled.interval(0.9)), abs=1e-9)
    # By a direct 1-D grid for each side, 400,000 draws: see the brute force below.
    rng = np.random.default_rng(0)
    theta = (np.arange(100_000) + 0.5) / 100_000 * np.pi / 2
    mu, kappa = np.sin(theta) ** 2, 0.9 / 0.1
    rates = []
    for k in (280, 176):
        weight = stats.betabinom.pmf(k, 500, mu * kappa, (1 - mu) * kappa)
        rates.append(rng.choice(mu, 400_000, p=weight / weight.sum()))
    sampled = EPSILON.of(*rates)
    assert np.mean(sampled <= curve.upper[2]) == pytest.approx(0.95, abs=0.0015)
    assert np.mean(sampled <= curve.lower[2]) == pytest.approx(0.05, abs=0.0015)


def test_tipping_point_reads_and_refuses():
    single = ba.AttackCounts(fn=5, tp=95, fp=5, tn=95)
    curve = tipping_point(single, EPSILON, icc=(0.0, 0.05, 0.2))
    assert curve.n_models == 1
    level = float(curve.lower[1])
    assert curve.icc_at_lower(level) == pytest.approx(0.05)
    assert curve.icc_at_lower(0.0) == 0.2 and np.isnan(curve.icc_at_lower(99.0))
    json.dumps(curve.to_dict(), allow_nan=False)
    assert tipping_point(counts_of("D1"), EPSILON).identified
    with pytest.raises(ValueError, match="increasing"):
        tipping_point(single, EPSILON, icc=(0.1, 0.1))
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        tipping_point(single, EPSILON, icc=(1.0,))


# -- cluster bootstrap and XBern -----------------------------------------------------------------


def test_cluster_bootstrap_resamples_models_with_both_sides():
    counts = counts_of("D1")
    found = cluster_bootstrap(counts, EPSILON, n_resamples=4000, random_seed=3)
    assert (found.statement, found.guarantee) == ("confidence", "approximate")
    rng, values = np.random.default_rng(5), []
    for _ in range(4000):
        pick = rng.integers(0, 10, 10)
        fn, tp, fp, tn = (
            cell[pick].sum() + 0.5 for cell in (counts.fn, counts.tp, counts.fp, counts.tn)
        )
        x, y = fn / (fn + tp), fp / (fp + tn)
        ends = np.log((1 - 1e-5 - y) / x), np.log((1 - 1e-5 - x) / y)
        values.append([*ends, *np.negative(ends)])
    # Two log-ratios of either direction: each of the four lower ends has a quarter of the tail.
    for end, level in zip(found, (0.0125, 0.95), strict=True):
        # Both ends are quantiles of 4000 resamples: four standard errors of their difference.
        half = 4 * np.sqrt(2 * level * (1 - level) / 4000)
        low, high = np.quantile(values, [level - half, level + half], axis=0).max(axis=1)
        assert low <= end <= high
    again = cluster_bootstrap(counts, EPSILON, n_resamples=4000, random_seed=3)
    assert tuple(again) == tuple(found)
    with pytest.raises(ValueError, match="at least two models"):
        cluster_bootstrap(counts_of("D3"), EPSILON)
    zero = ba.AttackCounts(fn=[0, 1], tp=[9, 8], fp=[0, 1], tn=[9, 8])
    assert cluster_bootstrap(zero, EPSILON, smoothing=0.0).upper == np.inf


def test_xbern_bounds_are_the_roots_of_their_quadratics():
    k, n, tail = np.array([3, 5, 4, 2, 6, 8, 1, 3, 5, 4] * 10), 20, 0.05
    models, first = k.size, np.mean(k / n)
    z = stats.norm.isf(tail)
    roots = np.roots([models + z**2, -(2 * models * first + z**2), models * first**2])
    assert xbern_bound(k, n, tail, order=1) == pytest.approx(roots.max(), rel=1e-12)
    z = stats.norm.isf(tail / 2)
    second = np.mean(k * (k - 1) / (n * (n - 1)))
    upper = np.roots([models + z**2, -(2 * models * second + z**2), models * second**2]).max()
    mu = xbern_bound(k, n, tail, order=2)
    variance = mu / n + (n - 1) / n * upper - mu**2
    # At the bound the observed mean lies z standard errors below.
    assert (mu - first) ** 2 == pytest.approx(z**2 * variance / models, rel=1e-9)
    assert mu < xbern_bound(k, n, tail, order=1)
    assert xbern_bound(n - k, n, tail, side="lower") == pytest.approx(1 - mu, rel=1e-12)


def test_xbern_bounds_cover():
    rng, truth = np.random.default_rng(2), 0.3
    p = rng.beta(truth * 9, 0.7 * 9, (400, 60))
    k = rng.binomial(30, p)
    for order in (1, 2):
        bounds = np.array([xbern_bound(row, 30, 0.05, order=order) for row in k])
        assert np.mean(bounds >= truth) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)


def test_xbern_interval_and_errors():
    counts = simulate(np.random.default_rng(4), 200, 20, 0.05)
    one, two = (xbern_interval(counts, EPSILON, order=order) for order in (1, 2))
    assert one.lower <= two.lower < two.upper <= one.upper and two.guarantee == "asymptotic"
    with pytest.raises(ValueError, match="equal numbers of members"):
        xbern_interval(ba.AttackCounts(fn=[1, 2], tp=[3, 9], fp=[1, 1], tn=[1, 1]), EPSILON)
    for k, n, tail, options, message in [
        ([1, 2], 1, 0.05, {}, "at most n"),
        ([1], 5, 0.05, {}, "at least two models"),
        ([1, 2], 5, 0.7, {}, "tail must be"),
        ([1, 2], 5, 0.05, {"order": 3}, "order must be"),
        ([1, 2], 5, 0.05, {"side": "both"}, "side must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            xbern_bound(k, n, tail, **options)


# -- the two-direction bound ---------------------------------------------------------------------


def test_two_direction_bound_of_dependent_samples():
    counts = counts_of("D1")
    pooled = ba.two_direction_bound(counts.pooled(), 1e-5)
    assert ba.two_direction_bound(counts, 1e-5, dependence="independent").lower == pytest.approx(
        float(pooled.lower), abs=1e-12
    )
    dependent = ba.two_direction_bound(counts, 1e-5, dependence="beta-binomial")
    ends = [
        ba.posterior(counts, ba.Epsilon(1e-5, "member", term), dependence="beta-binomial").quantile(
            0.025
        )
        for term in ("fnr", "fpr")
    ]
    assert dependent.lower == pytest.approx(max(ends), rel=1e-12) and max(ends) < pooled.lower
    # One log-ratio against draws of its two rates by inversion of the marginals.
    post = ba.posterior(counts, ba.Epsilon(1e-5, "member", "fnr"), dependence="beta-binomial")
    q = (np.arange(400) + 0.5) / 400
    fnr, fpr = (
        np.array([float(marginal.quantile(p)[0]) for p in q])
        for marginal in (post.rates.fnr, post.rates.fpr)
    )
    grid = post.measure.of(fnr[:, None], fpr[None, :])
    assert np.mean(grid <= post.quantile(0.2)) == pytest.approx(0.2, abs=2e-3)

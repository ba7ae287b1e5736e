"""Exact coverage by enumeration, and simulation-based calibration of the exact engine."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesaudit as ba
from bayesaudit.calibration import PIT, coverage, expected, sbc_exact
from bayesaudit.calibration._lattice import survival_above
from bayesaudit.calibration._methods import ends
from bayesaudit.calibration._outcomes import Outcomes, binomial_window

BOTH, MEMBER = ba.Epsilon(1e-5), ba.Epsilon(1e-5, "member")


@pytest.mark.parametrize(
    ("measure", "fnr", "fpr", "n", "lower"),
    [
        (MEMBER, 0.5, 0.5, 100, 0.948),
        (BOTH, 0.5, 0.5, 100, 0.0),
        (BOTH, 0.35, 0.25, 100, 0.945),
        (BOTH, 0.05, 0.02, 100, 0.866),
        (BOTH, 0.01, 0.01, 1000, 0.783),
        (BOTH, 0.1, 0.1, 500, 0.832),
    ],
)
def test_coverage_of_the_joint_jeffreys_lower_bound(measure, fnr, fpr, n, lower):
    """Values of the design notes, from an independent program."""
    assert coverage(measure, fnr, fpr, n, n).lower == pytest.approx(lower, abs=0.002)


SIMULATED = [
    ("posterior", BOTH, 0.35, 0.25, 60, 40, 0.9),
    ("posterior", MEMBER, 0.1, 0.1, 50, 50, 0.8),
    ("posterior", BOTH, 0.5, 0.45, 30, 30, 0.9),
    ("posterior", ba.Epsilon(0.05, "member", "fnr"), 0.1, 0.3, 80, 20, 0.9),
    ("posterior", ba.GaussianMu(), 0.3, 0.2, 40, 60, 0.9),
    ("posterior", ba.Advantage(fold=True), 0.4, 0.5, 40, 40, 0.9),
    ("two-direction", MEMBER, 0.1, 0.1, 60, 60, 0.9),
    ("clopper-pearson", BOTH, 0.02, 0.05, 50, 50, 0.9),
    ("wilson", MEMBER, 0.2, 0.1, 60, 60, 0.9),
    ("katz-log", MEMBER, 0.2, 0.1, 60, 60, 0.95),
    ("exact-unconditional", MEMBER, 0.15, 0.15, 16, 14, 0.9),
]


@pytest.mark.parametrize("case", SIMULATED, ids=lambda case: f"{case[0]}-{case[2]}-{case[3]}")
def test_coverage_equals_a_simulation_of_1e5_audits(case):
    method, measure, fnr, fpr, n_pos, n_neg, prob = case
    found = coverage(measure, fnr, fpr, n_pos, n_neg, prob=prob, method=method)
    rng = np.random.default_rng(11)
    size = 100_000
    drawn = np.stack([rng.binomial(n_pos, fnr, size), rng.binomial(n_neg, fpr, size)], axis=1)
    cells, times = np.unique(drawn, axis=0, return_counts=True)
    counts = ba.AttackCounts(
        fn=cells[:, 0], tp=n_pos - cells[:, 0], fp=cells[:, 1], tn=n_neg - cells[:, 1]
    )
    lower, upper = ends(method, counts, measure, prob, "jeffreys")
    truth = measure.of(fnr, fpr)
    assert found.truth == truth
    for name, held in (
        ("lower", lower <= truth),
        ("upper", truth <= upper),
        ("both", (lower <= truth) & (truth <= upper)),
    ):
        share, exact = np.sum(times[held]) / size, getattr(found, name)
        error = max(math.sqrt(exact * (1 - exact) / size), 1 / size)
        assert abs(share - exact) <= 4 * error


def test_maps_agree_with_single_settings():
    """More than a hundred pairs go by the table of interval ends, a few by one value of the CDF."""
    x, y = np.meshgrid(np.linspace(0.02, 0.6, 11), np.linspace(0.02, 0.6, 11))
    for method, measure in (("posterior", BOTH), ("two-direction", MEMBER)):
        whole = coverage(measure, x, y, 15, 12, method=method)
        assert whole.lower.shape == (11, 11)
        for at in ((0, 0), (3, 8), (10, 10)):
            one = coverage(measure, x[at], y[at], 15, 12, method=method)
            for name in ("lower", "upper", "both"):
                assert getattr(one, name) == pytest.approx(getattr(whole, name)[at], abs=1e-9)


def test_settings_broadcast_over_rates_and_sizes():
    found = coverage(MEMBER, [[0.1], [0.3]], 0.2, [20, 40], 30, method="clopper-pearson")
    assert found.both.shape == (2, 2)
    one = coverage(MEMBER, 0.3, 0.2, 40, 30, method="clopper-pearson")
    assert found.both[1, 1] == pytest.approx(one.both, abs=1e-12)
    assert found.n_pos.tolist() == [[20, 40], [20, 40]]
    assert found.to_dict()["method"] == "clopper-pearson"


def test_any_function_is_a_method():
    def never_below(counts, measure, prob):
        return np.zeros(counts.shape), np.full(counts.shape, np.inf)

    found = coverage(BOTH, 0.2, 0.1, 20, 20, method=never_below)
    assert found.both == pytest.approx(1, abs=1e-9) and found.method == "never_below"


def test_uniform_prior_has_another_coverage():
    jeffreys, uniform = (
        coverage(BOTH, 0.02, 0.02, 100, 100, prior=p) for p in ("jeffreys", "uniform")
    )
    assert uniform.lower > jeffreys.lower + 0.05


def test_expected_ends_equal_a_direct_sum():
    found = expected(MEMBER, 0.3, 0.2, 12, 10)
    total_lower = total_width = 0.0
    for fn in range(13):
        for fp in range(11):
            weight = stats.binom.pmf(fn, 12, 0.3) * stats.binom.pmf(fp, 10, 0.2)
            counts = ba.AttackCounts(fn=fn, tp=12 - fn, fp=fp, tn=10 - fp)
            lower, upper = ba.posterior(counts, MEMBER).interval(0.9)
            total_lower += weight * lower
            total_width += weight * (upper - lower)
    assert found.lower == pytest.approx(total_lower, abs=1e-8)
    assert found.width == pytest.approx(total_width, abs=1e-8)


def test_expected_ends_of_many_outcomes_are_thinned_without_harm(monkeypatch):
    import sys

    module = sys.modules["bayesaudit.calibration.coverage"]
    results = []
    for limit in (10**9, 1):
        monkeypatch.setattr(module, "STRIDE_FROM", limit)
        results.append(expected(MEMBER, 0.35, 0.25, 120, 120))
    assert results[1].lower == pytest.approx(results[0].lower, abs=1e-5)
    assert results[1].width == pytest.approx(results[0].width, abs=1e-5)


@pytest.mark.parametrize(
    "measure",
    [BOTH, MEMBER, ba.Epsilon(0.05, "member", "fpr"), ba.GaussianMu(fold=True), ba.Advantage()],
    ids=repr,
)
def test_lattice_gives_what_every_single_posterior_gives(measure):
    outcomes = Outcomes(34, 20, np.arange(35), np.arange(21))
    post = ba.posterior(outcomes.counts(), measure, prior=(0.7, 1.2))
    for level in (0.05, 0.3, 0.9):
        survival = post.sf(level)
        thresholds = (0.05, 0.5, 0.95)
        found = survival_above(outcomes, measure, level, thresholds, (0.7, 1.2))
        for threshold, above in zip(thresholds, found, strict=True):
            np.testing.assert_array_equal(above, survival > threshold)


def test_lattice_below_and_above_the_range_of_a_measure():
    outcomes = Outcomes(5, 5, np.arange(6), np.arange(6))
    assert survival_above(outcomes, BOTH, -1.0, (0.5,), "jeffreys")[0].all()
    assert not survival_above(outcomes, ba.Advantage(), 1.0, (0.5,), "jeffreys")[0].any()
    assert not survival_above(outcomes, BOTH, math.inf, (0.5,), "jeffreys")[0].any()


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (20, 0.0), (20, 1.0), (1000, 0.01), (40_000, 0.3)])
def test_window_leaves_out_what_it_says(n, p):
    low, high = binomial_window(n, p)
    outside = stats.binom.cdf(low - 1, n, p) + stats.binom.sf(high, n, p)
    assert outside <= 1e-10
    assert stats.binom.pmf(low, n, p) > 0 or n * p == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fnr": 1.5}, r"fnr must be in \[0, 1\]"),
        ({"n_pos": 0}, "n_pos must be >= 1"),
        ({"prob": 90}, "did you mean"),
        ({"method": "magic"}, "method must be one of"),
        ({"method": "two-direction"}, "two log ratios"),
    ],
)
def test_refusals(change, message):
    setting = {"fnr": 0.1, "fpr": 0.1, "n_pos": 10, "n_neg": 10, **change}
    with pytest.raises(ValueError, match=message):
        coverage(BOTH, **setting)


# -- simulation-based calibration ------------------------------------------------------------------


@pytest.mark.parametrize(
    "measure", [BOTH, MEMBER, ba.Epsilon(0.1, "member", "fnr"), ba.GaussianMu()], ids=repr
)
def test_exact_engine_is_calibrated(measure):
    found = sbc_exact(measure, 40, 25, random_seed=5, replicates=3000)
    assert found.p_value > 0.005
    assert found.to_dict()["replicates"] == 3000


def test_a_wrong_prior_is_caught():
    found = sbc_exact(
        MEMBER, 10, 10, random_seed=5, replicates=3000, prior="uniform", analysis_prior="jeffreys"
    )
    assert found.p_value < 1e-6


def test_distance_from_uniformity_is_kolmogorovs():
    values = np.random.default_rng(1).random(500) ** 1.05
    found = PIT.of(values)
    other = stats.kstest(values, "uniform", method="asymp")
    assert found.distance == pytest.approx(other.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(other.pvalue, rel=1e-9)

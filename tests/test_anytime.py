"""The bound that holds at all times at once, and its e-process."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import bayesaudit as ba
from bayesaudit.anytime import anytime_bound, log_e_value
from bayesaudit.calibration import simulate_looks

MEMBER = ba.Epsilon(1e-5, "member")


@pytest.mark.parametrize(("k", "n", "p"), [(0, 10, 0.3), (4, 25, 0.5), (9, 10, 0.2), (30, 90, 0.9)])
def test_e_value_is_its_integral(k, n, p):
    prior = stats.beta(0.5, 0.5)

    def integrand(theta):
        q = math.sin(theta) ** 2
        ratio = k * math.log(max(q, 1e-300) / p) + (n - k) * math.log((1 - q) / (1 - p))
        # The density of Beta(1/2, 1/2) in the angle is constant, 2/pi.
        return math.exp(ratio) * 2 / math.pi

    value, _ = integrate.quad(integrand, 0, math.asin(math.sqrt(p)), epsabs=1e-13)
    expected = math.log(value / prior.cdf(p))
    assert log_e_value(k, n - k, np.array([p]))[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("n", "rate", "p"), [(12, 0.4, 0.4), (12, 0.6, 0.4), (30, 0.1, 0.1)])
def test_e_value_has_mean_at_most_one_under_its_null(n, rate, p):
    values = [math.exp(log_e_value(k, n - k, np.array([p]))[0]) for k in range(n + 1)]
    mean = float(stats.binom.pmf(np.arange(n + 1), n, rate) @ values)
    assert mean <= 1 + 1e-9
    assert rate > p or mean == pytest.approx(1, abs=1e-9)


def test_e_value_rises_with_the_rate_also_in_far_tails():
    p = np.concatenate([10.0 ** np.arange(-12, -3), np.linspace(1e-3, 1 - 1e-3, 999)])
    for k, n in ((0, 50), (3, 50), (50, 50), (400, 2000), (20_000, 50_000)):
        value = log_e_value(k, n - k, p)
        assert np.all(np.isfinite(value)) and np.all(np.diff(value) > -1e-9 * np.abs(value[1:]))


def test_anytime_bound_by_a_plain_grid():
    counts = ba.AttackCounts(fn=12, tp=68, fp=9, tn=71)
    found = anytime_bound(counts, MEMBER, 0.9).lower
    x = np.linspace(1e-4, 0.9999, 20_001)

    def smallest(epsilon):
        low = np.clip(MEMBER.region(epsilon, x)[0], 1e-12, None)
        keep = x < 1 - 1e-5
        return (log_e_value(12, 68, x) + log_e_value(9, 71, low))[keep].min()

    threshold = math.log(20)
    assert smallest(found - 1e-3) > threshold > smallest(found + 1e-3)


def test_anytime_bound_is_below_the_others_and_knows_its_terms():
    counts = ba.AttackCounts(fn=[5, 40], tp=[95, 60], fp=[3, 45], tn=[97, 55])
    found = anytime_bound(counts, MEMBER, 0.9)
    exact = ba.confidence_interval(counts, MEMBER, 0.9, method="exact-unconditional").lower
    assert np.all(found.lower <= exact) and found.lower[0] > 1
    terms = [
        anytime_bound(counts[0], ba.Epsilon(1e-5, "member", t), 0.9).lower for t in ("fnr", "fpr")
    ]
    # A half-plane's hypothesis holds more rates than the intersection of both.
    assert max(terms) <= found.lower[0] + 1e-6
    assert (found.guarantee, found.statement, found.kind) == ("guaranteed", "confidence", "lower")
    coin = ba.AttackCounts(fn=50, tp=50, fp=50, tn=50)
    assert anytime_bound(coin, ba.Epsilon(1e-5), 0.9).lower == 0


def test_anytime_bound_never_errs_more_than_stated_by_simulation():
    found = simulate_looks(
        MEMBER, 0.1, 0.1, 30, 5, random_seed=4, replicates=60, method="anytime", prob=0.6
    )
    assert 0 < found.any <= 0.2 + 3 * math.sqrt(0.2 * 0.8 / 60)

"""Looking more than once, and work spread over processes."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import bayesaudit as ba
from bayesaudit.calibration import (
    anytime_bound,
    looks_prob,
    map_replicates,
    map_tallies,
    simulate_looks,
)
from bayesaudit.calibration.sequential import log_e_value
from bayesaudit.cli import main

MEMBER = ba.Epsilon(1e-5, "member")


def test_declared_looks_share_the_error():
    assert looks_prob(0.9, 1) == 0.9
    tail = (1 - looks_prob(0.9, 7)) / 2
    assert 7 * tail == pytest.approx(0.05)
    with pytest.raises(ValueError, match="looks must be >= 1"):
        looks_prob(0.9, 0)


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


def test_looking_ten_times_inflates_the_error():
    """Against the simulations of the notes: [last, any, mean of the last lower end]."""
    size = 1500
    cases = [("posterior", 0.0567, 0.2140, 0.751), ("clopper-pearson", 0.0007, 0.0120, 0.611)]
    for method, last, any_, mean in cases:
        found = simulate_looks(
            MEMBER, 0.35, 0.25, 200, 10, random_seed=2, replicates=size, method=method
        )
        # Both sides are simulations of that size.
        for value, other in ((found.last, last), (found.any, any_)):
            p = max((value + other) / 2, 1 / size)
            assert abs(value - other) <= 4 * math.sqrt(2 * p * (1 - p) / size)
        assert found.mean_lower == pytest.approx(mean, abs=0.02)
    assert found.to_dict()["looks"] == 10


def test_declared_looks_keep_the_error_of_clopper_pearson():
    found = simulate_looks(
        MEMBER,
        0.05,
        0.05,
        2000,
        10,
        random_seed=2,
        replicates=1500,
        method="clopper-pearson",
        prob=looks_prob(0.9, 10),
    )
    assert found.any <= 0.05
    with pytest.raises(ValueError, match="multiple of looks"):
        simulate_looks(MEMBER, 0.1, 0.1, 25, 10, random_seed=1)


def test_estimate_with_looks(capsys):
    import json

    counts = ["--fn", "35", "--tp", "65", "--fp", "25", "--tn", "75", "--json"]

    def lines(*more):
        assert main(["estimate", *counts, *more]) == 0
        return json.loads(capsys.readouterr().out)["results"]["epsilon"]["confidence"]

    shared, plain = lines("--looks", "10"), lines("--prob", "0.99")
    assert shared["clopper-pearson"] == plain["clopper-pearson"]
    assert shared["exact-unconditional"]["lower"] < 0.5
    anytime = lines("--looks", "anytime")
    assert set(anytime) == {"anytime"}
    tally = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    assert anytime["anytime"]["lower"] == anytime_bound(tally, MEMBER, 0.9).lower
    with pytest.raises(SystemExit):
        main(["estimate", *counts, "--looks", "0"])
    assert "whole number >= 1 or 'anytime'" in capsys.readouterr().err


# -- scale-out -------------------------------------------------------------------------------------


def interval_ends(counts):
    return ba.posterior(counts, ba.Epsilon(1e-5)).interval(0.9)


def one_draw(rng):
    return rng.normal(size=3)


def test_tallies_give_the_same_bits_with_any_number_of_workers():
    rng = np.random.default_rng(0)
    fn, fp = rng.integers(0, 51, (2, 4, 30))
    counts = ba.AttackCounts(fn=fn, tp=50 - fn, fp=fp, tn=50 - fp)
    alone = map_tallies(interval_ends, counts, chunk=32, n_jobs=1)
    assert alone.shape == (2, 4, 30)
    np.testing.assert_allclose(alone, np.stack(list(interval_ends(counts))), rtol=1e-12)
    together = map_tallies(interval_ends, counts, chunk=32, n_jobs=2)
    np.testing.assert_array_equal(together, alone)


def test_replicates_give_the_same_bits_in_any_chunks_and_backend():
    import joblib

    alone = map_replicates(one_draw, 7, random_seed=3)
    assert alone.shape == (7, 3)
    np.testing.assert_array_equal(map_replicates(one_draw, 7, random_seed=3, chunk=3), alone)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        np.testing.assert_array_equal(map_replicates(one_draw, 7, random_seed=3, chunk=2), alone)
    assert not np.array_equal(map_replicates(one_draw, 7, random_seed=4), alone)
    np.testing.assert_array_equal(map_replicates(one_draw, 9, random_seed=3)[:7], alone)


def test_scale_out_refuses():
    one = ba.AttackCounts(fn=1, tp=1, fp=1, tn=1)
    with pytest.raises(ValueError, match="array of tallies"):
        map_tallies(interval_ends, one)
    with pytest.raises(ValueError, match="replicates must be >= 1"):
        map_replicates(one_draw, 0, random_seed=1)

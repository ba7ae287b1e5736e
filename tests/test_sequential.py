"""Looking more than once, and work spread over processes."""

import math

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.calibration import (
    anytime_bound,
    looks_prob,
    map_replicates,
    map_tallies,
    simulate_looks,
)
from bayesaudit.cli import main

MEMBER = ba.Epsilon(1e-5, "member")


def test_declared_looks_share_the_error():
    assert looks_prob(0.9, 1) == 0.9
    tail = (1 - looks_prob(0.9, 7)) / 2
    assert 7 * tail == pytest.approx(0.05)
    with pytest.raises(ValueError, match="looks must be >= 1"):
        looks_prob(0.9, 0)


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

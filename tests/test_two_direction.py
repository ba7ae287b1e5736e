"""The two-direction posterior bound."""

import math

import numpy as np
import pytest

import bayesaudit as ba


def tallies(rng, fnr, fpr, n, size):
    fn, fp = rng.binomial(n, fnr, size), rng.binomial(n, fpr, size)
    return ba.AttackCounts(fn=fn, tp=n - fn, fp=fp, tn=n - fp)


def test_equals_the_larger_of_two_quantiles_of_conjugate_draws():
    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    bound = ba.two_direction_bound(counts, delta=0.05, prob=0.9)
    rng = np.random.default_rng(7)
    x, y = rng.beta(35.5, 65.5, 1_000_000), rng.beta(25.5, 75.5, 1_000_000)
    terms = np.log((0.95 - y) / x), np.log((0.95 - x) / y)
    ends = []
    for term in terms:
        # MCSE of a quantile from the order statistics four standard errors away on either side.
        half = 4 * math.sqrt(0.025 * 0.975 / term.size)
        ends.append(np.quantile(term, [0.025 - half, 0.025 + half]))
    low, high = np.max(ends, axis=0)
    assert low < bound.lower < high
    assert (bound.statement, bound.kind, bound.prob) == ("credible", "lower", 0.9)
    assert bound.upper == math.inf and bound.error == pytest.approx(0.05)


def test_errs_near_nominally_where_the_joint_posterior_does_not():
    counts = tallies(np.random.default_rng(3), 0.05, 0.05, 1000, 4000)
    truth = ba.Epsilon(1e-5).of(0.05, 0.05)
    error = np.mean(ba.two_direction_bound(counts, 1e-5, 0.9).lower > truth)
    joint = ba.posterior(counts, ba.Epsilon(1e-5)).interval(0.9, kind="lower").lower
    assert error == pytest.approx(0.048, abs=4 * math.sqrt(0.05 * 0.95 / 4000))
    assert np.mean(joint > truth) > 0.15


def test_broadcasts_swaps_sides_and_falls_with_prob():
    counts = ba.AttackCounts(fn=[3, 30], tp=[97, 20], fp=[5, 1], tn=[45, 29])
    swapped = ba.AttackCounts(fn=counts.fp, tp=counts.tn, fp=counts.fn, tn=counts.tp)
    bound = ba.two_direction_bound(counts, 1e-5, 0.9).lower
    assert bound.shape == (2,)
    one = ba.two_direction_bound(counts[1], 1e-5, 0.9).lower
    assert one == pytest.approx(bound[1], rel=1e-12)
    np.testing.assert_allclose(ba.two_direction_bound(swapped, 1e-5, 0.9).lower, bound, rtol=1e-11)
    assert np.all(ba.two_direction_bound(counts, 1e-5, 0.99).lower < bound)
    other = ba.two_direction_bound(counts, 1e-5, 0.9, prior="uniform").lower
    assert np.all(other != bound)


def test_is_zero_at_a_coin_flip():
    counts = ba.AttackCounts(fn=50, tp=50, fp=50, tn=50)
    assert ba.two_direction_bound(counts, 1e-5, 0.9).lower == 0


def test_refuses_a_percentage():
    with pytest.raises(ValueError, match="did you mean"):
        ba.two_direction_bound(ba.AttackCounts(fn=1, tp=1, fp=1, tn=1), 1e-5, 90)

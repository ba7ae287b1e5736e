"""The simultaneous band of ε(δ) holds its target, and no more than it must."""

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.curves import _epsilon as module
from bayesaudit.curves import band_mass

DELTAS = [0, 1e-5, 0.001, 0.01, 0.05, 0.1, 0.2, 0.4]


def shares_of_draws(counts, curve, size, seed):
    """The mass of the band by draws of the two rates, and its Monte Carlo error."""
    rng = np.random.default_rng(seed)
    x = rng.beta(counts.fn + 0.5, counts.tp + 0.5, size)
    y = rng.beta(counts.fp + 0.5, counts.tn + 0.5, size)
    inside = np.ones(size, bool)
    ends = zip(curve.delta, curve.simultaneous_lower, curve.simultaneous_upper, strict=True)
    for delta, lower, upper in ends:
        value = ba.Epsilon(delta, curve.direction).of(x, y)
        inside &= (value >= lower) & (value <= upper)
    share = inside.mean()
    return share, np.sqrt(share * (1 - share) / size)


def random_question(rng):
    n = rng.integers(5, 400, 2)
    k = rng.integers(0, n + 1)
    deltas = rng.choice(np.r_[0, np.geomspace(1e-9, 0.5, 37)], rng.integers(2, 9), replace=False)
    more = {
        "prob": float(rng.choice([0.5, 0.8, 0.9, 0.95])),
        "kind": str(rng.choice(["eti", "lower"])),
        "direction": str(rng.choice(["both", "member"])),
    }
    return ba.AttackCounts(fn=k[0], tp=n[0] - k[0], fp=k[1], tn=n[1] - k[1]), deltas, more


def target_of(curve):
    return curve.prob if curve.kind == "eti" else (1 + curve.prob) / 2


def looser(counts, curve, by):
    """The mass of the band at a pointwise tail that is larger by a factor."""
    measures = [ba.Epsilon(delta, curve.direction) for delta in curve.delta]
    posts = [ba.posterior(counts, measure) for measure in measures]
    ends = zip(posts, curve.simultaneous_lower, strict=True)
    tail = max(float(p.cdf(lower)) for p, lower in ends if lower > 0)
    lower, upper = module._ends(posts, by * tail, curve.kind)
    return band_mass(posts[0].rates, measures, lower, upper)


def test_the_band_that_missed_its_target_holds_it():
    """0.94162 before; at 0.95 itself the mass jumps, since ε̂(0.2) leaves its atom of 3 %."""
    counts = ba.AttackCounts(fn=3, tp=241, fp=90, tn=36)
    curve = ba.epsilon_curve(counts, DELTAS, kind="lower")
    assert curve.simultaneous_mass >= 0.95
    assert looser(counts, curve, 1 + 1e-5) < 0.95
    share, error = shares_of_draws(counts, curve, 1_000_000, 1)
    assert abs(share - curve.simultaneous_mass) < 4 * error


@pytest.mark.parametrize("seed", range(25))
def test_random_bands_hold_their_target_to_the_stated_tolerance(seed):
    counts, deltas, more = random_question(np.random.default_rng(seed))
    curve = ba.epsilon_curve(counts, deltas, **more)
    excess = curve.simultaneous_mass - target_of(curve)
    # A millionth is what the docstring states; it covers the quadrature too.
    assert excess >= -1e-9
    pointwise = np.array_equal(curve.simultaneous_lower, curve.lower)
    if excess > 1e-6 and not pointwise:
        assert looser(counts, curve, 1 + 1e-5) < target_of(curve)
    measures = [ba.Epsilon(delta, curve.direction) for delta in curve.delta]
    rates = ba.posterior(counts, measures[0]).rates
    ends = curve.simultaneous_lower, curve.simultaneous_upper
    share, error = shares_of_draws(counts, curve, 100_000, seed)
    assert abs(share - band_mass(rates, measures, *ends)) <= 4 * error + 1e-6


def test_the_mass_of_a_band_is_that_of_ten_times_as_many_panels(monkeypatch):
    """Zero counts and many δ: a fixed rule of 96 panels was off by 5e-4."""
    found = []
    for seed in range(40, 48):
        counts, deltas, more = random_question(np.random.default_rng(seed))
        curve = ba.epsilon_curve(counts, deltas, **more)
        measures = [ba.Epsilon(delta, curve.direction) for delta in curve.delta]
        rates = ba.posterior(counts, measures[0]).rates
        ends = curve.simultaneous_lower, curve.simultaneous_upper
        with monkeypatch.context() as patch:
            patch.setattr(module, "PANELS", 3000)
            found.append(band_mass(rates, measures, *ends) - curve.simultaneous_mass)
    assert np.abs(found).max() < 1e-7

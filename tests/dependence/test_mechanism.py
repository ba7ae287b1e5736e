"""The mechanism's epsilon: the exact grid against Monte Carlo over its own latent rates."""

import json

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.dependence import mechanism_posterior

ATTACKS = ba.AttackCounts(fn=[35, 40], tp=[65, 60], fp=[25, 30], tn=[75, 70])


@pytest.fixture(scope="module")
def post():
    return mechanism_posterior(ATTACKS, 1e-5)


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_against_monte_carlo_over_rates(delta):
    """Rates are drawn from Beta(k + 1, n − k + 1): the share between two regions is F − F."""
    rng, draws, points = np.random.default_rng(0), 1500, 10_000
    epsilon = np.abs(rng.normal(0, 10**0.5, draws))
    s = rng.uniform(size=draws)
    weight, larger = np.ones(draws), ba.Epsilon(delta)
    for fn, tp, fp, tn in zip(ATTACKS.fn, ATTACKS.tp, ATTACKS.fp, ATTACKS.tn, strict=True):
        x, y = rng.beta(fn + 1, tp + 1, points), rng.beta(fp + 1, tn + 1, points)
        reached = larger.of(x, y)
        for j in range(draws):
            smaller = ba.Epsilon(s[j] * delta)
            low = s[j] * epsilon[j]
            share = np.mean((reached <= epsilon[j]) & (smaller.of(x, y) > low))
            weight[j] *= share / (larger.region_area(epsilon[j]) - smaller.region_area(low))
    weight /= weight.sum()
    exact = mechanism_posterior(ATTACKS, delta)
    for sampled, value in (
        (epsilon, exact.mean()),
        (s, exact.strength_mean()),
        ((epsilon <= 1.2).astype(float), exact.cdf(1.2)),
        ((epsilon <= 2.5).astype(float), exact.cdf(2.5)),
    ):
        mean = (weight * sampled).sum()
        error = np.sqrt((weight**2 * (sampled - mean) ** 2).sum())
        assert abs(mean - value) < 4 * error


def test_it_is_a_distribution(post):
    levels = np.array([0.0, 0.3, 0.8, 1.0, 1.5, 3.0, 8.0, 25.0, 100.0])
    cdf = post.cdf(levels)
    assert np.all(np.diff(cdf) >= 0) and cdf[0] == 0 and cdf[-1] == pytest.approx(1, abs=1e-9)
    q = np.array([0.05, 0.5, 0.95])
    assert post.cdf(post.quantile(q)) == pytest.approx(q, abs=1e-10)
    lower, upper = post.interval(0.90)
    assert lower < post.median() < upper and post.prob_above(lower) == pytest.approx(0.95)
    assert (
        0 < post.strength_quantile(0.05) < post.strength_mean() < post.strength_quantile(0.95) < 1
    )


def test_it_is_not_the_attacks_epsilon_hat(post):
    single = ba.posterior(ATTACKS[0], ba.Epsilon(1e-5)).interval(0.9)
    # An attack need not be optimal: the mechanism may leak far more than any attack reached.
    assert post.interval(0.9).upper > 2 * single.upper
    found = json.loads(json.dumps(post.to_dict(), allow_nan=False))
    assert set(found) >= {"mechanism_epsilon", "strength"} and "epsilon" not in found


def test_known_limits():
    strong = mechanism_posterior(ATTACKS, 1e-5, strength_prior=(200.0, 1.0))
    # Attacks known to be nearly optimal pin the mechanism down.
    assert strong.interval(0.9).upper < mechanism_posterior(ATTACKS, 1e-5).interval(0.9).upper
    assert strong.strength_mean() > 0.97
    nothing = ba.AttackCounts(fn=0, tp=0, fp=0, tn=0)
    with pytest.warns(UserWarning, match="no data"):
        prior = mechanism_posterior(nothing, 0.0, epsilon_scale=2.0)
        interval = prior.interval(0.9)
    # Without data the likelihood is constant and the half-normal prior is left.
    from scipy import stats

    assert tuple(interval) == pytest.approx(stats.halfnorm.ppf([0.05, 0.95], scale=2.0), rel=1e-4)


def test_a_table_that_is_finer_changes_nothing(post, monkeypatch):
    monkeypatch.setattr("bayesaudit.dependence._strength.WIDEST", 1.4)
    monkeypatch.setattr("bayesaudit.dependence._strength.FEW", 5)
    finer = mechanism_posterior(ATTACKS, 1e-5)
    assert tuple(finer.interval(0.9)) == pytest.approx(tuple(post.interval(0.9)), abs=1e-6)


@pytest.mark.parametrize(
    ("args", "kwargs", "kind", "message"),
    [
        ((ATTACKS, 1.0), {}, ValueError, "delta must be < 1"),
        ((ATTACKS, -0.1), {}, ValueError, "delta must be in"),
        ((ATTACKS, 0.0), {"epsilon_scale": 0}, ValueError, "epsilon_scale must be"),
        ((ATTACKS, 0.0), {"strength_prior": (1.0, 0.0)}, ValueError, "strength_prior must be"),
        (([1, 2], 0.0), {}, TypeError, "counts must be AttackCounts"),
    ],
)
def test_errors(args, kwargs, kind, message):
    with pytest.raises(kind, match=message):
        mechanism_posterior(*args, **kwargs)

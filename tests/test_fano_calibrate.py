import numpy as np
import pytest
from scipy.special import ndtri

import bayesaudit as ba
from bayesaudit import fano


@pytest.mark.parametrize("method", ["erokhin", "paper", "han-verdu"])
@pytest.mark.parametrize(
    "secret", [{"categories": 2}, {"categories": 10**9}, {"prior": [0.4, 0.35, 0.25]}]
)
def test_information_budget_is_the_inverse(method, secret):
    for target in (0.1, 0.5, 0.99):
        budget = fano.information_budget(target, method=method, **secret)
        assert fano.advantage(budget, method=method, **secret) <= target
        assert fano.advantage(budget * (1 + 1e-9), method=method, **secret) > target


def test_information_budget_of_a_uniform_prior_is_the_divergence():
    m, target = 10, 0.3
    s, q = 0.1 + 0.9 * target, 0.1
    right = s * np.log(s / q) + (1 - s) * np.log((1 - s) / (1 - q))
    assert fano.information_budget(target, categories=m) == pytest.approx(right, rel=1e-12)


def test_paper_bound_has_a_floor():
    with pytest.raises(ValueError, match="below the paper bound at zero information"):
        fano.information_budget(0.1, prior=[0.4, 0.35, 0.2, 0.05], method="paper")
    assert fano.information_budget(0.1, prior=[0.4, 0.35, 0.2, 0.05]) > 0
    assert fano.information_budget(0.1, prior=[1.0]) == np.inf


def test_calibrated_noise_meets_the_target_tightly():
    found = fano.calibrate_noise(0.1, sampling_rate=0.01, steps=1000, categories=10)
    assert found.advantage <= 0.1 and found.parameter == "noise_multiplier"
    less = 1000 * fano.subsampled_gaussian_kl(found.value * (1 - 1e-6), 0.01)
    assert fano.advantage(less, categories=10) > 0.1
    # full batch, two categories: d(s || 1/2) = T/(2 z^2) in closed form
    s = 0.6
    kl = s * np.log(2 * s) + (1 - s) * np.log(2 * (1 - s))
    full = fano.calibrate_noise(0.2, steps=8, categories=2)
    assert full.value == pytest.approx(np.sqrt(8 / (2 * kl)), rel=1e-9)
    assert full.to_dict()["neighboring_relation"] == "add-or-remove-one"


def test_calibrated_noise_by_the_best_bound():
    pytest.importorskip("dp_accounting")
    found = fano.calibrate_noise(0.2, steps=4, categories=4, bound="best")
    # full batch is sqrt(T)/z-GDP: s = Phi(Phi^-1(p*) + mu)
    exact = 2 / (ndtri(0.4) - ndtri(0.25))
    assert found.value == pytest.approx(exact, rel=1e-8)
    assert found.value >= exact
    assert found.advantage <= 0.2
    assert found.value < fano.calibrate_noise(0.2, steps=4, categories=4).value


@pytest.mark.parametrize(
    ("target", "settings"),
    [
        (0.1, {"sampling_rate": 0.01, "steps": 1000, "categories": 10}),
        (0.6, {"sampling_rate": 0.2, "steps": 10, "categories": 2}),
        (0.05, {"sampling_rate": 0.5, "steps": 1, "prior": [0.7, 0.2, 0.1]}),
    ],
)
def test_calibrated_noise_of_sampled_steps_is_the_least(target, settings):
    pytest.importorskip("dp_accounting")
    found = fano.calibrate_noise(target, bound="best", **settings)
    assert found.advantage <= target
    # All bounds on the default, finer grid: below the target here, above it with 0.3 % less noise.
    secret = {k: settings[k] for k in ("categories", "prior") if k in settings}
    schedule = settings["sampling_rate"], settings["steps"]
    assert fano.dp_sgd_bounds(found.value, *schedule, **secret).advantage <= target
    assert fano.dp_sgd_bounds(0.997 * found.value, *schedule, **secret).advantage > target


def test_calibrated_epsilon():
    for m in (2, 10, 10**6):
        found = fano.calibrate_epsilon(0.25, categories=m, neighboring_relation="replace-one")
        # advantage (e^eps - 1)/(e^eps + M - 1) = 1/4
        assert found.value == pytest.approx(np.log1p(m / 3), rel=1e-12)
        assert found.advantage <= 0.25
    rdp = fano.calibrate_epsilon(0.25, categories=10, guarantee="rdp", order=2)
    success = fano.renyi_fano(rdp.value, 2, 0.1)
    assert (success - 0.1) / 0.9 == pytest.approx(0.25, rel=1e-9)
    skewed = fano.calibrate_epsilon(0.01, prior=[0.7, 0.2, 0.1], neighboring_relation="replace-one")
    assert skewed.value > np.log(0.7 / 0.2)  # below that, the advantage is exactly 0


def test_calibration_messages():
    with pytest.raises(ValueError, match="target_advantage must be in"):
        fano.calibrate_noise(1.5, categories=2)
    with pytest.raises(ValueError, match="nothing is revealed"):
        fano.calibrate_noise(0.5, sampling_rate=0.0, categories=2)
    with pytest.raises(TypeError, match="order goes with"):
        fano.calibrate_epsilon(0.5, categories=2, order=2)
    with pytest.raises(ValueError, match="every epsilon gives advantage 0"):
        fano.calibrate_epsilon(0.5, prior=[1.0])


@pytest.fixture(scope="module")
def epsilon():
    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    return ba.posterior(counts, ba.Epsilon(delta=1e-5))


def bound(epsilon):
    return fano.pure_dp_advantage(epsilon, categories=10, neighboring_relation="replace-one")


def test_posterior_of_the_advantage(epsilon):
    found = fano.posterior_advantage(epsilon, bound)
    low, high = epsilon.interval(0.90)
    assert found.interval(0.90) == pytest.approx((bound(low), bound(high)), rel=1e-9)
    assert found.quantile(0.5) == pytest.approx(bound(float(epsilon.quantile(0.5))), rel=1e-12)
    for q in (0.01, 0.3, 0.5, 0.95):
        assert found.cdf(found.quantile(q)) == pytest.approx(q, abs=1e-9)
    assert found.cdf([0.0, 0.1, 1.0])[2] == 1.0 and found.sf(0.1) == 1 - found.cdf(0.1)
    assert found.prob_above(0.1) == pytest.approx(float(epsilon.sf(np.log(1 + 0.1 * 10 / 0.9))))
    assert found.interval(0.95, kind="lower") == (found.quantile(1 - 0.95), 1.0)
    assert found.interval(0.95, kind="upper") == (0.0, found.quantile(0.95))


def test_mean_of_the_advantage_two_ways(epsilon):
    found = fano.posterior_advantage(epsilon, bound)
    grid = np.linspace(0, 6, 8001)
    density = np.asarray(epsilon.pdf(grid))
    values = np.asarray(bound(grid))
    by_density = np.trapezoid(density * values, grid)  # the atom at 0 has advantage 0
    assert found.mean() == pytest.approx(by_density, rel=1e-8)
    assert found.to_dict(0.9)["mean"] == found.mean()


def test_posterior_through_fano_against_draws(epsilon):
    def curve(eps):
        return fano.advantage(eps * np.tanh(eps / 2), categories=100)

    found = fano.posterior_advantage(epsilon, curve)
    rng = np.random.default_rng(3)
    fnr, fpr = rng.beta(35.5, 65.5, 40_000), rng.beta(25.5, 75.5, 40_000)
    draws = ba.Epsilon(delta=1e-5).of(fnr, fpr)
    pushed = fano.advantage(draws * np.tanh(draws / 2), categories=100)
    for q in (0.05, 0.5, 0.95):
        below = (pushed <= found.quantile(q)).mean()
        assert below == pytest.approx(q, abs=4 * np.sqrt(q * (1 - q) / 40_000))
    assert found.mean() == pytest.approx(pushed.mean(), abs=4 * pushed.std() / 200)


def test_posterior_with_an_atom_and_a_capped_bound():
    post = ba.posterior(ba.AttackCounts(fn=50, tp=50, fp=50, tn=50), ba.Epsilon(delta=0.1))
    found = fano.posterior_advantage(post, bound)
    assert found.cdf(0.0) == pytest.approx(float(post.prob_zero), abs=1e-12)
    assert found.cdf(-0.1) == 0.0
    capped = fano.posterior_advantage(post, lambda eps: min(0.5, eps))
    assert capped.cdf(0.6) == 1.0


def test_posterior_messages():
    with pytest.raises(TypeError, match="must have the method 'cdf'"):
        fano.posterior_advantage(3.0, bound)
    with pytest.raises(TypeError, match="bound must be a function"):
        fano.posterior_advantage(
            ba.posterior(ba.AttackCounts(fn=1, tp=1, fp=1, tn=1), ba.Epsilon(0.0)), 2
        )

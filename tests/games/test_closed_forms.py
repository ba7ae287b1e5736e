"""Closed-form mechanisms: rates, epsilon-hat and bounds against what is known exactly."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest, laplace, norm

import bayesaudit as ba
from bayesaudit.games import (
    CanaryCodes,
    Extremes,
    GaussianClasses,
    GaussianMean,
    LaplaceMean,
    OptimalTest,
    PrivateCoordinate,
    RandomizedResponse,
    experiment_1,
    experiment_2,
    reconstruction_game,
)

DELTA = 1e-5
MIDPOINTS = {
    "rr .5": (RandomizedResponse(0.5), 1 / (1 + np.exp(0.5)), 0.5, 0.5),
    "rr 1": (RandomizedResponse(1.0), 1 / (1 + np.exp(1.0)), 1.0, 1.0),
    "rr 4": (RandomizedResponse(4.0), 1 / (1 + np.exp(4.0)), 4.0, 4.0),
    "laplace .5": (LaplaceMean(0.5), 0.5 * np.exp(-0.25), 0.4498, 0.5),
    "laplace 1": (LaplaceMean(1.0), 0.5 * np.exp(-0.5), 0.8318, 1.0),
    "laplace 2": (LaplaceMean(2.0), 0.5 * np.exp(-1.0), 1.4899, 2.0),
    "laplace 4": (LaplaceMean(4.0), 0.5 * np.exp(-2.0), 2.6231, 4.0),
    "gauss .25": (GaussianMean(0.25), norm.cdf(-0.125), 0.1996, 0.9263),
    "gauss .5": (GaussianMean(0.5), norm.cdf(-0.25), 0.4001, 1.9931),
    "gauss 1": (GaussianMean(1.0), norm.cdf(-0.5), 0.8070, 4.3772),
    "gauss 2": (GaussianMean(2.0), norm.cdf(-1.0), 1.6683, 9.9973),
}
every_midpoint = pytest.mark.parametrize(
    ("mechanism", "rate", "epsilon_hat", "epsilon"), MIDPOINTS.values(), ids=MIDPOINTS
)


def tally(mechanism, n_samples, seed, radius=1.0):
    scores = experiment_1(
        mechanism,
        OptimalTest(Extremes(radius), mechanism),
        GaussianClasses(n_classes=1, n_features=1),
        n_train=5,
        n_samples=n_samples,
        random_seed=seed,
    )
    return scores.counts(0.0)


@every_midpoint
def test_midpoint(mechanism, rate, epsilon_hat, epsilon):
    assert float(mechanism.trade_off(rate)) == pytest.approx(rate, abs=1e-12)
    measure = ba.Epsilon(delta=DELTA)
    # The values are to four places; delta = 1e-5 moves RR's by up to 6e-4 at epsilon 4.
    assert float(measure.of(rate, rate)) == pytest.approx(epsilon_hat, abs=6e-4)
    assert mechanism.claim(DELTA).epsilon == pytest.approx(epsilon, abs=6e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 4.0])
def test_randomised_response_attains_its_epsilon(epsilon):
    mechanism = RandomizedResponse(epsilon)
    p = mechanism.flip_probability
    assert float(ba.Epsilon(delta=0.0).of(p, p)) == pytest.approx(epsilon, abs=1e-12)
    attained = float(ba.Epsilon(delta=DELTA).of(p, p))
    assert mechanism.claim(DELTA).epsilon == pytest.approx(attained, abs=1e-12)


def test_laplace_attains_its_epsilon_at_the_other_threshold():
    for epsilon in (0.5, 1.0, 2.0):
        fpr = 0.5 * np.exp(-epsilon)
        fnr = float(LaplaceMean(epsilon).trade_off(fpr))
        assert fnr == pytest.approx(0.5, abs=1e-12)
        assert float(ba.Epsilon(delta=0.0).of(fnr, fpr)) == pytest.approx(epsilon, abs=1e-12)


def test_trade_offs_are_those_of_threshold_tests():
    t = np.linspace(-6, 8, 281)
    np.testing.assert_allclose(
        GaussianMean(1.3).trade_off(norm.sf(t)), norm.cdf(t - 1.3), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        LaplaceMean(1.3).trade_off(laplace.sf(t)), laplace.cdf(t - 1.3), rtol=1e-9, atol=1e-12
    )
    # Randomised response: the lower convex hull of (0, 1), (p, p), (1, 0).
    p = RandomizedResponse(1.3).flip_probability
    alpha = np.linspace(0, 1, 51)
    hull = np.interp(alpha, [0, p, 1], [1, p, 0])
    np.testing.assert_allclose(RandomizedResponse(1.3).trade_off(alpha), hull, atol=1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [GaussianMean(1.0), LaplaceMean(1.0), RandomizedResponse(1.0)],
    ids=["gauss", "laplace", "rr"],
)
def test_claims_curve_is_dual_to_the_trade_off(mechanism):
    # delta(epsilon) = 1 + sup over alpha of (-exp(epsilon) alpha - f(alpha)).
    alpha = np.linspace(0, 1, 200_001)
    f = mechanism.trade_off(alpha)
    claim = mechanism.claim(DELTA)
    for epsilon in (0.0, 0.3, 0.9, 1.5):
        dual = max(0.0, 1 + (-np.exp(epsilon) * alpha - f).max())
        assert claim.delta_at(epsilon) == pytest.approx(dual, abs=1e-5)
    assert claim.delta_at(claim.epsilon) == pytest.approx(DELTA, abs=1e-9)


@every_midpoint
def test_simulated_intervals_hold_the_truth(mechanism, rate, epsilon_hat, epsilon):
    counts = tally(mechanism, 4000, seed=11)
    for wrong, n in ((int(counts.fn), int(counts.n_pos)), (int(counts.fp), int(counts.n_neg))):
        assert binomtest(wrong, n, rate).pvalue > 1e-3
    lower, upper = ba.posterior(counts, ba.Epsilon(delta=DELTA)).interval(0.999)
    assert lower <= epsilon_hat <= upper


@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(RandomizedResponse(1.0), id="rr"),
        pytest.param(LaplaceMean(1.0), id="laplace", marks=pytest.mark.slow),
        pytest.param(GaussianMean(0.25), id="gauss", marks=pytest.mark.slow),
    ],
)
def test_guaranteed_bounds_hold_in_200_repeats(mechanism):
    true, level = mechanism.claim(DELTA).epsilon, 0.05
    runs = [tally(mechanism, 100, seed) for seed in range(200)]
    counts = ba.AttackCounts(
        **{cell: [int(getattr(run, cell)) for run in runs] for cell in ("fn", "tp", "fp", "tn")}
    )
    # The attack's direction was declared: "> 0" says z1.
    measure = ba.Epsilon(delta=DELTA, direction="member")
    for method in ("clopper-pearson", "exact-unconditional"):
        bounds = ba.confidence_interval(counts, measure, 1 - 2 * level, method=method)
        assert (np.asarray(bounds.lower) > true).mean() <= level
        assert (np.asarray(bounds.lower) > 0).any()


def test_canaries_of_their_own_do_not_interfere():
    mechanism = GaussianMean(2.0)
    scores = experiment_2(
        mechanism,
        OptimalTest(PrivateCoordinate(radius=1.0), mechanism),
        GaussianClasses(n_classes=1, n_features=1),
        n_train=60,
        n_samples=4000,
        per_model=40,
        random_seed=5,
    )
    correct = int(((scores.score > 0) == scores.member).sum())
    assert binomtest(correct, 4000, norm.cdf(1.0)).pvalue > 1e-3


def test_extraction_of_a_code_has_the_exact_success():
    # M orthogonal Gaussian means at distance D: E Phi(Z + D/(sigma sqrt 2))^(M-1). The candidates
    # are radius apart by radius sqrt(2), the noise is 2 radius / (n mu): D/(sigma sqrt 2) = mu/2.
    mechanism, codes = GaussianMean(3.0), 6
    result = reconstruction_game(
        mechanism,
        OptimalTest(CanaryCodes(codes, radius=1.0), mechanism),
        GaussianClasses(n_classes=1, n_features=1),
        n_train=8,
        prior=[1 / codes] * codes,
        n_trials=3000,
        random_seed=3,
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    exact = (weights * norm.cdf(nodes + 1.5) ** (codes - 1)).sum() / np.sqrt(2 * np.pi)
    assert binomtest(result.n_correct, 3000, exact).pvalue > 1e-3
    lower, upper = result.interval(0.9)
    k, n = result.n_correct, 3000
    assert lower == pytest.approx(beta.ppf(0.05, k, n - k + 1), rel=1e-9)
    assert upper == pytest.approx(beta.ppf(0.95, k + 1, n - k), rel=1e-9)
    assert result.to_dict()["neighboring_relation"] == "REPLACE_ONE"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianMean(0.0), "mu must be > 0"),
        (lambda: LaplaceMean(-1.0), "epsilon must be > 0"),
        (lambda: RandomizedResponse(-1.0), "epsilon must be finite and >= 0"),
        (lambda: GaussianMean(1.0).trade_off(1.5), r"fpr must be in \[0, 1\]"),
    ],
)
def test_bad_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()

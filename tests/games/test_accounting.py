"""Noise multipliers and curves, with the relation named and translated."""

import math

import numpy as np
import pytest

from bayesaudit.games import (
    ADD_OR_REMOVE,
    DPSGD,
    REPLACE_ONE,
    PrivacyClaim,
    dpsgd_claim,
    gaussian_claim,
    noise_for_epsilon,
)


@pytest.mark.parametrize(
    ("epsilon", "rate", "steps", "sigma"),
    [
        (1, 0.1, 200, 10.551),
        (4, 0.1, 200, 3.049),
        (10, 0.1, 200, 1.411),
        (1, 1.0, 20, 33.368),
        (4, 1.0, 20, 9.670),
        (10, 1.0, 20, 4.471),
    ],
)
def test_replace_one_noise(epsilon, rate, steps, sigma):
    result = noise_for_epsilon(epsilon, sampling_rate=rate, n_steps=steps)
    assert result == pytest.approx(sigma, abs=1e-2)
    claim = dpsgd_claim(noise_multiplier=result, sampling_rate=rate, n_steps=steps)
    assert claim.epsilon == pytest.approx(epsilon, rel=1e-3)
    assert claim.relation == REPLACE_ONE


@pytest.mark.parametrize("steps", [1, 10])
def test_full_batch_is_gaussian_dp_with_twice_the_clipping_norm(steps):
    claim = dpsgd_claim(noise_multiplier=4.0, sampling_rate=1.0, n_steps=steps)
    exact = gaussian_claim(2 * math.sqrt(steps) / 4.0, 1e-5)
    assert claim.epsilon == pytest.approx(exact.epsilon, abs=1e-3)
    for epsilon in (0.0, 0.5, 2.0):
        assert claim.delta_at(epsilon) == pytest.approx(exact.delta_at(epsilon), abs=1e-4)


def test_relations_differ():
    settings = {"noise_multiplier": 1.0, "sampling_rate": 0.1, "n_steps": 200}
    assert dpsgd_claim(**settings).epsilon == pytest.approx(15.88, abs=0.01)
    other = dpsgd_claim(**settings, relation=ADD_OR_REMOVE)
    assert other.epsilon == pytest.approx(9.97, abs=0.01)


@pytest.mark.parametrize("mu", [0.25, 0.5, 1.0, 2.0])
def test_gaussian_epsilon_and_accuracy(mu):
    known = {0.25: 0.9263, 0.5: 1.9931, 1.0: 4.3772, 2.0: 9.9973}
    claim = gaussian_claim(mu, 1e-5)
    assert claim.epsilon == pytest.approx(known[mu], abs=5e-5)
    from scipy.stats import norm

    assert claim.max_accuracy == pytest.approx(norm.cdf(mu / 2), abs=1e-12)


def test_a_pair_implies_its_trade_off_curve():
    # Randomised response with a share d of full disclosure attains it at every point.
    e, d = 1.3, 0.05
    claim = PrivacyClaim(e, d)
    p = np.array([d, (1 - d) * math.exp(e) / (1 + math.exp(e)), (1 - d) / (1 + math.exp(e)), 0])
    for epsilon in (0.0, 0.4, 1.0, 1.3, 3.0):
        exact = np.maximum(0, p - math.exp(epsilon) * p[::-1]).sum()
        assert claim.delta_at(epsilon) == pytest.approx(exact, abs=1e-12)
    assert PrivacyClaim(800.0, 0.0).max_accuracy == 1.0
    assert PrivacyClaim(math.inf, 0.0).max_accuracy == 1.0


def test_translation_to_substitution_is_an_upper_bound():
    # DP-SGD accounted both ways: what add/remove implies must hold and must not be sharper.
    settings = {"noise_multiplier": 2.0, "sampling_rate": 0.3, "n_steps": 10}
    exact = dpsgd_claim(**settings)
    translated = dpsgd_claim(**settings, relation=ADD_OR_REMOVE).substitution()
    assert translated.relation == REPLACE_ONE
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        assert translated.delta_at(epsilon) >= exact.delta_at(epsilon)
    assert exact.delta_at(translated.epsilon) <= translated.delta
    assert exact.substitution() is exact


def test_translation_of_a_pair():
    translated = PrivacyClaim(1.0, 1e-3, ADD_OR_REMOVE).substitution()
    assert translated.epsilon == 2.0
    assert translated.delta == pytest.approx((1 + math.e) * 1e-3)
    assert translated.delta_at(2.0) == pytest.approx(translated.delta)


def test_no_noise_no_privacy():
    claim = DPSGD(n_classes=2, noise_multiplier=0.0, sampling_rate=0.5, n_steps=3).claim()
    assert claim.epsilon == math.inf
    assert claim.max_accuracy == 1.0
    assert claim.to_dict()["epsilon"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, 0.1), "epsilon must be >= 0"),
        ((1.0, 1.1), r"delta must be in \[0, 1\]"),
        ((1.0, 0.1, "SOMETHING"), "relation must be one of"),
    ],
)
def test_bad_claims(arguments, message):
    with pytest.raises(ValueError, match=message):
        PrivacyClaim(*arguments)


def test_bad_calibration():
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        noise_for_epsilon(0.0, sampling_rate=0.1, n_steps=3)
    with pytest.raises(ValueError, match="sampling_rate"):
        dpsgd_claim(noise_multiplier=1.0, sampling_rate=0.0, n_steps=3)

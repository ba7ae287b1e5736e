"""Three verdicts: exact thresholds, and "inconclusive" where the attack had no power."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from bayesaudit.games import PrivacyClaim, audit_implementation, gaussian_claim
from bayesaudit.games.verdict import (
    detectable_accuracy,
    needed_accuracy,
    power_without_noise,
    rejection_count,
)


@pytest.mark.parametrize("limit", [0.51, 0.678, 0.9, 0.9999])
@pytest.mark.parametrize("n", [1, 20, 1000])
def test_the_rejection_count_is_the_smallest(n, limit):
    tails = binom.sf(np.arange(n + 1) - 1, n, limit)
    rejecting = np.flatnonzero(tails < 5e-4)
    expected = int(rejecting[0]) if rejecting.size else None
    found = rejection_count(n, limit, 5e-4)
    assert found == expected
    if found is None:
        assert detectable_accuracy(n, found) == 1.0
        assert needed_accuracy(n, limit, found) is None
        assert power_without_noise(n, limit, found, 1.0) == 0.0


def test_the_needed_accuracy_is_where_code_without_noise_is_found_nine_times_in_ten():
    n, limit = 1000, 0.678
    rejects = rejection_count(n, limit, 5e-4)
    needed = needed_accuracy(n, limit, rejects)
    # An attack that the claimed noise (1/claimed) and something else (rest) blur.
    claimed, attack = 2 * norm.ppf(limit), 2 * norm.ppf(needed)
    rest = math.sqrt(1 / attack**2 - 1 / claimed**2)
    assert binom.sf(rejects - 1, n, norm.cdf(0.5 / rest)) == pytest.approx(0.9, abs=1e-9)
    assert power_without_noise(n, limit, rejects, needed) == pytest.approx(0.9, abs=1e-9)
    assert power_without_noise(n, limit, rejects, limit) == 1.0
    assert power_without_noise(n, limit, rejects, 0.4) == pytest.approx(
        binom.sf(rejects - 1, n, 0.5)
    )


def test_an_attack_as_good_as_a_coin_never_suffices():
    # A tiny claim: what it allows cannot be told from a coin with 200 models.
    rejects = rejection_count(200, 0.505, 5e-4)
    needed = needed_accuracy(200, 0.505, rejects)
    assert binom.sf(round(needed * 200) - 1, 200, 0.5) <= 0.01


def mean(noise):
    """Release the sum of the records, each clipped to length 1."""

    def train(x, y, rng):
        norms = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
        return (x / norms).sum(axis=0) + noise * rng.normal(size=x.shape[1])

    return train


def loss(model, x, y):
    return -x @ model


def nothing(n_features, rng):
    """Where a release starts."""
    return np.zeros(n_features)


def audit(train, claim, **options):
    options = {"loss": loss, "initial": nothing, "n_trials": 400, "random_seed": 1} | options
    return audit_implementation(train, claim, **options)


def test_consistent_and_inconsistent():
    claim = gaussian_claim(1.0, 1e-5)
    right = audit(mean(2.0), claim)
    assert right.verdict == "consistent" and right.power > 0.9
    assert right.summary().startswith("Consistent with its claim")
    assert f"{right.rejection_accuracy:.4f}" in right.summary()
    wrong = audit(mean(0.5), claim)
    assert wrong.verdict == "inconsistent" and wrong.summary().startswith("INCONSISTENT")


def test_without_the_start_nothing_is_called_consistent():
    claim = gaussian_claim(1.0, 1e-5)
    result = audit(mean(2.0), claim, initial=None)
    assert result.verdict == "inconclusive" and not result.start_known
    assert result.needed_accuracy == result.detectable_accuracy > result.rejection_accuracy
    assert "What training starts from was not given" in result.summary()

    def hidden(x, y, rng):  # no noise, but a start that is as wide as the noise should be
        return 2.0 * rng.normal(size=x.shape[1]) + mean(0.0)(x, y, rng)

    assert audit(hidden, claim, initial=None).verdict == "inconclusive"
    start = {"initial": lambda n_features, rng: 2.0 * rng.normal(size=n_features)}
    assert audit(hidden, claim, **start).verdict == "inconsistent"


def test_an_attack_near_chance_is_inconclusive():
    def deaf(x, y, rng):
        return rng.normal(size=x.shape[1])

    result = audit(deaf, gaussian_claim(1.0, 1e-5))
    assert result.verdict == "inconclusive" and result.power < 0.01
    text = result.summary()
    assert text.startswith("INCONCLUSIVE: this design had no power here.")
    assert f"needed an accuracy of {result.needed_accuracy:.4f}" in text
    assert "onsistent with its claim" not in text
    assert result.to_dict()["verdict"] == "inconclusive"


def test_a_claim_out_of_reach_is_inconclusive():
    result = audit(mean(0.0), PrivacyClaim(20.0, 1e-5))
    assert result.accuracy == 1.0 and result.rejection_accuracy is None
    assert result.verdict == "inconclusive" and result.needed_accuracy is None
    assert "Not even 400 right of 400 would contradict" in result.summary()


def test_noise_that_is_reused_is_seen_in_a_vector():
    claim = gaussian_claim(0.5, 1e-5)

    def one_number(x, y, rng):
        return mean(0.0)(x, y, rng) + 4.0 * rng.normal()

    def repeated(x, y, rng):
        total = mean(0.0)(x, y, rng)
        return total + 4.0 * np.resize(rng.normal(size=8), total.shape)

    def frozen(x, y, rng):
        return mean(4.0)(x, y, np.random.default_rng(7))

    for broken in (one_number, repeated, frozen):
        found = [audit(broken, claim, n_trials=100, random_seed=seed) for seed in range(8)]
        assert all(result.verdict == "inconsistent" for result in found), broken
    # Correct code with as much noise a coordinate.
    assert audit(mean(4.0), claim, n_trials=100).verdict != "inconsistent"

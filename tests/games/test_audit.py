"""The verdict on an implementation: planted bugs are caught, correct code is not blamed."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom, norm

import bayesaudit as ba
from bayesaudit.games import (
    ADD_OR_REMOVE,
    BUGS,
    DESIGNS,
    DPSGD,
    FaultyDPSGD,
    PrivacyClaim,
    audit_implementation,
    audit_trainer,
    dpsgd_claim,
    noise_for_epsilon,
)
from bayesaudit.games.networks import Network, with_bias

LEVEL = 1e-3
LIMITS = {1: 0.553, 4: 0.678, 10: 0.841}
SIGMA = {
    epsilon: noise_for_epsilon(epsilon, sampling_rate=1.0, n_steps=10) for epsilon in (1, 4, 10)
}


def audit(trainer, claim=None, seed=1, **options):
    claim = trainer.claim() if claim is None else claim
    return audit_implementation(trainer, claim, random_seed=seed, **options)


def planted(bug, epsilon):
    return FaultyDPSGD.of(audit_trainer(SIGMA[epsilon]), bug)


@pytest.mark.parametrize("epsilon", LIMITS)
def test_correct_code(epsilon):
    result = audit(audit_trainer(SIGMA[epsilon]))
    assert result.max_accuracy == pytest.approx(LIMITS[epsilon], abs=1e-3)
    assert result.accuracy == pytest.approx(LIMITS[epsilon], abs=0.04)
    assert not result.violated and result.test_level == LEVEL / 2
    assert result.tested_claim.epsilon == pytest.approx(epsilon, rel=1e-3)
    assert result.tested_claim.epsilon <= epsilon


@pytest.mark.parametrize("epsilon", LIMITS)
@pytest.mark.parametrize("bug", ["noise/B", "clip after averaging", "noise/sqrt(B)"])
def test_loud_bugs(bug, epsilon):
    result = audit(planted(bug, epsilon))
    assert result.curve_violated
    if epsilon == 1:
        assert result.epsilon_violated


def test_too_little_noise_by_the_root_of_2():
    seeds = range(12)
    found = sum(
        audit(planted("sigma/sqrt(2)", 4), seed=seed, bound=None, design="coordinate").violated
        for seed in seeds
    )
    # A power of .9 finds fewer than 8 of 12 with probability 4e-3.
    assert found >= 8
    # The power, exactly: the attack on this code is right with probability Phi(mu / sqrt 2).
    threshold = binom.isf(LEVEL, 1000, LIMITS[4])  # without a bound, the test has all the level
    mu = 2 * math.sqrt(10) / SIGMA[4]
    assert binom.sf(threshold, 1000, norm.cdf(mu * math.sqrt(2) / 2)) >= 0.9


@pytest.mark.parametrize(
    ("bug", "design", "seen"),
    [
        ("norm without bias", "bias", True),
        ("norm without bias", "coordinate", False),
        ("shared class noise", "coordinate", True),
        ("shared class noise", "bias", True),
        ("same noise", "coordinate", False),
        ("clip after averaging", "bias", True),  # the empty record outweighs the rest, which cancel
        ("sigma/2", "copies", True),
    ],
)
def test_designs_see_what_they_say(bug, design, seen):
    assert audit(planted(bug, 4), design=design).curve_violated == seen


@pytest.mark.parametrize(
    ("design", "seen"), [("layers", True), ("auto", True), ("coordinate", False)]
)
def test_clipping_by_layer_shows_in_a_canary_that_moves_every_layer(design, seen):
    # Two parts of norm C each are sqrt(2) further apart: right with Phi(sqrt 2) = .92, not .84.
    assert audit(planted("clip by layer", 10), design=design).curve_violated == seen


@pytest.mark.parametrize(
    ("bug", "design", "seen"),
    [
        (None, "copies", False),
        (None, "coordinate", False),
        ("without replacement", "copies", True),
        ("without replacement", "coordinate", False),
        ("shuffle", "copies", True),
        ("sigma/2", "copies", False),
        ("sigma/2", "coordinate", True),
    ],
)
def test_sampling(bug, design, seen):
    trainer = audit_trainer(0.5, sampling_rate=1 / 16, n_steps=16)
    claim = trainer.claim()
    assert claim.epsilon == pytest.approx(11.53, abs=0.01)
    assert claim.max_accuracy == pytest.approx(0.702, abs=1e-3)
    code = trainer if bug is None else FaultyDPSGD.of(trainer, bug)
    assert audit(code, claim, design=design).curve_violated == seen


def test_the_step_attack_attains_the_curve_of_poisson_sampling():
    trainer = audit_trainer(0.5, sampling_rate=1 / 16, n_steps=16)
    result = audit(trainer, n_trials=4000, bound=None, design="coordinate")
    assert result.accuracy == pytest.approx(result.max_accuracy, abs=4 * 0.5 / math.sqrt(4000))


def test_a_relation_mismatch_is_no_bug():
    settings = {"noise_multiplier": SIGMA[10], "sampling_rate": 1.0, "n_steps": 10}
    claim = dpsgd_claim(**settings, relation=ADD_OR_REMOVE)
    assert claim.epsilon == pytest.approx(4.38, abs=0.01)
    for given in (claim, PrivacyClaim(claim.epsilon, claim.delta, ADD_OR_REMOVE)):
        result = audit(audit_trainer(SIGMA[10]), given)
        assert not result.violated
        assert result.tested_claim.relation == "REPLACE_ONE"
        assert "under ADD_OR_REMOVE; the game substitutes" in result.summary()
    # The same number claimed under substitution is a false claim, and is found.
    assert audit(audit_trainer(SIGMA[10]), PrivacyClaim(claim.epsilon, 1e-5)).n_trials == 1000
    wrong = dpsgd_claim(**(settings | {"noise_multiplier": 2 * SIGMA[10]}))
    assert audit(audit_trainer(SIGMA[10]), wrong).curve_violated


def test_the_bound_is_that_of_the_declared_direction():
    result = audit(planted("noise/sqrt(B)", 1))
    counts = ba.AttackCounts(fn=result.fn, tp=result.tp, fp=result.fp, tn=result.tn)
    interval = ba.confidence_interval(
        counts, ba.Epsilon(delta=1e-5, direction="member"), 1 - LEVEL, method=result.bound
    )
    assert result.epsilon_lower == float(interval.lower) > 1
    worse = audit_implementation(
        planted("noise/sqrt(B)", 1), PrivacyClaim(1.0, 1e-5), n_trials=100, random_seed=1,
        significance=0.4,
    )  # fmt: skip
    assert worse.epsilon_lower > 0
    with pytest.raises(ValueError, match="significance must be below 1/2"):
        audit(audit_trainer(1.0), significance=0.5)


def test_p_value_and_detectable_accuracy_are_binomial():
    result = audit(audit_trainer(SIGMA[4]), n_trials=300)
    right = result.tp + result.tn
    assert result.n_trials == 300
    assert result.p_value == pytest.approx(binom.sf(right - 1, 300, result.max_accuracy), rel=1e-9)
    threshold = binom.isf(LEVEL / 2, 300, result.max_accuracy)
    assert binom.sf(threshold, 300, result.max_accuracy) < LEVEL / 2
    assert result.rejection_accuracy == (threshold + 1) / 300
    assert binom.sf(threshold, 300, result.detectable_accuracy) == pytest.approx(0.9, rel=1e-9)


def test_a_trainer_of_ones_own():
    def train(x, y, rng):
        return rng.normal() * 40 + (x.sum() - x[:, :6].sum()) / 256

    def broken(x, y, rng):
        return (x.sum() - x[:, :6].sum()) / 256

    def loss(model, x, y):
        return -model * x[:, 6]

    # One release with sensitivity 2 and noise 40.
    claim = ba.games.gaussian_claim(2 / 40, 1e-5)
    assert not audit_implementation(train, claim, loss=loss, random_seed=1).violated
    assert audit_implementation(broken, claim, loss=loss, random_seed=1).violated


def test_report_names_the_relation_and_is_json():
    result = audit(audit_trainer(SIGMA[4]), n_trials=50)
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["neighboring_relation"] == "REPLACE_ONE"
    assert document["claim"]["epsilon"] == pytest.approx(4, rel=1e-3)
    assert document["violated"] is False and document["verdict"] == result.verdict
    text = result.summary()
    assert "under REPLACE_ONE" in text
    for line in DESIGNS["auto"]["blind_to"]:
        assert line in text
    no_bound = audit_implementation(
        audit_trainer(SIGMA[4]), PrivacyClaim(4.0, 1e-5), n_trials=20, random_seed=1, bound=None
    )
    assert no_bound.epsilon_lower is None and not no_bound.epsilon_violated


@pytest.mark.parametrize("epsilon", LIMITS)
@pytest.mark.slow
def test_correct_code_is_not_blamed_in_100_seeds(epsilon):
    trainer = audit_trainer(SIGMA[epsilon])
    results = [audit(trainer, seed=seed, design="coordinate") for seed in range(100)]
    assert sum(result.violated for result in results) <= 1
    mean = np.mean([result.accuracy for result in results])
    assert mean == pytest.approx(LIMITS[epsilon], abs=4 * 0.5 / math.sqrt(100_000))


@pytest.mark.slow
def test_powers_on_planted_bugs():
    seeds = range(20)
    for epsilon in LIMITS:
        for bug in ("noise/B", "clip after averaging", "noise/sqrt(B)"):
            assert all(audit(planted(bug, epsilon), seed=seed).curve_violated for seed in seeds)
    found = [audit(planted("sigma/sqrt(2)", 4), seed=seed).curve_violated for seed in range(40)]
    assert np.mean(found) >= 0.8  # power .95; below .8 with probability 1e-3
    trainer = audit_trainer(0.5, sampling_rate=1 / 16, n_steps=16)
    code = FaultyDPSGD.of(trainer, "without replacement")
    found = [
        audit(code, trainer.claim(), seed=seed, design="copies").curve_violated for seed in seeds
    ]
    assert np.mean(found) >= 0.85  # power .996; 17 of 20 or more but for 1e-6
    blamed = [
        audit(trainer, seed=seed, design=design).violated
        for seed in seeds
        for design in ("copies", "coordinate")
    ]
    assert not any(blamed)


def test_bad_arguments():
    with pytest.raises(ValueError, match="bug must be one of"):
        FaultyDPSGD.of(audit_trainer(1.0), "none")
    hidden = DPSGD(n_classes=2, noise_multiplier=1.0, sampling_rate=1.0, n_steps=2, n_hidden=2)
    with pytest.raises(ValueError, match="needs n_hidden=0"):
        FaultyDPSGD.of(hidden, "shared class noise")
    trainer, claim = audit_trainer(1.0), PrivacyClaim(1.0, 1e-5)
    with pytest.raises(ValueError, match="design must be one of"):
        audit_implementation(trainer, claim, design="other", random_seed=1)
    with pytest.raises(ValueError, match=r"significance must be in \(0, 1\)"):
        audit_implementation(trainer, claim, significance=0.0, random_seed=1)
    with pytest.raises(ValueError, match="n_pilot must be >= 2"):
        audit_implementation(trainer, claim, n_pilot=1, random_seed=1)


def test_parts_are_checked_before_anything_is_trained():
    def never(*arguments):
        raise AssertionError("trained")

    claim = PrivacyClaim(1.0, 1e-5)
    for parts, message in (
        ({"claim": 4.0}, "claim must be a PrivacyClaim.*got 4.0"),
        ({"train": 3}, "train must be a function"),
        ({"loss": None}, "loss=function"),
        ({"loss": 1.0}, "loss must be a function, got 1.0"),
        ({"initial": 1.0}, "initial must be a function"),
        ({"train": audit_trainer(1.0), "initial": never}, "initial goes with a function"),
    ):
        given = {"train": never, "claim": claim, "loss": never, "random_seed": 1} | parts
        with pytest.raises(TypeError, match=message):
            audit_implementation(given.pop("train"), given.pop("claim"), **given)
    with pytest.raises(ValueError, match="design 'copies' reads the noised sum of every step"):
        audit_implementation(never, claim, loss=never, design="copies", random_seed=1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, r"one number a record, shape \(2,\), got shape \(\)"),
        (np.zeros((2, 1)), r"got shape \(2, 1\)"),
        (np.zeros(2, dtype=complex), "complex"),
        (np.full(2, np.nan), "got NaN"),
    ],
    ids=["scalar", "column", "complex", "nan"],
)
def test_the_loss_is_looked_at_after_one_training(value, message):
    trained = []

    def train(x, y, rng):
        trained.append(len(x))
        return None

    with pytest.raises(ValueError, match=message):
        audit_implementation(
            train, PrivacyClaim(1.0, 1e-5), loss=lambda model, x, y: value, random_seed=1
        )
    assert trained == [64]


def test_every_bug_is_described_and_trains():
    for bug in BUGS:
        assert planted(bug, 4).bug == bug


@pytest.mark.parametrize("hidden", [0, 3])
def test_clipping_by_layer_against_single_records(hidden):
    rng = np.random.default_rng(1)
    code = FaultyDPSGD.of(audit_trainer(1.0, n_hidden=hidden), "clip by layer")
    network = Network(5, 2, hidden)
    flat = rng.normal(size=(2, network.n_parameters)).astype(np.float32)
    x, y = with_bias(rng.normal(size=(2, 7, 4))), rng.integers(2, size=(2, 7))
    found = np.empty_like(flat)
    code.gradient_sum(network, flat, x, y, None, (x**2).sum(axis=2), 7.0, found)
    gradients = network.clipped_gradients(flat, x, y, np.inf)
    expected = np.zeros_like(flat)
    for model, record in np.ndindex(2, 7):
        layers = network.views(gradients[model, record])
        parts = layers if hidden else (layers[0][:, :-1], layers[0][:, -1:])
        parts = [part * min(1, code.clip_norm / np.linalg.norm(part)) for part in parts]
        whole = parts if hidden else [np.concatenate(parts, axis=1)]
        expected[model] += np.concatenate([part.ravel() for part in whole])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)

"""Trainers that are not the package's: bugs planted in plain NumPy, random and zero weights."""

import numpy as np
import pytest
from plain_trainers import BUGS, Trainer

from bayesaudit.games import (
    Datasets,
    LossComparison,
    ModelsWithStart,
    PerModel,
    PrivateDirection,
    audit_implementation,
    audit_trainer,
    dpsgd_claim,
    noise_for_epsilon,
)
from bayesaudit.games.planted import FaultyDPSGD

SETTINGS = {"sampling_rate": 1.0, "n_steps": 4}
SIGMA = noise_for_epsilon(4.0, **SETTINGS)
CLAIM = dpsgd_claim(noise_multiplier=SIGMA, **SETTINGS)
QUICK = {"n_train": 32, "n_trials": 300, "n_pilot": 10, "random_seed": 1}


def audit(bug="", *, initial=True, settings=None, **options):
    shape = {"steps": 4, "clip": 0.3, "lr": 2.0} | (settings or {})
    train = Trainer(SIGMA, bug=bug, **shape)
    start = train.initial if initial else None
    return audit_implementation(train, CLAIM, loss=train.loss, initial=start, **(QUICK | options))


@pytest.mark.parametrize("hidden", [0, 8], ids=["linear", "MLP"])
@pytest.mark.parametrize("bug", ["noise/B", "noise/sqrt(B)", "clip after averaging"])
def test_loud_bugs_at_random_weights(bug, hidden):
    result = audit(bug, settings={"hidden": hidden})
    assert result.verdict == "inconsistent" and "initial model" in result.canary


@pytest.mark.parametrize("hidden", [0, 8], ids=["linear", "MLP"])
def test_loud_bugs_without_the_initial_model(hidden):
    # A step length at which one record moves the weights as much as chance set them.
    settings = {"hidden": hidden, "clip": 1.0, "lr": 3.0}
    result = audit("noise/B", initial=False, settings=settings)
    assert result.verdict == "inconsistent" and "initial model" not in result.canary


def test_no_power_without_the_initial_model_at_small_steps():
    settings = {"clip": 0.01, "lr": 0.01}
    blind = audit("noise/B", initial=False, settings=settings)
    assert blind.verdict == "inconclusive" and blind.accuracy < blind.needed_accuracy
    assert audit("noise/B", settings=settings).verdict == "inconsistent"


@pytest.mark.parametrize("bug", ["clip by layer", "norm without bias", "one noise number"])
def test_quieter_bugs(bug):
    # A clipping norm below what the biases' gradients reach, so that the bug takes effect.
    result = audit(bug, settings={"hidden": 8, "clip": 0.05, "lr": 4.0}, n_trials=1000)
    assert result.verdict == "inconsistent"


def test_correct_code_is_not_blamed():
    for settings in ({}, {"zero": True}, {"hidden": 8}):
        assert audit(settings=settings).verdict != "inconsistent"


@pytest.mark.parametrize("bug", ["noise/B", "noise/sqrt(B)", "clip after averaging"])
def test_the_packages_own_networks_start_at_published_weights(bug):
    trainer = audit_trainer(noise_for_epsilon(4.0, sampling_rate=1.0, n_steps=10), n_hidden=16)
    code = FaultyDPSGD.of(trainer, bug)
    result = audit_implementation(code, trainer.claim(), random_seed=1, n_trials=400, n_pilot=5)
    assert result.verdict == "inconsistent"


def test_initial_is_given_the_generator_that_training_starts_with():
    train = Trainer(0.0, hidden=3, steps=0)
    mechanism = PerModel(train, train.initial)
    datasets = Datasets(np.ones((2, 4, 5), np.float32), np.zeros((2, 4), np.int64))
    outputs = mechanism.train(datasets, [np.random.default_rng(seed) for seed in (1, 2)])
    assert isinstance(outputs, ModelsWithStart) and len(outputs) == 2
    for model, start in zip(outputs.models, outputs.initial, strict=True):
        for one, other in zip(model, start, strict=True):
            assert (one == other).all()
    plain = PerModel(train).train(datasets, [np.random.default_rng(seed) for seed in (1, 2)])
    assert (plain[1][0] == outputs[1][0]).all()


def test_a_threshold_moves_the_guess_and_nothing_else():
    from bayesaudit.games import EmptyRecords, experiment_1

    train = Trainer(0.0, zero=True, steps=2)
    scores = [
        experiment_1(
            PerModel(train), LossComparison(PrivateDirection(4.0, 8), train.loss, threshold=t),
            EmptyRecords(), n_train=8, n_samples=20, random_seed=1,
        ).score
        for t in (0.0, 0.25)
    ]  # fmt: skip
    assert scores[0] - scores[1] == pytest.approx(0.25, abs=1e-12)


def test_directions_cancel_what_repeats():
    direction = PrivateDirection(1.0, 64).draw(_Empty(), 2, 1, np.random.default_rng(1)).x[0, 0, 1:]
    assert np.linalg.norm(direction) == pytest.approx(1)
    for period in (1, 2, 4, 8, 16, 32):
        repeated = np.resize(np.random.default_rng(period).normal(size=period), 64)
        assert direction @ repeated == pytest.approx(0, abs=1e-14)
    with pytest.raises(ValueError, match="n_columns must be a power of two, got 6"):
        PrivateDirection(1.0, 6).draw(_Empty(), 2, 1, np.random.default_rng(1))


class _Empty:
    n_features = 1

    def draw(self, n_records, rng):
        return np.zeros((n_records, 1), np.float32), np.zeros(n_records, np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [0, 16], ids=["linear", "MLP"])
@pytest.mark.parametrize("zero", [False, True], ids=["random", "zero"])
def test_the_default_design_at_1000_models(hidden, zero):
    for bug in ("noise/B", "noise/sqrt(B)", "clip after averaging"):
        result = audit(bug, settings={"hidden": hidden, "zero": zero}, n_trials=1000)
        assert result.verdict == "inconsistent", bug


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{}, {"zero": True}, {"hidden": 8}, {"rate": 0.25}, {"hidden": 8, "rate": 0.25}],
    ids=["linear", "linear, zeros", "MLP", "linear, Poisson", "MLP, Poisson"],
)
def test_correct_code_is_flagged_at_most_at_its_level_in_200_seeds(settings):
    """A level of .05 rather than 1e-3, so that 200 seeds can show an excess."""
    level, seeds = 0.05, 200
    schedule = {"sampling_rate": settings.get("rate", 1.0), "n_steps": 4}
    sigma = noise_for_epsilon(4.0, **schedule)
    claim = dpsgd_claim(noise_multiplier=sigma, **schedule)
    train = Trainer(sigma, steps=4, clip=0.3, lr=2.0, **settings)
    flagged = [
        audit_implementation(
            train, claim, loss=train.loss, initial=train.initial, n_train=16, n_trials=100,
            n_pilot=4, significance=level, random_seed=seed,
        ).violated
        for seed in range(seeds)
    ]  # fmt: skip
    rate, error = np.mean(flagged), np.sqrt(level * (1 - level) / seeds)
    print(f"{settings}: flagged {rate:.3f}, level {level}, Monte Carlo error {error:.3f}")
    assert rate <= level + 3 * error


def test_every_bug_trains():
    x, y = np.random.default_rng(1).normal(size=(8, 3)), np.arange(8) % 2
    for bug in BUGS:
        for hidden in (0, 4):
            train = Trainer(1.0, hidden=hidden, steps=2, bug=bug)
            model = train(x, y, np.random.default_rng(2))
            assert np.isfinite(train.loss(model, x, y)).all()

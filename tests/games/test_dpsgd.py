"""DP-SGD against a loop over models, steps and records; bit-equality whatever the batching."""

import numpy as np
import pytest

from bayesaudit.games import DPSGD, Datasets, GaussianClasses
from bayesaudit.games.networks import Network, with_bias

from .test_networks import numeric_gradient


def generators(count, seed=7):
    keys = [np.random.SeedSequence(seed, spawn_key=(i,)) for i in range(count)]
    return [np.random.Generator(np.random.SFC64(key)) for key in keys]


def datasets(count, n=40, n_classes=3, n_features=4):
    data = GaussianClasses(n_classes=n_classes, n_features=n_features)
    drawn = [data.draw(n, np.random.default_rng(i)) for i in range(count)]
    return Datasets(np.stack([x for x, _ in drawn]), np.stack([y for _, y in drawn]))


@pytest.mark.parametrize("rate", [0.3, 1.0])
@pytest.mark.parametrize("n_hidden", [0, 3])
def test_training_is_a_loop_over_records(n_hidden, rate):
    trainer = DPSGD(
        n_classes=3,
        noise_multiplier=0.7,
        sampling_rate=rate,
        n_steps=6,
        clip_norm=0.5,
        learning_rate=0.8,
        n_hidden=n_hidden,
        record=True,
    )
    sets = datasets(2)
    models = trainer.train(sets, generators(2))
    for m, rng in enumerate(generators(2)):
        start, sampling, noise = rng.spawn(3)
        flat = Network(5, 3, n_hidden).initial([start])[0].astype(float)
        np.testing.assert_array_equal(flat.astype(np.float32), models.initial[m])
        for step in range(6):
            total = np.zeros_like(flat)
            coins = sampling.random(40) < rate if rate < 1 else np.ones(40, bool)
            for i in np.flatnonzero(coins):
                gradient = numeric_gradient(
                    flat, sets.x[m, i].astype(float), sets.y[m, i], 3, n_hidden
                )
                total += gradient * min(1, 0.5 / np.linalg.norm(gradient))
            total += 0.7 * 0.5 * noise.standard_normal(len(flat), dtype=np.float32)
            np.testing.assert_allclose(models.sums[m, step], total, atol=2e-5)
            flat -= 0.8 / (rate * 40) * total
        np.testing.assert_allclose(models.parameters[m], flat, atol=2e-5)


def test_steps_lead_to_the_final_parameters():
    trainer = DPSGD(
        n_classes=3, noise_multiplier=1.0, sampling_rate=0.2, n_steps=5, record=True, n_hidden=2
    )
    models = trainer.train(datasets(3), generators(3))
    *_, (last, sums) = [(flat.copy(), sums) for flat, sums in models.steps()]
    rate = trainer.step_scale(models.expected_batch)
    np.testing.assert_array_equal(last - rate * sums, models.parameters)


@pytest.mark.parametrize("n_hidden", [0, 4])
@pytest.mark.parametrize("rate", [0.15, 1.0])
@pytest.mark.parametrize("chunk", [1, 3, 11])
def test_results_are_bit_equal_for_any_chunk_and_order(chunk, rate, n_hidden):
    settings = {"n_classes": 3, "noise_multiplier": 1.0, "sampling_rate": rate, "n_steps": 60}
    sets = datasets(11)
    whole = DPSGD(**settings, n_hidden=n_hidden).train(sets, generators(11)).parameters
    part = DPSGD(**settings, n_hidden=n_hidden, chunk_size=chunk)
    np.testing.assert_array_equal(part.train(sets, generators(11)).parameters, whole)
    order = np.random.default_rng(1).permutation(11)[:6]
    rngs = generators(11)
    some = part.train(Datasets(sets.x[order], sets.y[order]), [rngs[i] for i in order])
    np.testing.assert_array_equal(some.parameters, whole[order])


def test_poisson_batches():
    trainer = DPSGD(n_classes=2, noise_multiplier=1.0, sampling_rate=0.1, n_steps=1)
    masks = trainer.masks(np.random.default_rng(3), 200)
    batch = np.array([next(masks) for _ in range(2000)])
    sizes = batch.sum(axis=1)
    # The size is Binomial(200, .1): mean 20, variance 18; records are independent.
    assert abs(sizes.mean() - 20) < 4 * np.sqrt(18 / 2000)
    assert abs(sizes.var() - 18) < 4 * 18 * np.sqrt(2 / 2000)
    assert abs(batch.mean(axis=0) - 0.1).max() < 5 * np.sqrt(0.09 / 2000)


def test_a_batch_has_room_but_for_1e_minus_12():
    from scipy.stats import binom

    trainer = DPSGD(n_classes=2, noise_multiplier=1.0, sampling_rate=0.1, n_steps=1)
    size = trainer._padded_batch(1000)
    assert size % 8 == 0
    assert binom.sf(size, 1000, 0.1) < 1e-12 <= binom.sf(size - 9, 1000, 0.1)
    assert trainer._padded_batch(3) == 3


def test_noise_has_the_claimed_deviation():
    trainer = DPSGD(
        n_classes=2,
        noise_multiplier=3.0,
        clip_norm=0.2,
        sampling_rate=1.0,
        n_steps=400,
        learning_rate=1e-6,
        record=True,
    )
    models = trainer.train(datasets(4, n_classes=2), generators(4))
    noise = models.sums - models.sums.mean(axis=1, keepdims=True)
    deviation = noise.std()
    assert abs(deviation / 0.6 - 1) < 4 / np.sqrt(2 * noise.size)


def test_non_private_training_learns():
    data = GaussianClasses(n_classes=3, n_features=8, separation=8)
    x, y = data.draw(300, np.random.default_rng(1))
    for n_hidden in (0, 8):
        trainer = DPSGD(
            n_classes=3,
            noise_multiplier=0.0,
            clip_norm=np.inf,
            sampling_rate=0.2,
            n_steps=200,
            n_hidden=n_hidden,
        )
        models = trainer.train(Datasets(x[None], y[None]), generators(1))
        logits = models.network.logits(models.parameters, with_bias(x[None]))
        assert (logits[0].argmax(axis=0) == y).mean() > 0.9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sampling_rate": 0.0}, r"sampling_rate must be in \(0, 1\]"),
        ({"sampling_rate": 1.5}, r"sampling_rate must be in \(0, 1\]"),
        ({"noise_multiplier": -1.0}, "noise_multiplier must be finite and >= 0"),
        ({"n_steps": 0}, "n_steps must be >= 1"),
        ({"clip_norm": 0.0}, "clip_norm must be > 0"),
        ({"clip_norm": np.inf}, "clip_norm must be finite when"),
        ({"learning_rate": 0.0}, "learning_rate must be > 0"),
        ({"n_classes": 1}, "n_classes must be >= 2"),
    ],
)
def test_bad_settings(change, message):
    settings = {"n_classes": 2, "noise_multiplier": 1.0, "sampling_rate": 0.5, "n_steps": 3}
    with pytest.raises(ValueError, match=message):
        DPSGD(**(settings | change))


def test_bad_input():
    trainer = DPSGD(n_classes=2, noise_multiplier=1.0, sampling_rate=0.5, n_steps=3)
    with pytest.raises(ValueError, match=r"labels must be in 0..1"):
        trainer.train(datasets(1, n_classes=3), generators(1))
    with pytest.raises(ValueError, match="one generator a data set"):
        trainer.train(datasets(2, n_classes=2), generators(1))
    models = trainer.train(datasets(1, n_classes=2), generators(1))
    with pytest.raises(ValueError, match="not recorded"):
        next(models.steps())
    with pytest.raises(ValueError, match="x must have shape"):
        Datasets(np.zeros((2, 3), np.float32), np.zeros((2, 3), int))


def test_results_are_bit_equal_for_any_number_of_blas_threads():
    from threadpoolctl import ThreadpoolController

    # Large enough for OpenBLAS to share a product among threads, which changes the last bits.
    sets = datasets(1, n=1000, n_classes=10, n_features=64)
    trainer = DPSGD(n_classes=10, noise_multiplier=1.0, sampling_rate=1.0, n_steps=10, n_hidden=64)
    results = []
    for threads in (1, 2):
        with ThreadpoolController().limit(limits=threads, user_api="blas"):
            results.append(trainer.train(sets, generators(1)).parameters)
            left = {
                library["num_threads"]
                for library in ThreadpoolController().info()
                if library["user_api"] == "blas"
            }
            assert left == {threads}
    np.testing.assert_array_equal(*results)

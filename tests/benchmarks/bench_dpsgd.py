"""Time DP-SGD on 1,000 models x 200 steps against a per-model loop; one core (OMP_NUM_THREADS=1).

Run: OMP_NUM_THREADS=1 python tests/benchmarks/bench_dpsgd.py [n_models]
The naive loop forms every record's gradient, as textbook DP-SGD does; it is timed on fewer models
and scaled. Accuracy: the batched parameters against the loop's, given the same batches and noise.
"""

import sys
import time

import numpy as np

from bayesaudit.games import DPSGD, Datasets, GaussianClasses

N_RECORDS, SAMPLING_RATE, N_STEPS = 1000, 0.1, 200


def naive(trainer: DPSGD, x, y, rng) -> np.ndarray:
    """Train one softmax model with one gradient a record, formed and clipped."""
    _, sampling, noise = rng.spawn(3)
    x = np.concatenate([x, np.ones((len(x), 1), np.float32)], axis=1)
    weights = np.zeros((trainer.n_classes, x.shape[1]), np.float32)
    batch = trainer.sampling_rate * len(x)
    for _ in range(trainer.n_steps):
        rows = np.flatnonzero(sampling.random(len(x)) < trainer.sampling_rate)
        logits = x[rows] @ weights.T
        logits -= logits.max(axis=1, keepdims=True)
        r = np.exp(logits)
        r /= r.sum(axis=1, keepdims=True)
        r[np.arange(len(rows)), y[rows]] -= 1
        gradients = r[:, :, None] * x[rows][:, None, :]
        norms = np.sqrt((gradients**2).sum(axis=(1, 2)))
        scale = np.minimum(1, trainer.clip_norm / np.maximum(norms, 1e-30))
        gradients *= scale[:, None, None].astype(np.float32)
        total = gradients.sum(axis=0)
        total += np.float32(trainer.noise_multiplier * trainer.clip_norm) * noise.standard_normal(
            weights.shape, dtype=np.float32
        )
        weights -= np.float32(trainer.learning_rate / batch) * total
    return weights.ravel()


def main(n_models: int) -> None:
    """Print times, the ratio and the largest difference."""
    data = GaussianClasses(n_classes=10, n_features=64)
    drawn = [data.draw(N_RECORDS, np.random.default_rng(model)) for model in range(64)]
    x = np.stack([drawn[model % 64][0] for model in range(n_models)])
    y = np.stack([drawn[model % 64][1] for model in range(n_models)])
    datasets = Datasets(x, y)

    def rngs(count):
        seeds = [np.random.SeedSequence(1, spawn_key=(model,)) for model in range(count)]
        return [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]

    for n_hidden in (0, 32):
        trainer = DPSGD(
            n_classes=10,
            noise_multiplier=3.0,
            sampling_rate=SAMPLING_RATE,
            n_steps=N_STEPS,
            n_hidden=n_hidden,
        )
        start = time.perf_counter()
        models = trainer.train(datasets, rngs(n_models))
        batched = (time.perf_counter() - start) * 1000 / n_models
        name = f"one hidden layer of {n_hidden}" if n_hidden else "softmax"
        print(f"{name}: batched {batched:.2f} s per 1,000 models")
        if n_hidden == 0:
            few = min(50, n_models)
            start = time.perf_counter()
            loop = [naive(trainer, x[i], y[i], rng) for i, rng in enumerate(rngs(few))]
            looped = (time.perf_counter() - start) * 1000 / few
            worst = float(np.abs(np.stack(loop) - models.parameters[:few]).max())
            print(f"  naive loop {looped:.2f} s per 1,000 models: {looped / batched:.2f} times")
            print(f"  largest difference of a parameter {worst:.1e}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

"""Adversaries against scores written out by hand."""

import numpy as np
import pytest
from scipy.stats import norm

from bayesaudit.games import (
    DPSGD,
    AverageCase,
    Bias,
    CalibratedLoss,
    Copies,
    Extremes,
    GaussianClasses,
    GaussianMean,
    Known,
    LossComparison,
    OptimalTest,
    PerModel,
    PrivateCoordinate,
    StepLikelihood,
    experiment_1,
)
from bayesaudit.games.networks import with_bias

DATA = GaussianClasses(n_classes=3, n_features=4)


def trained(trainer, challenges, n_train=12, models=3, n_challenges=1):
    rngs = [np.random.default_rng(i) for i in range(models)]
    known = Known.of([challenges.draw(DATA, n_train, n_challenges, rng) for rng in rngs])
    secret = np.arange(models * n_challenges).reshape(models, n_challenges) % 2
    return trainer.train(known.with_secrets(secret), rngs), known, secret


def test_secrets_are_put_behind_the_base():
    known = Known.of([AverageCase().draw(DATA, 9, 2, np.random.default_rng(i)) for i in (1, 2)])
    sets = known.with_secrets(np.array([[0, 1], [1, 1]]))
    assert known.n_train == sets.n_records == 9
    np.testing.assert_array_equal(sets.x[:, :7], known.base.x)
    np.testing.assert_array_equal(sets.x[0, 7:], [known.x[0, 0, 0], known.x[0, 1, 1]])
    np.testing.assert_array_equal(sets.y[1, 7:], [known.y[1, 0, 1], known.y[1, 1, 1]])


def test_loss_comparison_and_a_users_loss():
    trainer = DPSGD(n_classes=3, noise_multiplier=1.0, sampling_rate=0.5, n_steps=8)
    models, known, _ = trained(trainer, AverageCase(), n_challenges=2)
    scores = LossComparison(AverageCase()).score(models, known)
    for m in range(3):
        for challenge in range(2):
            x, y = known.x[m, challenge], known.y[m, challenge]
            z = with_bias(x).astype(float) @ models.parameters[m].reshape(3, 5).T.astype(float)
            loss = np.log(np.exp(z).sum(axis=1)) - z[np.arange(2), y]
            np.testing.assert_allclose(scores[m, challenge], -loss, rtol=1e-12)

    def loss(model, x, y):
        z = with_bias(x) @ model.reshape(3, 5).T
        return np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]

    users = LossComparison(AverageCase(), loss).score(list(models.parameters), known)
    np.testing.assert_allclose(users, scores, atol=1e-5)
    with pytest.raises(TypeError, match="give the adversary"):
        LossComparison(AverageCase()).score(list(models.parameters), known)


def test_calibration_subtracts_the_references_mean():
    trainer = DPSGD(n_classes=3, noise_multiplier=1.0, sampling_rate=0.5, n_steps=8)
    models, known, _ = trained(trainer, Bias())
    adversary = CalibratedLoss(Bias(), n_references=4)
    with pytest.raises(ValueError, match="call prepare first"):
        adversary.score(models, known)
    ready = adversary.prepare(trainer, DATA, 12, 1, seed=3)
    again = adversary.prepare(trainer, DATA, 12, 1, seed=3)
    np.testing.assert_array_equal(ready.references.parameters, again.references.parameters)
    x, y = known.x[:, 0], known.y[:, 0]
    mean = np.mean(
        [ready.references.network.losses(row[None].repeat(3, 0), with_bias(x), y)
         for row in ready.references.parameters], axis=0,
    )  # fmt: skip
    expected = mean - models.losses(x, y)
    np.testing.assert_allclose(ready.score(models, known)[:, 0], expected, rtol=1e-10)


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
@pytest.mark.parametrize("rate", [0.25, 1.0])
def test_step_likelihood_written_out(rate, sampling):
    trainer = DPSGD(
        n_classes=3, noise_multiplier=0.8, sampling_rate=rate, n_steps=5, clip_norm=0.5, record=True
    )
    design = PrivateCoordinate(radius=20.0)
    models, known, _ = trained(trainer, design)
    scores = StepLikelihood(design, sampling).score(models, known)
    network, batch = models.network, round(rate * 12)
    for m in range(3):
        total = np.zeros(2)
        for flat, sums in models.steps():
            row = flat[m : m + 1]
            base = network.clipped_gradients(
                row, with_bias(known.base.x[m : m + 1]), known.base.y[m : m + 1], 0.5
            )[0].astype(float)
            own = network.clipped_gradients(row, with_bias(known.x[m]), known.y[m], 0.5)[0]
            for k in range(2):
                mean = base.mean(axis=0)
                if sampling == "poisson":
                    out = inside = rate * 11 * mean
                else:
                    out, inside = min(batch, 11) * mean, (batch - 1) * mean
                density_out = norm.logpdf(sums[m] - out, scale=0.4).sum()
                density_in = norm.logpdf(sums[m] - inside - own[k], scale=0.4).sum()
                mixture = np.log(rate) + density_in
                if rate < 1:
                    mixture = np.logaddexp(np.log1p(-rate) + density_out, mixture)
                total[k] += mixture
        expected = total[1] - total[0]
        difference = scores[m, 0, 1] - scores[m, 0, 0]
        assert difference == pytest.approx(expected, abs=1e-3)


def test_step_likelihood_needs_noise_and_sums():
    trainer = DPSGD(n_classes=3, noise_multiplier=0.0, sampling_rate=0.5, n_steps=3, record=True)
    models, known, _ = trained(trainer, Bias())
    with pytest.raises(ValueError, match="noise_multiplier > 0"):
        StepLikelihood(Bias()).score(models, known)
    trainer = DPSGD(n_classes=3, noise_multiplier=1.0, sampling_rate=0.5, n_steps=3)
    models, known, _ = trained(trainer, Bias())
    with pytest.raises(ValueError, match="not recorded"):
        StepLikelihood(Bias()).score(models, known)
    with pytest.raises(ValueError, match="sampling must be one of"):
        StepLikelihood(Copies(), sampling="shuffled")


def test_optimal_test_is_the_likelihood_of_each_data_set():
    mechanism = GaussianMean(1.5)
    rng = np.random.default_rng(1)
    known = Known.of([Extremes().draw(DATA, 6, 1, rng)])
    output = mechanism.train(known.with_secrets(np.array([[1]])), [rng])
    scores = OptimalTest(Extremes(), mechanism).score(output, known)
    for candidate in range(2):
        records = known.with_secrets(np.array([[candidate]])).x[0].astype(float)
        records /= np.maximum(1, np.linalg.norm(records, axis=1, keepdims=True))
        logpdf = norm.logpdf(output[0], records.mean(axis=0), 2 / (6 * 1.5)).sum()
        constant = norm.logpdf(0, scale=2 / 9) * 4
        assert scores[0, 0, candidate] == pytest.approx(logpdf - constant, rel=1e-9)


def test_any_trainer_by_one_function():
    def train(x, y, rng):
        return {"mean": x.mean(axis=0) + rng.normal(size=x.shape[1]) * 1e-3}

    def loss(model, x, y):
        return -x @ model["mean"]

    design = PrivateCoordinate(radius=5.0)
    scores = experiment_1(
        PerModel(train),
        LossComparison(design, loss),
        DATA,
        n_train=20,
        n_samples=40,
        random_seed=1,
    )
    assert ((scores.score > 0) == scores.member).all()

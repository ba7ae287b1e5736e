"""The experiments against the pseudocode, written out as a plain loop."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from bayesaudit.games import (
    DPSGD,
    AttributeValues,
    AverageCase,
    Choice,
    Extremes,
    GaussianClasses,
    GaussianMean,
    LossComparison,
    Mislabelled,
    OptimalTest,
    PrivateCoordinate,
    experiment_1,
    experiment_2,
    reconstruction_game,
)

DATA = GaussianClasses(n_classes=2, n_features=4)
TRAINER = DPSGD(n_classes=2, noise_multiplier=4.0, sampling_rate=0.5, n_steps=20, learning_rate=2.0)
DESIGN = PrivateCoordinate(radius=3.0)


def plain_experiment_1(n_samples, seed):
    """Play experiment 1 of BEDP one model at a time, sharing no code with the package's."""
    rng = np.random.default_rng(seed)
    means = DATA.means()
    scores, bits = [], []
    for _ in range(n_samples):
        y = rng.integers(2, size=29)
        x = means[y] + rng.normal(size=(29, 4)) / 2
        x = np.column_stack([x, np.zeros(29), np.ones(29)])
        z = np.array([[0, 0, 0, 0, 3, 1], [0, 0, 0, 0, -3, 1]], dtype=float)
        b = int(rng.integers(2))
        x, y = np.vstack([x, z[b]]), np.append(y, 0)
        w = np.zeros((2, 6))
        for _ in range(20):
            total = np.zeros((2, 6))
            for i in np.flatnonzero(rng.random(30) < 0.5):
                p = np.exp(w @ x[i])
                p /= p.sum()
                p[y[i]] -= 1
                gradient = np.outer(p, x[i])
                total += gradient / max(1, np.linalg.norm(gradient))
            w -= 2.0 / 15 * (total + 4.0 * rng.normal(size=(2, 6)))
        losses = [np.log(np.exp(w @ record).sum()) - (w @ record)[0] for record in z]
        scores.append(losses[0] - losses[1])
        bits.append(b)
    return np.array(scores), np.array(bits, dtype=bool)


def test_experiment_1_is_its_pseudocode_and_experiment_2_at_m_1():
    settings = {"n_train": 30, "n_samples": 1200}
    adversary = LossComparison(DESIGN)
    first = experiment_1(TRAINER, adversary, DATA, **settings, random_seed=1)
    second = experiment_2(TRAINER, adversary, DATA, **settings, per_model=1, random_seed=2)
    score, bit = plain_experiment_1(600, seed=3)
    for one, other in (
        ((first.score, first.member), (second.score, second.member)),
        ((first.score, first.member), (score, bit)),
    ):
        for value in (False, True):
            assert ks_2samp(one[0][one[1] == value], other[0][other[1] == value]).pvalue > 1e-3
        table = [
            [((s > 0) & b).sum(), ((s > 0) & ~b).sum(), (~(s > 0) & b).sum(), (~(s > 0) & ~b).sum()]
            for s, b in (one, other)
        ]
        assert chi2_contingency(np.array(table)).pvalue > 1e-3
    assert 0.6 < ((first.score > 0) == first.member).mean() < 0.9


@dataclass(frozen=True)
class Swapped:
    """The design with the names of the pair's records exchanged."""

    design: object
    fixed = True

    def draw(self, data, n_train, n_challenges, rng):
        choice = self.design.draw(data, n_train, n_challenges, rng)
        return Choice(choice.base_x, choice.base_y, choice.x[:, ::-1], choice.y[:, ::-1])


@dataclass(frozen=True)
class FlippedCoin:
    """A trainer that exchanges the challenge's record for the other of the pair before training."""

    trainer: object

    def train(self, datasets, rngs):
        x = datasets.x.copy()
        x[:, -1] *= -1
        return self.trainer.train(replace(datasets, x=x), rngs)


def test_the_coins_meaning_changes_nothing():
    settings = {"n_train": 30, "n_samples": 300, "random_seed": 5}
    plain = experiment_1(TRAINER, LossComparison(DESIGN), DATA, **settings)
    # Exchange the names and the record that the coin picks: the same models are trained, so each
    # score only changes its sign. (The pair is antipodal: the other record is minus this one.)
    swapped = experiment_1(FlippedCoin(TRAINER), LossComparison(Swapped(DESIGN)), DATA, **settings)
    np.testing.assert_array_equal(swapped.score, -plain.score)
    np.testing.assert_array_equal(swapped.member, plain.member)
    # Exchange the names only: the tally's distribution is the same.
    named = experiment_1(TRAINER, LossComparison(Swapped(DESIGN)), DATA, **settings)
    right = [((run.score > 0) == run.member).sum() for run in (plain, named)]
    assert chi2_contingency([[r, 300 - r] for r in right]).pvalue > 1e-3


def test_models_and_challenges_are_numbered():
    def play(design):
        return experiment_2(
            TRAINER, LossComparison(design), DATA, n_train=20, n_samples=12, per_model=4,
            random_seed=1,
        )  # fmt: skip

    fresh, fixed = play(Mislabelled()), play(DESIGN)
    np.testing.assert_array_equal(fresh.model, np.repeat([0, 1, 2], 4))
    np.testing.assert_array_equal(fresh.challenge, np.arange(12))
    np.testing.assert_array_equal(fixed.challenge, np.tile(np.arange(4), 3))


def test_trials_are_the_same_in_longer_runs():
    def play(n_samples):
        return experiment_1(
            TRAINER, LossComparison(AverageCase()), DATA, n_train=20, n_samples=n_samples,
            random_seed=1,
        )  # fmt: skip

    short, long = play(20), play(50)
    np.testing.assert_array_equal(short.score, long.score[:20])
    np.testing.assert_array_equal(short.member, long.member[:20])


def test_coins_are_fair_and_independent():
    mechanism = GaussianMean(1.0)
    scores = experiment_2(
        mechanism, OptimalTest(Extremes(), mechanism), DATA, n_train=10, n_samples=8000,
        per_model=8, random_seed=4,
    )  # fmt: skip
    coins = scores.member.reshape(-1, 8)
    assert abs(coins.mean() - 0.5) < 4 * np.sqrt(0.25 / 8000)
    correlation = np.corrcoef(coins.T)[~np.eye(8, dtype=bool)]
    assert abs(correlation).max() < 5 / np.sqrt(1000)


def test_a_tie_says_z0_under_either_rule():
    class Silent:
        def train(self, datasets, rngs):
            return None

    class Constant(LossComparison):
        def score(self, outputs, known):
            return np.zeros(known.y.shape)

    scores = experiment_1(Silent(), Constant(DESIGN), DATA, n_train=5, n_samples=30, random_seed=1)
    assert not (scores.score > 0).any() and not (scores.score >= 0).any()


def test_reconstruction_uses_the_prior():
    # No information: the Bayes guess is the likeliest candidate, and the advantage is about 0.
    mechanism = GaussianMean(1e-6)
    prior = [0.2, 0.5, 0.3]
    result = reconstruction_game(
        mechanism,
        OptimalTest(AttributeValues((0.0, 0.5, 1.0)), mechanism),
        DATA,
        n_train=10,
        prior=prior,
        n_trials=2000,
        random_seed=1,
    )
    assert (result.guess == 1).all()
    shares = np.bincount(result.secret, minlength=3) / 2000
    np.testing.assert_allclose(shares, prior, atol=4 * np.sqrt(0.25 / 2000))
    assert result.base_success == 0.5
    assert abs(result.advantage) < 0.1
    assert result.scores.member.reshape(-1, 3).sum(axis=1).tolist() == [1] * 2000


def test_reconstruction_finds_a_loud_attribute():
    mechanism = GaussianMean(50.0)
    result = reconstruction_game(
        mechanism,
        OptimalTest(AttributeValues((-1.0, 1.0)), mechanism),
        DATA,
        n_train=5,
        prior=[0.5, 0.5],
        n_trials=50,
        random_seed=1,
    )
    assert result.success == 1.0
    assert result.advantage == 1.0
    assert result.interval(0.9)[1] == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_samples": 10, "per_model": 3}, "multiple of per_model"),
        ({"per_model": 0}, "per_model must be >= 1"),
        ({"n_train": 5}, "n_train must be >= 10"),
        ({"random_seed": -1}, "random_seed must be >= 0"),
    ],
)
def test_bad_experiments(change, message):
    settings = {"n_train": 30, "n_samples": 100, "per_model": 10, "random_seed": 1}
    with pytest.raises(ValueError, match=message):
        experiment_2(TRAINER, LossComparison(DESIGN), DATA, **(settings | change))


def test_bad_priors_and_scores():
    def game(prior):
        return reconstruction_game(
            TRAINER, LossComparison(AttributeValues()), DATA, n_train=9, prior=prior,
            n_trials=5, random_seed=1,
        )  # fmt: skip

    with pytest.raises(ValueError, match="prior must sum to 1"):
        game([0.5, 0.6])
    with pytest.raises(ValueError, match="at least two"):
        game([1.0])
    with pytest.raises(ValueError, match="one entry a candidate"):
        game([0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="has 2 candidates, got 3"):
        experiment_1(
            TRAINER, LossComparison(AttributeValues((0.0, 1.0, 2.0))), DATA, n_train=9,
            n_samples=3, random_seed=1,
        )  # fmt: skip

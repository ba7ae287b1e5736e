import numpy as np
import pytest
from scipy import stats

from bayesaudit import fano


def test_play_agrees_with_the_exact_adversary():
    rng = np.random.default_rng(4)
    for _ in range(5):
        channel = rng.dirichlet(np.ones(6), size=4)
        prior = rng.dirichlet(np.ones(4))
        game = fano.simulate_game(channel, prior, n_trials=20_000, rng=rng)
        low, high = game.interval(0.9999)
        assert low <= game.bayes_success <= high
        assert game.bayes_success == pytest.approx((prior[:, None] * channel).max(0).sum())
        assert game.information == pytest.approx(fano.channel_information(channel, prior))
        bound = fano.advantage(game.information, prior=prior)
        exact = (game.bayes_success - prior.max()) / (1 - prior.max())
        assert exact <= bound + 1e-12


def test_gaussian_channel_is_played_by_its_likelihood():
    channel = fano.SimplexGaussian(3.0, 10)
    game = fano.simulate_game(channel, n_trials=20_000, rng=np.random.default_rng(8))
    low, high = game.interval(0.9999)
    assert low <= channel.success() <= high
    assert game.bayes_success is None and game.information is None
    skewed = fano.simulate_game(
        fano.SimplexGaussian(0.0, 2), [0.2, 0.8], n_trials=2000, rng=np.random.default_rng(8)
    )
    assert skewed.success == pytest.approx(0.8, abs=0.05)  # no output helps: guess the mode


def test_same_seed_same_game():
    channel = fano.randomized_response(1.0, categories=3)
    one, two = (
        fano.simulate_game(channel, n_trials=500, rng=np.random.default_rng(2)) for _ in range(2)
    )
    assert one == two


def test_success_interval_is_clopper_pearson():
    game = fano.GameResult(37, 100, 0.25)
    right = stats.binomtest(37, 100).proportion_ci(0.95, method="exact")
    assert tuple(game.interval()) == pytest.approx((right.low, right.high), rel=1e-12)
    assert fano.GameResult(0, 9, 0.25).interval()[0] == 0.0
    assert fano.GameResult(9, 9, 0.25).interval()[1] == 1.0
    assert game.advantage == pytest.approx(0.16)
    assert game.to_dict()["success"] == 0.37


def test_edges():
    delta = fano.simulate_game(
        [[0.5, 0.5], [0.1, 0.9]], [0.0, 1.0], n_trials=50, rng=np.random.default_rng(0)
    )
    assert (delta.success, delta.advantage, delta.information) == (1.0, 0.0, 0.0)
    assert fano.bayes_success(np.eye(3)) == 1.0
    assert fano.channel_information(np.eye(3)) == pytest.approx(np.log(3))
    assert fano.channel_information([[0.3, 0.7, 0.0]] * 2) == 0.0


@pytest.mark.parametrize(
    ("channel", "prior", "message"),
    [
        ([0.5, 0.5], None, "matrix of probabilities"),
        ([[0.5, 0.4], [0.5, 0.5]], None, "add up to 1"),
        ([[0.5, 0.5], [0.5, 0.5]], [0.2, 0.3, 0.5], "one row per letter"),
        ([[0.5, 0.5]], None, "the number of categories of channel"),
    ],
)
def test_messages(channel, prior, message):
    with pytest.raises(ValueError, match=message):
        fano.bayes_success(channel, prior)
    with pytest.raises(ValueError, match=r"n_trials must be >= 1, got 0"):
        fano.simulate_game(np.eye(2), n_trials=0, rng=np.random.default_rng(0))


@pytest.mark.slow
def test_many_games_cover_the_exact_success():
    rng = np.random.default_rng(12)
    inside = []
    for _ in range(400):
        channel = rng.dirichlet(np.ones(5), size=4)
        game = fano.simulate_game(channel, n_trials=500, rng=rng)
        low, high = game.interval(0.95)
        inside.append(low <= game.bayes_success <= high)
    # Clopper-Pearson covers 95 % at least: 400 trials leave 3 standard errors of 1.1 % each
    assert np.mean(inside) >= 0.95 - 0.033

"""Experiments 1 and 2 of BEDP: guess which record of a pair was trained on."""

import os

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers
from bayesaudit.games._game import Game, attack_scores, checked_seed, play, run_options
from bayesaudit.games.protocols import Adversary, Mechanism, Population
from bayesaudit.games.runs import Progress
from bayesaudit.scores import AttackScores

__all__ = ["experiment_1", "experiment_2"]


def experiment_1(
    mechanism: Mechanism,
    adversary: Adversary,
    data: Population,
    *,
    n_train: int,
    n_samples: int = 1000,
    random_seed: int,
    shard_size: int = 64,
    directory: str | os.PathLike | None = None,
    resume: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> AttackScores:
    """Play BEDP's Experiment 1: one model and one challenge pair a sample.

    For each of `n_samples`: the adversary chooses ``n_train - 1`` records and a pair ``z0, z1``; a
    fair coin b is tossed; the mechanism trains on the records and ``z_b``; the adversary scores.

    Parameters
    ----------
    mechanism : Mechanism
        What trains, such as `DPSGD`, or `PerModel` round a function.
    adversary : Adversary
        What chooses and scores.
    data : Population
        Where ordinary records come from.
    n_train : int
        Size of each training set, the challenge included, >= 1.
    n_samples : int
        Number of models, >= 1.
    random_seed : int
        Seed of the whole run, >= 0.
    shard_size, directory, resume, n_jobs, progress
        As in `run_shards`; they never change the result.

    Returns
    -------
    AttackScores
        ``score`` > 0 means "z1" (and >= 0 does: a tie is a tiny negative), ``member`` is b,
        ``model`` the trial, ``challenge`` the pair.

    References
    ----------
    .. [1] Zanella-Béguelin et al. (2023), Bayesian estimation of differential privacy,
       Experiment 1. arXiv:2206.05199.

    Examples
    --------
    >>> from bayesaudit.games import Extremes, GaussianClasses, GaussianMean, OptimalTest
    >>> mechanism = GaussianMean(mu=2.0)
    >>> scores = experiment_1(
    ...     mechanism,
    ...     OptimalTest(Extremes(), mechanism),
    ...     GaussianClasses(n_features=1),
    ...     n_train=10,
    ...     n_samples=500,
    ...     random_seed=1,
    ... )
    >>> counts = scores.counts(0.0)
    >>> accuracy = float(counts.tp + counts.tn) / len(scores)
    >>> abs(accuracy - 0.841) < 0.05  # Phi(1)
    True
    """
    game = Game(mechanism, adversary, data, n_train, 1, checked_seed(random_seed))
    options = run_options(shard_size, directory, resume, n_jobs, progress)
    n_models = int(check_integers(n_samples, "n_samples", minimum=1))
    return _pairs(play(game, "experiment 1", n_models, options), adversary)


def experiment_2(
    mechanism: Mechanism,
    adversary: Adversary,
    data: Population,
    *,
    n_train: int,
    n_samples: int = 1000,
    per_model: int = 10,
    random_seed: int,
    shard_size: int = 64,
    directory: str | os.PathLike | None = None,
    resume: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> AttackScores:
    """Play BEDP's Experiment 2: `per_model` challenge pairs a model, n_samples/per_model models.

    Parameters
    ----------
    mechanism, adversary, data, random_seed
        As in `experiment_1`.
    n_train : int
        Size of each training set, the challenges included, >= `per_model`.
    n_samples : int
        Number of guesses in all, a multiple of `per_model`.
    per_model : int
        Challenge pairs of each model, each with a fair coin of its own, >= 1.
    shard_size, directory, resume, n_jobs, progress
        As in `run_shards`; they never change the result.

    Returns
    -------
    AttackScores
        ``score`` > 0 means "z1", ``member`` is the coin, ``model`` the trial, ``challenge`` the
        pair (the same number in every model where the design's points are fixed).

    Notes
    -----
    Samples of one model are dependent, and they interfere: many challenges in one training set
    weaken the attack on each, which biases the estimate downwards whatever the dependence.

    References
    ----------
    .. [1] Zanella-Béguelin et al. (2023), Bayesian estimation of differential privacy,
       Experiment 2. arXiv:2206.05199.

    Examples
    --------
    >>> from bayesaudit.games import GaussianClasses, OptimalTest, PrivateCoordinate
    >>> from bayesaudit.games import GaussianMean
    >>> mechanism = GaussianMean(mu=2.0)
    >>> scores = experiment_2(
    ...     mechanism,
    ...     OptimalTest(PrivateCoordinate(radius=1.0), mechanism),
    ...     GaussianClasses(n_features=1),
    ...     n_train=20,
    ...     n_samples=40,
    ...     per_model=4,
    ...     random_seed=1,
    ... )
    >>> len(scores), len(scores.models)
    (40, 10)
    """
    per_model = int(check_integers(per_model, "per_model", minimum=1))
    n_samples = int(check_integers(n_samples, "n_samples", minimum=1))
    if n_samples % per_model:
        raise ValueError(
            f"n_samples must be a multiple of per_model = {per_model}, got {n_samples}."
        )
    game = Game(mechanism, adversary, data, n_train, per_model, checked_seed(random_seed))
    options = run_options(shard_size, directory, resume, n_jobs, progress)
    return _pairs(play(game, "experiment 2", n_samples // per_model, options), adversary)


def _challenge_numbers(adversary: Adversary, n_models: int, per_model: int) -> NDArray[np.int64]:
    # A design with fixed points has the same challenge i in every model; others never repeat one.
    fixed = getattr(getattr(adversary, "challenges", None), "fixed", False)
    if fixed:
        return np.tile(np.arange(per_model), (n_models, 1))
    return np.arange(n_models * per_model).reshape(n_models, per_model)


def _pairs(arrays: dict[str, NDArray], adversary: Adversary) -> AttackScores:
    score, secret = arrays["score"], arrays["secret"]
    if score.shape[2] != 2:
        raise ValueError(f"a membership challenge has 2 candidates, got {score.shape[2]}.")
    with np.errstate(invalid="ignore"):
        pair = score[:, :, 1] - score[:, :, 0]
    # A tie says "z0". It is kept as the largest negative number, so that the rules "> 0" and
    # ">= 0" agree.
    pair[score[:, :, 1] == score[:, :, 0]] = np.nextafter(0.0, -1.0)
    models, challenges = secret.shape
    number = np.repeat(np.arange(models)[:, None], challenges, axis=1)
    return attack_scores(pair, secret, number, _challenge_numbers(adversary, models, challenges))

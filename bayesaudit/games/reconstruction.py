"""The reconstruction game of Fano's paper: guess which of many candidates was trained on."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers
from bayesaudit.fano import GameResult
from bayesaudit.games._game import Game, attack_scores, checked_seed, play, run_options
from bayesaudit.games.protocols import Adversary, Mechanism, Population
from bayesaudit.games.runs import Progress
from bayesaudit.scores import AttackScores

__all__ = ["ReconstructionResult", "reconstruction_game"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReconstructionResult(GameResult):
    """What a reconstruction game produced: an outcome of Fano's game, and what it was made of.

    Parameters
    ----------
    n_trials, n_correct : int
        Models trained, secrets guessed.
    base_success : float
        Success of the best guess without the output, the largest prior probability.
    prior : tuple of float
        Probability of each candidate.
    secret, guess : ndarray of int, shape (n_trials,)
        The candidate trained on and the one guessed.
    scores : AttackScores
        One row a trial and candidate: score (log prior included), member (it was the secret).
    neighboring_relation : str or None
        The relation the mechanism's claim speaks of.
    """

    prior: tuple[float, ...]
    secret: NDArray[np.int64] = field(repr=False)
    guess: NDArray[np.int64] = field(repr=False)
    scores: AttackScores = field(repr=False)
    neighboring_relation: str | None

    _omit = ("secret", "guess", "scores", "bayes_success", "information")


def reconstruction_game(
    mechanism: Mechanism,
    adversary: Adversary,
    data: Population,
    *,
    n_train: int,
    prior: Sequence[float],
    n_trials: int = 1000,
    random_seed: int,
    shard_size: int = 64,
    directory: str | os.PathLike | None = None,
    resume: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ReconstructionResult:
    """Play the attack game of Fano's Figure 1: guess which candidate was trained on.

    For each trial: the adversary knows ``n_train - 1`` records and the candidates; one is drawn
    from `prior`; the mechanism trains; the guess is the candidate of largest score plus log prior
    (a Bayes guess where scores are log-likelihoods).

    Parameters
    ----------
    mechanism, adversary, data, n_train, random_seed
        As in `experiment_1`; the adversary's challenges have any number of candidates.
    prior : sequence of float
        Probability of each candidate, summing to 1.
    n_trials : int
        Number of models, >= 1.
    shard_size, directory, resume, n_jobs, progress
        As in `run_shards`; they never change the result.

    Returns
    -------
    ReconstructionResult

    References
    ----------
    .. [1] Guo, Sablayrolles & Sanjabi (2023), Analyzing privacy leakage in machine learning via
       multiple hypothesis testing: a lesson from Fano, Figure 1. arXiv:2210.13662.

    Examples
    --------
    >>> from bayesaudit.games import CanaryCodes, GaussianClasses, GaussianMean, OptimalTest
    >>> mechanism = GaussianMean(mu=4.0)
    >>> result = reconstruction_game(
    ...     mechanism,
    ...     OptimalTest(CanaryCodes(n_codes=4, radius=1.0), mechanism),
    ...     GaussianClasses(n_features=1),
    ...     n_train=10,
    ...     prior=[0.25] * 4,
    ...     n_trials=100,
    ...     random_seed=1,
    ... )
    >>> result.success > 0.8, result.base_success
    (True, 0.25)
    """
    weights = np.asarray(prior, dtype=float)
    if weights.ndim != 1 or len(weights) < 2 or not (weights >= 0).all():
        raise ValueError("prior must be a sequence of at least two probabilities.")
    if not abs(weights.sum() - 1) < 1e-9:
        raise ValueError(f"prior must sum to 1, got {weights.sum()!r}.")
    weights = weights / weights.sum()
    game = Game(
        mechanism, adversary, data, n_train, 1, checked_seed(random_seed), tuple(weights.tolist())
    )
    options = run_options(shard_size, directory, resume, n_jobs, progress)
    n_trials = int(check_integers(n_trials, "n_trials", minimum=1))
    arrays = play(game, "reconstruction", n_trials, options)
    with np.errstate(divide="ignore"):
        score = arrays["score"][:, 0] + np.log(weights)
    secret = arrays["secret"][:, 0]
    guess = score.argmax(axis=1)
    candidate = np.tile(np.arange(len(weights)), (n_trials, 1))
    scores = attack_scores(
        score,
        candidate == secret[:, None],
        np.repeat(np.arange(n_trials)[:, None], len(weights), axis=1),
        candidate,
    )
    return ReconstructionResult(
        n_trials=n_trials,
        n_correct=int((guess == secret).sum()),
        base_success=max(weights.tolist()),
        prior=tuple(weights.tolist()),
        secret=secret,
        guess=guess,
        scores=scores,
        neighboring_relation=getattr(mechanism, "relation", None),
    )

"""The games: experiments 1 and 2 of BEDP, and the reconstruction game of Fano.

Every trial has the seed ``SeedSequence(random_seed, spawn_key=(trial,))`` with streams of its own
for the choice, the coin and the training, so trial ``i`` is the same in any run that holds it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers, check_prob
from bayesaudit.games.protocols import Adversary, Mechanism, Population, Trials
from bayesaudit.games.runs import Progress, describe, run_shards

__all__ = ["ReconstructionResult", "experiment_1", "experiment_2", "reconstruction_game"]


@dataclass(frozen=True, slots=True)
class _Game:
    """Trials ``start`` to ``stop`` of a game: choose, toss the coin, train, score."""

    mechanism: Mechanism
    adversary: Adversary
    data: Population
    n_train: int
    n_challenges: int
    seed: int
    prior: tuple[float, ...] | None = None

    def __call__(self, start: int, stop: int) -> dict[str, NDArray]:
        chunk = int(getattr(self.mechanism, "chunk_size", 32))
        parts = [
            self._chunk(first, min(first + chunk, stop)) for first in range(start, stop, chunk)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _chunk(self, start: int, stop: int) -> dict[str, NDArray]:
        choices, secrets, training = [], [], []
        for trial in range(start, stop):
            key = np.random.SeedSequence(self.seed, spawn_key=(trial,))
            rngs = [np.random.Generator(np.random.SFC64(stream)) for stream in key.spawn(3)]
            choice = self.adversary.choose(self.data, self.n_train, self.n_challenges, rngs[0])
            candidates = choice.y.shape[1]
            if self.prior is not None and len(self.prior) != candidates:
                raise ValueError(
                    f"prior must have one entry a candidate ({candidates}), got {len(self.prior)}."
                )
            if self.prior is None:
                secret = rngs[1].integers(2, size=self.n_challenges)
            else:
                secret = rngs[1].choice(candidates, size=self.n_challenges, p=self.prior)
            choices.append(choice)
            secrets.append(secret)
            training.append(rngs[2])
        trials = Trials.assemble(choices, np.array(secrets, dtype=np.int64))
        outputs = self.mechanism.train(trials.datasets, training)
        scores = np.asarray(self.adversary.score(outputs, trials), dtype=np.float64)
        if scores.shape != trials.y.shape:
            raise ValueError(
                f"score must return shape (n_models, n_challenges, n_candidates) = "
                f"{trials.y.shape}, got {scores.shape}."
            )
        if np.isnan(scores).any():
            raise ValueError("the adversary returned NaN for a score.")
        return {"score": scores, "secret": trials.secret}


def _attack_scores(score: NDArray, member: NDArray, model: NDArray, challenge: NDArray) -> Any:
    return SimpleNamespace(
        score=score.ravel(),
        member=member.ravel().astype(bool),
        model=model.ravel(),
        challenge=challenge.ravel(),
    )


def _challenge_numbers(adversary: Adversary, n_models: int, per_model: int) -> NDArray[np.int64]:
    # A design with fixed points has the same challenge i in every model; others never repeat one.
    fixed = getattr(getattr(adversary, "challenges", None), "fixed", False)
    if fixed:
        return np.tile(np.arange(per_model), (n_models, 1))
    return np.arange(n_models * per_model).reshape(n_models, per_model)


def _play(game: _Game, name: str, n_models: int, options: dict[str, Any]) -> dict[str, NDArray]:
    check_integers(game.n_train, "n_train", minimum=game.n_challenges)
    spec = {
        "game": name,
        "mechanism": describe(game.mechanism),
        "neighboring_relation": getattr(game.mechanism, "relation", None),
        "adversary": describe(game.adversary),
        "data": describe(game.data),
        "n_train": game.n_train,
        "per_model": game.n_challenges,
        "random_seed": game.seed,
        "prior": None if game.prior is None else list(game.prior),
    }
    prepare = getattr(game.adversary, "prepare", None)
    if prepare is not None:
        adversary = prepare(game.mechanism, game.data, game.n_train, game.n_challenges, game.seed)
        game = replace(game, adversary=adversary)
    return run_shards(game, n_models, spec=spec, **options)


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
) -> Any:
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
        ``score`` > 0 (or >= 0: no score is 0) means "z1", ``member`` is b, ``model`` the trial, ``challenge`` the pair.

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
    >>> accuracy = ((scores.score > 0) == scores.member).mean()
    >>> bool(abs(accuracy - 0.841) < 0.05)  # Phi(1)
    True
    """
    game = _Game(mechanism, adversary, data, n_train, 1, _seed(random_seed))
    options = _options(shard_size, directory, resume, n_jobs, progress)
    n_models = int(check_integers(n_samples, "n_samples", minimum=1))
    return _pairs(_play(game, "experiment 1", n_models, options), adversary)


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
) -> Any:
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
    >>> len(scores.score), int(scores.model.max())
    (40, 9)
    """
    per_model = int(check_integers(per_model, "per_model", minimum=1))
    n_samples = int(check_integers(n_samples, "n_samples", minimum=1))
    if n_samples % per_model:
        raise ValueError(
            f"n_samples must be a multiple of per_model = {per_model}, got {n_samples}."
        )
    game = _Game(mechanism, adversary, data, n_train, per_model, _seed(random_seed))
    options = _options(shard_size, directory, resume, n_jobs, progress)
    return _pairs(_play(game, "experiment 2", n_samples // per_model, options), adversary)


def _options(
    shard_size: int,
    directory: str | os.PathLike | None,
    resume: bool,
    n_jobs: int | None,
    progress: Progress | None,
) -> dict[str, Any]:
    return {
        "shard_size": shard_size,
        "directory": directory,
        "resume": resume,
        "n_jobs": n_jobs,
        "progress": progress,
    }


def _seed(random_seed: int) -> int:
    return int(check_integers(random_seed, "random_seed"))


def _pairs(arrays: dict[str, NDArray], adversary: Adversary) -> Any:
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
    return _attack_scores(pair, secret, number, _challenge_numbers(adversary, models, challenges))


@dataclass(frozen=True, slots=True)
class ReconstructionResult:
    """What a reconstruction game produced.

    Parameters
    ----------
    n_trials, n_correct : int
        Models trained, secrets guessed.
    prior : tuple of float
        Probability of each candidate.
    secret, guess : ndarray of int, shape (n_trials,)
        The candidate trained on and the one guessed.
    scores : AttackScores
        One row a trial and candidate: score (log prior included), member (it was the secret).
    neighboring_relation : str or None
        The relation the mechanism's claim speaks of.
    """

    n_trials: int
    n_correct: int
    prior: tuple[float, ...]
    secret: NDArray[np.int64] = field(repr=False)
    guess: NDArray[np.int64] = field(repr=False)
    scores: Any = field(repr=False)
    neighboring_relation: str | None

    @property
    def success(self) -> float:
        """Share of secrets guessed."""
        return self.n_correct / self.n_trials

    @property
    def baseline(self) -> float:
        """Success of the best guess without the output, the largest prior probability."""
        return max(self.prior)

    @property
    def advantage(self) -> float:
        """(success - baseline) / (1 - baseline); 0 where the prior leaves nothing to learn."""
        if self.baseline >= 1:
            return 0.0
        return (self.success - self.baseline) / (1 - self.baseline)

    def interval(self, prob: float = 0.95) -> tuple[float, float]:
        """Return the Clopper-Pearson confidence interval of the success probability.

        Parameters
        ----------
        prob : float
            Confidence in (0, 1); each end errs by (1 - prob)/2.
        """
        from scipy.special import betainccinv, betaincinv

        tail = (1 - check_prob(prob)) / 2
        n, k = self.n_trials, self.n_correct
        lower = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
        upper = float(betainccinv(k + 1, n - k, tail)) if k < n else 1.0
        return lower, upper

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "n_trials": self.n_trials,
            "n_correct": self.n_correct,
            "prior": list(self.prior),
            "success": self.success,
            "baseline": self.baseline,
            "advantage": self.advantage,
            "neighboring_relation": self.neighboring_relation,
        }


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
    >>> result.success > 0.8, result.baseline
    (True, 0.25)
    """
    weights = np.asarray(prior, dtype=float)
    if weights.ndim != 1 or len(weights) < 2 or not (weights >= 0).all():
        raise ValueError("prior must be a sequence of at least two probabilities.")
    if not abs(weights.sum() - 1) < 1e-9:
        raise ValueError(f"prior must sum to 1, got {weights.sum()!r}.")
    weights = weights / weights.sum()
    game = _Game(
        mechanism, adversary, data, n_train, 1, _seed(random_seed), tuple(weights.tolist())
    )
    options = _options(shard_size, directory, resume, n_jobs, progress)
    n_trials = int(check_integers(n_trials, "n_trials", minimum=1))
    arrays = _play(game, "reconstruction", n_trials, options)
    with np.errstate(divide="ignore"):
        score = arrays["score"][:, 0] + np.log(weights)
    secret = arrays["secret"][:, 0]
    guess = score.argmax(axis=1)
    candidate = np.tile(np.arange(len(weights)), (n_trials, 1))
    scores = _attack_scores(
        score,
        candidate == secret[:, None],
        np.repeat(np.arange(n_trials)[:, None], len(weights), axis=1),
        candidate,
    )
    return ReconstructionResult(
        n_trials=n_trials,
        n_correct=int((guess == secret).sum()),
        prior=tuple(weights.tolist()),
        secret=secret,
        guess=guess,
        scores=scores,
        neighboring_relation=getattr(mechanism, "relation", None),
    )

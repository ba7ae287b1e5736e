"""One engine for every game: choose, toss the coin, train, score.

Every trial has the seed ``SeedSequence(random_seed, spawn_key=(trial,))`` with streams of its own
for the choice, the coin and the training, so trial ``i`` is the same in any run that holds it.
"""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers
from bayesaudit.games._threads import one_blas_thread
from bayesaudit.games.protocols import Adversary, Known, Mechanism, Population
from bayesaudit.games.runs import Progress, describe, run_shards
from bayesaudit.scores import AttackScores

__all__ = ["Game", "attack_scores", "checked_seed", "play", "run_options"]


@dataclass(frozen=True, slots=True)
class Game:
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
        with one_blas_thread():
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
        known = Known.of(choices)
        secret = np.array(secrets, dtype=np.int64)
        outputs = self.mechanism.train(known.with_secrets(secret), training)
        scores = np.asarray(self.adversary.score(outputs, known), dtype=np.float64)
        if scores.shape != known.y.shape:
            raise ValueError(
                f"score must return shape (n_models, n_challenges, n_candidates) = "
                f"{known.y.shape}, got {scores.shape}."
            )
        if np.isnan(scores).any():
            raise ValueError("the adversary returned NaN for a score.")
        return {"score": scores, "secret": secret}


def attack_scores(
    score: NDArray, member: NDArray, model: NDArray, challenge: NDArray
) -> AttackScores:
    """Return `AttackScores` of arrays of any one shape."""
    return AttackScores(
        score=score.ravel(), member=member.ravel(), model=model.ravel(), challenge=challenge.ravel()
    )


def play(game: Game, name: str, n_models: int, options: dict[str, Any]) -> dict[str, NDArray]:
    """Play all trials of a game and return its scores and secrets."""
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


def run_options(
    shard_size: int,
    directory: str | os.PathLike | None,
    resume: bool,
    n_jobs: int | None,
    progress: Progress | None,
) -> dict[str, Any]:
    """Return the options of `run_shards` that a game passes on."""
    return {
        "shard_size": shard_size,
        "directory": directory,
        "resume": resume,
        "n_jobs": n_jobs,
        "progress": progress,
    }


def checked_seed(random_seed: int) -> int:
    """Return a seed, a whole number >= 0."""
    return int(check_integers(random_seed, "random_seed"))

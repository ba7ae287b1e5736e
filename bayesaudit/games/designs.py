"""Designs of an implementation's audit: which canaries are tried, and the pilot that picks one.

No single canary suits every trainer: how far out a record must lie depends on the clipping norm,
the step length and the initial weights, which the audit of a function does not know. The pilot
trains a few models a canary, both candidates from the same generators, so that the difference of
their scores is the canary's effect alone; its ratio to the spread over generators says how well the
pair can be told apart. The pilot has seeds of its own: it changes the power, never the level.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit.games._threads import one_blas_thread
from bayesaudit.games.adversaries import LossComparison, StepLikelihood
from bayesaudit.games.canaries import Copies, LabelFlip, PrivateDirection
from bayesaudit.games.challenges import Challenges, PrivateCoordinate
from bayesaudit.games.dpsgd import DPSGD
from bayesaudit.games.protocols import Adversary, Known, Mechanism, PerModel, Population

__all__ = ["DESIGNS", "Attack", "Design", "attacks", "pilot"]

Design = Literal["auto", "coordinate", "layers", "bias", "copies"]

# What each design can and cannot see; measured on planted bugs, this package's and plain NumPy's.
DESIGNS: dict[str, dict[str, tuple[str, ...]]] = {
    "auto": {
        "sees": (
            "noise that is too small (divided by the batch or its root, a wrong multiplier)",
            "clipping after averaging, layer by layer, or none",
            "norms that leave the biases out",
            "noise drawn once and reused for all coordinates, classes or trainings",
        ),
        "blind_to": (
            "sampling without replacement accounted as Poisson (use design 'copies' where steps "
            "are published)",
            "the same noise at every step",
            "one training's noise reused in all, in hidden layers that start at random weights",
            "leaks that only other records or other statistics show",
        ),
    },
    "coordinate": {
        "sees": (
            "noise that is too small (divided by the batch or its root, a wrong multiplier)",
            "clipping after averaging, or none",
            "noise drawn once and reused for all coordinates, classes or trainings",
            "batches of an epoch accounted as Poisson samples, if steps are published and the "
            "noise is small",
        ),
        "blind_to": (
            "norms that leave the biases out (use design 'bias')",
            "clipping layer by layer, if one layer rules the loss (use design 'layers')",
            "sampling without replacement accounted as Poisson (use design 'copies' where steps "
            "are published)",
            "the same noise at every step",
            "one training's noise reused in all, in hidden layers that start at random weights",
            "leaks that only other records or other statistics show",
        ),
    },
    "layers": {
        "sees": (
            "clipping layer by layer at the whole norm each",
            "noise that is too small, or reused for all coordinates, classes or trainings",
            "clipping after averaging, or none, while the record's gradient exceeds the norm",
        ),
        "blind_to": (
            "sampling without replacement accounted as Poisson (use design 'copies' where steps "
            "are published)",
            "the same noise at every step",
            "one training's noise reused in all, in hidden layers that start at random weights",
            "leaks that only other records or other statistics show",
        ),
    },
    "bias": {
        "sees": (
            "norms that leave the biases out",
            "noise that is too small, or reused for all classes or trainings",
        ),
        "blind_to": (
            "clipping after averaging, or none, if the bias's gradient is below the norm",
            "sampling without replacement accounted as Poisson (use design 'copies' where steps "
            "are published)",
            "the same noise at every step",
            "faults confined to the features' weights",
        ),
    },
    "copies": {
        "sees": (
            "batches of fixed size (without replacement) accounted as Poisson samples, while the "
            "noise multiplier is below about 2",
            "noise that is too small, in full-batch training",
        ),
        "blind_to": (
            "sampling without replacement under larger noise",
            "noise that is too small under Poisson sampling, where the number of copies in a batch "
            "hides it (use design 'coordinate')",
            "norms that leave the biases out (use design 'bias')",
        ),
    },
}

# Pilot models have seeds of their own: no trial has these numbers.
_CHOICE_KEY = 0xFFFFFFFE
_THRESHOLD_KEY = 0xFFFFFFFD

# Columns of a spread canary: many, where random weights that the audit does not see must drown;
# few, where the starting weights are published.
_COLUMNS, _COLUMNS_SEEN = 256, 32


@dataclass(frozen=True, slots=True)
class Attack:
    """A mechanism, the adversary that attacks it, and the canary in words."""

    mechanism: Mechanism
    adversary: Adversary
    canary: str


def attacks(
    mechanism: Mechanism, design: Design, loss: Callable[..., Any] | None, n_train: int
) -> list[Attack]:
    """Return the attacks of a design that what the mechanism publishes allows.

    Raises
    ------
    ValueError
        For "copies" where the steps are not published.
    """
    own = isinstance(mechanism, DPSGD) and loss is None and mechanism.noise_multiplier > 0
    if design == "copies" and not own:
        raise ValueError(
            "design 'copies' reads the noised sum of every step, which only the package's DPSGD "
            "publishes: from the last model alone, batches of fixed size are never told apart "
            "better than the claim for Poisson samples allows."
        )
    columns = _COLUMNS_SEEN if own else _COLUMNS
    found = []
    for challenges, canary in _canaries(design, n_train, columns):
        if own and not mechanism.n_hidden and isinstance(challenges, PrivateDirection):
            continue  # softmax regression starts at zeros: one private column is as good
        if own:
            found.append(_published_steps(mechanism, challenges, canary))
            continue
        seen = _has_initial(mechanism)
        adversary = LossComparison(challenges, loss, against_initial=seen)
        words = "by its loss against the initial model's" if seen else "by its loss"
        found.append(Attack(mechanism, adversary, f"{canary}, {words}"))
    return found


def _canaries(design: Design, n_train: int, columns: int) -> Iterator[tuple[Challenges, str]]:
    """Yield the canaries of a design: from a gradient just clipped to one that rules the batch."""
    if design in ("auto", "coordinate"):
        # Far enough out that the canary's gradient rules even the batch's mean.
        far = 4.0 * n_train
        yield PrivateCoordinate(radius=far), f"±{far:g} in one private column"
        for radius in (4.0, 32.0):
            yield (
                PrivateDirection(radius, columns),
                f"±{radius:g} along {columns} private columns",
            )
    if design in ("auto", "layers"):
        for radius in (1.0, 4.0):
            yield (
                LabelFlip(radius, columns),
                f"a record of length {radius:g} along {columns} private columns, either label",
            )
    if design in ("auto", "bias"):
        yield LabelFlip(0.0, columns), "an empty record, either label"
    if design == "copies":
        radius = 4.0 * n_train
        yield Copies(radius=radius), f"±{radius:g} in one column, all else copies of one of them"


def _published_steps(mechanism: Any, challenges: Challenges, canary: str) -> Attack:
    """Attack the package's own DP-SGD by all that it publishes."""
    exact = mechanism.sampling_rate == 1 and mechanism.n_hidden == 0
    if exact and isinstance(challenges, PrivateCoordinate):
        # The last model says all that the steps do: the private weight adds them up.
        adversary = LossComparison(challenges, against_initial=True)
        return Attack(mechanism, adversary, f"{canary}, by its loss")
    if not mechanism.record:
        mechanism = replace(mechanism, record=True)
    sampling = "fixed-size" if isinstance(challenges, Copies) else "poisson"
    adversary = StepLikelihood(challenges, sampling)
    return Attack(mechanism, adversary, f"{canary}, by the likelihood of the steps")


def _has_initial(mechanism: Any) -> bool:
    if isinstance(mechanism, PerModel):
        return mechanism.initial is not None
    return isinstance(mechanism, DPSGD)


def pilot(
    candidates: list[Attack], data: Population, n_train: int, n_pilot: int, seed: int
) -> Attack:
    """Return the attack that separates its pair best, its threshold set.

    Parameters
    ----------
    candidates : list of Attack
        At least one.
    data : Population
        Ordinary records.
    n_train : int
        Size of each training set.
    n_pilot : int
        Pairs of models trained for each canary, >= 2; five times as many for the threshold.
    seed : int
        Seed of the audit; the pilot draws from streams that no trial uses.
    """
    best = 0
    if len(candidates) > 1:
        secrets = np.tile([0, 1], n_pilot)
        streams = np.repeat(np.arange(n_pilot), 2)
        separation = np.empty(len(candidates))
        for place, attack in enumerate(candidates):
            training = _Training(attack, data, n_train, seed, _CHOICE_KEY)
            pair = _pair(attack.adversary, *training(secrets, streams))
            separation[place] = _separation(pair[secrets == 0], pair[secrets == 1])
        best = int(np.argmax(separation))
    chosen = candidates[best]
    if not isinstance(chosen.adversary, LossComparison):
        return chosen  # a likelihood ratio has its threshold at 0
    secrets = np.tile([0, 1], 5 * n_pilot)
    training = _Training(chosen, data, n_train, seed, _THRESHOLD_KEY)
    pair = _pair(chosen.adversary, *training(secrets, np.arange(len(secrets))))
    middle = (pair[secrets == 0].mean() + pair[secrets == 1].mean()) / 2
    return replace(chosen, adversary=replace(chosen.adversary, threshold=float(middle)))


@dataclass(frozen=True, slots=True)
class _Training:
    """Trains pilot models: one a secret, each from the generator of its stream."""

    attack: Attack
    data: Population
    n_train: int
    seed: int
    key: int

    def __call__(self, secrets: NDArray, streams: NDArray) -> tuple[Any, Known]:
        choices, rngs = [], []
        for stream in streams.tolist():
            sequence = np.random.SeedSequence(self.seed, spawn_key=(self.key, stream))
            game, rng = (np.random.Generator(np.random.SFC64(s)) for s in sequence.spawn(2))
            choices.append(self.attack.adversary.choose(self.data, self.n_train, 1, game))
            rngs.append(rng)
        known = Known.of(choices)
        with one_blas_thread():
            outputs = self.attack.mechanism.train(known.with_secrets(secrets[:, None]), rngs)
        return outputs, known


def _pair(adversary: Adversary, outputs: Any, known: Known) -> NDArray[np.float64]:
    score = np.asarray(adversary.score(outputs, known), dtype=np.float64)
    return score[:, 0, 1] - score[:, 0, 0]


def _separation(zero: NDArray[np.float64], one: NDArray[np.float64]) -> float:
    """Return the distance of the means in units of the spread about them."""
    shift = float(one.mean() - zero.mean())
    spread = float(np.sqrt((zero.var(ddof=1) + one.var(ddof=1)) / 2))
    if spread == 0 or not np.isfinite(shift):
        return np.inf if shift > 0 else -np.inf
    return shift / spread

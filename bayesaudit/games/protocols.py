"""What a game is made of: data sets, a mechanism that trains, an adversary that guesses.

A trial trains one model. Each of its challenges is a choice among `K` candidate records (two for
membership: ``z0`` and ``z1``), of which the secret one is put into the training set. Arrays carry
the trials on their first axis, so that a mechanism may train many models at once.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Adversary",
    "Choice",
    "Datasets",
    "Known",
    "Mechanism",
    "ModelsWithStart",
    "PerModel",
    "Population",
]


@dataclass(frozen=True, slots=True)
class Datasets:
    """Training sets of equal size, one a model.

    Parameters
    ----------
    x : ndarray of float32, shape (n_models, n_records, n_features)
        The records' features.
    y : ndarray of int64, shape (n_models, n_records)
        The records' labels, 0, 1, ...

    Examples
    --------
    >>> import numpy as np
    >>> datasets = Datasets(np.zeros((3, 5, 2), np.float32), np.zeros((3, 5), np.int64))
    >>> len(datasets), datasets.n_records
    (3, 5)
    """

    x: NDArray[np.float32]
    y: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.x.ndim != 3 or self.y.shape != self.x.shape[:2]:
            raise ValueError(
                "x must have shape (n_models, n_records, n_features) and y (n_models, n_records), "
                f"got {self.x.shape} and {self.y.shape}."
            )

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, models: slice) -> "Datasets":
        return Datasets(self.x[models], self.y[models])

    @property
    def n_records(self) -> int:
        """Records in each training set."""
        return self.x.shape[1]


@dataclass(frozen=True, slots=True)
class Choice:
    """What an adversary chose for one trial.

    Parameters
    ----------
    base_x, base_y : ndarray, shapes (n_base, n_features) and (n_base,)
        The records that are in the training set whatever the secret is.
    x, y : ndarray, shapes (n_challenges, n_candidates, n_features) and (n_challenges, n_candidates)
        The candidates of each challenge; for membership candidate 0 is ``z0``, candidate 1 ``z1``.
    """

    base_x: NDArray
    base_y: NDArray
    x: NDArray
    y: NDArray


@dataclass(frozen=True, slots=True)
class Known:
    """What the adversary knows of trials: all but which candidate was trained on.

    Parameters
    ----------
    base : Datasets
        The records of each training set that do not depend on the secret.
    x : ndarray of float32, shape (n_models, n_challenges, n_candidates, n_features)
        The candidates' features.
    y : ndarray of int64, shape (n_models, n_challenges, n_candidates)
        The candidates' labels.
    """

    base: Datasets
    x: NDArray[np.float32]
    y: NDArray[np.int64]

    @classmethod
    def of(cls, choices: Sequence[Choice]) -> "Known":
        """Stack the choices of trials, all of one shape."""
        base = Datasets(
            np.stack([choice.base_x for choice in choices]).astype(np.float32),
            np.stack([choice.base_y for choice in choices]).astype(np.int64),
        )
        x = np.stack([choice.x for choice in choices]).astype(np.float32)
        return cls(base, x, np.stack([choice.y for choice in choices]).astype(np.int64))

    @property
    def n_train(self) -> int:
        """Records in each training set, the challenges included."""
        return self.base.n_records + self.x.shape[1]

    def with_secrets(self, secret: NDArray[np.int64]) -> Datasets:
        """Return the training sets: each challenge's secret candidate behind the base records.

        Parameters
        ----------
        secret : ndarray of int64, shape (n_models, n_challenges)
            The candidate to train on.
        """
        pick = secret[:, :, None]
        x = np.take_along_axis(self.x, pick[..., None], axis=2)[:, :, 0]
        y = np.take_along_axis(self.y, pick, axis=2)[:, :, 0]
        return Datasets(
            np.concatenate([self.base.x, x], axis=1), np.concatenate([self.base.y, y], axis=1)
        )


class Population(Protocol):
    """Where records come from."""

    n_features: int
    n_classes: int

    def draw(self, n_records: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Return features (n_records, n_features) and labels (n_records,) of distinct records."""
        ...


@runtime_checkable
class Mechanism(Protocol):
    """A training procedure: data sets and one generator a model in, what is published out.

    The output is whatever the adversary reads: `TrainedModels` of the package's own trainer, an
    array, or a list with one object a model (see `PerModel`).
    """

    def train(self, datasets: Datasets, rngs: Sequence[np.random.Generator]) -> Any:
        """Train one model a data set, each from its own generator only."""
        ...


@runtime_checkable
class Adversary(Protocol):
    """Chooses the challenges, then scores every candidate from what was published.

    An adversary may also have ``prepare(mechanism, data, n_train, n_challenges, seed)``, called
    once a run, which returns the adversary to use (reference models are trained there).
    """

    def choose(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose the base records (n_train - n_challenges of them) and the candidates."""
        ...

    def score(self, outputs: Any, known: Known) -> NDArray[np.float64]:
        """Score candidates, shape (n_models, n_challenges, n_candidates); higher is likelier."""
        ...


@dataclass(frozen=True, slots=True)
class ModelsWithStart:
    """Trained models and, beside each, the model that its training started from.

    Parameters
    ----------
    models, initial : list
        One object a model in each.
    """

    models: list[Any]
    initial: list[Any]

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, model: int) -> Any:
        return self.models[model]


@dataclass(frozen=True, slots=True)
class PerModel:
    """Make a mechanism of a function that trains one model.

    Parameters
    ----------
    function : callable
        ``function(x, y, rng)`` with x of shape (n_records, n_features), y of shape (n_records,) and
        a NumPy generator; returns the trained model, any object.
    initial : callable, optional
        ``initial(n_features, rng)`` returns the model that `function` starts from when it is given
        a generator in the same state: the same first lines, nothing trained, no noise of the
        training in it. With it the outputs are `ModelsWithStart`.

    Examples
    --------
    >>> import numpy as np
    >>> mechanism = PerModel(lambda x, y, rng: x.mean() + rng.normal())
    >>> datasets = Datasets(np.zeros((2, 5, 1), np.float32), np.zeros((2, 5), np.int64))
    >>> len(mechanism.train(datasets, [np.random.default_rng(seed) for seed in (1, 2)]))
    2
    """

    function: Callable[[NDArray, NDArray, np.random.Generator], Any]
    initial: Callable[[int, np.random.Generator], Any] | None = None

    def train(
        self, datasets: Datasets, rngs: Sequence[np.random.Generator]
    ) -> list[Any] | ModelsWithStart:
        """Train the models one after the other."""
        starts = []
        if self.initial is not None:
            # Copies: the function finds its generators as they were. The records stay out of it,
            # since the start must not know the secret.
            width = datasets.x.shape[-1]
            starts = [self.initial(width, copy.deepcopy(rng)) for rng in rngs]
        models = [
            self.function(x, y, rng) for x, y, rng in zip(datasets.x, datasets.y, rngs, strict=True)
        ]
        return models if self.initial is None else ModelsWithStart(models, starts)

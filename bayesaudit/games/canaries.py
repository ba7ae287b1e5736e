"""Canaries: pairs of records made to show what one record does to training, for the audits.

They are `challenges` in columns or biases of their own, so that little but the secret moves them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers
from bayesaudit.games.challenges import base_records, same_label
from bayesaudit.games.protocols import Choice, Population

__all__ = ["Bias", "Copies", "LabelFlip", "PrivateDirection"]


def _direction(n_columns: int) -> NDArray[np.float64]:
    """Return the unit vector of Thue-Morse signs.

    It is orthogonal to everything that repeats with a period of a power of two below the length,
    so that noise drawn once and reused, for all coordinates or block by block, drops out.
    """
    check_integers(n_columns, "n_columns", minimum=2)
    if n_columns & (n_columns - 1):
        raise ValueError(f"n_columns must be a power of two, got {n_columns}.")
    signs = np.ones(1)
    while len(signs) < n_columns:
        signs = np.concatenate([signs, -signs])
    return signs / np.sqrt(n_columns)


def _along(
    data: Population,
    n_train: int,
    n_challenges: int,
    rng: np.random.Generator,
    lengths: tuple[float, float],
    n_columns: int,
) -> tuple[NDArray, NDArray, NDArray]:
    """Return base records and a pair of points on the direction of private columns."""
    if n_challenges != 1:
        raise ValueError(f"n_challenges must be 1 with this design, got {n_challenges}.")
    base_x, base_y = base_records(data, n_train, 1, rng, n_columns)
    x = np.zeros((1, 2, base_x.shape[1]))
    x[0, :, data.n_features :] = np.multiply.outer(lengths, _direction(n_columns))
    return base_x, base_y, x


@dataclass(frozen=True, slots=True)
class PrivateDirection:
    """An antipodal pair ``±radius u``, u spread evenly over `n_columns` private columns.

    `PrivateCoordinate` for trainers that start at random weights: the start's share in ``u`` falls
    with the root of the number of columns (weights of variance 1/fan-in), the record's does not,
    and a moderate radius leaves the candidates' gradients alive. One challenge a trial.

    Parameters
    ----------
    radius : float
        Euclidean norm of the candidates, >= 0.
    n_columns : int
        Number of columns added, a power of two >= 2.
    label : int
        The label of both candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesaudit.games import EmptyRecords
    >>> choice = PrivateDirection(2.0, 4).draw(EmptyRecords(), 8, 1, np.random.default_rng(1))
    >>> choice.x[0, 0, -4:].tolist()
    [1.0, -1.0, -1.0, 1.0]
    """

    radius: float = 8.0
    n_columns: int = 256
    label: int = 0
    fixed: ClassVar[bool] = True

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        lengths = (self.radius, -self.radius)
        base_x, base_y, x = _along(data, n_train, n_challenges, rng, lengths, self.n_columns)
        return Choice(base_x, base_y, x, same_label(1, 2, self.label))


@dataclass(frozen=True, slots=True)
class LabelFlip:
    """One record ``radius u`` under two labels, u as in `PrivateDirection`.

    With two classes the two gradients are opposite in every layer, weights and biases alike, for
    any network: what is clipped layer by layer moves further than C. One challenge a trial.

    Parameters
    ----------
    radius : float
        Euclidean norm of the record, >= 0.
    n_columns : int
        Number of columns added, a power of two >= 2.
    labels : pair of int
        The labels of ``z0`` and ``z1``.
    """

    radius: float = 1.0
    n_columns: int = 256
    labels: tuple[int, int] = (0, 1)
    fixed: ClassVar[bool] = True

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        lengths = (self.radius, self.radius)
        base_x, base_y, x = _along(data, n_train, n_challenges, rng, lengths, self.n_columns)
        return Choice(base_x, base_y, x, np.array([self.labels]))


@dataclass(frozen=True, slots=True)
class Bias:
    """Two empty records that differ in the label: only the biases can carry them.

    Parameters
    ----------
    labels : pair of int
        The labels of ``z0`` and ``z1``.
    """

    labels: tuple[int, int] = (0, 1)
    fixed: ClassVar[bool] = True

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        base_x, base_y = base_records(data, n_train, n_challenges, rng)
        x = np.zeros((n_challenges, 2, base_x.shape[1]))
        return Choice(base_x, base_y, x, np.tile(np.array(self.labels), (n_challenges, 1)))


@dataclass(frozen=True, slots=True)
class Copies:
    """`PrivateCoordinate` with every other record a copy of ``z1``; one challenge a trial.

    The design that sees sampling without replacement: when ``z0`` enters a batch of fixed size it
    displaces a copy of ``z1``, which moves the sum by twice the clipping norm; under Poisson
    sampling nobody is displaced.

    Parameters
    ----------
    radius : float
        Euclidean norm of the candidates, >= 0.
    label : int
        The label of every record.
    """

    radius: float = 8.0
    label: int = 0
    fixed: ClassVar[bool] = True

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        if n_challenges != 1:
            raise ValueError(f"n_challenges must be 1 with copies, got {n_challenges}.")
        x = np.zeros((1, 2, data.n_features + 1))
        x[0, 0, -1] = self.radius
        x[0, 1, -1] = -self.radius
        base_x = np.repeat(x[0, 1:], n_train - 1, axis=0)
        base_y = np.full(n_train - 1, self.label, dtype=np.int64)
        return Choice(base_x, base_y, x, same_label(1, 2, self.label))

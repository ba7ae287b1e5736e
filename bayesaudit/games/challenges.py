"""Challenges: the candidate records of a trial, from ordinary ones to the worst cases known.

Each class has ``draw(data, n_train, n_challenges, rng) -> Choice`` and says with ``fixed`` whether
challenge ``i`` is the same point in every trial. Designs with directions of their own append
feature columns that are zero in every ordinary record.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_nonnegative
from bayesaudit.games.protocols import Choice, Population

__all__ = [
    "AttributeValues",
    "AverageCase",
    "CanaryCodes",
    "Challenges",
    "Extremes",
    "FarOut",
    "Mislabelled",
    "Orthogonal",
    "PrivateCoordinate",
]


class Challenges(Protocol):
    """A design of challenges."""

    fixed: bool

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        ...


def base_records(
    data: Population, n_train: int, n_challenges: int, rng: np.random.Generator, extra: int = 0
) -> tuple[NDArray, NDArray]:
    x, y = data.draw(n_train - n_challenges, rng)
    if extra:
        x = np.concatenate([x, np.zeros((len(x), extra), dtype=x.dtype)], axis=1)
    return x, y


def same_label(n_challenges: int, n_candidates: int, label: int) -> NDArray[np.int64]:
    return np.full((n_challenges, n_candidates), label, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class AverageCase:
    """Both candidates are fresh records of the population, distinct from the training set's.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesaudit.games import GaussianClasses
    >>> choice = AverageCase().draw(GaussianClasses(), 100, 3, np.random.default_rng(1))
    >>> choice.base_x.shape, choice.x.shape
    ((97, 64), (3, 2, 64))
    """

    fixed: ClassVar[bool] = False

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        n_base = n_train - n_challenges
        x, y = data.draw(n_base + 2 * n_challenges, rng)
        pairs = x[n_base:].reshape(n_challenges, 2, -1)
        return Choice(x[:n_base], y[:n_base], pairs, y[n_base:].reshape(n_challenges, 2))


@dataclass(frozen=True, slots=True)
class Mislabelled:
    """Fresh records whose label is a uniform wrong one."""

    fixed: ClassVar[bool] = False

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        choice = AverageCase().draw(data, n_train, n_challenges, rng)
        shift = rng.integers(1, data.n_classes, size=choice.y.shape)
        wrong = (choice.y + shift) % data.n_classes
        return Choice(choice.base_x, choice.base_y, choice.x, wrong)


@dataclass(frozen=True, slots=True)
class FarOut:
    """Random directions of feature space at `radius` from the origin, random labels.

    Parameters
    ----------
    radius : float
        Euclidean norm of the candidates, >= 0.
    """

    radius: float = 8.0
    fixed: ClassVar[bool] = False

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        base_x, base_y = base_records(data, n_train, n_challenges, rng)
        x = rng.standard_normal((n_challenges, 2, base_x.shape[1]))
        x *= self.radius / np.linalg.norm(x, axis=-1, keepdims=True)
        return Choice(base_x, base_y, x, rng.integers(data.n_classes, size=x.shape[:2]))


@dataclass(frozen=True, slots=True)
class Orthogonal:
    """An antipodal pair ``±radius u`` in `dims` columns no ordinary record uses.

    Challenges of one trial share those columns, so they overlap each other; ``u`` is uniform on
    the sphere and the label is `label` for both.

    Parameters
    ----------
    dims : int
        Number of columns added, >= 1.
    radius : float
        Euclidean norm of the candidates, >= 0.
    label : int
        The label of both candidates.
    """

    dims: int = 32
    radius: float = 8.0
    label: int = 0
    fixed: ClassVar[bool] = False

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        base_x, base_y = base_records(data, n_train, n_challenges, rng, self.dims)
        u = rng.standard_normal((n_challenges, self.dims))
        u *= self.radius / np.linalg.norm(u, axis=-1, keepdims=True)
        x = np.zeros((n_challenges, 2, base_x.shape[1]))
        x[:, 0, -self.dims :] = u
        x[:, 1, -self.dims :] = -u
        return Choice(base_x, base_y, x, same_label(n_challenges, 2, self.label))


@dataclass(frozen=True, slots=True)
class PrivateCoordinate:
    """An antipodal pair ``±radius e_i`` in a column that challenge ``i`` has for itself.

    With softmax regression or a linear release the other records never move that column: the
    worst case that an accountant's curve describes, and no interference between challenges.

    Parameters
    ----------
    radius : float
        Euclidean norm of the candidates, >= 0.
    label : int
        The label of both candidates.
    """

    radius: float = 8.0
    label: int = 0
    fixed: ClassVar[bool] = True

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        base_x, base_y = base_records(data, n_train, n_challenges, rng, n_challenges)
        x = np.zeros((n_challenges, 2, base_x.shape[1]))
        own = np.arange(n_challenges)
        x[own, 0, data.n_features + own] = self.radius
        x[own, 1, data.n_features + own] = -self.radius
        return Choice(base_x, base_y, x, same_label(n_challenges, 2, self.label))


@dataclass(frozen=True, slots=True)
class Extremes:
    """``z0 = -radius e_1`` and ``z1 = +radius e_1``: the worst pair of a mean of bounded values.

    Parameters
    ----------
    radius : float
        Absolute value of the first feature, >= 0.
    """

    radius: float = 1.0
    fixed: ClassVar[bool] = True

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        base_x, base_y = base_records(data, n_train, n_challenges, rng)
        x = np.zeros((n_challenges, 2, base_x.shape[1]))
        x[:, 0, 0] = -self.radius
        x[:, 1, 0] = self.radius
        return Choice(base_x, base_y, x, same_label(n_challenges, 2, 0))


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """Attribute inference: one fresh record with feature `column` set to each of `values`.

    Parameters
    ----------
    values : sequence of float
        The values the attribute can take, at least two.
    column : int
        The feature that is secret.
    """

    values: Sequence[float] = field(default=(0.0, 1.0))
    column: int = 0
    fixed: ClassVar[bool] = False

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        n_base = n_train - n_challenges
        x, y = data.draw(n_train, rng)
        candidates = np.repeat(x[n_base:, None], len(self.values), axis=1)
        candidates[:, :, self.column] = np.asarray(self.values, dtype=candidates.dtype)
        labels = np.repeat(y[n_base:, None], len(self.values), axis=1)
        return Choice(x[:n_base], y[:n_base], candidates, labels)


@dataclass(frozen=True, slots=True)
class CanaryCodes:
    """Canary extraction: the secret is which of `n_codes` private columns the canary uses.

    Parameters
    ----------
    n_codes : int
        How many codes there are, >= 2; each is one added column.
    radius : float
        Euclidean norm of the canary, >= 0.
    label : int
        The canary's label.
    """

    n_codes: int = 10
    radius: float = 8.0
    label: int = 0
    fixed: ClassVar[bool] = True

    def draw(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Choose base records and candidates for one trial."""
        base_x, base_y = base_records(data, n_train, n_challenges, rng, self.n_codes)
        x = np.zeros((n_challenges, self.n_codes, base_x.shape[1]))
        code = np.arange(self.n_codes)
        x[:, code, data.n_features + code] = check_nonnegative(self.radius, "radius")
        return Choice(base_x, base_y, x, same_label(n_challenges, self.n_codes, self.label))

"""Where the records come from: an unlimited synthetic distribution, and scikit-learn's digits."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Digits", "EmptyRecords", "GaussianClasses"]


@cache
def _directions(n_classes: int, n_features: int, seed: int) -> NDArray[np.float64]:
    """Return random directions of length 1/sqrt(n_features), shape (n_classes, n_features)."""
    directions = np.random.default_rng(seed).standard_normal((n_classes, n_features))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True) * np.sqrt(n_features)
    directions.flags.writeable = False
    return directions


@dataclass(frozen=True, slots=True)
class GaussianClasses:
    """Gaussian clouds round one random mean a class: as many fresh records as asked for.

    A record of class ``y`` is ``(separation * u_y + N(0, I)) / sqrt(n_features)`` with ``u_y`` a
    random unit vector that `layout_seed` fixes; a share `label_noise` of the labels is drawn anew.

    Parameters
    ----------
    n_classes : int
        Number of classes, >= 1.
    n_features : int
        Number of features, >= 1.
    separation : float
        Distance of the class means from the origin in standard deviations, >= 0.
    label_noise : float
        Share of labels replaced by uniform ones, in [0, 1].
    layout_seed : int
        Seed of the class means.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = GaussianClasses(n_classes=3, n_features=8).draw(100, np.random.default_rng(1))
    >>> x.shape, y.shape, int(y.max())
    ((100, 8), (100,), 2)
    """

    n_classes: int = 10
    n_features: int = 64
    separation: float = 3.0
    label_noise: float = 0.0
    layout_seed: int = 0

    def means(self) -> NDArray[np.float64]:
        """Return the class means, shape (n_classes, n_features)."""
        return self.separation * _directions(self.n_classes, self.n_features, self.layout_seed)

    def draw(self, n_records: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Draw fresh records.

        Parameters
        ----------
        n_records : int
            How many.
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        x : ndarray of float32, shape (n_records, n_features)
        y : ndarray of int64, shape (n_records,)
        """
        y = rng.integers(self.n_classes, size=n_records)
        x = rng.standard_normal((n_records, self.n_features), dtype=np.float32)
        x /= np.float32(np.sqrt(self.n_features))
        x += self.means().astype(np.float32)[y]
        if self.label_noise > 0:
            noisy = rng.random(n_records) < self.label_noise
            y = np.where(noisy, rng.integers(self.n_classes, size=n_records), y)
        return x, y


@dataclass(frozen=True, slots=True)
class EmptyRecords:
    """Records of zeros with labels 0, 1, ... in turn: a training set that pulls nowhere.

    They move the biases at most, and nearly cancel there, so that what a model learned along
    other directions came from the challenge.

    Parameters
    ----------
    n_classes : int
        Number of classes, >= 1.
    n_features : int
        Number of features, >= 1.
    """

    n_classes: int = 2
    n_features: int = 6

    def draw(self, n_records: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Return zeros (n_records, n_features) and labels (n_records,); draws nothing."""
        x = np.zeros((n_records, self.n_features), dtype=np.float32)
        return x, np.arange(n_records) % self.n_classes


@cache
def _digits() -> tuple[NDArray, NDArray]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ImportError(
            "the digits need scikit-learn: pip install 'bayesaudit[games]'."
        ) from None
    x, y = load_digits(return_X_y=True)
    return (x / 16).astype(np.float32), y.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Digits:
    """scikit-learn's 1,797 handwritten digits, 8 x 8 pixels in [0, 1] (extra ``games``).

    One draw holds distinct records; two trials' draws overlap, because there are only 1,797: the
    population that a game speaks of is this finite set.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = Digits().draw(5, np.random.default_rng(1))
    >>> x.shape, float(x.max())
    ((5, 64), 1.0)
    """

    n_classes: int = 10
    n_features: int = 64

    def draw(self, n_records: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Draw distinct records.

        Parameters
        ----------
        n_records : int
            How many, at most 1,797.
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        x : ndarray of float32, shape (n_records, 64)
        y : ndarray of int64, shape (n_records,)

        Raises
        ------
        ValueError
            If more records are asked for than there are.
        """
        x, y = _digits()
        if n_records > len(x):
            raise ValueError(
                f"n_records must be at most {len(x)} for the digits (training set and the "
                f"challenges' other candidates together), got {n_records}."
            )
        rows = rng.choice(len(x), size=n_records, replace=False)
        return x[rows], y[rows]

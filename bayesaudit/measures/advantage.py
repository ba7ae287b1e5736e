"""The membership advantage."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayesaudit.measures._base import Array, Measure, Wedge, checked_rates, wedges_of_curve

__all__ = ["Advantage"]


@dataclass(frozen=True)
class Advantage(Measure):
    """The membership advantage TPR − FPR = 1 − FNR − FPR.

    Parameters
    ----------
    fold : bool
        Whether an attack worse than chance counts as its inversion, |1 − FNR − FPR|.

    References
    ----------
    Yeom et al., "Privacy Risk in Machine Learning", CSF 2018, arXiv:1709.01604, Definition 4.

    Examples
    --------
    >>> float(Advantage().of(fnr=0.35, fpr=0.25).round(12))
    0.4
    """

    fold: bool = False
    has_atom = False
    highest = 1.0

    @property
    def name(self) -> str:
        """Return "advantage"."""
        return "advantage"

    @property
    def folded(self) -> bool:
        """Whether both directions count."""
        return self.fold

    @property
    def lowest(self) -> float:
        """Return the smallest value: 0 when folded, else −1."""
        return 0.0 if self.fold else -1.0

    def one_direction(self) -> "Advantage":
        """Return the signed measure."""
        return Advantage()

    def of(
        self,
        fnr: ArrayLike,
        fpr: ArrayLike,
        *,
        tpr: ArrayLike | None = None,
        tnr: ArrayLike | None = None,
    ) -> Array:
        """Return the advantage, in [−1, 1] (see `Measure.of`)."""
        x, y, xc, _ = checked_rates(fnr, fpr, tpr, tnr)
        value = xc - y
        return np.abs(value) if self.fold else value + 0 * x

    def region(self, level: ArrayLike, fnr: ArrayLike) -> tuple[Array, Array]:
        """Return the ends in FPR (see `Measure.region`)."""
        level, x = np.asarray(level, float), np.asarray(fnr, float)
        low = 1 - level - x
        high = 1 + level - x if self.fold else np.ones_like(low)
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        return low, np.where(self.lowest > level, low - 1, high)

    def wedges(self) -> tuple[Wedge, ...]:
        """Return the wedges under the line FNR + FPR = 1 − level."""

        def curve(level: Array, x: Array, xc: Array) -> tuple[Array, Array, Array]:
            y = np.clip(xc - level, 0.0, 1.0)
            with np.errstate(divide="ignore"):
                return np.log(y), np.clip(level + x, 0.0, 1.0), np.zeros_like(y)

        def inverse(level: Array, y: Array, yc: Array) -> tuple[Array, Array]:
            return yc - level, y + level

        def start(level: Array) -> tuple[Array, Array]:
            half = np.clip((1 - level) / 2, 0.0, 1.0)
            with np.errstate(divide="ignore"):
                return np.log(half), np.clip((1 + level) / 2, 0.0, 1.0)

        return wedges_of_curve(curve, inverse, start, folded=self.fold)

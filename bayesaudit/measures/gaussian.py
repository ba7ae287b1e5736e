"""The μ of Gaussian differential privacy."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesaudit._gdp import gdp_delta, gdp_epsilon, gdp_mu
from bayesaudit.measures._base import Array, Measure, Wedge, checked_rates, wedges_of_curve

__all__ = ["GaussianMu"]


@dataclass(frozen=True)
class GaussianMu(Measure):
    """The μ of μ-Gaussian DP: Φ⁻¹(1 − FPR) − Φ⁻¹(FNR).

    Parameters
    ----------
    fold : bool
        Whether an attack worse than chance counts as its inversion, |μ|. By default μ keeps its
        sign, and a negative μ says that the attack is worse than chance.

    Notes
    -----
    A statement about μ assumes that the trade-off curve is Gaussian; `epsilon` and `from_epsilon`
    convert under that assumption.

    References
    ----------
    Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, arXiv:1905.02383,
    Definition 2.6 and Corollary 2.13.

    Examples
    --------
    >>> float(GaussianMu().of(fnr=0.3085375387259869, fpr=0.3085375387259869).round(9))
    1.0
    >>> round(float(GaussianMu.epsilon(1.0, delta=1e-5)), 4)
    4.3772
    """

    fold: bool = False
    has_atom = False

    @property
    def name(self) -> str:
        """Return "mu"."""
        return "mu"

    @property
    def folded(self) -> bool:
        """Whether both directions count."""
        return self.fold

    @property
    def lowest(self) -> float:
        """Return the smallest value: 0 when folded."""
        return 0.0 if self.fold else -math.inf

    def one_direction(self) -> "GaussianMu":
        """Return the signed measure."""
        return GaussianMu()

    @staticmethod
    def epsilon(mu: ArrayLike, delta: ArrayLike) -> Array:
        """Return the ε at which μ-GDP gives (ε, δ)-DP; ``inf`` at δ = 0 unless μ = 0."""
        return gdp_epsilon(mu, delta)

    @staticmethod
    def delta(mu: ArrayLike, epsilon: ArrayLike) -> Array:
        """Return the δ at which μ-GDP gives (ε, δ)-DP."""
        return gdp_delta(mu, epsilon)

    @staticmethod
    def from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Array:
        """Return the largest μ for which μ-GDP gives (ε, δ)-DP."""
        return gdp_mu(epsilon, delta)

    def of(
        self,
        fnr: ArrayLike,
        fpr: ArrayLike,
        *,
        tpr: ArrayLike | None = None,
        tnr: ArrayLike | None = None,
    ) -> Array:
        """Return μ; 0 where a rate is 0 and the other 1, which excludes nothing."""
        x, y, xc, yc = checked_rates(fnr, fpr, tpr, tnr)
        left, right = -_probit(x, xc), -_probit(y, yc)
        with np.errstate(invalid="ignore"):
            mu = np.where(np.isinf(left) & (left == -right), 0.0, left + right)
        return np.abs(mu) if self.fold else mu

    def region(self, level: ArrayLike, fnr: ArrayLike) -> tuple[Array, Array]:
        """Return the ends in FPR (see `Measure.region`)."""
        level, x = np.asarray(level, float), np.asarray(fnr, float)
        z = special.ndtri(x)
        low = special.ndtr(-(z + level))
        high = special.ndtr(level - z) if self.fold else np.ones_like(low)
        return low, np.where(self.lowest > level, low - 1, high)

    def wedges(self) -> tuple[Wedge, ...]:
        """Return the wedges under the Gaussian trade-off curve."""

        def curve(level: Array, x: Array, xc: Array) -> tuple[Array, Array, Array]:
            z = _probit(x, xc) + level
            return special.log_ndtr(-z), special.ndtr(z), -0.5 * z**2 - 0.5 * math.log(2 * math.pi)

        def inverse(level: Array, y: Array, yc: Array) -> tuple[Array, Array]:
            z = _probit(y, yc) + level
            return special.ndtr(-z), special.ndtr(z)

        def start(level: Array) -> tuple[Array, Array]:
            return special.log_ndtr(-level / 2), special.ndtr(level / 2)

        return wedges_of_curve(curve, inverse, start, folded=self.fold)


def _probit(x: Array, xc: Array) -> Array:
    """Φ⁻¹(x), from whichever of x and 1 − x is small."""
    return np.where(x <= 0.5, special.ndtri(x), -special.ndtri(xc))

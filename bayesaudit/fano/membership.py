"""Baselines for two equally likely categories (membership): what a guarantee was shown to imply."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit.fano._arrays import nonnegative, plain

__all__ = ["erlingsson_advantage", "humphries_advantage", "yeom_advantage"]


def yeom_advantage(epsilon: ArrayLike) -> float | NDArray[np.float64]:
    """Return ``min(e^epsilon - 1, 1)``, the membership advantage bound of Yeom et al. (2018).

    References
    ----------
    Yeom et al. (2018), arXiv:1709.01604, Theorem 1.

    Examples
    --------
    >>> round(yeom_advantage(0.1), 6)
    0.105171
    """
    return plain(np.minimum(np.expm1(np.minimum(nonnegative(epsilon, "epsilon"), 1.0)), 1.0))


def erlingsson_advantage(epsilon: ArrayLike) -> float | NDArray[np.float64]:
    """Return ``1 - e^-epsilon``, the membership advantage bound of Erlingsson et al. (2019).

    References
    ----------
    Erlingsson et al. (2019), *That which we call private*, arXiv:1908.03566.

    Examples
    --------
    >>> round(erlingsson_advantage(0.1), 6)
    0.095163
    """
    return plain(-np.expm1(-nonnegative(epsilon, "epsilon")))


def humphries_advantage(epsilon: ArrayLike, delta: ArrayLike = 0.0) -> float | NDArray[np.float64]:
    """Return ``(e^epsilon - 1 + 2 delta)/(e^epsilon + 1)``: exact for M = 2 and a fair coin.

    References
    ----------
    Humphries et al. (2023), *Investigating membership inference attacks under data
    dependencies*, arXiv:2010.12112.

    Examples
    --------
    >>> round(humphries_advantage(1.0, 1e-5), 6)
    0.462123
    """
    eps, slack = nonnegative(epsilon, "epsilon"), nonnegative(delta, "delta")
    shrink = np.exp(-eps)
    return plain(np.minimum((-np.expm1(-eps) + 2.0 * slack * shrink) / (1.0 + shrink), 1.0))

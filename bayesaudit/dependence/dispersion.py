"""Whether models differ by more than their own trials can explain."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers
from bayesaudit._result import Result
from bayesaudit.counts import AttackCounts
from bayesaudit.rates import Prior, check_models, check_prior

__all__ = ["DispersionTest", "dispersion_test"]

#: Replicated counts held at a time.
BLOCK = 1_000_000


@dataclass(frozen=True, slots=True)
class DispersionTest(Result):
    """Posterior predictive check of the independent model by its dispersion.

    Parameters
    ----------
    fnr, fpr : float
        Probability that replicated data are at least as dispersed as the data, per side; NaN below
        two models with trials. Small values reject independence within a model; of both sides
        together `p_value` does, since the smaller of two is below .01 in 2 % of audits.
    statistic_fnr, statistic_fpr : float
        Pearson's χ² over models, divided by its degrees of freedom; 1 when independent.
    n_replicates : int
        Replicated data sets; the smallest p-value reported is 1/(n_replicates + 1).
    """

    fnr: float
    fpr: float
    statistic_fnr: float
    statistic_fpr: float
    n_replicates: int

    _also = ("p_value",)

    @property
    def p_value(self) -> float:
        """The smaller p-value, times the number of sides it was taken of; NaN if none is known."""
        known = [p for p in (self.fnr, self.fpr) if np.isfinite(p)]
        return min(1.0, len(known) * min(known)) if known else float("nan")

    @property
    def side(self) -> Literal["fnr", "fpr"]:
        """The side with the smaller p-value."""
        return "fpr" if not self.fnr <= self.fpr and np.isfinite(self.fpr) else "fnr"


def dispersion_test(
    counts: AttackCounts,
    *,
    prior: Prior = "jeffreys",
    n_replicates: int = 4000,
    random_seed: int = 0,
) -> DispersionTest:
    """Check by posterior prediction whether models are as alike as independence says.

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the rates under the independent model.
    n_replicates : int
        Replicated data sets, >= 100.
    random_seed : int
        Seed of the replication.

    Notes
    -----
    Rates are drawn from the posterior of the independent model and counts from those;
    T = Σ (k_j − n_j p̂)²/(n_j p̂(1 − p̂))/(J − 1), with p̂ the pooled rate of the same data set.

    References
    ----------
    Gelman, Meng and Stern, "Posterior predictive assessment of model fitness via realized
    discrepancies", Statistica Sinica 1996.

    Examples
    --------
    >>> counts = AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> dispersion_test(counts).fnr < 0.01
    True
    """
    counts = check_models(counts)
    if len(counts.shape) != 1:
        raise ValueError(f"counts must be one audit of shape (n_models,), got {counts.shape}.")
    n_replicates = int(check_integers(n_replicates, "n_replicates", minimum=100))
    shapes = check_prior(prior)
    rng = np.random.default_rng(random_seed)
    sides = {
        "fnr": _side(counts.fn, counts.n_pos, shapes["fnr"], n_replicates, rng),
        "fpr": _side(counts.fp, counts.n_neg, shapes["fpr"], n_replicates, rng),
    }
    return DispersionTest(
        fnr=sides["fnr"][0],
        fpr=sides["fpr"][0],
        statistic_fnr=sides["fnr"][1],
        statistic_fpr=sides["fpr"][1],
        n_replicates=n_replicates,
    )


def _side(
    k: NDArray[np.int64],
    n: NDArray[np.int64],
    shapes: tuple[float, float],
    replicates: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    k, n = k[n > 0], n[n > 0]
    if n.size < 2:
        return float("nan"), float("nan")
    observed = float(_statistic(k, n))
    rate = rng.beta(k.sum() + shapes[0], (n - k).sum() + shapes[1], replicates)
    above, step = 0, max(1, BLOCK // n.size)
    for first in range(0, replicates, step):
        replicated = _statistic(rng.binomial(n, rate[first : first + step, None]), n)
        # Equal statistics count as "at least as dispersed", also where rounding differs.
        above += int(np.sum(replicated >= observed * (1 - 1e-12)))
    return float((above + 1) / (replicates + 1)), observed


def _statistic(k: NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[np.float64]:
    rate = k.sum(axis=-1) / n.sum()
    variance = rate * (1 - rate)
    gap = (k - n * rate[..., None]) ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        value = gap.sum(axis=-1) / variance / (n.size - 1)
    return np.where(variance > 0, value, 0.0)

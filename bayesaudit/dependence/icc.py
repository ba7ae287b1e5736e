"""The intra-model correlation (ICC) by moments, its uncertainty, and what it costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_prob
from bayesaudit._result import Result, Table
from bayesaudit.counts import AttackCounts
from bayesaudit.rates import check_models

__all__ = ["ICC", "SideICC", "icc", "unvaried"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SideICC(Result):
    """Moment estimate of the intra-model correlation of one error rate.

    Parameters
    ----------
    estimate : float
        ANOVA estimate; may be negative, as an unbiased estimate of 0 must. NaN where the data hold
        no information on it.
    standard_error : float
        Jackknife over models; NaN below three models, and where it sees no variation.
    lower, upper : float
        Ends of an approximate confidence interval, from the F distribution of the ratio of mean
        squares; NaN below two models.
    prob : float
        Level of that interval.
    n_models, n_trials : int
        Models with at least one trial on this side, and their trials.
    mean_trials : float
        Effective number of trials a model (n₀ of the ANOVA; n where all models are equal).
    reason : str or None
        Why the correlation is not identified.
    """

    estimate: float
    standard_error: float
    lower: float
    upper: float
    prob: float
    n_models: int
    n_trials: int
    mean_trials: float
    reason: str | None

    _omit = ("mean_trials",)
    _also = ("design_effect", "n_eff", "identified")

    @property
    def identified(self) -> bool:
        """Whether the data say anything about the correlation."""
        return not self.reason

    @property
    def design_effect(self) -> float:
        """Factor 1 + (n − 1)ρ by which dependence multiplies the variance of the rate.

        n is the number of trials *per side per model*, and a negative estimate counts as 0.
        """
        return 1 + (self.mean_trials - 1) * max(self.estimate, 0.0)

    @property
    def n_eff(self) -> float:
        """Number of independent trials worth as much as all trials of this side."""
        return self.n_trials / self.design_effect

    @property
    def n_eff_per_model(self) -> float:
        """The same for one model: n/(1 + (n − 1)ρ)."""
        return self.mean_trials / self.design_effect


@dataclass(frozen=True, slots=True)
class ICC(Table):
    """Intra-model correlation of both error rates.

    Parameters
    ----------
    fnr, fpr : SideICC
        One estimate a side.
    """

    fnr: SideICC
    fpr: SideICC

    _rows = "sides"
    _also = ("n_models", "identified")

    @property
    def identified(self) -> bool:
        """Whether both correlations are identified; with one model neither is."""
        return self.fnr.identified and self.fpr.identified

    @property
    def sides(self) -> list[dict[str, Any]]:
        """The two estimates as rows of a table."""
        return [{"rate": name} | getattr(self, name).to_dict() for name in ("fnr", "fpr")]

    @property
    def n_models(self) -> int:
        """Number of models with trials on either side."""
        return max(self.fnr.n_models, self.fpr.n_models)


def icc(counts: AttackCounts, prob: float = 0.90) -> ICC:
    """Estimate the intra-model correlation of both error rates by moments.

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model.
    prob : float
        Level of the interval in (0, 1).

    Returns
    -------
    ICC

    Notes
    -----
    ρ = (MSB − MSW)/(MSB + (n₀ − 1) MSW), with the mean squares between and within models and
    n₀ = (N − Σn_j²/N)/(J − 1). The interval takes MSB/MSW for an F variable scaled by
    1 + n₀ρ/(1 − ρ), as for normal data; for rare errors it is rough. Where all models have the same
    rate, nothing is estimated: the formulas would give −1/(n₀ − 1) with an interval of no width.

    References
    ----------
    Ridout, Demétrio and Firth, "Estimating intraclass correlation for binary data", Biometrics
    1999, doi:10.1111/j.0006-341X.1999.00137.x, Eq. 2 (ANOVA estimator).
    Kish, *Survey Sampling*, 1965, Section 8.2 (design effect).

    Examples
    --------
    >>> counts = AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> found = icc(counts)
    >>> print(f"{found.fnr.estimate:.3f} {found.fnr.design_effect:.2f} {found.fnr.n_eff:.1f}")
    0.164 9.05 16.6
    """
    counts = check_models(counts)
    prob = check_prob(prob)
    if len(counts.shape) != 1:
        raise ValueError(f"counts must be one audit of shape (n_models,), got {counts.shape}.")
    return ICC(fnr=_side(counts.fn, counts.n_pos, prob), fpr=_side(counts.fp, counts.n_neg, prob))


def unvaried(k: np.ndarray, n: np.ndarray) -> bool:
    """Return whether all models with trials have one rate, so that nothing varies between them."""
    return bool(np.all(k * n.sum() == k.sum() * n))


def _side(k: Integers, n: Integers, prob: float) -> SideICC:
    k, n = k[n > 0].astype(float), n[n > 0].astype(float)
    models, trials = n.size, float(n.sum())
    reason = ""
    if models < 2:
        reason = f"{models or 'no'} model{'' if models == 1 else 's'} with trials on this side"
    elif trials == models:
        reason = "one trial a model on this side"
    elif k.sum() in (0.0, trials):
        reason = "no variation: every trial of this side came out the same"
    elif unvaried(k, n):
        reason = "no variation between models: all have the same rate on this side"
    nan = float("nan")
    estimate = error = lower = upper = nan
    size = trials / models if models else nan
    if not reason:
        between, within, size = _mean_squares(_sums(k, n).sum(axis=1))
        estimate = float(_rho(between, within, size))
        if models > 2:
            error = _jackknife(k, n)
        lower, upper = _f_interval(between, within, size, models, trials, prob)
    return SideICC(
        estimate=estimate,
        standard_error=error,
        lower=lower,
        upper=upper,
        prob=prob,
        n_models=models,
        n_trials=int(trials),
        mean_trials=float(size),
        reason=reason or None,
    )


def _sums(k: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Per model what the mean squares are made of; sums leave a model out by subtraction."""
    return np.stack([np.ones_like(n), k, n, n**2, k * (k / n)])


def _mean_squares(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """MSB, MSW and n₀."""
    models, errors, trials, squares, explained = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.maximum(explained - errors**2 / trials, 0.0) / (models - 1)
        within = np.maximum(errors - explained, 0.0) / (trials - models)
    return between, within, (trials - squares / trials) / (models - 1)


def _rho(between: np.ndarray, within: np.ndarray, size: np.ndarray) -> Any:
    total = between + (size - 1) * within
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, (between - within) / total, 0.0)[()]


def _jackknife(k: np.ndarray, n: np.ndarray) -> float:
    sums, models = _sums(k, n), n.size
    left_out = _rho(*_mean_squares(sums.sum(axis=1, keepdims=True) - sums))
    left_out = np.where(np.isfinite(left_out), left_out, 0.0)
    error = float(np.sqrt((models - 1) / models * np.sum((left_out - left_out.mean()) ** 2)))
    # Where leaving out any model gives the same, as by symmetry, the jackknife sees no variation.
    return error if error > 1e-12 else float("nan")


def _f_interval(
    between: float, within: float, size: float, models: int, trials: float, prob: float
) -> tuple[float, float]:
    if within <= 1e-12:
        # Every model is all errors or none: the ratio of mean squares has no distribution.
        return float("nan"), float("nan")
    tail = (1 - prob) / 2
    ratio = between / within
    ends = []
    for q in (1 - tail, tail):
        scaled = ratio / special.fdtri(models - 1, trials - models, q)
        ends.append(float(np.clip((scaled - 1) / (scaled + size - 1), -1 / (size - 1), 1.0)))
    return ends[0], ends[1]

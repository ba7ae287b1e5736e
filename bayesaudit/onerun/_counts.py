"""Gaussian DP from the counts of many runs (Nasr et al. 2023)."""

import math
from dataclasses import dataclass
from typing import Any

from scipy import special

from bayesaudit import _gdp
from bayesaudit._checks import check_prob, check_probability
from bayesaudit.onerun._audit import _NOT_FINITE
from bayesaudit.onerun._check import check_count, check_level
from bayesaudit.onerun._curves import GaussianCurve

__all__ = ["GdpAudit", "gdp_audit"]


def _upper(errors: int, trials: int, level: float) -> float:
    """Return the Clopper-Pearson upper end at an error level."""
    if errors == trials:
        return 1.0
    return float(special.betainccinv(errors + 1, trials - errors, level))


@dataclass(frozen=True, slots=True)
class GdpAudit:
    """A lower confidence bound on mu, and on epsilon if the mechanism is Gaussian.

    Attributes
    ----------
    fn, tp, fp, tn : int
        The counts.
    delta : float
        The delta at which epsilon is read off.
    prob : float
        The mass of the two-sided interval whose lower end `lower` is.
    lower : float
        The lower bound on epsilon, in nats, at level (1 - prob)/2.
    """

    fn: int
    tp: int
    fp: int
    tn: int
    delta: float
    prob: float
    lower: float

    @property
    def level(self) -> float:
        """The error probability of `lower`: (1 - prob)/2."""
        return (1 - self.prob) / 2

    @property
    def assumption(self) -> str:
        """What must hold for the bound on epsilon to be valid."""
        return GaussianCurve().assumption

    def mu_lower(self, level: float | None = None) -> float:
        """Return the lower bound on mu at an error level, by default (1 - prob)/2.

        A negative estimate is 0: the attack did not beat guessing in the declared direction, and
        its absolute value would be a bound for an attack chosen after seeing the data.
        """
        level = self.level if level is None else check_level(level)
        fpr = _upper(self.fp, self.fp + self.tn, level / 2)
        fnr = _upper(self.fn, self.fn + self.tp, level / 2)
        if fpr == 1.0 or fnr == 1.0:
            return 0.0
        return max(0.0, float(-special.ndtri(fpr) - special.ndtri(fnr)))

    def epsilon_lower(self, level: float | None = None) -> float:
        """Return the lower bound on epsilon at an error level, by default (1 - prob)/2."""
        return float(_gdp.gdp_epsilon(self.mu_lower(level), self.delta))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; an infinite bound is ``None`` with a ``reason``."""
        result: dict[str, Any] = {
            "lower": self.lower if math.isfinite(self.lower) else None,
            "mu_lower": self.mu_lower(),
            "prob": self.prob,
            "level": self.level,
            "guarantee": "confidence",
            "method": "gdp",
            "assumption": self.assumption,
            "fn": self.fn,
            "tp": self.tp,
            "fp": self.fp,
            "tn": self.tn,
            "delta": self.delta,
        }
        if result["lower"] is None:
            result["reason"] = _NOT_FINITE
        return result


def gdp_audit(*, fn: int, tp: int, fp: int, tn: int, delta: float, prob: float = 0.90) -> GdpAudit:
    r"""Bound mu, and under a Gaussian curve epsilon, from the counts of one fixed attack.

    Parameters
    ----------
    fn, tp : int
        Members called non-member and member, >= 0, at least one in all.
    fp, tn : int
        Non-members called member and non-member, >= 0, at least one in all.
    delta : float
        The delta at which epsilon is read off, in [0, 1].
    prob : float
        The mass of a two-sided interval, in (0, 1): the bound errs with probability (1 - prob)/2.

    Returns
    -------
    GdpAudit
        With `lower`, `mu_lower(level)`, `epsilon_lower(level)` and `assumption`.

    Raises
    ------
    ValueError, TypeError
        For negative or fractional counts, an empty class, or numbers out of range.

    Notes
    -----
    mu = Phi^-1(1 - FPR_u) - Phi^-1(FNR_u) with the Clopper-Pearson upper ends at half the level
    each, 0 if negative. Without the Gaussian assumption the epsilon is not a statement about the
    mechanism: no errors in 2 x 1000 trials give 36.5 at delta = 1e-5, where the bound that holds
    for every (epsilon, delta)-DP mechanism is 5.6.

    References
    ----------
    Nasr et al., *Tight Auditing of Differentially Private Machine Learning* (USENIX Security 2023);
    arXiv:2302.07956. Dong, Roth and Su (JRSS-B 2022), Corollary 1; arXiv:1905.02383.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> result = onerun.gdp_audit(fn=600, tp=400, fp=5, tn=995, delta=1e-5)
    >>> round(result.mu_lower(), 6), round(result.lower, 6)
    (1.935894, 9.604714)
    """
    counts = {"fn": fn, "tp": tp, "fp": fp, "tn": tn}
    fn, tp, fp, tn = (check_count(value, name) for name, value in counts.items())
    if fn + tp == 0 or fp + tn == 0:
        empty = "members (fn + tp)" if fn + tp == 0 else "non-members (fp + tn)"
        raise ValueError(f"there must be at least one of the {empty}, got none.")
    delta = check_probability(delta, "delta")
    prob = check_prob(prob)
    blank = GdpAudit(fn, tp, fp, tn, delta, prob, math.nan)
    return GdpAudit(fn, tp, fp, tn, delta, prob, blank.epsilon_lower())

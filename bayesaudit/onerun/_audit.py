"""One tally, one method, one result: the lower bound at every level, and what it assumes."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_nonnegative, check_prob, check_probability
from bayesaudit._interval import Interval
from bayesaudit._result import Result
from bayesaudit.onerun import _allsubset, _fdp, _steinke, _xiang
from bayesaudit.onerun._check import check_level, check_tally
from bayesaudit.onerun._curves import EpsilonDeltaCurve, GaussianCurve, TradeOffFamily
from bayesaudit.onerun._invert import smallest_not_rejected

__all__ = ["METHODS", "OneRunAudit", "audit"]

METHODS = ("all-subset", "steinke", "f-dp", "xiang")

_ANY_DEPENDENCE = "(epsilon, delta)-DP alone, under any dependence between canaries"
_INDEPENDENT = "assumes independent canaries, which differential privacy does not give"
_CURVE_NAMES = ("gaussian", "epsilon-delta")
_NOT_FINITE = "a Gaussian curve with mu > 0 has no finite epsilon at delta = 0"


def trade_off_family(method: str, curve: Any, delta: float) -> TradeOffFamily | None:
    """Return the checked family of curves that a method needs, or None."""
    if method in ("all-subset", "steinke"):
        return None
    if isinstance(curve, str):
        check_choice(curve, "curve", _CURVE_NAMES)
        return GaussianCurve() if curve == "gaussian" else EpsilonDeltaCurve(delta)
    family = _fdp.check_curve(curve)
    if method == "xiang" and not isinstance(family, GaussianCurve | EpsilonDeltaCurve):
        raise ValueError(f"curve must be one of {_CURVE_NAMES} for method 'xiang'; got {curve!r}.")
    if isinstance(family, EpsilonDeltaCurve) and family.delta != delta:
        raise ValueError(f"delta must be the curve's own {family.delta!r}, got {delta!r}.")
    return family


@dataclass(frozen=True, slots=True)
class OneRunAudit(Result):
    """A lower confidence bound on epsilon from the guesses of one training run.

    Attributes
    ----------
    n_canaries, n_guesses, n_correct : int
        The tally.
    delta : float
        The delta of the claim.
    method : {"all-subset", "steinke", "f-dp", "xiang"}
        The bound.
    curve : TradeOffFamily or None
        The trade-off curve, for ``"f-dp"`` and ``"xiang"``.
    prob : float
        The mass of the two-sided interval whose lower end `lower` is: it errs by (1 - prob)/2.
    lower : float
        The lower bound on epsilon, in nats, at level (1 - prob)/2.
    """

    n_canaries: int
    n_guesses: int
    n_correct: int
    delta: float
    method: str
    curve: TradeOffFamily | None
    prob: float
    lower: float

    _also = ("level", "statement", "guarantee", "curve=curve.name", "assumption", "reason")
    _if_any = ("reason",)

    statement = "confidence"
    guarantee = "guaranteed"

    @property
    def reason(self) -> str | None:
        """Why there is no finite bound, where there is none."""
        return None if math.isfinite(self.lower) else _NOT_FINITE

    @property
    def level(self) -> float:
        """The error probability of `lower`: (1 - prob)/2."""
        return (1 - self.prob) / 2

    @property
    def confidence(self) -> float:
        """The confidence with which epsilon is at least `lower`: 1 - level."""
        return 1 - self.level

    @property
    def assumption(self) -> str:
        """What must hold for the bound to be valid, in words."""
        if self.curve is None:
            return _ANY_DEPENDENCE
        if self.method == "f-dp":
            return self.curve.assumption
        if isinstance(self.curve, EpsilonDeltaCurve):
            return _INDEPENDENT
        return f"{_INDEPENDENT}; {self.curve.assumption}"

    @property
    def independent_canaries(self) -> bool:
        """Whether the bound assumes that the canaries do not influence each other."""
        return self.method == "xiang"

    def interval(self) -> Interval:
        """Return the bound as an interval of kind "lower", under `assumption`."""
        return lower_interval(self)

    def epsilon_lower(self, level: float | None = None) -> float:
        """Return the lower confidence bound on epsilon at an error level.

        Parameters
        ----------
        level : float, optional
            The error probability in (0, 1); by default (1 - prob)/2.

        Returns
        -------
        float
            epsilon in nats, >= 0; infinite for a Gaussian curve at delta = 0 with mu > 0.
        """
        level = self.level if level is None else check_level(level)
        return _lower(
            self.method,
            self.curve,
            self.n_canaries,
            self.n_guesses,
            self.n_correct,
            self.delta,
            level,
        )

    def confidence_curve(self, levels: ArrayLike) -> NDArray[np.float64]:
        """Return the lower bound on epsilon at many error levels: the confidence curve.

        Parameters
        ----------
        levels : array_like of float, any shape
            Error probabilities in (0, 1).

        Returns
        -------
        ndarray of float, the shape of `levels`
            The bounds, nondecreasing in the level. Each holds at its own level; the curve is not a
            posterior and has no density, because DP gives no likelihood of the tally.
        """
        levels = np.asarray(levels, dtype=float)
        flat = [self.epsilon_lower(float(level)) for level in levels.ravel()]
        return np.array(flat, dtype=float).reshape(levels.shape)

    def p_value(self, epsilon: float) -> float:
        """Return the p-value of the claim that the run is (epsilon, delta)-DP.

        Parameters
        ----------
        epsilon : float
            The claim, in nats, >= 0.

        Returns
        -------
        float
            In [0, 1]; the claim is refuted at every level above it, if `assumption` holds.
        """
        return _p_value(
            self.method,
            self.curve,
            self.n_canaries,
            self.n_guesses,
            self.n_correct,
            check_nonnegative(epsilon, "epsilon"),
            self.delta,
        )


def lower_interval(result: Any) -> Interval:
    """Return a one-run bound as an interval of kind "lower"."""
    return Interval(
        lower=result.lower,
        upper=math.inf,
        prob=result.prob,
        kind="lower",
        statement=result.statement,
        method=result.method,
        guarantee=result.guarantee,
    )


def _in_mu(method: str, curve: TradeOffFamily | None) -> bool:
    return method == "xiang" and isinstance(curve, GaussianCurve)


def _p_value(
    method: str,
    curve: TradeOffFamily | None,
    m: int,
    r: int,
    v: int,
    epsilon: float,
    delta: float,
) -> float:
    if method == "all-subset":
        return _allsubset.all_subset(m, r, v, epsilon, delta)
    if method == "steinke":
        return _steinke.steinke(m, r, v, epsilon, delta)
    if method == "xiang" and isinstance(curve, EpsilonDeltaCurve):
        return _xiang.xiang_epsilon_delta(m, r, v, epsilon, delta)
    parameter = curve.parameter(epsilon, delta)
    if parameter == math.inf:
        return 1.0
    if method == "xiang":
        return _xiang.xiang_gaussian(m, r, v, parameter)
    return _fdp.p_value(curve.inverse(parameter), m, r, v)


def parameter_lower(
    method: str,
    curve: TradeOffFamily | None,
    m: int,
    r: int,
    v: int,
    delta: float,
    level: float,
    floor: float = 0.0,
) -> float:
    """Return the bound on the curve's parameter (epsilon if there is no curve), at least `floor`.

    A tally that does not reject `floor` costs one p-value: that is how a grid finds its best rule.
    """
    if method == "f-dp":
        if floor > 0 and not _fdp.rejects(curve.inverse(floor), m, r, v, level):
            return floor
        return max(floor, _fdp.parameter_lower(curve, m, r, v, level))

    def p_value(x: float) -> float:
        if _in_mu(method, curve):
            return _xiang.xiang_gaussian(m, r, v, x)
        return _p_value(method, curve, m, r, v, x, delta)

    if floor > 0 and p_value(floor) >= level:
        return floor
    return max(floor, smallest_not_rejected(p_value, level))


def parameter_to_epsilon(
    method: str, curve: TradeOffFamily | None, parameter: float, delta: float
) -> float:
    """Return epsilon at a bound from `parameter_lower`."""
    if method == "f-dp" or _in_mu(method, curve):
        return curve.epsilon(parameter, delta)
    return parameter


def _lower(
    method: str, curve: TradeOffFamily | None, m: int, r: int, v: int, delta: float, level: float
) -> float:
    parameter = parameter_lower(method, curve, m, r, v, delta, level)
    return parameter_to_epsilon(method, curve, parameter, delta)


def audit(
    *,
    n_canaries: int,
    n_guesses: int,
    n_correct: int,
    delta: float,
    method: Literal["all-subset", "steinke", "f-dp", "xiang"] = "all-subset",
    curve: Literal["gaussian", "epsilon-delta"] | TradeOffFamily = "gaussian",
    prob: float = 0.90,
) -> OneRunAudit:
    """Bound epsilon from below by the right guesses of one training run.

    Parameters
    ----------
    n_canaries : int
        Canaries put in by independent fair coins, >= 1.
    n_guesses : int
        Guesses released, in [0, n_canaries]. The number, and the rule that picks which canaries
        are guessed, must be fixed before any membership is seen.
    n_correct : int
        Right guesses, in [0, n_guesses].
    delta : float
        The delta of (epsilon, delta)-DP, in [0, 1].
    method : {"all-subset", "steinke", "f-dp", "xiang"}
        The bound. The first two assume differential privacy alone; ``"f-dp"`` assumes the curve;
        ``"xiang"`` assumes the curve and independent canaries.
    curve : {"gaussian", "epsilon-delta"} or TradeOffFamily
        The trade-off curve of ``"f-dp"`` and ``"xiang"``; the other methods do not use it. The
        Gaussian curve is an assumption about the mechanism; ``"epsilon-delta"`` is none.
    prob : float
        The mass of a two-sided interval, in (0, 1): `lower` is its lower end and errs with
        probability (1 - prob)/2, so 0.90 gives 95 % confidence.

    Returns
    -------
    OneRunAudit
        With `lower`, `epsilon_lower(level)`, `confidence_curve(levels)`, `p_value(epsilon)` and
        `assumption`.

    Raises
    ------
    ValueError, TypeError
        For an impossible tally, an unknown method or curve, or numbers out of range.

    Notes
    -----
    A guess may use all scores, but no true bits: guesses that adapt to bits already scored (Keinan
    et al. 2025, arXiv:2503.07199) are covered by ``"steinke"`` alone.

    Limits: no guesses, or none right, give 0. With delta > 0 no valid (epsilon, delta) bound
    exceeds 0 unless n_guesses > n_canaries delta / level, since a mechanism that reveals
    m delta / level random bits with probability `level` is (0, delta)-DP.

    References
    ----------
    Steinke, Nasr and Jagielski (NeurIPS 2023), arXiv:2305.08846; Mahloujifar, Melis and Chaudhuri
    (2024), arXiv:2410.22235; Xiang et al. (2025), arXiv:2509.08704; the all-subset bound is proved
    in `bayesaudit.onerun._allsubset`.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> result = onerun.audit(n_canaries=10_000, n_guesses=10_000, n_correct=6_000, delta=1e-6)
    >>> round(result.lower, 6), result.confidence
    (0.371698, 0.95)
    >>> result.confidence_curve([0.01, 0.05, 0.5]).round(4)
    array([0.3578, 0.3717, 0.4052])
    >>> print(result.interval())
    95 % confidence lower bound 0.3717 (all-subset; guaranteed)
    >>> tally = dict(n_canaries=1000, n_guesses=1000, n_correct=700, delta=1e-5)
    >>> for method in ("all-subset", "steinke"):
    ...     print(round(onerun.audit(**tally, method=method).p_value(0.7), 6))
    0.017231
    0.017499
    """
    m, r, v = check_tally(n_canaries, n_guesses, n_correct)
    delta = check_probability(delta, "delta")
    prob = check_prob(prob)
    check_choice(method, "method", METHODS)
    family = trade_off_family(method, curve, delta)
    lower = _lower(method, family, m, r, v, delta, (1 - prob) / 2)
    return OneRunAudit(m, r, v, delta, method, family, prob, lower)

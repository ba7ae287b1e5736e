"""One-run audits from scores: which canaries are guessed is decided before membership is seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_prob, check_probability
from bayesaudit._interval import Interval
from bayesaudit._result import Result
from bayesaudit.onerun._audit import (
    METHODS,
    OneRunAudit,
    audit,
    lower_interval,
    parameter_lower,
    parameter_to_epsilon,
    trade_off_family,
)
from bayesaudit.onerun._check import check_level
from bayesaudit.onerun._curves import TradeOffFamily
from bayesaudit.onerun._rules import (
    Rule,
    check_rule,
    check_scores,
    count_guesses,
    pareto_counts,
    warn_unfair_coins,
)

__all__ = ["OneRunScoreAudit", "audit_pareto", "audit_scores"]


@dataclass(frozen=True, slots=True)
class OneRunScoreAudit(Result):
    """The best of K one-run bounds, each at level/K.

    Attributes
    ----------
    n_canaries : int
        The number of scores.
    rules : tuple of (int, int)
        The K rules (k+, k-): guesses at the top and at the bottom.
    n_correct : tuple of int
        The right guesses of each.
    delta, method, curve
        As in `OneRunAudit`.
    prob : float
        The mass of the two-sided interval whose lower end `lower` is.
    declared : bool
        Whether the grid was fixed before membership was seen; then the bound is valid. False for
        thresholds taken from the labelled data, whose number is itself data.
    best : int
        The index of the rule that gives `lower` (the first, if none gives more than 0).
    lower : float
        The lower bound on epsilon, in nats, at level (1 - prob)/2 over the whole grid.
    """

    n_canaries: int
    rules: tuple[tuple[int, int], ...]
    n_correct: tuple[int, ...]
    delta: float
    method: str
    curve: TradeOffFamily | None
    prob: float
    declared: bool
    best: int
    lower: float

    @property
    def level(self) -> float:
        """The error probability of `lower`: (1 - prob)/2."""
        return (1 - self.prob) / 2

    statement = "confidence"

    @property
    def guarantee(self) -> str:
        """What holds: "guaranteed", or "approximate" where the grid was not declared."""
        return "guaranteed" if self.declared else "approximate"

    def interval(self) -> Interval:
        """Return the bound as an interval of kind "lower", under `assumption`."""
        return lower_interval(self)

    @property
    def n_rules(self) -> int:
        """K, by which the level is divided."""
        return len(self.rules)

    @property
    def assumption(self) -> str:
        """What must hold for the bound to be valid, in words."""
        text = self.audit().assumption
        if self.declared:
            return text
        return f"{text}; the number of thresholds depends on the labels, so the level has no proof"

    def audit(self, index: int | None = None) -> OneRunAudit:
        """Return one rule's own result, at level/K; the best rule's by default."""
        index = self.best if index is None else index
        top, bottom = self.rules[index]
        return audit(
            n_canaries=self.n_canaries,
            n_guesses=top + bottom,
            n_correct=self.n_correct[index],
            delta=self.delta,
            method=self.method,
            curve="gaussian" if self.curve is None else self.curve,
            prob=1 - (1 - self.prob) / self.n_rules,
        )

    def epsilon_lower(self, level: float | None = None) -> float:
        """Return the lower bound on epsilon at an error level, by default (1 - prob)/2."""
        level = self.level if level is None else check_level(level)
        return _search(self, level)[1]

    def confidence_curve(self, levels: ArrayLike) -> NDArray[np.float64]:
        """Return the lower bound on epsilon at many error levels (see `OneRunAudit`)."""
        levels = np.asarray(levels, dtype=float)
        flat = [self.epsilon_lower(float(level)) for level in levels.ravel()]
        return np.array(flat, dtype=float).reshape(levels.shape)

    def p_value(self, epsilon: float) -> float:
        """Return the Bonferroni p-value of (epsilon, delta)-DP: K times the least, at most 1."""
        least = min(self.audit(index).p_value(epsilon) for index in range(self.n_rules))
        return min(1.0, self.n_rules * least)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types: the best rule's tally and the grid."""
        result = self.audit().to_dict()
        rules = zip(self.rules, self.n_correct, strict=True)
        result.update(
            prob=self.prob,
            level=self.level,
            guarantee=self.guarantee,
            assumption=self.assumption,
            declared=self.declared,
            n_rules=self.n_rules,
            rules=[{"top": t, "bottom": b, "n_correct": v} for (t, b), v in rules],
        )
        return result


def _search(result: OneRunScoreAudit, level: float) -> tuple[int, float]:
    """Return the best rule and its bound at level/K.

    Rules come in the order of their z-score; one that cannot beat the best so far costs a p-value.
    """
    guesses = np.array([top + bottom for top, bottom in result.rules], dtype=float)
    z = (2 * np.array(result.n_correct) - guesses) / np.sqrt(np.maximum(guesses, 1.0))
    best, parameter = 0, 0.0
    for index in np.argsort(-z, kind="stable"):
        found = parameter_lower(
            result.method,
            result.curve,
            result.n_canaries,
            int(guesses[index]),
            result.n_correct[index],
            result.delta,
            level / result.n_rules,
            floor=parameter,
        )
        if found > parameter:
            best, parameter = int(index), found
    return best, parameter_to_epsilon(result.method, result.curve, parameter, result.delta)


def _best(
    rules: Sequence[tuple[int, int]],
    n_correct: Sequence[int],
    m: int,
    delta: float,
    method: str,
    curve: Any,
    prob: float,
    declared: bool,
) -> OneRunScoreAudit:
    delta = check_probability(delta, "delta")
    check_choice(method, "method", METHODS)
    family = trade_off_family(method, curve, delta)
    blank = OneRunScoreAudit(
        n_canaries=m,
        rules=tuple(rules),
        n_correct=tuple(n_correct),
        delta=delta,
        method=method,
        curve=family,
        prob=check_prob(prob),
        declared=declared,
        best=0,
        lower=0.0,
    )
    best, lower = _search(blank, blank.level)
    return replace(blank, best=best, lower=lower)


def audit_scores(
    score: ArrayLike,
    member: ArrayLike,
    *,
    guesses: Rule | Sequence[Rule],
    delta: float,
    method: Literal["all-subset", "steinke", "f-dp", "xiang"] = "all-subset",
    curve: Literal["gaussian", "epsilon-delta"] | TradeOffFamily = "gaussian",
    prob: float = 0.90,
) -> OneRunScoreAudit:
    """Bound epsilon from below by the canaries' scores and a guess budget declared beforehand.

    Parameters
    ----------
    score : array_like of float, shape (n_canaries,)
        Attack scores; higher means more likely a member. They must not have seen the membership
        bits. Infinite scores are legal, NaN is not.
    member : array_like of bool, shape (n_canaries,)
        Whether each canary was in the training set, by independent fair coins.
    guesses : int, (int, int), or a list of these
        The budget, declared before membership is seen: r guesses (half at the top, half at the
        bottom), or (k+, k-). A list of K such rules is a declared grid: each is tested at level/K
        and the best bound holds. A budget chosen by the result errs 15 % at a nominal 5 %.
    delta : float
        The delta of (epsilon, delta)-DP, in [0, 1].
    method, curve, prob
        As in `audit`.

    Returns
    -------
    OneRunScoreAudit
        With `lower`, `best`, `audit()`, `epsilon_lower(level)`, `confidence_curve(levels)`.

    Raises
    ------
    DataError
        For NaN, unequal shapes, or labels other than 0/1.
    ValueError, TypeError
        For an impossible budget, an empty grid, or numbers out of range.

    Warns
    -----
    UserWarning
        If the number of members is more than 5 standard deviations from that of fair coins.

    Notes
    -----
    Ties are blocks, counted as in `count_guesses`.

    References
    ----------
    Steinke, Nasr and Jagielski (NeurIPS 2023), Algorithm 1; arXiv:2305.08846.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> score, member = [5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [1, 1, 1, 0, 0, 0]
    >>> result = onerun.audit_scores(score, member, guesses=[2, 6], delta=0.0)
    >>> result.rules[result.best], round(result.lower, 4)
    ((3, 3), 0.1633)
    """
    scores, bits = check_scores(score, member)
    warn_unfair_coins(bits)
    grid = guesses if isinstance(guesses, list) else [guesses]
    if not grid:
        raise ValueError("guesses must hold at least one rule, got an empty list.")
    rules = [check_rule(rule, scores.size) for rule in grid]
    n_correct = [count_guesses(scores, bits, rule)[1] for rule in rules]
    return _best(rules, n_correct, scores.size, delta, method, curve, prob, declared=True)


def audit_pareto(
    score: ArrayLike,
    member: ArrayLike,
    *,
    delta: float,
    method: Literal["all-subset", "steinke", "f-dp", "xiang"] = "steinke",
    curve: Literal["gaussian", "epsilon-delta"] | TradeOffFamily = "gaussian",
    prob: float = 0.90,
) -> OneRunScoreAudit:
    """Bound epsilon by "member" guesses above every threshold on the ROC hull, each at level/K.

    This is the way of jax_privacy's one-run auditor, kept to compare with it. The K thresholds are
    picked from the labelled data and the number of guesses is the number of scores above each, so
    the level has no proof (errors of 0 to .8 % at a nominal 5 % were seen); `audit_scores` with a
    declared budget has one.

    Parameters
    ----------
    score : array_like of float, shape (n_canaries,)
        Attack scores; higher means more likely a member.
    member : array_like of bool, shape (n_canaries,)
        Whether each canary was in the training set.
    delta, method, curve, prob
        As in `audit`.

    Returns
    -------
    OneRunScoreAudit
        With ``declared`` False; `rules` are (number above the threshold, 0).

    Raises
    ------
    DataError
        For NaN, unequal shapes, or labels other than 0/1.
    ValueError, TypeError
        For an unknown method or curve, or numbers out of range.

    References
    ----------
    Steinke, Nasr and Jagielski (NeurIPS 2023), arXiv:2305.08846, with k- = 0.

    Examples
    --------
    >>> from bayesaudit import onerun
    >>> result = onerun.audit_pareto([5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [1, 1, 1, 0, 0, 0], delta=0.0)
    >>> result.n_rules, result.declared
    (3, False)
    """
    scores, bits = check_scores(score, member)
    warn_unfair_coins(bits)
    below = pareto_counts(scores, bits)
    above = below[-1] - below
    rules = [(int(one), 0) for one in above.sum(axis=1)]
    n_correct = above[:, 0].tolist()
    return _best(rules, n_correct, scores.size, delta, method, curve, prob, declared=False)

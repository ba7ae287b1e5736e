"""The lines of scores whose threshold was not declared: one strategy, its bound, its words."""

from dataclasses import replace
from typing import Any

from bayesaudit.audits._line import PROMISES, Line, line_of_interval
from bayesaudit.audits._question import ANYTIME, Question
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds import ThresholdBound, threshold_bound

__all__ = [
    "CHOSEN",
    "chosen_line",
    "roc_summary",
    "strategy_bound",
    "threshold_summary",
    "too_few_note",
]

#: The strategies that bound from all rows at once, and what they promise.
CHOSEN = {
    "band": "guaranteed, at all thresholds at once",
    "multi-split": "guaranteed, median of splits",
    "bonferroni": "asymptotic, best of a label-blind grid",
    "optimistic": "NOT A BOUND: threshold chosen on the same rows",
}
NO_POSTERIOR = (
    "the threshold was chosen on the rows that it is judged by, so that their counts have no "
    "simple likelihood; threshold split keeps rows apart for a posterior"
)
LOWER_ONLY = "a choice among thresholds gives a lower bound"
ROWS = "rows are independent"
#: False positive rates whose TPR is reported.
LOW_FPR = (0.001, 0.01)


def strategy_bound(
    scores: AttackScores, strategy: str, delta: float, question: Question
) -> ThresholdBound:
    """Return the bound of one strategy; refuse looks that its promise does not survive.

    A split that is drawn anew at each look breaks the anytime promise: the bound at one look rests
    on rows that chose the threshold at another (measured: an error of .13 to .31 instead of .05).
    """
    if question.looks == ANYTIME:
        raise ValueError(
            f"looks anytime does not go with threshold {strategy}: the threshold is chosen anew "
            "at each look; declare a number as the threshold, or a number of looks."
        )
    return threshold_bound(
        scores,
        question.measure(delta),
        question.prob if strategy == "split" else question.level,
        strategy=strategy,
        random_seed=question.random_seed or 0,
        prior=question.prior,
    )


def chosen_line(bound: ThresholdBound, delta: float, question: Question) -> Line:
    """Return the line of a bound from all rows."""
    line = line_of_interval(
        bound.interval(),
        delta,
        method=bound.method,
        statement=PROMISES[bound.guarantee][0],
        promise=CHOSEN[bound.strategy],
        assumption=ROWS,
        summary={"is_bound": bound.is_bound},
    )
    return replace(line, prob=question.prob, reason=LOWER_ONLY)


def threshold_summary(bound: ThresholdBound, lower_is_member: bool) -> dict[str, Any]:
    """Return how the threshold was chosen, as the JSON holds it, in the scores' own sign."""
    found = bound.to_dict()
    if lower_is_member and found["threshold"] is not None:
        found["threshold"] = -found["threshold"]
    block = {"strategy": found["strategy"], "value": found["threshold"]}
    if found["threshold"] is None:
        block["value_reason"] = (
            "every split has its own"
            if bound.threshold is None
            else "no row reaches it: nobody is guessed a member"
        )
    if lower_is_member:
        block["lower_is_member"] = True
    return block | {key: found[key] for key in ("is_bound", "guarantee", "n_selection", "counts")}


def roc_summary(scores: AttackScores) -> dict[str, Any]:
    """Return the AUC and the TPR at low FPRs, as the JSON holds them."""
    curve = scores.roc()
    points = [curve.tpr_at_fpr(fpr) for fpr in LOW_FPR]
    return {"auc": curve.auc, "tpr_at_fpr": [point.to_dict() for point in points]}


def too_few_note(
    scores: AttackScores, bounds: dict[float, ThresholdBound], question: Question
) -> list[str]:
    """Return what to say where a band shows nothing: the most that so few rows could show."""
    delta, bound = next(iter(bounds.items()))
    if bound.lower > 0:
        return []
    perfect = AttackScores(score=scores.member.astype(float), member=scores.member)
    most = strategy_bound(perfect, "band", delta, question).lower
    return [
        f"the band shows nothing here; of {scores.n_pos} members and {scores.n_neg} non-members "
        f"a perfect attack would show epsilon {most:.3g} at most."
    ]

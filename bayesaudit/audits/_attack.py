"""From an attack to its audit: counts, or scores and how their threshold is chosen."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesaudit._checks import DataError, check_number
from bayesaudit.audits._audit import Audit
from bayesaudit.audits._challenges import Trials, trials_of
from bayesaudit.audits._counts import cautious, confidence_lines, posterior_lines
from bayesaudit.audits._line import BETA_BINOMIAL, EXACT_POSTERIOR, UNIFORM_ICC, Line
from bayesaudit.audits._notes import collected, looks_note, no_model_note, once
from bayesaudit.audits._question import Question
from bayesaudit.counts import AttackCounts
from bayesaudit.reading import Attack, read_file
from bayesaudit.scores import AttackScores

__all__ = ["STRATEGIES", "audit"]

#: What `threshold` may be beside a number: how scores get one.
STRATEGIES = ("band", "split", "multi-split", "bonferroni", "optimistic")
NEEDS_THRESHOLD = (
    "holds scores, which need threshold: a number chosen without looking at these rows, or a "
    f"strategy ({', '.join(STRATEGIES)})."
)
AXIS_UNKNOWN = (
    "counts of shape ({n},) are taken as {n} tallies, each an audit of its own; axis='model' in "
    "AttackCounts says that they are the trained models of one audit."
)

Threshold = float | Literal["band", "split", "multi-split", "bonferroni", "optimistic"]


def audit(
    attack: AttackCounts | AttackScores | Attack | str | Path,
    *,
    delta: ArrayLike = 1e-5,
    prob: float = 0.90,
    direction: Literal["both", "member"] = "both",
    prior: Any = "jeffreys",
    claim: float | None = None,
    threshold: Threshold | None = None,
    looks: int | Literal["anytime"] | None = None,
    icc_prior: Any = None,
    random_seed: int | None = None,
    independent: bool = False,
) -> Audit:
    """Audit an attack: every bound that belongs beside the posterior, and what each promises.

    Parameters
    ----------
    attack : AttackCounts, AttackScores, Attack, str or path
        What the attack guessed: one tally; many tallies, each an audit of its own (``axis="tally"``
        or none); one tally a trained model (``axis="model"``); scores, with `threshold`; or a file
        of any of these.
    delta : float or array_like of float, shape (n_delta,)
        Of (epsilon, delta)-DP, in [0, 1].
    prob : float
        Level of two-sided intervals, in (0, 1); either end errs by (1 − prob)/2.
    direction : {"both", "member"}
        "both": an attack worse than chance counts as its inversion; "member": the direction was
        declared beforehand.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the rates, see `bayesaudit.posterior`.
    claim : float, optional
        A claimed epsilon, in nats, >= 0.
    threshold : float or str, optional
        For scores: "member" iff score >= threshold, a number declared beforehand; or a strategy:
        "band", "split", "multi-split", "bonferroni" or "optimistic" (not a bound), see
        `bayesaudit.threshold_bound`.
    looks : int or "anytime", optional
        How often the audit is looked at: a number declared beforehand, whose looks share the error
        of the confidence bounds, or "anytime": one bound that holds at every moment, or for
        counts per model after each model.
    icc_prior : str, tuple, float or dict, optional
        Prior of the intra-model correlation, for counts per model.
    random_seed : int, optional
        Seed of the splits of scores, declared beforehand; 0 by default.
    independent : bool
        Declares that rows without a model are of independently trained models, or of one that
        makes no difference; what is said of them otherwise is then left out.

    Returns
    -------
    Audit

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range or does not apply to this attack, or a sequence of looks is
        asked for that would break a promise.

    References
    ----------
    Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199 (the posterior of epsilon-hat).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> result = ba.audit(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), delta=1e-5, claim=0.5)
    >>> print(f"{result.recommended.method}: {result.recommended.lower:.4f}")
    exact-unconditional: 0.6307
    >>> print(result.conclusion)  # doctest: +NORMALIZE_WHITESPACE
    Given these counts, epsilon-hat lies in [0.66255, 1.27624] with posterior probability 0.9; with
    confidence 0.95 the training leaks at least epsilon 0.63070 at delta 1e-05.
    """
    question = Question.asked(delta, prob, direction, prior, claim, looks, icc_prior, random_seed)
    if isinstance(attack, str | Path):
        attack = read_file(attack, prefer="guesses" if threshold is None else "scores")
    elif isinstance(attack, AttackCounts):
        attack = Attack(data=attack, kind="counts", source="arguments")
    elif isinstance(attack, AttackScores):
        attack = Attack(data=attack, kind="scores", source="arguments")
    if not isinstance(attack, Attack):
        raise TypeError(
            f"attack must be AttackCounts, AttackScores or a file, got {type(attack).__name__}."
        )
    strategy = _strategy(threshold)
    if random_seed is not None and strategy is None:
        raise ValueError("random_seed needs threshold split or another strategy.")
    if attack.kind != "scores" and threshold is not None:
        raise ValueError(f"{attack.source}: holds {attack.kind}, which take no threshold.")
    if attack.kind == "scores" and threshold is None:
        raise ValueError(f"{attack.source}: {NEEDS_THRESHOLD}")
    with collected() as notes:
        notes += attack.notes
        if attack.kind != "counts" and not attack.per_model and not independent:
            notes.append(no_model_note(attack.source))
        if strategy is not None:
            audited = _audit_strategy(attack, strategy, question, notes)
        else:
            audited = _audit_threshold(attack, threshold, question, notes)
    if independent:
        if attack.per_model:
            raise ValueError("independent does not go with data that have a model column.")
        audited = replace(audited, inputs={**audited.inputs, "independent": True})
    path = None if attack.source in ("arguments", "standard input") else attack.source
    return replace(audited, path=path, warnings=once(notes))


def _strategy(threshold: Any) -> str | None:
    if threshold is None or not isinstance(threshold, str):
        return None
    if threshold not in STRATEGIES:
        raise ValueError(
            f"threshold must be a number, got {threshold!r}; or {', '.join(STRATEGIES)}."
        )
    return threshold


def _audit_threshold(
    attack: Attack, threshold: float | None, question: Question, notes: list[str]
) -> Audit:
    """Audit counts, or scores at a declared threshold."""
    if attack.kind != "scores":
        trials = trials_of(attack.trials)
        return _audit_counts(attack.data, attack, question, notes, trials)
    value = check_number(threshold, "threshold")
    cut = -value if attack.lower_is_member else value
    data = attack.data
    counts = data.counts_by_model(cut) if attack.per_model else data.counts(cut)
    trials = trials_of(data, cut)
    chosen = {"strategy": "fixed", "value": value, "is_bound": True}
    return replace(_audit_counts(counts, attack, question, notes, trials), threshold=chosen)


def _audit_counts(
    counts: AttackCounts,
    attack: Attack,
    question: Question,
    notes: list[str],
    trials: Trials | None = None,
) -> Audit:
    per_model = attack.per_model
    if question.icc_prior is not None and not per_model:
        raise ValueError("icc_prior needs data with a model column.")
    _both_classes(counts, per_model, attack.source)
    if len(counts.shape) > 1:
        raise ValueError(f"attack must have one axis of tallies or models, got {counts.shape}.")
    if counts.shape and counts.axis is None and not per_model:
        notes.append(AXIS_UNKNOWN.format(n=counts.shape[0]))
    pooled = counts.pooled() if per_model else counts
    challenges = None
    if trials is not None:
        from bayesaudit.audits._challenges import challenges_of

        challenges = challenges_of(trials)
    shared = trials if challenges is not None else None
    lines: list[Line] = []
    for delta in question.delta:
        lines += _lines(counts, pooled, per_model, delta, question, notes, shared)
    notes += looks_note(question, per_model=per_model)
    kind = "counts per model" if per_model and attack.kind == "counts" else attack.kind
    source = attack.source if attack.source == "arguments" else f"{attack.source} ({kind})"
    dependence = None
    if per_model:
        from bayesaudit.audits._dependence import dependence_of

        measure = question.measure(question.delta[0])
        dependence = dependence_of(counts, measure, question, challenges)
    return Audit(
        kind="counts",
        lines=tuple(lines),
        question=question,
        counts=counts,
        source=source,
        inputs={
            "counts": pooled.to_dict(),
            "source": source,
            "direction": question.direction,
            "prior": question.prior,
            **question.inputs(),
        },
        dependence=dependence,
        trials=trials,
        curve_of=None if pooled.shape else partial(_counts_curve, pooled, question),
    )


def _both_classes(counts: AttackCounts, per_model: bool, source: str) -> None:
    """Refuse counts without members or without non-members, as for guesses and scores."""
    whole = counts.pooled() if per_model else counts
    empty = np.ravel((whole.n_pos == 0) | (whole.n_neg == 0))
    if not empty.any():
        return
    at = int(np.argmax(empty))
    where = f"tally {at} " if whole.shape else ""
    n_pos, n_neg = int(np.ravel(whole.n_pos)[at]), int(np.ravel(whole.n_neg)[at])
    prefix = "" if source == "arguments" else f"{source}: "
    raise DataError(
        f"{prefix}{where}must have both classes, got {n_pos} members and {n_neg} non-members."
    )


def _lines(
    counts: AttackCounts,
    pooled: AttackCounts,
    per_model: bool,
    delta: float,
    question: Question,
    notes: list[str],
    shared: Trials | None,
) -> list[Line]:
    """Return the lines at one delta, in the order of the table."""
    if_ = ", if all trials are independent" if per_model else ""
    lines = list(posterior_lines(pooled, delta, question, notes, if_=if_))
    bounds = confidence_lines(pooled, delta, question, notes)
    if not per_model:
        return [*lines, *bounds]
    from bayesaudit.audits._dependence import (
        clustered_lines,
        dependent_lines,
        promised_by_model,
    )

    crossed = []
    if shared is not None:
        from bayesaudit.audits._challenges import crossed_line

        crossed = [crossed_line(shared, delta, question)]
    within = [replace(line, promise=promised_by_model(line.promise, counts)) for line in bounds]
    return [
        *lines,
        *dependent_lines(counts, delta, question),
        *crossed,
        *clustered_lines(counts, delta, question),
        *within,
    ]


def _audit_strategy(attack: Attack, strategy: str, question: Question, notes: list[str]) -> Audit:
    """Audit scores whose threshold a strategy chooses."""
    from bayesaudit.audits._scores import (
        NO_POSTERIOR,
        chosen_line,
        roc_summary,
        strategy_bound,
        threshold_summary,
        too_few_note,
    )

    if question.icc_prior is not None and (strategy != "split" or not attack.per_model):
        raise ValueError("icc_prior needs threshold split, and data with a model column.")
    if question.prior != "jeffreys" and strategy != "split":
        raise ValueError(f"prior does not go with threshold {strategy}, which has no posterior.")
    if question.random_seed is not None and "split" not in strategy:
        notes.append(f"seed {question.random_seed} is not used: {strategy} draws nothing.")
    # The scores declare the direction: higher means member.
    question = replace(question, direction="member")
    scores = attack.data
    echoed = {"n_pos": scores.n_pos, "n_neg": scores.n_neg}
    if strategy == "split":
        return replace(_audit_split(attack, question, notes, echoed), roc=roc_summary(scores))
    bounds = {delta: strategy_bound(scores, strategy, delta, question) for delta in question.delta}
    for bound in bounds.values():
        notes += bound.warnings
    if strategy == "band":
        notes += too_few_note(scores, bounds, question)
    notes += looks_note(question)
    first = bounds[question.delta[0]]
    source = attack.source if attack.source == "arguments" else f"{attack.source} (scores)"
    return Audit(
        kind="scores",
        lines=tuple(chosen_line(bound, delta, question) for delta, bound in bounds.items()),
        question=question,
        counts=first.counts,
        source=source,
        inputs={
            "counts": None if first.counts is None else first.counts.to_dict(),
            "source": source,
            "direction": question.direction,
            "prior": question.prior,
            **question.inputs(),
            **echoed,
            "seed": first.random_seed,
        },
        threshold=threshold_summary(first, attack.lower_is_member),
        bounds={
            delta: threshold_summary(bound, attack.lower_is_member)
            for delta, bound in bounds.items()
        },
        roc=roc_summary(scores),
        no_posterior=NO_POSTERIOR,
        curve_of=(partial(_band_curve, scores, question) if strategy == "band" else None),
    )


def _audit_split(
    attack: Attack, question: Question, notes: list[str], echoed: dict[str, Any]
) -> Audit:
    """Audit, on the rows that did not choose it, at the threshold that is best on the others.

    The threshold is chosen for the first delta. The lower credible end is that of the two-direction
    bound, which is below the equal-tailed one, so that the interval holds at least its mass.
    """
    from bayesaudit.audits._scores import strategy_bound, threshold_summary

    bound = strategy_bound(attack.data, "split", question.delta[0], question)
    notes += bound.warnings
    counts = bound.counts
    if attack.per_model:
        counts = bound.rows.counts_by_model(bound.threshold)
    trials = trials_of(bound.rows, bound.threshold)
    found = _audit_counts(counts, attack, question, notes, trials)
    lines = []
    for line in found.lines:
        if line.method == EXACT_POSTERIOR:
            line = cautious(line, bound.counts, question)
        elif line.method in (BETA_BINOMIAL, UNIFORM_ICC):
            icc_prior = line.summary["icc_prior"]
            line = cautious(line, counts, question, dependence="beta-binomial", icc_prior=icc_prior)
        lines.append(line)
    return replace(
        found,
        lines=tuple(lines),
        inputs={**found.inputs, **echoed, "seed": bound.random_seed},
        threshold=threshold_summary(bound, attack.lower_is_member),
        curve_of=partial(_counts_curve, bound.counts, question),
    )


def _counts_curve(counts: AttackCounts, question: Question, delta: Any) -> Any:
    from bayesaudit.audits._curve import counts_curve

    return counts_curve(counts, question, delta)


def _band_curve(scores: AttackScores, question: Question, delta: Any) -> Any:
    from bayesaudit.audits._curve import band_curve

    return band_curve(scores, question, delta)

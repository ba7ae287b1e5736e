"""One training run with many canaries: its lines, and its audit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesaudit.audits._audit import Audit
from bayesaudit.audits._line import Line
from bayesaudit.audits._notes import collected, once
from bayesaudit.audits._question import Question
from bayesaudit.reading import Trials, read_trials
from bayesaudit.scores import AttackScores

__all__ = ["audit_one_run"]

NO_POSTERIOR = (
    "one run gives no likelihood of the guesses under (epsilon, delta)-DP, since canaries may "
    "depend on each other in any way: there is a lower bound at every level, and no posterior"
)
ASSUMES_INDEPENDENCE = (
    "xiang assumes independent canaries: a mechanism with dependent ones can exceed its "
    "level by any amount."
)
#: Line -> method and trade-off curve; the last two assume independent canaries.
FORMS = {
    "all-subset": ("all-subset", "gaussian"),
    "steinke": ("steinke", "gaussian"),
    "f-dp": ("f-dp", "gaussian"),
    "f-dp-epsilon-delta": ("f-dp", "epsilon-delta"),
}
INDEPENDENT_FORMS = {
    "xiang": ("xiang", "gaussian"),
    "xiang-epsilon-delta": ("xiang", "epsilon-delta"),
}


def one_run_lines(
    attack: dict[str, Any],
    delta: float,
    question: Question,
    independent_canaries: bool,
    notes: list[str],
) -> Iterator[Line]:
    """Yield a line a method; `attack` is a tally, or scores with declared guesses."""
    from bayesaudit import onerun

    forms = FORMS | (INDEPENDENT_FORMS if independent_canaries else {})
    for name, (method, curve) in forms.items():
        options = {"delta": delta, "method": method, "curve": curve, "prob": question.prob}
        found = (
            onerun.audit_scores(**attack, **options)
            if "score" in attack
            else onerun.audit(**attack, **options)
        )
        entry = found.to_dict()
        if "reason" in entry:
            notes.append(f"{name} at delta {delta:g}: {entry['reason']}.")
        yield Line(
            delta=delta,
            method=name,
            lower=found.lower,
            upper=float("inf"),
            prob=question.prob,
            statement="confidence",
            guarantee=found.guarantee,
            promise=found.assumption,
            assumption=found.assumption,
            reason=entry.get("reason", "a lower bound only"),
            p_value=None if question.claim is None else found.p_value(question.claim),
            summary=entry,
        )
    if independent_canaries:
        notes.append(ASSUMES_INDEPENDENCE)


def audit_one_run(
    attack: AttackScores | Trials | str | Path | None = None,
    *,
    n_canaries: int | None = None,
    n_guesses: int | None = None,
    n_correct: int | None = None,
    guesses: Any = None,
    delta: ArrayLike = 1e-5,
    prob: float = 0.90,
    claim: float | None = None,
    independent_canaries: bool = False,
    source: str = "arguments",
) -> Audit:
    """Audit one training run with many canaries: lower bounds, and no posterior.

    Parameters
    ----------
    attack : AttackScores, Trials, str or path, optional
        Scores of all canaries, or a file of them, with `guesses`; or the tally, by the next three
        arguments.
    n_canaries : int, optional
        Canaries put in by independent fair coins, >= 1.
    n_guesses : int, optional
        Guesses released, fixed beforehand, in [0, n_canaries].
    n_correct : int, optional
        Right guesses, in [0, n_guesses].
    guesses : int, (int, int), or a list of these, optional
        For scores: how many of the highest and lowest are guessed; a list is a declared grid, each
        tested at its share of the level.
    delta : float or array_like of float
        Of (epsilon, delta)-DP, in [0, 1].
    prob : float
        Level, in (0, 1): a bound errs by (1 − prob)/2.
    claim : float, optional
        A claimed epsilon, in nats, >= 0, which gets a p-value by every method.
    independent_canaries : bool
        Also give the bound that assumes independent canaries, which DP does not give.
    source : str
        Where the scores came from, echoed; the file's name where `attack` is one.

    Returns
    -------
    Audit
        Of kind "one-run".

    Raises
    ------
    ValueError, TypeError
        If the tally is incomplete or impossible, or scores come without declared guesses.

    References
    ----------
    Steinke, Nasr and Jagielski, NeurIPS 2023, arXiv:2305.08846; Mahloujifar, Melis and Chaudhuri,
    arXiv:2410.22235.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> result = ba.audit_one_run(n_canaries=1000, n_guesses=200, n_correct=150)
    >>> print(f"{result.recommended.method}: {result.recommended.lower:.4f}")
    all-subset: 0.8211
    """
    question = Question.asked(delta, prob, "member", "jeffreys", claim, None, None, None)
    tally = {"n_canaries": n_canaries, "n_guesses": n_guesses, "n_correct": n_correct}
    with collected() as notes:
        if attack is None:
            missing = [name for name, value in tally.items() if value is None]
            if missing:
                raise ValueError(f"needs scores or a tally; missing {', '.join(missing)}.")
            data = tally
        else:
            given = [name for name, value in tally.items() if value is not None]
            if given:
                raise ValueError(f"takes scores or {given[0]}, got both.")
            if isinstance(attack, str | Path):
                source, attack = str(attack), read_trials(attack)
            data = _one_run_scores(attack, guesses, source)
            guesses = data["guesses"]
        lines = [
            line
            for value in question.delta
            for line in one_run_lines(data, value, question, independent_canaries, notes)
        ]
    best = next(line for line in lines if line.method == "all-subset").summary
    inputs = {name: best[name] for name in tally} | question.inputs()
    inputs["source"] = source if source == "arguments" else f"{source} (scores)"
    if attack is not None:
        inputs["guesses"] = [list(rule) if isinstance(rule, tuple) else rule for rule in guesses]
    return Audit(
        kind="one-run",
        lines=tuple(lines),
        question=question,
        counts=None,
        source=source,
        path=None if source in ("arguments", "-") else source,
        inputs=inputs,
        warnings=once(notes),
        no_posterior=NO_POSTERIOR,
    )


def _one_run_scores(attack: Any, guesses: Any, source: str) -> dict[str, Any]:
    """Return the scores of one run and their declared guesses."""
    if not isinstance(attack, AttackScores | Trials):
        raise TypeError(f"attack must be AttackScores or a file, got {type(attack).__name__}.")
    models = 1 if attack.model is None else len(np.unique(attack.model))
    if models > 1:
        raise ValueError(f"{source}: holds {models} models; one run takes the rows of one.")
    if guesses is None:
        raise ValueError("guesses must be declared for scores, got none.")
    rules = guesses if isinstance(guesses, list) else [guesses]
    return {"score": attack.score, "member": attack.member, "guesses": rules}

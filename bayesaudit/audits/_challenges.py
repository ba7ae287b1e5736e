"""Trials one by one: their challenge points, which trained models may share."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesaudit.audits._line import CROSSED, Line, line_of_interval
from bayesaudit.audits._question import Question
from bayesaudit.dependence import SharedChallenges, crossed_interval, shared_challenges

__all__ = ["challenges_of", "crossed_line", "trials_of"]

Trials = Mapping[str, Any]


def trials_of(rows: Any, cut: float | None = None) -> Trials | None:
    """Return guess, member, model and challenge of every row; None where a column is missing.

    Parameters
    ----------
    rows : Trials, AttackScores or None
        The rows of a file, or scores.
    cut : float, optional
        For scores: "member" iff score >= cut.
    """
    if rows is None or rows.model is None or rows.challenge is None:
        return None
    guess = rows.guess if cut is None else rows.score >= cut
    if guess is None:
        return None
    labels = {"model": rows.model, "challenge": rows.challenge}
    return {"guess": np.asarray(guess), "member": np.asarray(rows.member), **labels}


def challenges_of(trials: Trials | None) -> SharedChallenges | None:
    """Return whether trials of one challenge err together; None where models share none."""
    if trials is None:
        return None
    found = shared_challenges(**trials)
    return found if found.n_challenges > 1 else None


def crossed_line(trials: Trials, delta: float, question: Question) -> Line:
    """Return the line that allows for shared challenge points."""
    found = crossed_interval(question.measure(delta), question.prob, **trials, prior=question.prior)
    line = line_of_interval(
        found,
        delta,
        method=CROSSED,
        promise="approximate, shared models and shared challenges allowed for",
        assumption="models and challenge points are draws from their populations",
    )
    return replace(line, prob=question.prob)

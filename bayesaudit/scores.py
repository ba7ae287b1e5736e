"""Attack scores: what the attack said before a threshold, checked at the door."""

from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit.counts import AttackCounts, check_scores, member_bits, require_both_classes
from bayesaudit.roc import RocCurve, roc_curve

__all__ = ["AttackScores"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AttackScores:
    """Scores of a membership attack and the truth, one row a trial.

    Parameters
    ----------
    score : array_like, shape (n,)
        Attack scores; higher means "member". Infinite scores are legal, NaN is not. Kept as
        64-bit floats, to which 32-bit scores widen exactly.
    member : array_like, shape (n,)
        The truth: 1 or True for a member.
    model : array_like, shape (n,), optional
        The trained model that every row comes from. Rows of one model are dependent.
    challenge : array_like, shape (n,), optional
        The challenge point that every row is about.
    positive : object, optional
        The label that means "member", where labels are not {0, 1} or {False, True}.

    Raises
    ------
    ValueError
        If there are no rows, lengths differ, a score is NaN, labels are not a coding of two
        classes, or one class has no rows.

    Examples
    --------
    >>> scores = AttackScores(score=[9, 9, 5, 5], member=[1, 0, 1, 0])
    >>> scores
    AttackScores(2 members, 2 non-members)
    >>> scores.counts(9)
    AttackCounts(fn=1, tp=1, fp=1, tn=1)
    """

    score: NDArray[np.float64]
    member: NDArray[np.bool_]
    model: NDArray | None = None
    challenge: NDArray | None = None
    positive: InitVar[Any] = None

    def __post_init__(self, positive: Any) -> None:
        member = member_bits(self.member, name="member", positive=positive)
        score = check_scores(self.score).astype(np.float64)
        if score.size != member.size:
            raise ValueError(
                f"score and member must have one length, got {score.size} and {member.size}."
            )
        require_both_classes(member)
        columns = {"score": score, "member": member}
        for name in ("model", "challenge"):
            if getattr(self, name) is not None:
                columns[name] = _labels(getattr(self, name), name, member.size)
        for name, column in columns.items():
            column.flags.writeable = False
            object.__setattr__(self, name, column)

    def __repr__(self) -> str:
        models = "" if self.model is None else f", {self.models.size} models"
        return f"AttackScores({self.n_pos} members, {self.n_neg} non-members{models})"

    def __len__(self) -> int:
        return self.score.size

    def __getitem__(self, rows: Any) -> "AttackScores":
        """Return the chosen rows: a slice, a mask or an array of indices."""
        chosen = {
            name: column[rows]
            for name in ("score", "member", "model", "challenge")
            if (column := getattr(self, name)) is not None
        }
        return AttackScores(**chosen)

    @property
    def n_pos(self) -> int:
        """Number of members."""
        return int(self.member.sum())

    @property
    def n_neg(self) -> int:
        """Number of non-members."""
        return self.member.size - self.n_pos

    @cached_property
    def models(self) -> NDArray:
        """Labels of the trained models, sorted; one ``None`` where models are not told apart."""
        return np.array([None]) if self.model is None else np.unique(self.model)

    def counts(self, threshold: float) -> AttackCounts:
        """Return the counts of a threshold: "member" iff score >= threshold.

        Parameters
        ----------
        threshold : float
            The threshold, chosen without looking at these rows; a bound computed from a threshold
            that was chosen on them does not hold.

        Examples
        --------
        >>> AttackScores(score=[3.0, 2.0, 1.0], member=[1, 0, 0]).counts(2.0)
        AttackCounts(fn=0, tp=1, fp=1, tn=1)
        """
        return AttackCounts.from_scores(score=self.score, member=self.member, threshold=threshold)

    def counts_by_model(self, threshold: float) -> AttackCounts:
        """Return the counts of every model, on a trailing ``model`` axis in the order of `models`.

        Parameters
        ----------
        threshold : float
            As in `counts`.

        Raises
        ------
        ValueError
            If the rows have no model.

        Examples
        --------
        >>> scores = AttackScores(
        ...     score=[3, 2, 1, 0], member=[1, 0, 1, 0], model=["a", "a", "b", "b"]
        ... )
        >>> scores.counts_by_model(2)
        AttackCounts(fn=[0, 1], tp=[1, 0], fp=[1, 0], tn=[0, 1])
        """
        if self.model is None:
            raise ValueError("counts_by_model() needs rows with a model, got none.")
        return AttackCounts.from_scores(
            score=self.score, member=self.member, threshold=threshold, model=self.model
        )

    @property
    def clustered(self) -> bool:
        """Whether some model has several rows, which are then dependent."""
        return self.model is not None and self.models.size < len(self)

    def roc(self) -> RocCurve:
        """Return the operating points of all thresholds, ties as blocks.

        Examples
        --------
        >>> AttackScores(score=[3, 2, 1], member=[1, 1, 0]).roc().auc
        1.0
        """
        return roc_curve(self.score, self.member)


def _labels(value: ArrayLike, name: str, size: int) -> NDArray:
    labels = np.array(value)
    if labels.shape != (size,):
        raise ValueError(f"{name} and member must have one length, got {labels.size} and {size}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        first = int(np.flatnonzero(np.isnan(labels))[0])
        raise ValueError(f"{name} must name every row, got NaN at index {first}.")
    if labels.dtype.kind == "O":
        missing = [index for index, label in enumerate(labels) if label is None or label != label]
        if missing:
            raise ValueError(f"{name} must name every row, got none at index {missing[0]}.")
        labels = labels.astype(str)
    return labels

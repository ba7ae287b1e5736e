"""Counts: what the attack guessed, checked at the door."""

import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_integers, check_number
from bayesaudit._result import Table

__all__ = ["AttackCounts", "member_bits"]

Integers = NDArray[np.int64]
CELLS = ("fn", "tp", "fp", "tn")


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackCounts(Table):
    """Counts of a membership attack's guesses: one tally, or an array of tallies.

    Keyword-only, since tools disagree about the order of the four cells.

    Parameters
    ----------
    fn, tp : array_like of int
        Members guessed "non-member" and "member"; >= 0, all four of one shape.
    fp, tn : array_like of int
        Non-members guessed "member" and "non-member".
    n_pos, n_neg : array_like of int, optional
        Numbers of members and non-members, where these are known: they must be ``fn + tp`` and
        ``fp + tn``.
    axis : "model" or "tally", optional
        What the trailing axis of an array is: the models of one audit, or audits that have nothing
        to do with each other. Not part of what makes counts equal.

    Notes
    -----
    A trailing ``model`` axis holds one tally for every trained model; `pooled` sums over it.
    Functions that treat the trials of a model as dependent say so; to all others every tally of
    the array is on its own.

    Raises
    ------
    TypeError
        If a count is a boolean, a string or otherwise no number.
    ValueError
        If a count is negative, fractional, NaN or too large, if shapes differ, or totals contradict
        the counts.

    Examples
    --------
    >>> counts = AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> float(counts.fnr), float(counts.fpr)
    (0.35, 0.25)
    >>> AttackCounts(fn=[3, 4], tp=[7, 6], fp=[1, 2], tn=[9, 8]).pooled()
    AttackCounts(fn=7, tp=13, fp=3, tn=17)
    """

    fn: Integers
    tp: Integers
    fp: Integers
    tn: Integers
    n_pos: Integers = field(default=None, repr=False)  # type: ignore[assignment]
    n_neg: Integers = field(default=None, repr=False)  # type: ignore[assignment]
    axis: Literal["model", "tally"] | None = field(default=None, repr=False)

    _omit = ("n_pos", "n_neg", "axis")

    def __post_init__(self) -> None:
        cells = {name: check_integers(getattr(self, name), name) for name in CELLS}
        shapes = {name: cell.shape for name, cell in cells.items()}
        if len(set(shapes.values())) > 1:
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ValueError(f"fn, tp, fp and tn must have one shape, got {listed}.")
        if self.axis is not None:
            check_choice(self.axis, "axis", ("model", "tally"))
            if not cells["fn"].shape:
                raise ValueError(f"axis must be None for a single tally, got {self.axis!r}.")
        limit = np.iinfo(np.int64).max // 2
        for name, cell in cells.items():
            if cell.size and cell.max() > limit:
                raise ValueError(f"{name} must be at most {limit}, got {int(cell.max())}.")
            cell.flags.writeable = False
            object.__setattr__(self, name, cell)
        totals = (("n_pos", "fn", "tp"), ("n_neg", "fp", "tn"))
        for total, errors, rights in totals:
            counted = cells[errors] + cells[rights]
            declared = getattr(self, total)
            if declared is not None:
                declared = check_integers(declared, total)
                if declared.shape not in ((), counted.shape) or np.any(declared != counted):
                    raise ValueError(
                        f"{errors} + {rights} must equal {total}: got {_listed(counted)} "
                        f"and {_listed(declared)}."
                    )
            object.__setattr__(self, total, counted)

    def __repr__(self) -> str:
        return f"AttackCounts({', '.join(f'{k}={_listed(getattr(self, k))}' for k in CELLS)})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AttackCounts):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in CELLS)

    def __getitem__(self, index: Any) -> "AttackCounts":
        """Return the chosen tallies; they have the axis where it is still the trailing one."""
        chosen = {name: getattr(self, name)[index] for name in CELLS}
        axis = self.axis if _keeps_trailing(index, self.fn.ndim) else None
        return AttackCounts(**chosen, axis=axis)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tallies; () for one."""
        return self.fn.shape

    @property
    def fnr(self) -> NDArray[np.float64]:
        """Observed false negative rate; NaN without members."""
        return _ratio(self.fn, self.n_pos)

    @property
    def fpr(self) -> NDArray[np.float64]:
        """Observed false positive rate; NaN without non-members."""
        return _ratio(self.fp, self.n_neg)

    def pooled(self) -> "AttackCounts":
        """Return the sum over the trailing ``model`` axis."""
        if not self.shape:
            raise ValueError("pooled() needs a trailing model axis, got a single tally.")
        return AttackCounts(**{name: getattr(self, name).sum(axis=-1) for name in CELLS})

    @classmethod
    def from_guesses(
        cls,
        *,
        guess: ArrayLike,
        member: ArrayLike,
        model: ArrayLike | None = None,
        positive: Any = None,
    ) -> "AttackCounts":
        """Count guesses against the truth.

        Parameters
        ----------
        guess : array_like, shape (n,)
            What the attack said: 1 or True for "member".
        member : array_like, shape (n,)
            The truth, in the same coding.
        model : array_like, shape (n,), optional
            The trained model of every row; the result then has a trailing ``model`` axis, in
            sorted order of the labels.
        positive : object, optional
            The label that means "member", where labels are not {0, 1} or {False, True}.

        Raises
        ------
        ValueError
            If lengths differ, there are no rows, labels are not a coding of two classes, or
            `member` has one class only.

        Examples
        --------
        >>> AttackCounts.from_guesses(guess=[1, 1, 0, 0], member=[1, 0, 1, 0])
        AttackCounts(fn=1, tp=1, fp=1, tn=1)
        """
        truth = member_bits(member, name="member", positive=positive)
        said = member_bits(guess, name="guess", positive=positive)
        return cls._tally(said, truth, model, "guess")

    @classmethod
    def from_scores(
        cls,
        *,
        score: ArrayLike,
        member: ArrayLike,
        threshold: float,
        model: ArrayLike | None = None,
        positive: Any = None,
    ) -> "AttackCounts":
        """Count the guesses of a threshold: "member" iff score >= threshold.

        Rows with equal scores always fall on one side together.

        Parameters
        ----------
        score : array_like, shape (n,)
            Attack scores; higher means "member". Infinite scores are legal, NaN is not.
        member : array_like, shape (n,)
            The truth: 1 or True for a member.
        threshold : float
            The threshold, chosen without looking at these rows.
        model, positive
            As in `from_guesses`.

        Raises
        ------
        ValueError
            As `from_guesses`, and if a score is NaN.

        Examples
        --------
        >>> AttackCounts.from_scores(score=[9, 9, 5, 5], member=[1, 0, 1, 0], threshold=9)
        AttackCounts(fn=1, tp=1, fp=1, tn=1)
        """
        truth = member_bits(member, name="member", positive=positive)
        values = check_scores(score)
        threshold = check_number(threshold, "threshold")
        return cls._tally(values >= threshold, truth, model, "score")

    @classmethod
    def _tally(
        cls, said: NDArray[np.bool_], truth: NDArray[np.bool_], model: ArrayLike | None, name: str
    ) -> "AttackCounts":
        if said.shape != truth.shape:
            raise ValueError(
                f"{name} and member must have one length, got {said.size} and {truth.size}."
            )
        require_both_classes(truth)
        group, groups = np.zeros(truth.size, np.intp), 1
        if model is not None:
            labels = np.asarray(model)
            if labels.shape != truth.shape:
                raise ValueError(
                    f"model and member must have one length, got {labels.size} and {truth.size}."
                )
            names, group = np.unique(labels, return_inverse=True)
            groups = names.size
        cells = {"fn": ~said & truth, "tp": said & truth, "fp": said & ~truth, "tn": ~said & ~truth}
        counted = {key: np.bincount(group[cell], minlength=groups) for key, cell in cells.items()}
        if model is None:
            counted = {key: value[0] for key, value in counted.items()}
        return cls(**counted, axis=None if model is None else "model")


def _keeps_trailing(index: Any, ndim: int) -> bool:
    """Say whether indexing an array of `ndim` dimensions leaves its last axis in place."""
    given = index if isinstance(index, tuple) else (index,)
    parts = [part for part in given if part is not None]
    plain = [isinstance(part, slice) or part is Ellipsis for part in parts]
    arrays = [np.asarray(part) for part, is_plain in zip(parts, plain, strict=True) if not is_plain]
    addressed = sum(isinstance(part, slice) for part in parts)
    addressed += sum(max(array.ndim, 1) if array.dtype == bool else 1 for array in arrays)
    in_full = any(part is Ellipsis for part in parts) or addressed >= ndim
    if not parts or parts[-1] is Ellipsis or not in_full:
        return ndim > 0
    chosen = [array.ndim for array in arrays if array.ndim]
    return plain[-1] or (arrays[-1].ndim == 1 and chosen == [1])


def _listed(value: Any) -> str:
    return str(np.asarray(value).tolist())


def _ratio(part: Integers, whole: Integers) -> NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def check_scores(score: ArrayLike) -> NDArray[np.float64]:
    """Return scores as a 1-D float array; refuse NaN and what is no number, accept infinities."""
    array = np.asarray(score)
    if array.dtype.kind in "cmMV":
        raise ValueError(f"score must be real numbers, got {array.dtype}.")
    try:
        # In double precision, where float32(0.7) >= 0.7 is false: NumPy would round the threshold.
        values = array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("score must be numbers, got something that is not.") from None
    large = np.abs(values) >= 2.0**53
    if array.dtype.kind in "iu" and list(map(int, values[large])) != array[large].tolist():
        raise ValueError("score must be held exactly by 64-bit floats, got larger integers.")
    if values.ndim != 1:
        raise ValueError(f"score must have one dimension, got {values.ndim}.")
    bad = np.flatnonzero(np.isnan(values))
    if bad.size:
        raise ValueError(
            f"score must not be NaN, got {bad.size} NaN (first at index {int(bad[0])})."
        )
    return values


def member_bits(label: ArrayLike, *, name: str, positive: Any = None) -> NDArray[np.bool_]:
    """Return labels as booleans, true for "member".

    Parameters
    ----------
    label : array_like, shape (n,)
        Labels in {0, 1} or {False, True}; anything else needs `positive`.
    name : str
        The argument's name, for the message.
    positive : object, optional
        The label that means "member"; at most one other label may then occur.

    Raises
    ------
    ValueError
        If labels are not such a coding, or there are none.

    Examples
    --------
    >>> member_bits(["in", "out"], name="member", positive="in")
    array([ True, False])
    """
    array = np.asarray(label)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got {array.ndim}.")
    if array.size == 0:
        raise ValueError(f"{name} must have at least one row, got none.")
    found = np.unique(array)
    if positive is not None:
        if array.dtype.kind in "US":
            positive = str(positive)
        if found.size > 2 or positive not in found.tolist():
            raise ValueError(
                f"{name} must hold the positive label {positive!r} and at most one other, "
                f"got {found.tolist()[:5]}."
            )
        return array == positive
    if array.dtype.kind not in "biuf" or not set(found.tolist()) <= {0, 1}:
        shown = found.tolist()[:5]
        raise ValueError(
            f"{name} must be 0/1 or False/True, got {shown}; "
            "name the label that means 'member' with positive= (--positive)."
        )
    return array.astype(bool)


def require_both_classes(truth: NDArray[np.bool_]) -> None:
    """Refuse data with members only or non-members only."""
    n_pos = int(truth.sum())
    if n_pos in (0, truth.size):
        kind = "non-members" if n_pos == 0 else "members"
        raise ValueError(
            f"member must have both classes, got {truth.size} {kind} only: "
            "one error rate would rest on no data."
        )


def warn_if_empty(counts: AttackCounts) -> None:
    """Warn once where a rate rests on no data: its posterior is then the prior."""
    empty = [
        name for name, total in (("FNR", counts.n_pos), ("FPR", counts.n_neg)) if np.any(total == 0)
    ]
    if empty:
        warnings.warn(
            f"no data for {' and '.join(empty)}: there the prior speaks, not the attack.",
            UserWarning,
            stacklevel=3,
        )

"""What a bound returns: the number, what it was derived from, and whether it says anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesaudit._result import Result

if TYPE_CHECKING:
    from bayesaudit.fano._prior import Prior

__all__ = ["AdvantageBound"]

_DELTA_NOTE = (
    "one category has all the prior probability: the guess is right without the output, "
    "so the advantage is 0 by convention (it is 0/0)"
)


@dataclass(frozen=True, slots=True)
class AdvantageBound(Result):
    """An upper bound on what any adversary gains, with its provenance.

    Attributes
    ----------
    advantage : float
        Bound on ``(s - p*)/(1 - p*)``, in [0, 1].
    success : float
        Bound on s, the probability that the guess is right, in [p*, 1].
    error : float
        ``1 - s``, with its own relative accuracy where the method has it.
    base_success : float
        p*, the success of a guess made without the output.
    categories : int
        Number of values of positive probability.
    method : str
        Name of the bound.
    premise : str
        The assumption that it follows from, in words.
    neighboring_relation : str or None
        "add-or-remove-one" or "replace-one" where the premise depends on it.
    inputs : mapping
        The numbers of the premise.
    vacuous : bool
        Whether the bound allows every adversary (advantage 1).
    notes : tuple of str
        What the reader must know.
    """

    advantage: float
    success: float
    error: float
    base_success: float
    categories: int
    method: str
    premise: str
    neighboring_relation: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    vacuous: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        prior: "Prior",
        *,
        method: str,
        premise: str,
        advantage: float | None = None,
        success: float | None = None,
        error: float | None = None,
        neighboring_relation: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        notes: tuple[str, ...] = (),
    ) -> "AdvantageBound":
        """Fill in the other two of advantage, success and error; a delta prior gives 0."""
        base, rest = prior.largest, prior.rest
        if prior.delta:
            advantage, success, error, notes = 0.0, 1.0, 0.0, (*notes, _DELTA_NOTE)
        elif advantage is None:
            if success is None:
                raise TypeError("a bound needs an advantage or a success.")
            advantage = (success - base) / rest
        advantage = min(max(advantage, 0.0), 1.0)
        if error is None:
            error = rest * (1.0 - advantage)
        if success is None:
            success = 1.0 - error if error < 0.5 else base + rest * advantage
        return cls(
            advantage=float(advantage),
            success=float(min(max(success, base), 1.0)),
            error=float(error),
            base_success=float(base),
            categories=int(prior.categories),
            method=method,
            premise=premise,
            neighboring_relation=neighboring_relation,
            inputs=dict(inputs or {}),
            vacuous=not prior.delta and advantage >= 1.0,
            notes=tuple(notes),
        )

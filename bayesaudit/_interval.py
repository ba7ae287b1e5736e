"""The interval that every engine and method returns: it says what it promises."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from bayesaudit._result import Result, shown

__all__ = ["Interval"]

Kind = Literal["eti", "hdi", "lower", "upper"]


@dataclass(frozen=True, slots=True, eq=False)
class Interval(Result):
    """Two ends and what they promise; unpacks as ``lower, upper = interval``.

    Parameters
    ----------
    lower, upper : float or numpy.ndarray
        The ends, of the tallies' shape; infinite where unbounded.
    prob : float
        The level in the one convention of this package: the mass or confidence of a two-sided
        interval whose ends err by (1 − prob)/2 each. A bound quoted alone (kind "lower" or "upper")
        is that end, so that it errs by (1 − prob)/2.
    kind : {"eti", "hdi", "lower", "upper"}
        Equal-tailed, highest-density (the shortest), or one end alone.
    statement : {"credible", "confidence"}
        "credible" is a statement about the posterior, "confidence" about repeated audits.
    method : str
        The method's name, "exact posterior" or "clopper-pearson" say.
    guarantee : str
        What holds: "posterior mass", "guaranteed", "asymptotic" or "approximate".
    """

    lower: Any
    upper: Any
    prob: float
    kind: Kind
    statement: Literal["credible", "confidence"]
    method: str
    guarantee: str

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            end = getattr(self, name)
            if getattr(end, "ndim", None) == 0:  # a number of NumPy's: a plain one prints as one
                object.__setattr__(self, name, end.item())

    def __iter__(self):
        return iter((self.lower, self.upper))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return (self.lower, self.upper)[index]

    def __str__(self) -> str:
        many = getattr(self.lower, "shape", ())
        ends = f" of {math.prod(many)} tallies" if many else ""
        ends = ends or f" [{shown(self.lower)}, {shown(self.upper)}]"
        what = {"eti": "interval", "hdi": "shortest interval"}.get(self.kind)
        if what is None:
            what = f"{self.kind} bound"
            ends = ends if many else f" {shown(getattr(self, self.kind))}"
        return (
            f"{100 * (1 - self.error):.6g} % {self.statement} {what}{ends} "
            f"({self.method}; {self.guarantee})"
        )

    @property
    def error(self) -> float:
        """Probability that the quoted ends together may err."""
        return (1 - self.prob) / 2 if self.kind in ("lower", "upper") else 1 - self.prob

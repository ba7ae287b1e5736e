"""The interval that every engine and method returns: it says what it promises."""

from dataclasses import dataclass
from typing import Any, Literal

from bayesaudit._plain import plain

__all__ = ["Interval"]

Kind = Literal["eti", "hdi", "lower", "upper"]


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
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

    def __iter__(self):
        return iter((self.lower, self.upper))

    @property
    def error(self) -> float:
        """Probability that the quoted ends together may err."""
        return (1 - self.prob) / 2 if self.kind in ("lower", "upper") else 1 - self.prob

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; an infinite end is ``None``."""
        return {
            "lower": plain(self.lower),
            "upper": plain(self.upper),
            "prob": self.prob,
            "kind": self.kind,
            "statement": self.statement,
            "method": self.method,
            "guarantee": self.guarantee,
        }

"""One line of an audit: an interval or a bound at one delta, and what it promises."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from bayesaudit._result import Result

__all__ = [
    "BETA_BINOMIAL",
    "CROSSED",
    "DRAWS",
    "EXACT_POSTERIOR",
    "INDEPENDENT",
    "MEMBER",
    "UNIFORM_ICC",
    "Line",
    "Statement",
    "line_of_interval",
    "line_of_posterior",
]

#: Names of the credible lines; the others bear the name of their method.
EXACT_POSTERIOR = "exact posterior"
MEMBER = "exact posterior, member"
BETA_BINOMIAL = "beta-binomial"
UNIFORM_ICC = "beta-binomial, uniform ICC prior"
CROSSED = "crossed"
DRAWS = "draws"

Statement = Literal["credible", "confidence", "approximate", "not a bound"]

#: Method of a line -> why its interval has no finite upper end, by the interval's kind.
ONE_END = {"lower": "a lower bound only"}
UNBOUNDED = "unbounded"

INDEPENDENT = "all trials are independent"
#: What an interval of frequentist kind promises, by its guarantee: statement and words.
PROMISES: dict[str, tuple[Statement, str]] = {
    "guaranteed": ("confidence", "confidence, guaranteed if trials are independent"),
    "near nominal": ("confidence", "confidence, near nominal if trials are independent"),
    "asymptotic": ("confidence", "confidence, asymptotic"),
    "approximate": ("approximate", "confidence, approximate"),
    "posterior": ("approximate", "rectangle of posterior intervals, rate by rate"),
    "not a bound": ("not a bound", "NOT A BOUND"),
    "not identified": ("approximate", "not identified: the models do not vary"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Line(Result):
    """What one method says of epsilon at one delta.

    Parameters
    ----------
    delta : float
        Of (epsilon, delta)-DP.
    method : str
        The method's name: "exact posterior", "beta-binomial", "exact-unconditional", "draws", ….
    lower, upper : float or numpy.ndarray
        The ends in nats, of the tallies' shape; infinite where there is none, see `reason`.
    prob : float
        The level: that of a two-sided interval whose ends err by (1 − prob)/2 each, so that a
        lower end quoted alone errs by (1 − prob)/2.
    statement : {"credible", "confidence", "approximate", "not a bound"}
        About the posterior of these data, or about repeated audits; "approximate" is neither held
        exactly nor guaranteed.
    guarantee : str
        "posterior mass", "guaranteed", "near nominal", "asymptotic", "approximate", "posterior" (a
        rectangle of posterior intervals), "prior-driven", "not identified" or "not a bound".
    promise : str
        The same in words, for a person.
    assumption : str
        What must hold for the promise.
    reason : str or None
        Why an end is missing.
    label : str or None
        The line's name in a table, where it is not `method`: an indented companion, say.
    prob_above : float or numpy.ndarray or None
        P(epsilon-hat > claim | data), where there are a claim and a posterior.
    p_value : float or None
        Of the claim, where there are a claim and a test.
    summary : mapping
        What else the method reports, as the JSON holds it: median, mean, prob_zero, ….
    posterior : Posterior or None
        The posterior that the line summarises, for figures.
    """

    _omit = ("label", "summary", "posterior")

    delta: float
    method: str
    lower: Any
    upper: Any
    prob: float
    statement: Statement
    guarantee: str
    promise: str
    assumption: str = INDEPENDENT
    reason: str | None = None
    label: str | None = None
    prob_above: Any = None
    p_value: float | None = None
    summary: Mapping[str, Any] = field(default_factory=dict, repr=False)
    posterior: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "prob_above", "p_value"):
            value = getattr(self, name)
            if value is not None and np.ndim(value) == 0:
                object.__setattr__(self, name, float(value))

    @property
    def is_bound(self) -> bool:
        """Whether the line may be quoted as a bound or an interval at all."""
        return self.statement != "not a bound"

    @property
    def is_guaranteed(self) -> bool:
        """Whether the lower end holds in repeated audits, under `assumption`."""
        return self.guarantee == "guaranteed"

    def at(self, tally: int) -> "Line":
        """Return the line of one tally of many."""
        picked = {
            name: _pick(getattr(self, name), tally) for name in ("lower", "upper", "prob_above")
        }
        summary = {name: _pick(value, tally) for name, value in self.summary.items()}
        return replace(self, **picked, summary=summary, posterior=None)


def _pick(value: Any, tally: int) -> Any:
    return value[tally] if isinstance(value, np.ndarray) and value.ndim else value


def line_of_posterior(
    posterior: Any, delta: float, prob: float, claim: float | None, **words: Any
) -> Line:
    """Return the line of a posterior: its equal-tailed interval and its summary."""
    lower, upper = posterior.interval(prob)
    numbers = (posterior.median(), posterior.mean(), posterior.prob_zero)
    summary = {
        name: float(value) if np.ndim(value) == 0 else value
        for name, value in zip(("median", "mean", "prob_zero"), numbers, strict=True)
    }
    return Line(
        delta=delta,
        lower=lower,
        upper=upper,
        prob=prob,
        reason=UNBOUNDED if np.any(np.isinf(upper)) else None,
        prob_above=None if claim is None else posterior.prob_above(claim),
        posterior=posterior,
        **{
            "statement": "credible",
            "guarantee": "posterior mass",
            **words,
            "summary": {**summary, **words.get("summary", {})},
        },
    )


def line_of_interval(interval: Any, delta: float, **words: Any) -> Line:
    """Return the line of an interval of frequentist kind."""
    statement, promise = PROMISES[interval.guarantee]
    open_ended = bool(np.any(np.isinf(interval.upper)))
    return Line(
        delta=delta,
        lower=interval.lower,
        upper=interval.upper,
        prob=interval.prob,
        guarantee=interval.guarantee,
        reason=ONE_END.get(interval.kind, UNBOUNDED) if open_ended else None,
        **{
            "method": interval.method,
            "statement": statement,
            "promise": promise,
            **words,
        },
    )

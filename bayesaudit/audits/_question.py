"""What is asked of an attack, checked at the door, and which sequences of looks it may have."""

from dataclasses import dataclass
from typing import Any, Literal

from bayesaudit._checks import check_choice, check_integers, check_nonnegative, check_prob
from bayesaudit._checks import check_probability as check_delta
from bayesaudit.measures import Epsilon

__all__ = ["ANYTIME", "Question"]

ANYTIME = "anytime"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the measure, the level, the priors, the claim, and how often one looks."""

    delta: tuple[float, ...]
    prob: float
    direction: Literal["both", "member"]
    prior: Any
    claim: float | None
    looks: int | Literal["anytime"] | None
    icc_prior: Any
    random_seed: int | None

    @classmethod
    def asked(
        cls, delta: Any, prob: Any, direction: Any, prior: Any, claim: Any, looks: Any, icc: Any,
        random_seed: Any,
    ) -> "Question":  # fmt: skip
        """Return the question, checked."""
        deltas = delta if isinstance(delta, list | tuple) or hasattr(delta, "tolist") else [delta]
        deltas = deltas.tolist() if hasattr(deltas, "tolist") else deltas
        deltas = [deltas] if isinstance(deltas, float | int) else deltas
        if not len(deltas):
            raise ValueError("delta must be a number or several, got none.")
        if looks is not None and looks != ANYTIME:
            looks = int(check_integers(looks, "looks", minimum=1))
        if random_seed is not None:
            random_seed = int(check_integers(random_seed, "random_seed"))
        return cls(
            delta=tuple(check_delta(value, "delta") for value in deltas),
            prob=check_prob(prob),
            direction=check_choice(direction, "direction", ("both", "member")),
            prior=prior,
            claim=None if claim is None else check_nonnegative(claim, "claim"),
            looks=looks,
            icc_prior=icc,
            random_seed=random_seed,
        )

    def measure(self, delta: float) -> Epsilon:
        """Return what is measured at one delta."""
        return Epsilon(delta, self.direction)

    @property
    def level(self) -> float:
        """The level at which a bound is computed, so that all declared looks share its error."""
        if self.looks is None or self.looks == ANYTIME:
            return self.prob
        from bayesaudit.calibration.sequential import looks_prob

        return looks_prob(self.prob, self.looks)

    def inputs(self) -> dict[str, Any]:
        """Return what every audit echoes, as the JSON holds it."""
        echoed = {
            "delta": self.delta[0] if len(self.delta) == 1 else list(self.delta),
            "prob": self.prob,
        }
        return echoed if self.looks is None else {**echoed, "looks": self.looks}

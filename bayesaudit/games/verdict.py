"""What an audit of an implementation concludes, and when it says that it saw nothing.

Three verdicts. "inconsistent": a test with a guaranteed level rejects the claim. "consistent": none
does, and the attack was good enough that it would have rejected code without any noise.
"inconclusive": none does, and nothing follows, because this design had no power here. Where the
audit does not know what training starts from, it cannot tell weights set by chance from noise, so
that "consistent" is out of its reach.
"""

import math
from dataclasses import dataclass
from typing import Literal

from bayesaudit._result import Result
from bayesaudit.counts import AttackCounts
from bayesaudit.games.accounting import REPLACE_ONE, PrivacyClaim

__all__ = [
    "ImplementationAudit",
    "detectable_accuracy",
    "needed_accuracy",
    "power_without_noise",
    "rejection_count",
    "upper_tail",
]

Verdict = Literal["inconsistent", "consistent", "inconclusive"]

# A coin is this unlikely to reach the accuracy at which an attack is believed to work.
_COIN_LEVEL = 0.01
_POWER = 0.9


@dataclass(frozen=True, slots=True)
class ImplementationAudit(Result):
    """The verdict of `audit_implementation`.

    Parameters
    ----------
    fn, tp, fp, tn : int
        The tally of guesses; "positive" is ``z1``.
    accuracy : float
        Share of guesses that were right.
    max_accuracy : float
        The largest accuracy that the claimed curve allows, (1 + delta_claim(0)) / 2.
    p_value : float
        P(Binomial(n, max_accuracy) >= number right): how likely this is if the claim holds.
    significance : float
        Level of the verdict: correct code is called inconsistent at most this often.
    test_level : float
        Level of each test, `significance` over the number of tests.
    rejection_accuracy : float or None
        The smallest accuracy at which the curve test rejects; None if not even all right does.
    detectable_accuracy : float
        The accuracy at which this number of trials finds a violation with probability 0.9 (1 if
        none does).
    needed_accuracy : float or None
        What the attack had to reach for "consistent"; None if no accuracy does (see `verdict`).
    power : float
        Estimated probability that the curve test rejects code without any noise, in [0, 1].
    start_known : bool
        Whether the attack accounts for what training starts from.
    claim : PrivacyClaim
        The claim as given.
    tested_claim : PrivacyClaim
        The claim in terms of substitution, which is what was tested.
    epsilon_lower : float or None
        The lower confidence bound on epsilon at the tested delta; None if none was asked for.
    bound : str or None
        The method of the bound.
    design : str
        The design of the challenges.
    canary : str
        The canary that the pilot chose, and how it was scored.
    sees, blind_to : tuple of str
        What the design can and cannot find.
    """

    fn: int
    tp: int
    fp: int
    tn: int
    accuracy: float
    max_accuracy: float
    p_value: float
    significance: float
    test_level: float
    rejection_accuracy: float | None
    detectable_accuracy: float
    needed_accuracy: float | None
    power: float
    start_known: bool
    claim: PrivacyClaim
    tested_claim: PrivacyClaim
    epsilon_lower: float | None
    bound: str | None
    design: str
    canary: str
    sees: tuple[str, ...]
    blind_to: tuple[str, ...]

    _omit = ("fn", "tp", "fp", "tn")
    _also = (
        "verdict",
        "violated",
        "curve_violated",
        "epsilon_violated",
        "counts",
        "neighboring_relation=tested_claim.relation",
    )

    @property
    def counts(self) -> AttackCounts:
        """The four counts as one tally."""
        return AttackCounts(fn=self.fn, tp=self.tp, fp=self.fp, tn=self.tn)

    @property
    def n_trials(self) -> int:
        """Number of models."""
        return self.fn + self.tp + self.fp + self.tn

    @property
    def curve_violated(self) -> bool:
        """The curve test rejects the claim."""
        return self.p_value < self.test_level

    @property
    def epsilon_violated(self) -> bool:
        """The lower bound exceeds the tested epsilon (False without a bound)."""
        return self.epsilon_lower is not None and self.epsilon_lower > self.tested_claim.epsilon

    @property
    def violated(self) -> bool:
        """Either test rejects the claim."""
        return self.curve_violated or self.epsilon_violated

    @property
    def verdict(self) -> Verdict:
        """The conclusion: "inconsistent", "consistent" or "inconclusive".

        Notes
        -----
        Whatever blurs the attack beyond the claimed noise (random initial weights, other records,
        a weak statistic) would stay if the noise were gone. In Gaussian terms, with distances
        mu = 2 Phi^-1(accuracy): 1/mu_attack^2 = 1/mu_claim^2 + 1/mu_rest^2, and code without noise
        shows mu_rest. It is found with probability 0.9 if mu_rest reaches the detectable
        accuracy's mu, that is if the attack's accuracy reaches `needed_accuracy`, which moreover a
        coin must reach with a probability of at most 0.01. Below it the verdict is "inconclusive".
        Where the start is not known, all the blur may be the start's, and code without noise may
        look just like this: then the needed accuracy is the detectable one, which the test rejects.
        The Gaussian form concerns the power only; the two tests hold for any score.
        """
        if self.violated:
            return "inconsistent"
        if self.needed_accuracy is None or self.accuracy < self.needed_accuracy:
            return "inconclusive"
        return "consistent"

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Return the verdict in words, with what the design cannot see."""
        tested = self.tested_claim
        lines = [
            f"{_VERDICTS[self.verdict]} Claim: epsilon {tested.epsilon:.4g} at delta "
            f"{tested.delta:.3g} under {tested.relation}.",
            f"{self.tp + self.tn} of {self.n_trials} guesses right ({self.accuracy:.4f}); the "
            f"claimed curve allows {self.max_accuracy:.4f}; p = {self.p_value:.3g} against level "
            f"{self.test_level:g}.",
        ]
        if self.epsilon_lower is not None:
            lines.append(
                f"Lower confidence bound on epsilon ({self.bound}): {self.epsilon_lower:.4f} at "
                f"level {self.test_level:g}."
            )
        if self.verdict != "inconsistent":
            lines.append(self._power())
        if self.claim.relation != REPLACE_ONE:
            lines.append(
                f"The claim (epsilon {self.claim.epsilon:.4g}) is under {self.claim.relation}; the "
                "game substitutes a record, so what the claim implies for a substitution was "
                "tested. An accountant run under REPLACE_ONE gives a sharper test."
            )
        lines.append(f"Canary: {self.canary}.")
        if self.sees:
            lines.append("This design sees: " + "; ".join(self.sees) + ".")
            lines.append("It does not see: " + "; ".join(self.blind_to) + ".")
        return "\n".join(lines)

    def _power(self) -> str:
        if self.rejection_accuracy is None:
            return (
                f"Not even {self.n_trials} right of {self.n_trials} would contradict a claim that "
                f"allows {self.max_accuracy:.6g}: more models, or the accountant's whole curve "
                "(dpsgd_claim) instead of one (epsilon, delta)."
            )
        text = (
            f"The test rejects from {self.rejection_accuracy:.4f} on. Code without any noise would "
            f"be found with probability {self.power:.2g}"
        )
        if self.needed_accuracy is None:
            return text + "; no accuracy would have been enough: train more models."
        if self.verdict == "consistent":
            return (
                text + f"; a leak that this attack shows below {self.rejection_accuracy:.4f}, not."
            )
        text += f": the attack would have needed an accuracy of {self.needed_accuracy:.4f}. "
        if not self.start_known:
            return text + (
                "What training starts from was not given: weights set by chance may hide code "
                "without noise. Give initial= (for a fixed start, a function that returns it)."
            )
        return text + (
            "A larger step length, fewer records (n_train) or more models (n_trials) may help."
        )


_VERDICTS = {
    "inconsistent": "INCONSISTENT: the implementation leaks more than it claims.",
    "consistent": "Consistent with its claim, as far as this design sees.",
    "inconclusive": "INCONCLUSIVE: this design had no power here.",
}


def upper_tail(n_correct: int, n: int, probability: float) -> float:
    """Return P(Binomial(n, probability) >= n_correct), exactly."""
    from scipy.special import betainc

    if n_correct <= 0:
        return 1.0
    if n_correct > n:
        return 0.0
    return float(betainc(n_correct, n - n_correct + 1, probability))


def rejection_count(n: int, limit: float, level: float) -> int | None:
    """Return the smallest number right of n that rejects "at most `limit`"; None if n does not.

    Examples
    --------
    >>> rejection_count(1000, 0.678, 1e-3), rejection_count(10, 0.6, 1e-3)
    (724, None)
    """
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        if upper_tail(middle, n, limit) < level:
            high = middle
        else:
            low = middle
    return high if high <= n else None


def detectable_accuracy(n: int, rejects: int | None) -> float:
    """Return the accuracy at which n guesses reach `rejects` with probability 0.9; 1 if None."""
    from scipy.special import betaincinv

    if rejects is None:
        return 1.0
    return float(betaincinv(rejects, n - rejects + 1, _POWER))


def needed_accuracy(
    n: int, limit: float, rejects: int | None, start_known: bool = True
) -> float | None:
    """Return the attack's accuracy from which code without noise is found; None if none is enough.

    See `ImplementationAudit.verdict`.

    Examples
    --------
    >>> round(needed_accuracy(1000, 0.678, 724), 3)
    0.647
    """
    if rejects is None:
        return None
    coin = rejection_count(n, 0.5, _COIN_LEVEL)
    if coin is None:
        return None
    found = _distance(detectable_accuracy(n, rejects))
    claimed = _distance(limit)
    if claimed == 0:
        return None
    if not start_known:
        return detectable_accuracy(n, rejects)
    needed = 1 / math.sqrt(1 / claimed**2 + 1 / found**2)
    return max(_accuracy(needed), coin / n)


def power_without_noise(
    n: int, limit: float, rejects: int | None, accuracy: float, start_known: bool = True
) -> float:
    """Return the probability that code without noise is rejected, by an attack of `accuracy`.

    A plug-in: the observed accuracy is taken for the attack's own.
    """
    if rejects is None:
        return 0.0
    claimed, seen = _distance(limit), _distance(max(accuracy, 0.5))
    if not start_known or seen == 0:
        return upper_tail(rejects, n, max(accuracy, 0.5))
    if seen >= claimed:
        return 1.0
    rest = 1 / math.sqrt(1 / seen**2 - 1 / claimed**2)
    return upper_tail(rejects, n, _accuracy(rest))


def _distance(accuracy: float) -> float:
    """Return mu of the two unit Gaussians that the best guess tells apart with `accuracy`."""
    from scipy.special import ndtri

    return 2 * float(ndtri(accuracy))


def _accuracy(mu: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(mu / 2))

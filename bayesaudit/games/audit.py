"""The verdict on an implementation: whether its training leaks more than its accountant says."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice, check_integers, check_prob
from bayesaudit._result import Result
from bayesaudit.counts import AttackCounts
from bayesaudit.games.accounting import REPLACE_ONE, PrivacyClaim
from bayesaudit.games.adversaries import LossComparison, StepLikelihood
from bayesaudit.games.challenges import Bias, Copies, PrivateCoordinate
from bayesaudit.games.experiments import experiment_1
from bayesaudit.games.populations import GaussianClasses
from bayesaudit.games.protocols import Adversary, Mechanism, PerModel, Population
from bayesaudit.intervals import confidence_interval
from bayesaudit.measures import Epsilon

__all__ = ["DESIGNS", "ImplementationAudit", "audit_implementation", "audit_trainer"]

Design = Literal["coordinate", "bias", "copies"]

# What each design can and cannot see; measured on the planted bugs of `planted`.
DESIGNS: dict[str, dict[str, tuple[str, ...]]] = {
    "coordinate": {
        "sees": (
            "noise that is too small (divided by the batch or its root, a wrong multiplier)",
            "clipping after averaging, or none",
            "one noise vector shared by all classes",
            "batches of an epoch accounted as Poisson samples, if steps are published and the "
            "noise is small",
        ),
        "blind_to": (
            "sampling without replacement accounted as Poisson (use design 'copies')",
            "norms that leave the biases out (use design 'bias')",
            "the same noise at every step",
            "leaks that only other records or other statistics show",
        ),
    },
    "bias": {
        "sees": (
            "norms that leave the biases out",
            "noise that is too small, or one noise vector shared by all classes",
        ),
        "blind_to": (
            "clipping after averaging (use design 'coordinate')",
            "sampling without replacement accounted as Poisson (use design 'copies')",
            "the same noise at every step",
            "faults confined to the features' weights",
        ),
    },
    "copies": {
        "sees": (
            "batches of fixed size (without replacement) accounted as Poisson samples, while the "
            "noise multiplier is below about 2",
            "noise that is too small, in full-batch training",
        ),
        "blind_to": (
            "sampling without replacement under larger noise",
            "noise that is too small under Poisson sampling, where the number of copies in a batch "
            "hides it (use design 'coordinate')",
            "norms that leave the biases out (use design 'bias')",
        ),
    },
}


def audit_trainer(
    noise_multiplier: float, *, sampling_rate: float = 1.0, n_steps: int = 10, **options: Any
) -> Any:
    """Return the small `DPSGD` of the default audit: two classes, clipping 0.1, slow steps.

    Parameters
    ----------
    noise_multiplier, sampling_rate, n_steps
        As for `DPSGD`.
    **options
        Other arguments of `DPSGD`.

    Examples
    --------
    >>> audit_trainer(6.839).n_steps
    10
    """
    from bayesaudit.games.dpsgd import DPSGD

    settings = {"n_classes": 2, "clip_norm": 0.1, "learning_rate": 1e-3, **options}
    return DPSGD(
        noise_multiplier=noise_multiplier,
        sampling_rate=sampling_rate,
        n_steps=n_steps,
        **settings,
    )


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
        Level of the curve test and of the bound.
    detectable_accuracy : float
        The accuracy at which this number of trials finds a violation with probability 0.9 (1 if
        none does).
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
    detectable_accuracy: float
    claim: PrivacyClaim
    tested_claim: PrivacyClaim
    epsilon_lower: float | None
    bound: str | None
    design: str
    sees: tuple[str, ...]
    blind_to: tuple[str, ...]

    _omit = ("fn", "tp", "fp", "tn")
    _also = (
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
        return self.p_value < self.significance

    @property
    def epsilon_violated(self) -> bool:
        """The lower bound exceeds the tested epsilon (False without a bound)."""
        return self.epsilon_lower is not None and self.epsilon_lower > self.tested_claim.epsilon

    @property
    def violated(self) -> bool:
        """Either test rejects the claim."""
        return self.curve_violated or self.epsilon_violated

    def summary(self) -> str:
        """Return the verdict in words, with what the design cannot see."""
        tested = self.tested_claim
        verdict = "VIOLATES its claim" if self.violated else "is consistent with its claim"
        lines = [
            f"The implementation {verdict}: epsilon {tested.epsilon:.4g} at delta "
            f"{tested.delta:.3g} under {tested.relation}.",
            f"{self.tp + self.tn} of {self.n_trials} guesses right ({self.accuracy:.4f}); the "
            f"claimed curve allows {self.max_accuracy:.4f}; p = {self.p_value:.3g} against level "
            f"{self.significance:g}.",
        ]
        if self.epsilon_lower is not None:
            lines.append(
                f"Lower confidence bound on epsilon ({self.bound}): {self.epsilon_lower:.4f} at "
                f"level {self.significance:g}."
            )
        if self.claim.relation != REPLACE_ONE:
            lines.append(
                f"The claim (epsilon {self.claim.epsilon:.4g}) is under {self.claim.relation}; the "
                "game substitutes a record, so what the claim implies for a substitution was "
                "tested. An accountant run under REPLACE_ONE gives a sharper test."
            )
        lines.append(
            f"An attack accuracy below {self.detectable_accuracy:.4f} would often go unnoticed."
        )
        lines.append("This design sees: " + "; ".join(self.sees) + ".")
        lines.append("It does not see: " + "; ".join(self.blind_to) + ".")
        return "\n".join(lines)


def audit_implementation(
    train: Mechanism | Callable[[NDArray, NDArray, np.random.Generator], Any],
    claim: PrivacyClaim,
    *,
    design: Design = "coordinate",
    loss: Callable[[Any, NDArray, NDArray], NDArray] | None = None,
    adversary: Adversary | None = None,
    data: Population | None = None,
    n_train: int = 64,
    n_trials: int = 1000,
    significance: float = 1e-3,
    bound: str | None = "exact-unconditional",
    random_seed: int,
    **options: Any,
) -> ImplementationAudit:
    """Attack an implementation many times and compare with its whole privacy curve.

    Parameters
    ----------
    train : Mechanism or callable
        What to audit: a mechanism, or ``function(x, y, rng) -> model`` training one model.
    claim : PrivacyClaim
        What its accountant says. A claim under ADD_OR_REMOVE is translated into what it implies
        for a substitution, so correct code is not blamed for the relation.
    design : {"coordinate", "bias", "copies"}
        The challenges: an antipodal pair in a private column, two empty records of different
        label, or the private column with every other record a copy of ``z1``.
    loss : callable, optional
        ``loss(model, x, y) -> losses``, for models other than the package's own.
    adversary : Adversary, optional
        Another attack, instead of the design's own.
    data : Population, optional
        Ordinary records; two Gaussian classes in six dimensions by default.
    n_train : int
        Size of each training set, >= 2.
    n_trials : int
        Number of models, >= 1.
    significance : float
        Level in (0, 1/2) of the curve test, and of the bound: each calls correct code wrong at
        most this often.
    bound : str, optional
        Method of `confidence_interval` for the lower confidence bound on epsilon that stands
        beside the curve test, guess "z1" being the declared direction; None for no bound.
    random_seed : int
        Seed of the whole audit, >= 0.
    **options
        `directory`, `resume`, `n_jobs`, `shard_size`, `progress` of `run_shards`.

    Returns
    -------
    ImplementationAudit

    Notes
    -----
    With a fair coin, no guess about an implementation whose privacy curve is delta(epsilon) is
    right more often than (1 + delta(0))/2, half of one plus the total variation distance. Trials
    are independent, so the number right is compared exactly with a binomial of that probability.
    An (epsilon, delta) bound sees one point of the curve only, and one that is out of reach of a
    thousand guesses when epsilon is large; the test at delta(0) keeps its power there.

    References
    ----------
    .. [1] Zanella-Béguelin et al. (2023), Bayesian estimation of differential privacy.
       arXiv:2206.05199.
    .. [2] Jagielski, Ullman & Oprea (2020), Auditing differentially private machine learning.
       arXiv:2006.07709.

    Examples
    --------
    >>> trainer = audit_trainer(noise_multiplier=3.38)
    >>> audit = audit_implementation(trainer, trainer.claim(), n_trials=300, random_seed=1)
    >>> audit.violated, audit.tested_claim.relation
    (False, 'REPLACE_ONE')
    """
    check_choice(design, "design", tuple(DESIGNS))
    if check_prob(significance, "significance") >= 0.5:
        raise ValueError(f"significance must be below 1/2, got {significance!r}.")
    check_integers(n_train, "n_train", minimum=2)
    mechanism = train if hasattr(train, "train") else PerModel(train)
    if adversary is None:
        mechanism, adversary = _attack(mechanism, design, loss, n_train)
    population = data if data is not None else GaussianClasses(n_classes=2, n_features=6)
    scores = experiment_1(
        mechanism,
        adversary,
        population,
        n_train=n_train,
        n_samples=n_trials,
        random_seed=random_seed,
        **options,
    )
    counts = scores.counts(0.0)
    fn, tp, fp, tn = (int(cell) for cell in (counts.fn, counts.tp, counts.fp, counts.tn))
    tested = claim.substitution()
    limit = tested.max_accuracy
    lower = None
    if bound is not None:
        measure = Epsilon(delta=tested.delta, direction="member")
        interval = confidence_interval(counts, measure, 1 - 2 * significance, method=bound)
        lower = float(interval.lower)
    return ImplementationAudit(
        fn=fn,
        tp=tp,
        fp=fp,
        tn=tn,
        accuracy=(tp + tn) / n_trials,
        max_accuracy=limit,
        p_value=_upper_tail(tp + tn, n_trials, limit),
        significance=significance,
        detectable_accuracy=_detectable(n_trials, limit, significance),
        claim=claim,
        tested_claim=tested,
        epsilon_lower=lower,
        bound=bound,
        design=design,
        sees=DESIGNS[design]["sees"],
        blind_to=DESIGNS[design]["blind_to"],
    )


def _attack(
    mechanism: Mechanism, design: str, loss: Any, n_train: int
) -> tuple[Mechanism, Adversary]:
    """Choose the strongest attack that what is published allows."""
    # Far enough out that the canary's gradient rules even the batch's mean.
    radius = 4.0 * n_train
    challenges = {
        "coordinate": PrivateCoordinate(radius=radius),
        "bias": Bias(),
        "copies": Copies(radius=radius),
    }[design]
    from bayesaudit.games.dpsgd import DPSGD

    own = isinstance(mechanism, DPSGD) and loss is None and mechanism.noise_multiplier > 0
    if not own:
        return mechanism, LossComparison(challenges, loss)
    sampling = "fixed-size" if design == "copies" else "poisson"
    if mechanism.sampling_rate == 1 and design == "coordinate":
        # The last model says all that the steps do: the private weight adds them up.
        return mechanism, LossComparison(challenges)
    if not mechanism.record:
        mechanism = replace(mechanism, record=True)
    return mechanism, StepLikelihood(challenges, sampling)


def _upper_tail(n_correct: int, n: int, probability: float) -> float:
    """P(Binomial(n, probability) >= n_correct), exactly."""
    from scipy.special import betainc

    if n_correct <= 0:
        return 1.0
    return float(betainc(n_correct, n - n_correct + 1, probability))


def _detectable(n: int, limit: float, significance: float) -> float:
    """Return the accuracy at which the curve test has power 0.9; 1 if it never has."""
    from scipy.special import betaincinv

    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _upper_tail(middle, n, limit) < significance:
            high = middle
        else:
            low = middle
    if high > n:
        return 1.0
    return float(betaincinv(high, n - high + 1, 0.9))

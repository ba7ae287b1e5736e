"""Audit an implementation: attack it many times and compare with what its accountant says."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice, check_integers, check_prob
from bayesaudit.games._game import checked_seed
from bayesaudit.games.accounting import PrivacyClaim
from bayesaudit.games.adversaries import record_losses
from bayesaudit.games.designs import DESIGNS, Design, attacks, pilot
from bayesaudit.games.dpsgd import DPSGD
from bayesaudit.games.experiments import experiment_1
from bayesaudit.games.populations import EmptyRecords
from bayesaudit.games.protocols import Adversary, Mechanism, PerModel, Population
from bayesaudit.games.verdict import (
    ImplementationAudit,
    detectable_accuracy,
    needed_accuracy,
    power_without_noise,
    rejection_count,
    upper_tail,
)
from bayesaudit.intervals import confidence_interval
from bayesaudit.measures import Epsilon

__all__ = ["audit_implementation", "audit_trainer"]


def audit_trainer(
    noise_multiplier: float, *, sampling_rate: float = 1.0, n_steps: int = 10, **options: Any
) -> DPSGD:
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
    settings = {"n_classes": 2, "clip_norm": 0.1, "learning_rate": 1e-3, **options}
    return DPSGD(
        noise_multiplier=noise_multiplier,
        sampling_rate=sampling_rate,
        n_steps=n_steps,
        **settings,
    )


def audit_implementation(
    train: Mechanism | Callable[[NDArray, NDArray, np.random.Generator], Any],
    claim: PrivacyClaim,
    *,
    design: Design = "auto",
    loss: Callable[[Any, NDArray, NDArray], NDArray] | None = None,
    initial: Callable[[int, np.random.Generator], Any] | None = None,
    adversary: Adversary | None = None,
    data: Population | None = None,
    n_train: int = 64,
    n_trials: int = 1000,
    n_pilot: int = 15,
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
    design : {"auto", "coordinate", "layers", "bias", "copies"}
        The canaries that the pilot tries: antipodal pairs in private columns ("coordinate"), one
        record under two labels, which moves every layer ("layers"), the same with an empty record
        ("bias"), all of these ("auto"); or a column with every other record a copy of ``z1``
        ("copies", for the package's `DPSGD`).
    loss : callable, optional
        ``loss(model, x, y) -> losses`` of shape (n_records,), for models other than the package's
        own. Any score will do that is lower the better the model fits a record.
    initial : callable, optional
        ``initial(n_features, rng) -> model``: what `train` starts from when given a generator in
        the same state, as its own first lines do it; the canaries are then scored by what training
        changed. It must contain nothing that was trained and none of the training's noise. Without
        it the verdict is never "consistent"; for a fixed start, return that.
    adversary : Adversary, optional
        Another attack, instead of the design's own; no pilot is trained.
    data : Population, optional
        Ordinary records; empty ones of two classes in six columns by default, which move little
        but the canary.
    n_train : int
        Size of each training set, >= 2.
    n_trials : int
        Number of models, >= 1.
    n_pilot : int
        Pairs of models for each canary of the design, >= 2, and five times as many for the chosen
        one's threshold.
    significance : float
        Level in (0, 1/2) of the verdict: correct code is called inconsistent at most this often.
        The curve test and the bound share it equally.
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
        Its `verdict` is "inconsistent", "consistent", or "inconclusive" where the attack had no
        power.

    Raises
    ------
    TypeError
        If `claim` is no claim, or `train`, `loss` or `initial` cannot be called: before training.
    ValueError
        If a value is out of range, or, after one model, `loss` does not return one number a record.

    Notes
    -----
    With a fair coin, no guess about an implementation whose privacy curve is delta(epsilon) is
    right more often than (1 + delta(0))/2, half of one plus the total variation distance. Trials
    are independent, so the number right is compared exactly with a binomial of that probability.
    An (epsilon, delta) bound sees one point of the curve only, and one that is out of reach of a
    thousand guesses when epsilon is large; the test at delta(0) keeps its power there.

    Losses of a model that started at random weights differ for the two candidates before anything
    is learned, by more than one record's share changes. Three things are done about it: many
    private columns, over which weights of variance 1/fan-in average out; `initial`; and a
    threshold from pilot models. Where they are not enough, the verdict says so.

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
    >>> audit.verdict, audit.tested_claim.relation
    ('consistent', 'REPLACE_ONE')
    """
    check_choice(design, "design", tuple(DESIGNS))
    if check_prob(significance, "significance") >= 0.5:
        raise ValueError(f"significance must be below 1/2, got {significance!r}.")
    check_integers(n_train, "n_train", minimum=2)
    check_integers(n_trials, "n_trials", minimum=1)
    check_integers(n_pilot, "n_pilot", minimum=2)
    seed = checked_seed(random_seed)
    mechanism = _mechanism(train, claim, loss, initial, adversary)
    population = data if data is not None else EmptyRecords(n_classes=2, n_features=6)
    canary, seen = "as the given adversary has it", {"sees": (), "blind_to": ()}
    if adversary is None:
        candidates = attacks(mechanism, design, loss, n_train)
        _try_loss(mechanism, loss, candidates[0].adversary, population, n_train)
        chosen = pilot(candidates, population, n_train, n_pilot, seed)
        mechanism, adversary = chosen.mechanism, chosen.adversary
        canary, seen = chosen.canary, DESIGNS[design]
    scores = experiment_1(
        mechanism,
        adversary,
        population,
        n_train=n_train,
        n_samples=n_trials,
        random_seed=seed,
        **options,
    )
    counts = scores.counts(0.0)
    fn, tp, fp, tn = (int(cell) for cell in (counts.fn, counts.tp, counts.fp, counts.tn))
    tested = claim.substitution()
    limit = tested.max_accuracy
    level, lower = significance, None
    if bound is not None:
        level = significance / 2
        measure = Epsilon(delta=tested.delta, direction="member")
        interval = confidence_interval(counts, measure, 1 - 2 * level, method=bound)
        lower = float(interval.lower)
    accuracy = (tp + tn) / n_trials
    rejects = rejection_count(n_trials, limit, level)
    # Raw losses cannot tell where chance set the weights from what training did to them.
    known = getattr(adversary, "against_initial", True)
    return ImplementationAudit(
        fn=fn,
        tp=tp,
        fp=fp,
        tn=tn,
        accuracy=accuracy,
        max_accuracy=limit,
        p_value=upper_tail(tp + tn, n_trials, limit),
        significance=significance,
        test_level=level,
        rejection_accuracy=None if rejects is None else rejects / n_trials,
        detectable_accuracy=detectable_accuracy(n_trials, rejects),
        needed_accuracy=needed_accuracy(n_trials, limit, rejects, known),
        power=power_without_noise(n_trials, limit, rejects, accuracy, known),
        start_known=known,
        claim=claim,
        tested_claim=tested,
        epsilon_lower=lower,
        bound=bound,
        design=design,
        canary=canary,
        sees=seen["sees"],
        blind_to=seen["blind_to"],
    )


def _mechanism(train: Any, claim: Any, loss: Any, initial: Any, adversary: Any) -> Mechanism:
    """Check, before anything is trained, that the parts fit together."""
    if not isinstance(claim, PrivacyClaim):
        raise TypeError(
            "claim must be a PrivacyClaim, such as dpsgd_claim(...) or PrivacyClaim(epsilon, "
            f"delta), got {claim!r:.60}."
        )
    for name, value in (("loss", loss), ("initial", initial)):
        if value is not None and not callable(value):
            raise TypeError(f"{name} must be a function, got {value!r:.60}.")
    if hasattr(train, "train"):
        if initial is not None:
            raise TypeError("initial goes with a function; a Mechanism has its models' start.")
        return train
    if not callable(train):
        raise TypeError(
            f"train must be a function (x, y, rng) -> model or a Mechanism, got {train!r:.60}."
        )
    if loss is None and adversary is None:
        raise TypeError(
            "a function's models need loss=function(model, x, y) -> losses of shape (n_records,)."
        )
    return PerModel(train, initial)


def _try_loss(
    mechanism: Mechanism, loss: Any, adversary: Any, data: Population, n_train: int
) -> None:
    """Train one model and look at its losses, so that a wrong shape costs one training."""
    if loss is None or not isinstance(mechanism, PerModel):
        return
    choice = adversary.choose(data, n_train, 1, np.random.default_rng(0))
    x, y = choice.x[0].astype(np.float32), choice.y[0].astype(np.int64)
    base_x = np.concatenate([choice.base_x, x[:1]]).astype(np.float32)
    base_y = np.concatenate([choice.base_y, y[:1]]).astype(np.int64)
    model = mechanism.function(base_x, base_y, np.random.default_rng(0))
    values = record_losses(loss, model, x, y)
    if np.isnan(values).any():
        raise ValueError(
            "loss must return numbers, got NaN for a model trained on a canary and "
            f"{type(data).__name__} (empty records by default: give data= if zeros are no input)."
        )
    if mechanism.initial is not None:
        start = mechanism.initial(x.shape[1], np.random.default_rng(0))
        record_losses(loss, start, x, y)

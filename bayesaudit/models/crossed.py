"""Crossed effects: trials that share a trained model, and trials that share a challenge point."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pymc.distributions.dist_math import normal_lcdf

from bayesaudit.counts import AttackCounts, member_bits, require_both_classes
from bayesaudit.models._origin import record_origin
from bayesaudit.models._per_model import SIDES, probit
from bayesaudit.models.priors import create_rate, rate_priors

__all__ = ["crossed"]

#: Nodes over the effect of a model, where it is integrated out.
GRID = np.linspace(-5.0, 5.0, 25)
#: More trials than this, and `log_marginal` would take longer than sampling does.
LARGEST_MARGINAL = 4000


def crossed(
    *,
    guess: ArrayLike,
    member: ArrayLike,
    model: ArrayLike,
    challenge: ArrayLike,
    positive: Any = None,
    prior: Any = "jeffreys",
    concentration: tuple[float, float, float] = (1.0, 1.0, 2.0),
) -> pm.Model:
    """Build the model of crossed effects: of the trained model and of the challenge point.

    A trial of model j at challenge i errs with probability
    ``Φ((Φ⁻¹(μ) + √v_m z_j + √v_c w_i)/√v_rest)``, with variance shares
    ``(v_m, v_c, v_rest) ~ Dirichlet`` on each side and effects z_j, w_i ~ N(0, 1).

    Parameters
    ----------
    guess, member : array_like, shape (n,)
        What the attack said and the truth, as in `AttackCounts.from_guesses`.
    model, challenge : array_like, shape (n,)
        Labels of the trained model and of the challenge point of every trial.
    positive : object, optional
        The label that means "member".
    prior : str, tuple, RatePrior, callable or dict
        Prior of the population rates μ (``fnr``, ``fpr``; see `rate_priors`).
    concentration : tuple of float
        Dirichlet parameters of the shares (model, challenge, rest). The default expects a quarter
        of the latent variance between challenge points, which differ much in practice.

    Returns
    -------
    pymc.Model
        With the dims ``model``, ``challenge`` and one of the trials a side; the shares are
        ``share_fnr`` and ``share_fpr``, along the dim ``source``; up to 4,000 trials also
        ``log_marginal``, with the effects of trained models integrated out.

    Notes
    -----
    The mean over both effects is μ exactly, whatever the shares.

    References
    ----------
    Baayen, Davidson and Bates, "Mixed-effects modeling with crossed random effects for subjects
    and items", Journal of Memory and Language 59 (2008) 390.

    Examples
    --------
    >>> built = crossed(
    ...     guess=[1, 0, 1, 0], member=[1, 1, 0, 0], model=[0, 1, 0, 1], challenge=list("abab")
    ... )
    >>> [variable.name for variable in built.observed_RVs]
    ['fn', 'fp']
    """
    truth = member_bits(member, name="member", positive=positive)
    said = member_bits(guess, name="guess", positive=positive)
    labels = {"guess": said, "model": np.asarray(model), "challenge": np.asarray(challenge)}
    for name, values in labels.items():
        if values.shape != truth.shape:
            raise ValueError(
                f"{name} and member must have one length, got {values.size} and {truth.size}."
            )
    require_both_classes(truth)
    names_m, of_model = np.unique(labels["model"], return_inverse=True)
    names_c, of_challenge = np.unique(labels["challenge"], return_inverse=True)
    if len(concentration) != 3 or not all(value > 0 for value in concentration):
        raise ValueError(f"concentration must be three numbers > 0, got {concentration!r}.")
    priors = rate_priors(prior)
    coords = {
        "model": names_m,
        "challenge": names_c,
        "source": ["model", "challenge", "rest"],
        "member_trial": np.flatnonzero(truth),
        "nonmember_trial": np.flatnonzero(~truth),
    }
    wrong = said != truth
    marginal: Any = 0.0
    with pm.Model(coords=coords) as built:
        for side, (_, errors, _) in SIDES.items():
            rows = np.flatnonzero(truth if side == "fnr" else ~truth)
            dim = "member_trial" if side == "fnr" else "nonmember_trial"
            rate, complement = create_rate(priors[side], side)
            share = pm.Dirichlet(f"share_{side}", np.array(concentration), dims="source")
            by_model = pm.Normal(f"model_effect_{side}", dims="model")
            by_challenge = pm.Normal(f"challenge_effect_{side}", dims="challenge")
            without = (
                probit(rate, complement) + pt.sqrt(share[1]) * by_challenge[of_challenge[rows]]
            )
            latent = without + pt.sqrt(share[0]) * by_model[of_model[rows]]
            p = pm.math.invprobit(latent / pt.sqrt(share[2]))
            counted = pm.Data(f"{errors}_counted", wrong[rows].astype(np.int64), dims=dim)
            pm.Bernoulli(errors, p=p, observed=counted, dims=dim)
            marginal += _integrated(without, share, counted, of_model[rows], names_m.size)
        if truth.size <= LARGEST_MARGINAL:
            pm.Deterministic("log_marginal", marginal, dims="model")
    design = (truth.tobytes(), of_model.tobytes(), of_challenge.tobytes())
    counts = AttackCounts.from_guesses(guess=said, member=truth, model=labels["model"])
    options = {"prior": prior, "concentration": concentration}
    return record_origin(built, "crossed", counts, options, design)


def _integrated(without: Any, share: Any, wrong: Any, of_model: Any, models: int) -> Any:
    """Log likelihood of each model's trials with the effect of the model integrated out.

    The number of orders in which the errors may come is counted in, a constant, so that models of
    trials and models of counts can be compared.
    """
    x = (without[:, None] + pt.sqrt(share[0]) * GRID) / pt.sqrt(share[2])
    sign = (2.0 * wrong - 1.0)[:, None]
    membership = (np.arange(models)[:, None] == of_model).astype(float)
    total = membership @ normal_lcdf(0.0, 1.0, sign * x)
    weight = np.exp(-(GRID**2) / 2)
    trials, errors = membership.sum(axis=1), membership @ wrong
    orders = pt.gammaln(trials + 1) - pt.gammaln(errors + 1) - pt.gammaln(trials - errors + 1)
    return pt.logsumexp(total + np.log(weight / weight.sum()), axis=1) + orders

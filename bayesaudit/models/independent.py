"""The independent model: every trial on its own, given the two error rates."""

from typing import Any, Literal

import numpy as np
import pymc as pm

from bayesaudit._checks import check_choice
from bayesaudit.counts import AttackCounts
from bayesaudit.models._origin import record_origin
from bayesaudit.models.priors import create_rate, rate_priors

__all__ = ["independent"]

#: pm.Data stores whole numbers in 32 bits.
LARGEST = np.iinfo(np.int32).max


def independent(
    counts: AttackCounts, prior: Any = "jeffreys", *, axis: Literal["tally", "model"] = "tally"
) -> pm.Model:
    """Build the binomial model of FNR and FPR.

    ``fn ~ Binomial(n_pos, fnr)`` and ``fp ~ Binomial(n_neg, fpr)`` with independent priors.

    Parameters
    ----------
    counts : AttackCounts
        One tally, or a one-dimensional array of them.
    prior : str, tuple, RatePrior, callable or dict
        Prior of the rates (see `rate_priors`): "jeffreys", "uniform", a pair (a, b), an object of
        the Protocol, a callable ``(name, dims=None) -> tensor``, or a dict of such per rate.
    axis : {"tally", "model"}
        What an array of tallies is. "tally": unrelated audits, each with rates of its own, so that
        ``fnr`` and ``fpr`` have the dim ``tally``. "model": trained models that share the two
        population rates, all their trials counting as independent.

    Returns
    -------
    pymc.Model
        With the data containers ``n_pos``, ``n_neg``, ``fn_counted`` and ``fp_counted``, so that
        new counts need no new compilation (see `bayesaudit.sampling.compile_model`).

    Raises
    ------
    ValueError
        If the tallies have more than one dimension, or a count does not fit in 32 bits.

    References
    ----------
    Zanella-Béguelin et al., "Bayesian Estimation of Differential Privacy", ICML 2023,
    arXiv:2206.05199, Section 3.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> model = independent(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75))
    >>> [variable.name for variable in model.observed_RVs]
    ['fn', 'fp']
    """
    check_choice(axis, "axis", ("tally", "model"))
    if len(counts.shape) > 1:
        raise ValueError(
            f"counts must be one tally or a one-dimensional array of them, got {counts.shape}."
        )
    largest = max(int(n.max(initial=0)) for n in (counts.n_pos, counts.n_neg))
    if largest > LARGEST:
        raise ValueError(
            f"a PyMC model takes at most {LARGEST} trials a rate, got {largest}; "
            "the exact posterior and method='conjugate' have no such limit."
        )
    observed_dims = axis if counts.shape else None
    rate_dims = observed_dims if axis == "tally" else None
    priors = rate_priors(prior, rate_dims)
    coords = {observed_dims: np.arange(counts.shape[0])} if observed_dims else None
    with pm.Model(coords=coords) as model:
        for rate_name, errors, trials in (("fnr", "fn", "n_pos"), ("fpr", "fp", "n_neg")):
            rate, _ = create_rate(priors[rate_name], rate_name, rate_dims)
            n = pm.Data(trials, getattr(counts, trials), dims=observed_dims)
            counted = pm.Data(f"{errors}_counted", getattr(counts, errors), dims=observed_dims)
            pm.Binomial(errors, n=n, p=rate, observed=counted, dims=observed_dims)
    return record_origin(model, "independent", counts, {"prior": prior}, (axis,))

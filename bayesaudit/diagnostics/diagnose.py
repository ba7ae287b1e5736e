"""`diagnose`: whether draws can be trusted as draws, and the model as a model of these data."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesaudit._checks import check_prob
from bayesaudit.diagnostics.convergence import (
    convergence_values,
    end_values,
    sampler_values,
)
from bayesaudit.diagnostics.modelling import (
    contraction,
    dispersion,
    prior_interval,
    prior_sensitivity,
    trained_models,
)
from bayesaudit.diagnostics.result import Check, Diagnosis
from bayesaudit.measures import Measure
from bayesaudit.posteriors import posterior

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["diagnose"]

#: name: (threshold, whether values up to it pass, meaning of a failure, remedy)
RULES: dict[str, tuple[float, bool, str, str]] = {
    "constant_draws": (
        0,
        True,
        "some variable has the same value in every draw, so that R-hat and ESS say nothing",
        "look whether the model really fixes it, and whether the sampler moved at all",
    ),
    "infinite_draws": (
        0,
        True,
        "some draws of the measure are infinite, because a rate is exactly 0 there",
        "let the model define the complements tpr and tnr, or read quantiles instead of the mean",
    ),
    "rhat": (
        1.01,
        True,
        "the chains disagree",
        "run longer chains, raise tune, or reparametrise the model",
    ),
    "ess_bulk": (
        400,
        False,
        "the chains hold too little information about the centre of the posterior",
        "draw more",
    ),
    "ess_tail": (
        400,
        False,
        "the chains hold too little information about the tails",
        "draw more",
    ),
    "ess_lower": (
        400,
        False,
        "the lower end of the interval rests on too few effective draws",
        "draw more",
    ),
    "ess_upper": (
        400,
        False,
        "the upper end of the interval rests on too few effective draws",
        "draw more",
    ),
    "mcse_ends": (
        0.05,
        True,
        "the Monte Carlo error of an end of the interval is large against its width",
        "draw more",
    ),
    "divergences": (
        0,
        True,
        "NUTS could not follow the posterior's geometry, so that draws may miss a part of it",
        "raise target_accept to .99, then use a non-centred or probit parametrisation",
    ),
    "tree_depth": (
        0,
        True,
        "some trajectories stopped at the largest tree depth, so that draws are less effective",
        "raise maxdepth or reparametrise; the draws are valid if R-hat and ESS are good",
    ),
    "bfmi": (
        0.3,
        False,
        "the energy moves too slowly for the tails to be explored",
        "reparametrise the model's heavy tails",
    ),
    "prior_sensitivity": (
        0.05,
        True,
        "the posterior moves noticeably when the prior is made a little stronger or weaker",
        'report the interval under another prior too (prior="uniform"), or collect more data',
    ),
    "prior_contraction": (
        0.75,
        False,
        "the prior speaks: the data did not even halve the prior's standard deviation of a rate",
        "collect more trials on that side before quoting an interval",
    ),
    "trained_models": (
        2,
        False,
        "one trained model does not identify the correlation of its trials: the interval is "
        "prior-driven",
        "train more models, quote bayesaudit.dependence.tipping_point, or audit it as one run",
    ),
    "predictive_dispersion": (
        0.01,
        False,
        "counts vary between models more than the model predicts, so that intervals are too narrow",
        "use a model of dependent samples, bayesaudit.models.beta_binomial say",
    ),
}


def diagnose(dt: "xr.DataTree", measure: Measure, *, prob: float = 0.90) -> Diagnosis:
    """Check whether the posterior of a measure can be trusted.

    Parameters
    ----------
    dt : xarray.DataTree
        Draws of ``fnr`` and ``fpr``, from `bayesaudit.sample` or anywhere else.
    measure : Measure
        What is measured.
    prob : float
        Mass of the equal-tailed interval whose ends are checked.

    Returns
    -------
    Diagnosis

    Notes
    -----
    Three families of checks. Of the draws: rank-normalised split R-hat of every variable and of the
    measure, bulk and tail effective sample size, that of the two quantiles which end the interval,
    and their Monte Carlo error against the interval's width. Of NUTS: divergences, saturated trees,
    energy. Of the model: power-scaling sensitivity of the measure to the prior of the population
    parameters (those without a dim ``model`` or ``challenge``), contraction
    1 − Var(posterior)/Var(prior) of each rate, and, for counts along a ``model`` dim, the
    posterior predictive probability of a Pearson dispersion at least as large as the observed one.
    Everything is the worst over variables and tallies. What does not apply is named in `skipped`.

    References
    ----------
    Vehtari et al., Bayesian Analysis 2021, arXiv:1903.08008 (R-hat, ESS, MCSE); Betancourt,
    arXiv:1701.02434, Section 6 (divergences, energy); Kallioinen et al., Statistics and Computing
    2024, arXiv:2107.14054 (power-scaling).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> dt = ba.sample(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), random_seed=1)
    >>> print(diagnose(dt, ba.Epsilon(1e-5)))
    diagnostics passed: 10 checks
    """
    prob = check_prob(prob)
    draws = posterior(dt, measure)
    skipped: dict[str, str] = {}
    values: dict[str, tuple[float, str]] = {}
    for part in (convergence_values, end_values):
        values |= part(draws, prob)
    values |= sampler_values(dt, skipped)
    optional: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("prior_sensitivity", prior_sensitivity),
        ("prior_contraction", contraction),
        ("predictive_dispersion", dispersion),
    )
    for name, function in optional:
        found = function(draws)
        if isinstance(found, str):
            skipped[name] = found
        else:
            values[name] = found
    models = trained_models(draws)
    if models is not None:
        values["trained_models"] = models
    checks = [_check(name, *values[name]) for name in RULES if name in values]
    return Diagnosis(
        checks=tuple(checks),
        skipped={name: skipped[name] for name in RULES if name in skipped},
        measure=measure,
        prob=prob,
        interval=None if draws.shape else tuple(map(float, draws.interval(prob))),
        prior_interval=prior_interval(draws, prob),
        n_chains=draws.draws.sizes["chain"],
        n_draws=draws.draws.sizes["draw"],
        dt=dt,
    )


def _check(name: str, value: float, where: str) -> Check:
    threshold, below, meaning, remedy = RULES[name]
    passed = value <= threshold if below else value >= threshold
    return Check(
        name=name,
        value=float(value),
        threshold=float(threshold),
        passes_below=below,
        passed=bool(passed),
        meaning=meaning,
        remedy=remedy,
        where=where if np.isfinite(value) else (where or "not a number"),
    )

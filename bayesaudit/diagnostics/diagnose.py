"""`diagnose`: whether draws can be trusted as draws, and the model as a model of these data."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesaudit._checks import check_prob
from bayesaudit.counts import AttackCounts
from bayesaudit.diagnostics.convergence import (
    convergence_values,
    end_values,
    sampler_values,
)
from bayesaudit.diagnostics.modelling import (
    dispersion,
    of_these_models,
    saw_the_counts,
    trained_models,
)
from bayesaudit.diagnostics.prior import contraction, prior_interval, prior_sensitivity
from bayesaudit.diagnostics.result import Check, Diagnosis
from bayesaudit.diagnostics.rules import RULES
from bayesaudit.diagnostics.score_fit import score_values
from bayesaudit.measures import Measure
from bayesaudit.posteriors import posterior
from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = ["diagnose"]

#: What a check can meet in draws that are finite and odd: it then says that it is not available.
ODD = (ValueError, ArithmeticError, IndexError, np.linalg.LinAlgError)


def diagnose(
    dt: Any, measure: Measure, *, prob: float = 0.90, counts: AttackCounts | None = None
) -> Diagnosis:
    """Check whether the posterior of a measure can be trusted.

    Parameters
    ----------
    dt : xarray.DataTree
        Draws of ``fnr`` and ``fpr``, from `bayesaudit.sample` or anywhere else; or what else
        `bayesaudit.posterior` takes for draws.
    measure : Measure
        What is measured.
    prob : float
        Mass of the equal-tailed interval whose ends are checked.
    counts : AttackCounts, optional
        What the model should have seen; by default the counts that the tree records.

    Returns
    -------
    Diagnosis
        Its `verdict` is "failed", "caution" or "passed".

    Notes
    -----
    Three groups of checks. *Draws*: numbers that are none, rank-normalised split R-hat of every
    variable and of the measure, bulk and tail effective sample size, that of the two quantiles
    which end the interval, their Monte Carlo error against the interval's width, and what NUTS
    recorded (divergences, saturated trees, energy). *Model*: whether it saw the counts; whether a
    rate is the mean of these models; and, for counts along a ``model`` dim, the posterior
    predictive probability of a Pearson dispersion at least as large as the observed one, the
    smallest times the number of counts that were looked at; for models of scores the tails, the
    shape and the variance between models of what they leave unexplained. These fail. *Prior*:
    power-scaling sensitivity of the measure to the prior of the population parameters (those
    without a dim ``model`` or ``challenge``), and contraction 1 − Var(posterior)/Var(prior) of each
    rate. These, a single chain, and a rate of these models alone are cautions.

    Everything is the worst over variables and tallies. What does not apply, or cannot be had from
    these draws, is named in `skipped` with the reason.

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
    diagnostics passed: 13 checks
    """
    prob = check_prob(prob)
    with warnings.catch_warnings():
        # A check of its own says it.
        warnings.filterwarnings("ignore", message=".*not a number")
        draws = posterior(dt, measure)
    if not isinstance(draws, DrawsPosterior):
        raise TypeError(f"dt must be draws, got {type(dt).__name__}.")
    skipped: dict[str, str] = {}
    values: dict[str, Any] = {}
    several: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: convergence_values(draws, prob),
        lambda: end_values(draws, prob),
        lambda: sampler_values(draws.dt, skipped),
        lambda: score_values(draws.dt),
    )
    for part in several:
        values |= part()
    single: dict[str, Callable[[], Any]] = {
        "observed_counts": lambda: saw_the_counts(draws, counts),
        "population_rate": lambda: of_these_models(draws),
        "predictive_dispersion": lambda: dispersion(draws),
        "prior_sensitivity": lambda: prior_sensitivity(draws, prob),
        "prior_contraction": lambda: contraction(draws),
        "trained_models": lambda: trained_models(draws),
    }
    for name, function in single.items():
        try:
            found = function()
        except ODD as error:
            found = f"not available: {' '.join(str(error).split())}"
        if isinstance(found, str):
            skipped[name] = found
        elif found is not None:
            values[name] = found
    checks = [
        Check(n, float(values[n][0]), rule, *values[n][1:])
        for n, rule in RULES.items()
        if n in values
    ]
    return Diagnosis(
        checks=tuple(checks),
        skipped={name: skipped[name] for name in RULES if name in skipped},
        measure=measure,
        prob=prob,
        interval=None if draws.shape else tuple(map(float, draws.interval(prob))),
        prior_interval=prior_interval(draws, prob),
        n_chains=draws.draws.sizes["chain"],
        n_draws=draws.draws.sizes["draw"],
        dt=draws.dt,
    )

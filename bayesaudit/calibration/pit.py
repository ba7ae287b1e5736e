"""Simulation-based calibration of the exact engines: the posterior against its own prior."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_integers
from bayesaudit._result import Result
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.posteriors import posterior
from bayesaudit.rates import Prior, check_prior

__all__ = ["PIT", "sbc_exact"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PIT(Result):
    """Probability integral transforms, uniform on (0, 1) if posterior and simulation agree.

    Parameters
    ----------
    values : numpy.ndarray, shape (replicates,)
        The posterior CDF of every replicate at its own truth.
    distance : float
        Largest distance of their empirical CDF from the uniform one (Kolmogorov–Smirnov).
    p_value : float
        Probability of so large a distance under uniformity.
    """

    values: Array
    distance: float
    p_value: float

    _omit = ("values",)
    _also = ("replicates=values.size",)

    @staticmethod
    def of(values: Array) -> "PIT":
        """Return the transforms with their distance from uniformity."""
        ordered, n = np.sort(values), values.size
        steps = np.arange(1, n + 1) / n
        distance = float(max(np.max(steps - ordered), np.max(ordered - steps + 1 / n)))
        return PIT(values, distance, float(special.kolmogorov(np.sqrt(n) * distance)))


def sbc_exact(
    measure: Measure,
    n_pos: int,
    n_neg: int,
    *,
    random_seed: int,
    replicates: int = 2000,
    prior: Prior = "jeffreys",
    analysis_prior: Prior | None = None,
) -> PIT:
    """Run simulation-based calibration of the exact engine.

    Parameters
    ----------
    measure : Measure
        What is measured.
    n_pos, n_neg : int
        Trials a side, >= 1.
    random_seed : int
        Seed of the simulation.
    replicates : int
        Rates drawn from the prior, each with its own counts.
    prior : {"jeffreys", "uniform"} or tuple or dict
        The prior that rates are drawn from.
    analysis_prior : optional
        The prior of the posterior; another one than `prior` must fail. By default `prior`.

    Returns
    -------
    PIT

    Notes
    -----
    At the atom of ε̂ = 0 the CDF jumps; its transform is drawn uniformly below the jump.

    References
    ----------
    Talts et al., arXiv:1804.06788 (simulation-based calibration). Säilynoja, Bürkner and Vehtari,
    Statist. Comput. 32 (2022) 32 (tests of uniformity).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> sbc_exact(ba.Epsilon(1e-5), 50, 50, random_seed=1, replicates=500).p_value > 0.01
    True
    """
    n_pos, n_neg, replicates = (
        int(check_integers(value, name, minimum=1))
        for value, name in ((n_pos, "n_pos"), (n_neg, "n_neg"), (replicates, "replicates"))
    )
    rng = np.random.default_rng(random_seed)
    shapes = check_prior(prior)
    rates = {name: rng.beta(*shapes[name], replicates) for name in ("fnr", "fpr")}
    fn, fp = rng.binomial(n_pos, rates["fnr"]), rng.binomial(n_neg, rates["fpr"])
    counts = AttackCounts(fn=fn, tp=n_pos - fn, fp=fp, tn=n_neg - fp)
    truth = measure.of(rates["fnr"], rates["fpr"])
    post = posterior(counts, measure, prior=prior if analysis_prior is None else analysis_prior)
    values = post.cdf(truth)
    if measure.has_atom:
        values = np.where(truth > measure.lowest, values, values * rng.random(replicates))
    return PIT.of(values)

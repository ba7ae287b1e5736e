"""Looking more than once: what it does to a bound, and the level that allows for it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers, check_prob, check_probability
from bayesaudit._result import Result
from bayesaudit.anytime import anytime_bound
from bayesaudit.calibration._methods import Method, check_method, ends
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.rates import Prior

__all__ = ["Looks", "looks_prob", "simulate_looks"]

Array = NDArray[np.float64]


def looks_prob(prob: float, looks: int) -> float:
    """Return the level at which to compute a bound that will be looked at several times.

    Parameters
    ----------
    prob : float
        The level wanted for all looks together, in (0, 1).
    looks : int
        The number of looks, declared beforehand, >= 1.

    Returns
    -------
    float
        1 − (1 − prob)/looks: by Bonferroni, any look then errs with probability (1 − prob)/2 at
        most, if every single one errs by its level.

    Examples
    --------
    >>> looks_prob(0.9, 10)
    0.99
    """
    prob = check_prob(prob)
    looks = int(check_integers(looks, "looks", minimum=1))
    return 1 - (1 - prob) / looks


@dataclass(frozen=True, slots=True)
class Looks(Result):
    """What several looks do to a bound, by simulation.

    Parameters
    ----------
    last, any : float
        Share of audits whose lower end exceeds the truth at the last look, and at any look.
    mean_lower : float
        Mean lower end at the last look.
    looks, n, replicates : int
        Equally spaced looks, trials a side at the last one, audits simulated.
    truth : float
        The measure at the true rates.
    fnr, fpr, prob : float
        The setting, echoed.
    method : str
        The method's name.
    """

    last: float
    any: float
    mean_lower: float
    looks: int
    n: int
    replicates: int
    truth: float
    fnr: float
    fpr: float
    prob: float
    method: str


def simulate_looks(
    measure: Measure,
    fnr: float,
    fpr: float,
    n: int,
    looks: int,
    *,
    random_seed: int,
    replicates: int = 2000,
    prob: float = 0.90,
    method: Method = "posterior",
    prior: Prior = "jeffreys",
) -> Looks:
    """Simulate audits that are looked at several times, and count how often the lower end errs.

    Parameters
    ----------
    measure : Measure
        What is measured.
    fnr, fpr : float
        True rates in [0, 1].
    n : int
        Trials a side at the last look, a multiple of `looks`.
    looks : int
        Equally spaced looks, >= 1.
    random_seed : int
        Seed of the simulation.
    replicates : int
        Audits to simulate.
    prob : float
        Level at which the lower end is computed at every look.
    method : str or callable
        As for `coverage`; "anytime" is `anytime_bound`.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the posterior methods.

    Returns
    -------
    Looks

    Examples
    --------
    >>> import bayesaudit as ba
    >>> found = simulate_looks(
    ...     ba.Epsilon(1e-5, "member"), 0.35, 0.25, 100, 10, random_seed=1, replicates=200
    ... )
    >>> found.any > 2 * found.last
    True
    """
    if method == "anytime":
        function: Method = anytime_bound
    else:
        function = method
        check_method(method, measure)
    x, y = check_probability(fnr, "fnr"), check_probability(fpr, "fpr")
    prob = check_prob(prob)
    n, looks, replicates = (
        int(check_integers(value, name, minimum=1))
        for value, name in ((n, "n"), (looks, "looks"), (replicates, "replicates"))
    )
    if n % looks:
        raise ValueError(f"n must be a multiple of looks, got {n} and {looks}.")
    rng = np.random.default_rng(random_seed)
    step = n // looks
    fn = np.cumsum(rng.binomial(step, x, (replicates, looks)), axis=1)
    fp = np.cumsum(rng.binomial(step, y, (replicates, looks)), axis=1)
    so_far = step * np.arange(1, looks + 1)
    # Equal tallies recur: each is bounded once.
    cells, where = np.unique(
        np.stack([fn, fp, np.broadcast_to(so_far, fn.shape)], axis=-1).reshape(-1, 3),
        axis=0,
        return_inverse=True,
    )
    tallies = AttackCounts(
        fn=cells[:, 0], tp=cells[:, 2] - cells[:, 0], fp=cells[:, 1], tn=cells[:, 2] - cells[:, 1]
    )
    lower = ends(function, tallies, measure, prob, prior)[0][where.ravel()].reshape(fn.shape)
    truth = float(measure.of(x, y))
    errs = lower > truth
    return Looks(
        last=float(errs[:, -1].mean()),
        any=float(errs.any(axis=1).mean()),
        mean_lower=float(lower[:, -1].mean()),
        looks=looks,
        n=n,
        replicates=replicates,
        truth=truth,
        fnr=x,
        fpr=y,
        prob=prob,
        method=method if isinstance(method, str) else getattr(method, "__name__", repr(method)),
    )

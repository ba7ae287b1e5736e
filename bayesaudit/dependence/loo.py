"""Leave one trained model out: the exact log predictive density of each model given the others."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_choice
from bayesaudit._quadrature import legendre_rule
from bayesaudit.counts import AttackCounts
from bayesaudit.rates import ICCPrior, Prior, check_icc_prior, check_models, check_prior
from bayesaudit.rates._likelihood import log_rising
from bayesaudit.rates._marginal import Integrand, tabulate

__all__ = ["loo_by_model"]

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Up to so many models each is left out by an integral of its own; beyond, one grid serves all.
REFITS = 6
NODES = 96
LOG_TAIL = -30.0


def loo_by_model(
    counts: AttackCounts,
    dependence: Literal["independent", "beta-binomial"] = "beta-binomial",
    *,
    prior: Prior = "jeffreys",
    icc_prior: ICCPrior = "default",
) -> dict[str, Array]:
    """Return the exact log predictive density of every model's counts given all other models.

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model, two models at least.
    dependence : {"independent", "beta-binomial"}
        The model of the trials.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Beta prior of the population rates.
    icc_prior : {"default", "uniform"} or tuple or float or dict
        Prior of the intra-model correlation, for "beta-binomial".

    Returns
    -------
    dict of str to numpy.ndarray, shape (n_models,)
        Keys "fnr" and "fpr". Their sums are the ELPD of each side.

    Notes
    -----
    Up to 6 models each is a ratio of two evidences. Beyond, p(y_j | others) =
    1/E[1/p(y_j | θ)] over the posterior, which is an identity, by quadrature: unlike in importance
    sampling nothing is random here.

    References
    ----------
    Vehtari, Gelman and Gabry, "Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC", Statistics and Computing 2017, arXiv:1507.04544, Eqs. 4 and 6.

    Examples
    --------
    >>> counts = AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> better = loo_by_model(counts)["fnr"] - loo_by_model(counts, "independent")["fnr"]
    >>> bool(better.sum() > 0)
    True
    """
    counts = check_models(counts)
    check_choice(dependence, "dependence", ("independent", "beta-binomial"))
    if len(counts.shape) != 1 or counts.shape[0] < 2:
        raise ValueError(f"counts must be one audit of at least two models, got {counts.shape}.")
    shapes, iccs = check_prior(prior), check_icc_prior(icc_prior)
    found = {}
    for side, errors, rights in (("fnr", counts.fn, counts.tp), ("fpr", counts.fp, counts.tn)):
        if dependence == "independent" or iccs[side] == 0.0:
            found[side] = _independent(errors, rights, *shapes[side])
        elif counts.shape[0] <= REFITS:
            found[side] = _refits(errors, rights, shapes[side], iccs[side])
        else:
            found[side] = _by_identity(errors, rights, shapes[side], iccs[side])
    return found


def _log_choose(errors: Integers, rights: Integers) -> Array:
    n = (errors + rights).astype(float)
    return -np.log1p(n) - special.betaln(errors + 1.0, rights + 1.0)


def _independent(errors: Integers, rights: Integers, a: float, b: float) -> Array:
    a, b = a + errors.sum(), b + rights.sum()
    without = special.betaln(a - errors, b - rights)
    return _log_choose(errors, rights) + special.betaln(a, b) - without


def _refits(
    errors: Integers,
    rights: Integers,
    mu_prior: tuple[float, float],
    icc_prior: tuple[float, float] | float,
) -> Array:
    def evidence(kept: NDArray[np.bool_]) -> float:
        table = tabulate(errors[kept], rights[kept], mu_prior=mu_prior, icc_prior=icc_prior)
        return table.log_evidence

    everyone = np.ones(errors.size, bool)
    _, first, inverse = np.unique(
        np.column_stack([errors, rights]), axis=0, return_index=True, return_inverse=True
    )
    others = [evidence(everyone & (np.arange(errors.size) != left_out)) for left_out in first]
    gain = evidence(everyone) - np.array(others)
    return _log_choose(errors, rights) + gain[inverse.ravel()]


def _by_identity(
    errors: Integers,
    rights: Integers,
    mu_prior: tuple[float, float],
    icc_prior: tuple[float, float] | float,
) -> Array:
    table = tabulate(errors, rights, mu_prior=mu_prior, icc_prior=icc_prior)
    integrand = Integrand.of(errors, rights, mu_prior, icc_prior)
    u, _, weight = legendre_rule(NODES)
    inside = table.nodes[(table.log_cdf > LOG_TAIL) & (table.log_sf > LOG_TAIL)]
    low, high = inside.min(), inside.max()
    s = low + (high - low) * u
    r, log_joint = integrand.on_grid(s, NODES)
    log_mu, log_muc = -np.logaddexp(0, -s), -np.logaddexp(0, s)
    log_weight = log_joint + (np.log(weight) + 0.5 * (log_mu + log_muc))[:, None]
    posterior = np.exp(log_weight - log_weight.max())
    posterior /= posterior.sum()
    keep = posterior > 1e-18
    at_mu, at_muc, at_kappa = (
        np.broadcast_to(x, posterior.shape)[keep] for x in (log_mu[:, None], log_muc[:, None], -r)
    )
    kappa, mass = np.exp(at_kappa), posterior[keep]
    alpha, beta = np.exp(at_mu + at_kappa), np.exp(at_muc + at_kappa)
    pairs, inverse = np.unique(np.column_stack([errors, rights]), axis=0, return_inverse=True)
    found = np.empty(len(pairs))
    for row, (k, m) in enumerate(pairs):
        log_p = k * at_mu + m * at_muc + log_rising(k, alpha) + log_rising(m, beta)
        log_p -= log_rising(k + m, kappa)
        found[row] = -special.logsumexp(-log_p, b=mass)
    return _log_choose(errors, rights) + found[inverse.ravel()]

"""The population rate of a model whose trained models differ by a normal effect."""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.dist_math import normal_lcdf

from bayesaudit._checks import check_choice

__all__ = ["PopulationRate", "population_rate"]

#: Nodes of the trapezoid rule in standard deviations: to 1e-10 for a scale up to about 8.
GRID = np.linspace(-8.0, 8.0, 129)
STEP = GRID[1] - GRID[0]
#: How much wider than the normal approximation of a model's effect the nodes are spread.
SPREAD = 1.3
#: Steps of Fisher scoring towards that effect, and the length of one at most.
SCORING, REACH = 6, 2.0
SMALL = 1e-300


class PopulationRate(NamedTuple):
    """What `population_rate` returns; unpacks as ``rate, log_marginal``.

    Parameters
    ----------
    rate : tensor
        Mean rate over the effects of models.
    log_marginal : callable
        ``(errors, trials) -> tensor``: the log likelihood of every model's counts with its own
        effect integrated out, of the shape of `errors`.
    """

    rate: Any
    log_marginal: Callable[[Any, Any], Any]


def population_rate(
    location: Any, scale: Any, link: Literal["logit", "probit", "cloglog"] = "logit"
) -> PopulationRate:
    """Integrate the effects of trained models out of an error rate.

    Model j errs at the rate ``link⁻¹(location + scale·z_j)`` with z_j ~ N(0, 1). The population
    rate is the mean of that over z, *not* the inverse link of the location, and not the mean over
    the models at hand.

    Parameters
    ----------
    location, scale : tensor or float
        Location and scale > 0 on the scale of the link; scalars, or of one shape such as the
        groups', which the rate then has.
    link : {"logit", "probit", "cloglog"}
        The link.

    Returns
    -------
    PopulationRate
        Give ``rate`` to ``pm.Deterministic("fnr", rate)``, and the sum of both sides'
        ``log_marginal(errors, trials)`` to ``pm.Deterministic("log_marginal", ..., dims="model")``.

    Notes
    -----
    By the trapezoid rule over z, whose error falls exponentially for smooth integrands. For
    `log_marginal` the nodes are moved to where a model's counts put its effect, so that many trials
    do not fall between two nodes; it takes a scalar location, or one a model.

    References
    ----------
    Trefethen and Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56 (2014)
    385, doi:10.1137/130932132. Zeger, Liang and Albert, "Models for longitudinal data: a
    generalized estimating equation approach", Biometrics 44 (1988) 1049 (population-averaged rates
    of logit-normal models).

    Examples
    --------
    >>> rate, log_marginal = population_rate(-1.0, 1.5)
    >>> print(f"{rate.eval():.4f}, and {1 / (1 + math.e):.4f} at the location")
    0.3293, and 0.2689 at the location
    """
    check_choice(link, "link", tuple(LINKS))
    location, scale = (pt.as_tensor_variable(x) for x in (location, scale))
    weight = np.exp(-(GRID**2) / 2)
    weight = weight / weight.sum()
    log_rate, _ = LINKS[link][0](location[..., None] + scale[..., None] * GRID)
    rate = pt.sum(weight * pt.exp(log_rate), axis=-1)

    def log_marginal(errors: Any, trials: Any) -> Any:
        errors, trials = (pt.as_tensor_variable(x) for x in (errors, trials))
        middle, wide = _where(link, location, scale, errors, trials)
        z = middle[..., None] + wide[..., None] * GRID
        log_p, log_q = LINKS[link][0](location[..., None] + scale[..., None] * z)
        inside = errors[..., None] * log_p + (trials - errors)[..., None] * log_q - z**2 / 2
        orders = pt.gammaln(trials + 1) - pt.gammaln(errors + 1) - pt.gammaln(trials - errors + 1)
        unit = pt.log(wide) + math.log(STEP / math.sqrt(2 * math.pi))
        return pt.logsumexp(inside, axis=-1) + unit + orders

    return PopulationRate(rate, log_marginal)


def _where(link: str, location: Any, scale: Any, errors: Any, trials: Any) -> tuple[Any, Any]:
    """Return about where the counts put each model's effect, and how far the nodes must reach.

    By Fisher scoring from the observed rate.
    """
    eta = LINKS[link][1]((errors + 0.5) / (trials + 1.0))
    for _ in range(SCORING + 1):
        rate = pt.clip(pt.exp(LINKS[link][0](eta)[0]), SMALL, 1 - 1e-12)
        slope = pt.maximum(LINKS[link][2](eta, rate), SMALL)
        gap = (errors - trials * rate) / pt.maximum(trials, 1) / slope
        information = pt.maximum(trials, 1) * slope**2 / (rate * (1 - rate))
        precision = 1 + scale**2 * information
        middle = scale * information * (eta + gap - location) / precision
        # A step of some units of the link at most: far from the mode scoring overshoots.
        eta = pt.clip(location + scale * middle, eta - REACH, eta + REACH)
    return (eta - location) / scale, SPREAD / pt.sqrt(precision)


def _logit(eta: Any) -> tuple[Any, Any]:
    return -pt.softplus(-eta), -pt.softplus(eta)


def _probit(eta: Any) -> tuple[Any, Any]:
    return normal_lcdf(0.0, 1.0, eta), normal_lcdf(0.0, 1.0, -eta)


def _cloglog(eta: Any) -> tuple[Any, Any]:
    hazard = pt.exp(eta)
    return pt.log(-pt.expm1(-hazard)), -hazard


#: link -> (log rate and log of its complement at a linear predictor, the link, the rate's slope).
LINKS: dict[str, tuple[Callable[..., Any], ...]] = {
    "logit": (_logit, lambda p: pt.log(p) - pt.log1p(-p), lambda eta, p: p * (1 - p)),
    "probit": (
        _probit,
        lambda p: -math.sqrt(2) * pt.erfcinv(2 * p),
        lambda eta, p: pt.exp(-(eta**2) / 2) / math.sqrt(2 * math.pi),
    ),
    "cloglog": (
        _cloglog,
        lambda p: pt.log(-pt.log1p(-p)),
        lambda eta, p: (1 - p) * pt.exp(eta),
    ),
}

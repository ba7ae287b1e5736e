"""Adapters to the public calls of dp-accounting (extra ``accounting``), and DP-SGD in one call.

Under replace-one the two accountants of dp-accounting 0.6 read one Gaussian event differently: the
Rényi accountant takes its noise relative to the replace-one sensitivity 2 C, the PLD accountant
relative to C (and doubles the shift itself). Here a noise multiplier is always sigma/C, so that
the Rényi accountant is given half of it. Its values are NaN at order 1 with Poisson sampling, and
loose just above; the Kullback-Leibler divergence is therefore computed by `subsampled_gaussian_kl`.
"""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_integers
from bayesaudit.fano._prior import as_prior
from bayesaudit.fano.best import BestBound, best_bound
from bayesaudit.fano.information import subsampled_gaussian_kl
from bayesaudit.fano.robustness import rero_approximate_dp

__all__ = [
    "ORDERS",
    "dp_sgd_bounds",
    "event_bounds",
    "privacy_profile",
    "profile_success",
    "rdp_curve",
]

ORDERS: tuple[float, ...] = (
    *(1.0 + x / 10.0 for x in range(1, 100)),
    *range(11, 65),
    80.0,
    128.0,
    256.0,
    512.0,
)


def _dp_accounting() -> Any:
    try:
        import dp_accounting
    except ImportError:
        raise ImportError(
            "dp-accounting is needed: pip install 'bayesaudit[accounting]'."
        ) from None
    return dp_accounting


@contextlib.contextmanager
def _quiet_orders() -> Iterator[None]:
    """Silence the Rényi accountant about orders that it cannot do: `rdp_curve` drops them."""
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def rdp_curve(accountant: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (orders, epsilons) of a dp-accounting ``RdpAccountant``, usable orders only.

    Orders below 1 and values that are not finite are dropped.

    Parameters
    ----------
    accountant : dp_accounting.rdp.RdpAccountant
        An accountant to which the events have been given (`orders` and `rdp` are read).

    Returns
    -------
    orders, epsilons : ndarray, shape (n_orders,)
        For `best_bound(rdp=...)`, under the accountant's own neighbouring relation.
    """
    orders = np.asarray(accountant.orders, dtype=float)
    epsilons = np.asarray(accountant.rdp, dtype=float)
    usable = (orders >= 1) & np.isfinite(epsilons) & (epsilons >= 0)
    return orders[usable], epsilons[usable]


def privacy_profile(
    distribution: Any, base_success: float, n_points: int = 24
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (epsilons, deltas) of a privacy loss distribution, where they bound best.

    Every point gives a valid bound. A grid brackets the best point of each of the two forms of
    `rero_approximate_dp`, both unimodal, and Brent's method finds it to about 1e-5.

    Parameters
    ----------
    distribution : PrivacyLossDistribution or PLDAccountant of dp_accounting.pld
        Read through its public ``get_delta...`` and ``get_epsilon...`` calls.
    base_success : float
        p*, for which the best points are sought.
    n_points : int
        Points of the grid, closer near 0.

    Notes
    -----
    A composed distribution truncates about 1e-15 of tail mass into delta, so that bounds at p*
    near 1e-13 and below reach a floor.
    """
    from scipy.optimize import minimize_scalar

    accountant = hasattr(distribution, "get_epsilon")
    find = distribution.get_epsilon if accountant else distribution.get_epsilon_for_delta
    top = float(find(1e-15))
    top = min(max(top, 1e-3), 700.0) if np.isfinite(top) else 700.0
    epsilons = top * np.linspace(0.0, 1.0, n_points) ** 3
    deltas = _deltas(distribution, epsilons)
    found = dict(zip(epsilons.tolist(), deltas.tolist(), strict=True))

    def up(epsilon: float, delta: float) -> float:
        return np.exp(epsilon) * base_success + delta

    def down(epsilon: float, delta: float) -> float:
        return -np.exp(-epsilon) * (1.0 - base_success - delta)

    for form in (up, down):

        def value(epsilon: float, form: Any = form) -> float:
            found[float(epsilon)] = float(_deltas(distribution, np.array([epsilon]))[0])
            return form(epsilon, found[float(epsilon)])

        at = int(np.argmin(form(epsilons, deltas)))
        ends = (epsilons[max(at - 1, 0)], epsilons[min(at + 1, n_points - 1)])
        minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 1e-5 * top})
    points = np.array(sorted(found.items()))
    return points[:, 0], points[:, 1]


def _deltas(distribution: Any, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
    if hasattr(distribution, "get_epsilon"):
        found = [distribution.get_delta(epsilon) for epsilon in epsilons]
    else:
        found = distribution.get_delta_for_epsilon(list(epsilons))
    # the sums behind them round to -1e-14 now and then
    return np.clip(np.asarray(found, dtype=float), 0.0, 1.0)


def _event_premises(event: Any, base_success: float, relation: str) -> dict[str, Any]:
    dp = _dp_accounting()
    from dp_accounting import pld, rdp

    neighbours = {
        "add-or-remove-one": dp.NeighboringRelation.ADD_OR_REMOVE_ONE,
        "replace-one": dp.NeighboringRelation.REPLACE_ONE,
    }[relation]
    premises: dict[str, Any] = {}
    accountant = rdp.RdpAccountant(ORDERS, neighboring_relation=neighbours)
    halved = _half_noise(event, dp) if relation == "replace-one" else event
    if accountant.supports(halved):
        with _quiet_orders():
            curve = rdp_curve(accountant.compose(halved))
        if curve[0].size:
            premises["rdp"] = curve
    accountant = pld.PLDAccountant(neighboring_relation=neighbours)
    if accountant.supports(event):
        premises["profile"] = privacy_profile(accountant.compose(event), base_success)
    return premises


def _half_noise(event: Any, dp: Any) -> Any:
    """Return the event with every Gaussian's noise halved, for the Rényi accountant."""
    if isinstance(event, dp.NoOpDpEvent):
        return event
    if isinstance(event, dp.GaussianDpEvent):
        return dp.GaussianDpEvent(event.noise_multiplier / 2.0)
    if isinstance(event, dp.PoissonSampledDpEvent):
        return dp.PoissonSampledDpEvent(event.sampling_probability, _half_noise(event.event, dp))
    if isinstance(event, dp.SelfComposedDpEvent):
        return dp.SelfComposedDpEvent(_half_noise(event.event, dp), event.count)
    if isinstance(event, dp.ComposedDpEvent):
        return dp.ComposedDpEvent([_half_noise(part, dp) for part in event.events])
    raise ValueError(
        f"replace-one events must be made of Gaussian events, got {type(event).__name__}."
    )


def event_bounds(
    event: Any,
    *,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    neighboring_relation: str = "add-or-remove-one",
) -> BestBound:
    """Return all bounds for a dp-accounting ``DpEvent``, by its Rényi and PLD accountants.

    Parameters
    ----------
    event : dp_accounting.DpEvent
        Composed, self-composed, subsampled, ...; what an accountant does not support is left out.
    categories, prior
        The secret, as in `advantage`.
    neighboring_relation : {"add-or-remove-one", "replace-one"}
        Passed to the accountants. A Gaussian's noise multiplier is sigma over the clipping norm
        of one record under both relations; "replace-one" takes Gaussian events only (sampled,
        composed), because the accountants' conventions differ there.

    Raises
    ------
    ValueError
        No accountant supports the event, or a replace-one event is not made of Gaussians.
    ImportError
        dp-accounting is not installed.

    Examples
    --------
    >>> import dp_accounting
    >>> result = event_bounds(dp_accounting.GaussianDpEvent(2.0), categories=2)
    >>> result.best.method, round(result.advantage, 3)
    ('f-dp', 0.383)
    """
    law = as_prior(categories, prior)
    premises = _event_premises(event, law.largest, neighboring_relation)
    if not premises:
        raise ValueError(f"no accountant supports {type(event).__name__}.")
    return best_bound(
        categories=categories, prior=prior, neighboring_relation=neighboring_relation, **premises
    )


def dp_sgd_bounds(
    noise_multiplier: float,
    sampling_rate: float,
    steps: int,
    *,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    accountants: bool = True,
) -> BestBound:
    """Return all bounds for DP-SGD with Poisson sampling, add-or-remove-one.

    Parameters
    ----------
    noise_multiplier : float
        z = sigma/C > 0.
    sampling_rate : float
        q in [0, 1].
    steps : int
        T >= 0.
    categories, prior
        The secret, as in `advantage`.
    accountants : bool
        Whether to add the Rényi and trade-off bounds of dp-accounting; without them only the
        Kullback-Leibler divergence is used, which needs nothing installed.

    Examples
    --------
    >>> result = dp_sgd_bounds(1.0, 0.01, 1000, categories=10, accountants=False)
    >>> round(result.advantage, 4)
    0.1579
    """
    count = int(check_integers(steps, "steps"))
    law = as_prior(categories, prior)
    premises: dict[str, Any] = {
        "kl": count * subsampled_gaussian_kl(noise_multiplier, sampling_rate)
    }
    if sampling_rate == 1:
        premises["gdp_mu"] = float(np.sqrt(count)) / noise_multiplier
    if accountants and count and 0 < sampling_rate:
        event = _dp_sgd(noise_multiplier, sampling_rate, count)
        premises |= _event_premises(event, law.largest, "add-or-remove-one")
    return best_bound(categories=categories, prior=prior, **premises)


def _dp_sgd(noise_multiplier: float, sampling_rate: float, steps: int) -> Any:
    dp = _dp_accounting()
    event: Any = dp.GaussianDpEvent(noise_multiplier)
    if sampling_rate < 1:
        event = dp.PoissonSampledDpEvent(sampling_rate, event)
    return dp.SelfComposedDpEvent(event, steps)


def profile_success(
    noise_multiplier: float,
    sampling_rate: float,
    steps: int,
    base_success: float,
    *,
    discretization: float = 1e-4,
) -> float:
    """Bound the success against DP-SGD by its privacy profile alone, add-or-remove-one.

    The profile is the whole trade-off function, so that no Rényi bound is smaller, but for the
    grid: a coarser one is quicker and never too small.

    Parameters
    ----------
    noise_multiplier, sampling_rate, steps
        As in `dp_sgd_bounds`.
    base_success : float
        p* in (0, 1).
    discretization : float
        Grid of the privacy loss distribution in nats, > 0.
    """
    _dp_accounting()
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=discretization)
    accountant.compose(_dp_sgd(noise_multiplier, sampling_rate, steps))
    return rero_approximate_dp(*privacy_profile(accountant, base_success), base_success)

"""All bounds whose premises are known, side by side, and the smallest of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesaudit._checks import check_choice
from bayesaudit._result import Table
from bayesaudit.fano import membership, robustness
from bayesaudit.fano._prior import Prior, as_prior
from bayesaudit.fano._result import AdvantageBound
from bayesaudit.fano.information import (
    RELATIONS,
    NeighboringRelation,
    kl_mixture_information,
    pure_dp_kl,
)
from bayesaudit.fano.inversion import METHODS, fano_bound

__all__ = ["BestBound", "best_bound"]


_MEMBERSHIP = {
    "yeom": membership.yeom_advantage,
    "erlingsson": membership.erlingsson_advantage,
    "humphries": membership.humphries_advantage,
}


@dataclass(frozen=True, slots=True)
class BestBound(Table):
    """Every bound that the premises give, smallest advantage first.

    Attributes
    ----------
    bounds : tuple of AdvantageBound
        Sorted by advantage.
    neighboring_relation : str
        The relation under which the premises were given.
    """

    bounds: tuple[AdvantageBound, ...]
    neighboring_relation: str

    _rows = "bounds"
    _also = ("best",)

    @property
    def best(self) -> AdvantageBound:
        """The smallest bound; each holds, so this one does."""
        return self.bounds[0]

    @property
    def advantage(self) -> float:
        """The smallest advantage."""
        return self.best.advantage

    def __getitem__(self, method: str) -> AdvantageBound:
        """Return the best bound of one method, by its name."""
        for bound in self.bounds:
            if bound.method == method:
                return bound
        raise KeyError(method)


def best_bound(
    *,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    neighboring_relation: NeighboringRelation = "add-or-remove-one",
    mutual_information: float | None = None,
    kl: float | None = None,
    rdp: tuple[ArrayLike, ArrayLike] | None = None,
    profile: tuple[ArrayLike, ArrayLike] | None = None,
    pure_epsilon: float | None = None,
    rho: float | None = None,
    gdp_mu: float | None = None,
    tradeoff: Callable[[float], float] | None = None,
) -> BestBound:
    """Return the minimum over all bounds whose premises are supplied, with provenance.

    Parameters
    ----------
    categories, prior
        The secret, as in `advantage`.
    neighboring_relation : {"add-or-remove-one", "replace-one"}
        The relation under which all premises below hold (`mutual_information` needs none).
    mutual_information : float, optional
        Bound on I(X; Y) in nats.
    kl : float, optional
        Bound on the composed Kullback-Leibler divergence in nats.
    rdp : (orders, epsilons), optional
        A Rényi curve, orders >= 1; NaN and infinite values are dropped.
    profile : (epsilons, deltas), optional
        Points of the privacy profile.
    pure_epsilon : float, optional
        Pure differential privacy, nats.
    rho : float, optional
        Zero-concentrated differential privacy, nats.
    gdp_mu : float, optional
        Gaussian differential privacy.
    tradeoff : callable, optional
        A trade-off function.

    Returns
    -------
    BestBound
        All bounds, smallest first; ``.best`` is the answer and names its premise.

    Examples
    --------
    >>> result = best_bound(categories=10, pure_epsilon=1.0, neighboring_relation="replace-one")
    >>> result.best.method, round(result.advantage, 6)
    ('pure-dp', 0.146633)
    """
    check_choice(neighboring_relation, "neighboring_relation", RELATIONS)
    law = as_prior(categories, prior)
    found = _Collector(law, neighboring_relation)
    if mutual_information is not None:
        found.information(mutual_information, f"I(X; Y) <= {mutual_information:.6g}", None)
    if kl is not None:
        found.divergence(kl, f"KL <= {kl:.6g}")
    if pure_epsilon is not None:
        _add_pure(found, pure_epsilon)
    if rdp is not None:
        _add_rdp(found, *rdp)
    if rho is not None:
        premise = f"{rho:.6g}-zCDP"
        found.divergence(rho, premise)
        found.success("rero-zcdp", robustness.rero_zcdp(rho, law.largest), premise, rho=rho)
    if gdp_mu is not None:
        _add_gdp(found, gdp_mu)
    if profile is not None:
        _add_profile(found, *profile)
    if tradeoff is not None:
        _add_tradeoff(found, tradeoff, "trade-off function")
    if not found.bounds:
        raise TypeError("give at least one premise: mutual_information, kl, rdp, profile, ...")
    ordered = sorted(found.bounds, key=lambda bound: bound.advantage)
    return BestBound(tuple(ordered), neighboring_relation)


class _Collector:
    """Turns premises into `AdvantageBound`s for one prior and one relation."""

    def __init__(self, law: Prior, relation: NeighboringRelation) -> None:
        self.law, self.relation = law, relation
        self.bounds: list[AdvantageBound] = []

    def keywords(self) -> dict[str, Any]:
        if self.law.uniform:
            return {"categories": self.law.categories}
        return {"prior": self.law}

    def information(self, value: float, premise: str, relation: str | None) -> None:
        methods = METHODS[:1] if self.law.uniform else METHODS
        for method in methods:
            bound = fano_bound(
                value,
                method=method,
                premise=premise,
                neighboring_relation=relation,
                **self.keywords(),
            )
            self.bounds.append(bound)

    def divergence(self, kl: float, premise: str) -> None:
        value = kl
        if self.relation == "replace-one":
            value = kl_mixture_information(kl, **self.keywords())
        self.information(value, premise, self.relation)

    def success(self, method: str, success: float, premise: str, **inputs: float) -> None:
        bound = AdvantageBound.of(
            self.law,
            success=float(success),
            method=method,
            premise=premise,
            neighboring_relation=self.relation,
            inputs=inputs,
        )
        self.bounds.append(bound)


def _add_pure(found: _Collector, epsilon: float) -> None:
    premise = f"{epsilon:.6g}-DP"
    found.divergence(pure_dp_kl(epsilon), premise)
    value = robustness.pure_dp_advantage(
        epsilon, neighboring_relation=found.relation, **found.keywords()
    )
    bound = AdvantageBound.of(
        found.law,
        advantage=value,
        method="pure-dp",
        premise=premise,
        neighboring_relation=found.relation,
        inputs={"epsilon": float(epsilon)},
    )
    found.bounds.append(bound)
    if found.law.uniform and found.law.categories == 2 and found.relation == "replace-one":
        for name, baseline in _MEMBERSHIP.items():
            success = 0.5 * (1.0 + baseline(epsilon))
            found.success(name, success, premise, epsilon=float(epsilon))


def _add_rdp(found: _Collector, orders: ArrayLike, epsilons: ArrayLike) -> None:
    orders, epsilons = (
        np.atleast_1d(np.asarray(orders, float)),
        np.atleast_1d(np.asarray(epsilons, float)),
    )
    if orders.shape != epsilons.shape:
        raise ValueError(
            f"rdp must be orders and epsilons of equal shape, got {orders.shape}, {epsilons.shape}."
        )
    usable = np.isfinite(epsilons) & (orders >= 1) & (epsilons >= 0)
    if not usable.any():
        raise ValueError("rdp must hold a finite epsilon at an order >= 1.")
    orders, epsilons = orders[usable], epsilons[usable]
    at = int(np.argmin(epsilons))
    found.divergence(float(epsilons[at]), f"RDP at order {orders[at]:g}: {epsilons[at]:.6g}")
    for name, function in (
        ("renyi-fano", robustness.renyi_fano),
        ("rero-rdp", robustness.rero_rdp),
    ):
        values = np.atleast_1d(function(epsilons, orders, found.law.largest))
        at = int(np.argmin(values))
        found.success(
            name,
            values[at],
            f"RDP at order {orders[at]:g}: {epsilons[at]:.6g}",
            order=float(orders[at]),
            epsilon=float(epsilons[at]),
        )


def _add_gdp(found: _Collector, mu: float) -> None:
    premise = f"{mu:.6g}-GDP"
    found.divergence(0.5 * mu * mu, premise)
    found.success("gdp", robustness.rero_gdp(mu, found.law.largest), premise, mu=mu)
    if found.relation == "replace-one" and found.law.uniform:
        from scipy.special import ndtr, ndtri

        value = robustness.tradeoff_fixed_point(
            lambda x: float(ndtr(-ndtri(x) - mu)), categories=int(found.law.categories)
        )
        found.success("f-dp-fixed-point", value, premise, mu=mu)


def _add_profile(found: _Collector, epsilons: ArrayLike, deltas: ArrayLike) -> None:
    premise = "privacy profile (epsilon, delta(epsilon))"
    if np.size(epsilons) == 1:
        premise = f"({np.ravel(epsilons)[0]:.6g}, {np.ravel(deltas)[0]:.6g})-DP"
    value = robustness.rero_approximate_dp(epsilons, deltas, found.law.largest)
    found.success("f-dp", value, premise)
    if found.relation == "replace-one" and found.law.uniform:
        grow, slack = np.exp(np.minimum(epsilons, 700.0)), np.asarray(deltas, dtype=float)

        def tradeoff(x: float) -> float:
            lines = np.maximum(1.0 - slack - grow * x, (1.0 - slack - x) / grow)
            return max(0.0, float(lines.max()))

        fixed = robustness.tradeoff_fixed_point(tradeoff, categories=int(found.law.categories))
        found.success("f-dp-fixed-point", fixed, premise)


def _add_tradeoff(found: _Collector, tradeoff: Callable[[float], float], premise: str) -> None:
    found.success("f-dp", robustness.rero_tradeoff(tradeoff, found.law.largest), premise)
    if found.relation == "replace-one" and found.law.uniform:
        value = robustness.tradeoff_fixed_point(tradeoff, categories=int(found.law.categories))
        found.success("f-dp-fixed-point", value, premise)

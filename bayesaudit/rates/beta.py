"""Rates: the joint posterior of (FNR, FPR) as two independent marginals.

The exact engine asks a marginal for four things (`RateMarginal`): where its mass is, its density in
the angle θ with rate = sin²θ, its CDF, and the same for the complement of the rate. `BetaRate` is
the conjugate one; a prior whose posterior is not a Beta becomes another marginal, and nothing else
changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesaudit._quadrature import legendre_rule, tanh_sinh_rule
from bayesaudit.counts import AttackCounts
from bayesaudit.rates.priors import Prior, check_prior

__all__ = [
    "BetaRate",
    "IndependentRates",
    "RateMarginal",
    "conjugate_rates",
]

Array = NDArray[np.float64]
#: Tail mass outside `support`; beyond it a density contributes nothing in double precision.
SUPPORT_TAIL = 1e-17


@runtime_checkable
class RateMarginal(Protocol):
    """What the exact engine needs of the posterior of one error rate, for `size` tallies at once.

    Arguments named x and xc are a rate and its complement, of shape (size, k) or (size, 1).
    """

    # A marginal whose density bends or peaks within its support has one more attribute, `breaks`:
    # angles of shape (size, n), increasing and padded by repetition, between which it is smooth.

    #: Whether the density in θ is analytic up to the ends, so that Gauss–Legendre converges fast.
    smooth: bool

    @property
    def size(self) -> int:
        """Number of tallies."""
        ...

    @property
    def support(self) -> tuple[Array, Array]:
        """Ends, shape (size,), of the range of θ outside which no mass matters."""
        ...

    def log_density(self, x: Array, xc: Array) -> Array:
        """Log density with respect to θ = arcsin √x."""
        ...

    def cdf(self, x: Array, xc: Array) -> Array:
        """P(rate <= x), precise in relative terms where it is small."""
        ...

    def log_cdf(self, log_x: Array, xc: Array) -> Array:
        """Log of P(rate <= x), also where x or the result underflow."""
        ...

    def quantile(self, q: ArrayLike) -> Array:
        """Quantile of the rate; q broadcasts against (size,)."""
        ...

    def mirrored(self) -> Self:
        """Return the marginal of the complement, 1 − rate."""
        ...

    def take(self, index: Any) -> Self:
        """Return the marginal of the chosen tallies."""
        ...


@dataclass(frozen=True, eq=False)
class BetaRate:
    """Beta posterior of an error rate, for one or many tallies.

    Parameters
    ----------
    a, b : array_like, shape (size,)
        Shape parameters, > 0: the prior's plus the number of errors, and plus the number of right
        guesses.

    Examples
    --------
    >>> rate = BetaRate([35.5], [65.5])
    >>> rate.quantile(0.5).round(4)
    array([0.3505])
    """

    a: Array
    b: Array

    def __post_init__(self) -> None:
        a, b = np.broadcast_arrays(np.asarray(self.a, float), np.asarray(self.b, float))
        object.__setattr__(self, "a", np.atleast_1d(a))
        object.__setattr__(self, "b", np.atleast_1d(b))
        if not (np.all(self.a > 0) and np.all(self.b > 0)):
            raise ValueError("a and b must be > 0.")

    @property
    def size(self) -> int:
        """Number of tallies."""
        return self.a.size

    @cached_property
    def smooth(self) -> bool:
        """Whether θ-density exponents are whole (or so large that the ends do not matter)."""
        return all(bool(np.all((s > 8) | (2 * s == np.rint(2 * s)))) for s in (self.a, self.b))

    @cached_property
    def support(self) -> tuple[Array, Array]:
        """Range of θ with all but 1e-17 of the mass on either side."""
        low = np.sqrt(special.betaincinv(self.a, self.b, SUPPORT_TAIL))
        # The upper end through the complement, which stays precise when the rate is near 1.
        high = np.sqrt(special.betaincinv(self.b, self.a, SUPPORT_TAIL))
        return np.arcsin(low), np.arccos(high)

    @cached_property
    def _log_norm(self) -> Array:
        """Log normaliser of the θ-density, by its own quadrature.

        The closed form, a log-beta function, alone loses n·1e-16 in relative terms.
        """
        low, high = self.support
        u, uc, weight = legendre_rule(64, singular=True) if self.smooth else tanh_sinh_rule()
        width = (high - low)[:, None]
        theta, theta_c = low[:, None] + width * u, (np.pi / 2 - high)[:, None] + width * uc
        log_kernel = self._log_kernel(np.sin(theta) ** 2, np.sin(theta_c) ** 2)
        return np.log(np.sum(np.exp(log_kernel) * weight, axis=1) * (high - low))

    @cached_property
    def _kernel(self) -> Array:
        """Exponents and mode of the θ-density x^(a−½) (1−x)^(b−½), shape (7, size, 1)."""
        p, q = (self.a - 0.5)[:, None], (self.b - 0.5)[:, None]
        total = p + q
        inside = (p >= 0) & (q >= 0) & (total > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            m, mc = np.where(inside, p / total, 0.5), np.where(inside, q / total, 0.5)
        divide_m, divide_mc = np.where(m == 0, 1, m), np.where(mc == 0, 1, mc)
        return np.stack([p, q, m, mc, divide_m, divide_mc, inside])

    def _log_kernel(self, x: Array, xc: Array) -> Array:
        p, q, m, mc, divide_m, divide_mc, inside = self._kernel
        # Relative to the mode, with one difference in both terms: rounding then enters only to
        # second order, where p·log x + q·log(1−x) alone would lose n·1e-16.
        step = np.where(m <= 0.5, x - m, mc - xc)
        with np.errstate(divide="ignore", invalid="ignore"):
            result = special.xlog1py(p, step / divide_m) + special.xlog1py(q, -step / divide_mc)
            if not inside.all():
                plain = special.xlogy(p, x) + special.xlogy(q, xc)
                result = np.where(inside > 0, result, plain)
        return result

    def log_density(self, x: Array, xc: Array) -> Array:
        """Log density with respect to θ = arcsin √x."""
        return self._log_kernel(x, xc) - self._log_norm[:, None]

    def cdf(self, x: Array, xc: Array) -> Array:
        """P(rate <= x), from whichever of x and 1 − x is small."""
        a, b = self.a[:, None], self.b[:, None]
        low = np.less_equal(x, 0.5)
        if low.all():
            return special.betainc(a, b, x)
        shape = np.broadcast_shapes(a.shape, np.shape(x))
        low = np.broadcast_to(low, shape)
        out = np.empty(shape)
        special.betainc(a, b, x, out=out, where=low)
        special.betaincc(b, a, xc, out=out, where=~low)
        return out

    def log_cdf(self, log_x: Array, xc: Array) -> Array:
        """Log of P(rate <= x); by the continued fraction where the value itself underflows."""
        value = self.cdf(np.exp(log_x), xc)
        with np.errstate(divide="ignore"):
            result = np.log(value)
        tiny = (value < 1e-280) & np.isfinite(log_x)
        if tiny.any():
            a, b, log_x, xc = np.broadcast_arrays(self.a[:, None], self.b[:, None], log_x, xc)
            result[tiny] = _log_betainc_tail(a[tiny], b[tiny], log_x[tiny], xc[tiny])
        return result

    def quantile(self, q: ArrayLike) -> Array:
        """Quantile of the rate; q in [0, 1] broadcasts against (size,)."""
        return special.betaincinv(self.a, self.b, q)

    def isf(self, p: ArrayLike) -> Array:
        """Return the rate whose survival is p, a quantile given by its upper tail."""
        return special.betainccinv(self.a, self.b, p)

    def mirrored(self) -> "BetaRate":
        """Return the Beta of the complement."""
        low, high = self.support
        return self._made(
            a=self.b,
            b=self.a,
            smooth=self.smooth,
            support=(np.pi / 2 - high, np.pi / 2 - low),
            _log_norm=self._log_norm,
            _kernel=self._kernel[[1, 0, 3, 2, 5, 4, 6]],
        )

    def take(self, index: Any) -> "BetaRate":
        """Return the chosen tallies."""
        return self._made(
            a=self.a[index],
            b=self.b[index],
            smooth=self.smooth,
            _log_norm=self._log_norm[index],
            _kernel=self._kernel[:, index],
        )

    @staticmethod
    def join(rates: Sequence["BetaRate"]) -> "BetaRate":
        """Return one marginal with the tallies of all."""
        low, high = zip(*(rate.support for rate in rates), strict=True)
        return BetaRate._made(
            a=np.concatenate([rate.a for rate in rates]),
            b=np.concatenate([rate.b for rate in rates]),
            smooth=all(rate.smooth for rate in rates),
            support=(np.concatenate(low), np.concatenate(high)),
            _log_norm=np.concatenate([rate._log_norm for rate in rates]),
            _kernel=np.concatenate([rate._kernel for rate in rates], axis=1),
        )

    @staticmethod
    def _made(**parts: Any) -> "BetaRate":
        """Make a marginal whose checked shapes and derived arrays are known already."""
        rate = object.__new__(BetaRate)
        rate.__dict__.update(parts)
        return rate


def _log_betainc_tail(a: Array, b: Array, log_x: Array, xc: Array) -> Array:
    """Log of I_x(a, b) for x far below the mean, by Lentz's continued fraction."""
    x = np.exp(log_x)
    tiny = 1e-300
    c = np.ones_like(x)
    d = 1 / np.where(np.abs(1 - (a + b) * x / (a + 1)) < tiny, tiny, 1 - (a + b) * x / (a + 1))
    h = d.copy()
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + even * d)
        c = 1 + even / c
        h *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + odd * d)
        c = 1 + odd / c
        h *= d * c
        if np.all(np.abs(d * c - 1) < 1e-15):
            break
    return a * log_x + special.xlogy(b, xc) - np.log(a) - special.betaln(a, b) + np.log(h)


@dataclass(frozen=True, eq=False)
class IndependentRates:
    """A joint posterior of (FNR, FPR) with independent marginals.

    Parameters
    ----------
    fnr, fpr : RateMarginal
        Marginals of equal size.
    shape : tuple of int
        Shape of the tallies; its product is the marginals' size.

    Examples
    --------
    >>> rates = IndependentRates(BetaRate([3.0], [8.0]), BetaRate([2.0], [9.0]))
    >>> rates.shape
    ()
    """

    fnr: RateMarginal
    fpr: RateMarginal
    shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        size = int(np.prod(self.shape, dtype=np.int64))
        if not self.fnr.size == self.fpr.size == size:
            raise ValueError(
                f"shape must hold as many tallies as the marginals: got {self.shape}, "
                f"fnr of size {self.fnr.size} and fpr of size {self.fpr.size}."
            )

    def oriented(self, outer: str, mirrored: bool) -> tuple[RateMarginal, RateMarginal]:
        """Return the (outer, inner) marginals of a wedge."""
        fnr, fpr = self._mirrored if mirrored else (self.fnr, self.fpr)
        return (fnr, fpr) if outer == "fnr" else (fpr, fnr)

    @cached_property
    def _mirrored(self) -> tuple[RateMarginal, RateMarginal]:
        return self.fnr.mirrored(), self.fpr.mirrored()


def conjugate_rates(counts: AttackCounts, prior: Prior = "jeffreys") -> IndependentRates:
    """Return the Beta posteriors of FNR and FPR given counts.

    Parameters
    ----------
    counts : AttackCounts
        One tally or an array of tallies, every one on its own.
    prior : {"jeffreys", "uniform"} or tuple or dict
        See `check_prior`.

    Notes
    -----
    A Dirichlet(½, ½, ½, ½) prior on the four cells (FN, TP, FP, TN) gives exactly the same two
    independent Betas, by the Dirichlet's neutrality, so that BEDP's joint Dirichlet model needs no
    integral of its own.

    References
    ----------
    Zanella-Béguelin et al., ICML 2023, arXiv:2206.05199, Section 3.
    """
    shapes = check_prior(prior)
    return IndependentRates(
        fnr=BetaRate(
            np.ravel(counts.fn) + shapes["fnr"][0], np.ravel(counts.tp) + shapes["fnr"][1]
        ),
        fpr=BetaRate(
            np.ravel(counts.fp) + shapes["fpr"][0], np.ravel(counts.tn) + shapes["fpr"][1]
        ),
        shape=counts.shape,
    )

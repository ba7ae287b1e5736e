"""Population rates of trials that share a model: the marginals, and how counts give them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit.counts import AttackCounts
from bayesaudit.rates._chebyshev import clenshaw, coefficients
from bayesaudit.rates._marginal import POINTS, MarginalTable, tabulate
from bayesaudit.rates.beta import IndependentRates
from bayesaudit.rates.priors import ICCPrior, Prior, check_icc_prior, check_prior

__all__ = ["BetaBinomialRate", "beta_binomial_rates", "check_models"]

Array = NDArray[np.float64]
#: |s| is cut here, before the exponentials of it would overflow.
FAR = 700.0
#: Distance between the s-axes of two tallies when all panels are laid on one line.
APART = 4 * FAR


class _Panels:
    """The panels of many marginals on one line, as Chebyshev coefficients."""

    def __init__(self, tables: Sequence[MarginalTable]) -> None:
        self.tables = tuple(tables)
        starts = [table.nodes[:, 0] for table in tables]
        self.lefts = np.concatenate([start + APART * row for row, start in enumerate(starts)])
        self.first = np.cumsum([0, *(start.size for start in starts)])
        self.left = np.concatenate(starts)
        self.width = np.concatenate([table.nodes[:, -1] - table.nodes[:, 0] for table in tables])
        self.ends = np.array([table.edges[[0, -1]] for table in tables])
        values = {
            name: np.concatenate([getattr(table, name) for table in tables])
            for name in ("log_density", "log_cdf", "log_sf")
        }
        self.rows = {
            name: np.ascontiguousarray(coefficients(value).T) for name, value in values.items()
        }
        # The straight lines that continue each function beyond the table.
        order = np.arange(POINTS, dtype=float) ** 2
        alternating = order * (-1.0) ** (np.arange(POINTS) + 1)
        first, last = self.first[:-1], self.first[1:] - 1
        self.lines = {
            name: (
                (alternating @ rows[:, first]) * 2 / self.width[first],
                (order @ rows[:, last]) * 2 / self.width[last],
            )
            for name, rows in self.rows.items()
        }
        self.middle = np.array([_middle(table) for table in tables])

    def __call__(self, name: str, row: NDArray[np.intp], s: Array) -> Array:
        """Evaluate one of the three functions at s (size, n), for tables `row` (size, 1)."""
        low, high = self.ends[row, 0], self.ends[row, 1]
        inside = np.clip(s, low, high)
        panel = np.searchsorted(self.lefts, inside + APART * row, side="right") - 1
        panel = np.clip(panel, self.first[row], self.first[row + 1] - 1)
        u = 2 * (inside - self.left[panel]) / self.width[panel] - 1
        value = clenshaw(self.rows[name][:, panel], u)
        beyond = s - inside
        if beyond.any():
            left, right = self.lines[name]
            value = value + np.where(beyond < 0, left[row], right[row]) * beyond
        return value


def _middle(table: MarginalTable) -> float:
    """Return the s near the median: below it the lower tail is kept, above it the upper."""
    flat = np.argmax(table.log_cdf.ravel() > np.log(0.5))
    return float(table.nodes.ravel()[flat])


@dataclass(frozen=True, eq=False)
class BetaBinomialRate:
    """Posterior of a population rate μ with the intra-model correlation ρ integrated out.

    Made by `beta_binomial_rates`; a `bayesaudit.rates.RateMarginal`.

    Parameters
    ----------
    panels : object
        Tables of marginals.
    row : numpy.ndarray of int, shape (size,)
        The table of every tally.
    flipped : numpy.ndarray of bool, shape (size,)
        Whether the tally's rate is the complement of the table's.
    """

    panels: _Panels
    row: NDArray[np.intp]
    flipped: NDArray[np.bool_]

    smooth = True

    @staticmethod
    def of_tables(tables: Sequence[MarginalTable]) -> "BetaBinomialRate":
        """Return the marginal of many tables."""
        return BetaBinomialRate(
            _Panels(tables), np.arange(len(tables)), np.zeros(len(tables), bool)
        )

    @property
    def size(self) -> int:
        """Number of tallies."""
        return self.row.size

    @cached_property
    def support(self) -> tuple[Array, Array]:
        """Range of θ that holds all of the mass but 1e-18."""
        low, high = self.panels.ends[self.row].T
        low, high = np.where(self.flipped, -high, low), np.where(self.flipped, -low, high)
        return np.arctan(np.exp(low / 2)), np.arctan(np.exp(high / 2))

    @cached_property
    def breaks(self) -> Array:
        """Angles θ between which the density is smooth, shape (size, n), padded by repetition.

        The density may have a peak far narrower than its support, which one quadrature panel
        would miss.
        """
        tables = self.panels.tables
        edges = [tables[row].edges[[0, *_useful(tables[row]), -1]] for row in self.row]
        wide = max(edge.size for edge in edges)
        s = np.stack([np.pad(edge, (0, wide - edge.size), mode="edge") for edge in edges])
        s = np.where(self.flipped[:, None], -s[:, ::-1], s)
        return np.arctan(np.exp(s / 2))

    def _s(self, log_x: Array, log_xc: Array) -> tuple[NDArray[np.intp], Array]:
        with np.errstate(invalid="ignore"):
            s = np.clip(log_x - log_xc, -FAR, FAR)
        return self.row[:, None], np.where(self.flipped[:, None], -s, s)

    def log_density(self, x: Array, xc: Array) -> Array:
        """Log density with respect to θ = arcsin √x."""
        with np.errstate(divide="ignore"):
            row, s = self._s(np.log(x), np.log(xc))
        return self.panels("log_density", row, s)

    def cdf(self, x: Array, xc: Array) -> Array:
        """P(rate <= x), precise in relative terms where it is small."""
        with np.errstate(divide="ignore"):
            return np.exp(self._log_cdf(np.log(x), np.log(xc)))

    def log_cdf(self, log_x: Array, xc: Array) -> Array:
        """Log of P(rate <= x), also where x or the result underflow."""
        with np.errstate(divide="ignore"):
            return self._log_cdf(log_x, np.log(xc))

    def _log_cdf(self, log_x: Array, log_xc: Array) -> Array:
        row, s = self._s(log_x, log_xc)
        result = np.empty(s.shape)
        row = np.broadcast_to(row, s.shape)
        lower = s < self.panels.middle[row]
        flipped = np.broadcast_to(self.flipped[:, None], s.shape)
        # The tail that is kept, "log_cdf" left of the middle and "log_sf" right of it, is either
        # what is asked for or its complement.
        for name, here, wanted in (("log_cdf", lower, ~flipped), ("log_sf", ~lower, flipped)):
            if not here.any():
                continue
            value = self.panels(name, row[here], s[here])
            with np.errstate(divide="ignore"):
                other = np.log1p(-np.minimum(np.exp(value), 1.0))
            result[here] = np.where(wanted[here], value, other)
        return np.where(np.isneginf(log_x), -np.inf, np.minimum(result, 0.0))

    def quantile(self, q: ArrayLike) -> Array:
        """Quantile of the rate; q in [0, 1] broadcasts against (size,)."""
        q = np.broadcast_to(np.asarray(q, float), (self.size,))
        target = np.where(self.flipped, 1 - q, q)
        s = np.array(
            [_rough(self.panels.tables[r], p) for r, p in zip(self.row, target, strict=True)]
        )
        row = self.row
        upper = s > self.panels.middle[row]
        with np.errstate(divide="ignore", invalid="ignore"):
            goal = np.log(np.where(upper, 1 - target, target))
            for _ in range(4):
                value = np.empty_like(s)
                for name, here in (("log_sf", upper), ("log_cdf", ~upper)):
                    if here.any():
                        value[here] = self.panels(name, row[here], s[here])
                log_p = self.panels("log_density", row, s)
                log_p -= 0.5 * (np.logaddexp(0, -s) + np.logaddexp(0, s)) + np.log(2)
                step = (value - goal) * np.exp(value - log_p) * np.where(upper, -1.0, 1.0)
                s = np.where(np.isfinite(goal), np.clip(s - step, s - 4, s + 4), s)
        s = np.where(target <= 0, -FAR, np.where(target >= 1, FAR, s))
        s = np.where(self.flipped, -s, s)
        return np.exp(-np.logaddexp(0, -s))

    def mirrored(self) -> "BetaBinomialRate":
        """Return the marginal of the complement."""
        return BetaBinomialRate(self.panels, self.row, ~self.flipped)

    def take(self, index: Any) -> "BetaBinomialRate":
        """Return the chosen tallies."""
        chosen = BetaBinomialRate(self.panels, self.row[index], self.flipped[index])
        chosen.__dict__["breaks"] = self.breaks[index]
        return chosen

    @staticmethod
    def join(rates: Sequence["BetaBinomialRate"]) -> "BetaBinomialRate":
        """Return one marginal with the tallies of all."""
        panels, offsets = rates[0].panels, [0] * len(rates)
        if any(rate.panels is not panels for rate in rates):
            known: dict[int, tuple[int, _Panels]] = {}
            for rate in rates:
                start = sum(len(other.tables) for _, other in known.values())
                known.setdefault(id(rate.panels), (start, rate.panels))
            offsets = [known[id(rate.panels)][0] for rate in rates]
            panels = _Panels([table for _, other in known.values() for table in other.tables])
        return BetaBinomialRate(
            panels,
            np.concatenate([rate.row + start for rate, start in zip(rates, offsets, strict=True)]),
            np.concatenate([rate.flipped for rate in rates]),
        )


def _useful(table: MarginalTable) -> NDArray[np.intp]:
    """Inner panel edges beyond which there is mass that a double can see."""
    kept = (table.log_cdf[1:, 0] > -38) & (table.log_sf[1:, 0] > -38)
    return np.flatnonzero(kept) + 1


def _rough(table: MarginalTable, q: float) -> float:
    """Return a quantile in s by linear interpolation in the log of the smaller tail."""
    s = table.nodes.ravel()
    if q <= 0.5:
        return float(np.interp(np.log(q) if q > 0 else -np.inf, table.log_cdf.ravel(), s))
    tail = np.log(1 - q) if q < 1 else -np.inf
    return float(np.interp(-tail, -table.log_sf.ravel(), s))


def check_models(counts: AttackCounts) -> AttackCounts:
    """Return counts that have a trailing ``model`` axis with at least one model on it."""
    if not isinstance(counts, AttackCounts):
        raise TypeError(f"counts must be AttackCounts, got {type(counts).__name__}.")
    if not counts.shape:
        raise ValueError(
            "counts must have a trailing model axis (one tally a trained model), got a single "
            "tally: dependence within a model cannot be told from it."
        )
    if counts.shape[-1] == 0:
        raise ValueError("counts must have at least one model, got none.")
    return counts


def beta_binomial_rates(
    counts: AttackCounts, *, prior: Prior = "jeffreys", icc_prior: ICCPrior = "default"
) -> IndependentRates:
    """Return the posteriors of the population FNR and FPR under the beta-binomial model.

    Per side, k_j ~ BetaBinomial(n_j, μκ, (1 − μ)κ) with κ = (1 − ρ)/ρ: the rate of a trained model
    is drawn from a Beta of mean μ, and two trials of one model have correlation ρ. μ is the
    population rate, averaged over the randomness of training, which is what DP bounds.

    Parameters
    ----------
    counts : AttackCounts, shape (..., n_models)
        Counts with a trailing ``model`` axis; models may differ in size, and a model without
        trials on one side adds nothing there.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Beta prior of the population rates, see `bayesaudit.rates.check_prior`.
    icc_prior : {"default", "uniform"} or tuple or float or dict
        Prior of ρ, see `check_icc_prior`.

    Returns
    -------
    IndependentRates
        Of shape ``counts.shape[:-1]``.

    Notes
    -----
    The likelihood of a thousand models is three functions of one variable; ρ is integrated by the
    trapezoid rule in its logit, and μ is kept as Chebyshev panels in its logit, to about 1e-10.

    References
    ----------
    Griffiths, "Maximum likelihood estimation for the beta-binomial distribution and an
    application to the household distribution of the total number of cases of a disease",
    Biometrics 29 (1973) 637.

    Examples
    --------
    >>> counts = AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> rates = beta_binomial_rates(counts)
    >>> rates.fnr.quantile([0.05]).round(3), rates.fnr.quantile([0.95]).round(3)
    (array([0.206]), array([0.546]))
    """
    counts = check_models(counts)
    shapes, iccs = check_prior(prior), check_icc_prior(icc_prior)
    models, shape = counts.shape[-1], counts.shape[:-1]

    def rows(cell: NDArray[np.int64]) -> NDArray[np.int64]:
        return cell.reshape(-1, models)

    tables = _tables(rows(counts.fn), rows(counts.tp), shapes["fnr"], iccs["fnr"])
    tables += _tables(rows(counts.fp), rows(counts.tn), shapes["fpr"], iccs["fpr"])
    both = BetaBinomialRate.of_tables(tables)
    half = len(tables) // 2
    return IndependentRates(
        fnr=both.take(slice(0, half)), fpr=both.take(slice(half, None)), shape=shape
    )


def _tables(
    errors: NDArray[np.int64],
    rights: NDArray[np.int64],
    mu_prior: tuple[float, float],
    icc_prior: tuple[float, float] | float,
) -> list[MarginalTable]:
    """Return one table for every audit; counts have shape (audits, models)."""
    return [
        tabulate(k, m, mu_prior=mu_prior, icc_prior=icc_prior)
        for k, m in zip(errors, rights, strict=True)
    ]

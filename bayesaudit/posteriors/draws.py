"""The draws engine: the posterior of a measure as the empirical CDF of draws, with its error."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice
from bayesaudit._plain import plain
from bayesaudit.measures import Measure
from bayesaudit.posteriors._density import bandwidth, kernel_mean
from bayesaudit.posteriors._error import mean_error, quantile_error, share_error
from bayesaudit.posteriors._measured import add_measures, measure_draws
from bayesaudit.posteriors._verbs import Posterior, probabilities

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DrawsPosterior", "add_measures"]

Array = NDArray[np.float64]
Statistic = Literal[
    "cdf", "sf", "prob_above", "pdf", "quantile", "isf", "median", "mean", "prob_zero"
]
STATISTICS = ("cdf", "sf", "prob_above", "pdf", "quantile", "isf", "median", "mean", "prob_zero")


@dataclass(frozen=True, eq=False)
class DrawsPosterior(Posterior):
    """Posterior of a measure from draws of the two rates.

    Made by `bayesaudit.posterior`. It has the verbs of `ExactPosterior`, and `mcse` for the Monte
    Carlo standard error of each.

    Parameters
    ----------
    dt : xarray.DataTree
        A tree whose ``posterior`` group has ``fnr`` and ``fpr``, with the dims chain and draw and,
        for many tallies, one more; ``tpr`` and ``tnr``, if present, are their complements.
    measure : Measure
        What is measured.

    Notes
    -----
    The CDF is the share of draws at most a level, quantiles are its inverse (the smallest draw
    whose CDF reaches q), and the density is a Gaussian kernel estimate, reflected at the ends of
    the measure's range, of the part without atom. Infinite draws are legal: they are mass above
    every level.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-Normalization, Folding, and
    Localization", Bayesian Analysis 2021, arXiv:1903.08008 (effective sample sizes of quantiles and
    of probabilities, and their standard errors).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> draws = ba.posterior(ba.sample(counts, random_seed=1), ba.Epsilon(delta=1e-5))
    >>> exact = ba.posterior(counts, ba.Epsilon(delta=1e-5))
    >>> error = draws.quantile(0.05) - exact.quantile(0.05)
    >>> bool(abs(error) < 4 * draws.mcse("quantile", 0.05))
    True
    """

    dt: "xr.DataTree"
    measure: Measure

    engine = "draws"
    method = "posterior draws"

    def __post_init__(self) -> None:
        _ = self.draws

    def __repr__(self) -> str:
        chains, draws = self.draws.shape[:2]
        return f"DrawsPosterior({self.measure!r}, {chains} chains of {draws} draws)"

    @cached_property
    def draws(self) -> "xr.DataArray":
        """The draws of the measure, with the dims chain, draw and those of the tallies."""
        return measure_draws(self.dt["posterior"].dataset, self.measure)

    @property
    def tally_dims(self) -> tuple[str, ...]:
        """Names of the dims of the tallies."""
        return tuple(map(str, self.draws.dims[2:]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tallies; () for one."""
        return self.draws.shape[2:]

    @property
    def n_draws(self) -> int:
        """Number of draws, over all chains."""
        return self.draws.shape[0] * self.draws.shape[1]

    @cached_property
    def by_tally(self) -> Array:
        """The draws, shape (tallies, chains, draws)."""
        values = self.draws.values
        flat = values.reshape(*values.shape[:2], -1)
        return np.ascontiguousarray(np.moveaxis(flat, 2, 0))

    @cached_property
    def _unknown(self) -> NDArray[np.bool_]:
        """Which tallies have a draw that is not a number, so that nothing of them is known."""
        return np.isnan(self.by_tally).any(axis=(1, 2))

    @cached_property
    def _sorted(self) -> Array:
        return np.sort(self.by_tally.reshape(self.by_tally.shape[0], -1), axis=1)

    # -- the distribution ------------------------------------------------------------------------

    def cdf(self, level: ArrayLike) -> Array:
        """Return P(measure <= level | data); NaN at NaN."""
        return self._each(level, self._share_below)

    def sf(self, level: ArrayLike) -> Array:
        """Return P(measure > level | data); 0 where no draw lies above."""
        return self._each(level, lambda i, x: 1 - self._share_below(i, x))

    def pdf(self, level: ArrayLike) -> Array:
        """Return the kernel density of the part without atom, per unit of the measure."""
        return self._each(level, lambda i, x: self._kernels(i, x)[0])

    def quantile(self, q: ArrayLike) -> Array:
        """Return the smallest draw whose CDF is at least q; the measure's lowest value at q = 0.

        Parameters
        ----------
        q : array_like
            Probabilities in [0, 1].
        """
        return self._each(probabilities(q, "q"), self._order_statistic)

    def isf(self, p: ArrayLike) -> Array:
        """Return the level whose survival is p: a quantile given by its upper tail."""
        return self._each(1 - probabilities(p, "p"), self._order_statistic)

    def mean(self) -> Array:
        """Return the posterior mean; infinite if a draw is."""
        return self.by_tally.mean(axis=(1, 2)).reshape(self.shape)[()]

    # -- its Monte Carlo error -------------------------------------------------------------------

    def mcse(self, statistic: Statistic = "mean", at: ArrayLike | None = None) -> Array:
        """Return the Monte Carlo standard error of a statistic.

        Parameters
        ----------
        statistic : {"cdf", "sf", "prob_above", "pdf", "quantile", "isf", "median", "mean", \
"prob_zero"}
            Whose error.
        at : array_like, optional
            The level, or the probability for "quantile" and "isf".

        Returns
        -------
        numpy.ndarray
            Of the shape that the statistic itself has. That of "pdf" leaves out the smoothing bias.

        Notes
        -----
        A probability p has the standard error √(p(1 − p)/ESS) with the effective sample size of the
        indicator, chain-aware. Where no draw, or every draw, lies below the level, the indicator is
        constant: p is then pulled half a draw from the edge, so that the error is never 0.

        Examples
        --------
        >>> import bayesaudit as ba
        >>> dt = ba.sample(ba.AttackCounts(fn=3, tp=7, fp=1, tn=9), random_seed=1)
        >>> error = ba.posterior(dt, ba.Epsilon(1e-5)).mcse("quantile", [0.05, 0.95])
        >>> error.shape
        (2,)
        """
        check_choice(statistic, "statistic", STATISTICS)
        needs = statistic not in ("median", "mean", "prob_zero")
        if needs == (at is None):
            raise ValueError(
                f"mcse({statistic!r}) {'needs' if needs else 'takes no'} argument `at`."
            )
        if statistic == "mean":
            return self._each(0.0, lambda i, x: np.full(x.size, mean_error(self.by_tally[i])))
        if statistic == "prob_zero":
            if not self.measure.has_atom:
                return np.zeros(self.shape)[()]
            statistic, at = "cdf", self.measure.lowest
        if statistic in ("quantile", "isf", "median"):
            q = 0.5 if statistic == "median" else probabilities(at, "at")
            q = 1 - q if statistic == "isf" else q
            return self._each(
                q, lambda i, x: np.array([quantile_error(self.by_tally[i], p) for p in x])
            )
        if statistic == "pdf":
            return self._each(at, lambda i, x: self._kernels(i, x, errors=True)[1])
        return self._each(
            at, lambda i, x: np.array([share_error(self.by_tally[i], level) for level in x])
        )

    # -- many tallies ----------------------------------------------------------------------------

    def maximum(self, dim: str | None = None) -> "DrawsPosterior":
        """Return the posterior of the largest value over groups, draw by draw.

        Parameters
        ----------
        dim : str, optional
            The dim to take the maximum over (``group``, ``attack``); by default all.

        Returns
        -------
        DrawsPosterior
            Of the rates of each draw's worst group, without that dim.

        Notes
        -----
        It is the posterior of the maximum and not the maximum of posteriors: where groups have few
        trials each, it lies above every one of them unless the model shares strength between
        groups.

        Examples
        --------
        >>> import bayesaudit as ba
        >>> counts = ba.AttackCounts(fn=[35, 20], tp=[65, 80], fp=[25, 30], tn=[75, 70])
        >>> draws = ba.posterior(ba.sample(counts, random_seed=1), ba.Epsilon(1e-5))
        >>> draws.shape, draws.maximum().shape
        ((2,), ())
        >>> bool((draws.maximum().quantile(0.05) >= draws.quantile(0.05)).all())
        True
        """
        import xarray as xr

        dims = self.tally_dims if dim is None else (dim,)
        if not dims or not set(dims) <= set(self.tally_dims):
            raise ValueError(f"dim must be one of {self.tally_dims}, got {dim!r}.")
        group = self.dt["posterior"].dataset
        names = [name for name in ("fnr", "fpr", "tpr", "tnr") if name in group]
        worst = self.draws.fillna(np.inf).argmax(dim=list(dims))
        arrays = xr.broadcast(self.draws, *(group[name] for name in names))[1:]
        picked = {
            name: array.isel(worst).drop_vars(dims, errors="ignore")
            for name, array in zip(names, arrays, strict=True)
        }
        return DrawsPosterior(
            xr.DataTree.from_dict({"posterior": xr.Dataset(picked)}), self.measure
        )

    # -- how arrays are served -------------------------------------------------------------------

    def _each(self, level: ArrayLike, function: Callable[[int, Array], Array]) -> Array:
        """Apply function(tally, levels) with broadcasting of levels against the tallies.

        A tally with a draw that is not a number has NaN for an answer.
        """
        level = np.asarray(level, float)
        shape = np.broadcast_shapes(level.shape, self.shape)
        size = self.by_tally.shape[0]
        index = np.broadcast_to(np.arange(size).reshape(self.shape), shape).ravel()
        flat = np.broadcast_to(level, shape).ravel()
        if size == 1 and not self._unknown[0]:
            return np.asarray(function(0, flat)).reshape(shape)[()]
        result = np.full(flat.size, np.nan)
        order = np.argsort(index, kind="stable")
        ends = np.searchsorted(index[order], np.arange(size + 1))
        for tally in range(size):
            chosen = order[ends[tally] : ends[tally + 1]]
            if chosen.size and not self._unknown[tally]:
                result[chosen] = function(tally, flat[chosen])
        return result.reshape(shape)[()]

    def _share_below(self, tally: int, level: Array) -> Array:
        share = np.searchsorted(self._sorted[tally], level, side="right") / self.n_draws
        return np.where(np.isnan(level), np.nan, share)

    def _order_statistic(self, tally: int, q: Array) -> Array:
        # The margin absorbs the rounding of q·N where that is a whole number.
        rank = np.ceil(q * self.n_draws - 1e-9 * self.n_draws**0.5).astype(int)
        found = self._sorted[tally][np.clip(rank, 1, self.n_draws) - 1]
        return np.where(q <= 0, self.measure.lowest, found)

    def _shortest(self, prob: float) -> tuple[Array, Array]:
        inside = min(int(np.ceil(prob * self.n_draws - 1e-9)), self.n_draws - 1)
        low, high = self._sorted[:, : self.n_draws - inside], self._sorted[:, inside:]
        with np.errstate(invalid="ignore"):
            width = np.where(np.isfinite(high) & np.isfinite(low), high - low, np.inf)
        best = np.argmin(width, axis=1)[:, None]
        ends = (np.take_along_axis(end, best, axis=1)[:, 0] for end in (low, high))
        ends = (np.where(self._unknown, np.nan, end) for end in ends)
        lower, upper = (end.reshape(self.shape)[()] for end in ends)
        return lower, upper

    def _kernels(self, tally: int, level: Array, *, errors: bool = False) -> tuple[Array, Array]:
        values = self.by_tally[tally]
        keep = np.isfinite(values)
        if self.measure.has_atom:
            keep &= values > self.measure.lowest
        width = bandwidth(values[keep])
        limits = self.measure.lowest, self.measure.highest
        return kernel_mean(values, keep, level, width, limits, errors=errors)

    def to_dict(self, prob: float = 0.90) -> dict[str, Any]:
        """Return the summary of one tally as plain JSON types, with Monte Carlo errors.

        Parameters
        ----------
        prob : float
            Mass of the equal-tailed interval.
        """
        tail = (1 - prob) / 2
        errors = {
            "lower": self.mcse("quantile", tail),
            "upper": self.mcse("quantile", 1 - tail),
            "median": self.mcse("median"),
            "mean": self.mcse("mean"),
            "prob_zero": self.mcse("prob_zero"),
        }
        return super().to_dict(prob) | {"mcse": plain(errors)}

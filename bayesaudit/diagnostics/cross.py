"""The cross-check: whether the draws have the distribution that quadrature says."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_probability
from bayesaudit._result import Result, Table
from bayesaudit.posteriors._error import ess, mean_error, share_error, share_ess
from bayesaudit.rates import check_prior

if TYPE_CHECKING:
    from bayesaudit.posteriors import ExactPosterior
    from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = ["CrossCheck", "CrossCheckRow", "cross_check"]

Array = NDArray[np.float64]
PROBS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
#: Draws at which the exact CDF is evaluated to find the largest distance.
POINTS = 400
HUGE = np.finfo(float).max / 4
#: Chance of failing sound draws, all comparisons taken together.
FALSE_ALARM = 1e-3


@dataclass(frozen=True, slots=True)
class CrossCheckRow(Result):
    """One comparison: a CDF at a level, or the mean transformed to (0, 1).

    Parameters
    ----------
    tally : int
        Which tally, in flattened order.
    name : str
        "cdf", or "mean of F" for the mean of the exact CDF at the draws.
    level : float or None
        The level, an exact quantile.
    exact, draws, mcse : float
        The exact value, that of the draws, and its Monte Carlo standard error.
    z : float
        Their difference in standard errors.
    """

    tally: int
    name: str
    level: float | None
    exact: float
    draws: float
    mcse: float
    z: float


@dataclass(frozen=True, slots=True)
class CrossCheck(Table):
    """Verdict on draws against the exact posterior.

    Parameters
    ----------
    passed : bool
        Whether the draws can have come from the exact posterior.
    reason : str
        Why, in one sentence.
    rows : tuple of CrossCheckRow
        All comparisons.
    max_abs_z, z_threshold : float
        The largest |z|, and how large it may be.
    max_distance : float
        The largest distance between the two CDFs, over the levels and tallies.
    distance_pvalue, pvalue_threshold : float
        Its probability under the null distribution at the measured effective sample size (the
        smallest over tallies), and how small it may be.
    ess : float
        That effective sample size.
    detectable : float
        The distance of CDFs above which these draws fail, at the smallest effective sample size.
    """

    passed: bool
    reason: str
    rows: tuple[CrossCheckRow, ...]
    max_abs_z: float
    z_threshold: float
    max_distance: float
    distance_pvalue: float
    pvalue_threshold: float
    ess: float
    detectable: float

    _rows = "rows"

    def table(self, *, most: int = 20) -> str:
        """Return the comparisons as aligned text, those with the largest |z| if there are many.

        Parameters
        ----------
        most : int
            The largest number of rows.
        """
        rows = self.rows
        if len(rows) > most:
            rows = sorted(rows, key=lambda row: -abs(row.z))[:most]
        lines = [f"{'':14}{'level':>10}{'exact':>10}{'draws':>10}{'MCSE':>10}{'z':>8}"]
        many = any(row.tally for row in self.rows)
        for row in rows:
            name = f"{row.name} [{row.tally}]" if many else row.name
            level = "" if row.level is None else f"{row.level:.4f}"
            lines.append(
                f"{name:14}{level:>10}{row.exact:>10.4f}{row.draws:>10.4f}"
                f"{row.mcse:>10.5f}{row.z:>8.2f}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"cross-check {'passed' if self.passed else 'FAILED'}: {self.reason}"


def cross_check(
    draws: "DrawsPosterior",
    exact: "ExactPosterior",
    *,
    probs: Sequence[float] = PROBS,
    false_alarm: float = FALSE_ALARM,
) -> CrossCheck:
    """Check draws against the exact posterior.

    Parameters
    ----------
    draws : DrawsPosterior
        The draws engine's posterior.
    exact : ExactPosterior
        The exact engine's, of the same measure and of as many tallies.
    probs : sequence of float
        The CDFs are compared at the exact quantiles of these probabilities, and at the measure's
        lowest value where the posterior has an atom.
    false_alarm : float
        The chance, over all comparisons, of failing draws that are sound.

    Returns
    -------
    CrossCheck

    Raises
    ------
    TypeError, ValueError
        If the two are not one of either engine, or differ in the shape of their tallies.

    Notes
    -----
    Three looks at one question. At every level, z is the difference of the CDFs in Monte Carlo
    standard errors; the mean of F(draw), which is ½ for sound draws (atoms counted half), gathers a
    shift that is small everywhere; and √ESS times the largest distance of the CDFs is compared with
    Kolmogorov's distribution, ESS being the smallest of the CDF's indicators at the levels. Each z
    is allowed what keeps the chance of a false alarm at `false_alarm`/2 over all of them
    (Bonferroni), and so is the distance. Measures, counts or priors that are recorded on both
    sides must be the same.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    >>> exact = ba.posterior(counts, ba.Epsilon(1e-5))
    >>> draws = ba.posterior(ba.sample(counts, random_seed=1), ba.Epsilon(1e-5))
    >>> cross_check(draws, exact).passed
    True
    """
    _check_engines(draws, exact)
    probs = [check_probability(p, "probs") for p in probs]
    levels = exact.quantile(np.reshape(probs, (-1, *[1] * len(exact.shape))))
    levels = np.reshape(levels, (len(probs), -1))
    atom = exact.measure.lowest if exact.measure.has_atom else None
    if atom is not None:
        levels = np.vstack([np.full(levels.shape[1], atom), levels])
    at_levels = _cdf(exact, levels)
    ranks = _ranks(draws.n_draws, levels.shape[1])
    points = np.sort(draws.by_tally.reshape(levels.shape[1], -1), axis=1)[:, ranks].T
    at_points = _cdf(exact, points)
    rows: list[CrossCheckRow] = []
    distances, sizes = [], []
    for tally, values in enumerate(draws.by_tally):
        chosen = _distinct(levels[:, tally], at_levels[:, tally])
        found = [(levels[i, tally], at_levels[i, tally]) for i in chosen]
        own = _sizes(values, found)
        sizes.append(min(own, default=values.size))
        rows += [
            _level_row(tally, values, *pair, size) for pair, size in zip(found, own, strict=True)
        ]
        row = _mean_row(tally, values, points[:, tally], at_points[:, tally], atom)
        rows += [row] if row is not None else []
        distances.append(_distance(values, points[:, tally], at_points[:, tally], atom))
    return _verdict(
        rows, np.array(distances), np.array(sizes), false_alarm, _recorded(draws, exact)
    )


def _check_engines(draws: Any, exact: Any) -> None:
    for value, engine, name in ((draws, "draws", "draws"), (exact, "exact", "exact")):
        if getattr(value, "engine", None) != engine:
            raise TypeError(
                f"{name} must be a posterior of the {engine} engine, got {type(value).__name__}."
            )
    if draws.shape != exact.shape:
        raise ValueError(
            f"draws and exact must be of the same tallies, got {draws.shape} and {exact.shape}."
        )


def _cdf(exact: "ExactPosterior", level: Array) -> Array:
    """Return the exact CDF at levels of shape (points, tallies)."""
    found = exact.cdf(level.reshape(level.shape[0], *exact.shape))
    return np.reshape(found, level.shape)


def _ranks(n_draws: int, tallies: int) -> NDArray[np.intp]:
    """Ranks of the draws at which CDFs are compared, fewer where there are many tallies."""
    count = min(n_draws, max(50, min(POINTS, 100_000 // tallies)))
    return np.unique(np.linspace(0, n_draws - 1, count).astype(np.intp))


def _sizes(values: Array, found: list[tuple[float, float]]) -> list[float]:
    """Return the ESS of the CDF at every (level, exact CDF).

    Far out the indicator's own is not to be trusted: a chain that happens not to visit a tail looks
    as if it mixed well there. It may not exceed that of the 5 % and 95 % quantiles.
    """
    tail = ess(np.clip(values, -HUGE, HUGE), "tail", (0.05, 0.95)) if found else np.nan
    most = tail if np.isfinite(tail) else np.inf
    return [
        min(share_ess(values, level), np.inf if 0.05 <= right <= 0.95 else most)
        for level, right in found
    ]


def _distinct(level: Array, cdf: Array) -> list[int]:
    """Positions of levels worth a comparison: finite, no repetition, CDF not 0 or 1."""
    _, first = np.unique(level, return_index=True)
    return [int(i) for i in first if np.isfinite(level[i]) and 0 < cdf[i] < 1]


def _level_row(tally: int, values: Array, level: float, right: float, size: float) -> CrossCheckRow:
    share = float(np.mean(values <= level))
    return CrossCheckRow(
        tally=tally,
        name="cdf",
        level=float(level),
        exact=float(right),
        draws=share,
        mcse=share_error(values, level, size),
        z=_binomial_z(share, float(right), size),
    )


def _binomial_z(share: float, right: float, size: float) -> float:
    """Return the normal score of a share of `size` independent draws whose probability is `right`.

    By the binomial's mid-P tail: the plain ratio would cry wolf where a few draws are expected.
    """
    hits = share * size
    plain = (share - right) / np.sqrt(right * (1 - right) / size)
    at_least = special.betainc(hits, size - hits + 1, right) if hits > 0 else 1.0
    more = special.betainc(hits + 1, size - hits, right) if hits < size else 0.0
    upper = (at_least + more) / 2
    lower = 1 - upper
    if min(upper, lower) < 1e-12:
        return float(plain)
    return float(-special.ndtri(upper) if plain > 0 else special.ndtri(lower))


def _mean_row(
    tally: int, values: Array, points: Array, cdf: Array, atom: float | None
) -> CrossCheckRow | None:
    """Compare the mean of the exact CDF at the draws with ½; None where all draws are equal."""
    finite = np.isfinite(points)
    if finite.sum() < 2 or np.ptp(values) == 0:
        return None
    # Between two points that are 1/400 of the mass apart the CDF is as good as straight.
    mapped = np.interp(values, points[finite], cdf[finite])
    mapped[np.isinf(values)] = 1.0
    if atom is not None:
        mapped[values <= atom] /= 2
    mean, error = float(mapped.mean()), mean_error(mapped)
    return CrossCheckRow(tally, "mean of F", None, 0.5, mean, error, (mean - 0.5) / error)


def _distance(values: Array, points: Array, cdf: Array, atom: float | None) -> float:
    ordered = np.sort(values.ravel())
    after = np.searchsorted(ordered, points, side="right") / ordered.size
    before = np.searchsorted(ordered, points, side="left") / ordered.size
    finite = np.isfinite(points)
    gaps = np.abs(after - cdf)
    # The exact CDF jumps at the atom alone, and there only its right side is known.
    jump = finite & (points <= atom) if atom is not None else np.zeros(finite.shape, bool)
    gaps = np.where(jump, gaps, np.maximum(gaps, np.abs(before - cdf)))
    return float(np.max(gaps[finite], initial=0.0) if finite.any() else 1.0)


def _recorded(draws: "DrawsPosterior", exact: "ExactPosterior") -> list[str]:
    """Return what both sides have on record and does not agree."""
    found = []
    if draws.measure != exact.measure:
        found.append(f"the draws are of {draws.measure}, the exact posterior of {exact.measure}")
    attrs = draws.dt.attrs
    if exact.counts is not None and "counts" in attrs:
        if json.loads(attrs["counts"]) != exact.counts.to_dict():
            found.append("the draws are of other counts than the exact posterior")
    if exact.prior is not None and str(attrs.get("prior", "")).startswith("{"):
        theirs = {name: list(pair) for name, pair in check_prior(exact.prior).items()}
        if json.loads(attrs["prior"]) != theirs:
            found.append("the draws are under another prior than the exact posterior")
    return found


def _verdict(
    rows: list[CrossCheckRow],
    distances: Array,
    sizes: Array,
    false_alarm: float,
    recorded: list[str],
) -> CrossCheck:
    z = max((abs(row.z) for row in rows), default=0.0)
    z_threshold = float(-special.ndtri(false_alarm / 4 / max(len(rows), 1)))
    pvalues = special.kolmogorov(np.sqrt(sizes) * distances)
    worst = int(np.argmin(pvalues))
    pvalue_threshold = false_alarm / 2 / sizes.size
    reasons = list(recorded)
    if not z <= z_threshold:
        row = max(rows, key=lambda row: abs(row.z))
        where = f" of tally {row.tally}" if sizes.size > 1 else ""
        what = row.name if row.level is None else f"CDF at {row.level:.4g}"
        reasons.append(
            f"the {what}{where} is {row.draws:.4f} and should be {row.exact:.4f}, "
            f"{abs(row.z):.1f} standard errors away (allowed {z_threshold:.1f})"
        )
    if not pvalues[worst] >= pvalue_threshold:
        reasons.append(
            f"the CDFs are up to {distances[worst]:.4f} apart, which sound draws of this "
            f"effective size ({sizes[worst]:.0f}) are with probability {pvalues[worst]:.1g}"
        )
    detectable = float(special.kolmogi(pvalue_threshold) / np.sqrt(sizes.min()))
    passed = not reasons
    if passed:
        reasons = [
            f"the largest of {len(rows)} |z| is {z:.1f} (allowed {z_threshold:.1f}) and the CDFs "
            f"are at most {distances.max():.4f} apart (P = {pvalues[worst]:.2g} at an effective "
            f"size of {sizes[worst]:.0f})"
        ]
    return CrossCheck(
        passed=passed,
        reason="; ".join(reasons),
        rows=tuple(rows),
        max_abs_z=float(z),
        z_threshold=z_threshold,
        max_distance=float(distances.max()),
        distance_pvalue=float(pvalues[worst]),
        pvalue_threshold=float(pvalue_threshold),
        ess=float(sizes[worst]),
        detectable=detectable,
    )

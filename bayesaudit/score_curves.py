"""The whole trade-off curve from draws of a score model, with what needs no model beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_choice, check_prob, check_probability
from bayesaudit._result import Result, Table
from bayesaudit.curves import dirichlet_supremum
from bayesaudit.measures import Direction, Epsilon
from bayesaudit.posteriors._error import quantile_error
from bayesaudit.score_laws import ScoreDraws
from bayesaudit.scores import AttackScores
from bayesaudit.thresholds import threshold_bound

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CurveEstimate", "TradeoffPosterior", "tradeoff_posterior"]

Array = NDArray[np.float64]
INSIDE = "inside the support"
BEYOND = "extrapolated by the model"
UNSEEN = "beyond the support: not given"
FREE = "no model of scores: descriptive"
BAND = "guaranteed band: at least, without a model of scores"
NOT_GUARANTEED = "band that counts dependent rows as independent"
ANY_DEPENDENCE = "guaranteed under any dependence within a model: at least"
#: Points of the curve f.
POINTS = 41
#: Thresholds of a draw among which an extrapolated maximum is sought.
GRID = 401
#: Draws that an extrapolated maximum uses at most.
EXTRAPOLATED_DRAWS = 2000


@dataclass(frozen=True, slots=True, repr=False)
class CurveEstimate(Result):
    """One number of a trade-off curve, and what it rests on.

    Parameters
    ----------
    quantity : {"tpr", "mu", "epsilon"}
        What it is.
    at : float or None
        The FPR of a TPR, the δ of an ε.
    lower, median, upper : float or None
        Ends of the equal-tailed interval and the median; None where nothing is claimed.
    statement : {"credible", "descriptive", "confidence", "none"}
        "credible" is posterior mass given the model.
    basis : str
        "inside the support", "extrapolated by the model", "beyond the support: not given", or the
        name of a companion that has no model of scores.
    mcse : float or None
        The larger Monte Carlo standard error of the two ends.
    """

    quantity: str
    at: float | None
    lower: float | None
    median: float | None
    upper: float | None
    statement: str
    basis: str
    mcse: float | None = None

    @property
    def extrapolated(self) -> bool:
        """Whether the number rests on tails that the data have not seen."""
        return self.basis == BEYOND


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TradeoffPosterior(Table):
    """The posterior of a trade-off curve under a score model, and its companions.

    Parameters
    ----------
    family : str
        "location", "binormal" or "student".
    estimates : tuple of CurveEstimate
        TPR at the declared FPRs, in the location model μ, and for every δ the maximum of ε over
        thresholds, each with its basis; after every ε the companions without a model of scores.
    fpr : numpy.ndarray, shape (n_points,)
        False positive rates inside the support.
    fnr : numpy.ndarray, shape (3, n_points)
        The curve f there: lower end, median and upper end of FNR, pointwise.
    support : int
        k: every threshold inside the support has k members and k non-members on either side.
    threshold : tuple of float
        The lowest and the highest threshold of the support.
    prob : float
        Mass of every interval.
    direction : {"member", "both"}
        The direction of ε.
    shifts : tuple of str
        Columns with a random shift in the model.
    rows_independent : bool
        Whether no model has several rows; if not, the band counts dependent rows as independent
        and is not guaranteed, and a lower end that holds under any dependence stands beside it.
    """

    family: str
    estimates: tuple[CurveEstimate, ...]
    fpr: Array
    fnr: Array
    support: int
    threshold: tuple[float, float]
    prob: float
    direction: Direction
    shifts: tuple[str, ...]
    rows_independent: bool

    _rows: ClassVar[str] = "estimates"

    def __getitem__(self, key: tuple[str, float | None] | str) -> CurveEstimate:
        """Return the model's estimate of "mu", ("tpr", fpr) or ("epsilon", delta)."""
        quantity, at = (key, None) if isinstance(key, str) else key
        for one in self.estimates:
            if one.quantity == quantity and one.at == at:
                return one
        raise KeyError(key)

    @property
    def extrapolated(self) -> bool:
        """Whether some number here is extrapolated by the model."""
        return any(one.extrapolated for one in self.estimates)

    def __repr__(self) -> str:
        more = f", some {BEYOND}" if self.extrapolated else ""
        low, high = self.threshold
        return (
            f"TradeoffPosterior({self.family}, {len(self.estimates)} estimates at {self.prob:g}, "
            f"thresholds {low:.4g} to {high:.4g}{more})"
        )


def tradeoff_posterior(
    dt: "xr.DataTree",
    *,
    delta: float | Sequence[float] = 1e-5,
    fpr: float | Sequence[float] = (1e-3, 1e-2, 1e-1),
    prob: float = 0.90,
    direction: Direction = "member",
    extrapolate: bool = False,
    random_seed: int = 0,
) -> TradeoffPosterior:
    """Return the posterior of the trade-off curve from draws of a score model.

    Parameters
    ----------
    dt : xarray.DataTree
        Draws of `models.location`, `models.binormal` or `models.student`.
    delta : float or sequence of float
        The δ of every ε, in [0, 1].
    fpr : float or sequence of float
        Declared false positive rates, in (0, 1), at which the TPR is given.
    prob : float
        Mass of the intervals, in (0, 1).
    direction : {"member", "both"}
        Whether ε is that of the scores' declared direction or of the better one.
    extrapolate : bool
        Whether to give as well, labelled as such, what rests on the model alone: TPR at an FPR
        beyond the support, and the maximum of ε over all thresholds. It needs δ > 0.
    random_seed : int
        Seed of the companion's draws.

    Returns
    -------
    TradeoffPosterior

    Raises
    ------
    ValueError
        If the tree is none of a score model, or an argument is out of range.

    Notes
    -----
    In every draw the curve is known, so that the maximum over thresholds needs no correction for
    choosing, *given the model*. It runs over the thresholds of the support, where the data can
    contradict the model. μ is given for the location model alone, whose thresholds all have the
    same.

    Coverage of 90 % intervals where the model is true, 400 audits each (Monte Carlo error .015), at
    100, 500 and 2000 rows a side: μ of the location model .918, .900, .900; the maximum of ε over
    thresholds inside the support, compared with the true maximum over the same thresholds, .923,
    .888, .903 (location) and .890, .883, .895 (binormal). Where the model is false the intervals
    fail, and the more rows the worse: at 2000 rows a side ε of the binormal model covers .00 under
    tails of Student's t₃, .44 if 5 % of members lie far away, .59 if shifts of models are left out.
    `bayesaudit.diagnose` is there to tell, and the notebook ``scores_in_pymc`` has the whole table.

    References
    ----------
    Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, arXiv:1905.02383,
    Definitions 2.1 and 2.6.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> z = np.random.default_rng(1).normal(size=2000)
    >>> member = np.repeat([0, 1], 1000)
    >>> scores = ba.AttackScores(score=z + member, member=member)
    >>> curve = tradeoff_posterior(ba.sampling.conjugate_scores(scores, "location"))
    >>> curve["mu"].basis, curve["tpr", 1e-3].basis
    ('inside the support', 'beyond the support: not given')
    >>> bool(curve["epsilon", 1e-5].median < 4.377)
    True
    """
    prob = check_prob(prob)
    check_choice(direction, "direction", ("member", "both"))
    deltas = [check_probability(value, "delta") for value in np.ravel(delta)]
    rates = [check_probability(value, "fpr") for value in np.ravel(fpr)]
    if any(rate in (0.0, 1.0) for rate in rates):
        raise ValueError(f"fpr must be in (0, 1), got {fpr!r}.")
    if extrapolate and 0.0 in deltas:
        raise ValueError("extrapolate needs delta > 0: at 0 the maximum is infinite, got 0.")
    draws = ScoreDraws.of(dt)
    summary = _Summary(dt["posterior"].sizes["chain"], prob)
    scores = _scores(draws)
    seen = scores.roc()
    ends = [seen.fpr[seen.threshold == end][0] for end in draws.threshold[[-1, 0]]]
    inside = draws.rates(draws.latent_of(draws.threshold))
    estimates = [
        _tpr(draws, rate, ends[0] <= rate <= ends[1], extrapolate, summary) for rate in rates
    ]
    if draws.mu is not None:
        estimates.append(summary.of("mu", None, draws.mu, INSIDE))
    for value in deltas:
        measure = Epsilon(value, direction)
        epsilon = measure.of(inside["fnr"], inside["fpr"], tpr=inside["tpr"], tnr=inside["tnr"])
        estimates.append(summary.of("epsilon", value, epsilon.max(axis=1), INSIDE))
        if extrapolate:
            thin = ScoreDraws.of(dt, EXTRAPOLATED_DRAWS)
            everywhere = _everywhere(thin, measure)
            estimates.append(_Summary(1, prob).of("epsilon", value, everywhere, BEYOND))
        estimates += _companions(scores, measure, prob, random_seed)
    grid = special.ndtr(np.linspace(*special.ndtri(ends), POINTS))
    curve = draws.rates(draws.threshold_at_fpr(grid))["fnr"]
    tail = (1 - prob) / 2
    return TradeoffPosterior(
        family=draws.family,
        estimates=tuple(estimates),
        fpr=grid,
        fnr=np.quantile(curve, [tail, 0.5, 1 - tail], axis=0),
        support=draws.support,
        threshold=(float(draws.threshold[0]), float(draws.threshold[-1])),
        prob=prob,
        direction=direction,
        shifts=tuple(draws.sds),
        rows_independent=not scores.clustered,
    )


@dataclass(frozen=True, slots=True)
class _Summary:
    """Quantiles of draws, with their error."""

    chains: int
    prob: float

    def of(self, quantity: str, at: float | None, values: Array, basis: str) -> CurveEstimate:
        tail = (1 - self.prob) / 2
        lower, median, upper = map(float, np.quantile(values, [tail, 0.5, 1 - tail]))
        by_chain = values.reshape(self.chains, -1)
        error = max(quantile_error(by_chain, q) for q in (tail, 1 - tail))
        return CurveEstimate(quantity, at, lower, median, upper, "credible", basis, float(error))


def _tpr(
    draws: ScoreDraws, rate: float, visible: bool, extrapolate: bool, summary: _Summary
) -> CurveEstimate:
    if not (visible or extrapolate):
        return CurveEstimate("tpr", rate, None, None, None, "none", UNSEEN)
    tpr = draws.rates(draws.threshold_at_fpr([rate]))["tpr"][:, 0]
    return summary.of("tpr", rate, tpr, INSIDE if visible else BEYOND)


def _everywhere(draws: ScoreDraws, measure: Epsilon) -> Array:
    """Return the maximum over all thresholds, draw by draw.

    Beyond the thresholds at which a rate or its complement falls to δ, no log-ratio counts.
    """
    delta = measure.delta
    reach = np.abs(special.ndtri(delta)) + 1
    spread = np.sqrt(draws.scale**2 + draws.shared[:, None])
    if draws.nu is not None:
        spread = spread * (special.stdtrit(draws.nu, 1 - delta / 2) / reach)
    low = (draws.location - reach * spread).min(axis=1)
    high = (draws.location + reach * spread).max(axis=1)
    # Evenly spaced in arcsinh of the distance: as fine in the middle as heavy tails are long.
    middle, unit = draws.location.mean(axis=1), draws.scale.min(axis=1)
    start, end = np.arcsinh((low - middle) / unit), np.arcsinh((high - middle) / unit)
    grid = np.sinh(np.linspace(start, end, GRID, axis=1))
    rates = draws.rates(middle[:, None] + unit[:, None] * grid)
    return measure.of(rates["fnr"], rates["fpr"], tpr=rates["tpr"], tnr=rates["tnr"]).max(axis=1)


def _companions(
    scores: AttackScores, measure: Epsilon, prob: float, random_seed: int
) -> list[CurveEstimate]:
    """Return what binned scores and confidence bands say of ε; none has a model of scores."""
    free = dirichlet_supremum(scores, measure.delta, random_seed=random_seed)
    asked = [(BAND, {"strategy": "band"})]
    if scores.clustered:
        asked = [(NOT_GUARANTEED, {"strategy": "band"})]
        if scores.models.size > 1:
            split = {"strategy": "split", "method": "betting", "random_seed": random_seed}
            asked.append((ANY_DEPENDENCE, split))
    at = measure.delta
    found = [CurveEstimate("epsilon", at, None, free.median, None, free.statement, FREE)]
    for basis, options in asked:
        one = threshold_bound(scores, measure, prob, **options)
        found.append(CurveEstimate("epsilon", at, one.lower, None, None, one.statement, basis))
    return found


def _scores(draws: ScoreDraws) -> AttackScores:
    return AttackScores(
        score=draws.score, member=draws.member, **{name: code for name, code in draws.codes.items()}
    )

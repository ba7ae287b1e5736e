"""Could a score model have made these scores: their tails, their shape, their models; and LOO.

The checks use pivotal quantities. If the model is true, a draw from its posterior and the data have
the joint distribution of the true parameters and the data; each row's CDF, at a posterior draw, is
then exactly uniform. So every draw gives a p-value that holds in any sample size, and twice the
median of them holds as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._checks import check_prob
from bayesaudit._result import Table
from bayesaudit.score_laws import ScoreDraws

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["TailPrediction", "score_loo", "score_values", "tail_prediction"]

Array = NDArray[np.float64]
#: Draws whose p-values are combined.
DRAWS = 200
#: Draws that leave-one-out uses at most.
LOO_DRAWS = 2000
RATES = (1e-2, 1e-3)
SIDE_NAMES = ("non-members", "members")


def score_values(dt: "xr.DataTree", *, random_seed: int = 0) -> dict[str, tuple[float, str]]:
    """Return the checks of a score model: name -> (p-value, where it is smallest).

    Parameters
    ----------
    dt : xarray.DataTree
        Draws of a score model; of any other tree nothing is returned.
    random_seed : int
        Seed of the draws of shifts that the likelihood integrated out.

    Returns
    -------
    dict
        "score_tails": rows beyond the model's quantiles of 1e-2 and 1e-3 in both tails of both
        sides, against their binomial law. "score_pit": Kolmogorov's distance of the rows' CDF from
        uniform, by side. "score_shifts": the variance between labels of the columns ``model`` and
        ``challenge``, by side, of what the model leaves unexplained. Each is corrected for the
        number of places that it looks at.

    References
    ----------
    Johnson, "Bayesian Model Assessment Using Pivotal Quantities", Bayesian Analysis 2 (2007) 719,
    doi:10.1214/07-BA229. Vovk and Wang, "Combining p-values via averaging", Biometrika 107 (2020)
    791, arXiv:1212.4966 (twice the median).

    Examples
    --------
    >>> import bayesaudit as ba
    >>> rng, member = np.random.default_rng(1), np.repeat([0, 1], 500)
    >>> scores = ba.AttackScores(score=rng.standard_t(3, 1000) + member, member=member)
    >>> found = score_values(ba.sampling.conjugate_scores(scores, "location"))
    >>> found["score_tails"][0] < 0.01
    True
    """
    if not ScoreDraws.held_by(dt):
        return {}
    draws = ScoreDraws.of(dt, DRAWS)
    below, above = draws.pit(np.random.default_rng(random_seed))
    found = {}
    for name, parts in (("tails", _tails), ("pit", _uniformity), ("shifts", _between)):
        each = {where: _combined(p) for where, p in parts(draws, below, above)}
        if each:
            worst = min(each, key=lambda where: each[where])
            found[f"score_{name}"] = (min(1.0, len(each) * each[worst]), worst)
    return found


def _combined(p: Array) -> float:
    return min(1.0, 2 * float(np.median(p)))


Parts = Iterator[tuple[str, Array]]


def _tails(draws: ScoreDraws, below: Array, above: Array) -> Parts:
    for side, name in enumerate(SIDE_NAMES):
        rows = draws.member == side
        n = int(rows.sum())
        for rate in RATES:
            for tail, cdf in (("upper", above), ("lower", below)):
                count = (cdf[:, rows] < rate).sum(axis=1)
                as_many = np.where(count > 0, special.bdtrc(count - 1, n, rate), 1.0)
                as_few = special.bdtr(count, n, rate)
                p = np.minimum(1.0, 2 * np.minimum(as_many, as_few))
                yield f"{tail} tail of {name} at {rate:g}", p


def _uniformity(draws: ScoreDraws, below: Array, above: Array) -> Parts:
    for side, name in enumerate(SIDE_NAMES):
        ranked = np.sort(below[:, draws.member == side], axis=1)
        n = ranked.shape[1]
        step = np.arange(n + 1) / n
        distance = np.maximum(step[1:] - ranked, ranked - step[:-1]).max(axis=1)
        # Stephens' correction of the asymptotic law to finite n.
        yield name, special.kolmogorov(distance * (np.sqrt(n) + 0.12 + 0.11 / np.sqrt(n)))


def _between(draws: ScoreDraws, below: Array, above: Array) -> Parts:
    normal = np.where(below < 0.5, special.ndtri(below), -special.ndtri(above))
    for column, code in draws.codes.items():
        if code.max() == 0 or np.bincount(code).max() == 1:
            continue
        for side, name in enumerate(SIDE_NAMES):
            rows = draws.member == side
            label = (code[rows][:, None] == np.arange(code.max() + 1)).astype(float)
            n = label.sum(axis=0)
            total = normal[:, rows] @ label
            squares = (total[:, n > 0] ** 2 / n[n > 0]).sum(axis=1)
            yield f"{column} of {name}", special.gammaincc((n > 0).sum() / 2, squares / 2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TailPrediction(Table):
    """Rates at the model's own thresholds: declared, predicted for such data, and observed.

    Parameters
    ----------
    rows : tuple of dict
        ``rate`` ("FPR" of non-members, "TPR" of members), ``tail`` ("upper": scores above),
        ``declared``, ``threshold`` (posterior median of the score beyond which it lies), ``lower``
        and ``upper`` (posterior predictive interval of the share of rows beyond), ``observed``.
    prob : float
        Mass of the predictive intervals.
    """

    rows: tuple[dict[str, Any], ...]
    prob: float

    _rows: ClassVar[str] = "rows"


def tail_prediction(
    dt: "xr.DataTree", *, prob: float = 0.90, random_seed: int = 0
) -> TailPrediction:
    """Return the posterior predictive of both tails: FPR and TPR at 1e-2 and 1e-3.

    Parameters
    ----------
    dt : xarray.DataTree
        Draws of a score model.
    prob : float
        Mass of the predictive intervals.
    random_seed : int
        Seed of the predicted counts.

    Returns
    -------
    TailPrediction

    Examples
    --------
    >>> import bayesaudit as ba
    >>> rng, member = np.random.default_rng(1), np.repeat([0, 1], 500)
    >>> scores = ba.AttackScores(score=rng.normal(size=1000) + member, member=member)
    >>> found = tail_prediction(ba.sampling.conjugate_scores(scores, "location"))
    >>> len(found.rows), found.rows[0]["rate"], found.rows[0]["declared"]
    (8, 'FPR', 0.01)
    """
    prob = check_prob(prob)
    draws = ScoreDraws.of(dt, LOO_DRAWS)
    rng = np.random.default_rng(random_seed)
    noise = draws.row_shifts(rng)
    rows = []
    for side, rate_name in enumerate(("FPR", "TPR")):
        chosen = draws.member == side
        center = draws.location[:, side, None] + noise[:, chosen]
        width = draws.scale[:, side, None]
        nu = None if draws.nu is None else draws.nu[:, side, None]
        for declared in RATES:
            for tail, sign in (("upper", 1), ("lower", -1)):
                q = special.ndtri(declared) if nu is None else special.stdtrit(nu, declared)
                threshold = np.median(center - sign * width * q, axis=0)
                gap = sign * (center - threshold) / width
                share = special.ndtr(gap) if nu is None else special.stdtr(nu, gap)
                made = (rng.random(share.shape) < share).mean(axis=1)
                lower, upper = np.quantile(made, [(1 - prob) / 2, (1 + prob) / 2])
                beyond = sign * (draws.latent[chosen] - threshold) > 0
                rows.append(
                    {
                        "rate": rate_name,
                        "tail": tail,
                        "declared": declared,
                        "lower": float(lower),
                        "upper": float(upper),
                        "observed": float(beyond.mean()),
                    }
                )
    return TailPrediction(tuple(rows), prob)


def score_loo(dt: "xr.DataTree", *, random_seed: int = 0) -> Any:
    """Return ArviZ's leave-one-out estimate of a score model, a score at a time.

    Parameters
    ----------
    dt : xarray.DataTree
        Draws of a score model.
    random_seed : int
        Seed of the draws of shifts that the likelihood integrated out.

    Returns
    -------
    arviz_stats.ELPDData
        For ``arviz.compare({"location": score_loo(one), "student": score_loo(other)})``: models of
        the same scores under the same transform. A score is predicted given the shifts of its model
        and challenge.

    References
    ----------
    Vehtari, Gelman and Gabry, Statistics and Computing 2017, arXiv:1507.04544.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> rng, member = np.random.default_rng(1), np.repeat([0, 1], 200)
    >>> scores = ba.AttackScores(score=rng.normal(size=400) + member, member=member)
    >>> found = score_loo(ba.sampling.conjugate_scores(scores, "location"))
    >>> int(found.n_data_points)
    400
    """
    import xarray as xr
    from arviz_stats import loo

    draws = ScoreDraws.of(dt, LOO_DRAWS)
    side = draws.member.astype(int)
    x = draws.standardised(np.random.default_rng(random_seed))
    if draws.nu is None:
        log_density = -0.5 * x**2 - 0.5 * np.log(2 * np.pi)
    else:
        nu = draws.nu
        constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2)
        constant -= 0.5 * np.log(np.pi * nu)
        log_density = constant[:, side] - (nu[:, side] + 1) / 2 * np.log1p(x**2 / nu[:, side])
    log_density -= np.log(draws.scale)[:, side]
    dims = ("chain", "draw", "row")
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"location": (("chain", "draw", "side"), draws.location[None])}
            ),
            "log_likelihood": xr.Dataset({"score": (dims, log_density[None])}),
        }
    )
    return loo(tree, pointwise=True)

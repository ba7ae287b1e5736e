"""Models of scores: two distributions, whose every threshold gives a pair of error rates.

The dim ``threshold`` holds thresholds inside the observed support, so that no rate here rests on a
tail that the data have not seen. `bayesaudit.tradeoff_posterior` reads the whole curve.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesaudit._checks import check_number
from bayesaudit.models._origin import record_origin
from bayesaudit.models._score_likelihood import (
    normal_tails,
    observe_rows,
    observe_statistics,
    student_tails,
)
from bayesaudit.score_laws import (
    SHIFTS,
    SIDES,
    ScoreData,
    Transform,
    has_statistics,
    score_data,
    statistics,
)
from bayesaudit.scores import AttackScores

__all__ = ["binormal", "location", "score_containers", "student"]

#: Prior standard deviation of a distance between means, in standard deviations of the scores.
SEPARATION = 5.0
#: Nodes of the integral of Student rates over normal shifts.
NODES = 21


def location(
    scores: AttackScores,
    *,
    shifts: Sequence[str] | None = None,
    support: int = 5,
    n_thresholds: int = 41,
    transform: Transform = "identity",
    separation: float = SEPARATION,
    shift_scale: float = 1.0,
) -> pm.Model:
    """Build the Gaussian location model: both sides normal with one standard deviation.

    A non-member's score is N(m₀, σ²), a member's N(m₁, σ²). The trade-off curve is then that of
    μ-GDP with ``mu`` = (m₁ − m₀)/S, where S² is σ² plus the variances of the shifts.

    Parameters
    ----------
    scores : AttackScores
        Finite scores of both sides; higher means "member".
    shifts : sequence of {"model", "challenge"}, optional
        Columns whose every label adds a random shift, common to both sides, to its rows' scores:
        rows of a model (or challenge) are dependent, and the shift is the prior for that. By
        default every column that the scores have, if it has two labels and one of several rows.
        ``()`` leaves shifts out.
    support : int
        k >= 1: at every threshold at least k members and k non-members lie on either side.
    n_thresholds : int
        Number of thresholds, >= 2, evenly spaced over that support on the transformed scale.
    transform : {"identity", "logit"}
        Monotone map of the scores, under which they should look normal; "logit" for confidences.
    separation : float
        Prior standard deviation of (m₁ − m₀)/σ, > 0.
    shift_scale : float
        Scale of the half-normal prior of a shift's standard deviation, > 0, in units of the pooled
        standard deviation of the sides.

    Returns
    -------
    pymc.Model
        With ``fnr``, ``fpr`` and their complements over the dim ``threshold`` (population rates,
        the shifts integrated out), ``location`` and ``scale`` over the dim ``side``, and ``mu``.
        The scores, `support` and the transform are among the constants.

    Raises
    ------
    ValueError, TypeError
        If a score is infinite, a side has one value only, an option is out of range, or the sides
        hardly overlap.

    Notes
    -----
    Priors, in units in which the sides' means lie symmetrically about 0 and their pooled standard
    deviation is 1: (m₀ + m₁)/2σ ~ N(0, 1), (m₁ − m₀)/σ ~ N(0, `separation`²), and
    σ² ~ InverseGamma(½, ½), which together are conjugate
    (`bayesaudit.sampling.conjugate_scores`).

    Without a shift by challenge the likelihood is that of the means and sums of squares, which are
    sufficient; shifts of models are integrated out of it. The interval of ``mu`` is credible, and
    as good as the model: scores with heavier tails, or members of two kinds, spoil it
    (`bayesaudit.diagnose` has checks for that). It is no guarantee of privacy or of its lack.

    References
    ----------
    Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, arXiv:1905.02383,
    Definition 2.6 (μ-GDP). Andrew et al., "One-shot Empirical Privacy Estimation for Federated
    Learning", arXiv:2302.03098 (normal scores, without uncertainty).

    Examples
    --------
    >>> import numpy as np
    >>> import bayesaudit as ba
    >>> z = np.random.default_rng(1).normal(size=400)
    >>> member = np.repeat([0, 1], 200)
    >>> model = location(ba.AttackScores(score=z + member, member=member))
    >>> model.named_vars_to_dims["fnr"]
    ('threshold',)
    """
    data = _data(scores, shifts, support, n_thresholds, transform)

    def sides() -> tuple[Any, Any, None]:
        center = pm.Normal("center_z")
        distance = pm.Normal("separation", 0.0, _positive(separation, "separation"))
        variance = pm.InverseGamma("variance", 0.5, 0.5)
        scale = pt.sqrt(variance)
        means = scale * (center + distance * np.array([-0.5, 0.5]))
        return means, pt.stack([scale, scale]), None

    return _build("location", data, sides, shift_scale)


def binormal(
    scores: AttackScores,
    *,
    shifts: Sequence[str] | None = None,
    support: int = 5,
    n_thresholds: int = 41,
    transform: Transform = "identity",
    separation: float = SEPARATION,
    shift_scale: float = 1.0,
) -> pm.Model:
    """Build the binormal model: both sides normal, each with a standard deviation of its own.

    Parameters
    ----------
    scores, shifts, support, n_thresholds, transform, shift_scale
        As in `location`.
    separation : float
        Prior standard deviation of either side's mean, in that side's standard deviations, > 0.

    Returns
    -------
    pymc.Model
        As `location`, without ``mu``.

    Notes
    -----
    Priors, in the units of `location`: m/σ ~ N(0, `separation`²), σ² ~ InverseGamma(½, ½) on each
    side, which are conjugate.

    Beyond the data, ε is set by the ratio of the two variances: the maximum over *all* thresholds
    of a binormal model misses the truth about half of the time. That is why the thresholds end
    where the data do.

    References
    ----------
    Metz, Herman and Shen, "Maximum likelihood estimation of receiver operating characteristic (ROC)
    curves from continuously-distributed data", Statistics in Medicine 17 (1998) 1033 (the binormal
    model).

    Examples
    --------
    >>> import numpy as np
    >>> import bayesaudit as ba
    >>> z = np.random.default_rng(1).normal(size=400)
    >>> member = np.repeat([0, 1], 200)
    >>> model = binormal(ba.AttackScores(score=z + member, member=member))
    >>> [variable.name for variable in model.free_RVs]
    ['sum_z', 'difference_z', 'variance']
    """
    data = _data(scores, shifts, support, n_thresholds, transform)

    def sides() -> tuple[Any, Any, None]:
        means, scale = _two_sides(separation)
        return means, scale, None

    return _build("binormal", data, sides, shift_scale)


def student(
    scores: AttackScores,
    *,
    shifts: Sequence[str] | None = None,
    support: int = 5,
    n_thresholds: int = 41,
    transform: Transform = "identity",
    separation: float = SEPARATION,
    shift_scale: float = 1.0,
) -> pm.Model:
    """Build the Student-t model: each side with a location, a scale and a heaviness of its tails.

    Parameters
    ----------
    scores, shifts, support, n_thresholds, transform, separation, shift_scale
        As in `binormal`.

    Returns
    -------
    pymc.Model
        As `binormal`, with degrees of freedom ``nu`` over the dim ``side``.

    Notes
    -----
    The priors of `binormal`, and ν ~ Gamma(2, 1/10). Every score is in the likelihood: there are no
    sufficient statistics, and a shift is a latent variable. Its groups ``log_likelihood`` and
    ``posterior_predictive`` hold a number for every draw and score.

    References
    ----------
    Juárez and Steel, "Model-Based Clustering of Non-Gaussian Panel Data Based on Skew-t
    Distributions", JBES 28 (2010) 52, doi:10.1198/jbes.2009.07145 (the prior of ν).

    Examples
    --------
    >>> import numpy as np
    >>> import bayesaudit as ba
    >>> z = np.random.default_rng(1).standard_t(3, size=400)
    >>> member = np.repeat([0, 1], 200)
    >>> model = student(ba.AttackScores(score=z + member, member=member))
    >>> [variable.name for variable in model.free_RVs]
    ['sum_z', 'difference_z', 'variance', 'nu']
    """
    data = _data(scores, shifts, support, n_thresholds, transform)

    def sides() -> tuple[Any, Any, Any]:
        means, scale = _two_sides(separation)
        return means, scale, pm.Gamma("nu", 2.0, 0.1, dims="side")

    return _build("student", data, sides, shift_scale)


def _data(scores: Any, shifts: Any, support: Any, n_thresholds: Any, transform: Any) -> ScoreData:
    return score_data(
        scores, shifts=shifts, support=support, n_thresholds=n_thresholds, transform=transform
    )


def _positive(value: Any, name: str) -> float:
    number = check_number(value, name)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be finite and > 0, got {value!r}.")
    return number


def _two_sides(separation: float) -> tuple[Any, Any]:
    prior_scale = _positive(separation, "separation")
    # Sum and difference: a shift moves both means, which are then far from independent.
    total, difference = (pm.Normal(name, 0.0, prior_scale) for name in ("sum_z", "difference_z"))
    scale = pt.sqrt(pm.InverseGamma("variance", 0.5, 0.5, dims="side"))
    return scale * pt.stack([total - difference, total + difference]) / np.sqrt(2), scale


def _build(
    family: str,
    data: ScoreData,
    sides: Callable[[], tuple[Any, Any, Any]],
    shift_scale: float,
) -> pm.Model:
    shift_scale = _positive(shift_scale, "shift_scale")
    coords: dict[str, Any] = {"side": list(SIDES), "threshold": data.threshold}
    coords |= {name: data.labels[name] for name in data.shifts}
    with pm.Model(coords=coords) as model:
        means, scale, nu = sides()
        sds = {name: pm.HalfNormal(f"sd_{name}", sigma=shift_scale) for name in data.shifts}
        means = pm.Deterministic("location", means, dims="side")
        scale = pm.Deterministic("scale", scale, dims="side")
        if nu is None and has_statistics(data):
            observe_statistics(data, means, scale, sds.get("model"))
        else:
            observe_rows(data, means, scale, nu, sds)
        shared = sum(sd**2 for sd in sds.values())
        _rates(data, means, scale, nu, shared)
        if family == "location":
            total = pt.sqrt(scale[0] ** 2 + shared)
            pm.Deterministic("mu", (means[1] - means[0]) / total)
        for name, value in data.constants().items():
            pm.Data(name, value, dims="row" if np.ndim(value) else None)
    told = {"shifts": data.shifts, "support": data.support, "transform": data.transform}
    return record_origin(model, family, priors=told | {"shift_scale": shift_scale})


def _rates(data: ScoreData, means: Any, scale: Any, nu: Any, shared: Any) -> None:
    """Define the population rates, their complements and the thresholds they belong to."""
    at = data.latent_threshold[:, None]
    if nu is None:
        below, above = normal_tails((at - means) / pt.sqrt(scale**2 + shared))
    elif not data.shifts:
        below, above = student_tails((at - means) / scale, nu)
    else:
        node, weight = np.polynomial.hermite_e.hermegauss(NODES)
        shifted = at[..., None] - means[:, None] - pt.sqrt(shared) * node
        tails = student_tails(shifted / scale[:, None], nu[:, None])
        weight = weight / weight.sum()
        below, above = (pt.clip((tail * weight).sum(axis=-1), 0.0, 1.0) for tail in tails)
    pm.Deterministic("fnr", below[:, 1], dims="threshold")
    pm.Deterministic("tpr", above[:, 1], dims="threshold")
    pm.Deterministic("fpr", above[:, 0], dims="threshold")
    pm.Deterministic("tnr", below[:, 0], dims="threshold")


def score_containers(model: pm.Model, scores: AttackScores) -> dict[str, Any]:
    """Return other scores as values of a score model's containers, to fit without compiling.

    Parameters
    ----------
    model : pymc.Model
        A model of this module.
    scores : AttackScores
        As many rows as the model's own; where the model has the scores row by row (Student scores,
        or shifts of challenges), with the same columns beside the score.

    Returns
    -------
    dict
        For `bayesaudit.sampling.CompiledAudit.refit`, on the model's own latent scale, so that its
        thresholds stay what they are.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesaudit as ba
    >>> rng, member = np.random.default_rng(1), np.repeat([0, 1], 200)
    >>> one, other = (
    ...     ba.AttackScores(score=rng.normal(size=400) + member, member=member) for _ in range(2)
    ... )
    >>> sorted(score_containers(location(one), other))
    ['mean_member_observed', 'mean_non_member_observed', 'member', 'n_member', 'n_non_member', \
'score', 'spread_observed']
    """
    names = {variable.name for variable in model.data_vars}
    held = {name: model[name].get_value() for name in ("latent_center", "latent_scale", "logit")}
    data = score_data(
        scores,
        shifts=[name for name in SHIFTS if f"sd_{name}" in model.named_vars],
        support=1,
        n_thresholds=2,
        transform="logit" if held["logit"] else "identity",
        units=(float(held["latent_center"]), float(held["latent_scale"])),
    )
    units = ("latent_center", "latent_scale", "support", "logit")
    found = {name: value for name, value in data.constants().items() if name not in units}
    if "spread_observed" in names:
        for name, value in statistics(data).items():
            found[name if name.startswith("n_") else f"{name}_observed"] = value
        return found
    for value, side in enumerate(SIDES):
        found[f"score_{side}_observed"] = data.latent[data.member == value]
    return found

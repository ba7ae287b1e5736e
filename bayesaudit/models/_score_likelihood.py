"""Likelihoods of score models: by sufficient statistics where they exist, else row by row."""

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesaudit.score_laws import SIDES, ScoreData, statistics

__all__ = ["normal_tails", "observe_rows", "observe_statistics", "student_tails"]

#: Variance ratio from which shifts are plain to see.
PLAIN = 5.0


def observe_statistics(data: ScoreData, location: Any, scale: Any, sd_model: Any) -> None:
    """Observe the means and sums of squares, with the shifts of models integrated out.

    The two means of a model share its shift b ~ N(0, τ²), so that they have covariance τ²; within a
    model the sum of squares is σ² times a χ².
    """
    held = statistics(data)
    dims = "model" if "model" in data.shifts else None
    n = {side: pm.Data(f"n_{side}", held[f"n_{side}"], dims=dims) for side in SIDES}
    seen = {
        name: pm.Data(f"{name}_observed", held[name], dims="side" if name == "spread" else dims)
        for name in ("mean_non_member", "mean_member", "spread")
    }
    variance = scale**2
    shared = 0.0 if sd_model is None else sd_model**2
    first = pm.Normal(
        "mean_non_member",
        location[0],
        pt.sqrt(variance[0] / n["non_member"] + shared),
        observed=seen["mean_non_member"],
        dims=dims,
    )
    slope = shared / (variance[0] / n["non_member"] + shared)
    pm.Normal(
        "mean_member",
        location[1] + slope * (first - location[0]),
        pt.sqrt(variance[1] / n["member"] + shared * (1 - slope)),
        observed=seen["mean_member"],
        dims=dims,
    )
    models = data.labels["model"].size if dims else 1
    rows = pt.stack([n[side].sum() for side in SIDES])
    pm.Gamma(
        "spread", (rows - models) / 2, 1 / (2 * variance), observed=seen["spread"], dims="side"
    )


def observe_rows(data: ScoreData, location: Any, scale: Any, nu: Any, sds: dict[str, Any]) -> None:
    """Observe every score, with a latent shift for every model and challenge."""
    middle = (location[0] + location[1]) / 2
    shift = {name: _shift(data, name, sd, middle) for name, sd in sds.items()}
    for value, side in enumerate(SIDES):
        rows = data.member == value
        mean = location[value]
        for name, effect in shift.items():
            mean = mean + effect[data.codes[name][rows]]
        seen = pm.Data(f"score_{side}_observed", data.latent[rows], dims=f"{side}_row")
        arguments = {"sigma": scale[value], "observed": seen, "dims": f"{side}_row"}
        if nu is None:
            pm.Normal(f"score_{side}", mean, **arguments)
        else:
            pm.StudentT(f"score_{side}", nu=nu[value], mu=mean, **arguments)


def _shift(data: ScoreData, name: str, sd: Any, middle: Any) -> Any:
    """Create the shifts of a column: about `middle` where they are plain to see, else standardised.

    It is one model either way. Where the data fix the level of a label whatever the others are,
    NUTS samples levels well and standardised shifts badly; where shifts may be 0, the reverse.
    """
    if _variance_ratio(data, name) >= PLAIN:
        shift = pm.Normal(f"level_{name}", middle, sd, dims=name) - middle
    else:
        shift = sd * pm.Normal(f"shift_{name}_z", dims=name)
    return pm.Deterministic(f"shift_{name}", shift, dims=name)


def _variance_ratio(data: ScoreData, name: str) -> float:
    """Return the F statistic of a column: mean square between its labels over that within."""
    code, side = data.codes[name], data.member.astype(int)
    residual = data.latent - (np.bincount(side, data.latent) / np.bincount(side))[side]
    n = np.bincount(code)
    mean = np.bincount(code, residual) / n
    between = (n * mean**2).sum() / (n.size - 1)
    within = ((residual - mean[code]) ** 2).sum() / max(1, code.size - n.size)
    return float(between / within) if within > 0 else math.inf


def normal_tails(x: Any) -> tuple[Any, Any]:
    """Return Φ(x) and its complement."""
    return pt.erfc(-x / math.sqrt(2)) / 2, pt.erfc(x / math.sqrt(2)) / 2


def student_tails(x: Any, nu: Any) -> tuple[Any, Any]:
    """Return the CDF of Student's t and its complement."""
    smaller = pt.betainc(nu / 2, 0.5, nu / (nu + x**2)) / 2
    return pt.where(x < 0, smaller, 1 - smaller), pt.where(x < 0, 1 - smaller, smaller)

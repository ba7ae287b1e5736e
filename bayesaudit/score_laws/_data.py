"""Scores as a model takes them: one unit, labels as codes, and thresholds that the data can see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice, check_integers
from bayesaudit.scores import AttackScores

__all__ = [
    "SHIFTS",
    "SIDES",
    "ScoreData",
    "Transform",
    "has_statistics",
    "score_data",
    "statistics",
    "transformed",
]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Transform = Literal["identity", "logit"]
#: The order of the dim ``side``.
SIDES = ("non_member", "member")
SHIFTS = ("model", "challenge")


@dataclass(frozen=True, slots=True, eq=False)
class ScoreData:
    """Checked scores on the latent scale of a score model.

    Parameters
    ----------
    score : numpy.ndarray, shape (n,)
        The scores as given.
    latent : numpy.ndarray, shape (n,)
        ``(transform(score) - center) / scale``.
    member : numpy.ndarray of bool, shape (n,)
        The truth.
    codes : dict of str to numpy.ndarray of int, shape (n,)
        For each column that the scores have, "model" or "challenge", the position of a row's label.
    labels : dict of str to numpy.ndarray
        The sorted labels of those columns.
    shifts : tuple of str
        The columns with a random shift.
    threshold, latent_threshold : numpy.ndarray, shape (n_thresholds,)
        Rising thresholds inside the support, as scores and on the latent scale.
    center, scale : float
        Midpoint of the sides' means and their pooled standard deviation, of transformed scores.
    transform : str
        Monotone map that came first.
    support : int
        k: every threshold has k members and k non-members on either side.
    """

    score: Array
    latent: Array
    member: NDArray[np.bool_]
    codes: dict[str, Codes]
    labels: dict[str, NDArray]
    shifts: tuple[str, ...]
    threshold: Array
    latent_threshold: Array
    center: float
    scale: float
    transform: Transform
    support: int

    def constants(self) -> dict[str, Any]:
        """Return what a tree keeps of the data, for checks of fit and a curve's companions."""
        return {
            "score": self.score,
            "member": self.member.astype(np.int64),
            **{f"{name}_code": code for name, code in self.codes.items()},
            "latent_center": self.center,
            "latent_scale": self.scale,
            "support": self.support,
            "logit": int(self.transform == "logit"),
        }


def transformed(score: Array, transform: Transform) -> Array:
    """Return scores after a monotone map, to the precision of the scores."""
    if transform == "identity":
        return np.asarray(score, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(score) - np.log1p(-np.asarray(score, float))


def _restored(value: Array, transform: Transform) -> Array:
    return value if transform == "identity" else 1 / (1 + np.exp(-value))


def score_data(
    scores: AttackScores,
    *,
    shifts: Sequence[str] | None,
    support: int,
    n_thresholds: int,
    transform: Transform,
    units: tuple[float, float] | None = None,
) -> ScoreData:
    """Check scores and put them on the latent scale; see `bayesaudit.models.location`.

    `units` are the center and scale of the latent scale; by default these scores' own.
    """
    if not isinstance(scores, AttackScores):
        raise TypeError(f"scores must be AttackScores, got {type(scores).__name__}.")
    check_choice(transform, "transform", ("identity", "logit"))
    support = int(check_integers(support, "support", minimum=1))
    n_thresholds = int(check_integers(n_thresholds, "n_thresholds", minimum=2))
    _check_range(scores.score, transform)
    value = transformed(scores.score, transform)
    sides = [value[scores.member == side] for side in (False, True)]
    if min(side.size for side in sides) < 2 or any(np.ptp(side) == 0 for side in sides):
        raise ValueError("scores of either side must take two values at least, got one.")
    center, scale = _units(sides) if units is None else units
    low, high = _support(scores, support)
    ends = transformed(np.array([low, high]), transform)
    inner = np.linspace(*ends, n_thresholds)
    threshold = _restored(inner, transform)
    threshold[[0, -1]] = low, high
    codes, labels = {}, {}
    for name in SHIFTS:
        if (column := getattr(scores, name)) is not None:
            labels[name], codes[name] = np.unique(column, return_inverse=True)
    return ScoreData(
        score=scores.score,
        latent=(value - center) / scale,
        member=scores.member,
        codes=codes,
        labels=labels,
        shifts=_chosen_shifts(shifts, codes),
        threshold=threshold,
        latent_threshold=(inner - center) / scale,
        center=center,
        scale=scale,
        transform=transform,
        support=support,
    )


def _units(sides: list[Array]) -> tuple[float, float]:
    within = sum(((side - side.mean()) ** 2).sum() for side in sides)
    center = sum(side.mean() for side in sides) / 2
    return float(center), float(np.sqrt(within / (sum(side.size for side in sides) - 2)))


def _check_range(score: Array, transform: Transform) -> None:
    if transform == "logit" and not np.all((score > 0) & (score < 1)):
        bad = score[~((score > 0) & (score < 1))][0]
        raise ValueError(f"transform must be 'identity' for scores outside (0, 1), got {bad:g}.")
    if not np.isfinite(score).all():
        raise ValueError(
            f"a model of scores needs finite scores, got {score[~np.isfinite(score)][0]:g}."
        )


def _support(scores: AttackScores, support: int) -> tuple[float, float]:
    roc = scores.roc()
    beyond = np.minimum(roc.tp, roc.fp)
    before = np.minimum(roc.n_pos - roc.tp, roc.n_neg - roc.fp)
    seen = roc.threshold[(beyond >= support) & (before >= support)]
    if seen.size == 0 or seen[0] == seen[-1]:
        raise ValueError(
            f"scores must overlap: fewer than two thresholds have support={support} members and "
            f"{support} non-members on either side; with so clear a separation, counts at a "
            "threshold say as much and need no model of scores."
        )
    return float(seen[-1]), float(seen[0])


def _chosen_shifts(shifts: Sequence[str] | None, codes: dict[str, Codes]) -> tuple[str, ...]:
    """Return the columns that shift scores: those asked for, or every one that can tell a shift."""
    able = {name: code.max() > 0 and np.bincount(code).max() > 1 for name, code in codes.items()}
    if shifts is None:
        return tuple(name for name in SHIFTS if able.get(name, False))
    if isinstance(shifts, str):
        raise TypeError(f"shifts must be a sequence such as ('model',), got {shifts!r}.")
    for name in shifts:
        check_choice(name, "shifts", SHIFTS)
        if not able.get(name, False):
            raise ValueError(
                f"a shift by {name} needs two or more of a column {name!r}, some with several "
                "rows; these scores do not have them."
            )
    return tuple(name for name in SHIFTS if name in shifts)


def has_statistics(data: ScoreData) -> bool:
    """Whether means and sums of squares by side (and model) carry all that normal scores say."""
    if "challenge" in data.shifts:
        return False
    if "model" not in data.shifts:
        return True
    counts = [np.bincount(data.codes["model"], weights=data.member == side) for side in (0, 1)]
    return all(n.min() > 0 and n.sum() > n.size for n in counts)


def statistics(data: ScoreData) -> dict[str, Array]:
    """Return the sufficient statistics: ``n_<side>``, ``mean_<side>`` (by model) and ``spread``."""
    group = data.codes["model"] if "model" in data.shifts else np.zeros(data.member.size, int)
    found: dict[str, Any] = {"spread": []}
    for value, side in enumerate(SIDES):
        rows = data.member == value
        n = np.bincount(group[rows], minlength=group.max() + 1).astype(float)
        mean = np.bincount(group[rows], data.latent[rows], minlength=n.size) / n
        found["spread"].append(float(((data.latent[rows] - mean[group[rows]]) ** 2).sum()))
        if "model" not in data.shifts:
            n, mean = n[0], mean[0]
        found |= {f"n_{side}": n, f"mean_{side}": mean}
    return found | {"spread": np.array(found["spread"])}

"""What draws of a score model say at any threshold, of any row, and of new rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesaudit.score_laws._data import SHIFTS, transformed

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ScoreDraws", "rates_of"]

Array = NDArray[np.float64]
#: Nodes of the integral over normal shifts of Student scores.
NODES = 21
#: Family -> the variable that only it has.
FAMILIES = {"student": "nu", "location": "mu", "binormal": None}


def _tails(x: Array, nu: Array | None) -> tuple[Array, Array]:
    """Return the CDF of a standard normal or Student's t, and its complement."""
    if nu is None:
        return special.ndtr(x), special.ndtr(-x)
    return special.stdtr(nu, x), special.stdtr(nu, -x)


def _mixed(gap: Array, width: Array, nu: Array, deviation: Array) -> tuple[Array, Array]:
    """Return the CDF of Student's t plus a normal shift, and its complement; arrays broadcast."""
    node, weight = np.polynomial.hermite_e.hermegauss(NODES)
    width, nu, deviation = (np.asarray(x)[..., None] for x in (width, nu, deviation))
    parts = _tails((gap[..., None] - deviation * node) / width, nu)
    weight = weight / weight.sum()
    below, above = (np.clip(part @ weight, 0.0, 1.0) for part in parts)
    return below, above


def rates_of(
    latent: ArrayLike,
    location: Array,
    scale: Array,
    nu: Array | None = None,
    shared: ArrayLike = 0.0,
) -> dict[str, Array]:
    """Return the population error rates and their complements at thresholds on the latent scale.

    Parameters
    ----------
    latent : array_like, shape (n_thresholds,) or (draws, n_thresholds)
        Thresholds.
    location, scale, nu : numpy.ndarray, shape (draws, 2)
        Of non-members and members; `nu` for Student's t only.
    shared : array_like, shape (draws,)
        Sum of the variances of the shifts, which are integrated out.

    Returns
    -------
    dict of str to numpy.ndarray, shape (draws, n_thresholds)
        "fnr", "tpr", "fpr" and "tnr".

    Examples
    --------
    >>> location, scale = np.array([[-0.5, 0.5]]), np.ones((1, 2))
    >>> rates_of([0.0], location, scale)["fpr"].round(4)
    array([[0.3085]])
    """
    latent = np.asarray(latent, float)
    shared = np.asarray(shared, float)
    found = []
    for side in (0, 1):
        gap = latent - location[:, side, None]
        width = scale[:, side, None]
        if nu is None:
            found.append(_tails(gap / np.sqrt(width**2 + shared[..., None]), None))
        elif not shared.any():
            found.append(_tails(gap / width, nu[:, side, None]))
        else:
            found.append(_mixed(gap, width, nu[:, side, None], np.sqrt(shared)[:, None]))
    (tnr, fpr), (fnr, tpr) = found
    return {"fnr": fnr, "tpr": tpr, "fpr": fpr, "tnr": tnr}


@dataclass(frozen=True, slots=True, eq=False)
class ScoreDraws:
    """Draws of a score model's parameters, with the scores that they were fitted to.

    Parameters
    ----------
    location, scale : numpy.ndarray, shape (draws, 2)
        Of non-members and members, on the latent scale.
    nu : numpy.ndarray, shape (draws, 2), or None
        Degrees of freedom of Student's t; None for normal scores.
    sds : dict of str to numpy.ndarray, shape (draws,)
        Standard deviations of the shifts, by column.
    shifts : dict of str to numpy.ndarray, shape (draws, labels)
        The shifts themselves, where the model has them as latent variables.
    score, latent : numpy.ndarray, shape (n,)
        Scores as given, and on the latent scale.
    member : numpy.ndarray of bool, shape (n,)
        The truth.
    codes : dict of str to numpy.ndarray of int, shape (n,)
        Labels of the columns "model" and "challenge", where the scores have them.
    threshold : numpy.ndarray, shape (n_thresholds,)
        The thresholds inside the support, as scores.
    center, unit : float
        ``latent = (transform(score) - center) / unit``.
    transform : str
        The transform.
    support : int
        k members and k non-members on either side of every threshold.
    family : str
        "location", "binormal" or "student".
    """

    location: Array
    scale: Array
    nu: Array | None
    sds: dict[str, Array]
    shifts: dict[str, Array]
    score: Array
    latent: Array
    member: NDArray[np.bool_]
    codes: dict[str, NDArray[np.int64]]
    threshold: Array
    center: float
    unit: float
    transform: str
    support: int
    family: str

    @classmethod
    def of(cls, dt: "xr.DataTree", draws: int | None = None) -> "ScoreDraws":
        """Read a tree of a score model, evenly thinned to at most so many draws.

        Raises
        ------
        ValueError
            If the tree is none of a score model with its scores.
        """
        if not cls.held_by(dt):
            raise ValueError(
                "dt must hold draws of a score model (models.location, binormal or student) and "
                "its scores."
            )
        posterior, constant = dt["posterior"].dataset, dt["constant_data"].dataset
        total = posterior.sizes["chain"] * posterior.sizes["draw"]
        kept = np.arange(total)
        if draws is not None and draws < total:
            kept = np.linspace(0, total - 1, draws).astype(int)

        def read(name: str) -> Array:
            values = posterior[name].transpose("chain", "draw", ...).values
            return values.reshape(total, *values.shape[2:])[kept]

        center, unit = (float(constant[f"latent_{name}"]) for name in ("center", "scale"))
        score = constant["score"].values
        transform = "logit" if int(constant["logit"]) else "identity"
        families = [name for name, sign in FAMILIES.items() if sign is None or sign in posterior]
        return cls(
            location=read("location"),
            scale=read("scale"),
            nu=read("nu") if "nu" in posterior else None,
            sds={name: read(f"sd_{name}") for name in SHIFTS if f"sd_{name}" in posterior},
            shifts={name: read(f"shift_{name}") for name in SHIFTS if f"shift_{name}" in posterior},
            score=score,
            latent=(transformed(score, transform) - center) / unit,
            member=constant["member"].values.astype(bool),
            codes={
                name: constant[f"{name}_code"].values
                for name in SHIFTS
                if f"{name}_code" in constant
            },
            threshold=posterior["threshold"].values,
            center=center,
            unit=unit,
            transform=transform,
            support=int(constant["support"]),
            family=families[0],
        )

    @staticmethod
    def held_by(dt: "xr.DataTree") -> bool:
        """Whether a tree holds draws of a score model and the scores."""
        if not {"posterior", "constant_data"} <= set(dt.children):
            return False
        return {"location", "scale", "fnr", "fpr"} <= set(dt["posterior"].data_vars) and {
            "score",
            "member",
            "latent_center",
        } <= set(dt["constant_data"].data_vars)

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.location.shape[0]

    @property
    def mu(self) -> Array | None:
        """The μ of the location model's population curve, shape (draws,); None of others."""
        if self.family != "location":
            return None
        gap = self.location[:, 1] - self.location[:, 0]
        return gap / np.sqrt(self.scale[:, 0] ** 2 + self.shared)

    @property
    def shared(self) -> Array:
        """Sum of the variances of the shifts, shape (draws,)."""
        return sum((sd**2 for sd in self.sds.values()), np.zeros(self.n_draws))

    def latent_of(self, score: ArrayLike) -> Array:
        """Return scores on the latent scale."""
        return (transformed(np.asarray(score, float), self.transform) - self.center) / self.unit

    def rates(self, latent: ArrayLike) -> dict[str, Array]:
        """Return the population rates at thresholds on the latent scale (see `rates_of`)."""
        return rates_of(latent, self.location, self.scale, self.nu, self.shared)

    def threshold_at_fpr(self, fpr: ArrayLike) -> Array:
        """Return the latent thresholds at which the population FPR has given values.

        Parameters
        ----------
        fpr : array_like, shape (n,)
            Rates in (0, 1).

        Returns
        -------
        numpy.ndarray, shape (draws, n)
        """
        fpr = np.asarray(fpr, float)
        place, width = self.location[:, :1], self.scale[:, :1]
        shared = self.shared[:, None]
        if self.nu is None:
            return place - np.sqrt(width**2 + shared) * special.ndtri(fpr)
        nu, deviation = self.nu[:, :1], np.sqrt(shared)
        if not shared.any():
            return place - width * special.stdtrit(nu, fpr)
        from scipy.optimize.elementwise import find_root

        def gap(t: Array, place: Array, width: Array, nu: Array, sd: Array, rate: Array) -> Array:
            return _mixed(t - place, width, nu, sd)[1] - rate

        # Half of either tail to each of the two parts: the root lies between.
        ends = []
        for sign, half in ((-1, (1 - fpr) / 2), (1, fpr / 2)):
            reach = width * special.stdtrit(nu, half) + deviation * special.ndtri(half)
            ends.append(place - sign * reach)
        return find_root(gap, tuple(ends), args=(place, width, nu, deviation, fpr)).x

    # -- rows ------------------------------------------------------------------------------------

    def row_shifts(self, rng: np.random.Generator) -> Array:
        """Return a draw of every row's shift, shape (draws, n).

        Shifts of models that the likelihood integrated out are drawn given the parameters.
        """
        shift = np.zeros((self.n_draws, self.latent.size))
        for name in self.sds:
            values = self.shifts[name] if name in self.shifts else self._model_shifts(rng)
            shift += values[:, self.codes[name]]
        return shift

    def _model_shifts(self, rng: np.random.Generator) -> Array:
        code, side = self.codes["model"], self.member.astype(int)
        cells = np.bincount(2 * code + side, minlength=2 * (code.max() + 1)).reshape(-1, 2)
        totals = np.bincount(2 * code + side, self.latent, minlength=cells.size).reshape(-1, 2)
        precision = 1 / self.scale**2
        total = precision @ cells.T + 1 / self.sds["model"][:, None] ** 2
        pull = precision @ totals.T - (precision * self.location) @ cells.T
        return pull / total + rng.standard_normal(total.shape) / np.sqrt(total)

    def standardised(self, rng: np.random.Generator) -> Array:
        """Return every row's residual, given its shifts, in standard deviations: (draws, n)."""
        side = self.member.astype(int)
        return (self.latent - self.location[:, side] - self.row_shifts(rng)) / self.scale[:, side]

    def pit(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the CDF of every row at its score, given its shifts, and its complement.

        Under the model each is uniform, independently of the others.
        """
        nu = None if self.nu is None else self.nu[:, self.member.astype(int)]
        return _tails(self.standardised(rng), nu)

"""Which model of dependence: leave-one-model-out comparison, dispersion, and one plain sentence."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._result import Result, Table
from bayesaudit.counts import AttackCounts
from bayesaudit.dependence.dispersion import DispersionTest, dispersion_test
from bayesaudit.dependence.icc import ICC, icc
from bayesaudit.dependence.loo import loo_by_model
from bayesaudit.rates import ICCPrior, Prior, check_models

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Candidate", "ModelComparison", "compare"]

Array = NDArray[np.float64]

#: Dispersion p-value, and standard errors of the LOO difference, that reject independence.
SMALL_P, MANY_SE = 0.01, 2.0
#: Above this Pareto shape an importance-sampled LOO is not to be trusted.
GOOD_K = 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Candidate(Result):
    """One candidate's log predictive densities, a model left out at a time.

    Parameters
    ----------
    name : str
        The candidate's name.
    both : numpy.ndarray, shape (n_models,)
        Log predictive density of each model's counts of both sides.
    fnr, fpr : numpy.ndarray or None
        The same of one side, where the sides are independent.
    worst_k : float
        Largest Pareto shape; 0 where the computation is exact.
    """

    name: str
    both: Array
    fnr: Array | None
    fpr: Array | None
    worst_k: float

    _also = ("elpd", "reliable")

    @property
    def elpd(self) -> float:
        """Expected log predictive density, summed over models."""
        return float(self.both.sum())

    @property
    def reliable(self) -> bool:
        """Whether the LOO can be trusted."""
        return self.worst_k <= GOOD_K


@dataclass(frozen=True, slots=True, eq=False)
class ModelComparison(Table):
    """How well candidates predict a trained model that they have not seen.

    Parameters
    ----------
    candidates : tuple of Candidate
        In falling order of ELPD.
    dispersion : DispersionTest
        Posterior predictive check of the independent model.
    icc : ICC
        Moment estimate of the intra-model correlations.
    """

    candidates: tuple[Candidate, ...]
    dispersion: DispersionTest
    icc: ICC

    _rows = "table"
    _omit = ("icc", "dispersion")
    _also = (
        "candidates=table",
        "evidence_for_dependence=evidence",
        "dispersion_p=dispersion",
        "preferred",
        "sentence",
    )

    def __getitem__(self, name: str) -> Candidate:
        """Return a candidate by its name."""
        for candidate in self.candidates:
            if candidate.name == name:
                return candidate
        raise KeyError(name)

    @property
    def best(self) -> str:
        """Name of the candidate with the largest ELPD."""
        return self.candidates[0].name

    def difference(self, name: str, other: str, side: str = "both") -> tuple[float, float]:
        """Return the ELPD of one candidate less that of another, and its standard error.

        Parameters
        ----------
        name, other : str
            Candidates.
        side : {"both", "fnr", "fpr"}
            Which counts are predicted.
        """
        one, two = (getattr(self[which], side) for which in (name, other))
        if one is None or two is None:
            raise ValueError(f"side {side!r} is not separate in {name!r} or {other!r}.")
        gap = one - two
        return float(gap.sum()), float(np.sqrt(gap.size) * gap.std())

    @property
    def evidence(self) -> dict[str, dict[str, float]]:
        """ELPD of "beta-binomial" less that of "independent", with standard error, a side."""
        return {
            side: dict(
                zip(
                    ("difference", "se"),
                    self.difference("beta-binomial", "independent", side),
                    strict=True,
                )
            )
            for side in ("fnr", "fpr", "both")
        }

    @property
    def rejects_independence(self) -> bool:
        """Whether the dispersion p of both sides is < .01, or LOO prefers dependence by > 2 SE."""
        better = any(d["difference"] > MANY_SE * d["se"] for d in self.evidence.values())
        return bool(self.dispersion.p_value < SMALL_P or better)

    @property
    def preferred(self) -> str:
        """What the data prefer: "independent" unless they reject it."""
        if not self.rejects_independence:
            return "independent"
        dependent = [c.name for c in self.candidates if c.name != "independent" and c.reliable]
        return dependent[0]

    @property
    def sentence(self) -> str:
        """One plain sentence."""
        side = self.dispersion.side.upper()
        p = f"dispersion p = {self.dispersion.p_value:.2g}, the {side} side's"
        gap = self.evidence["both"]
        loo = f"{abs(gap['difference']):.1f} ± {gap['se']:.1f}"
        if self.rejects_independence:
            better = "beta-binomial" if gap["difference"] > 0 else "independent"
            return (
                f"Trials of one trained model are not independent ({p}; LOO by model prefers "
                f"{better} by {loo}): report the dependent interval."
            )
        uppers = [x for x in (self.icc.fnr.upper, self.icc.fpr.upper) if np.isfinite(x)]
        models = f"{self.icc.n_models} models"
        room = f"{models} that do not vary do not identify their correlation"
        if uppers:
            room = f"{models} leave room for correlations up to {max(*uppers, 0.0):.2g}"
        return (
            f"The data do not reject independence ({p}; ELPD difference {loo}), yet {room}: the "
            "dependent interval allows for that at little cost and stays the recommended one."
        )

    def __str__(self) -> str:
        return f"{self.sentence}\n{Table.__str__(self)}"

    def table(self) -> list[dict[str, Any]]:
        """Return one row a candidate: ELPD, difference to the best, its error, Pareto k."""
        rows = []
        for candidate in self.candidates:
            gap, se = self.difference(candidate.name, self.best)
            rows.append(
                {
                    "name": candidate.name,
                    "elpd": candidate.elpd,
                    "difference": gap,
                    "se_difference": se,
                    "worst_k": candidate.worst_k,
                    "reliable": candidate.reliable,
                }
            )
        return rows

    def arviz(self) -> "pd.DataFrame":
        """Return ``arviz.compare`` of the candidates, with stacking weights."""
        import arviz as az
        import xarray as xr

        found = {}
        for c in self.candidates:
            size = c.both.size
            labels = {"model": np.arange(size)}
            found[c.name] = _elpd_data()(
                elpd=c.elpd,
                se=float(np.sqrt(size) * c.both.std()),
                p=float("nan"),
                n_samples=1,
                n_data_points=size,
                scale="log",
                warning=not c.reliable,
                good_k=GOOD_K,
                elpd_i=xr.DataArray(c.both, dims="model", coords=labels),
                pareto_k=xr.DataArray(np.full(size, c.worst_k), dims="model", coords=labels),
            )
        return az.compare(found)


def compare(
    counts: AttackCounts,
    models: "Mapping[str, xr.DataTree] | None" = None,
    *,
    prior: Prior = "jeffreys",
    icc_prior: ICCPrior = "default",
    random_seed: int = 0,
) -> ModelComparison:
    """Compare models of dependence by how they predict a trained model left out.

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model, two models at least.
    models : mapping of str to xarray.DataTree, optional
        Sampled candidates (see `bayesaudit.sample`) beside "independent" and "beta-binomial", which
        are always there and exact. They need ``log_marginal`` in the posterior, or a
        ``log_likelihood`` group, with the dim ``model``.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Prior of the rates in the two exact candidates.
    icc_prior : {"default", "uniform"} or tuple or float or dict
        Prior of the intra-model correlation in "beta-binomial".
    random_seed : int
        Seed of the dispersion check.

    Returns
    -------
    ModelComparison

    Raises
    ------
    ValueError
        If there is one model only, or a candidate has no log likelihood by model.

    Notes
    -----
    A candidate with effects per model must integrate them out (``log_marginal``): the likelihood
    given a model's own effect says nothing about a model not seen, and importance sampling
    then fails (a Pareto shape above 0.7).

    References
    ----------
    Vehtari, Gelman and Gabry, "Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC", Statistics and Computing 2017, arXiv:1507.04544. Merkle, Furr and
    Rabe-Hesketh, "Bayesian comparison of latent variable models: conditional versus marginal
    likelihoods", Psychometrika 2019, arXiv:1802.04452.

    Examples
    --------
    >>> counts = AttackCounts(
    ...     fn=[19, 28, 22, 12, 25, 7], tp=[31, 22, 28, 38, 25, 43],
    ...     fp=[17, 4, 6, 2, 4, 8], tn=[33, 46, 44, 48, 46, 42],
    ... )
    >>> found = compare(counts)
    >>> found.preferred
    'beta-binomial'
    """
    counts = check_models(counts)
    if len(counts.shape) != 1 or counts.shape[0] < 2:
        raise ValueError(
            f"counts must be one audit of at least two models, got shape {counts.shape}: with one, "
            "the intra-model correlation is not identified."
        )
    found = []
    for name in ("independent", "beta-binomial"):
        loo = loo_by_model(counts, name, prior=prior, icc_prior=icc_prior)
        found.append(Candidate(name, loo["fnr"] + loo["fpr"], loo["fnr"], loo["fpr"], 0.0))
    for name, dt in (models or {}).items():
        if name in ("independent", "beta-binomial"):
            raise ValueError(f"the name {name!r} is taken by the exact candidate.")
        found.append(_sampled(name, dt, counts.shape[0]))
    found.sort(key=lambda candidate: -candidate.elpd)
    return ModelComparison(
        candidates=tuple(found),
        dispersion=dispersion_test(counts, prior=prior, random_seed=random_seed),
        icc=icc(counts),
    )


def _sampled(name: str, dt: "xr.DataTree", n_models: int) -> Candidate:
    """LOO by model from draws, by Pareto-smoothed importance sampling."""
    import arviz as az
    import xarray as xr

    posterior = dt["posterior"].dataset
    sides: dict[str, Any] = {}
    if "log_marginal" in posterior:
        sides["both"] = posterior["log_marginal"]
    elif "log_likelihood" in dt:
        parts = {key: part for key, part in dt["log_likelihood"].dataset.items() if part.ndim > 2}
        if any(part.dims[2:] != ("model",) for part in parts.values()):
            parts = {}
        if parts:
            sides["both"] = sum(parts.values())
        if set(parts) == {"fn", "fp"}:
            sides |= {"fnr": parts["fn"], "fpr": parts["fp"]}
    if not sides or sides["both"].sizes.get("model") != n_models:
        raise ValueError(
            f"candidate {name!r} must have log_marginal, or a log_likelihood group, with the dim "
            f"model of size {n_models}."
        )
    results = {}
    for side, values in sides.items():
        tree = xr.DataTree.from_dict(
            {
                "posterior": posterior[["fnr", "fpr"]],
                "log_likelihood": xr.Dataset({"by_model": values}),
            }
        )
        with warnings.catch_warnings():
            # The worst Pareto shape is in the result.
            warnings.filterwarnings("ignore", message="Estimated shape parameter")
            results[side] = az.loo(tree, var_name="by_model", pointwise=True)
    return Candidate(
        name=name,
        both=np.asarray(results["both"].elpd_i.values, float),
        fnr=np.asarray(results["fnr"].elpd_i.values, float) if "fnr" in results else None,
        fpr=np.asarray(results["fpr"].elpd_i.values, float) if "fpr" in results else None,
        worst_k=float(results["both"].pareto_k.max()),
    )


def _elpd_data() -> Any:
    from arviz_stats import ELPDData

    return ELPDData

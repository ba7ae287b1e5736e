"""Which model of dependence: leave-one-model-out comparison, dispersion, and one plain sentence."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit._observed import observed_mismatch
from bayesaudit._result import Result, Table
from bayesaudit.counts import CELLS, AttackCounts
from bayesaudit.dependence.dispersion import DispersionTest, dispersion_test
from bayesaudit.dependence.icc import ICC, icc
from bayesaudit.dependence.loo import loo_by_model
from bayesaudit.posteriors._measured import as_tree
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
EXACT = ("independent", "beta-binomial")


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
        In falling order of ELPD, those whose LOO cannot be trusted last.
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
        """Name of the candidate with the largest ELPD, among those that can be trusted."""
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
        """One plain sentence, and one on the sampled candidates if there are any."""
        return " ".join([self._on_independence, *map(self._on_candidate, self._sampled)])

    @property
    def _sampled(self) -> list[Candidate]:
        return [c for c in self.candidates if c.name not in EXACT]

    def _on_candidate(self, candidate: Candidate) -> str:
        name = candidate.name
        if not candidate.reliable:
            return (
                f"The LOO of {name} is not to be trusted (Pareto k {candidate.worst_k:.2g}), so "
                "that it is left out of the comparison."
            )
        gap, se = self.difference(name, "beta-binomial")
        text = f"{abs(gap):.1f} ± {se:.1f} {'better' if gap > 0 else 'worse'} than beta-binomial"
        if abs(gap) <= MANY_SE * se:
            text += ", which is no difference"
        return f"By LOO {name} predicts a model left out {text}."

    @property
    def _on_independence(self) -> str:
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
        """Return one row a candidate: ELPD, difference to the best, its error, Pareto k.

        Those whose LOO cannot be trusted come last, and none of them is the best.
        """
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
        """Return ``arviz.compare`` with stacking weights, of the candidates that can be trusted."""
        import arviz as az
        import xarray as xr

        found = {}
        for c in (c for c in self.candidates if c.reliable):
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
    models: Mapping[str, Any] | None = None,
    *,
    prior: Prior = "jeffreys",
    icc_prior: ICCPrior = "default",
    random_seed: int = 0,
) -> ModelComparison:
    """Compare models of dependence by how they predict a trained model left out.

    Parameters
    ----------
    counts : AttackCounts, shape (..., n_models)
        One tally a trained model, two models at least. Leading axes (groups, attacks) have rates
        of their own in the two exact candidates; a model is left out with all its groups.
    models : mapping of str to xarray.DataTree, optional
        Sampled candidates (see `bayesaudit.sample`) beside "independent" and "beta-binomial", which
        are always there and exact. They need ``log_marginal`` in the posterior, or a
        ``log_likelihood`` group, with the dim ``model``; other dims are summed over.
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
        If there is one model only, or a candidate has no log likelihood by model, or its
        ``observed_data`` are not these counts.

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
    if counts.shape[-1] < 2:
        raise ValueError(
            f"counts must be one audit of at least two models, got shape {counts.shape}: with one, "
            "the intra-model correlation is not identified."
        )
    groups = [counts[group] for group in np.ndindex(counts.shape[:-1])]
    models_only = AttackCounts(
        **{cell: sum(getattr(group, cell) for group in groups) for cell in CELLS}
    )
    found = []
    for name in EXACT:
        parts = [loo_by_model(one, name, prior=prior, icc_prior=icc_prior) for one in groups]
        loo = {side: sum(part[side] for part in parts) for side in ("fnr", "fpr")}
        found.append(Candidate(name, loo["fnr"] + loo["fpr"], loo["fnr"], loo["fpr"], 0.0))
    for name, dt in (models or {}).items():
        if name in EXACT:
            raise ValueError(f"the name {name!r} is taken by the exact candidate.")
        found.append(_of_draws(name, dt, counts))
    found.sort(key=lambda candidate: (not candidate.reliable, -candidate.elpd))
    return ModelComparison(
        candidates=tuple(found),
        dispersion=dispersion_test(models_only, prior=prior, random_seed=random_seed),
        icc=icc(models_only),
    )


def _of_draws(name: str, dt: Any, counts: AttackCounts) -> Candidate:
    """LOO by model from draws, by Pareto-smoothed importance sampling."""
    tree = as_tree(dt)
    if tree is None:
        raise TypeError(f"candidate {name!r} must be draws, got {type(dt).__name__}.")
    if "observed_data" in tree.children:
        data = {key: part.values for key, part in tree["observed_data"].dataset.items()}
        other = observed_mismatch(data, counts)
        if other:
            raise ValueError(f"candidate {name!r} saw other data: {other}.")
    posterior = tree["posterior"].dataset
    sides: dict[str, Any] = {}
    if "log_marginal" in posterior:
        sides["both"] = _by_model(posterior["log_marginal"], counts.shape[-1])
    elif "log_likelihood" in tree.children:
        all_parts = tree["log_likelihood"].dataset.items()
        parts = {key: _by_model(part, counts.shape[-1]) for key, part in all_parts}
        if parts and all(part is not None for part in parts.values()):
            sides["both"] = sum(parts.values())
            if set(parts) == {"fn", "fp"}:
                sides |= {"fnr": parts["fn"], "fpr": parts["fp"]}
    if sides.get("both") is None:
        raise ValueError(
            f"candidate {name!r} must have log_marginal, or a log_likelihood group, with the dim "
            f"model of size {counts.shape[-1]}."
        )
    results = {side: _loo(posterior[["fnr", "fpr"]], values) for side, values in sides.items()}
    return Candidate(
        name=name,
        both=results["both"][0],
        fnr=results["fnr"][0] if "fnr" in results else None,
        fpr=results["fpr"][0] if "fpr" in results else None,
        worst_k=results["both"][1],
    )


def _by_model(values: "xr.DataArray", n_models: int) -> "xr.DataArray | None":
    """Return log densities by model, summed over other dims; None where there are none."""
    dims = [str(dim) for dim in values.dims if dim not in ("chain", "draw")]
    if "model" not in dims and len(dims) == 1 and dims[0] == f"{values.name}_dim_0":
        # A dim that nobody named.
        values, dims = values.rename({dims[0]: "model"}).reset_coords(drop=True), ["model"]
    if "model" not in dims or values.sizes["model"] != n_models:
        return None
    values = values.sum([dim for dim in dims if dim != "model"])
    return values.drop_vars("model", errors="ignore").transpose("chain", "draw", "model")


def _loo(rates: "xr.Dataset", values: "xr.DataArray") -> tuple[Array, float]:
    """Return the log predictive density of each model, and the worst Pareto shape."""
    import arviz as az
    import xarray as xr

    tree = xr.DataTree.from_dict(
        {"posterior": rates, "log_likelihood": xr.Dataset({"by_model": values})}
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # The worst Pareto shape is in the result.
        warnings.simplefilter("ignore")
        try:
            found = az.loo(tree, var_name="by_model", pointwise=True)
            density = np.asarray(found.elpd_i.values, float)
            worst = float(found.pareto_k.max())
        except ValueError:
            density = np.array([np.nan])
        if np.isnan(density).any():
            # Draws too few, or of too few values, for a tail to be fitted: plain weights, unproven.
            flat = values.values.reshape(-1, values.sizes["model"])
            density = np.log(flat.shape[0]) - special.logsumexp(-flat, axis=0)
            worst = np.inf
    return density, worst if np.isfinite(worst) else np.inf


def _elpd_data() -> Any:
    from arviz_stats import ELPDData

    return ELPDData

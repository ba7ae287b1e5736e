"""From counts or a model to a tree of draws, and compiled models that are fitted again."""

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesaudit._checks import check_choice
from bayesaudit.counts import AttackCounts, warn_if_empty
from bayesaudit.rates import check_prior
from bayesaudit.sampling._conjugate import closed_form_groups, conjugate_posterior
from bayesaudit.sampling._settings import PRIOR_DRAWS, Settings
from bayesaudit.sampling._trees import build_tree, dataset

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = ["GROUPS", "CompiledAudit", "compile_model", "sample"]

#: Compiled independent models by form, so that another tally of the same form costs a tenth of a
#: second: compiling takes seconds and does not depend on the counts.
_COMPILED: dict[tuple, Any] = {}
KEPT = 4

Method = Literal["conjugate", "nuts"]
Sampler = Literal["nutpie", "pymc"]

#: The groups beside the posterior, its statistics and the data.
GROUPS = ("posterior_predictive", "prior", "log_likelihood", "log_prior")


def sample(
    data: "AttackCounts | pm.Model",
    *,
    prior: Any = "jeffreys",
    method: Method | None = None,
    draws: int = 2000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.9,
    random_seed: int | None = None,
    sampler: Sampler = "nutpie",
    cores: int | None = None,
    groups: Sequence[str] = GROUPS,
    progress: bool | None = None,
) -> "xr.DataTree":
    """Draw from the posterior of the error rates.

    Parameters
    ----------
    data : AttackCounts or pymc.Model
        Counts, one tally or a one-dimensional array of them, for the independent model; or any
        model that defines the population rates ``fnr`` and ``fpr`` (see `bayesaudit.models`).
    prior : str, tuple, RatePrior, callable or dict
        Prior of the rates, for counts (see `bayesaudit.models.rate_priors`).
    method : {"conjugate", "nuts"}, optional
        "conjugate", the default for counts under a Beta prior, draws the Beta posteriors directly,
        each rate together with its complement. "nuts" is the only one for every other model.
    draws, tune, chains : int
        Draws kept and tuning draws of every chain, and the number of chains.
    target_accept : float
        Acceptance rate that NUTS adapts to, in (0, 1).
    random_seed : int, optional
        Seed, >= 0. Without one, a fresh seed is made; either way it is in the tree's attributes.
    sampler : {"nutpie", "pymc"}
        Who runs NUTS.
    cores : int, optional
        Chains at a time. By default all that the machine has under nutpie, which uses threads, and
        1 under PyMC, which would start processes (unsafe in a script without a main guard).
    groups : sequence of str
        What to add to the posterior: any of "posterior_predictive", "prior", "log_likelihood",
        "log_prior".
    progress : bool, optional
        Whether to report progress on standard error; by default if that is a terminal.

    Returns
    -------
    xarray.DataTree
        With the groups posterior, sample_stats, observed_data, constant_data and those asked for.
        Attributes at the root name versions, seed, model, prior, method and settings.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range, or the model lacks ``fnr`` or ``fpr``.

    Notes
    -----
    Models are compiled with ``numba__fastmath=False``: with PyTensor's default, one seed gives
    other draws on a cold compile cache than on a warm one.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> dt = ba.sample(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), random_seed=1)
    >>> dict(dt["posterior"].sizes), dt.attrs["method"]
    ({'chain': 4, 'draw': 2000}, 'conjugate')
    """
    settings = Settings(draws, tune, chains, target_accept, random_seed, sampler, cores, progress)
    wanted = tuple(check_choice(name, "groups", GROUPS) for name in groups)
    if method is not None:
        check_choice(method, "method", ("conjugate", "nuts"))
    if not isinstance(data, AttackCounts):
        if method == "conjugate":
            raise ValueError("method='conjugate' needs counts, got a model; use method='nuts'.")
        _require_model(data)
        return compile_model(data, sampler=sampler).sample(settings=settings, groups=wanted)
    warn_if_empty(data)
    if len(data.shape) > 1:
        raise ValueError(
            f"counts must be one tally or a one-dimensional array of them, got {data.shape}."
        )
    shapes = _beta_shapes(prior)
    if shapes is None and method == "conjugate":
        raise ValueError(f"method='conjugate' needs a Beta prior, got {prior!r}; use 'nuts'.")
    root = {"model": "independent", "prior": _prior_text(prior, shapes), "counts": data.to_dict()}
    if shapes is None:
        from bayesaudit.models import independent

        compiled = compile_model(independent(data, prior), sampler=sampler)
        return compiled.sample(settings=settings, groups=wanted, **root)
    if method == "nuts":
        compiled = _compiled_independent(data, shapes, sampler)
        built = compiled.fit(settings, _containers(data))
        attrs = compiled.attrs(settings, **root)
    else:
        posterior = conjugate_posterior(
            data, shapes, chains=chains, draws=draws, seed=settings.stream(0)
        )
        built = {"posterior": posterior, "sample_stats": _no_statistics(posterior)}
        attrs = settings.attrs(method="conjugate", **root)
    built |= closed_form_groups(
        built["posterior"],
        data,
        shapes,
        wanted,
        seed=settings.stream(1),
        # Unrelated tallies share a prior: a thousand of them need not hold it in full each.
        prior_draws=min(PRIOR_DRAWS, max(250, 100_000 // max(1, np.size(data.fn)))),
    )
    return build_tree(built, attrs)


def _beta_shapes(prior: Any) -> dict[str, tuple[float, float]] | None:
    """Return the Beta shapes, or None where a prior is an object or a callable."""
    values = prior.values() if isinstance(prior, dict) else (prior,)
    if any(callable(value) or hasattr(value, "create_variable") for value in values):
        return None
    return check_prior(prior)


def _prior_text(prior: Any, shapes: dict[str, tuple[float, float]] | None) -> Any:
    return repr(prior) if shapes is None else {name: list(pair) for name, pair in shapes.items()}


def _no_statistics(posterior: "xr.Dataset") -> "xr.Dataset":
    """Statistics of direct draws: none but the fact that no transition can diverge."""
    shape = tuple(posterior.sizes[name] for name in ("chain", "draw"))
    return dataset({"diverging": np.zeros(shape, bool)})


def _require_model(model: Any) -> None:
    import pymc as pm

    from bayesaudit.models.contract import check_structure

    if not isinstance(model, pm.Model):
        raise TypeError(f"data must be AttackCounts or a pm.Model, got {type(model).__name__}.")
    check_structure(model)


# -- NUTS ----------------------------------------------------------------------------------------


def compile_model(model: "pm.Model", *, sampler: Sampler = "nutpie") -> "CompiledAudit":
    """Compile a model once, to fit it to many data sets.

    Parameters
    ----------
    model : pymc.Model
        A model that defines ``fnr`` and ``fpr``.
    sampler : {"nutpie", "pymc"}
        Who runs NUTS; PyMC's own sampler compiles at every fit.

    Returns
    -------
    CompiledAudit
    """
    _require_model(model)
    check_choice(sampler, "sampler", ("nutpie", "pymc"))
    if sampler == "pymc":
        return CompiledAudit(model, None)
    import nutpie

    with _exact_arithmetic():
        return CompiledAudit(model, nutpie.compile_pymc_model(model))


@contextlib.contextmanager
def _exact_arithmetic() -> Iterator[None]:
    import pytensor

    with pytensor.config.change_flags(numba__fastmath=False):
        yield


@dataclass(frozen=True)
class CompiledAudit:
    """A compiled model; see `compile_model`."""

    model: "pm.Model"
    compiled: Any

    def refit(
        self,
        data: "AttackCounts | Mapping[str, Any] | None" = None,
        *,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        target_accept: float = 0.9,
        random_seed: int | None = None,
        cores: int | None = None,
    ) -> "xr.DataTree":
        """Fit the model to new data without compiling again.

        Parameters
        ----------
        data : AttackCounts or mapping, optional
            Counts of the shape that the independent model was built for, or values of the model's
            ``pm.Data`` containers; by default the model's own data.
        draws, tune, chains, target_accept, random_seed, cores
            As in `sample`.

        Returns
        -------
        xarray.DataTree
            With posterior, sample_stats and constant_data only: the statistics of a simulation
            study rarely need more.
        """
        if self.compiled is None:
            raise ValueError("refit needs sampler='nutpie', got 'pymc'.")
        settings = Settings(draws, tune, chains, target_accept, random_seed, "nutpie", cores, False)
        root = {"counts": data.to_dict()} if isinstance(data, AttackCounts) else {}
        values = _containers(data) if isinstance(data, AttackCounts) else data
        built = self.fit(settings, values)
        if values:
            import xarray as xr

            dims = self.model.named_vars_to_dims
            built["constant_data"] = xr.Dataset(
                {name: (dims.get(name) or (), np.asarray(value)) for name, value in values.items()}
            )
        return build_tree(built, self.attrs(settings, **root))

    def sample(self, *, settings: Settings, groups: tuple[str, ...], **root: Any) -> "xr.DataTree":
        """Fit the model to its own data and add the other groups; `bayesaudit.sample` calls it."""
        from bayesaudit.sampling._model_groups import model_data, model_groups

        built = self.fit(settings)
        with _exact_arithmetic():
            built |= model_data(self.model)
            built |= model_groups(self.model, built, groups, settings)
        return build_tree(built, self.attrs(settings, **root))

    def fit(
        self, settings: Settings, values: Mapping[str, Any] | None = None
    ) -> dict[str, "xr.Dataset"]:
        """Return posterior and sample_stats, of other data where `values` of containers are given.

        PyMC's own sampler takes the model's data only.
        """
        if self.compiled is None:
            with _exact_arithmetic():
                return _run_pymc(self.model, settings)
        compiled = self.compiled.with_data(**values) if values else self.compiled
        return _run_nutpie(compiled, settings)

    def attrs(self, settings: Settings, **root: Any) -> dict[str, Any]:
        """Return what the root of a tree says of a fit."""
        root.setdefault("model", self.model.name or "user model")
        return settings.attrs(
            method="nuts",
            sampler="pymc" if self.compiled is None else "nutpie",
            tune=settings.tune,
            target_accept=settings.target_accept,
            **root,
        )


def _containers(counts: AttackCounts) -> dict[str, Any]:
    """Return values of the independent model's data containers."""
    return {
        "n_pos": counts.n_pos,
        "n_neg": counts.n_neg,
        "fn_counted": counts.fn,
        "fp_counted": counts.fp,
    }


def _compiled_independent(
    counts: AttackCounts, shapes: dict[str, tuple[float, float]], sampler: str
) -> CompiledAudit:
    """Return the independent model, compiled unless one of the same form was before."""
    from bayesaudit.models import independent

    model = independent(counts, shapes)
    if sampler == "pymc":
        return CompiledAudit(model, None)
    key = (counts.shape, *shapes["fnr"], *shapes["fpr"])
    if key not in _COMPILED:
        if len(_COMPILED) >= KEPT:
            _COMPILED.pop(next(iter(_COMPILED)))
        _COMPILED[key] = compile_model(model).compiled
    return CompiledAudit(model, _COMPILED[key])


def _run_nutpie(compiled: Any, settings: Settings) -> dict[str, "xr.Dataset"]:
    import os

    import nutpie

    show = _Progress(settings.chains) if settings.progress else None
    tree = nutpie.sample(
        compiled,
        draws=settings.draws,
        tune=settings.tune,
        chains=settings.chains,
        cores=settings.cores or min(settings.chains, os.cpu_count() or 1),
        seed=settings.integer(0),
        target_accept=settings.target_accept,
        save_warmup=False,
        progress_bar=False,
        progress_callback=show,
    )
    if show is not None:
        show.close()
    return {name: tree[name].to_dataset() for name in ("posterior", "sample_stats")}


class _Progress:
    """Progress of nutpie on standard error: its own bar writes to standard output."""

    def __init__(self, chains: int) -> None:
        self.chains = chains
        self.shown = False

    def __call__(self, chains: Any) -> None:
        done = sum(chain.finished_draws for chain in chains)
        total = sum(chain.total_draws for chain in chains)
        diverged = sum(chain.divergences for chain in chains)
        self.shown = True
        sys.stderr.write(f"\rsampling: {done}/{total} draws, {diverged} divergences")
        sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\n")


def _run_pymc(model: "pm.Model", settings: Settings) -> dict[str, "xr.Dataset"]:
    import pymc as pm

    from bayesaudit.sampling._model_groups import quiet_pymc

    with quiet_pymc(not settings.progress):
        tree = pm.sample(
            model=model,
            nuts_sampler="pymc",
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            cores=settings.cores or 1,
            random_seed=settings.integer(0),
            target_accept=settings.target_accept,
            progressbar=settings.progress,
            quiet=not settings.progress,
            compute_convergence_checks=False,
        )
    return {name: tree[name].to_dataset() for name in ("posterior", "sample_stats")}

"""From counts or a model to a tree of draws."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesaudit._checks import check_choice
from bayesaudit.counts import AttackCounts, warn_if_empty
from bayesaudit.rates import check_prior
from bayesaudit.sampling._compiled import CompiledAudit, Sampler, compile_model
from bayesaudit.sampling._conjugate import closed_form_groups, conjugate_posterior
from bayesaudit.sampling._settings import PRIOR_DRAWS, Settings
from bayesaudit.sampling._trees import build_tree, dataset

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = ["GROUPS", "sample"]

Method = Literal["conjugate", "nuts"]

#: The groups beside the posterior, its statistics and the data.
GROUPS = ("posterior_predictive", "prior", "log_likelihood", "log_prior")


def sample(
    data: "AttackCounts | pm.Model",
    *,
    counts: AttackCounts | None = None,
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
    counts : AttackCounts, optional
        What a model was built from, unless `data` are counts themselves: they are kept in the tree,
        and must be the model's data of the names fn, tp, fp and tn.
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
        If an argument is out of range, the model lacks ``fnr`` or ``fpr``, or it saw other counts.

    Notes
    -----
    A group that cannot be had is left out, and the tree's attribute ``skipped_groups`` says why:
    predictions of a ``pm.CustomDist`` without ``random``; the prior of a model with a
    ``pm.Potential``, which draws of the prior and ``log_prior`` do not hold.

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
        compiled = compile_model(data, sampler=sampler)
        if counts is not None:
            from bayesaudit.models import check_counts

            check_counts(data, counts)
            compiled = compiled.of_counts(counts)
        return compiled.sample(settings=settings, groups=wanted)
    if counts is not None:
        raise TypeError("counts go with a model, got counts as data too.")
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
        built = compiled.fit(settings)
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


def _compiled_independent(
    counts: AttackCounts, shapes: dict[str, tuple[float, float]], sampler: Sampler
) -> CompiledAudit:
    """Return the independent model, compiled unless one of the same form was before."""
    from bayesaudit.models import independent

    return compile_model(independent(counts, shapes), sampler=sampler)

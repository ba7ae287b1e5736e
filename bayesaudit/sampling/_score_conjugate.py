"""Direct draws of the score models whose priors are conjugate, as a tree."""

from typing import TYPE_CHECKING

import numpy as np

from bayesaudit._checks import check_integers
from bayesaudit.sampling._trees import build_tree, dataset, provenance
from bayesaudit.score_laws import (
    SIDES,
    ConjugateFamily,
    ScoreData,
    Transform,
    conjugate_draws,
    rates_of,
    score_data,
    statistics,
)
from bayesaudit.scores import AttackScores

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["conjugate_scores"]


def conjugate_scores(
    scores: AttackScores,
    family: ConjugateFamily,
    *,
    draws: int = 2000,
    chains: int = 4,
    random_seed: int = 0,
    support: int = 5,
    n_thresholds: int = 41,
    transform: Transform = "identity",
    separation: float = 5.0,
) -> "xr.DataTree":
    """Draw directly from the posterior of `models.location` or `models.binormal` without shifts.

    Parameters
    ----------
    scores : AttackScores
        Scores, whose rows count as independent whatever models they come from.
    family : {"location", "binormal"}
        The model.
    draws, chains : int
        Draws of every chain; all are independent.
    random_seed : int
        Seed, >= 0.
    support, n_thresholds, transform, separation
        As in `bayesaudit.models.location`.

    Returns
    -------
    xarray.DataTree
        With posterior and constant_data as `bayesaudit.sample` of the model gives them, so that
        `posterior`, `tradeoff_posterior` and `diagnose` serve.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> z = np.random.default_rng(1).normal(size=400)
    >>> member = np.repeat([0, 1], 200)
    >>> dt = conjugate_scores(ba.AttackScores(score=z + member, member=member), "location")
    >>> dt["posterior"]["fnr"].dims, dt.attrs["method"]
    (('chain', 'draw', 'threshold'), 'conjugate')
    """
    draws, chains = (
        int(check_integers(value, name, minimum=1))
        for value, name in ((draws, "draws"), (chains, "chains"))
    )
    seed = int(check_integers(random_seed, "random_seed"))
    data = score_data(
        scores, shifts=(), support=support, n_thresholds=n_thresholds, transform=transform
    )
    held = statistics(data)
    n, mean = ([float(held[f"{name}_{side}"]) for side in SIDES] for name in ("n", "mean"))
    location, scale = conjugate_draws(
        family,
        n,
        mean,
        held["spread"],
        draws=chains * draws,
        rng=np.random.default_rng(seed),
        separation=separation,
    )
    rates = rates_of(data.latent_threshold, location, scale)
    shape = (chains, draws)
    posterior = dataset(
        {name: value.reshape(*shape, -1) for name, value in rates.items()},
        dims=("threshold",),
        coords={"threshold": data.threshold},
    )
    pairs = {"location": location, "scale": scale}
    posterior = posterior.merge(
        dataset(
            {name: value.reshape(*shape, 2) for name, value in pairs.items()},
            dims=("side",),
            coords={"side": list(SIDES)},
        )
    )
    if family == "location":
        mu = (location[:, 1] - location[:, 0]) / scale[:, 0]
        posterior["mu"] = ("chain", "draw"), mu.reshape(shape)
    groups = {"posterior": posterior, "constant_data": _constants(data)}
    attrs = provenance(
        random_seed=str(seed), draws=draws, chains=chains, method="conjugate", model=family
    )
    return build_tree(groups, attrs)


def _constants(data: ScoreData) -> "xr.Dataset":
    rows = {name: value for name, value in data.constants().items() if np.ndim(value)}
    scalars = {name: value for name, value in data.constants().items() if not np.ndim(value)}
    found = dataset(rows, dims=("row",), sampled=False)
    return found.merge(dataset(scalars, sampled=False))

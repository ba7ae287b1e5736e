"""Direct draws of the conjugate independent model, and its other groups in closed form.

The posterior of each rate is a Beta, so nothing needs a Markov chain: the draws are independent.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesaudit.counts import AttackCounts
from bayesaudit.sampling._trees import dataset

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["closed_form_groups", "conjugate_posterior"]

Array = NDArray[np.float64]
Shapes = dict[str, tuple[float, float]]
#: rate -> (its complement, counted errors, counted right guesses, trials)
RATES = {"fnr": ("tpr", "fn", "tp", "n_pos"), "fpr": ("tnr", "fp", "tn", "n_neg")}


def beta_pair(
    rng: np.random.Generator, a: Any, b: Any, size: tuple[int, ...]
) -> tuple[Array, Array]:
    """Draw Beta variates together with their complements, each to full relative precision."""
    # In place: a thousand tallies of 4,000 draws are 32 MB an array.
    one = rng.standard_gamma(a, size)
    other = rng.standard_gamma(b, size)
    total = one + other
    one /= total
    other /= total
    return one, other


def _prior_pair(
    rng: np.random.Generator, shape: tuple[float, float], size: tuple[int, ...]
) -> tuple[Array, Array]:
    if shape != (0.5, 0.5):
        return beta_pair(rng, *shape, size)
    angle = rng.random(size) * (np.pi / 2)
    return np.sin(angle) ** 2, np.cos(angle) ** 2


def conjugate_posterior(
    counts: AttackCounts, shapes: Shapes, *, chains: int, draws: int, seed: np.random.SeedSequence
) -> "xr.Dataset":
    """Draw both rates and their complements; every chain has a stream of its own."""
    size = (draws, *counts.shape)
    found: dict[str, list[Array]] = {name: [] for name in ("fnr", "tpr", "fpr", "tnr")}
    for child in seed.spawn(chains):
        rng = np.random.default_rng(child)
        for rate, (complement, errors, rights, _) in RATES.items():
            a, b = shapes[rate]
            one, other = beta_pair(
                rng, a + getattr(counts, errors), b + getattr(counts, rights), size
            )
            found[rate].append(one)
            found[complement].append(other)
    return dataset({name: np.stack(values) for name, values in found.items()}, **_dims(counts))


def _dims(counts: AttackCounts) -> dict[str, Any]:
    if not counts.shape:
        return {}
    return {"dims": ("tally",), "coords": {"tally": np.arange(counts.shape[0])}}


def closed_form_groups(
    posterior: "xr.Dataset",
    counts: AttackCounts,
    shapes: Shapes,
    wanted: tuple[str, ...],
    *,
    seed: np.random.SeedSequence,
    prior_draws: int,
) -> dict[str, "xr.Dataset"]:
    """Return the wanted groups of the independent model, whichever way its rates were drawn.

    ``log_prior`` is that of the PyMC model's free variables: of the standard normal ``<rate>_z``
    under the Jeffreys and the uniform prior (see `bayesaudit.models.BetaPrior`), else of the Beta.
    """
    where = _dims(counts)
    predictive_seed, prior_seed = seed.spawn(2)
    groups: dict[str, Any] = {}
    cells = {
        name: (posterior[name].values, posterior[row[0]].values, *row[1:])
        for name, row in RATES.items()
    }
    if "log_likelihood" in wanted:
        groups["log_likelihood"] = {
            errors: _log_binomial(getattr(counts, errors), getattr(counts, rights), x, xc)
            for x, xc, errors, rights, _ in cells.values()
        }
    if "log_prior" in wanted:
        groups["log_prior"] = dict(
            _log_prior(name, shapes[name], x, xc) for name, (x, xc, *_) in cells.items()
        )
    if "posterior_predictive" in wanted:
        rng = np.random.default_rng(predictive_seed)
        groups["posterior_predictive"] = {
            errors: rng.binomial(getattr(counts, trials), x)
            for x, _, errors, _, trials in cells.values()
        }
    if "prior" in wanted:
        rng = np.random.default_rng(prior_seed)
        groups["prior"] = {}
        for name, (complement, *_) in RATES.items():
            pair = _prior_pair(rng, shapes[name], (1, prior_draws, *counts.shape))
            groups["prior"] |= {name: pair[0], complement: pair[1]}
    built = {name: dataset(variables, **where) for name, variables in groups.items()}
    fixed = {
        "observed_data": {name: getattr(counts, name) for name in ("fn", "fp")},
        "constant_data": {name: getattr(counts, name) for name in ("n_pos", "n_neg")},
    }
    for name, variables in fixed.items():
        built[name] = dataset(variables, **where, sampled=False)
    return built


def _log_binomial(errors: Any, rights: Any, x: Array, xc: Array) -> Array:
    n = errors + rights
    constant = -np.log1p(n) - special.betaln(errors + 1.0, rights + 1.0)
    return special.xlogy(errors, x) + special.xlogy(rights, xc) + constant


def _log_prior(name: str, shape: tuple[float, float], x: Array, xc: Array) -> tuple[str, Array]:
    if shape not in ((0.5, 0.5), (1.0, 1.0)):
        a, b = shape
        log_density = special.xlogy(a - 1, x) + special.xlogy(b - 1, xc) - special.betaln(a, b)
        return name, log_density
    if shape == (1.0, 1.0):
        smaller = np.minimum(x, xc)
    else:
        smaller = np.arcsin(np.sqrt(np.minimum(x, xc))) * (2 / np.pi)
    # The standard normal is even: only the distance of z from 0 matters.
    return f"{name}_z", -0.5 * special.ndtri(smaller) ** 2 - 0.5 * np.log(2 * np.pi)

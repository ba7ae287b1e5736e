"""Simulation-based calibration of PyMC models: prior draws, their data, and the fits of these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers
from bayesaudit._result import Result
from bayesaudit.measures import Measure

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["SBC", "sbc"]

Array = NDArray[np.float64]
RATES = ("fnr", "fpr")


@dataclass(frozen=True, slots=True, eq=False)
class SBC(Result):
    """Ranks of the truth among posterior draws, uniform on (0, 1) for a calibrated model.

    Parameters
    ----------
    values : dict of str to numpy.ndarray, shape (replicates,)
        For every variable and the measure, entry by entry where they have dims: the transformed
        rank of every replicate's truth.
    p_values : dict of str to float
        ArviZ's test of uniformity, quantity by quantity.
    replicates, draws, random_seed : int
        Data sets, draws compared with (after thinning), and the seed.
    """

    values: dict[str, Array]
    p_values: dict[str, float]
    replicates: int
    draws: int
    random_seed: int

    _omit = ("values",)
    _also = ("p_value",)

    @property
    def p_value(self) -> float:
        """The smallest p-value, times the number of quantities (Bonferroni), at most 1."""
        return min(1.0, min(self.p_values.values()) * len(self.p_values))


def sbc(
    model: "pm.Model",
    measure: Measure,
    *,
    random_seed: int,
    variables: Sequence[str] = ("fnr", "fpr"),
    replicates: int = 300,
    draws: int = 250,
    tune: int = 400,
    chains: int = 2,
    thin: int = 5,
    n_jobs: int | None = None,
    simulate: Callable[[np.random.Generator], tuple[dict[str, float], dict[str, Any]]]
    | None = None,
) -> SBC:
    """Run simulation-based calibration of a PyMC model.

    The model is compiled once and refitted to every data set.

    Parameters
    ----------
    model : pymc.Model
        A model of the contract (`bayesaudit.models`), with every observed variable given by a
        ``pm.Data`` container of its own.
    measure : Measure
        What of ``fnr`` and ``fpr`` is ranked beside the variables.
    random_seed : int
        Seed; replicate i depends on it and on i alone, at any number of workers.
    variables : sequence of str
        The variables of the model that are ranked, entry by entry where they have dims.
    replicates : int
        Data sets, drawn from the model's own prior predictive distribution.
    draws, tune, chains : int
        Draws of every fit.
    thin : int
        Every so many draws are compared, so that they count as independent.
    n_jobs : int, optional
        Fits at a time, as threads (the sampler leaves the interpreter); by default what
        ``joblib.parallel_config`` says around the call, else 1.
    simulate : callable, optional
        ``simulate(rng) -> ({"fnr": …, "fpr": …}, {container: value, …})``: where the truth and the
        data come from instead, to see that a model which is not that one fails.

    Returns
    -------
    SBC

    References
    ----------
    Talts et al., arXiv:1804.06788. Säilynoja, Bürkner and Vehtari, Statist. Comput. 32 (2022) 32.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = ba.AttackCounts(fn=1, tp=19, fp=1, tn=19)
    >>> found = sbc(  # doctest: +SKIP
    ...     ba.models.independent(counts), ba.Epsilon(1e-5), random_seed=1, replicates=300
    ... )
    """
    import joblib

    from bayesaudit.sampling import compile_model

    replicates, thin = (
        int(check_integers(value, name, minimum=1))
        for value, name in ((replicates, "replicates"), (thin, "thin"))
    )
    sequences = [np.random.SeedSequence(random_seed, spawn_key=(i,)) for i in range(replicates)]
    if simulate is None:
        names = tuple(dict.fromkeys((*variables, "fnr", "fpr")))
        cases = _prior_predictive(model, names, replicates, random_seed)
    else:
        cases = [simulate(np.random.default_rng(sequence)) for sequence in sequences]
    compiled = compile_model(model)

    def one(case: tuple[dict[str, Any], dict[str, Any]], sequence: Any) -> dict[str, float]:
        truth, data = case
        seed, dither = sequence.spawn(2)
        tree = compiled.refit(
            data,
            draws=draws,
            tune=tune,
            chains=chains,
            cores=1,
            random_seed=int(seed.generate_state(1)[0] >> 1),
        )
        rng = np.random.default_rng(dither)
        drawn = {name: tree["posterior"][name].values[:, ::thin] for name in (*variables, *RATES)}
        pairs = [(name, truth[name], drawn[name]) for name in variables]
        true, found = (measure.of(*(part[name] for name in RATES)) for part in (truth, drawn))
        return _ranks([*pairs, (measure.name, true, found)], rng)

    parallel = joblib.Parallel(n_jobs=n_jobs, prefer="threads")
    jobs = zip(cases, sequences, strict=True)
    ranks = parallel(joblib.delayed(one)(*job) for job in jobs)
    values = {name: np.array([each[name] for each in ranks]) for name in ranks[0]}
    return SBC(
        values=values,
        p_values={name: _uniformity(part) for name, part in values.items()},
        replicates=replicates,
        draws=chains * len(range(0, draws, thin)),
        random_seed=random_seed,
    )


def _ranks(pairs: list[tuple[str, Any, Array]], rng: np.random.Generator) -> dict[str, float]:
    """Return the ranks of truths among draws (chain, draw, ...), entry by entry."""
    found = {}
    for name, true, drawn in pairs:
        true = np.asarray(true)
        flat = drawn.reshape(-1, true.size)
        for i, value in enumerate(true.ravel()):
            label = (
                f"{name}{list(map(int, np.unravel_index(i, true.shape)))}" if true.ndim else name
            )
            found[label] = _rank(value, flat[:, i], rng)
    return found


def _rank(true: Any, drawn: Array, rng: np.random.Generator) -> float:
    """Rank of the truth, spread uniformly over its step and, for an atom, over the ties."""
    below = np.sum(drawn < true)
    ties = np.sum(drawn == true)
    return float((below + rng.integers(0, ties + 1) + rng.random()) / (drawn.size + 1))


def _uniformity(values: Array) -> float:
    from arviz_stats.base import array_stats

    return float(np.asarray(array_stats.uniformity_test(values)[0]))


def _prior_predictive(
    model: "pm.Model", names: tuple[str, ...], replicates: int, seed: int
) -> list[tuple[dict, dict]]:
    """Truths and data of the model's own prior predictive distribution."""
    import pymc as pm

    from bayesaudit.sampling._model_groups import quiet_pymc

    containers = _containers(model)
    for name in names:
        if name not in model.named_vars:
            raise ValueError(f"the model must define {name}.")
    with quiet_pymc(True):
        tree = pm.sample_prior_predictive(
            draws=replicates,
            model=model,
            var_names=[*names, *containers],
            random_seed=np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 1))),
        )
    truths = {name: tree["prior"][name].values[0] for name in names}
    data = {held: tree["prior_predictive"][name].values[0] for name, held in containers.items()}
    return [
        (
            {name: part[i] for name, part in truths.items()},
            {held: part[i] for held, part in data.items()},
        )
        for i in range(replicates)
    ]


def _containers(model: "pm.Model") -> dict[str, str]:
    """Observed variable -> the ``pm.Data`` container that holds its data."""
    from pytensor.graph.traversal import ancestors

    held = {id(variable): variable.name for variable in model.data_vars}
    found = {}
    for variable in model.observed_RVs:
        values = ancestors([model.rvs_to_values[variable]])
        names = [held[id(value)] for value in values if id(value) in held]
        if len(names) != 1:
            raise ValueError(
                f"the observed variable {variable.name!r} must be given by one pm.Data container, "
                f"got {len(names)}."
            )
        found[variable.name] = names[0]
    return found

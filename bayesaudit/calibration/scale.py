"""Scale-out: one function over many tallies or replicates, in chunks, on any joblib backend.

Chunks and seeds do not depend on the number of workers, so that results are equal to the last bit
however the work is spread. The backend is the caller's: ``joblib.parallel_config(backend="loky",
n_jobs=4)`` or ``"dask"`` around the call; no cluster is started here.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers
from bayesaudit.counts import AttackCounts

__all__ = ["map_replicates", "map_tallies"]

Array = NDArray[np.float64]


def map_tallies(
    function: Callable[[AttackCounts], Any],
    counts: AttackCounts,
    *,
    chunk: int = 10_000,
    n_jobs: int | None = None,
) -> Array:
    """Apply a function to an array of tallies, chunk by chunk.

    Parameters
    ----------
    function : callable
        ``function(counts)`` for a row of tallies gives an array whose last axis is the tallies, or
        a sequence of such arrays, an `Interval` say. With more than one process it must be
        picklable.
    counts : AttackCounts
        An array of tallies, of any shape.
    chunk : int
        Tallies at a time; what bounds the memory.
    n_jobs : int, optional
        Workers; by default what ``joblib.parallel_config`` says around the call, else 1.

    Returns
    -------
    numpy.ndarray
        The function's array with the tallies' shape in place of its last axis.

    Examples
    --------
    A million tallies take about four minutes on two cores:

    >>> import numpy as np, bayesaudit as ba
    >>> fn = np.array([[1, 2], [3, 4]])
    >>> counts = ba.AttackCounts(fn=fn, tp=50 - fn, fp=fn, tn=50 - fn)
    >>> def ends(counts):
    ...     return ba.posterior(counts, ba.Epsilon(1e-5)).interval(0.9)
    >>> map_tallies(ends, counts, chunk=3).shape
    (2, 2, 2)
    """
    chunk = _positive(chunk, "chunk")
    if not counts.shape or counts.fn.size == 0:
        raise ValueError(f"counts must be an array of tallies, got shape {counts.shape}.")
    flat = [np.ravel(getattr(counts, cell)) for cell in ("fn", "tp", "fp", "tn")]
    size = flat[0].size

    def tasks() -> Iterator[tuple[Callable, tuple]]:
        for first in range(0, size, chunk):
            yield _one_chunk, (function, *(cell[first : first + chunk] for cell in flat))

    result: Array | None = None
    first = 0
    for part in _run(tasks(), n_jobs):
        if result is None:
            result = np.empty((*part.shape[:-1], size), part.dtype)
        result[..., first : first + part.shape[-1]] = part
        first += part.shape[-1]
    return result.reshape(*result.shape[:-1], *counts.shape)


def map_replicates(
    function: Callable[[np.random.Generator], Any],
    replicates: int,
    *,
    random_seed: int,
    chunk: int = 1,
    n_jobs: int | None = None,
) -> Array:
    """Apply a function to independent generators, one a replicate.

    Parameters
    ----------
    function : callable
        ``function(rng)`` gives a number or an array of one shape.
    replicates : int
        How many.
    random_seed : int
        Replicate i gets ``SeedSequence(random_seed, spawn_key=(i,))``, whoever computes it.
    chunk : int
        Replicates a task.
    n_jobs : int, optional
        Workers; by default what ``joblib.parallel_config`` says around the call, else 1.

    Returns
    -------
    numpy.ndarray, shape (replicates, ...)

    Examples
    --------
    >>> map_replicates(lambda rng: rng.random(), 3, random_seed=1).round(3)
    array([0.699, 0.476, 0.233])
    """
    replicates, chunk = _positive(replicates, "replicates"), _positive(chunk, "chunk")
    tasks = (
        (_replicates, (function, random_seed, first, min(first + chunk, replicates)))
        for first in range(0, replicates, chunk)
    )
    return np.concatenate(list(_run(tasks, n_jobs)))


def _one_chunk(function: Callable, fn: Any, tp: Any, fp: Any, tn: Any) -> Array:
    found = function(AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn))
    parts = found if isinstance(found, np.ndarray) else np.stack(list(found))
    return np.asarray(parts)


def _replicates(function: Callable, seed: int, first: int, last: int) -> Array:
    sequences = (np.random.SeedSequence(seed, spawn_key=(i,)) for i in range(first, last))
    return np.array([function(np.random.default_rng(sequence)) for sequence in sequences])


def _run(tasks: Iterable[tuple[Callable, tuple]], n_jobs: int | None) -> Iterator[Array]:
    """Results in order; a task's result is consumed before many more are computed."""
    import joblib

    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator", pre_dispatch="2*n_jobs")
    yield from parallel(joblib.delayed(function)(*arguments) for function, arguments in tasks)


def _positive(value: Any, name: str) -> int:
    return int(check_integers(value, name, minimum=1))

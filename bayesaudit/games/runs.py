"""Long runs: shards of trials, written whole or not at all, resumed with identical results.

A task is a picklable ``task(start, stop) -> {name: array}`` whose rows depend on the trial's number
only. Where the work runs is the caller's choice of joblib backend
(``joblib.parallel_config(backend=...)``); the library starts no cluster. With a directory, each
worker writes its shard by an atomic rename, so a killed run leaves complete shards only.
"""

import contextlib
import hashlib
import json
import os
import platform
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import DataError, check_integers
from bayesaudit._files import write_atomically

__all__ = ["describe", "run_shards"]

Task = Callable[[int, int], dict[str, NDArray]]
Progress = Callable[[int, int], None]

_FORMAT = 1


def describe(value: Any) -> Any:
    """Describe an object by plain JSON types: a dataclass by its class and fields.

    Two objects that play the same game must have the same description; a function is described by
    its name alone, so a changed body needs a changed name.

    Examples
    --------
    >>> from bayesaudit.games import GaussianMean
    >>> describe(GaussianMean(mu=1.0))
    {'type': 'GaussianMean', 'mu': 1.0, 'radius': 1.0}
    """
    if isinstance(value, dict):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        described = {field.name: describe(getattr(value, field.name)) for field in fields(value)}
        # How many models are trained side by side never changes a result.
        described.pop("chunk_size", None)
        return {"type": type(value).__qualname__, **described}
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{getattr(value, '__module__', type(value).__module__)}.{name}"


def _machine() -> dict[str, Any]:
    config = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return {
        "numpy": np.__version__,
        "blas": f"{blas.get('name')} {blas.get('version')}",
        "machine": platform.machine(),
        "simd": sorted(config.get("SIMD Extensions", {}).get("found", [])),
    }


def _open_manifest(directory: Path, spec: Any, shard_size: int, resume: bool) -> int:
    """Create or check the manifest; return the shard size that the directory uses."""
    text = json.dumps(spec, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = directory / "manifest.json"
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        manifest = {
            "format": _FORMAT,
            "spec_sha256": digest,
            "spec": spec,
            "shard_size": shard_size,
            "machine": _machine(),
        }
        content = json.dumps(manifest, indent=2).encode()
        write_atomically(path, lambda file: file.write(content))
        return shard_size
    if not resume:
        raise ValueError(f"{directory} holds a run already: resume it, or name another directory.")
    try:
        manifest = json.loads(path.read_text())
        known, size = manifest["spec_sha256"], int(manifest["shard_size"])
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{path} is not a manifest of this tool.") from None
    if known != digest:
        changed = sorted(
            key
            for key in {*spec, *manifest.get("spec", {})}
            if spec.get(key) != manifest.get("spec", {}).get(key)
        )
        raise ValueError(
            f"{directory} holds another run; {', '.join(changed) or 'the specification'} differs."
        )
    if manifest.get("machine") != _machine():
        warnings.warn(
            f"{directory} was begun with another NumPy, BLAS or processor: scores may differ "
            "from an uninterrupted run in the last bits.",
            stacklevel=4,
        )
    for stale in directory.glob(".shard-*"):  # of a killed writer
        stale.unlink(missing_ok=True)
    return size


def _forget_if_empty(directory: Path) -> None:
    """Remove the directory of a run that failed before its first shard."""
    if not any(directory.glob("shard-*.npz")):
        (directory / "manifest.json").unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # it holds something else
            directory.rmdir()


def _one_shard(
    task: Task, start: int, stop: int, directory: Path | None
) -> tuple[int, int, dict[str, NDArray]]:
    if directory is None:
        return start, stop, task(start, stop)
    path = directory / f"shard-{start:08d}-{stop:08d}.npz"
    if path.exists():
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return start, stop, {name: stored[name] for name in stored.files}
        except (OSError, ValueError, zipfile.BadZipFile):
            raise DataError(f"{path} is damaged: delete it and resume.") from None
    arrays = task(start, stop)
    write_atomically(path, lambda file: np.savez(file, **arrays))
    return start, stop, arrays


def run_shards(
    task: Task,
    n_trials: int,
    *,
    spec: dict[str, Any],
    shard_size: int = 64,
    directory: str | os.PathLike | None = None,
    resume: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, NDArray]:
    """Run trials 0 .. n_trials - 1 in shards and join their arrays in order.

    Parameters
    ----------
    task : callable
        ``task(start, stop)`` returns arrays with one row a trial.
    n_trials : int
        Number of trials, >= 1.
    spec : dict
        What determines the results, in plain JSON types; its hash names the run.
    shard_size : int
        Trials in a shard, >= 1. A resumed run keeps the size it began with.
    directory : path, optional
        Where shards and the manifest are kept; workers must see it too.
    resume : bool
        Continue the run that `directory` holds.
    n_jobs : int, optional
        joblib's number of workers; by default that of the caller's `joblib.parallel_config`.
    progress : callable, optional
        ``progress(n_done, n_trials)``, called as shards arrive.

    Returns
    -------
    dict of str to ndarray
        The same for any shard size, number of workers, backend and interruption.

    Raises
    ------
    ValueError
        If the directory holds a run and `resume` is false, or holds another run.
    """
    import joblib

    n_trials = int(check_integers(n_trials, "n_trials", minimum=1))
    shard_size = int(check_integers(shard_size, "shard_size", minimum=1))
    where = None if directory is None else Path(directory).absolute()
    if where is not None:
        shard_size = _open_manifest(where, {**spec, "n_trials": n_trials}, shard_size, resume)
    bounds = [
        (start, min(start + shard_size, n_trials)) for start in range(0, n_trials, shard_size)
    ]
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    parts: dict[int, dict[str, NDArray]] = {}
    done = 0
    jobs = (joblib.delayed(_one_shard)(task, start, stop, where) for start, stop in bounds)
    try:
        for start, stop, arrays in parallel(jobs):
            parts[start] = arrays
            done += stop - start
            if progress is not None:
                progress(done, n_trials)
    except Exception:
        if where is not None:
            _forget_if_empty(where)
        raise
    ordered = [parts[start] for start, _ in bounds]
    return {name: np.concatenate([part[name] for part in ordered]) for name in ordered[0]}

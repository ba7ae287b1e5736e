"""Whether data of a model are the counts that were given: the mistake of fitting tp for fn."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesaudit.counts import CELLS, AttackCounts

__all__ = ["observed_mismatch"]


def observed_mismatch(observed: Mapping[str, Any], counts: AttackCounts) -> str:
    """Return how data named fn, tp, fp, tn, n_pos or n_neg differ from the counts.

    Parameters
    ----------
    observed : mapping of str to array_like
        Data of a model by name: counts of any shape, or one entry a trial. Other names are ignored.
    counts : AttackCounts
        What they should be, in any order of the models.

    Returns
    -------
    str
        One clause, "" where nothing differs or no name is known.

    Examples
    --------
    >>> counts = AttackCounts(fn=3, tp=7, fp=1, tn=9)
    >>> observed_mismatch({"fn": 7}, counts)
    "fn is 7 in the model's data and 3 in the counts: these are the counts' tp"
    """
    for name in (*CELLS, "n_pos", "n_neg"):
        if name not in observed:
            continue
        values, right = np.asarray(observed[name]), np.asarray(getattr(counts, name))
        if not np.array_equal(values, np.round(values)) or _same(values, right):
            continue
        other = [c for c in CELLS if c != name and _same(values, np.asarray(getattr(counts, c)))]
        hint = f": these are the counts' {other[0]}" if other else ""
        return (
            f"{name} is {_shown(values)} in the model's data and {_shown(right)} in the "
            f"counts{hint}"
        )
    return ""


def _same(values: Any, right: Any) -> bool:
    if values.size == right.size:
        return bool(np.array_equal(np.sort(values, axis=None), np.sort(right, axis=None)))
    return bool(values.sum() == right.sum())


def _shown(values: Any) -> str:
    flat = np.ravel(values)
    if flat.size == 1:
        return f"{flat[0]:g}"
    return f"{', '.join(f'{x:g}' for x in flat[:3])}{', …' if flat.size > 3 else ''}"

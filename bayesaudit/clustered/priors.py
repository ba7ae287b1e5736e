"""Priors of the intra-model correlation."""

from typing import Any

import numpy as np

from bayesaudit._checks import check_number

__all__ = ["ICCPrior", "check_icc_prior"]

#: "default", "uniform", (a, b), a known ICC, or a dict with one of these for either rate.
ICCPrior = str | float | tuple[float, float] | dict[str, Any]

NAMED = {"default": (1.0, 9.0), "uniform": (1.0, 1.0)}


def check_icc_prior(icc_prior: ICCPrior) -> dict[str, tuple[float, float] | float]:
    """Return the prior of the intra-model correlation of each side.

    Parameters
    ----------
    icc_prior : {"default", "uniform"} or tuple or float or dict
        "default" is Beta(1, 9), of mean 0.1, and "uniform" Beta(1, 1); a pair (a, b) is
        Beta(a, b); a number in [0, 1) is a correlation taken as known. A dict gives one of these
        for "fnr" and for "fpr".

    Raises
    ------
    ValueError, TypeError
        If it is none of these.

    Examples
    --------
    >>> check_icc_prior("default")
    {'fnr': (1.0, 9.0), 'fpr': (1.0, 9.0)}
    >>> check_icc_prior({"fnr": 0.1, "fpr": "uniform"})
    {'fnr': 0.1, 'fpr': (1.0, 1.0)}
    """
    if isinstance(icc_prior, dict):
        if set(icc_prior) != {"fnr", "fpr"}:
            named = sorted(map(str, icc_prior))
            raise ValueError(f"icc_prior must name 'fnr' and 'fpr', got {named}.")
        return {side: _one(icc_prior[side], f"icc_prior[{side!r}]") for side in ("fnr", "fpr")}
    value = _one(icc_prior, "icc_prior")
    return {"fnr": value, "fpr": value}


def _one(value: Any, name: str) -> tuple[float, float] | float:
    if isinstance(value, str):
        if value not in NAMED:
            raise ValueError(
                f"{name} must be 'default', 'uniform', a pair (a, b) or a number, got {value!r}."
            )
        return NAMED[value]
    if isinstance(value, tuple | list | np.ndarray):
        if len(value) != 2:
            raise ValueError(f"{name} must be a pair (a, b), got {len(value)} numbers.")
        shapes = tuple(check_number(shape, name) for shape in value)
        if not all(0.05 <= shape < np.inf for shape in shapes):
            raise ValueError(f"{name} must have finite shape parameters >= 0.05, got {value!r}.")
        return shapes
    known = check_number(value, name)
    if not 0 <= known < 1:
        raise ValueError(f"{name} must be in [0, 1) where it is a number, got {known!r}.")
    return known

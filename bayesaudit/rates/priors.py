"""Priors of the error rates and of the intra-model correlation."""

from typing import Any

import numpy as np

from bayesaudit._checks import check_number

__all__ = ["ICCPrior", "Prior", "check_icc_prior", "check_prior"]

#: "jeffreys", "uniform", (a, b) for both rates, or {"fnr": (a, b), "fpr": (a, b)}.
Prior = str | tuple[float, float] | dict[str, Any]

#: "default", "uniform", (a, b), a known ICC, or a dict with one of these for either rate.
ICCPrior = str | float | tuple[float, float] | dict[str, Any]

NAMED_ICC = {"default": (1.0, 9.0), "uniform": (1.0, 1.0)}


def check_prior(prior: Prior) -> dict[str, tuple[float, float]]:
    """Return the Beta prior of each rate as ``{"fnr": (a, b), "fpr": (a, b)}``.

    Parameters
    ----------
    prior : {"jeffreys", "uniform"} or tuple or dict
        "jeffreys" is Beta(½, ½) and "uniform" Beta(1, 1) for both rates; a pair (a, b) serves both;
        a dict names a prior per rate.

    Raises
    ------
    ValueError, TypeError
        If the prior is none of these, or a shape parameter is not > 0 and finite.

    Examples
    --------
    >>> check_prior({"fnr": "jeffreys", "fpr": (1, 3)})
    {'fnr': (0.5, 0.5), 'fpr': (1.0, 3.0)}
    """
    if isinstance(prior, dict):
        if set(prior) != {"fnr", "fpr"}:
            raise ValueError(f"prior must name 'fnr' and 'fpr', got {sorted(map(str, prior))}.")
        return {rate: _beta_shapes(prior[rate], f"prior[{rate!r}]") for rate in ("fnr", "fpr")}
    shapes = _beta_shapes(prior, "prior")
    return {"fnr": shapes, "fpr": shapes}


def _beta_shapes(prior: Any, name: str) -> tuple[float, float]:
    named = {"jeffreys": (0.5, 0.5), "uniform": (1.0, 1.0)}
    if isinstance(prior, str):
        if prior not in named:
            raise ValueError(f"{name} must be 'jeffreys', 'uniform' or a pair, got {prior!r}.")
        return named[prior]
    if not isinstance(prior, tuple | list | np.ndarray) or len(prior) != 2:
        raise ValueError(f"{name} must be 'jeffreys', 'uniform' or a pair (a, b), got {prior!r}.")
    shapes = tuple(check_number(value, name) for value in prior)
    if not all(0 < value < np.inf for value in shapes):
        raise ValueError(f"{name} must have finite shape parameters > 0, got {prior!r}.")
    return shapes


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
        return {
            side: _icc_shape(icc_prior[side], f"icc_prior[{side!r}]") for side in ("fnr", "fpr")
        }
    value = _icc_shape(icc_prior, "icc_prior")
    return {"fnr": value, "fpr": value}


def _icc_shape(value: Any, name: str) -> tuple[float, float] | float:
    if isinstance(value, str):
        if value not in NAMED_ICC:
            raise ValueError(
                f"{name} must be 'default', 'uniform', a pair (a, b) or a number, got {value!r}."
            )
        return NAMED_ICC[value]
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

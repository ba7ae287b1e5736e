"""Priors of error rates inside a PyMC model: a Protocol, and the Betas that need no tuning."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import pymc as pm
import pytensor.tensor as pt

from bayesaudit._checks import check_number
from bayesaudit.rates import check_prior

__all__ = ["COMPLEMENT", "BetaPrior", "RatePrior", "create_rate", "rate_priors"]

#: The complement of every rate: members guessed "member", non-members guessed "non-member".
COMPLEMENT = {"fnr": "tpr", "fpr": "tnr"}

Dims = str | Sequence[str] | None


@runtime_checkable
class RatePrior(Protocol):
    """Anything that creates a named variable inside a ``pm.Model``.

    It has the shape of pymc-extras' ``VariableFactory``, so that its priors work unchanged. A plain
    callable ``(name, dims=None) -> tensor`` serves as well (see `create_rate`).
    """

    dims: Any

    def create_variable(self, name: str) -> Any:
        """Create the variable `name`, of dims `dims`, with values in [0, 1]."""
        ...


@dataclass(frozen=True)
class BetaPrior:
    """A Beta prior of an error rate, in the parametrisation that NUTS likes best.

    Parameters
    ----------
    a, b : float
        Shape parameters, > 0. Jeffreys' prior is (½, ½), the uniform one (1, 1).
    dims : str or sequence of str, optional
        Dims of the rate: None for a scalar, "tally" for one rate a tally.

    Notes
    -----
    With z ~ N(0, 1), the rate sin²(πΦ(z)/2) is exactly Beta(½, ½), and Φ(z) is exactly uniform.
    In z the posterior has Gaussian tails even at zero counts, where on the log-odds scale it has an
    exponential one, which costs NUTS divergences and most of its effective sample size. The
    complement is built from Φ(−z) and keeps its relative precision. Every other Beta is PyMC's own,
    on the log-odds scale.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     rate = BetaPrior(0.5, 0.5).create_variable("fnr")
    >>> [variable.name for variable in model.free_RVs], [d.name for d in model.deterministics]
    (['fnr_z'], ['fnr'])
    """

    a: float = 0.5
    b: float = 0.5
    dims: Dims = None

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            value = check_number(getattr(self, name), name)
            if not 0 < value < math.inf:
                raise ValueError(f"{name} must be finite and > 0, got {value!r}.")
            object.__setattr__(self, name, value)

    @property
    def by_probit(self) -> bool:
        """Whether the rate is a function of a standard normal ``<name>_z``."""
        return (self.a, self.b) in ((0.5, 0.5), (1.0, 1.0))

    def create_variable(self, name: str) -> Any:
        """Create the rate `name`."""
        return self.create_pair(name, None)[0]

    def create_pair(self, name: str, complement: str | None) -> tuple[Any, Any]:
        """Create the rate and, where `complement` names it, 1 − rate to full relative precision."""
        if not self.by_probit:
            rate = pm.Beta(name, self.a, self.b, dims=self.dims)
            other = 1 - rate
        else:
            z = pm.Normal(f"{name}_z", dims=self.dims)
            rate = pm.Deterministic(name, self._rate_of(z), dims=self.dims)
            other = self._rate_of(-z)
        if complement is not None:
            other = pm.Deterministic(complement, other, dims=self.dims)
        return rate, other

    def _rate_of(self, z: Any) -> Any:
        uniform = pt.erfc(-z / math.sqrt(2)) / 2
        return uniform if self.a == 1 else pt.sin(math.pi / 2 * uniform) ** 2


def rate_priors(prior: Any, dims: Dims = None) -> dict[str, RatePrior | Callable[..., Any]]:
    """Return one prior per rate, keyed "fnr" and "fpr".

    Parameters
    ----------
    prior : str, tuple, RatePrior, callable or dict
        "jeffreys", "uniform" or a pair (a, b) of Beta shapes, or an object of the `RatePrior`
        Protocol, or a callable ``(name, dims=None) -> tensor``: for both rates; or a dict of such
        with the keys "fnr" and "fpr".
    dims : str or sequence of str, optional
        Dims that the rates must have.

    Raises
    ------
    ValueError, TypeError
        If the prior is none of these, or a prior object has other dims than the rates.

    Examples
    --------
    >>> rate_priors("uniform")["fpr"]
    BetaPrior(a=1.0, b=1.0, dims=None)
    """
    if not isinstance(prior, dict):
        prior = {"fnr": prior, "fpr": prior}
    elif set(prior) != {"fnr", "fpr"}:
        raise ValueError(f"prior must name 'fnr' and 'fpr', got {sorted(map(str, prior))}.")
    return {name: _one_prior(value, name, dims) for name, value in prior.items()}


def _one_prior(value: Any, name: str, dims: Dims) -> RatePrior | Callable[..., Any]:
    if isinstance(value, RatePrior) and not isinstance(value, type):
        if _dims(value.dims) != _dims(dims):
            raise ValueError(
                f"the prior of {name} must have the dims {_dims(dims)}, got {_dims(value.dims)}."
            )
        return value
    if callable(value):
        return value
    a, b = check_prior(value)[name]
    return BetaPrior(a, b, dims)


def _dims(dims: Any) -> tuple[str, ...]:
    if dims is None:
        return ()
    return (dims,) if isinstance(dims, str) else tuple(dims)


def create_rate(
    prior: RatePrior | Callable[..., Any], name: str, dims: Dims = None
) -> tuple[Any, Any]:
    """Create a rate and its complement in the model on top of the stack.

    Parameters
    ----------
    prior : RatePrior or callable
        Where the rate comes from.
    name : {"fnr", "fpr"}
        Name of the rate; its complement is then "tpr" or "tnr".
    dims : str or sequence of str, optional
        Dims of the rate, handed to a callable.

    Returns
    -------
    (rate, complement) : tuple of tensors
        Both are named variables of the model.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     rate, complement = create_rate(lambda name, dims=None: pm.Uniform(name), "fnr")
    >>> sorted(model.named_vars)
    ['fnr', 'tpr']
    """
    complement = COMPLEMENT[name]
    if isinstance(prior, BetaPrior):
        return prior.create_pair(name, complement)
    if isinstance(prior, RatePrior):
        rate = prior.create_variable(name)
    else:
        rate = prior(name, dims=dims)
    model = pm.modelcontext(None)
    if name not in model.named_vars:
        rate = pm.Deterministic(name, rate, dims=dims)
    return rate, pm.Deterministic(complement, 1 - rate, dims=dims)

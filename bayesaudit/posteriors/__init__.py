"""Posteriors of a measure: one interface, two engines."""

from typing import TYPE_CHECKING, Any

from bayesaudit.counts import AttackCounts, warn_if_empty
from bayesaudit.measures import Measure
from bayesaudit.posteriors.exact import ExactPosterior
from bayesaudit.rates import IndependentRates, Prior, conjugate_rates

if TYPE_CHECKING:
    from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = ["ExactPosterior", "posterior"]


def posterior(
    data: Any, measure: Measure, *, prior: Prior = "jeffreys"
) -> "ExactPosterior | DrawsPosterior":
    """Return the posterior of a measure.

    Parameters
    ----------
    data : AttackCounts or IndependentRates or xarray.DataTree
        Counts, of one tally or many, whose trials count as independent; or marginals of one's own;
        or draws of ``fnr`` and ``fpr`` (see `bayesaudit.sample`).
    measure : Measure
        What is measured: ``Epsilon(delta)``, ``GaussianMu()``, ``Advantage()`` or one's own.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Beta prior of the rates, for counts: a name, a pair (a, b), or a dict with the keys "fnr"
        and "fpr".

    Returns
    -------
    ExactPosterior or DrawsPosterior
        The exact engine for counts and marginals, the draws engine for a tree; both have the same
        verbs.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> perfect = ba.AttackCounts(fn=0, tp=100, fp=0, tn=100)
    >>> lower, upper = ba.posterior(perfect, ba.Epsilon(delta=1e-5)).interval(0.90)
    >>> print(f"{lower:.3f} {upper:.3f}")
    4.896 12.196
    """
    if not isinstance(measure, Measure):
        raise TypeError(f"measure must be a Measure such as Epsilon(1e-5), got {measure!r}.")
    if isinstance(data, AttackCounts):
        warn_if_empty(data)
        return ExactPosterior(conjugate_rates(data, prior), measure, data, prior)
    if isinstance(data, IndependentRates):
        return ExactPosterior(data, measure)
    if type(data).__name__ == "DataTree":
        from bayesaudit.posteriors.draws import DrawsPosterior

        return DrawsPosterior(data, measure)
    raise TypeError(
        "data must be AttackCounts, IndependentRates or a DataTree of draws, "
        f"got {type(data).__name__}."
    )

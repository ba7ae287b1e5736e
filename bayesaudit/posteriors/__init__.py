"""Posteriors of a measure: one interface, two engines."""

from typing import TYPE_CHECKING, Any, Literal

from bayesaudit._checks import check_choice
from bayesaudit.counts import AttackCounts, warn_if_empty
from bayesaudit.measures import Measure
from bayesaudit.posteriors._verbs import Posterior
from bayesaudit.posteriors.exact import ExactPosterior
from bayesaudit.rates import (
    ICCPrior,
    IndependentRates,
    Prior,
    beta_binomial_rates,
    check_icc_prior,
    check_models,
    conjugate_rates,
)

if TYPE_CHECKING:
    from bayesaudit.posteriors.draws import DrawsPosterior

__all__ = ["ExactPosterior", "Posterior", "posterior"]


def posterior(
    data: Any,
    measure: Measure,
    *,
    prior: Prior = "jeffreys",
    dependence: Literal["independent", "beta-binomial"] | None = None,
    icc_prior: ICCPrior | None = None,
) -> "ExactPosterior | DrawsPosterior":
    """Return the posterior of a measure.

    Parameters
    ----------
    data : AttackCounts or IndependentRates or xarray.DataTree or Dataset or mapping
        Counts, of one tally or many, whose trials count as independent; or marginals of one's own;
        or draws of ``fnr`` and ``fpr`` (see `bayesaudit.sample`): a DataTree, an
        ``xarray.Dataset``, or a mapping of arrays of shape (draws,) or (chains, draws). Further
        dims of the rates (``group``, ``attack``) are the result's shape.
    measure : Measure
        What is measured: ``Epsilon(delta)``, ``GaussianMu()``, ``Advantage()`` or one's own.
    prior : {"jeffreys", "uniform"} or tuple or dict
        Beta prior of the rates, for counts: a name, a pair (a, b), or a dict with the keys "fnr"
        and "fpr".
    dependence : {"independent", "beta-binomial"}, optional
        How the trials of a trained model depend on each other, for counts with a trailing ``model``
        axis, which the result then no longer has. "independent" pools the models;
        "beta-binomial" has one intra-model correlation (ICC) a side and integrates it out, the
        recommended answer from two models on. By default every tally is on its own.
    icc_prior : {"default", "uniform"} or tuple or float or dict, optional
        Prior of the ICC, for "beta-binomial": "default" is Beta(1, 9), "uniform" the cautious
        companion, a pair (a, b) a Beta, a number an ICC taken as known; a dict gives one of these a
        rate. With a single model the ICC is not identified and the answer is its prior's; see
        `bayesaudit.dependence.tipping_point`.

    Returns
    -------
    ExactPosterior or DrawsPosterior
        The exact engine for counts and marginals, the draws engine for a tree; both have the same
        verbs.

    See Also
    --------
    bayesaudit.rates.beta_binomial_rates : the marginals behind "beta-binomial".

    Examples
    --------
    >>> import bayesaudit as ba
    >>> perfect = ba.AttackCounts(fn=0, tp=100, fp=0, tn=100)
    >>> lower, upper = ba.posterior(perfect, ba.Epsilon(delta=1e-5)).interval(0.90)
    >>> print(f"{lower:.3f} {upper:.3f}")
    4.896 12.196

    Counts per trained model; the pooled answer is too sure:

    >>> models = ba.AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> for dependence in ("independent", "beta-binomial"):
    ...     post = ba.posterior(models, ba.Epsilon(delta=1e-5), dependence=dependence)
    ...     print("{:.3f} {:.3f}".format(*post.interval(0.90)))
    0.975 1.582
    0.537 1.947
    """
    if not isinstance(measure, Measure):
        raise TypeError(f"measure must be a Measure such as Epsilon(1e-5), got {measure!r}.")
    if dependence is not None:
        check_choice(dependence, "dependence", ("independent", "beta-binomial"))
        if not isinstance(data, AttackCounts):
            raise TypeError(f"dependence needs AttackCounts, got {type(data).__name__}.")
    if icc_prior is not None and dependence != "beta-binomial":
        raise ValueError(f'icc_prior needs dependence="beta-binomial", got {dependence!r}.')
    if dependence == "independent":
        pooled = check_models(data).pooled()
        warn_if_empty(pooled)
        return ExactPosterior(conjugate_rates(pooled, prior), measure, data, prior, dependence)
    if dependence == "beta-binomial":
        icc_prior = "default" if icc_prior is None else icc_prior
        warn_if_empty(check_models(data).pooled())
        rates = beta_binomial_rates(data, prior=prior, icc_prior=icc_prior)
        known = check_icc_prior(icc_prior)
        return ExactPosterior(rates, measure, data, prior, dependence, known)
    if isinstance(data, AttackCounts):
        warn_if_empty(data)
        return ExactPosterior(conjugate_rates(data, prior), measure, data, prior)
    if isinstance(data, IndependentRates):
        return ExactPosterior(data, measure)
    from bayesaudit.posteriors._measured import as_tree

    tree = as_tree(data)
    if tree is not None:
        from bayesaudit.posteriors.draws import DrawsPosterior

        return DrawsPosterior(tree, measure)
    raise TypeError(
        "data must be AttackCounts, IndependentRates or draws of fnr and fpr (a DataTree, a "
        "Dataset or a mapping of arrays), "
        f"got {type(data).__name__}."
    )

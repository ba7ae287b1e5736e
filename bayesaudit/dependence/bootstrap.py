"""The cluster bootstrap: resample whole models."""

import numpy as np

from bayesaudit._checks import check_integers, check_nonnegative, check_prob
from bayesaudit._interval import Interval
from bayesaudit.counts import AttackCounts
from bayesaudit.measures import Measure
from bayesaudit.rates import check_models

__all__ = ["cluster_bootstrap"]


def cluster_bootstrap(
    counts: AttackCounts,
    measure: Measure,
    prob: float = 0.90,
    *,
    n_resamples: int = 2000,
    smoothing: float = 0.5,
    random_seed: int = 0,
) -> Interval:
    """Return the percentile interval of a measure under resampling of models.

    Parameters
    ----------
    counts : AttackCounts, shape (n_models,)
        One tally a trained model, two models at least.
    measure : Measure
        What is measured.
    prob : float
        Level in (0, 1).
    n_resamples : int
        Resampled audits, >= 100.
    smoothing : float
        Added to the numbers of errors and of right guesses of each pooled resample, so that no
        errors do not mean an infinite ε̂; 0 leaves them as they are.
    random_seed : int
        Seed of the resampling.

    Returns
    -------
    Interval
        With statement "confidence" and guarantee "approximate".

    Notes
    -----
    A model is drawn with both its sides, so that correlation of FN and FP within a model is kept.
    The method is asymptotic in the number of models; below about twenty it is too narrow
    (measured at 10 models of 100 trials and ICC .1: 86 % for 90 %, and 69 % for rates .02 and .05).

    References
    ----------
    Field and Welsh, "Bootstrapping clustered data", JRSS B 2007,
    doi:10.1111/j.1467-9868.2007.00593.x.

    Examples
    --------
    >>> import bayesaudit as ba
    >>> counts = AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
    >>> cluster_bootstrap(counts, ba.Epsilon(delta=1e-5)).guarantee
    'approximate'
    """
    counts = check_models(counts)
    prob = check_prob(prob)
    n_resamples = int(check_integers(n_resamples, "n_resamples", minimum=100))
    smoothing = check_nonnegative(smoothing, "smoothing")
    if len(counts.shape) != 1 or counts.shape[0] < 2:
        raise ValueError(
            f"counts must be one audit of at least two models, got shape {counts.shape}: models "
            "are what is resampled."
        )
    models = counts.shape[0]
    rng = np.random.default_rng(random_seed)
    times = rng.multinomial(models, np.full(models, 1 / models), size=n_resamples)
    fn, tp, fp, tn = (
        times @ cell + smoothing for cell in (counts.fn, counts.tp, counts.fp, counts.tn)
    )
    with np.errstate(invalid="ignore"):
        value = measure.of(fn / (fn + tp), fp / (fp + tn), tpr=tp / (fn + tp), tnr=tn / (fp + tn))
    value = value[~np.isnan(value)]
    if not value.size:
        raise ValueError("counts must have trials on both sides: no resample had any.")
    lower, upper = np.quantile(value, [(1 - prob) / 2, (1 + prob) / 2], method="inverted_cdf")
    return Interval(
        lower=float(lower),
        upper=float(upper),
        prob=prob,
        kind="eti",
        statement="confidence",
        method="cluster bootstrap",
        guarantee="approximate",
    )

"""What `diagnose` checks: thresholds, what a value beyond them means, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["GROUPS", "RULES", "Group", "Rule"]

Group = Literal["draws", "model", "prior"]

#: What it means that a check of each group does not pass.
GROUPS: dict[Group, str] = {
    "draws": "the draws are bad",
    "model": "the model is contradicted",
    "prior": "the prior speaks",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of one check.

    Parameters
    ----------
    group : {"draws", "model", "prior"}
        What the check is about: the draws as draws, the model as a model of these data, or how much
        of the answer is the prior's.
    threshold : float
        The largest or smallest value that passes.
    below : bool
        Whether values up to the threshold pass, rather than values from it on.
    meaning, remedy : str
        What a value beyond the threshold means, and what to do.
    fatal : bool
        Whether such a value is a failure (do not use the number) rather than a caution (say what
        the number depends on).
    """

    group: Group
    threshold: float
    below: bool
    meaning: str
    remedy: str
    fatal: bool = True


RULES: dict[str, Rule] = {
    "nan_draws": Rule(
        "draws",
        0,
        True,
        "some draws are not a number, so that no probability or quantile is known",
        "look where the model divides by 0 or takes the logarithm of a negative number",
    ),
    "constant_draws": Rule(
        "draws",
        0,
        True,
        "some variable has the same value in every draw, so that R-hat and ESS say nothing",
        "look whether the model really fixes it, and whether the sampler moved at all",
    ),
    "infinite_draws": Rule(
        "draws",
        0,
        True,
        "some draws of the measure are infinite, because a rate is exactly 0 there",
        "let the model define the complements tpr and tnr, or read quantiles instead of the mean",
    ),
    "rhat": Rule(
        "draws",
        1.01,
        True,
        "the chains disagree",
        "run longer chains, raise tune, or reparametrise the model",
    ),
    "ess_bulk": Rule(
        "draws",
        400,
        False,
        "the chains hold too little information about the centre of the posterior",
        "draw more",
    ),
    "ess_tail": Rule(
        "draws",
        400,
        False,
        "the chains hold too little information about the tails",
        "draw more",
    ),
    "ess_lower": Rule(
        "draws",
        400,
        False,
        "the lower end of the interval rests on too few effective draws",
        "draw more",
    ),
    "ess_upper": Rule(
        "draws",
        400,
        False,
        "the upper end of the interval rests on too few effective draws",
        "draw more",
    ),
    "mcse_ends": Rule(
        "draws",
        0.05,
        True,
        "the Monte Carlo error of an end of the interval is large against its width",
        "draw more",
    ),
    "n_chains": Rule(
        "draws",
        2,
        False,
        "one chain cannot show that another would have gone elsewhere",
        "run four chains",
        fatal=False,
    ),
    "divergences": Rule(
        "draws",
        0,
        True,
        "NUTS could not follow the posterior's geometry, so that draws may miss a part of it",
        "raise target_accept to .99, then use a non-centred or probit parametrisation",
    ),
    "tree_depth": Rule(
        "draws",
        0,
        True,
        "some trajectories stopped at the largest tree depth, so that draws are less effective",
        "raise maxdepth or reparametrise; the draws are valid if R-hat and ESS are good",
    ),
    "bfmi": Rule(
        "draws",
        0.3,
        False,
        "the energy moves too slowly for the tails to be explored",
        "reparametrise the model's heavy tails",
    ),
    "observed_counts": Rule(
        "model",
        0,
        True,
        "the model saw other data than the counts",
        "pass observed=counts.fn for fn and observed=counts.fp for fp",
    ),
    "population_rate": Rule(
        "model",
        0,
        True,
        "a rate is the mean of these trained models rather than the population's, so that the "
        "interval leaves out how other models would differ",
        "integrate over the distribution of effects (models.population_rate)",
        fatal=False,
    ),
    "predictive_dispersion": Rule(
        "model",
        0.01,
        False,
        "counts vary between models more than the model predicts, so that intervals are too narrow",
        "use a model of dependent samples, bayesaudit.models.beta_binomial say",
    ),
    "score_tails": Rule(
        "model",
        0.01,
        False,
        "more or fewer scores lie in the tails than the model of scores predicts, and ε is made of "
        "tails",
        "use a model with heavier tails (models.student), transform the scores, or use counts",
    ),
    "score_pit": Rule(
        "model",
        0.01,
        False,
        "the scores of a side are not distributed as the model of scores says",
        "transform the scores, use another model of them, or counts, which need none",
    ),
    "score_shifts": Rule(
        "model",
        0.01,
        False,
        "scores of one trained model (or challenge) go together more than the model of scores "
        "says, so that intervals are too narrow",
        "give the model of scores a shift by that column (shifts=)",
    ),
    "prior_sensitivity": Rule(
        "prior",
        0.05,
        True,
        "the posterior moves noticeably when the prior is made a little stronger or weaker",
        'report the interval under another prior too (prior="uniform"), or collect more data',
        fatal=False,
    ),
    "prior_contraction": Rule(
        "prior",
        0.75,
        False,
        "the data did not even halve the prior's standard deviation of a rate",
        "collect more trials on that side before quoting an interval",
        fatal=False,
    ),
    "trained_models": Rule(
        "prior",
        2,
        False,
        "one trained model does not identify the correlation of its trials: the interval is "
        "prior-driven",
        "train more models, quote bayesaudit.dependence.tipping_point, or audit it as one run",
        fatal=False,
    ),
}

"""Scores of attacks whose true ε is known, for simulations."""

import numpy as np

import bayesaudit as ba

DELTA = 1e-5


def randomised_response(rng, n, epsilon):
    """A bit told by randomised response, spread so that many thresholds attain the true ε.

    Every threshold in [0.5, 1) has TPR/FPR = e^ε and every one in (0, 0.5] has TNR/FNR = e^ε.
    """
    member = np.repeat([True, False], n // 2)
    told = np.where(rng.random(n) < 1 / (1 + np.exp(-epsilon)), member, ~member)
    return ba.AttackScores(score=(rng.random(n) + told) / 2, member=member)


def true_epsilon(epsilon, delta=DELTA):
    """The supremum over thresholds of ε̂ at δ, attained at 0.5."""
    wrong = 1 / (1 + np.exp(epsilon))
    return float(ba.Epsilon(delta, "member").of(wrong, wrong))

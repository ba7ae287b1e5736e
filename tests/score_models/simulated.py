"""Scores whose true trade-off curve is known."""

import numpy as np

import bayesaudit as ba


def simulated(kind="normal", n=1000, seed=0, *, models=0, challenges=0, shift=0.5, mu=1.0):
    """Return scores: normal, with heavy tails ("t3"), or with 5 % members far away ("far")."""
    rng = np.random.default_rng(seed)
    member = np.repeat([0, 1], n)
    noise = rng.standard_t(3, 2 * n) if kind == "t3" else rng.standard_normal(2 * n)
    score = noise + mu * member
    if kind == "far":
        score += 4 * member * (rng.random(2 * n) < 0.05)
    columns = {}
    for name, size in (("model", models), ("challenge", challenges)):
        if size:
            # Each label has rows of both sides; the labels do not depend on the seed.
            code = np.random.default_rng(size).permutation(np.arange(2 * n) % size)
            score += shift * rng.standard_normal(size)[code]
            columns[name] = code
    return ba.AttackScores(score=score, member=member, **columns)

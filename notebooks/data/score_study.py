"""Coverage of score models by simulation, in truth and under misfit: writes score_study.csv.

Run from the repository root: ``python notebooks/data/score_study.py``; about a minute. The models
without shifts are conjugate, so that their exact posteriors serve, many audits at once.
"""

import csv
from pathlib import Path

import numpy as np
from scipy import special

import bayesaudit as ba
from bayesaudit.score_laws import conjugate_draws, rates_of

SEED, AUDITS, DRAWS, PROB = 20261207, 400, 1000, 0.90
DELTA, SUPPORT, THRESHOLDS, MODELS = 1e-5, 5, 41, 10
MU, EPSILON = ba.GaussianMu(), ba.Epsilon(DELTA, "member")
FAR, SHIFT = 0.05, 0.5


def normal(location, scale):
    return lambda x: (special.ndtr((x - location) / scale), special.ndtr((location - x) / scale))


def heavy(location):
    return lambda x: (special.stdtr(3, x - location), special.stdtr(3, location - x))


def with_far(x):
    near, far = normal(1, 1)(x), normal(5, 1)(x)
    return tuple((1 - FAR) * a + FAR * b for a, b in zip(near, far, strict=True))


def simulate(truth, n, rng):
    """Return scores of non-members and members, shape (AUDITS, n) each."""
    zero, one = rng.standard_normal((2, AUDITS, n))
    if truth == "heavier tails (t3)":
        return rng.standard_t(3, (AUDITS, n)), 1 + rng.standard_t(3, (AUDITS, n))
    if truth == "5 % far members":
        return zero, one + np.where(rng.random((AUDITS, n)) < FAR, 5.0, 1.0)
    if truth == "shifts of 10 models left out":
        shift = SHIFT * rng.standard_normal((AUDITS, MODELS))
        each = np.tile(shift, (1, n // MODELS))
        return zero + each, 1 + one + each
    return zero, 1 + one * (1.3 if truth == "binormal" else 1.0)


WIDE = np.hypot(1, SHIFT)
TRUTHS = {
    "location": (normal(0, 1), normal(1, 1)),
    "binormal": (normal(0, 1), normal(1, 1.3)),
    "heavier tails (t3)": (heavy(0), heavy(1)),
    "5 % far members": (normal(0, 1), with_far),
    "shifts of 10 models left out": (normal(0, WIDE), normal(1, WIDE)),
}


def thresholds(zero, one):
    """Return evenly spaced thresholds inside the support of every audit, (AUDITS, THRESHOLDS)."""
    zero, one = np.sort(zero, axis=1), np.sort(one, axis=1)
    low = np.maximum(zero[:, SUPPORT], one[:, SUPPORT])
    high = np.minimum(zero[:, -SUPPORT], one[:, -SUPPORT])
    return low[:, None] + (high - low)[:, None] * np.linspace(0, 1, THRESHOLDS)


def coverage(truth, family, n, rng):
    """Return how often the intervals hold the truth, and their mean ends, quantity by quantity."""
    zero, one = simulate(truth, n, rng)
    # The latent scale of `models.location`: centred between the sides, one pooled deviation.
    means = np.stack([zero.mean(1), one.mean(1)], -1)
    squares = np.stack([zero.var(1), one.var(1)], -1) * n
    center, unit = means.mean(-1), np.sqrt(squares.sum(-1) / (2 * n - 2))
    location, scale = conjugate_draws(
        family,
        np.full((AUDITS, 2), float(n)),
        (means - center[:, None]) / unit[:, None],
        squares / unit[:, None] ** 2,
        draws=DRAWS,
        rng=rng,
    )
    at = thresholds(zero, one)
    # The binormal model makes no claim about μ.
    measures = {"epsilon": EPSILON} | ({"mu": MU} if family == "location" else {})
    found = {name: [] for name in measures}
    for i in range(AUDITS):
        rates = rates_of((at[i] - center[i]) / unit[i], location[:, i], scale[:, i])
        (tnr, fpr), (fnr, tpr) = (law(at[i]) for law in TRUTHS[truth])
        true = {"fnr": fnr, "fpr": fpr, "tpr": tpr, "tnr": tnr}
        for name, measure in measures.items():
            ends = np.quantile(measure.of(**rates).max(1), [(1 - PROB) / 2, (1 + PROB) / 2])
            found[name].append((measure.of(**true).max(), *ends))
    for name, rows in found.items():
        true, lower, upper = np.array(rows).T
        yield {
            "truth": truth,
            "model": family,
            "n_per_side": n,
            "quantity": name,
            "coverage": round(float(np.mean((lower <= true) & (true <= upper))), 4),
            "lower_end_above": round(float(np.mean(lower > true)), 4),
            "mean_true": round(float(true.mean()), 4),
            "mean_lower": round(float(lower.mean()), 4),
            "mean_upper": round(float(upper.mean()), 4),
            "audits": AUDITS,
            "seed": SEED,
        }


def main():
    rows = []
    for i, truth in enumerate(TRUTHS):
        for j, n in enumerate((100, 500, 2000)):
            for k, family in enumerate(("location", "binormal")):
                rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(i, j, k)))
                rows += coverage(truth, family, n, rng)
    with open(Path(__file__).with_suffix(".csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

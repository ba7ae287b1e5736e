"""Simulation-based calibration of the score models by NUTS: writes score_sbc.csv.

Run from the repository root: ``python notebooks/data/score_sbc.py``; some minutes.
"""

import csv
from pathlib import Path

import numpy as np

import bayesaudit as ba
from bayesaudit.calibration import sbc

SEED, ROWS, MODELS = 20261207, 40, 5
EPSILON = ba.Epsilon(1e-2, "member")
#: model -> (builder, columns with a shift, variables, replicates)
CASES = {
    "location": (ba.models.location, (), ("mu", "scale"), 200),
    "binormal": (ba.models.binormal, (), ("location", "scale"), 200),
    "student": (ba.models.student, (), ("location", "scale", "nu"), 200),
    "location, shifts of models": (ba.models.location, ("model",), ("mu", "sd_model"), 200),
    "location, shifts of both": (ba.models.location, None, ("mu", "sd_model", "sd_challenge"), 100),
}


def design():
    """Return scores for their design alone: rows, labels and thresholds; SBC replaces the rest."""
    rng = np.random.default_rng(SEED)
    member = np.repeat([0, 1], ROWS)
    labels = np.arange(2 * ROWS)
    return ba.AttackScores(
        score=rng.normal(size=2 * ROWS) + member,
        member=member,
        model=labels % MODELS,
        challenge=labels // MODELS % 8,
    )


def main():
    rows = []
    for name, (builder, shifts, variables, replicates) in CASES.items():
        model = builder(design(), shifts=shifts, n_thresholds=3)
        found = sbc(
            model,
            EPSILON,
            variables=(*variables, "fnr", "fpr"),
            random_seed=SEED,
            replicates=replicates,
            draws=200,
            tune=400,
            thin=4,
        )
        for variable, ranks in found.values.items():
            rows.append(
                {
                    "model": name,
                    "variable": variable,
                    "p_value": round(found.p_values[variable], 4),
                    "mean_rank": round(float(ranks.mean()), 4),
                    **{f"decile_{i}": n for i, n in enumerate(np.histogram(ranks, 10, (0, 1))[0])},
                    "replicates": replicates,
                    "seed": SEED,
                }
            )
        print(name, found.p_value, flush=True)
    with open(Path(__file__).with_suffix(".csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

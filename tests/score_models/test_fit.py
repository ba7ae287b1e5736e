"""Checks of fit: silent in truth, loud under planted misfit; predictions of tails; LOO."""

import warnings

import arviz as az
import numpy as np
import pytest
from score_models.simulated import simulated

import bayesaudit as ba
from bayesaudit.diagnostics import score_loo, tail_prediction
from bayesaudit.diagnostics.score_fit import score_values

CHECKS = ("score_tails", "score_pit", "score_shifts")
EPSILON = ba.Epsilon(1e-5)


def exact(scores, family="binormal", draws=250, **options):
    return ba.sampling.conjugate_scores(scores, family, draws=draws, random_seed=1, **options)


def test_true_models_rarely_fail():
    failed = 0
    for seed in range(40):
        scores = simulated(n=300, seed=seed, models=10, shift=0.0)
        found = score_values(exact(scores, "location"))
        assert set(found) == set(CHECKS)
        failed += min(value for value, _ in found.values()) < 0.01
    # Each of the three errs in at most 1 % of data sets.
    assert failed <= 4


PLANTED = {
    "heavier tails": ("t3", {}, "score_tails"),
    "5 % far members": ("far", {}, "score_tails"),
    "a shift left out": ("normal", {"models": 10, "shift": 0.3}, "score_shifts"),
}


@pytest.mark.parametrize("family", ["location", "binormal"])
@pytest.mark.parametrize("planted", PLANTED)
def test_planted_misfit_fails(planted, family):
    kind, columns, check = PLANTED[planted]
    for seed in range(3):
        diagnosis = ba.diagnose(exact(simulated(kind, seed=seed, **columns), family), EPSILON)
        assert diagnosis.verdict == "failed"
        assert not diagnosis[check].passed
        assert check in str(diagnosis)


def test_models_of_counts_have_no_score_checks():
    dt = ba.sample(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), random_seed=1)
    assert score_values(dt) == {}


def test_the_shift_that_is_in_the_model_is_explained(shifted):
    scores, dt = shifted
    assert score_values(dt)["score_shifts"][0] > 0.01
    assert score_values(exact(scores, "location"))["score_shifts"][0] < 1e-6


def test_student_explains_heavy_tails_and_wins_by_leave_one_out(heavy_tailed):
    scores, dt = heavy_tailed
    assert min(value for value, _ in score_values(dt).values()) > 0.01
    with warnings.catch_warnings():
        # A far score is influential under normal tails, which the comparison is to tell.
        warnings.filterwarnings("ignore", message=".*Pareto")
        found = {"student": score_loo(dt), "binormal": score_loo(exact(scores))}
    assert az.compare(found).index[0] == "student"


@pytest.mark.slow
def test_student_does_not_explain_far_members():
    dt = ba.sample(ba.models.student(simulated("far")), draws=500, random_seed=3, groups=())
    assert min(value for value, _ in score_values(dt).values()) < 0.01


def test_predicted_tails_hold_the_observed_ones_in_truth_only():
    table = tail_prediction(exact(simulated(n=2000), draws=500), prob=0.999)
    rows = table.rows
    assert [row["rate"] for row in rows] == ["FPR"] * 4 + ["TPR"] * 4
    assert all(row["lower"] <= row["observed"] <= row["upper"] for row in rows)
    rows = tail_prediction(exact(simulated("t3", n=2000), draws=500), prob=0.99).rows
    assert any(row["observed"] > row["upper"] for row in rows if row["declared"] == 1e-3)
    np.testing.assert_allclose([row["declared"] for row in rows][:4], [1e-2, 1e-2, 1e-3, 1e-3])

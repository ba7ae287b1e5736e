"""Simulation-based calibration of PyMC models through `calibration.sbc`."""

import numpy as np
import pymc as pm
import pytest
from matplotlib.figure import Figure

import bayesaudit as ba
from bayesaudit.calibration import sbc

MEASURE = ba.Epsilon(1e-5)
COUNTS = ba.AttackCounts(fn=1, tp=29, fp=1, tn=39)


def another_world(rng):
    """Rates of a uniform prior whose trials are counted half: not what the model says."""
    fnr, fpr = rng.random(2)
    data = {
        "fn_counted": 2 * rng.binomial(15, fnr),
        "fp_counted": 2 * rng.binomial(20, fpr),
    }
    return {"fnr": fnr, "fpr": fpr}, data


def test_ranks_depend_on_the_seed_alone_and_a_wrong_world_is_caught():
    model = ba.models.independent(COUNTS)
    setting = {"replicates": 12, "draws": 60, "tune": 150, "random_seed": 3}
    one, two = (sbc(model, MEASURE, n_jobs=jobs, **setting) for jobs in (1, 2))
    for name in ("fnr", "fpr", "epsilon"):
        np.testing.assert_array_equal(one.values[name], two.values[name])
        assert np.all((one.values[name] > 0) & (one.values[name] < 1))
    assert one.to_dict()["draws"] == 24
    assert one.p_value > 0.001
    wrong = sbc(model, MEASURE, simulate=another_world, **{**setting, "replicates": 60})
    assert wrong.p_value < 1e-3


def test_variables_with_dims_are_ranked_entry_by_entry():
    rng, member = np.random.default_rng(1), np.repeat([0, 1], 40)
    scores = ba.AttackScores(score=rng.normal(size=80) + member, member=member)
    model = ba.models.location(scores, n_thresholds=2)
    setting = {"replicates": 12, "draws": 60, "tune": 150, "random_seed": 3}
    found = sbc(model, MEASURE, variables=("mu", "fnr"), **setting)
    assert list(found.values) == ["mu", "fnr[0]", "fnr[1]", "epsilon[0]", "epsilon[1]"]
    assert found.p_value > 0.001


@pytest.mark.slow
def test_the_independent_model_is_calibrated():
    found = sbc(ba.models.independent(COUNTS), MEASURE, random_seed=7, replicates=400)
    assert found.p_value > 0.01
    assert isinstance(ba.plots.sbc(found), Figure)


def test_models_without_containers_are_refused():
    with pm.Model() as model:
        fnr, fpr = pm.Beta("fnr", 0.5, 0.5), pm.Beta("fpr", 0.5, 0.5)
        pm.Binomial("fn", n=30, p=fnr, observed=3)
        pm.Binomial("fp", n=30, p=fpr, observed=3)
    with pytest.raises(ValueError, match=r"'fn' must be given by one pm\.Data container"):
        sbc(model, MEASURE, random_seed=1, replicates=2)

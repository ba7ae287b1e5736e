"""Planning in models: the betting bound's assurance, at a correlation and at the worst."""

import json
import math

import numpy as np
import pytest
from dependent_data import simulate

import bayesaudit as ba
from bayesaudit.calibration import plan
from bayesaudit.calibration._models import betting_assurance
from bayesaudit.calibration._strength import Pilot, Rates
from bayesaudit.cli import main

MEMBER = ba.Epsilon(1e-5, "member")


@pytest.mark.parametrize(("trials", "icc"), [(5, 0.0), (20, 0.1), (80, 0.05)])
def test_assurance_is_the_share_of_simulated_audits_whose_bound_exceeds_the_claim(trials, icc):
    """Bounds of audits drawn elsewhere; 80 trials a side are too many outcomes for a table."""
    found = betting_assurance(Rates(0.35, 0.25), 40, 0.45, MEMBER, 0.9, trials, icc, random_seed=1)
    counts = simulate(np.random.default_rng(2), 40, trials, icc, audits=(300,))
    share = float(np.mean(ba.betting_bound(counts, MEMBER).lower > 0.45))
    assert 0.1 < found < 0.995
    assert found == pytest.approx(share, abs=4 * math.sqrt(0.25 / 300 + 0.25 / 1000))


def test_the_worst_dependence_is_all_or_nothing_with_both_sides_together():
    found = betting_assurance(Rates(0.35, 0.25), 300, 0.45, MEMBER, 0.9, 20, None, random_seed=1)
    common = np.random.default_rng(3).random((300, 300))
    fn, fp = ((common < rate).astype(int) for rate in (0.35, 0.25))
    counts = ba.AttackCounts(fn=fn, tp=1 - fn, fp=fp, tn=1 - fp)
    share = float(np.mean(ba.betting_bound(counts, MEMBER).lower > 0.45))
    assert 0.3 < found < 0.9
    assert found == pytest.approx(share, abs=4 * math.sqrt(0.25 / 300 + 0.25 / 1000))
    options = {"measure": MEMBER, "prob": 0.9, "per_model": 10, "random_seed": 1}
    milder = [
        betting_assurance(Rates(0.35, 0.25), 300, 0.45, icc=icc, **options) for icc in (1.0, 0.3)
    ]
    assert found < milder[0] < milder[1]


def test_a_plan_in_models():
    found = plan(0.5, fnr=0.35, fpr=0.25, method="betting", per_model=20, icc=0.1)
    assert found.n == 20 * found.n_models and found.n_first == found.n_models
    assert 0.78 < found.assurance < 0.87
    assert found.n_models < found.n_models_any
    assert found.claim < found.ceiling < ba.betting_ceiling(found.n_models)
    # Whatever a model's trials, the least favourable dependence makes one of them.
    one = plan(0.5, fnr=0.35, fpr=0.25, method="betting")
    assert one.n_models_any == found.n_models_any > one.n_models > found.n_models
    given = plan(0.5, fnr=0.35, fpr=0.25, method="betting", per_model=20, icc=0.1, n=2000)
    assert (given.n_models, given.n_first, given.n_models_any) == (100, None, None)
    assert given.assurance > found.assurance
    assert "n_models_any" not in plan(0.5, fnr=0.35, fpr=0.25, n=100).to_dict()


def test_a_pilot_averages_over_its_posterior():
    pilot = ba.AttackCounts(fn=7, tp=13, fp=5, tn=15)
    found = betting_assurance(Pilot(pilot), 60, 0.5, MEMBER, 0.9, 10, 0.05, random_seed=4)
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(150):
        rates = rng.beta(7.5, 13.5), rng.beta(5.5, 15.5)
        counts = simulate(rng, 60, 10, 0.05, rates=rates)
        shares.append(ba.betting_bound(counts, MEMBER).lower > 0.5)
    assert found == pytest.approx(np.mean(shares), abs=4 * math.sqrt(0.25 / 150))


def test_the_plan_command_sets_betting_beside_the_others(capsys, tmp_path):
    words = ["plan", "--claim", "0.8", "--fnr", "0.1", "--fpr", "0.1", "--per-model", "5"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]["methods"]
    right = plan(0.8, fnr=0.1, fpr=0.1, method="betting", per_model=5)
    assert found["betting"]["n_models"] == right.n_models
    assert found["betting"]["n_models_any"] == right.n_models_any
    top = ba.betting_ceiling(right.n_models, 0.9, 1e-5)
    assert found["betting"]["ceiling_any_bound"] == pytest.approx(top)
    picture = tmp_path / "plan.png"
    assert main([*words, "--n", "100", "--method", "betting", "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "guaranteed under any dependence within a model" in printed
    assert "20 models show at most epsilon" in printed and picture.exists()
    assert "guaranteed if trials are independent" in printed


def test_refuses_what_no_number_of_models_shows():
    with pytest.raises(ValueError, match=r"claim must be below 0.9555, the epsilon-hat"):
        plan(1.0, fnr=0.35, fpr=0.25, method="betting")
    with pytest.raises(ValueError, match=r"max_n must be larger: 10 models of 20 trials"):
        plan(0.9, fnr=0.35, fpr=0.25, method="betting", per_model=20, max_n=200)
    with pytest.raises(ValueError, match=r"the largest epsilon that 10 models can show by betting"):
        plan(1.5, fnr=0.05, fpr=0.05, method="betting", per_model=20, n=200)

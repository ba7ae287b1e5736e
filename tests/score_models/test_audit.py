"""`audit_scores` and ``bayesaudit sample --model location|binormal|student``."""

import json

import numpy as np
import pytest
from score_models.simulated import simulated

import bayesaudit as ba
from bayesaudit.audits.score_model import audit_score_draws
from bayesaudit.cli import main


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    scores = simulated(n=200)
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    rows = np.column_stack([scores.member, scores.score])
    np.savetxt(path, rows, delimiter=",", header="member,score", comments="", fmt=["%d", "%.17g"])
    return str(path)


def test_a_misfit_comes_first_and_fails(capsys):
    found = audit_score_draws(ba.sampling.conjugate_scores(simulated("t3"), "binormal"))
    assert not found.passed
    assert found.warnings[0].startswith("the model does not fit (score_tails)")
    assert "FAILED" in str(found)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["results"]["diagnostics"][0]["passed"] is False
    assert {row["basis"] for row in document["results"]["curve"]["estimates"]} >= {
        "inside the support",
        "beyond the support: not given",
    }


def test_a_shift_left_out_is_said():
    dt = ba.sampling.conjugate_scores(simulated(models=10), "location")
    warnings = audit_score_draws(dt, extrapolate=True).warnings
    assert any("score_shifts" in text for text in warnings)
    assert any("no shift is in the model" in text for text in warnings)
    assert any("extrapolated by the model" in text for text in warnings)


def test_the_command_samples_and_prints_the_curve(file, tmp_path, capsys):
    out = str(tmp_path / "run.nc")
    options = ["--seed", "1", "--draws", "500", "--extrapolate", "--fpr", "0.1", "--strict"]
    status = main(["sample", file, "--model", "location", *options, "--json", "--out", out])
    document = json.loads(capsys.readouterr().out)
    assert status == 0
    assert document["inputs"]["model"] == "location" and document["inputs"]["seed"] == 1
    rows = document["results"]["curve"]["estimates"]
    mu = next(row for row in rows if row["quantity"] == "mu")
    assert mu["lower"] < 1 < mu["upper"]
    assert [row["basis"] for row in rows if row["quantity"] == "epsilon"] == [
        "inside the support",
        "extrapolated by the model",
        "no model of scores: descriptive",
        "guaranteed band: at least, without a model of scores",
    ]
    again = audit_score_draws(ba.load(out), fpr=[0.1], extrapolate=True, direction="both")
    assert again.to_dict()["results"] == document["results"]
    assert main(["diagnose", out, "--strict", "--json"]) == 0
    diagnosed = json.loads(capsys.readouterr().out)["results"]["diagnostics"]
    assert diagnosed == document["results"]["diagnostics"]
    assert main(["diagnose", out, "--claim", "1"]) == 2
    assert "takes no --claim" in capsys.readouterr().err


REFUSED = {
    "threshold": (["--threshold", "1"], "--model location takes scores, and no --threshold"),
    "conjugate": (["--method", "conjugate"], "--method nuts, got conjugate"),
    "prior": (["--prior", "uniform"], "no --prior"),
    "support": (["--support", "0"], "--support must be"),
    "logit": (["--transform", "logit"], "--transform must be 'identity' for scores outside"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_go_with_a_model_of_scores_is_refused(file, case, capsys):
    options, message = REFUSED[case]
    assert main(["sample", file, "--model", "location", *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1


def test_score_options_need_a_model_of_scores(capsys):
    counts = ["--fn", "1", "--tp", "9", "--fp", "1", "--tn", "9"]
    assert main(["sample", *counts, "--extrapolate"]) == 2
    assert "--extrapolate needs --model location, binormal or student" in capsys.readouterr().err
    assert main(["sample", *counts, "--model", "student"]) == 2
    assert "no --fn" in capsys.readouterr().err


def test_counts_in_a_file_are_refused(tmp_path, capsys):
    path = tmp_path / "counts.csv"
    path.write_text("fn,tp,fp,tn\n1,9,1,9\n")
    assert main(["sample", str(path), "--model", "binormal"]) == 2
    assert "needs scores, got AttackCounts" in capsys.readouterr().err

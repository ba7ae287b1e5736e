"""``bayesaudit estimate --one-run`` as a person and as a program see it."""

import json

import numpy as np
import pytest

from bayesaudit import onerun
from bayesaudit.cli import main

TALLY = ["--one-run", "--canaries", "1000", "--guesses", "200", "--correct", "150"]


def run_json(capsys, *arguments: str) -> dict:
    assert main(["estimate", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(21)
    member = rng.random(400) < 0.5
    score = np.round(2 * member + rng.standard_normal(400), 2)
    path = tmp_path / "scores.csv"
    rows = [f"{int(bit)},{value!r}" for bit, value in zip(member, score.tolist(), strict=True)]
    path.write_text("\n".join(["member,score", *rows]) + "\n")
    return path, score, member


def test_json_holds_every_bound_with_what_it_assumes(capsys):
    document = run_json(capsys, *TALLY, "--delta", "1e-5", "--prob", "0.9")
    confidence = document["results"]["epsilon"]["confidence"]
    assert document["results"]["epsilon"]["credible"] is None
    assert "no posterior" in document["results"]["epsilon"]["credible_reason"]
    tally = {"n_canaries": 1000, "n_guesses": 200, "n_correct": 150, "delta": 1e-5}
    for name, method, curve in [
        ("all-subset", "all-subset", "gaussian"),
        ("steinke", "steinke", "gaussian"),
        ("f-dp", "f-dp", "gaussian"),
        ("f-dp-epsilon-delta", "f-dp", "epsilon-delta"),
    ]:
        result = onerun.audit(**tally, method=method, curve=curve, prob=0.9)
        assert confidence[name] == result.to_dict()
    assert set(confidence) == {"all-subset", "steinke", "f-dp", "f-dp-epsilon-delta"}
    assert {name: document["inputs"][name] for name in tally} == tally


def test_independent_canaries_only_when_asked_for_and_never_silently(capsys):
    document = run_json(capsys, *TALLY, "--independent-canaries")
    found = document["results"]["epsilon"]["confidence"]
    for name in ("xiang", "xiang-epsilon-delta"):
        assert "assumes independent canaries" in found[name]["assumption"]
    assert any("independent canaries" in note for note in document["warnings"])


def test_delta_0_is_null_with_a_reason(capsys):
    document = run_json(capsys, *TALLY, "--delta", "0")
    found = document["results"]["epsilon"]["confidence"]["f-dp"]
    assert found["lower"] is None and "delta = 0" in found["reason"]
    assert any("f-dp at delta 0" in note for note in document["warnings"])


def test_many_deltas_and_a_claim(capsys):
    document = run_json(capsys, *TALLY, "--delta", "1e-6", "--delta", "1e-3", "--claim", "0.5")
    first, second = document["results"]["by_delta"]
    lower = [one["epsilon"]["confidence"]["all-subset"]["lower"] for one in (first, second)]
    assert lower[0] > lower[1]
    p = onerun.audit(n_canaries=1000, n_guesses=200, n_correct=150, delta=1e-3).p_value(0.5)
    assert second["claim"]["p_value"]["all-subset"] == pytest.approx(p)
    assert first["claim"]["epsilon"] == 0.5


def test_scores_with_a_declared_grid(capsys, scores):
    path, score, member = scores
    document = run_json(
        capsys, str(path), "--one-run", "--guesses", "40", "--guesses", "60,20", "--delta", "1e-5"
    )
    expected = onerun.audit_scores(score, member, guesses=[40, (60, 20)], delta=1e-5)
    found = document["results"]["epsilon"]["confidence"]["all-subset"]
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert found["lower"] > 0 and found["n_rules"] == 2 and found["declared"] is True
    assert document["inputs"]["guesses"] == [40, [60, 20]]


def test_scores_with_another_label_for_member(capsys, scores, tmp_path):
    path, _, _ = scores
    other = tmp_path / "named.csv"
    text = path.read_text().replace("\n1,", "\nin,").replace("\n0,", "\nout,")
    other.write_text(text)
    options = ["--one-run", "--guesses", "80"]
    one = run_json(capsys, str(path), *options)["results"]
    assert run_json(capsys, str(other), "--positive", "in", *options)["results"] == one


def test_a_file_of_many_models_is_not_one_run(capsys, tmp_path):
    path = tmp_path / "models.csv"
    path.write_text("member,score,model\n1,0.5,a\n0,0.4,b\n")
    assert main(["estimate", str(path), "--one-run", "--guesses", "1"]) == 2
    assert "holds 2 models; one run takes the rows of one" in capsys.readouterr().err
    path.write_text("member,score,model\n1,0.5,a\n0,0.4,a\n")
    assert main(["estimate", str(path), "--one-run", "--guesses", "1"]) == 0


def test_files_that_fair_coins_did_not_make(capsys, tmp_path):
    path = tmp_path / "members.csv"
    path.write_text("member,score\n" + "1,0.5\n" * 60)
    document = run_json(capsys, str(path), "--one-run", "--guesses", "10")
    assert sum("fair coins" in note for note in document["warnings"]) == 1
    arguments = ["estimate", str(path), "--one-run", "--guesses", "10", "--positive", "in"]
    assert main(arguments) == 2
    assert "no row's member is 'in'" in capsys.readouterr().err


def test_table(capsys):
    assert main(["estimate", *TALLY, "--claim", "0.5"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "one run: 1000 canaries, 200 guesses, 150 right"
    assert "any dependence" in shown.out and "Gaussian" in shown.out
    assert "confidence 0.95" in shown.out and "credible" not in shown.out
    assert shown.err == ""
    assert "With confidence 0.95 the training leaks at least epsilon 0.82106" in lines[-1]
    none = ["--one-run", "--canaries", "100", "--guesses", "50", "--correct", "25"]
    assert main(["estimate", *none]) == 0
    assert "no leak is shown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--one-run"], "--one-run needs --guesses."),
        (["--one-run", "--guesses", "5"], "missing --canaries, --correct"),
        (["--one-run", "--guesses", "5", "--canaries", "9"], "missing --correct"),
        ([*TALLY, "--guesses", "10"], "--guesses must be one number"),
        ([*TALLY, "--fn", "3"], "--one-run takes no --fn"),
        ([*TALLY, "--prior", "uniform"], "--one-run takes no --prior"),
        ([*TALLY, "--direction", "member"], "--one-run takes no --direction"),
        ([*TALLY, "--delta", "2"], "--delta must be in [0, 1], got 2.0"),
        ([*TALLY, "--prob", "95"], "did you mean 0.95?"),
        ([*TALLY, "--claim", "-1"], "--claim must be finite and >= 0"),
        ([*TALLY[:-1], "201"], "--correct must be <= --guesses = 200, got 201"),
        (["x.csv", *TALLY], "takes a file or --canaries, got both"),
        (["--fn", "1", "--tp", "1", "--fp", "1", "--tn", "1", "--correct", "3"], "needs --one-run"),
        (["missing.csv", "--one-run", "--guesses", "3"], "missing.csv: "),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(capsys, arguments, message):
    assert main(["estimate", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert message in shown.err


def test_a_file_without_scores_is_named(capsys, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("fn,tp,fp,tn\n1,2,3,4\n")
    assert main(["estimate", str(path), "--one-run", "--guesses", "2"]) == 2
    assert "--one-run needs columns member,score; got fn,tp,fp,tn" in capsys.readouterr().err

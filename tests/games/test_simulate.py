"""The simulate command: its file feeds estimate, its output names the relation."""

import json

import numpy as np
import pytest

from bayesaudit.cli import main


def simulate(capsys, *arguments):
    status = main(["simulate", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def small(out, *extra):
    return (
        *("--experiment 2 --samples 40 --per-model 4 --train-size 40 --steps 10").split(),
        *("--noise-multiplier 2 --seed 1 --out").split(),
        out,
        *extra,
    )


def columns(path):
    with open(path) as file:
        assert file.readline() == "score,member,model,challenge\n"
    return np.loadtxt(path, delimiter=",", skiprows=1).T


def test_scores_feed_estimate(tmp_path, capsys):
    out = tmp_path / "scores.csv"
    status, text, progress = simulate(capsys, *small(out))
    assert status == 0
    assert "under REPLACE_ONE" in text
    assert "10/10 models" in progress
    score, member, model, challenge = columns(out)
    np.testing.assert_array_equal(model, np.repeat(np.arange(10), 4))
    np.testing.assert_array_equal(challenge, np.arange(40))
    assert main(["estimate", str(out), "--threshold", "0", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["inputs"]["counts"]
    positive, member = score > 0, member == 1
    expected = {
        "fn": (~positive & member).sum(),
        "tp": (positive & member).sum(),
        "fp": (positive & ~member).sum(),
        "tn": (~positive & ~member).sum(),
    }
    assert {cell: int(np.sum(counts[cell])) for cell in expected} == expected


def test_json(tmp_path, capsys):
    status, text, _ = simulate(capsys, *small(tmp_path / "s.csv", "--json"))
    document = json.loads(text)
    assert status == 0
    assert document["schema_version"] == 1
    assert document["results"]["claim"]["neighboring_relation"] == "REPLACE_ONE"
    assert sum(document["results"]["counts"].values()) == 40
    assert document["inputs"]["seed"] == 1
    assert document["results"]["mechanism"]["noise_multiplier"] == 2
    assert document["results"]["n_models"] == 10


def test_jobs_and_resume_give_the_same_file(tmp_path, capsys):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    assert simulate(capsys, *small(one))[0] == 0
    assert simulate(capsys, *small(two, "--jobs", "2", "--shard-size", "3"))[0] == 0
    assert one.read_bytes() == two.read_bytes()
    status, _, error = simulate(capsys, *small(two))
    assert status == 2
    assert "add --resume" in error
    two.unlink()
    assert simulate(capsys, *small(two, "--resume"))[0] == 0
    assert one.read_bytes() == two.read_bytes()
    status, _, error = simulate(capsys, *small(two, "--resume", "--challenges", "bias"))
    assert status == 2
    assert "adversary differs" in error


@pytest.mark.parametrize(
    "arguments",
    [
        "--mechanism gaussian --mu 1",
        "--mechanism gaussian --epsilon 2 --experiment 2 --per-model 5",
        "--mechanism laplace --epsilon 2",
        "--mechanism randomized-response",
        "--challenges average-case --attack calibrated --references 2",
        "--challenges mislabelled --hidden 4",
        "--challenges far-out --data digits",
        "--challenges private-coordinate --attack step-likelihood",
        "--challenges copies --attack step-likelihood",
        "--challenges orthogonal --noise-multiplier 0",
        "--challenges bias --epsilon 2",
    ],
)
def test_every_part_plays(tmp_path, capsys, arguments):
    out = tmp_path / "scores.csv"
    common = "--samples 20 --train-size 30 --steps 5 --seed 2 --out"
    status, text, error = simulate(capsys, *arguments.split(), *common.split(), out)
    assert status == 0, error
    assert "REPLACE_ONE" in text
    assert columns(out).shape == (4, 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--per-model 3", "--per-model is for --experiment 2"),
        ("--mechanism laplace --attack loss", "--attack loss does not fit"),
        ("--attack optimal", "--attack optimal does not fit"),
        ("--mu 1", "--mu is for --mechanism gaussian"),
        ("--mechanism gaussian --noise-multiplier 1", "--noise-multiplier is for"),
        ("--experiment 2 --per-model 7", "multiple of per_model"),
        ("--experiment 2 --per-model 2 --challenges copies", "n_challenges must be 1"),
        ("--epsilon -1", "epsilon must be > 0"),
        ("--sampling-rate 2", "--sampling-rate must be in"),
        ("--train-size 0", "n_train must be >= 1"),
        ("--data digits --train-size 1799", "n_records must be at most 1797"),
    ],
)
def test_usage_errors(tmp_path, capsys, arguments, message):
    out = tmp_path / "scores.csv"
    status, _, error = simulate(
        capsys, *arguments.split(), "--samples", 20, "--seed", 1, "--out", out
    )
    assert status == 2
    assert message in error
    assert not list(tmp_path.iterdir()), "a refused run leaves nothing behind"


def test_missing_directory(tmp_path, capsys):
    out = tmp_path / "absent" / "scores.csv"
    status, _, error = simulate(capsys, "--seed", 1, "--out", out)
    assert status == 2
    assert "no such directory" in error


def test_copies_warn_that_the_guess_is_constant(tmp_path, capsys):
    base = "--samples 30 --train-size 20 --steps 4 --sampling-rate 0.5 --noise-multiplier 0.5"
    base += " --seed 1 --challenges copies"
    _, text, errors = simulate(capsys, *base.split(), "--json", "--out", tmp_path / "s.csv")
    document = json.loads(text)
    counts = document["results"]["counts"]
    assert "the guess is nearly constant" in document["warnings"][0]
    assert "warning: with copies" in errors
    assert min(counts["tp"] + counts["fp"], counts["tn"] + counts["fn"]) == 0
    steps = (*base.split(), "--attack", "step-likelihood")
    _, text, errors = simulate(capsys, *steps, "--json", "--out", tmp_path / "t.csv")
    assert json.loads(text)["warnings"] == [] and "warning" not in errors

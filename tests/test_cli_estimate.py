import json
from pathlib import Path

import pytest

import bayesaudit as ba
from bayesaudit.cli import main

SCORES = Path(__file__).parent.parent / "notebooks" / "data" / "labeldp_cifar10_RR_H.csv"
EXAMPLE = ["--fn", "35", "--tp", "65", "--fp", "25", "--tn", "75"]


def run(capsys, *args):
    status = main(["estimate", *map(str, args)])
    out, err = capsys.readouterr()
    return status, out, err


def document(capsys, *args):
    status, out, err = run(capsys, *args, "--json")
    assert status == 0
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON")), err


def test_json_of_four_counts(capsys):
    found, err = document(capsys, *EXAMPLE, "--delta", "1e-5", "--claim", "1")
    assert err == ""
    assert found["schema_version"] == 1
    assert found["bayesaudit_version"] == ba.__version__
    assert found["inputs"]["counts"] == {"fn": 35, "tp": 65, "fp": 25, "tn": 75}
    assert {found["inputs"][key] for key in ("direction", "prior")} == {"both", "jeffreys"}
    epsilon = found["results"]["epsilon"]
    assert epsilon["credible"]["lower"] == pytest.approx(0.6625508837, abs=1e-9)
    assert epsilon["credible"]["upper"] == pytest.approx(1.2762430724, abs=1e-9)
    assert epsilon["confidence"]["clopper-pearson"]["lower"] == pytest.approx(0.45849758296324)
    assert {"clopper-pearson", "jeffreys", "wilson"} <= set(epsilon["confidence"])
    post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(1e-5))
    assert found["results"]["claim"] == {"epsilon": 1, "prob_above": post.sf(1.0)}
    assert found["warnings"] == []


def test_real_scores(capsys):
    status, out, err = run(capsys, SCORES, "--threshold", "0.5", "--delta", "0")
    assert status == 0
    assert "FN 663, FP 0, TP 337, TN 1000" in out
    assert "[5.16669, 12.05204]" in out
    assert "no model column" in err and "independent is an assumption" in err
    found, _ = document(capsys, SCORES, "--threshold", "0.5", "--delta", "0")
    assert found["results"]["epsilon"]["confidence"]["clopper-pearson"]["upper"] is None
    assert found["results"]["epsilon"]["confidence"]["clopper-pearson"]["upper_reason"]
    assert any("no model column" in warning for warning in found["warnings"])


def test_near_chance_shows_both_directions_and_the_atom(capsys):
    coin = ["--fn", "50", "--tp", "50", "--fp", "50", "--tn", "50"]
    found, err = document(capsys, *coin, "--delta", "0.1")
    epsilon = found["results"]["epsilon"]
    assert epsilon["credible"]["prob_zero"] == pytest.approx(0.8463, abs=1e-4)
    assert epsilon["credible_member"]["upper"] < epsilon["credible"]["upper"]
    assert "near chance" in err
    _, out, _ = run(capsys, *coin, "--delta", "0.1")
    assert "P(epsilon-hat = 0 | data) = 0.846" in out
    found, err = document(capsys, *EXAMPLE)
    assert "credible_member" not in found["results"]["epsilon"]


def test_several_deltas_and_options(capsys):
    found, _ = document(
        capsys, *EXAMPLE, "--delta", "0", "--delta", "0.05", "--prob", "0.95",
        "--direction", "member", "--prior", "1,1",
    )  # fmt: skip
    assert [row["delta"] for row in found["results"]["by_delta"]] == [0, 0.05]
    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    right = ba.posterior(counts, ba.Epsilon(0.05, "member"), prior="uniform").interval(0.95)
    last = found["results"]["by_delta"][1]["epsilon"]["credible"]
    assert (last["lower"], last["upper"]) == (right.lower, right.upper)
    status, out, _ = run(capsys, *EXAMPLE, "--delta", "0", "--delta", "0.05")
    assert status == 0 and out.count("exact posterior") == 2


def test_files_of_counts_and_guesses(capsys, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("fn,tp,fp,tn\n35,65,25,75\n", encoding="utf-8")
    found, err = document(capsys, path)
    assert found["inputs"]["counts"]["fn"] == 35 and err == ""
    path.write_text("fn,tp,fp,tn\n35,65,25,75\n0,100,0,100\n", encoding="utf-8")
    found, _ = document(capsys, path)
    assert len(found["results"]["tallies"]) == len(found["inputs"]["counts"]) == 2
    guesses = tmp_path / "guesses.csv"
    guesses.write_text("member,guess\n1,1\ntrue,0\n0,False\n0,1\n", encoding="utf-8")
    found, err = document(capsys, guesses)
    assert found["inputs"]["counts"] == {"fn": 1, "tp": 1, "fp": 1, "tn": 1}
    assert "no model column" in err
    named = tmp_path / "named.tsv"
    named.write_text("member\tguess\nin\tin\nin\tout\nout\tout\n", encoding="utf-8")
    found, _ = document(capsys, named, "--positive", "in")
    assert found["inputs"]["counts"] == {"fn": 1, "tp": 1, "fp": 0, "tn": 1}


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (3, 7, 0, 0), (0, 0, 3, 7)])
def test_one_class_is_refused_as_for_guesses_and_scores(capsys, cells):
    words = [
        w for name, n in zip(("fn", "tp", "fp", "tn"), cells, strict=True) for w in (f"--{name}", n)
    ]
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "") and "must have both classes, got" in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--fn", "3"], "needs a file or all four counts; missing --tp, --fp, --tn"),
        ([*EXAMPLE[:-1], "-1"], "tn must be >= 0, got -1"),
        ([*EXAMPLE, "--delta", "2"], "--delta must be in [0, 1], got 2.0"),
        ([*EXAMPLE, "--delta", "nan"], "--delta must be a real number, got NaN"),
        ([*EXAMPLE, "--prob", "90"], "--prob must be in (0, 1), got 90.0; did you mean 0.9?"),
        ([*EXAMPLE, "--claim", "-1"], "--claim must be finite and >= 0, got -1.0"),
        ([*EXAMPLE, "--prior", "0,1"], "prior must have finite shape parameters > 0"),
        (["missing.csv"], "missing.csv: No such file or directory"),
        ([str(SCORES)], "holds scores, which need --threshold"),
        ([str(SCORES), "--threshold", "x"], "--threshold must be a number, got 'x'"),
        ([str(SCORES), "--fn", "1"], "takes a file or counts"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(capsys, args, message):
    status, out, err = run(capsys, *args)
    assert status == 2 and out == ""
    assert message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("member,guess\n1,1\n2,0\n", "row 3: member must be 0/1 or false/true"),
        ("member,guess\n1,1\n0,maybe\n", "row 3: guess must be 0/1"),
        ("member,score\n1,0.1\n0,abc\n", "row 3: score must be a number, got 'abc'"),
        ("member,score\n1,0.1\n0,nan\n", "row 3: score must not be NaN"),
        ("member,score\n1,0.1\n1,0.2\n", "must have both classes, got 2 members only"),
        ("who,score\n1,0.1\n", "must have columns fn,tp,fp,tn, or member,guess"),
        ("member,score\n1,0.1,7\n", "row 2: must have 2 fields"),
        ("fn,tp,fp,tn\n1,2,3,x\n", "row 2: tn must be a whole number, got 'x'"),
    ],
)
def test_data_errors_name_the_file_and_row(capsys, tmp_path, text, message):
    path = tmp_path / "attack.csv"
    path.write_text(text, encoding="utf-8")
    args = ["--threshold", "0.15"] if "score" in text else []
    status, _, err = run(capsys, path, *args)
    assert status == 2
    assert "attack.csv" in err and message in err and err.count("\n") == 1


def test_argparse_errors_exit_2(capsys):
    for args in (["--direction", "up"], ["--prior", "flat"], ["--fn", "1.5"]):
        with pytest.raises(SystemExit) as stop:
            main(["estimate", *args])
        assert stop.value.code == 2
    with pytest.raises(SystemExit) as stop:
        main(["estimate", "--help"])
    assert stop.value.code == 0
    assert "bayesaudit estimate scores.csv" in capsys.readouterr().out


def test_exact_unconditional_is_the_recommended_confidence_line(capsys):
    assert main(["estimate", *EXAMPLE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]["epsilon"]["confidence"]
    assert next(iter(found)) == "exact-unconditional"
    # Folded, from the reference table; direction member gives 0.630696.
    assert found["exact-unconditional"]["lower"] == pytest.approx(0.63069581, abs=1e-6)
    assert found["exact-unconditional"]["upper"] is None
    assert main(["estimate", *EXAMPLE]) == 0
    assert "leaks at least epsilon 0.63070" in capsys.readouterr().out

import json
import math
import subprocess
import sys

import pytest
from scipy.special import ndtr, ndtri

import bayesaudit as ba
from bayesaudit.cli import main


def run(capsys, *args):
    status = main(["fano", *map(str, args)])
    out, err = capsys.readouterr()
    return status, out, err


def document(capsys, *args):
    status, out, err = run(capsys, *args, "--json")
    assert status == 0
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON")), err


def test_json_from_information(capsys):
    found, err = document(capsys, "--categories", 10, "--mutual-information", 0.1)
    assert err == "" and found["schema_version"] == 1
    assert found["bayesaudit_version"] == ba.__version__
    results = found["results"]
    assert results["advantage"] == pytest.approx(0.17429600189944494274, rel=1e-12)
    assert results["success"] == pytest.approx(0.25686640170950044846, rel=1e-12)
    assert results["error"] == pytest.approx(0.74313359829049955154, rel=1e-12)
    assert results["method"] == "erokhin" and results["vacuous"] is False
    assert found["inputs"]["categories"] == 10
    assert found["warnings"] == []


@pytest.mark.parametrize(
    ("method", "right"),
    [
        ("erokhin", 0.18762130891622099861),
        ("paper", 0.28344194003680604345),
        ("han-verdu", 0.26157561079182280079),
    ],
)
def test_prior_inline_and_from_files(capsys, tmp_path, method, right):
    texts = {
        "plain.txt": "0.4 0.35\n0.2  # a comment\n0.05\n",
        "row.csv": "0.05,0.35,0.2,0.4\n",
        "list.json": "[0.4, 0.35, 0.2, 0.05]",
    }
    sources = ["0.4,0.35,0.2,0.05"]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        sources.append(tmp_path / name)
    for source in sources:
        found, _ = document(
            capsys, "--prior", source, "--mutual-information", 0.05, "--method", method
        )
        assert found["results"]["advantage"] == pytest.approx(right, rel=1e-12)
        assert found["results"]["method"] == method


def test_rdp_and_relations(capsys):
    rdp = ("--categories", 10, "--rdp-epsilon", 1, "--order", 2)
    added, _ = document(capsys, *rdp)
    assert added["results"]["from_information"]["advantage"] == pytest.approx(
        0.65468580727217578596, rel=1e-12
    )
    replaced, _ = document(capsys, *rdp, "--relation", "replace-one")
    from_information = replaced["results"]["from_information"]
    assert from_information["advantage"] == pytest.approx(0.59326312910203266357, rel=1e-12)
    for lead in (replaced["results"], replaced["results"]["best"]):
        assert lead["method"] == "renyi-fano" and lead["premise"] == "RDP at order 2: 1"
        assert lead["advantage"] == pytest.approx(0.43694416481069539, rel=1e-12)
    two, _ = document(capsys, "--categories", 10, "--rdp-epsilon", 1, 0.5, "--order", 2, 1.5)
    assert two["results"]["mutual_information"] == 0.5
    assert two["inputs"]["order"] == [2.0, 1.5]
    pure, _ = document(capsys, "--categories", 10, "--pure-epsilon", 1, "--relation", "replace-one")
    from_information = pure["results"]["from_information"]
    assert from_information["advantage"] == pytest.approx(0.38836658537571949719, rel=1e-12)
    assert pure["results"]["advantage"] == pytest.approx(0.14663257409341548, rel=1e-12)
    assert pure["results"]["premise"] == "1-DP"


def test_dp_sgd(capsys):
    sgd = ("--noise-multiplier", 1, "--sampling-rate", 0.01, "--steps", 1000)
    found, _ = document(capsys, "--categories", 10, *sgd, "--no-accountants")
    assert found["results"]["advantage"] == pytest.approx(0.1579, abs=5e-5)
    assert found["results"]["mutual_information"] == pytest.approx(0.083812207650831, rel=1e-12)
    assert found["inputs"]["steps"] == 1000
    pytest.importorskip("dp_accounting")
    status, out, err = run(capsys, "--categories", 10, *sgd)
    assert status == 0 and err == ""
    lines = out.splitlines()
    assert lines[0].startswith("advantage: at most 0.104669")
    assert lines[0].endswith("(f-dp: privacy profile (epsilon, delta(epsilon)), add-or-remove-one)")
    assert lines[5].split()[:2] == ["f-dp", "0.104669"]
    assert any(line.startswith("rero-rdp") for line in lines)


def test_notes_go_to_stderr(capsys):
    found, err = document(capsys, "--prior", "1", "--mutual-information", 0.3)
    assert found["results"]["advantage"] == 0 and found["results"]["success"] == 1
    assert not found["results"]["vacuous"]
    assert "by convention" in err and "by convention" in found["warnings"][0]
    found, err = document(capsys, "--categories", 2, "--mutual-information", 5)
    assert found["results"]["vacuous"] and "vacuous" in err
    found, _ = document(capsys, "--categories", "1e10", "--mutual-information", 24)
    assert found["results"]["advantage"] == 1 and found["inputs"]["categories"] == 10**10
    found, _ = document(capsys, "--categories", 2, "--mutual-information", "inf")
    assert found["results"]["vacuous"]
    # Nothing says more of the secret than the secret holds.
    assert found["results"]["mutual_information"] == pytest.approx(math.log(2), rel=1e-15)
    assert found["results"]["mutual_information_premise"] == "entropy of the secret"


def test_approximate_gaussian_and_concentrated_premises(capsys):
    base = ("--categories", 10)
    found, err = document(capsys, *base, "--epsilon", 1, "--delta", 1e-5)
    results = found["results"]
    assert err == "" and results["premise"] == "(1, 1e-05)-DP"
    assert results["success"] == pytest.approx(math.e / 10 + 1e-5, rel=1e-12)
    assert results["mutual_information"] == pytest.approx(math.log(10), rel=1e-15)
    found, _ = document(capsys, *base, "--gdp-mu", 1)
    assert found["results"]["premise"] == "1-GDP"
    assert found["results"]["success"] == pytest.approx(ndtr(ndtri(0.1) + 1), rel=1e-12)
    assert found["results"]["mutual_information"] == 0.5
    found, _ = document(capsys, *base, "--zcdp-rho", 0.1)
    assert found["results"]["mutual_information"] == 0.1
    methods = {bound["method"] for bound in found["results"]["bounds"]}
    assert {"rero-zcdp", "erokhin"} <= methods
    mixture, _ = document(capsys, *base, "--gdp-mu", 1, "--relation", "replace-one")
    right = ba.fano.kl_mixture_information(0.5, categories=10)
    assert mixture["results"]["mutual_information"] == pytest.approx(right, rel=1e-15)


def test_a_method_by_name_leads(capsys):
    found, _ = document(
        capsys, "--categories", 10, "--rdp-epsilon", 1, "--order", 2, "--method", "paper"
    )
    assert found["results"]["method"] == "paper"
    assert found["results"]["best"]["method"] == "renyi-fano"


def test_target_advantage(capsys):
    pytest.importorskip("dp_accounting")
    target = ("--categories", 10, "--target-advantage", 0.1)
    found, err = document(capsys, *target, "--steps", 4)
    assert err == ""
    results = found["results"]
    budget = ba.fano.information_budget(0.1, categories=10)
    assert results["mutual_information"] == budget
    assert results["pure_epsilon"]["value"] == ba.fano.calibrate_epsilon(0.1, categories=10).value
    noise = results["noise_multiplier"]
    assert noise["value"] == pytest.approx(2 / (ndtri(0.19) - ndtri(0.1)), rel=1e-8)
    # What was found, given back as a premise, keeps the target.
    back, _ = document(
        capsys, "--categories", 10, "--steps", 4, "--noise-multiplier", noise["value"]
    )
    assert back["results"]["advantage"] == pytest.approx(0.1, rel=1e-6)
    found, _ = document(capsys, *target)
    assert found["results"]["noise_multiplier"] is None
    status, out, _ = run(capsys, *target, "--steps", 4)
    assert status == 0 and out.splitlines()[-1].split()[:4] == [
        "noise", "multiplier", "at", "least",
    ]  # fmt: skip


def test_the_accountants_say_nothing_on_stderr():
    pytest.importorskip("dp_accounting")
    command = [
        sys.executable, "-m", "bayesaudit", "fano", "--categories", "2", "--noise-multiplier", "2",
        "--sampling-rate", "0.5", "--steps", "10",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout.startswith("advantage: at most ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--categories", 1, "--mutual-information", 1), "whole number >= 2"),
        (("--categories", 2.5, "--mutual-information", 1), "whole number >= 2"),
        (("--categories", "ten", "--mutual-information", 1), "whole number >= 2, got 'ten'"),
        (("--prior", "nowhere.txt", "--mutual-information", 1), "nowhere.txt: No such file"),
        (("--prior", "0.4,0.4", "--mutual-information", 1), "add up to 1, got 0.8"),
        (("--prior", "0.4,,", "--mutual-information", 1), "add up to 1, got 0.4"),
        (("--prior", "[1, 2", "--mutual-information", 1), "not a JSON list"),
        (("--prior=-0.5,1.5", "--mutual-information", 1), "finite probabilities >= 0"),
        (("--categories", 2), "give one of --mutual-information"),
        (("--categories", 2, "--mutual-information", -1), "must be >= 0 nats, got -1.0"),
        (("--categories", 2, "--mutual-information", "nan"), "must be >= 0 nats, got nan"),
        (("--categories", 2, "--rdp-epsilon", 1), "go together"),
        (("--categories", 2, "--rdp-epsilon", 1, 2, "--order", 2), "one --order for each"),
        (("--categories", 2, "--rdp-epsilon", 1, "--order", 0.5), "order must be >= 1"),
        (("--categories", 2, "--steps", 5, "--mutual-information", 1), "need --noise-multiplier"),
        (("--categories", 2, "--noise-multiplier", 0), "must be finite and > 0"),
        (("--categories", 2, "--noise-multiplier", 1, "--steps", -1), "--steps must be >= 0"),
        (("--categories", 2, "--noise-multiplier", 1, "--sampling-rate", 2), "in [0, 1]"),
        (("--categories", 2, "--epsilon", 1), "--epsilon and --delta go together"),
        (("--categories", 2, "--gdp-mu", -1), "must be"),
        (("--categories", 2, "--zcdp-rho", -1), "must be"),
        (("--categories", 2, "--target-advantage", 0.1, "--gdp-mu", 1), "leave --gdp-mu out"),
        (("--categories", 2, "--target-advantage", 2), "--target-advantage must be in (0, 1)"),
        (
            ("--categories", 2, "--noise-multiplier", 1, "--relation", "replace-one"),
            "leave --relation out",
        ),
    ],
)
def test_one_line_errors(capsys, args, message):
    status, out, err = run(capsys, *args)
    assert status == 2 and out == ""
    assert len(err.splitlines()) == 1 and err.startswith("bayesaudit fano: ")
    assert message in err


def test_prior_file_names_its_line(capsys, tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text("0.5\nhalf\n")
    status, _, err = run(capsys, "--prior", path, "--mutual-information", 1)
    assert status == 2 and f"{path}: line 2: not a probability: 'half'" in err
    path.write_text("\n")
    status, _, err = run(capsys, "--prior", path, "--mutual-information", 1)
    assert status == 2 and "no probabilities" in err

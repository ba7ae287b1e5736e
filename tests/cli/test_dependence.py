"""Data with a model column on the command line."""

import json

import numpy as np
import pytest
from dependent_data import counts_of, simulate

import bayesaudit as ba
from bayesaudit.cli import main

LOGIT_NORMAL = """
import numpy as np
import pymc as pm
import pytensor.tensor as pt


def logit_normal(counts):
    x, weight = np.polynomial.hermite_e.hermegauss(21)
    with pm.Model(coords={"model": range(counts.shape[0])}) as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            location, spread = pm.Normal(f"a_{side}", 0, 1.5), pm.HalfNormal(f"b_{side}", 1)
            z = pm.Normal(f"z_{side}", dims="model")
            mean = pt.sum(weight / weight.sum() * pm.math.invlogit(location + spread * x))
            pm.Deterministic(side, mean)
            p = pm.math.invlogit(location + spread * z)
            pm.Binomial(errors, n, p, observed=getattr(counts, errors), dims="model")
    return model


def no_return(counts):
    logit_normal(counts)
"""


def write(path, counts):
    rows = zip(counts.fn, counts.tp, counts.fp, counts.tn, strict=True)
    lines = [f"m{j},{','.join(map(str, row))}" for j, row in enumerate(rows)]
    path.write_text("model,fn,tp,fp,tn\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def ten(tmp_path):
    return write(tmp_path / "ten.csv", counts_of("D1"))


@pytest.fixture
def one(tmp_path):
    return write(tmp_path / "one.csv", counts_of("D3"))


def run(capsys, *args):
    status = main([str(arg) for arg in args])
    return status, *capsys.readouterr()


def document(capsys, *args):
    status, out, err = run(capsys, *args, "--json")
    assert status == 0, err
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON")), err


def test_estimate_prints_both_intervals_and_recommends(capsys, ten):
    found, _ = document(capsys, "estimate", ten, "--claim", 1)
    epsilon, dependence = found["results"]["epsilon"], found["results"]["dependence"]
    counts = counts_of("D1")
    for key, options in (
        ("credible", {"dependence": "independent"}),
        ("dependent", {"dependence": "beta-binomial"}),
    ):
        post = ba.posterior(counts, ba.Epsilon(1e-5), **options)
        ends = tuple(post.interval(0.90))
        assert (epsilon[key]["lower"], epsilon[key]["upper"]) == pytest.approx(ends, abs=1e-9)
        assert epsilon[key]["median"] == pytest.approx(post.median(), abs=1e-9)
    assert epsilon["dependent"]["model"] == "beta-binomial"
    assert epsilon["dependent"]["prob_above_claim"] < found["results"]["claim"]["prob_above"]
    assert set(dependence["icc"]) == {"fnr", "fpr"}
    assert dependence["icc"]["fnr"] == pytest.approx(0.1649, abs=1e-4)
    assert (dependence["n_models"], dependence["identified"]) == (10, True)
    assert dependence["recommended"] == "beta-binomial"
    assert dependence["comparison"]["preferred"] == "beta-binomial"
    assert {"cluster-bootstrap", "xbern"} <= set(epsilon["confidence"])
    status, out, _ = run(capsys, "estimate", ten, "--claim", 1)
    assert status == 0
    for text in ("1.12677", "0.85904", "design effect 9.08", "Recommended: the beta-binomial"):
        assert text in out


def test_estimate_of_one_model_never_falls_back_to_independence(capsys, one):
    found, _ = document(capsys, "estimate", one)
    results = found["results"]
    dependence = results["dependence"]
    assert (dependence["n_models"], dependence["identified"]) == (1, False)
    assert dependence["icc"] == {"fnr": None, "fpr": None}
    assert (
        dependence["recommended"] == "one-run" and results["epsilon"]["dependent"]["prior_driven"]
    )
    points = dependence["tipping_point"]["points"]
    assert [point["icc"] for point in points] == [0.0, 0.01, 0.1, 0.3]
    status, out, _ = run(capsys, "estimate", one)
    assert status == 0
    assert "not identified, the interval is prior-driven" in out
    assert "one-run" in out and "Recommended: train more models" in out
    assert "correlation    lower" in out


def test_estimate_of_trials_with_a_model_column(capsys, tmp_path):
    rng = np.random.default_rng(2)
    model = np.repeat(np.arange(8), 30)
    member = np.tile([0, 1], 120)
    score = member + rng.normal(size=240) + 0.8 * rng.normal(size=8)[model]
    path = tmp_path / "scores.csv"
    rows = "\n".join(f"{s:.6f},{m},{j}" for s, m, j in zip(score, member, model, strict=True))
    path.write_text(f"score,member,model\n{rows}\n", encoding="utf-8")
    found, err = document(capsys, "estimate", path, "--threshold", 0.5)
    assert found["results"]["dependence"]["n_models"] == 8 and "no model column" not in err
    assert "dependent" in found["results"]["epsilon"]


def test_independent_data_and_several_deltas(capsys, tmp_path):
    path = write(tmp_path / "free.csv", simulate(np.random.default_rng(5), 12, 40, 0.0))
    found, _ = document(capsys, "estimate", path, "--delta", 0, "--delta", 0.01)
    results = found["results"]
    assert results["dependence"]["comparison"]["preferred"] == "independent"
    assert [place["delta"] for place in results["by_delta"]] == [0.0, 0.01]
    ends = [place["epsilon"]["dependent"]["lower"] for place in results["by_delta"]]
    assert ends[0] > ends[1] and results["epsilon"]["dependent"]["lower"] == ends[0]


def test_one_trial_a_model_and_models_of_one_outcome(capsys, tmp_path):
    path = tmp_path / "edge.csv"
    path.write_text("model,fn,tp,fp,tn\na,1,0,0,1\nb,0,1,0,1\nc,1,0,1,0\n", encoding="utf-8")
    found, _ = document(capsys, "estimate", path)
    assert "does not matter" in found["results"]["dependence"]["message"]
    path.write_text("model,fn,tp,fp,tn\na,20,0,0,20\nb,0,20,20,0\n", encoding="utf-8")
    status, out, _ = run(capsys, "estimate", path)
    assert status == 0 and "intra-model correlation 1.000, design effect 20.00" in out
    assert "cluster-bootstrap" not in out


def test_icc_prior_is_an_option(capsys, ten):
    wide, _ = document(capsys, "estimate", ten, "--icc-prior", "uniform")
    known, _ = document(capsys, "estimate", ten, "--icc-prior", "0")
    chosen, _ = document(capsys, "estimate", ten, "--icc-prior", "2,8")
    lower = [doc["results"]["epsilon"]["dependent"]["lower"] for doc in (wide, chosen, known)]
    assert lower[0] < lower[1] < lower[2]
    assert lower[2] == pytest.approx(known["results"]["epsilon"]["credible"]["lower"], abs=1e-9)
    assert wide["results"]["epsilon"]["dependent"]["icc_prior"] == "uniform"


@pytest.mark.parametrize("command", ["estimate", "sample"])
def test_icc_prior_needs_a_model_column(capsys, command):
    cells = ("--fn", 1, "--tp", 9, "--fp", 2, "--tn", 8)
    status, out, err = run(capsys, command, *cells, "--icc-prior", "uniform")
    assert (status, out) == (2, "") and "needs data with a model column" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [("flat", "must be default"), ("1.5", "must be in [0, 1)"), ("1,0", "shape")],
)
def test_a_bad_icc_prior_is_refused(capsys, ten, text, message):
    with pytest.raises(SystemExit) as caught:
        main(["estimate", ten, "--icc-prior", text])
    assert caught.value.code == 2 and message in capsys.readouterr().err


def test_sample_takes_the_users_model(capsys, ten, tmp_path, monkeypatch):
    (tmp_path / "my_models_of_audits.py").write_text(LOGIT_NORMAL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = ("--draws", 400, "--tune", 500, "--seed", 4)
    name = "my_models_of_audits:logit_normal"
    found, err = document(capsys, "sample", ten, "--model", name, *options)
    epsilon, dependence = found["results"]["epsilon"], found["results"]["dependence"]
    assert epsilon["dependent"]["model"] == found["inputs"]["model"] == name
    assert epsilon["dependent"]["lower"] == pytest.approx(0.86, abs=0.15)
    assert epsilon["beta_binomial"]["lower"] == pytest.approx(0.85904, abs=1e-4)
    assert found["results"]["cross_check"] is None
    candidates = {row["name"] for row in dependence["comparison"]["candidates"]}
    assert candidates == {"independent", "beta-binomial", name}
    # Its effects are not integrated out, so that its LOO cannot be trusted, and is said not to be.
    assert "log_marginal" in err
    for bad, message in (
        ("my_models_of_audits:no_return", "is `return model` missing?"),
        ("my_models_of_audits:nothing", "must have a function 'nothing'"),
        ("no_module_of_mine:f", "cannot import 'no_module_of_mine'"),
    ):
        status, out, err = run(capsys, "sample", ten, "--model", bad, *options)
        assert (status, out) == (2, "") and message in err and len(err.splitlines()) == 1


def test_sample_of_pooled_trials_only_on_request(capsys, ten):
    found, _ = document(capsys, "sample", ten, "--method", "conjugate", "--seed", 1)
    assert found["inputs"]["method"] == "conjugate" and found["results"]["cross_check"]["passed"]
    assert found["results"]["epsilon"]["dependent"]["model"] == "beta-binomial"
    status, out, err = run(capsys, "sample", ten, "--method", "conjugate", "--model", "independent")
    assert (status, out) == (2, "") and "--model takes method nuts" in err


def test_sample_defaults_to_beta_binomial(capsys, ten):
    options = ("--draws", 500, "--tune", 500, "--seed", 2)
    found, _ = document(capsys, "sample", ten, *options)
    assert (found["inputs"]["method"], found["inputs"]["model"]) == ("nuts", "beta_binomial")
    results = found["results"]
    assert results["cross_check"]["passed"] and results["diagnostics"]["passed"]
    gap = results["epsilon"]["draws"]["lower"] - results["epsilon"]["dependent"]["lower"]
    assert abs(gap) < 4 * results["epsilon"]["draws"]["mcse"]["lower"]

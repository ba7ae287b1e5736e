"""``estimate --threshold STRATEGY`` and ``--curve``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from simulated_scores import randomised_response

import bayesaudit as ba
from bayesaudit.audits import STRATEGIES as NAMES
from bayesaudit.cli import main
from bayesaudit.thresholds import STRATEGIES

REAL = Path(__file__).parent.parent / "notebooks" / "data" / "labeldp_cifar10_RR_M.csv"


def run(capsys, *args):
    status = main(["estimate", *map(str, args)])
    out, err = capsys.readouterr()
    return status, out, err


def document(capsys, *args):
    status, out, err = run(capsys, *args, "--json")
    assert status == 0, err
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


@pytest.fixture
def scores_file(tmp_path):
    scores = randomised_response(np.random.default_rng(8), 400, 3)
    frame = pd.DataFrame({"member": scores.member.astype(int), "score": scores.score})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv", scores


def test_the_names_are_those_of_the_library():
    assert {"fixed", *NAMES} == set(STRATEGIES)


@pytest.mark.parametrize("name", ["band", "multi-split", "bonferroni", "optimistic"])
def test_json_of_a_choice_on_all_rows(capsys, scores_file, name):
    path, scores = scores_file
    found = document(capsys, path, "--threshold", name, "--seed", 5, "--claim", 1)
    bound = ba.threshold_bound(scores, ba.Epsilon(1e-5), strategy=name, random_seed=5)
    entry = found["results"]["epsilon"]["confidence"]["clopper-pearson"]
    assert entry["lower"] == bound.lower
    assert (entry["upper"], entry["guarantee"]) == (None, bound.guarantee)
    assert found["results"]["epsilon"]["credible"] is None
    assert found["results"]["epsilon"]["credible_reason"]
    threshold = found["results"]["threshold"]
    assert (threshold["strategy"], threshold["value"]) == (name, bound.threshold)
    assert threshold["is_bound"] == (name != "optimistic")
    assert found["results"]["claim"]["refuted"] == (name != "optimistic")
    assert found["inputs"]["direction"] == "member"
    if name == "multi-split":
        assert found["inputs"]["counts"] is None
        assert threshold["value_reason"]
    else:
        assert found["inputs"]["counts"] == bound.counts.to_dict()


def test_json_of_a_split(capsys, scores_file):
    path, scores = scores_file
    found = document(capsys, path, "--threshold", "split", "--seed", 5, "--claim", 1)
    bound = ba.threshold_bound(scores, ba.Epsilon(1e-5), strategy="split", random_seed=5)
    post = ba.posterior(bound.counts, ba.Epsilon(1e-5, "member"))
    epsilon = found["results"]["epsilon"]
    assert epsilon["credible"]["lower"] == bound.lower
    assert epsilon["credible"]["joint_lower"] == pytest.approx(post.interval(0.9).lower)
    assert epsilon["credible"]["upper"] == pytest.approx(post.interval(0.9).upper)
    assert post.cdf(epsilon["credible"]["upper"]) - post.cdf(bound.lower) >= 0.9
    exact = ba.confidence_interval(bound.counts, ba.Epsilon(1e-5, "member"), 0.9)
    assert epsilon["confidence"]["clopper-pearson"]["lower"] == exact.lower
    assert found["results"]["claim"]["prob_above"] == post.sf(1.0)
    assert found["results"]["threshold"]["n_selection"] == 120
    assert (found["inputs"]["seed"], found["inputs"]["counts"]) == (5, bound.counts.to_dict())
    again = document(capsys, path, "--threshold", "split", "--seed", 5, "--claim", 1)
    assert again == found


def test_a_declared_number_is_the_fixed_strategy(capsys, scores_file):
    path, scores = scores_file
    found = document(capsys, path, "--threshold", 0.5)
    assert found["results"]["threshold"] == {"strategy": "fixed", "value": 0.5, "is_bound": True}
    assert found["inputs"]["counts"] == scores.counts(0.5).to_dict()


def test_several_deltas(capsys, scores_file):
    path, scores = scores_file
    found = document(capsys, path, "--threshold", "band", "--delta", 0, "--delta", 0.1)
    rows = found["results"]["by_delta"]
    band = ba.confidence_band(scores)
    for row, delta in zip(rows, [0, 0.1], strict=True):
        assert row["delta"] == delta
        lower = row["epsilon"]["confidence"]["clopper-pearson"]["lower"]
        assert lower == band.best(ba.Epsilon(delta))[0]


def test_several_deltas_of_a_split_share_its_threshold(capsys, scores_file):
    path, scores = scores_file
    found = document(capsys, path, "--threshold", "split", "--delta", 0, "--delta", 0.1)
    bound = ba.threshold_bound(scores, ba.Epsilon(0), strategy="split")
    assert found["inputs"]["counts"] == bound.counts.to_dict()
    assert found["results"]["threshold"]["value"] == bound.threshold
    for row in found["results"]["by_delta"]:
        lower = ba.two_direction_bound(bound.counts, row["delta"], 0.9).lower
        assert row["epsilon"]["credible"]["lower"] == lower
        assert row["epsilon"]["credible"]["joint_lower"] >= lower


def test_declared_looks_share_the_level(capsys, scores_file):
    path, scores = scores_file
    found = document(capsys, path, "--threshold", "band", "--looks", 5)
    lower = found["results"]["epsilon"]["confidence"]["clopper-pearson"]["lower"]
    assert lower == ba.threshold_bound(scores, ba.Epsilon(1e-5), 0.98).lower
    status, _, err = run(capsys, path, "--threshold", "band", "--looks", "anytime")
    assert (status, "--looks anytime does not go with" in err) == (2, True)
    status, _, err = run(capsys, path, "--threshold", "split", "--looks", "anytime")
    assert (status, "chosen anew at each look" in err) == (2, True)


def test_json_says_what_the_roc_is(capsys):
    found = document(capsys, REAL, "--threshold", "band")
    curve = ba.read_attack(REAL).roc()
    assert found["results"]["roc"]["auc"] == curve.auc
    low, high = found["results"]["roc"]["tpr_at_fpr"]
    assert (low["requested_fpr"], high["requested_fpr"]) == (0.001, 0.01)
    assert high["fpr"] <= 0.01
    assert high["tpr"] == max(curve.tpr[curve.fpr <= 0.01])


def test_what_a_person_reads(capsys, scores_file):
    path, _ = scores_file
    status, out, err = run(capsys, path, "--threshold", "band", "--claim", 1)
    assert status == 0
    assert "guaranteed, at all thresholds at once" in out
    assert "With confidence 0.95 the training leaks at least epsilon" in out
    assert "claim of epsilon 1 is refuted" in out
    assert "no model column" in err
    _, out, err = run(capsys, path, "--threshold", "optimistic")
    assert "NOT A BOUND" in out
    assert "not a bound" in out and "leaks at least" not in out
    assert "not a bound" in err
    _, out, _ = run(capsys, path, "--threshold", "split")
    assert "on the 280 rows that did not choose" in out
    assert "lower end two-direction" in out
    assert "with posterior probability at least 0.9" in out
    _, out, _ = run(capsys, path, "--threshold", "multi-split")
    assert "every split has its own threshold" in out


def test_null_scores_show_no_leak(capsys, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"member": np.arange(300) % 2, "score": rng.normal(size=300)})
    frame.to_csv(tmp_path / "null.csv", index=False)
    for name in ("band", "split", "multi-split", "bonferroni"):
        _, out, _ = run(capsys, tmp_path / "null.csv", "--threshold", name)
        assert "no leak is shown" in out


def test_models_and_aliases(capsys, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "is_member": np.tile([1, 0], 100),
            "confidence": rng.normal(size=200),
            "model_id": np.repeat(np.arange(10), 20),
        }
    )
    frame.to_parquet(tmp_path / "scores.parquet")
    found = document(capsys, tmp_path / "scores.parquet", "--threshold", "split")
    assert found["results"]["threshold"]["n_selection"] == 60
    assert any("dependent" in warning for warning in found["warnings"])
    frame.to_csv(tmp_path / "scores.csv", index=False)
    numbers = [
        document(capsys, tmp_path / name, "--threshold", 0.25)
        for name in ("scores.csv", "scores.parquet")
    ]
    scores = ba.read_attack(tmp_path / "scores.csv")
    for found in numbers:
        assert found["inputs"]["counts"] == scores.counts(0.25).to_dict()


def test_other_formats_of_counts_and_guesses(capsys, tmp_path):
    (tmp_path / "counts.json").write_text('{"fn": 35, "tp": 65, "fp": 25, "tn": 75}')
    found = document(capsys, tmp_path / "counts.json")
    assert found["inputs"]["counts"] == {"fn": 35, "tp": 65, "fp": 25, "tn": 75}
    frame = pd.DataFrame({"member": [1, 1, 0, 0], "guess": [1, 0, 0, 1], "model": list("abab")})
    frame.to_parquet(tmp_path / "guesses.parquet")
    found = document(capsys, tmp_path / "guesses.parquet")
    assert found["inputs"]["counts"] == {"fn": 1, "tp": 1, "fp": 1, "tn": 1}
    status, _, err = run(capsys, tmp_path / "guesses.parquet", "--threshold", 1)
    assert (status, "holds guesses, which take no --threshold" in err) == (2, True)
    np.savez(tmp_path / "scores.npz", in_canary_scores=[2.0, 3.0], out_canary_scores=[1.0])
    status, _, err = run(capsys, tmp_path / "scores.npz")
    assert (status, "holds scores, which need --threshold" in err) == (2, True)


# -- curves ----------------------------------------------------------------------------------------


def test_curve_of_counts(capsys, tmp_path):
    path = tmp_path / "curve.csv"
    example = ["--fn", 35, "--tp", 65, "--fp", 25, "--tn", 75]
    found = document(capsys, *example, "--delta", 0.05, "--curve", path)
    table = pd.read_csv(path)
    assert found["results"]["curve"]["rows"] == len(table)
    assert list(table)[:4] == ["delta", "median", "lower", "upper"]
    row = table[table.delta == 0.05].iloc[0]
    assert row.lower == pytest.approx(found["results"]["epsilon"]["credible"]["lower"], abs=1e-12)
    exact = found["results"]["epsilon"]["confidence"]["clopper-pearson"]["lower"]
    assert row.confidence_lower == pytest.approx(exact, abs=1e-12)
    assert (table.simultaneous_lower <= table.lower).all()


def test_curve_of_a_band_and_a_split(capsys, scores_file, tmp_path):
    path, scores = scores_file
    curve = tmp_path / "curve.csv"
    document(capsys, path, "--threshold", "band", "--curve", curve)
    table = pd.read_csv(curve)
    assert list(table) == ["delta", "lower", "threshold"]
    assert np.all(np.diff(table.lower) <= 0)
    band = ba.confidence_band(scores)
    assert table.lower[table.delta == 1e-5].item() == band.best(ba.Epsilon(1e-5))[0]
    found = document(capsys, path, "--threshold", "split", "--curve", curve, "--force")
    table = pd.read_csv(curve)
    joint = found["results"]["epsilon"]["credible"]["joint_lower"]
    assert table.lower[table.delta == 1e-5].item() == pytest.approx(joint, abs=1e-12)
    assert 0.8 < found["results"]["curve"]["pointwise_mass"] <= 0.9


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([REAL, "--threshold", "best"], "--threshold must be a number, got 'best'; or band, split"),
        (["--threshold", "band"], "--threshold band needs a file of scores"),
        (["--threshold", "band", "--fn", 1], "takes scores, not --fn"),
        ([REAL, "--threshold", "0.5", "--seed", 1], "--seed needs --threshold split"),
        ([REAL, "--threshold", "split", "--seed", -1], "--seed must be >= 0"),
        ([REAL, "--threshold", "bonferroni", "--curve", "x.csv"], "--curve goes with counts"),
        (["--one-run", "--curve", "x.csv"], "--one-run takes no --curve"),
        (["--one-run", "--seed", 3], "--seed needs --threshold split"),
        (["missing.csv", "--threshold", "band"], "missing.csv: No such file"),
        (["missing.csv", "--threshold", "0.5"], "missing.csv: No such file"),
    ],
)
def test_usage_errors_are_one_line(capsys, args, message):
    status, _, err = run(capsys, *args)
    assert status == 2
    assert message in err and err.count("\n") == 1


def test_counts_take_no_strategy(capsys, tmp_path):
    (tmp_path / "counts.csv").write_text("fn,tp,fp,tn\n1,2,3,4\n2,3,4,5\n")
    status, _, err = run(capsys, tmp_path / "counts.csv", "--threshold", "band")
    assert (status, "holds counts, which take no --threshold" in err) == (2, True)
    status, _, err = run(capsys, tmp_path / "counts.csv", "--curve", tmp_path / "x.csv")
    assert (status, "--curve takes a single tally, got 2" in err) == (2, True)

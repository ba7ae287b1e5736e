"""The line that is guaranteed under any dependence within a model, in audits of every kind."""

import json

import numpy as np
import pytest
from dependent_data import simulate

import bayesaudit as ba
from bayesaudit.cli import main


def counts_of_models(models=40):
    counts = simulate(np.random.default_rng(1), models, 20, 0.1, rates=(0.2, 0.1))
    return ba.AttackCounts(**counts.to_dict(), axis="model")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, counts = tmp_path_factory.mktemp("betting"), counts_of_models()
    rows = {"counts": ["model,fn,tp,fp,tn"], "guesses": ["model,member,guess"], "scores": []}
    for m, cells in enumerate(zip(*counts.to_dict().values(), strict=True)):
        rows["counts"].append(f"m{m}," + ",".join(map(str, cells)))
        for (member, guess), times in zip(((1, 0), (1, 1), (0, 1), (0, 0)), cells, strict=True):
            rows["guesses"] += [f"m{m},{member},{guess}"] * times
    rows["scores"] = [line.replace("guess", "score") for line in rows["guesses"]]
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: str(folder / f"{name}.csv") for name in rows}


@pytest.mark.parametrize(
    ("name", "asked"), [("counts", {}), ("guesses", {}), ("scores", {"threshold": 0.5})]
)
def test_per_model_data_quote_the_betting_bound(files, name, asked):
    found = ba.audit(files[name], claim=0.3, **asked)
    line = found.recommended
    right = ba.confidence_interval(counts_of_models(), ba.Epsilon(1e-5), method="betting").lower
    assert line.method == "betting" and line.is_guaranteed
    assert line.lower == pytest.approx(right, abs=1e-8) and right > 0.3
    assert f"whatever that dependence, at least epsilon {right:.5f} leaks" in found.conclusion
    assert "any dependence within a model" in str(found)


def test_bounds_of_independent_trials_say_what_they_suppose(files):
    found = ba.audit(files["counts"])
    for method in ("exact-unconditional", "clopper-pearson"):
        line = found.line(method)
        assert "guaranteed only if trials of a model are independent" in line.promise
        assert line.lower > found.recommended.lower
    assert not any("guaranteed if trials are independent" in line.promise for line in found.lines)


def test_a_split_by_models_quotes_the_bound_of_the_models_that_did_not_choose(files):
    found = ba.audit(files["scores"], threshold="split", random_seed=1)
    assert found.counts.shape == (28,)
    right = ba.betting_bound(found.counts, ba.Epsilon(1e-5, "member")).lower
    assert found.recommended.method == "betting" and found.recommended.lower == right


def test_looks_anytime_hold_after_each_model_in_any_order(files):
    found = ba.audit(files["counts"], looks="anytime")
    right = ba.anytime_models(counts_of_models(), ba.Epsilon(1e-5), order="any").lower
    assert found.recommended.method == "anytime betting"
    assert found.recommended.lower == pytest.approx(right, abs=1e-7) and right > 0.2
    assert found.line("betting") is None
    assert "only if trials of a model are independent" in found.line("anytime").promise
    assert any("looked at after each model" in warning for warning in found.warnings)


def test_models_of_one_trial_quote_the_bound_of_independent_trials():
    rng = np.random.default_rng(2)
    member = rng.integers(0, 2, 300)
    guess = rng.random(300) < np.where(member, 0.7, 0.2)
    data = {"guess": guess, "member": member}
    counts = ba.AttackCounts.from_guesses(**data, model=np.arange(300))
    found, plain = ba.audit(counts), ba.audit(ba.AttackCounts.from_guesses(**data))
    assert found.recommended.method == "exact-unconditional"
    assert found.recommended.lower == plain.recommended.lower > found.line("betting").lower > 0.3
    assert found.recommended.promise == "confidence, guaranteed: every model has one trial"


def test_the_command_line_prints_them(files, capsys):
    assert main(["estimate", files["counts"], "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["results"]["epsilon"]["confidence"]
    assert lines["betting"]["guarantee"] == "guaranteed"
    assert lines["betting"]["assumption"].startswith("trained models are independent")
    assert lines["clopper-pearson"]["assumption"] == "all trials are independent"
    assert main(["estimate", files["counts"], "--looks", "anytime"]) == 0
    printed = capsys.readouterr().out
    assert "anytime betting" in printed and "after each model" in printed

import json

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.cli import main

EXAMPLE = ["--fn", "35", "--tp", "65", "--fp", "25", "--tn", "75"]
PERFECT = ["--fn", "0", "--tp", "100", "--fp", "0", "--tn", "100"]


def run(capsys, *args):
    status = main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    return status, out, err


def document(capsys, *args):
    status, out, err = run(capsys, *args, "--json")
    assert status == 0
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON")), err


def test_json_is_that_of_estimate_plus_the_verdicts(capsys):
    options = [*EXAMPLE, "--delta", "1e-5", "--claim", "1"]
    found, err = document(capsys, "sample", *options, "--seed", "7")
    estimated, _ = document(capsys, "estimate", *options)
    assert err == ""
    assert found["inputs"].pop("seed") == 7
    assert found["inputs"].pop("method") == "conjugate"
    assert (found["inputs"].pop("draws"), found["inputs"].pop("chains")) == (2000, 4)
    assert found["inputs"] == estimated["inputs"]
    results = found["results"]
    assert results["claim"] == estimated["results"]["claim"]
    assert results["epsilon"]["credible"] == estimated["results"]["epsilon"]["credible"]
    assert results["cross_check"]["passed"] is True
    assert results["cross_check"]["max_abs_z"] < 4.5 and results["cross_check"]["reason"]
    assert results["diagnostics"]["passed"] is True
    for check in results["diagnostics"]["checks"]:
        assert {"name", "value", "threshold", "passed"} <= set(check)
    draws = results["epsilon"]["draws"]
    assert (
        abs(draws["lower"] - results["epsilon"]["credible"]["lower"]) < 4 * draws["mcse"]["lower"]
    )


def test_nuts_on_request(capsys):
    options = ["--method", "nuts", "--draws", 500, "--tune", 500, "--seed", 3]
    found, err = document(capsys, "sample", *EXAMPLE, *options)
    assert err == ""
    assert (found["inputs"]["method"], found["inputs"]["sampler"]) == ("nuts", "nutpie")
    assert found["results"]["cross_check"]["passed"]
    names = {check["name"] for check in found["results"]["diagnostics"]["checks"]}
    assert {"divergences", "bfmi", "tree_depth"} <= names


def test_a_seed_repeats_and_a_fresh_one_is_told(capsys):
    first, _ = document(capsys, "sample", *EXAMPLE)
    seed = first["inputs"]["seed"]
    again, _ = document(capsys, "sample", *EXAMPLE, "--seed", seed)
    assert again == first
    status, out, _ = run(capsys, "sample", *EXAMPLE, "--seed", seed)
    assert status == 0 and f"seed {seed}" in out


def test_a_caution_names_the_number_and_is_no_failure(capsys):
    arguments = ["sample", *PERFECT, "--seed", "1", "--claim", "6"]
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert "cross-check passed" in out
    assert "diagnostics passed, 1 caution" in out and "prior_sensitivity" in out
    assert "FN = 0, FP = 0: the upper end is the prior's: 12.2 under Jeffreys' prior" in out
    assert "P(epsilon-hat > 6 | data)" in out
    assert run(capsys, *arguments, "--strict")[0] == 0
    assert run(capsys, "sample", *EXAMPLE, "--seed", "1", "--strict")[0] == 0


def test_several_deltas_from_one_fit(capsys):
    found, _ = document(capsys, "sample", *EXAMPLE, "--delta", 0, "--delta", 0.1, "--seed", 1)
    results = found["results"]
    assert [place["delta"] for place in results["by_delta"]] == [0, 0.1]
    for place in results["by_delta"]:
        assert place["cross_check"]["passed"] and place["epsilon"]["draws"]
    assert results["cross_check"] == results["by_delta"][0]["cross_check"]
    assert results["by_delta"][0]["epsilon"]["draws"] != results["by_delta"][1]["epsilon"]["draws"]
    status, out, _ = run(capsys, "sample", *EXAMPLE, "--delta", 0, "--delta", 0.1, "--seed", 1)
    assert status == 0 and out.count("cross-check passed") == 2


def test_a_file_of_tallies_is_one_fit(capsys, tmp_path):
    table = tmp_path / "counts.csv"
    table.write_text("fn,tp,fp,tn\n35,65,25,75\n5,45,9,41\n")
    out_file = tmp_path / "run.nc"
    found, _ = document(capsys, "sample", table, "--seed", 1, "--out", out_file)
    assert len(found["inputs"]["counts"]) == 2
    for result in found["results"]["tallies"]:
        assert result["cross_check"]["passed"]
    dt = ba.load(out_file)
    assert dt["posterior"].sizes["tally"] == 2
    status, _, err = run(capsys, "diagnose", out_file)
    assert status == 2 and "holds many tallies" in err


def test_diagnose_reads_what_sample_wrote(capsys, tmp_path):
    path = tmp_path / "run.nc"
    sampled, _ = document(capsys, "sample", *EXAMPLE, "--seed", 1, "--out", path)
    found, err = document(capsys, "diagnose", path, "--figures", tmp_path / "figures")
    assert err == ""
    assert found["results"]["epsilon"]["draws"] == sampled["results"]["epsilon"]["draws"]
    assert found["results"]["diagnostics"] == sampled["results"]["diagnostics"]
    assert found["results"]["cross_check"] == sampled["results"]["cross_check"]
    assert found["inputs"]["run"]["random_seed"] == "1"
    written = {p.name for p in (tmp_path / "figures").iterdir()}
    assert {"region.png", "distribution.png", "trace.png", "rank.png", "ess.png"} <= written
    status, out, _ = run(capsys, "diagnose", path, "--strict", "--delta", "0.01")
    assert status == 0 and "epsilon at delta 0.01" in out


def test_diagnose_takes_draws_from_elsewhere(capsys, tmp_path):
    import xarray as xr

    rng = np.random.default_rng(0)
    rates = {
        name: (("chain", "draw"), rng.beta(a, b, (4, 20)))
        for name, a, b in (("fnr", 35, 65), ("fpr", 25, 75))
    }
    path = tmp_path / "elsewhere.nc"
    xr.DataTree.from_dict({"posterior": xr.Dataset(rates)}).to_netcdf(path, engine="h5netcdf")
    found, _ = document(capsys, "diagnose", path)
    assert found["results"]["cross_check"] is None
    assert found["results"]["diagnostics"]["passed"] is False
    status, out, _ = run(capsys, "diagnose", path, "--strict")
    assert status == 1 and "nothing recorded" in out and "ess_bulk" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sample", *EXAMPLE, "--draws", "0"], "draws must be a whole number >= 4"),
        (["sample", *EXAMPLE, "--seed", "-1"], "--seed must be a whole number >= 0"),
        (["sample", *EXAMPLE, "--delta", "2"], "--delta must be in [0, 1]"),
        (["sample", "--fn", "3"], "needs a file or all four counts"),
        (["diagnose", "nothing.nc"], "nothing.nc: No such file or directory"),
        (["diagnose", "pyproject.toml"], "must be a netCDF file of draws"),
        (["sample", *EXAMPLE, "--out", "no/such/run.nc"], "must be in a directory that exists"),
    ],
    ids=["draws", "seed", "delta", "counts", "missing", "not netCDF", "no directory"],
)
def test_errors_are_one_line(capsys, arguments, message, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(Path(__file__).parent.parent)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err and len(err.strip().splitlines()) == 1

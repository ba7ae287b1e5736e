import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pymc as pm
import pytest
from scipy import stats

import bayesaudit as ba

ROOT = Path(__file__).parent.parent
GROUPS = {
    "posterior",
    "prior",
    "posterior_predictive",
    "log_likelihood",
    "log_prior",
    "sample_stats",
    "observed_data",
    "constant_data",
}


def same(one, other):
    """Whether two trees hold the same variables, dims and values."""
    assert set(one.children) == set(other.children)
    for group in one.children:
        left, right = one[group].to_dataset(), other[group].to_dataset()
        assert set(left.variables) == set(right.variables), group
        for name in left.variables:
            assert left[name].dims == right[name].dims
            np.testing.assert_array_equal(left[name].values, right[name].values)


@pytest.fixture(scope="module")
def direct(worked_example):
    return ba.sample(worked_example, draws=1000, random_seed=3)


def test_counts_are_drawn_directly_with_every_group(direct):
    assert set(direct.children) == GROUPS
    attrs = direct.attrs
    assert (attrs["method"], attrs["random_seed"], attrs["model"]) == (
        "conjugate",
        "3",
        "independent",
    )
    assert json.loads(attrs["prior"]) == {"fnr": [0.5, 0.5], "fpr": [0.5, 0.5]}
    assert json.loads(attrs["versions"])["pymc"] == pm.__version__
    assert json.loads(attrs["counts"]) == {"fn": 35, "tp": 65, "fp": 25, "tn": 75}


def test_nuts_gives_every_group_and_the_same_settings(nuts_tree):
    assert set(nuts_tree.children) == GROUPS
    assert (nuts_tree.attrs["method"], nuts_tree.attrs["sampler"]) == ("nuts", "nutpie")
    assert nuts_tree.attrs["target_accept"] == 0.9
    assert "maxdepth_reached" in nuts_tree["sample_stats"]


def test_rate_and_complement_keep_their_digits_where_one_of_them_rounds():
    counts = ba.AttackCounts(fn=10_000_000, tp=0, fp=0, tn=10_000_000)
    posterior = ba.sample(counts, random_seed=1, groups=())["posterior"]
    for small, large in (("tpr", "fnr"), ("fpr", "tnr")):
        values = posterior[small].values.ravel()
        assert values.min() > 0
        assert stats.kstest(values, stats.beta(0.5, 1e7 + 0.5).cdf).pvalue > 1e-3
        # What one would get from 1 − rate has lost half its digits.
        lost = np.abs(1 - posterior[large].values.ravel() - values) / values
        assert lost.max() > 1e-3


@pytest.mark.parametrize(
    "prior", ["jeffreys", "uniform", (2.0, 3.0)], ids=["jeffreys", "uniform", "beta"]
)
def test_closed_form_groups_are_those_of_pymc(prior, worked_example):
    from pymc.stats import compute_log_likelihood, compute_log_prior

    direct = ba.sample(worked_example, prior=prior, draws=50, chains=2, random_seed=4)
    model = ba.models.independent(worked_example, prior)
    tree = direct.filter(lambda node: node.name in (None, "posterior"))
    posterior = tree["posterior"].to_dataset()
    if prior != (2.0, 3.0):
        for rate in ("fnr", "fpr"):
            uniform = posterior[rate]
            if prior == "jeffreys":
                uniform = 2 / np.pi * np.arcsin(np.sqrt(uniform))
            posterior[f"{rate}_z"] = uniform.copy(data=stats.norm.ppf(uniform))
    import xarray as xr

    tree = xr.DataTree.from_dict({"posterior": posterior})
    compute_log_likelihood(tree, model=model, progressbar=False)
    compute_log_prior(tree, model=model, progressbar=False)
    for group in ("log_likelihood", "log_prior"):
        assert set(direct[group].data_vars) == set(tree[group].data_vars)
        for name in direct[group].data_vars:
            ours, theirs = direct[group][name].values, tree[group][name].values
            np.testing.assert_allclose(ours - ours[0, 0], theirs - theirs[0, 0], atol=1e-9)
            # PyTensor's log-beta function is good to 1e-7 only.
            np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_predictions_and_prior_have_the_right_distribution(direct):
    # Posterior predictive counts are beta-binomial.
    counted = direct["posterior_predictive"]["fn"].values.ravel()
    right = stats.betabinom(100, 35.5, 65.5)
    error = right.std() / np.sqrt(counted.size)
    assert abs(counted.mean() - right.mean()) < 4 * error
    assert abs(counted.var() / right.var() - 1) < 0.1
    prior = direct["prior"]
    assert stats.kstest(prior["fnr"].values.ravel(), stats.beta(0.5, 0.5).cdf).pvalue > 1e-3
    np.testing.assert_allclose(prior["fnr"].values + prior["tpr"].values, 1)


def test_chains_differ_and_a_seed_repeats_them(worked_example, direct):
    same(direct, ba.sample(worked_example, draws=1000, random_seed=3))
    chains = direct["posterior"]["fnr"].values
    assert not np.array_equal(chains[0], chains[1])
    other = ba.sample(worked_example, draws=1000, random_seed=4, groups=())
    assert not np.array_equal(other["posterior"]["fnr"].values, chains)


def test_a_seed_that_was_not_given_is_recorded_and_repeats(worked_example):
    first = ba.sample(worked_example, draws=10)
    seed = int(first.attrs["random_seed"])
    same(first, ba.sample(worked_example, draws=10, random_seed=seed))


def test_compiled_model_refits_new_counts(compiled, worked_example):
    fit = compiled.refit(ba.AttackCounts(fn=0, tp=50, fp=10, tn=10), draws=500, random_seed=2)
    right = stats.beta(0.5, 50.5)
    values = fit["posterior"]["fnr"].values
    error = right.std() / np.sqrt(values.size / 4)
    assert abs(values.mean() - right.mean()) < 4 * error
    assert fit["constant_data"]["n_neg"].values == 20
    # The next fit is that of the model's own data again.
    own = compiled.refit(draws=500, random_seed=2)["posterior"]["fnr"].values
    assert abs(own.mean() - 35.5 / 101) < 0.02


def test_a_model_of_the_same_form_is_not_compiled_again(nuts_tree, worked_example, monkeypatch):
    import nutpie

    other = ba.AttackCounts(fn=1, tp=9, fp=4, tn=8)
    options = {"method": "nuts", "draws": 50, "tune": 200, "random_seed": 5, "groups": ()}
    monkeypatch.setattr(nutpie, "compile_pymc_model", None)
    fit = ba.sample(other, **options)
    assert fit["observed_data"]["fn"] == 1 and fit["constant_data"]["n_neg"] == 12
    assert json.loads(fit.attrs["counts"])["tn"] == 8
    with pytest.raises(TypeError, match="not callable"):
        ba.sample(other, prior=(2, 2), **options)


@pytest.mark.slow
def test_a_model_kept_compiled_gives_the_draws_of_a_fresh_one(worked_example):
    compiled = ba.sampling.compile_model(ba.models.independent(worked_example))
    options = {"draws": 50, "tune": 200, "random_seed": 5}
    ba.sample(ba.AttackCounts(fn=1, tp=9, fp=4, tn=8), method="nuts", groups=(), **options)
    kept = ba.sample(worked_example, method="nuts", groups=(), **options)
    fresh = compiled.refit(**options)
    for name in fresh["posterior"].data_vars:
        assert kept["posterior"][name].values.tobytes() == fresh["posterior"][name].values.tobytes()


def test_the_number_of_cores_changes_nothing(compiled):
    one = compiled.refit(draws=50, tune=200, random_seed=6, cores=1)
    two = compiled.refit(draws=50, tune=200, random_seed=6, cores=2)
    for name in one["posterior"].data_vars:
        assert one["posterior"][name].values.tobytes() == two["posterior"][name].values.tobytes()


def test_a_model_of_ones_own_by_pymc_itself_in_silence(capfd):
    with pm.Model() as model:
        rate = pm.Beta("fnr", 0.5, 0.5)
        pm.Deterministic("fpr", pm.Beta("half", 1, 1) / 2)
        pm.Binomial("fn", n=100, p=rate, observed=35)
    dt = ba.sample(
        model, sampler="pymc", draws=200, tune=300, chains=2, random_seed=1, progress=False
    )
    assert set(dt.children) == GROUPS
    assert dt.attrs["sampler"] == "pymc"
    assert 0.25 < float(dt["posterior"]["fnr"].mean()) < 0.45
    assert float(dt["posterior"]["fpr"].max()) <= 0.5
    assert capfd.readouterr() == ("", "")


def test_progress_goes_to_standard_error(compiled, capfd):
    from bayesaudit.sampling._settings import Settings

    for progress in (False, True):
        settings = Settings(4000, 1000, 4, 0.9, 1, "nutpie", 1, progress)
        compiled.sample(settings=settings, groups=())
        out, err = capfd.readouterr()
        assert out == ""
        assert ("sampling: " in err) == progress


def test_netcdf_round_trip(tmp_path, direct, nuts_tree):
    for name, tree in (("direct.nc", direct), ("nuts.nc", nuts_tree)):
        path = ba.save(tree, tmp_path / name)
        back = ba.load(path)
        assert back.attrs == tree.attrs
        if name == "direct.nc":
            same(back, tree)
        else:
            for group in ("posterior", "log_prior"):
                for variable in tree[group].data_vars:
                    np.testing.assert_array_equal(back[group][variable], tree[group][variable])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["direct.nc", "nuts.nc"]


def test_an_interrupted_save_leaves_the_old_file(tmp_path, direct, monkeypatch):
    path = ba.save(direct, tmp_path / "run.nc")
    before = path.read_bytes()

    def interrupted(number):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ba.save(direct, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_load_names_what_is_wrong(tmp_path):
    import xarray as xr

    with pytest.raises(FileNotFoundError):
        ba.load(tmp_path / "nothing.nc")
    text = tmp_path / "text.nc"
    text.write_text("fn,tp,fp,tn\n")
    with pytest.raises(ba.DataError, match=r"text\.nc: must be a netCDF file of draws"):
        ba.load(text)
    other = tmp_path / "other.nc"
    xr.DataTree.from_dict({"posterior": xr.Dataset({"fnr": 0.5})}).to_netcdf(
        other, engine="h5netcdf"
    )
    with pytest.raises(ba.DataError, match="missing fpr"):
        ba.load(other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws must be a whole number >= 4"),
        ({"chains": 1.5}, "chains must be a whole number >= 1"),
        ({"random_seed": -1}, "random_seed must be a whole number >= 0"),
        ({"target_accept": 1.0}, r"target_accept must be in \(0, 1\)"),
        ({"sampler": "stan"}, "sampler must be one of"),
        ({"method": "hmc"}, "method must be one of"),
        ({"groups": ["everything"]}, "groups must be one of"),
        ({"prior": lambda name, dims=None: None, "method": "conjugate"}, "needs a Beta prior"),
        ({"prior": "flat"}, "'jeffreys', 'uniform' or a pair"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_settings_are_checked_at_the_door(options, message, worked_example):
    with pytest.raises(ValueError, match=message):
        ba.sample(worked_example, **options)


def test_what_is_no_model_is_refused(worked_example):
    with pytest.raises(TypeError, match=r"AttackCounts or a pm\.Model, got dict"):
        ba.sample({"fn": 3})
    with pm.Model() as lonely:
        pm.Beta("fnr", 1, 1)
    with pytest.raises(ValueError, match="missing fpr"):
        ba.sample(lonely)
    with pytest.raises(ValueError, match="needs counts"):
        ba.sample(ba.models.independent(worked_example), method="conjugate")


def digest(compile_directory):
    script = (
        "import hashlib, bayesaudit as ba\n"
        "counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)\n"
        "options = dict(draws=200, tune=300, chains=2, random_seed=7, groups=())\n"
        "dt = ba.sample(counts, method='nuts', **options)\n"
        "values = [dt['posterior'][v].values.tobytes() for v in ('fnr', 'tpr', 'fpr', 'tnr')]\n"
        "print(hashlib.sha256(b''.join(values)).hexdigest())"
    )
    environment = os.environ | {"PYTENSOR_FLAGS": f"compiledir={compile_directory}"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_one_seed_gives_the_same_bytes_on_a_cold_and_a_warm_compile_cache(tmp_path):
    cold = digest(tmp_path)
    assert any(tmp_path.iterdir())
    assert digest(tmp_path) == cold
    assert len(cold) == hashlib.sha256().digest_size * 2

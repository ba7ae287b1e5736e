import json

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from matplotlib.figure import Figure
from scipy import stats

import bayesaudit as ba
from bayesaudit.diagnostics.modelling import pearson_dispersion

MEASURE = ba.Epsilon(1e-5)


def tree(fnr, fpr=None, **groups):
    """A tree of given draws, shape (chains, draws), and datasets of further groups."""
    fpr = np.random.default_rng(1).beta(26, 76, np.shape(fnr)) if fpr is None else fpr
    dims = ("chain", "draw")
    posterior = xr.Dataset({"fnr": (dims, np.asarray(fnr)), "fpr": (dims, np.asarray(fpr))})
    return xr.DataTree.from_dict({"posterior": posterior, **groups})


def good(shape=(4, 1000), seed=0):
    return np.random.default_rng(seed).beta(35.5, 65.5, shape)


def statistics(**columns):
    return xr.Dataset({name: (("chain", "draw"), value) for name, value in columns.items()})


@pytest.fixture(scope="module")
def between_models():
    """Counts of thirty models whose rates differ, and of thirty whose rates do not."""
    rng = np.random.default_rng(1)
    fp = rng.binomial(50, 0.25, 30)
    rates = {"dependent": rng.beta(3.5, 6.5, 30), "independent": np.full(30, 0.35)}
    made = {}
    for name, rate in rates.items():
        fn = rng.binomial(50, rate)
        made[name] = ba.AttackCounts(fn=fn, tp=50 - fn, fp=fp, tn=50 - fp)
    return made


def test_sound_nuts_draws_pass_every_check(nuts_tree):
    found = ba.diagnose(nuts_tree, MEASURE)
    assert found.passed and found.failed == ()
    names = [check.name for check in found.checks]
    assert {"rhat", "ess_bulk", "ess_tail", "ess_lower", "ess_upper", "mcse_ends"} <= set(names)
    assert {"divergences", "tree_depth", "bfmi", "prior_sensitivity"} <= set(names)
    assert {"infinite_draws", "constant_draws", "prior_contraction"} <= set(names)
    assert list(found.skipped) == ["predictive_dispersion"]
    assert (found.n_chains, found.n_draws) == (4, 1000)
    assert str(found) == f"diagnostics passed: {len(names)} checks"


def test_values_are_those_of_arviz(nuts_tree):
    import arviz as az

    found = ba.diagnose(nuts_tree, MEASURE, prob=0.8)
    dt = ba.add_measures(nuts_tree, MEASURE)
    names = ["fnr_z", "fpr_z", "fnr", "fpr", "epsilon"]
    table = az.summary(dt, var_names=names, ci_prob=0.8, ci_kind="eti", round_to="none")
    assert found["rhat"].value == pytest.approx(float(table["r_hat"].max()))
    assert found["ess_bulk"].value == pytest.approx(float(table["ess_bulk"].min()))
    assert found["ess_tail"].value == pytest.approx(
        min(
            float(az.ess(dt, var_names=n, method="tail", prob=(0.05, 0.95))[n].min()) for n in names
        )
    )
    for name, q in (("ess_lower", 0.1), ("ess_upper", 0.9)):
        theirs = az.ess(dt, var_names="epsilon", method="quantile", prob=q)["epsilon"]
        assert found[name].value == pytest.approx(float(theirs.item()), rel=0.02)
    assert found["bfmi"].value == pytest.approx(float(az.bfmi(nuts_tree)["energy"].min()))
    theirs = az.psense(dt, var_names=["epsilon"])["epsilon"].item()
    assert found["prior_sensitivity"].value == pytest.approx(theirs)


def test_direct_draws_have_no_chain_to_diagnose(worked_example):
    found = ba.diagnose(ba.sample(worked_example, random_seed=1), MEASURE)
    assert found.passed
    assert found.skipped["divergences"] == "direct draws, no Markov chain"
    with pytest.raises(KeyError, match="direct draws, no Markov chain"):
        found["divergences"]


def test_a_tree_from_elsewhere_needs_no_group_but_the_posterior():
    found = ba.diagnose(tree(good()), MEASURE)
    assert found.passed
    assert found.skipped["prior_sensitivity"] == "no log_prior"
    assert found.skipped["bfmi"] == "no sample_stats"
    assert found.skipped["prior_contraction"] == "no prior draws"
    assert found.prior_interval is None


# -- each check fails when it should ---------------------------------------------------------------


def test_chains_that_disagree():
    fnr = good()
    fnr[0] += 0.1
    found = ba.diagnose(tree(fnr), MEASURE)
    assert not found["rhat"].passed and found["rhat"].value > 1.1
    assert "chains disagree" in str(found)


def test_too_few_effective_draws():
    found = ba.diagnose(tree(good((4, 25))), MEASURE)
    for name in ("ess_bulk", "ess_tail", "ess_lower", "ess_upper", "mcse_ends"):
        assert not found[name].passed, name
    # Sticky chains: many draws, little information.
    sticky = [np.repeat(good((4, 40), seed), 50, axis=1) for seed in (1, 2)]
    found = ba.diagnose(tree(*sticky), MEASURE)
    assert not found["ess_bulk"].passed and not found["ess_lower"].passed


def test_constant_draws_are_named():
    found = ba.diagnose(tree(np.full((4, 500), 0.3), good((4, 500))), MEASURE)
    check = found["constant_draws"]
    assert not check.passed and check.where == "fnr"
    assert found["rhat"].value < 1.01


def test_a_measure_at_its_atom_in_every_draw_is_no_fault():
    found = ba.diagnose(tree(good(), good(seed=3)), ba.Epsilon(0.99))
    check = found["constant_draws"]
    assert check.passed and check.where == "every draw of epsilon is 0"
    assert found["rhat"].passed and "ess_lower" not in [c.name for c in found.checks]


def test_infinite_draws_are_counted():
    fnr = good()
    fnr[0, :7] = 0.0
    check = ba.diagnose(tree(fnr), MEASURE)["infinite_draws"]
    assert (check.passed, check.value, check.where) == (False, 7, "epsilon")


def test_an_end_at_infinity_has_an_infinite_error():
    fnr = good()
    fnr[:, :100] = 0.0
    found = ba.diagnose(tree(fnr), MEASURE)
    assert np.isinf(found["mcse_ends"].value) and not found["mcse_ends"].passed
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["interval"][1] is None


def test_a_single_chain_is_compared_with_itself(worked_example):
    found = ba.diagnose(ba.sample(worked_example, chains=1, draws=4000, random_seed=1), MEASURE)
    assert found.passed
    drifting = good((1, 4000)) * np.linspace(0.8, 1.2, 4000)
    assert not ba.diagnose(tree(drifting), MEASURE)["rhat"].passed


@pytest.mark.parametrize("column", ["maxdepth_reached", "reached_max_treedepth"])
def test_what_nuts_recorded(column):
    flags = np.zeros((4, 1000), bool)
    flags[2, :3] = True
    energy = np.cumsum(np.random.default_rng(2).normal(size=(4, 1000)) / 10, axis=1)
    stats_group = statistics(diverging=flags, energy=energy, **{column: flags})
    found = ba.diagnose(tree(good(), sample_stats=stats_group), MEASURE)
    assert found["divergences"].value == found["tree_depth"].value == 3
    assert found["bfmi"].value < 0.3
    for name in ("divergences", "tree_depth", "bfmi"):
        assert not found[name].passed


def test_a_funnel_diverges():
    with pm.Model() as model:
        scale = pm.Normal("scale", 0, 3)
        effect = pm.Normal("effect", 0, pm.math.exp(scale), shape=8)
        pm.Deterministic("fnr", pm.math.invlogit(effect[0]))
        pm.Deterministic("fpr", pm.math.invlogit(effect[1]))
        pm.Binomial("fn", n=10, p=model["fnr"], observed=3)
    dt = ba.sample(
        model, draws=300, tune=300, target_accept=0.8, random_seed=3, groups=(), progress=False
    )
    found = ba.diagnose(dt, MEASURE)
    assert not found.passed
    assert not found["divergences"].passed
    assert "target_accept" in found["divergences"].remedy


@pytest.mark.parametrize(
    ("cells", "sensitive", "speaks"),
    [
        ((35, 65, 25, 75), False, False),
        ((0, 100, 0, 100), True, False),
        ((1, 1, 250, 750), True, True),
    ],
    ids=["plenty of errors", "no error at all", "two trials"],
)
def test_the_prior_is_heard_where_it_speaks(cells, sensitive, speaks):
    counts = ba.AttackCounts(**dict(zip(("fn", "tp", "fp", "tn"), cells, strict=True)))
    found = ba.diagnose(ba.sample(counts, random_seed=1), MEASURE)
    assert found["prior_sensitivity"].passed != sensitive
    assert found["prior_contraction"].passed != speaks
    if speaks:
        assert found["prior_contraction"].where == "fnr"
        before, after = stats.beta(0.5, 0.5).var(), stats.beta(1.5, 1.5).var()
        assert found["prior_contraction"].value == pytest.approx(1 - after / before, abs=0.02)
        assert "the prior speaks" in found.table()
    assert found.passed and found.verdict == ("caution" if sensitive else "passed")
    assert found.interval == tuple(ba.posterior(found.dt, MEASURE).interval(0.9))
    assert "under the prior alone it was" in found.table()


def test_the_prior_interval_is_that_of_no_data(worked_example):
    found = ba.diagnose(ba.sample(worked_example, random_seed=1), MEASURE)
    with pytest.warns(UserWarning, match="no data"):
        right = ba.posterior(ba.AttackCounts(fn=0, tp=0, fp=0, tn=0), MEASURE)
    # 2000 draws of the prior: four standard errors of a CDF are .02 at .05 and .95.
    np.testing.assert_allclose(right.cdf(found.prior_interval), [0.05, 0.95], atol=0.02)


def sharing(counts):
    """Draws of ``models.independent(counts, axis="model")``, which is conjugate when pooled."""
    rng = np.random.default_rng(5)
    pooled = ba.sample(counts.pooled(), draws=500, random_seed=1, groups=())
    posterior = pooled["posterior"].to_dataset()
    n = {"fn": counts.n_pos, "fp": counts.n_neg}
    again = {
        side: (("chain", "draw", "model"), rng.binomial(n[side], posterior[rate].values[..., None]))
        for side, rate in (("fn", "fnr"), ("fp", "fpr"))
    }
    data = {side: ("model", getattr(counts, side)) for side in ("fn", "fp")}
    trials = {"n_pos": ("model", counts.n_pos), "n_neg": ("model", counts.n_neg)}
    return xr.DataTree.from_dict(
        {
            "posterior": posterior,
            "posterior_predictive": xr.Dataset(again),
            "observed_data": xr.Dataset(data),
            "constant_data": xr.Dataset(trials),
        }
    )


def test_dispersion_between_models_is_seen(between_models):
    for name, counts in between_models.items():
        check = ba.diagnose(sharing(counts), MEASURE)["predictive_dispersion"]
        assert check.passed == (name == "independent"), name
        if name == "independent":
            # Pearson's statistic about the pooled rate is about χ² with one degree less.
            seen = [
                stats.chi2(29).sf(pearson_dispersion(getattr(counts, side), counts.n_pos))
                for side in ("fn", "fp")
            ]
            # The smaller of two, times two.
            assert check.value == pytest.approx(min(1, 2 * min(seen)), abs=0.1)


def test_effects_of_single_models_are_not_the_prior(worked_example):
    dt = ba.sample(worked_example, random_seed=1)
    alone = ba.diagnose(dt, MEASURE)["prior_sensitivity"].value
    # An effect of every model whose density varies wildly with the rate.
    effect = -50 * dt["posterior"]["fnr"].expand_dims(model=3).transpose("chain", "draw", "model")
    log_prior = dt["log_prior"].to_dataset()
    dt["log_prior"] = xr.DataTree(log_prior.assign(effect=effect))
    assert ba.diagnose(dt, MEASURE)["prior_sensitivity"].value == alone
    dt["log_prior"] = xr.DataTree(log_prior.assign(effect=effect.sum("model")))
    assert ba.diagnose(dt, MEASURE)["prior_sensitivity"].value > 2 * alone


def test_many_tallies_report_the_worst(tallies):
    some = tallies[:6]
    dt = ba.sample(some, random_seed=2)
    found = ba.diagnose(dt, MEASURE)
    alone = [ba.diagnose(ba.sample(some[i], random_seed=2), MEASURE) for i in range(6)]
    worst = max(one["prior_sensitivity"].value for one in alone)
    assert found["prior_sensitivity"].value == pytest.approx(worst, rel=0.2)
    assert found["prior_sensitivity"].where.startswith("tally ")
    assert found.interval is None


# -- the result ------------------------------------------------------------------------------------


def test_results_are_plain_and_print(nuts_tree):
    found = ba.diagnose(nuts_tree, MEASURE)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["passed"] is True
    assert {"name", "value", "threshold", "passed"} <= set(document["checks"][0])
    assert len(found.table().splitlines()) == len(found.checks) + len(found.skipped) + 1


@pytest.mark.filterwarnings("ignore")
def test_figures_are_returned_and_not_shown(nuts_tree, tallies, between_models):
    import matplotlib.pyplot as plt

    found = ba.plots.diagnostics(ba.diagnose(nuts_tree, MEASURE))
    assert set(found) == {"trace", "rank", "ess", "energy"}
    assert all(isinstance(figure, Figure) for figure in found.values())
    assert plt.get_fignums() == []
    many = ba.sample(tallies, draws=100, random_seed=1, groups=())
    assert set(ba.plots.diagnostics(ba.diagnose(many, ba.Advantage()))) == {"trace", "rank", "ess"}
    dependent = ba.diagnose(sharing(between_models["dependent"]), MEASURE)
    assert "predictive" in ba.plots.diagnostics(dependent)


def test_errors_name_the_rule(nuts_tree):
    with pytest.raises(ValueError, match=r"did you mean 0\.9"):
        ba.diagnose(nuts_tree, MEASURE, prob=90)
    with pytest.raises(KeyError, match="nonsense"):
        ba.diagnose(nuts_tree, MEASURE)["nonsense"]

import numpy as np
import pytest
import xarray as xr
from conftest import NUTS_CASES
from reference import audits
from scipy import stats

import bayesaudit as ba
from bayesaudit.posteriors import _error

DELTA = 1e-5
AUDITS = list(audits())
NO_DATA = "ignore:no data for"


def tree(fnr, fpr, **more):
    """A tree of given draws, dims (chain, draw) or (chain, draw, tally)."""
    arrays = {"fnr": fnr, "fpr": fpr, **more}
    dims = ("chain", "draw", "tally")
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {k: (dims[: np.ndim(v)], np.asarray(v, float)) for k, v in arrays.items()}
            )
        }
    )


def z_scores(draws, case):
    """(draws − exact) / MCSE of the quantiles .05, .5 and .95."""
    scores = []
    for q in ("0.05", "0.5", "0.95"):
        right, found = float(case["right"]["quantile"][q]), draws.quantile(float(q))
        error = draws.mcse("quantile", float(q))
        scores.append(0.0 if found == right else (found - right) / error)
    return np.array(scores)


@pytest.fixture(scope="module")
def direct(worked_example):
    return ba.posterior(ba.sample(worked_example, random_seed=12), ba.Epsilon(DELTA))


# -- against the reference values ------------------------------------------------------------------


@pytest.mark.filterwarnings(NO_DATA)
@pytest.mark.parametrize("audit", AUDITS, ids=[audit[0]["id"] for audit in AUDITS])
def test_conjugate_draws_agree_with_the_reference(audit):
    case, fn, tp, fp, tn, delta = audit
    counts = ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn)
    dt = ba.sample(counts, draws=5000, random_seed=20260, groups=())
    draws = ba.posterior(dt, ba.Epsilon(delta))
    assert np.abs(z_scores(draws, case)).max() < 4
    if draws.prob_zero < 1:
        from arviz_stats.base import array_stats

        values = draws.by_tally[0]
        assert array_stats.rhat(values) < 1.01
        assert min(_error.ess(values, "quantile", q) for q in (0.05, 0.95)) >= 400


@pytest.mark.parametrize("name", NUTS_CASES)
def test_nuts_agrees_with_the_reference(name, nuts_fits):
    from arviz_stats.base import array_stats

    case, delta, dt = nuts_fits[name]
    draws = ba.posterior(dt, ba.Epsilon(delta))
    assert dict(dt["posterior"].sizes) == {"chain": 4, "draw": 1000}
    assert np.abs(z_scores(draws, case)).max() < 4
    values = draws.by_tally[0]
    assert array_stats.rhat(values) < 1.01
    for rate in ("fnr", "fpr"):
        assert array_stats.rhat(dt["posterior"][rate].values) < 1.01
    assert int(dt["sample_stats"]["diverging"].sum()) == 0
    assert min(_error.ess(values, "quantile", q) for q in (0.05, 0.95)) >= 400


def test_two_hundred_tallies_in_one_model_agree_with_exact(tallies, tallies_tree):
    measure = ba.Epsilon(DELTA)
    draws, exact = ba.posterior(tallies_tree, measure), ba.posterior(tallies, measure)
    assert draws.shape == exact.shape == (200,)
    q = np.array([[0.05], [0.5], [0.95]])
    right = exact.quantile(q)
    z = (draws.quantile(q) - right) / draws.mcse("quantile", q)
    assert z.shape == (3, 200)
    assert np.abs(z[draws.quantile(q) != right]).max() < 4.5
    assert int(tallies_tree["sample_stats"]["diverging"].sum()) == 0


# -- the verbs, against plain NumPy ----------------------------------------------------------------


def test_verbs_are_those_of_the_empirical_distribution(direct):
    values = np.sort(direct.draws.values.ravel())
    level = np.array([0.3, 0.9, 1.7])
    np.testing.assert_array_equal(direct.cdf(level), [(values <= x).mean() for x in level])
    np.testing.assert_allclose(direct.sf(level), 1 - direct.cdf(level))
    np.testing.assert_array_equal(direct.prob_above(level), direct.sf(level))
    for q in (0.001, 0.05, 0.5, 0.777, 1.0):
        assert direct.quantile(q) == np.quantile(values, q, method="inverted_cdf")
        assert direct.isf(1 - q) == direct.quantile(q)
    assert direct.quantile(0.0) == 0.0
    assert direct.mean() == pytest.approx(values.mean(), rel=1e-12)
    assert direct.median() == direct.quantile(0.5)
    assert np.isnan(direct.cdf(np.nan))
    assert direct.prob_zero == (values == 0).mean()


def test_intervals_hold_their_mass_and_say_what_they_are(direct):
    values = direct.draws.values.ravel()
    for prob in (0.5, 0.9, 0.99):
        lower, upper = direct.interval(prob)
        assert (lower, upper) == (direct.quantile((1 - prob) / 2), direct.quantile((1 + prob) / 2))
        short = direct.interval(prob, kind="hdi")
        assert np.mean((values >= short.lower) & (values <= short.upper)) >= prob - 1e-12
        assert short.upper - short.lower <= upper - lower
    one = direct.interval(0.9, kind="lower")
    assert (one.lower, one.upper) == (direct.quantile(0.05), np.inf)
    assert (one.statement, one.method) == ("credible", "posterior draws")
    assert direct.interval(0.9, kind="upper").lower == 0.0


def test_density_is_that_of_the_exact_engine(direct, worked_example):
    exact = ba.posterior(worked_example, ba.Epsilon(DELTA))
    level = np.linspace(0.3, 1.8, 40)
    peak = exact.pdf(level).max()
    # Smoothing bias and Monte Carlo error together stay within some percent of the peak.
    assert np.abs(direct.pdf(level) - exact.pdf(level)).max() < 0.04 * peak
    assert np.all(direct.mcse("pdf", level) < 0.03 * peak)
    grid = np.linspace(-1, 4, 4001)
    assert np.trapezoid(direct.pdf(grid), grid) == pytest.approx(1, abs=1e-3)
    assert direct.pdf(-0.1) == 0


def test_density_leaves_out_the_atom_and_keeps_its_mass_at_the_edge():
    dt = ba.sample(ba.AttackCounts(fn=50, tp=50, fp=50, tn=50), random_seed=1)
    draws = ba.posterior(dt, ba.Epsilon(0.05))
    grid = np.linspace(0, 1.5, 6001)
    assert 0.2 < draws.prob_zero < 0.8
    assert np.trapezoid(draws.pdf(grid), grid) == pytest.approx(1 - draws.prob_zero, abs=2e-3)


def test_one_fit_serves_every_measure_and_delta(worked_example, direct):
    for measure in (
        ba.Epsilon(0.1),
        ba.Epsilon(0, direction="member"),
        ba.GaussianMu(),
        ba.Advantage(fold=True),
    ):
        draws = ba.posterior(direct.dt, measure)
        exact = ba.posterior(worked_example, measure)
        for q in (0.05, 0.5, 0.95):
            assert abs(draws.quantile(q) - exact.quantile(q)) < 4 * draws.mcse("quantile", q)
        assert abs(draws.mean() - exact.mean()) < 4 * draws.mcse("mean")


def test_levels_broadcast_against_tallies():
    rng = np.random.default_rng(0)
    fnr, fpr = rng.random((2, 2, 50, 3))
    draws = ba.posterior(tree(fnr, fpr), ba.Advantage())
    alone = [ba.posterior(tree(fnr[..., i], fpr[..., i]), ba.Advantage()) for i in range(3)]
    level = np.array([[-0.2], [0.3]])
    for verb in ("cdf", "sf", "pdf"):
        together = getattr(draws, verb)(level)
        assert together.shape == (2, 3)
        for i, one in enumerate(alone):
            np.testing.assert_allclose(together[:, i], getattr(one, verb)(level[:, 0]))
    assert draws.mean().shape == draws.prob_zero.shape == draws.median().shape == (3,)
    assert draws.interval(0.8, kind="hdi").lower.shape == (3,)
    np.testing.assert_allclose(
        draws.mcse("quantile", 0.3), [one.mcse("quantile", 0.3) for one in alone]
    )


def test_a_scalar_rate_serves_every_tally():
    fnr = np.full((1, 4), 0.25)
    draws = ba.posterior(tree(fnr, np.full((1, 4, 2), [0.25, 0.5])), ba.Epsilon(0))
    np.testing.assert_allclose(draws.mean(), [np.log(3), np.log(2)])


def test_complements_are_used_where_a_rate_rounds_to_one():
    one, tiny = np.ones((1, 4)), np.full((1, 4), 1e-30)
    draws = ba.posterior(tree(one, one, tpr=tiny, tnr=tiny), ba.Epsilon(0))
    assert draws.mean() == pytest.approx(30 * np.log(10))
    assert np.isinf(ba.posterior(tree(one, one), ba.Epsilon(0)).mean())


def test_infinite_draws_are_mass_above_every_level():
    fnr = np.array([[0.0, 0.0, 0.25, 0.25]])
    draws = ba.posterior(tree(fnr, np.full((1, 4), 0.25)), ba.Epsilon(0))
    assert draws.sf(1e300) == 0.5
    assert np.isinf(draws.mean()) and np.isinf(draws.mcse("mean"))
    assert np.isinf(draws.quantile(0.9)) and draws.quantile(0.5) == pytest.approx(np.log(3))
    summary = draws.to_dict()
    assert summary["mean"] is None and summary["upper"] is None
    assert np.isfinite(draws.pdf(1.0))


# -- Monte Carlo errors ----------------------------------------------------------------------------


def test_errors_are_the_spread_over_repetitions(worked_example):
    measure = ba.Epsilon(DELTA)
    runs = [
        ba.posterior(ba.sample(worked_example, draws=100, random_seed=s, groups=()), measure)
        for s in range(150)
    ]
    for statistic, at, value in (
        ("mean", None, lambda d: d.mean()),
        ("median", None, lambda d: d.median()),
        ("quantile", 0.95, lambda d: d.quantile(0.95)),
        ("isf", 0.95, lambda d: d.isf(0.95)),
        ("cdf", 0.8, lambda d: d.cdf(0.8)),
        ("sf", 1.3, lambda d: d.sf(1.3)),
        ("pdf", 0.9, lambda d: d.pdf(0.9)),
    ):
        spread = np.std([value(run) for run in runs])
        claimed = np.mean([run.mcse(statistic, at) for run in runs])
        # The spread of 150 runs is known to 6 %.
        assert claimed == pytest.approx(spread, rel=0.2), statistic


def test_errors_count_the_autocorrelation_of_chains():
    rng = np.random.default_rng(5)
    rho, shape = 0.9, (4, 4000)
    x = np.empty(shape)
    x[:, 0] = rng.standard_normal(4)
    for t in range(1, shape[1]):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * rng.standard_normal(4)
    rate = stats.norm.cdf(x)
    draws = ba.posterior(tree(rate, np.zeros(shape)), ba.Advantage())
    naive = draws.draws.values.std() / np.sqrt(x.size)
    inflation = np.sqrt((1 + rho) / (1 - rho))
    assert draws.mcse("mean") / naive == pytest.approx(inflation, rel=0.15)
    assert draws.mcse("quantile", 0.5) > 2 * 0.5 / np.sqrt(x.size)


def test_errors_agree_with_arviz(direct):
    from arviz_stats.base import array_stats

    values = direct.by_tally[0]
    assert direct.mcse("mean") == pytest.approx(float(array_stats.mcse(values)), rel=1e-6)
    # Both take order statistics a standard error to either side, rounded differently.
    q = np.linspace(0.05, 0.95, 19)
    theirs = [float(array_stats.mcse(values, method="quantile", prob=p)) for p in q]
    assert np.mean(direct.mcse("quantile", q) / theirs) == pytest.approx(1, abs=0.03)
    np.testing.assert_allclose(direct.mcse("quantile", q), theirs, rtol=0.2)


def test_a_share_of_none_or_all_is_not_certain(direct):
    assert direct.sf(50.0) == 0
    error = direct.mcse("sf", 50.0)
    assert 0 < error < 2 / direct.n_draws
    assert direct.mcse("cdf", 50.0) == error
    constant = ba.posterior(tree(np.full((2, 50), 0.5), np.full((2, 50), 0.5)), ba.Epsilon(0))
    assert constant.mcse("mean") == 0 and constant.mcse("quantile", 0.5) == 0
    assert constant.pdf(0.1) == 0


def test_summary_is_plain_and_has_the_errors(direct):
    summary = direct.to_dict(0.8)
    assert summary["lower"] == direct.quantile(0.1)
    assert summary["mcse"]["upper"] == direct.mcse("quantile", 0.9)
    assert all(isinstance(summary[name], float) for name in ("lower", "upper", "median", "mean"))


# -- the tree --------------------------------------------------------------------------------------


def test_measures_become_variables_that_arviz_understands(nuts_tree):
    import arviz as az

    dt = ba.add_measures(nuts_tree, ba.Epsilon(0.0), ba.Epsilon(0.01), ba.Advantage())
    assert "epsilon" not in nuts_tree["posterior"]
    assert dt.attrs == nuts_tree.attrs
    assert dt["posterior"]["epsilon"].dims == ("chain", "draw", "delta")
    assert {"epsilon", "advantage"} <= set(dt["prior"].data_vars)
    np.testing.assert_array_equal(
        dt["posterior"]["epsilon"].sel(delta=0.01).values,
        ba.posterior(nuts_tree, ba.Epsilon(0.01)).draws.values,
    )
    table = az.summary(dt, var_names=["epsilon", "advantage"], ci_prob=0.9, ci_kind="eti")
    assert len(table) == 3
    sensitivity = az.psense(dt, var_names=["epsilon"])
    assert sensitivity["epsilon"].shape == (2,)
    again = ba.add_measures(dt, ba.Epsilon(0.5))
    assert again["posterior"].sizes["delta"] == 1


def test_errors_name_the_rule(direct):
    with pytest.raises(ValueError, match="needs argument `at`"):
        direct.mcse("quantile")
    with pytest.raises(ValueError, match="takes no argument `at`"):
        direct.mcse("mean", 0.5)
    with pytest.raises(ValueError, match="statistic must be one of"):
        direct.mcse("mode")
    with pytest.raises(ValueError, match=r"q must be in \[0, 1\], got 1\.5"):
        direct.quantile(1.5)
    lonely = xr.Dataset({"fnr": (("chain", "draw"), [[0.5]])})
    with pytest.raises(ValueError, match="missing fpr"):
        ba.posterior(xr.DataTree.from_dict({"posterior": lonely}), ba.Epsilon(0))
    with pytest.raises(ValueError, match="must differ in name or delta"):
        ba.add_measures(direct.dt, ba.Epsilon(0), ba.Epsilon(0, direction="member"))
    with pytest.raises(ValueError, match=r"fnr must be in \[0, 1\]"):
        ba.posterior(tree([[1.5]], [[0.5]]), ba.Epsilon(0))
    with pytest.raises(TypeError, match=r"a mapping of arrays\), got dict"):
        ba.posterior({}, ba.Epsilon(0))


RATES = {
    name: np.random.default_rng(seed).beta(3, 7, (4, 50)) for name, seed in (("fnr", 1), ("fpr", 2))
}


def dataset(**rates):
    return xr.Dataset({name: (("chain", "draw"), values) for name, values in rates.items()})


@pytest.mark.parametrize(
    "draws",
    [
        RATES,
        {name: values.tolist() for name, values in RATES.items()},
        dataset(**RATES),
        xr.DataTree(dataset(**RATES)),
        xr.DataTree.from_dict({"prior": xr.Dataset(), "mine/rates": dataset(**RATES)}),
    ],
    ids=["mapping", "lists", "dataset", "root of a tree", "group of a tree"],
)
def test_draws_come_in_any_form(draws):
    expected = ba.posterior(xr.DataTree.from_dict({"posterior": dataset(**RATES)}), ba.Epsilon(0))
    found = ba.posterior(draws, ba.Epsilon(0))
    assert tuple(found.interval(0.9)) == tuple(expected.interval(0.9))
    assert found.mcse("mean") == expected.mcse("mean")


@pytest.mark.parametrize(
    ("draws", "error", "match"),
    [
        ({"fnr": RATES["fnr"]}, ValueError, "must hold fnr and fpr; missing fpr"),
        (
            {"fnr": RATES["fnr"], "fpr": RATES["fpr"][:2]},
            ValueError,
            r"fnr and fpr must have one shape, got \(4, 50\) and \(2, 50\)",
        ),
        ({"fnr": 0.1, "fpr": 0.2}, ValueError, "fnr must be an array of draws, got a number"),
        ({"fnr": [], "fpr": []}, ValueError, "fnr must hold at least one draw, got none"),
        ({"fnr": ["a"], "fpr": [0.2]}, TypeError, "fnr must be real numbers, got <U1"),
        ({"fnr": [0.1], "fpr": [0.2j]}, TypeError, "fpr must be real numbers, got complex128"),
        ({"fnr": [0.1], "fpr": [2.0]}, ValueError, r"fpr must be in \[0, 1\], got 2"),
        (
            dataset(**RATES).rename(draw="sample"),
            ValueError,
            r"must have the dims chain and draw, got \('chain', 'sample'\)",
        ),
        (xr.DataTree.from_dict({"a": dataset(fnr=RATES["fnr"])}), ValueError, "none of its groups"),
        (
            xr.DataTree.from_dict({"a": dataset(**RATES), "b": dataset(**RATES)}),
            ValueError,
            "several of its groups do",
        ),
    ],
)
def test_wrong_draws_are_named(draws, error, match):
    with pytest.raises(error, match=match):
        ba.posterior(draws, ba.Epsilon(0))

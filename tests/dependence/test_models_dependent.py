"""The PyMC models of dependent samples against the exact engine and against their definitions."""

import arviz as az
import numpy as np
import pymc as pm
import pytest
from dependent_data import DATA, counts_of, sample_beta_binomial
from scipy import stats

import bayesaudit as ba
from bayesaudit.dependence import mechanism_posterior
from bayesaudit.models.contract import QUICK

EPSILON = ba.Epsilon(1e-5)


@pytest.mark.parametrize("name", DATA)
def test_beta_binomial_draws_agree_with_the_exact_posterior(dependent_fits, name):
    agrees(dependent_fits[name], name, "icc_beta_1_9", "default")


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_beta_binomial_draws_under_a_uniform_prior_of_the_icc(name):
    dt = sample_beta_binomial(name, "uniform")
    agrees(dt, name, "icc_uniform", "uniform")
    found = {check.name: check for check in ba.diagnose(dt, EPSILON).checks}
    assert found["prior_sensitivity"].passed == (name == "D1")


def agrees(dt, name, key, icc_prior):
    right = DATA[name][key]
    draws = ba.posterior(dt, EPSILON)
    for q in (0.05, 0.95):
        error = draws.quantile(q) - right["quantile"][str(q)]
        assert abs(error) < 4 * draws.mcse("quantile", q)
    summary = az.summary(dt, round_to="none", ci_prob=0.9, ci_kind="eti")
    for variable, key_of in (
        ("fnr", "mean_fnr"),
        ("fpr", "mean_fpr"),
        ("icc_fnr", "mean_icc_fn"),
        ("icc_fpr", "mean_icc_fp"),
    ):
        row = summary.loc[variable]
        assert abs(row["mean"] - right[key_of]) < 4 * row["mcse_mean"], variable
    assert summary["r_hat"].max() < 1.01
    for q in (0.05, 0.95):
        assert az.ess(draws.draws.values, method="quantile", prob=q) >= 400
    assert int(dt["sample_stats"]["diverging"].sum()) == 0
    counts = counts_of(name)
    exact = ba.posterior(counts, EPSILON, dependence="beta-binomial", icc_prior=icc_prior)
    assert ba.cross_check(draws, exact).passed
    wrong = ba.posterior(counts, EPSILON, dependence="independent")
    assert not ba.cross_check(draws, wrong).passed


def test_diagnosis_flags_one_model_and_is_silent_on_ten(dependent_fits):
    for name, dt in dependent_fits.items():
        found = {check.name: check for check in ba.diagnose(dt, EPSILON).checks}
        assert found["prior_sensitivity"].passed == (name == "D1"), name
        assert found["trained_models"].passed == (name == "D1")
        if name == "D1":
            assert found["predictive_dispersion"].passed


def test_compare_takes_sampled_candidates(dependent_fits):
    sampled = dependent_fits["D1"]
    found = ba.compare(counts_of("D1"), {"by draws": sampled})
    exact, draws = found["beta-binomial"], found["by draws"]
    # Importance sampling is near the exact densities, not at them.
    assert draws.both == pytest.approx(exact.both, abs=0.15) and exact.worst_k == 0
    assert draws.fnr == pytest.approx(exact.fnr, abs=0.15)
    assert found.candidates[-1].name == "independent"
    assert "weight" in found.arviz().columns
    with pytest.raises(ValueError, match="is taken"):
        ba.compare(counts_of("D1"), {"independent": sampled})
    bare = sampled["posterior"].to_dataset()[["fnr", "fpr"]]
    with pytest.raises(ValueError, match="must have log_marginal"):
        ba.compare(counts_of("D1"), {"pooled": bare})


# -- probit-normal -------------------------------------------------------------------------------


def test_probit_normal_population_rate_is_the_mean_over_models():
    counts = counts_of("D1")
    model = ba.models.probit_normal(counts, correlation=0.6)
    values = {"fnr": 0.3, "tpr": 0.7, "fpr": 0.2, "tnr": 0.8, "share_fnr": 0.1, "share_fpr": 0.3}
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2, 400_000))
    z[1] = 0.6 * z[0] + 0.8 * z[1]
    rates = []
    for row, side in zip(z, ("fnr", "fpr"), strict=True):
        mu, tau = values[side], values[f"share_{side}"]
        p = stats.norm.cdf((stats.norm.ppf(mu) + np.sqrt(tau) * row) / np.sqrt(1 - tau))
        assert abs(p.mean() - mu) < 4 * p.std() / np.sqrt(p.size)
        rates.append(p)
    # The model integrates its effects out: the same by Monte Carlo.
    likelihood = stats.binom.pmf(counts.fn[2], 50, rates[0])
    likelihood = likelihood * stats.binom.pmf(counts.fp[2], 50, rates[1])
    point = pm.do(model, values)["log_marginal"].eval(mode=QUICK)
    error = likelihood.std() / likelihood.mean() / np.sqrt(likelihood.size)
    assert abs(np.log(likelihood.mean()) - point[2]) < 4 * error + 1e-3


@pytest.mark.slow
def test_probit_normal_is_near_beta_binomial(probit_fit):
    assert int(probit_fit["sample_stats"]["diverging"].sum()) == 0
    lower, upper = ba.posterior(probit_fit, EPSILON).interval(0.9)
    exact = ba.posterior(counts_of("D1"), EPSILON, dependence="beta-binomial").interval(0.9)
    assert (lower, upper) == pytest.approx(tuple(exact), abs=0.15)
    assert {"correlation", "log_marginal"} <= set(probit_fit["posterior"].data_vars)
    assert ba.diagnose(probit_fit, EPSILON).dt is probit_fit
    found = ba.compare(counts_of("D1"), {"probit-normal": probit_fit})
    assert abs(found.difference("probit-normal", "beta-binomial")[0]) < 2
    with pytest.raises(ValueError, match="not separate"):
        found.difference("probit-normal", "beta-binomial", "fnr")


# -- crossed -------------------------------------------------------------------------------------


def crossed_trials(models=6, challenges=10, seed=3):
    rng = np.random.default_rng(seed)
    model, challenge = (x.ravel() for x in np.indices((models, challenges)))
    member = rng.permuted(np.tile(np.arange(challenges) % 2, (models, 1)), axis=1).ravel()
    return {
        "guess": np.where(rng.random(member.size) < 0.7, member, 1 - member),
        "member": member,
        "model": model,
        "challenge": challenge,
    }


def test_crossed_likelihood_by_hand():
    trials = crossed_trials()
    model = ba.models.crossed(**trials)
    rng = np.random.default_rng(1)
    share = np.array([0.1, 0.2, 0.7])
    effects = {
        "model_effect_fnr": rng.normal(size=6),
        "challenge_effect_fnr": rng.normal(size=10),
    }
    fixed = pm.do(model, {"fnr": 0.3, "tpr": 0.7, "share_fnr": share, **effects})
    rows = np.flatnonzero(trials["member"] == 1)
    shift = np.sqrt(0.2) * effects["challenge_effect_fnr"][trials["challenge"][rows]]
    latent = stats.norm.ppf(0.3) + shift
    own = np.sqrt(0.1) * effects["model_effect_fnr"][trials["model"][rows]]
    right = stats.norm.cdf((latent + own) / np.sqrt(0.7))
    # PyTensor's inverse of erfc has eight digits.
    assert fixed["fn"].owner.inputs[-1].eval() == pytest.approx(right, rel=1e-6)
    # Without effects of challenges, its marginal is that of counts: Binomial mixed over z_j.
    flat = {f"challenge_effect_{side}": np.zeros(10) for side in ("fnr", "fpr")}
    shares = {f"share_{side}": share for side in ("fnr", "fpr")}
    rates = {"fnr": 0.3, "tpr": 0.7, "fpr": 0.2, "tnr": 0.8}
    marginal = pm.do(model, {**flat, **shares, **rates})["log_marginal"].eval(mode=QUICK)
    counts = ba.AttackCounts.from_guesses(
        guess=trials["guess"], member=trials["member"], model=trials["model"]
    )
    z = np.linspace(-8, 8, 4001)
    parts = []
    for mu, k, n in ((0.3, counts.fn, counts.n_pos), (0.2, counts.fp, counts.n_neg)):
        p = stats.norm.cdf((stats.norm.ppf(mu) + np.sqrt(0.1) * z) / np.sqrt(0.7))
        mass = stats.binom.pmf(k[:, None], n[:, None], p) * stats.norm.pdf(z)
        parts.append(np.log(mass.sum(axis=1) * (z[1] - z[0])))
    assert marginal == pytest.approx(sum(parts), abs=1e-4)
    # Averaged over both effects the rate is the population's.
    z = np.random.default_rng(2).normal(size=(2, 300_000))
    p = stats.norm.cdf((stats.norm.ppf(0.3) + np.sqrt(share[:2]) @ z) / np.sqrt(0.7))
    assert abs(p.mean() - 0.3) < 4 * p.std() / np.sqrt(p.size)


def test_crossed_keeps_the_contract_and_refuses_bad_trials():
    trials = crossed_trials()
    model = ba.models.validate_model(ba.models.crossed(**trials))
    assert list(model.coords["source"]) == ["model", "challenge", "rest"]
    assert model["log_marginal"].eval(mode=QUICK).shape == (6,)
    with pytest.raises(ValueError, match="model and member must have one length"):
        ba.models.crossed(**{**trials, "model": [1, 2]})
    with pytest.raises(ValueError, match="concentration"):
        ba.models.crossed(**trials, concentration=(1.0, 1.0))
    with pytest.raises(ValueError, match="both classes"):
        ba.models.crossed(**{**trials, "member": np.ones(60, int)})


# -- the mechanism -------------------------------------------------------------------------------


def test_mechanism_table_is_the_exact_likelihood():
    attacks = ba.AttackCounts(fn=[35, 40], tp=[65, 60], fp=[25, 30], tn=[75, 70])
    model = ba.models.mechanism(attacks, 0.01, strength_prior=(2.0, 2.0))
    exact = mechanism_posterior(attacks, 0.01).likelihood
    density = model.compile_logp(vars=model.potentials, mode=QUICK)
    points = [(0.5, 0.3), (1.2, 0.9), (3.0, 0.2), (1.05, 0.7)]
    table = [
        density({"mechanism_epsilon_log__": np.log(e), "strength_logodds__": np.log(s / (1 - s))})
        for e, s in points
    ]
    right = exact(*np.array(points).T)
    assert np.array(table) - table[0] == pytest.approx(right - right[0], abs=1e-4)


# -- priors --------------------------------------------------------------------------------------


def test_share_priors_are_what_they_say():
    counts = counts_of("D3")
    with pm.Model():
        from bayesaudit.models._per_model import create_share

        share = create_share((1.0, 9.0), "share")
    draws = pm.draw(share, 4000, random_seed=1)
    assert stats.kstest(draws, stats.beta(1, 9).cdf).pvalue > 1e-3
    half = lambda name, dims=None: pm.HalfNormal(name, 0.05)  # noqa: E731
    model = ba.models.beta_binomial(counts, icc_prior={"fnr": half, "fpr": 0.1})
    assert "icc_fnr" in model.named_vars and float(model["icc_fpr"].eval()) == pytest.approx(0.1)
    assert [v.name for v in ba.models.beta_binomial(counts, icc_prior=(2.0, 5.0)).free_RVs] == [
        "fnr_z",
        "icc_fnr",
        "fpr_z",
        "icc_fpr",
    ]
    with pytest.raises(ValueError, match=r"use models\.independent"):
        ba.models.beta_binomial(counts, icc_prior=0.0)
    with pytest.raises(ValueError, match="must name"):
        ba.models.beta_binomial(counts, icc_prior={"fnr": 0.1})
    with pytest.raises(ValueError, match="trailing model axis"):
        ba.models.beta_binomial(counts.pooled())

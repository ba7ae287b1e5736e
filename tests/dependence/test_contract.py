"""The mistakes a user makes with the extension contract: each gives one line that names it."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from dependent_data import counts_of

import bayesaudit as ba
from bayesaudit.models import build_model, check_counts, load_builder, validate_model
from bayesaudit.models.contract import of_these_models

COUNTS = counts_of("D1")


def logit_normal(counts, scale=1.0):
    """Logit-normal trained models; the population rate by Gauss–Hermite quadrature."""
    x, weight = np.polynomial.hermite_e.hermegauss(21)
    weight = weight / weight.sum()
    with pm.Model(coords={"model": range(counts.shape[0])}) as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            location = pm.Normal(f"location_{side}", 0, 2)
            spread = pm.HalfNormal(f"spread_{side}", scale)
            z = pm.Normal(f"z_{side}", dims="model")
            pm.Deterministic(side, pt.sum(weight * pm.math.invlogit(location + spread * x)))
            p = pm.math.invlogit(location + spread * z)
            pm.Binomial(errors, n, p, observed=getattr(counts, errors), dims="model")
    return model


def without_return(counts):
    logit_normal(counts)


def without_fpr(counts):
    with pm.Model() as model:
        fnr = pm.Uniform("fnr")
        pm.Binomial("fn", counts.n_pos, fnr, observed=counts.fn)
    return model


def rate_per_model(counts):
    with pm.Model(coords={"model": range(10)}) as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            rate = pm.Uniform(side, dims="model")
            pm.Binomial(errors, n, rate, observed=getattr(counts, errors), dims="model")
    return model


def rate_on_the_logit_scale(counts):
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            rate = pm.Normal(side, 0, 1.5)
            p = pm.math.invlogit(rate)
            pm.Binomial(errors, n, p, observed=getattr(counts, errors))
    return model


def without_observed(counts):
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            pm.Binomial(errors, n, pm.Uniform(side))
    return model


def rate_apart_from_the_data(counts):
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            pm.Uniform(side)
            pm.Binomial(errors, n, pm.Uniform(f"p_{side}"), observed=getattr(counts, errors))
    return model


def impossible_start(counts):
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            pm.Binomial(errors, n - 48, pm.Uniform(side), observed=getattr(counts, errors))
    return model


def raises(counts):
    raise KeyError("n_members")


def unnamed_groups(counts):
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            rate = pm.Uniform(side, shape=10)
            pm.Binomial(errors, n, rate, observed=getattr(counts, errors))
    return model


def other_data(counts, errors=("tp", "fp")):
    with pm.Model() as model:
        for side, name, data in (("fnr", "fn", errors[0]), ("fpr", "fp", errors[1])):
            n = counts.n_pos if side == "fnr" else counts.n_neg
            pm.Binomial(name, n, pm.Uniform(side), observed=getattr(counts, data))
    return model


def discrete_latent(counts):
    with pm.Model() as model:
        kind = pm.Bernoulli("kind", 0.5)
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            rate = pm.Deterministic(side, 0.1 + 0.3 * kind * pm.Uniform(f"u_{side}"))
            pm.Binomial(errors, n, rate, observed=getattr(counts, errors))
    return model


def masked(counts):
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            data = np.ma.masked_array(getattr(counts, errors), np.arange(10) == 3)
            pm.Binomial(errors, n, pm.Uniform(side), observed=data)
    return model


def improper_start(counts):
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            rate = pm.CustomDist(side, logp=lambda value: pt.zeros_like(value))
            pm.BetaBinomial(errors, rate, 1 - rate, n, observed=getattr(counts, errors))
    return model


def wants_trials(counts, *, guess, challenge):
    raise AssertionError


MISTAKES = [
    (
        without_return,
        "without_return: the model must be a pm.Model, got NoneType: is `return model`",
    ),
    (without_fpr, "missing fpr"),
    (rate_per_model, r"fnr must be a population rate, .* got the dims \('model',\)"),
    (rate_on_the_logit_scale, r"fnr must be in \[0, 1\], got .* logit or probit scale"),
    (without_observed, "must have an observed variable, got none"),
    (rate_apart_from_the_data, "fnr must reach the data"),
    (impossible_start, "log density must be finite at its starting point, got -inf from fn"),
    (unnamed_groups, r"fnr must be a population rate, .* got 1 unnamed dimension\(s\): pass dims="),
    (other_data, r"must see the counts: fn is 31, 22, 28, … .*: these are the counts' tp"),
    (discrete_latent, "kind is discrete, which nutpie cannot draw: marginalise it, or sampler='py"),
    (masked, "fn must have no masked observations, .*: leave those trials out"),
    (improper_start, "where a distribution needs .*alpha > 0.*: pass initval="),
    (wants_trials, "wants_trials needs the trials one by one, .*; missing guess, challenge"),
    (raises, "raises failed to build its model: KeyError: 'n_members'"),
    (lambda: None, "failed to build its model: TypeError"),
]


@pytest.mark.filterwarnings("ignore:.*Data in fn contains missing values")
@pytest.mark.filterwarnings("ignore:.*Data in fp contains missing values")
@pytest.mark.parametrize(("builder", "message"), MISTAKES, ids=[f.__name__ for f, _ in MISTAKES])
def test_each_mistake_has_its_line(builder, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        build_model(builder, COUNTS)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


def of_these(counts):
    """The mean of the models at hand, as the old message invited to."""
    with pm.Model(coords={"model": range(counts.shape[0])}) as model:
        for side, errors, n in (("fnr", "fn", counts.n_pos), ("fpr", "fp", counts.n_neg)):
            p = pm.Beta(f"p_{side}", 1, 1, dims="model")
            pm.Deterministic(side, p.mean())
            pm.Binomial(errors, n, p, observed=getattr(counts, errors), dims="model")
    return model


def test_the_mean_of_these_models_is_no_population_rate():
    with pytest.warns(UserWarning, match="fnr is a function of p_fnr, .*integrate over the distr"):
        build_model(of_these, COUNTS)
    assert of_these_models(logit_normal(COUNTS)) == {}
    assert of_these_models(ba.models.probit_normal(COUNTS)) == {}


def test_discrete_latents_pass_for_the_sampler_that_takes_them():
    model = discrete_latent(COUNTS)
    assert validate_model(model, sampler="pymc") is model


def test_priors_without_random_draws_are_not_drawn():
    with pm.Model() as model:
        for side, errors, n in (("fnr", "fn", 100), ("fpr", "fp", 100)):
            logit = pm.CustomDist(f"logit_{side}", logp=lambda value: -(value**2) / 2)
            rate = pm.Deterministic(side, pm.math.invlogit(logit))
            pm.Binomial(errors, n, rate, observed=20)
    assert validate_model(model) is model


def test_counts_are_checked_in_any_order_and_by_trial():
    check_counts(logit_normal(COUNTS), COUNTS[np.arange(10)[::-1]])
    check_counts(ba.models.independent(COUNTS.pooled()), COUNTS)
    with pytest.raises(ValueError, match=r"n_neg is 50, 50, .* in the model's data and 100 in the"):
        check_counts(ba.models.independent(COUNTS), ba.AttackCounts(fn=170, tp=330, fp=91, tn=9))
    with pytest.raises(ValueError, match="must see the counts: fn is"):
        ba.sample(logit_normal(COUNTS), counts=COUNTS[:5], random_seed=1)


def test_sampling_refuses_before_it_compiles():
    for builder, kind in ((without_fpr, "missing fpr"), (rate_per_model, "population rate")):
        with pytest.raises(ValueError, match=kind):
            ba.sample(builder(COUNTS), random_seed=1)


def test_every_built_in_model_keeps_the_contract():
    for model in (
        ba.models.beta_binomial(COUNTS),
        ba.models.probit_normal(COUNTS),
        ba.models.independent(COUNTS, axis="model"),
        ba.models.independent(COUNTS),
        logit_normal(COUNTS),
    ):
        assert validate_model(model) is model


def test_loading_a_function_by_its_path(tmp_path, monkeypatch):
    (tmp_path / "my_audit_models.py").write_text("def mine(counts):\n    return 1\n\nx = 3\n")
    (tmp_path / "broken_models.py").write_text("import nothing_of_that_name\n")
    monkeypatch.chdir(tmp_path)
    assert load_builder("my_audit_models:mine")(None) == 1
    assert load_builder("probit-normal") is ba.models.probit_normal
    for path, message in (
        ("my_audit_models:x", "must have a function 'x'"),
        ("my_audit_models:gone", "must have a function 'gone'"),
        ("no_such_module:f", "cannot import 'no_such_module'"),
        ("broken_models:f", "cannot import 'broken_models': ModuleNotFoundError"),
        ("gone", "bayesaudit.models must have a function 'gone'"),
    ):
        with pytest.raises(ValueError, match=message):
            load_builder(path)
    with pytest.raises(TypeError, match="must be a function"):
        build_model(3, COUNTS)

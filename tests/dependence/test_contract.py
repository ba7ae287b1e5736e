"""The mistakes a user makes with the extension contract: each gives one line that names it."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from dependent_data import counts_of

import bayesaudit as ba
from bayesaudit.models import build_model, load_builder, validate_model

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
    (raises, "raises failed to build its model: KeyError: 'n_members'"),
    (lambda: None, "failed to build its model: TypeError"),
]


@pytest.mark.parametrize(("builder", "message"), MISTAKES, ids=[f.__name__ for f, _ in MISTAKES])
def test_each_mistake_has_its_line(builder, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        build_model(builder, COUNTS)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


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

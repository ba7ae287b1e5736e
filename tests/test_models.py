import numpy as np
import pymc as pm
import pytensor
import pytest
from scipy import stats

import bayesaudit as ba
from bayesaudit import models

ONE = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
THREE = ba.AttackCounts(fn=[0, 3, 10], tp=[10, 7, 0], fp=[1, 2, 3], tn=[9, 8, 7])


@pytest.mark.parametrize(
    ("prior", "free"),
    [("jeffreys", {"fnr_z", "fpr_z"}), ("uniform", {"fnr_z", "fpr_z"}), ((2, 3), {"fnr", "fpr"})],
    ids=["jeffreys", "uniform", "beta"],
)
def test_the_model_defines_population_rates_and_their_complements(prior, free):
    model = models.independent(ONE, prior)
    assert {v.name for v in model.free_RVs} == free
    assert {"fnr", "tpr", "fpr", "tnr"} <= set(model.named_vars)
    assert {v.name for v in model.observed_RVs} == {"fn", "fp"}


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 1.0)], ids=["jeffreys", "uniform"])
def test_the_probit_parametrisation_is_exactly_the_beta(a, b):
    # Quantiles of the standard normal must map to those of the Beta, in both tails.
    model = models.independent(ONE, (a, b))
    rate = pytensor.function([model["fnr_z"]], model["fnr"])
    other = pytensor.function([model["fnr_z"]], model["tpr"])
    q = np.array([1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6])
    z = stats.norm.ppf(q)
    np.testing.assert_allclose([rate(x) for x in z], stats.beta.ppf(q, a, b), rtol=1e-9)
    np.testing.assert_allclose([other(-x) for x in z], stats.beta.ppf(q, a, b), rtol=1e-9)
    # Far beyond where 1 − rate has any digits left.
    np.testing.assert_allclose(other(9.0), stats.beta.ppf(stats.norm.sf(9.0), a, b), rtol=1e-9)


def test_tallies_have_rates_of_their_own_and_models_share_them():
    own = models.independent(THREE)
    assert own.named_vars_to_dims["fnr"] == ("tally",) == own.named_vars_to_dims["fn"]
    shared = models.independent(THREE, axis="model")
    assert "fnr" not in shared.named_vars_to_dims or not shared.named_vars_to_dims["fnr"]
    assert shared.named_vars_to_dims["fn"] == ("model",)


def test_likelihood_is_the_binomial_of_the_counts():
    model = models.independent(THREE, (2, 2))
    terms = model.compile_fn(
        model.logp(vars=model.observed_RVs, sum=False), inputs=model.value_vars
    )
    point = {v.name: np.full(3, 0.4) for v in model.value_vars}
    rate = 1 / (1 + np.exp(-0.4))
    fn, fp = terms(point)
    np.testing.assert_allclose(fn, stats.binom.logpmf(THREE.fn, THREE.n_pos, rate))
    np.testing.assert_allclose(fp, stats.binom.logpmf(THREE.fp, THREE.n_neg, rate))


class Truncated:
    """A prior of the Protocol, in the shape of pymc-extras' VariableFactory."""

    dims = ()

    def create_variable(self, name):
        return pm.TruncatedNormal(name, 0.3, 0.1, lower=0, upper=1)


def test_priors_by_protocol_and_by_callable():
    assert isinstance(Truncated(), models.RatePrior)
    prior = {"fnr": Truncated(), "fpr": lambda name, dims=None: pm.Uniform(name, 0, 0.5, dims=dims)}
    model = models.independent(ONE, prior)
    assert {v.name for v in model.free_RVs} == {"fnr", "fpr"}
    assert {"tpr", "tnr"} <= set(model.named_vars)
    # A callable may return a tensor that it has not named.
    unnamed = models.independent(
        ONE, lambda name, dims=None: pm.math.invlogit(pm.Normal(f"{name}_l"))
    )
    assert {"fnr", "fpr"} <= {v.name for v in unnamed.deterministics}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: models.independent(THREE, Truncated()),
            r"prior of fnr must have the dims \('tally',\)",
        ),
        (lambda: models.independent(ONE, "flat"), "'jeffreys', 'uniform' or a pair"),
        (lambda: models.independent(ONE, {"fnr": "uniform"}), "must name 'fnr' and 'fpr'"),
        (lambda: models.independent(ONE, axis="rows"), "axis must be one of"),
        (lambda: models.BetaPrior(0, 1), "a must be finite and > 0"),
        (
            lambda: models.independent(ba.AttackCounts(fn=1, tp=2**40, fp=1, tn=1)),
            "at most 2147483647 trials",
        ),
    ],
    ids=["dims", "name", "keys", "axis", "shape", "32 bits"],
)
def test_errors_name_the_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Fits that several tests share: compiling a model costs seconds, refitting it a tenth of one."""

import pytest
from reference import audits

import bayesaudit as ba

NUTS_CASES = {
    "B01": "FN = 0",
    "B02": "FN = FP = 0",
    "C17": "n = 1",
    "C07": "worse than random",
    "C12": "an atom at delta = .1",
    "B17": "unequal n",
}


@pytest.fixture(scope="session")
def worked_example():
    return ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)


@pytest.fixture(scope="session")
def compiled(worked_example):
    """The independent model of one tally, compiled once, also for `sample`."""
    shapes = {"fnr": (0.5, 0.5), "fpr": (0.5, 0.5)}
    return ba.compile_model(ba.models.independent(worked_example, shapes))


@pytest.fixture(scope="session")
def nuts_fits(compiled):
    """NUTS draws of six reference cases, 4 × 1000: {id: (case, delta, tree)}."""
    fits = {}
    for case, fn, tp, fp, tn, delta in audits():
        if case["id"] in NUTS_CASES:
            counts = ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn)
            fits[case["id"]] = case, delta, compiled.refit(counts, random_seed=31)
    return fits


@pytest.fixture(scope="session")
def nuts_tree(worked_example):
    """A whole tree by NUTS, of the worked example."""
    return ba.sample(worked_example, method="nuts", draws=1000, random_seed=5)


@pytest.fixture(scope="session")
def tallies():
    """Two hundred unrelated tallies of all sizes, some with zero counts."""
    import numpy as np

    rng = np.random.default_rng(8)
    n = rng.integers(5, 400, (2, 200))
    errors = rng.binomial(n, rng.beta(0.6, 1.2, n.shape))
    return ba.AttackCounts(fn=errors[0], tp=n[0] - errors[0], fp=errors[1], tn=n[1] - errors[1])


@pytest.fixture(scope="session")
def tallies_tree(tallies):
    """The two hundred tallies in one model, by NUTS."""
    return ba.sample(tallies, method="nuts", draws=500, tune=400, random_seed=9, groups=())


@pytest.fixture(scope="session")
def dependent_fits():
    """NUTS draws of the beta-binomial model with the default ICC prior: {data: tree}."""
    from dependent_data import DATA, sample_beta_binomial

    return {name: sample_beta_binomial(name, "default") for name in DATA}


@pytest.fixture(scope="session")
def probit_fit():
    """NUTS draws of the bivariate probit-normal model, ten trained models."""
    from dependent_data import counts_of

    return ba.sample(
        ba.models.probit_normal(counts_of("D1")),
        draws=1000,
        target_accept=0.95,
        random_seed=18,
        groups=(),
    )

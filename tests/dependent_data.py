"""Reference data sets and simulated audits that the tests of dependent samples share."""

import json
from pathlib import Path

import numpy as np

import bayesaudit as ba

DATA = json.loads(
    (Path(__file__).parent / "data" / "beta_binomial.json").read_text(encoding="utf-8")
)["data"]
PRIORS = {"icc_beta_1_9": "default", "icc_uniform": "uniform"}


def counts_of(name):
    case = DATA[name]
    fn, fp = np.array(case["fn"]), np.array(case["fp"])
    return ba.AttackCounts(fn=fn, tp=case["n_pos"] - fn, fp=fp, tn=case["n_neg"] - fp)


def sample_beta_binomial(name, icc_prior):
    """NUTS draws; one model alone needs small steps, since its correlation is not identified."""
    return ba.sample(
        ba.models.beta_binomial(counts_of(name), icc_prior=icc_prior),
        draws=1000,
        random_seed=17,
        target_accept=0.9 if name == "D1" else 0.99,
        groups=("log_likelihood", "log_prior", "posterior_predictive")[: 3 if name == "D1" else 2],
    )


def simulate(rng, models, n, icc, rates=(0.35, 0.25), audits=()):
    """Beta-binomial audits of shape (*audits, models)."""
    sides = []
    for rate in rates:
        p = np.full((*audits, models), rate)
        if icc:
            kappa = (1 - icc) / icc
            p = rng.beta(rate * kappa, (1 - rate) * kappa, p.shape)
        sides.append(rng.binomial(n, p))
    fn, fp = sides
    return ba.AttackCounts(fn=fn, tp=n - fn, fp=fp, tn=n - fp)

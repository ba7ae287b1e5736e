"""Coverage of nominal 90 % intervals on simulated audits: minutes, hence marked slow."""

import numpy as np
import pytest
from dependent_data import simulate

import bayesaudit as ba

TRIALS, REPLICATES, PROB = 1000, 400, 0.90
RATES = {"common": (0.35, 0.25), "rare": (0.02, 0.05)}
CELLS = [(name, m, icc) for name in RATES for m in (10, 100) for icc in (0.0, 0.02, 0.1)]


def coverage(name, m, icc, dependence, replicates=REPLICATES, icc_prior=None, seed=2024):
    """Share of intervals that hold the ε of the population rates, and their mean width."""
    rates = RATES[name]
    spawned = np.random.SeedSequence(seed, spawn_key=(m, round(1000 * icc), len(name)))
    counts = simulate(
        np.random.default_rng(spawned), TRIALS // m, m // 2, icc, rates, audits=(replicates,)
    )
    measure = ba.Epsilon(1e-5)
    truth = float(measure.of(*rates))
    post = ba.posterior(counts, measure, dependence=dependence, icc_prior=icc_prior)
    lower, upper = post.interval(PROB)
    return np.mean((lower <= truth) & (truth <= upper)), float(np.mean(upper - lower))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "m", "icc"), CELLS)
def test_beta_binomial_covers_and_independent_does_not(name, m, icc):
    covered, width = coverage(name, m, icc, "beta-binomial")
    naive, narrow = coverage(name, m, icc, "independent")
    print(
        f"\n{name:6s} m={m:<3d} icc={icc:<4g} beta-binomial {covered:.3f} ({width:.2f}), "
        f"independent {naive:.3f} ({narrow:.2f})"
    )
    assert covered >= 0.85 - 3 * np.sqrt(0.85 * 0.15 / REPLICATES)
    if icc == 0.1 and m == 100:
        assert naive < 0.6
    if icc == 0.0:
        assert naive > 0.85 - 3 * np.sqrt(0.85 * 0.15 / REPLICATES)


def test_coverage_in_one_cell_at_a_glance():
    covered, _ = coverage("common", 100, 0.1, "beta-binomial", replicates=60)
    naive, _ = coverage("common", 100, 0.1, "independent", replicates=60)
    assert covered > 0.75 and naive < 0.7

"""Simulation-based calibration of the PyMC model: slow, and one that must fail."""

import os
from pathlib import Path

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from arviz_plots import plot_ecdf_pit
from matplotlib.figure import Figure
from scipy import stats

import bayesaudit as ba

pytestmark = pytest.mark.slow

N_POS, N_NEG, FITS, DRAWS = 60, 90, 400, 250
MEASURE = ba.Epsilon(1e-5)


def ranks(compiled, prior):
    """PIT values of the true rates and epsilon-hat among posterior draws, over data sets."""
    rng = np.random.default_rng(2024)
    found = {"fnr": [], "fpr": [], "epsilon": []}
    for fit in range(FITS):
        fnr, fpr = rng.beta(*prior, 2)
        fn, fp = int(rng.binomial(N_POS, fnr)), int(rng.binomial(N_NEG, fpr))
        counts = ba.AttackCounts(fn=fn, tp=N_POS - fn, fp=fp, tn=N_NEG - fp)
        dt = compiled.refit(counts, draws=DRAWS, tune=400, chains=2, random_seed=fit)
        truth = {"fnr": fnr, "fpr": fpr, "epsilon": float(MEASURE.of(fnr, fpr))}
        draws = {name: dt["posterior"][name].values for name in ("fnr", "fpr")}
        draws["epsilon"] = ba.posterior(dt, MEASURE).draws.values
        for name, values in draws.items():
            # Thinned to near independence, so that the rank is uniform.
            thinned = values[:, ::5].ravel()
            below = np.sum(thinned < truth[name]) + rng.random() * np.sum(thinned == truth[name])
            found[name].append((below + rng.random()) / (thinned.size + 1))
    return {name: np.array(values) for name, values in found.items()}


def uniformity(values):
    """ArviZ's P of the PIT values being uniform, the one that its picture prints."""
    from arviz_stats.base import array_stats

    return float(np.asarray(array_stats.uniformity_test(values)[0]))


def picture(values, name):
    dt = xr.DataTree.from_dict(
        {"prior_sbc": xr.Dataset({name: ("sample", v) for name, v in values.items()})}
    )
    shown = plot_ecdf_pit(dt, sample_dims=["sample"], backend="matplotlib")
    figure = shown.viz["figure"].item()
    if folder := os.environ.get("BAYESAUDIT_FIGURES"):
        figure.savefig(Path(folder) / f"{name}.png", dpi=80)
    return figure


def test_the_independent_model_is_calibrated():
    counts = ba.AttackCounts(fn=1, tp=N_POS - 1, fp=1, tn=N_NEG - 1)
    values = ranks(ba.sampling.compile_model(ba.models.independent(counts)), (0.5, 0.5))
    assert isinstance(picture(values, "sbc"), Figure)
    for name, pit in values.items():
        assert uniformity(pit) > 0.005, name
        assert stats.kstest(pit, "uniform").pvalue > 0.005, name


def test_a_wrong_model_is_caught():
    # Half of the trials are counted twice: the intervals are too narrow.
    with pm.Model() as wrong:
        for rate, errors, trials, n in (
            ("fnr", "fn", "n_pos", N_POS),
            ("fpr", "fp", "n_neg", N_NEG),
        ):
            p, _ = ba.models.create_rate(ba.models.BetaPrior(), rate)
            size = pm.Data(trials, np.array(n))
            counted = pm.Data(f"{errors}_counted", np.array(1))
            pm.Binomial(errors, n=2 * size, p=p, observed=2 * counted)
    values = ranks(ba.sampling.compile_model(wrong), (0.5, 0.5))
    assert all(uniformity(pit) < 1e-4 for pit in values.values())
    assert isinstance(picture(values, "sbc_wrong"), Figure)

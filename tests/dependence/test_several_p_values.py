"""The smallest of several p-values is no p-value: it counts as often as there were."""

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.dependence import DispersionTest, dispersion_test


def verdict(fnr, fpr):
    return DispersionTest(fnr=fnr, fpr=fpr, statistic_fnr=1, statistic_fpr=1, n_replicates=4000)


def test_the_smaller_of_two_counts_twice_and_of_one_once():
    assert verdict(0.007, 0.4).p_value == pytest.approx(0.014)
    assert verdict(0.007, np.nan).p_value == pytest.approx(0.007)
    assert verdict(0.9, 0.8).p_value == 1.0
    assert np.isnan(verdict(np.nan, np.nan).p_value)
    assert (verdict(0.2, 0.1).side, verdict(0.1, np.nan).side) == ("fpr", "fnr")
    assert verdict(np.nan, 0.3).side == "fpr"
    assert verdict(0.007, 0.4).to_dict()["p_value"] == pytest.approx(0.014)


def independent(rng, audits, models=10, trials=30):
    fn, fp = rng.binomial(trials, 0.3, (2, audits, models))
    return ba.AttackCounts(fn=fn, tp=trials - fn, fp=fp, tn=trials - fp)


def test_independent_models_are_rejected_at_the_level():
    """The smaller p alone was below .05 in 9.75 % of audits, as it must be."""
    audits, level = 400, 0.05
    data = independent(np.random.default_rng(4), audits)
    found = [dispersion_test(data[i], n_replicates=400, random_seed=i) for i in range(audits)]
    error = np.sqrt(level * (1 - level) / audits)
    assert np.mean([one.p_value < level for one in found]) < level + 3 * error
    assert np.mean([min(one.fnr, one.fpr) < level for one in found]) > level + 3 * error


def test_the_sentence_of_models_that_do_not_vary():
    """It offered "room for correlations up to 0"."""
    found = ba.compare(ba.AttackCounts(fn=[5] * 10, tp=[5] * 10, fp=[3] * 10, tn=[7] * 10))
    assert not found.rejects_independence
    assert "10 models that do not vary do not identify their correlation" in found.sentence


@pytest.mark.slow
def test_a_comparison_of_independent_data_rejects_seldom():
    """Dispersion of two sides at .01, and three LOO differences beyond two standard errors."""
    audits = 300
    data = independent(np.random.default_rng(5), audits)
    share = np.mean([ba.compare(data[i]).rejects_independence for i in range(audits)])
    error = np.sqrt(0.02 * 0.98 / audits)
    print(f"rejected {share:.4f} ± {error:.4f}")
    assert share < 0.02 + 3 * error

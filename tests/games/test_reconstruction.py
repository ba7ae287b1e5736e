"""Canary extraction from DP-SGD against the exact success and Fano's bounds."""

import math

import pytest
from scipy.stats import binomtest

from bayesaudit import fano
from bayesaudit.games import (
    CanaryCodes,
    GaussianClasses,
    LossComparison,
    StepLikelihood,
    audit_trainer,
    reconstruction_game,
)

DATA = GaussianClasses(n_classes=2, n_features=6)


def extract(trainer, adversary, codes, n_trials):
    return reconstruction_game(
        trainer,
        adversary,
        DATA,
        n_train=32,
        prior=[1 / codes] * codes,
        n_trials=n_trials,
        random_seed=6,
    )


@pytest.mark.parametrize("attack", [LossComparison, StepLikelihood])
def test_full_batch_extraction_is_a_simplex_of_gaussians(attack):
    # Clipped canaries are orthogonal of norm C, so T steps put codes sqrt(2 T) / sigma apart.
    codes, steps, sigma = 5, 10, 2.5
    trainer = audit_trainer(sigma, n_steps=steps, record=True)
    result = extract(trainer, attack(CanaryCodes(codes, radius=200.0)), codes, 1500)
    exact = fano.gaussian_success(math.sqrt(2 * steps) / sigma, categories=codes)
    assert 0.5 < exact < 0.7
    assert binomtest(result.n_correct, 1500, exact).pvalue > 1e-3


def test_extraction_stays_below_the_bounds():
    codes, steps, sigma, rate = 5, 40, 2.0, 0.2
    trainer = audit_trainer(sigma, sampling_rate=rate, n_steps=steps, record=True)
    result = extract(trainer, StepLikelihood(CanaryCodes(codes, radius=200.0)), codes, 1000)
    bounds = fano.dp_sgd_bounds(sigma, rate, steps, categories=codes, accountants=False)
    lower, _ = result.interval(0.998)
    assert 0.2 < lower <= result.base_success + bounds.advantage * (1 - result.base_success) < 0.5
    # Less noise than accounted for: the same secret is extracted beyond what the bound allows.
    loud = audit_trainer(sigma / 2, sampling_rate=rate, n_steps=steps, record=True)
    result = extract(loud, StepLikelihood(CanaryCodes(codes, radius=200.0)), codes, 1000)
    lower, _ = result.interval(0.998)
    assert lower > result.base_success + bounds.advantage * (1 - result.base_success)

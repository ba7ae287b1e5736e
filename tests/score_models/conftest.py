"""Fits that several tests share: compiling a model costs seconds."""

import pytest
from score_models.simulated import simulated

import bayesaudit as ba


@pytest.fixture(scope="session")
def shifted():
    """Ten models with shifts, and the location model's draws."""
    scores = simulated(models=10)
    return scores, ba.sample(ba.models.location(scores), draws=1000, random_seed=3, groups=())


@pytest.fixture(scope="session")
def heavy_tailed():
    """Student-t scores, and the Student model's draws."""
    scores = simulated("t3", n=600)
    return scores, ba.sample(ba.models.student(scores), draws=400, random_seed=3, groups=())

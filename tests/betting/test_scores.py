"""The betting bound from scores, or guesses, of several models."""

import numpy as np
import pytest

import bayesaudit as ba

MEASURE = ba.Epsilon(1e-5)


def scores_of(models, trials, rng, shift=1.5, spread=0.7):
    """Gaussian scores whose mean wanders from model to model."""
    member = np.tile(np.repeat([0, 1], trials), models)
    model = np.repeat(np.arange(models), 2 * trials)
    score = rng.normal(shift * member + rng.normal(0, spread, models)[model])
    return ba.AttackScores(score=score, member=member, model=model)


def test_a_fixed_threshold_gives_the_bound_of_its_counts():
    scores = scores_of(60, 20, np.random.default_rng(1))
    found = ba.threshold_bound(scores, MEASURE, strategy="fixed", threshold=0.7, method="betting")
    counts = scores.counts_by_model(0.7)
    assert found.lower == ba.betting_bound(counts, ba.Epsilon(1e-5, "member")).lower > 0.5
    assert (found.guarantee, found.statement) == ("guaranteed", "confidence")
    assert not any("independent" in warning for warning in found.warnings)
    # Declared guesses reach it too.
    guess = scores.score >= 0.7
    guessed = ba.AttackCounts.from_guesses(guess=guess, member=scores.member, model=scores.model)
    assert guessed == counts


def test_a_split_by_models_bets_on_the_models_that_did_not_choose():
    scores = scores_of(60, 20, np.random.default_rng(2))
    found = ba.threshold_bound(scores, MEASURE, strategy="split", method="betting", random_seed=3)
    assert found.rows.models.size == 42
    counts = found.rows.counts_by_model(found.threshold)
    assert found.lower == ba.betting_bound(counts, ba.Epsilon(1e-5, "member")).lower > 0.3
    mask = np.isin(scores.model, np.arange(18))
    declared = ba.threshold_bound(
        scores, MEASURE, strategy="split", method="betting", selection=mask
    )
    assert declared.frozen and declared.rows.models.size == 42


def test_refuses_other_strategies_and_scores_without_a_model():
    scores = scores_of(5, 4, np.random.default_rng(3))
    with pytest.raises(ValueError, match=r'"betting" goes with the strategies fixed and split'):
        ba.threshold_bound(scores, MEASURE, strategy="band", method="betting")
    plain = ba.AttackScores(score=scores.score, member=scores.member)
    with pytest.raises(ValueError, match=r'"betting" needs scores with a model'):
        ba.threshold_bound(plain, MEASURE, strategy="split", method="betting")

"""Guess budgets on scores: ties, grids, direction, and what is refused."""

import itertools
import json

import numpy as np
import pytest

from bayesaudit import DataError, onerun


def all_label_blind_counts(score, member, top: int, bottom: int) -> list[int]:
    """Right guesses of every way to fill the budget in the order of the scores."""
    n = len(score)
    counts = []
    for order in itertools.permutations(range(n)):
        if all(score[a] >= score[b] for a, b in itertools.pairwise(order)):
            right = sum(member[i] for i in order[:top])
            right += sum(not member[i] for i in order[n - bottom :])
            counts.append(right)
    return counts


def test_a_cut_block_counts_with_its_fewest_right_guesses():
    rng = np.random.default_rng(8)
    for _ in range(60):
        n = int(rng.integers(2, 8))
        score, member = rng.integers(0, 3, n).astype(float), rng.random(n) < 0.5
        top = int(rng.integers(0, n + 1))
        bottom = int(rng.integers(0, n - top + 1))
        counts = all_label_blind_counts(score, member, top, bottom)
        assert onerun.count_guesses(score, member, (top, bottom)) == (top + bottom, min(counts))


def test_without_ties_there_is_nothing_to_choose():
    rng = np.random.default_rng(9)
    score, member = rng.standard_normal(400), rng.random(400) < 0.5
    order = np.argsort(-score)
    right = int(member[order[:50]].sum() + (~member[order[-30:]]).sum())
    assert onerun.count_guesses(score, member, (50, 30)) == (80, right)
    assert onerun.count_guesses(score, member, 81)[0] == 81
    assert onerun.count_guesses(score, member, 0) == (0, 0)


def test_permuting_canaries_and_stretching_scores_change_nothing():
    rng = np.random.default_rng(10)
    member = rng.random(300) < 0.5
    score = np.round(member + rng.standard_normal(300), 1)
    result = onerun.audit_scores(score, member, guesses=[50, (80, 10)], delta=1e-5)
    order = rng.permutation(300)
    again = onerun.audit_scores(
        np.exp(score[order]), member[order], guesses=[50, (80, 10)], delta=1e-5
    )
    assert again == result
    assert result.lower > 0


def test_all_tied_scores_show_nothing():
    member = np.arange(100) % 2 == 0
    for guesses in (10, 100, [5, 50], (30, 0)):
        result = onerun.audit_scores(np.zeros(100), member, guesses=guesses, delta=0.0)
        assert result.lower == 0.0


def test_perfect_separation_with_infinite_scores():
    member = np.arange(100) < 50
    score = np.where(member, np.inf, -np.inf)
    result = onerun.audit_scores(score, member, guesses=100, delta=0.0)
    expected = onerun.audit(n_canaries=100, n_guesses=100, n_correct=100, delta=0.0)
    assert result.lower == expected.lower > 3
    assert onerun.audit_scores(-score, member, guesses=100, delta=0.0).lower == 0.0


@pytest.mark.parametrize("method", onerun.METHODS)
@pytest.mark.parametrize("curve", ["gaussian", "epsilon-delta"])
def test_a_grid_is_the_best_rule_at_level_over_k(method, curve):
    rng = np.random.default_rng(11)
    member = rng.random(500) < 0.5
    score = 1.5 * member + rng.standard_normal(500)
    grid = [10, 40, 100, 300, (60, 0), (0, 60)]
    result = onerun.audit_scores(
        score, member, guesses=grid, delta=1e-4, method=method, curve=curve, prob=0.9
    )
    singles = []
    for rule in grid:
        r, v = onerun.count_guesses(score, member, rule)
        one = onerun.audit(
            n_canaries=500, n_guesses=r, n_correct=v, delta=1e-4, method=method, curve=curve
        )
        singles.append(one.epsilon_lower(0.05 / 6))
    assert result.lower == pytest.approx(max(singles), rel=1e-9)
    assert result.best == int(np.argmax(singles))
    assert result.n_rules == 6 and result.rules[0] == (5, 5)
    assert result.audit().lower == pytest.approx(result.lower, rel=1e-9)
    assert result.epsilon_lower(0.05) == pytest.approx(result.lower, rel=1e-12)
    assert np.all(np.diff(result.confidence_curve([0.01, 0.05, 0.2])) > 0)
    assert result.p_value(result.lower) == pytest.approx(0.05, rel=1e-6)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["rules"][4]["top"] == 60


def test_a_million_scores():
    rng = np.random.default_rng(12)
    member = rng.random(10**6) < 0.5
    score = member + rng.standard_normal(10**6)
    result = onerun.audit_scores(score, member, guesses=[10**3, 10**4, 10**5], delta=1e-8)
    assert result.lower > 1
    assert result.audit().n_canaries == 10**6


@pytest.mark.parametrize(
    ("score", "member", "guesses", "error", "match"),
    [
        ([1.0, np.nan], [0, 1], 1, DataError, "score must not be NaN, got NaN at index 1"),
        ([1.0, 2.0], [0, 1, 1], 1, DataError, "equally long"),
        ([], [], 0, DataError, "equally long"),
        ([[1.0, 2.0]], [[0, 1]], 1, DataError, "1-D"),
        ([1.0, 2.0], [0, 2], 1, DataError, "member must be booleans, or 0 and 1"),
        ([1.0, 2.0], ["in", "out"], 1, DataError, "member must be booleans, or 0 and 1"),
        ([1.0, 2.0], [0, 1], 3, ValueError, "guesses must be <= the 2 canaries, got 3"),
        ([1.0, 2.0], [0, 1], -1, ValueError, "guesses must be >= 0, got -1"),
        ([1.0, 2.0], [0, 1], 1.5, ValueError, "whole numbers"),
        ([1.0, 2.0], [0, 1], (1, 1, 1), ValueError, "must be \\(top, bottom\\)"),
        ([1.0, 2.0], [0, 1], [], ValueError, "at least one rule"),
    ],
)
def test_refuses(score, member, guesses, error, match):
    with pytest.raises(error, match=match):
        onerun.audit_scores(score, member, guesses=guesses, delta=0.0)


def test_warns_when_no_fair_coins_put_the_canaries_in():
    score = np.arange(100.0)
    for member in (np.ones(100), np.zeros(100), np.arange(100) < 80):
        with pytest.warns(UserWarning, match="of 100 canaries are members: fair coins do not"):
            onerun.audit_scores(score, member, guesses=10, delta=0.0)
        with pytest.warns(UserWarning, match="fair coins"):
            onerun.audit_pareto(score, member, delta=0.0)
    onerun.audit_scores(score, np.arange(100) < 70, guesses=10, delta=0.0)  # does not warn


def test_pareto_needs_no_budget_and_says_so():
    rng = np.random.default_rng(13)
    member = rng.random(300) < 0.5
    score = np.round(member + rng.standard_normal(300), 2)
    result = onerun.audit_pareto(score, member, delta=1e-5, method="all-subset")
    assert not result.declared and not result.to_dict()["declared"]
    assert all(bottom == 0 for _, bottom in result.rules)
    assert result.rules[0] == (300, 0) and result.rules[-1] == (0, 0)
    for (top, _), v in zip(result.rules, result.n_correct, strict=True):
        if 0 < top < 300:
            cut = np.sort(score)[300 - top]
            assert int((score >= cut).sum()) == top
            assert int((member & (score >= cut)).sum()) == v
    slopes = [
        (v1 - v0) / ((t1 - v1) - (t0 - v0)) if t1 - v1 > t0 - v0 else np.inf
        for (t0, v0), (t1, v1) in itertools.pairwise(
            [(t, v) for (t, _), v in zip(result.rules, result.n_correct, strict=True)][::-1]
        )
    ]
    assert np.all(np.diff(slopes[1:]) < 0)  # the ROC hull is strictly concave

"""The bound along a declared order of models: valid at all moments at once."""

import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from dependent_data import simulate

import bayesaudit as ba
from bayesaudit.betting._wealth import stakes_for, stakes_from

MEMBER = ba.Epsilon(0.02, "member")


def wealth_paths(counts, epsilon, delta, stakes):
    """Wealth after each model by plain loops over models and bets: the docstring's formula."""
    t = 1 / (math.exp(epsilon) + delta)
    lines = [
        (t, 1 - delta * t, 0.4),
        ((t + 1 - delta * t) / 2,) * 2 + (0.2,),
        (1 - delta * t, t, 0.4),
    ]
    path = np.zeros(counts.shape[0])
    for a, b, capital in lines:
        for stake in stakes:
            wealth = capital / len(stakes)
            for m in range(counts.shape[0]):
                right = a * counts.tp[m] / counts.n_pos[m] + b * counts.tn[m] / counts.n_neg[m]
                wealth *= 1 - stake + stake * right
                path[m] += wealth
    return path


@pytest.mark.parametrize("planned", [None, 60])
def test_the_largest_wealth_so_far_is_one_over_the_level_at_the_bound(planned):
    stakes = stakes_from(0.05) if planned is None else stakes_for(60, math.log(20))
    for seed in range(4):
        counts = simulate(np.random.default_rng(seed), 60, 3, 0.1, rates=(0.2, 0.1))
        lower = ba.anytime_models(counts, MEMBER, planned=planned).lower
        assert lower > 0.3
        assert wealth_paths(counts, lower, 0.02, stakes).max() == pytest.approx(20, rel=1e-6)


def test_never_falls_as_models_are_added_and_depends_on_their_order():
    rng = np.random.default_rng(1)
    counts = simulate(rng, 60, 2, 0.1, rates=(0.3, 0.2))
    path = [ba.anytime_models(counts[:n], MEMBER).lower for n in range(1, 61)]
    assert all(after >= before - 1e-8 for before, after in pairwise(path)) and path[-1] > 0.2
    found = {ba.anytime_models(counts[rng.permutation(60)], MEMBER).lower for _ in range(5)}
    assert len(found) > 1


def test_errs_at_most_at_its_level_over_all_moments_by_enumeration():
    """All sequences of 6 models, one trial a side; the bound errs at a moment if at the last."""
    cells = np.array(list(itertools.product((0, 1), repeat=2)))  # (tp, tn)
    index = np.array(list(itertools.product(range(4), repeat=6)))
    tp, tn = cells[index, 0], cells[index, 1]
    counts = ba.AttackCounts(fn=1 - tp, tp=tp, fp=1 - tn, tn=tn)
    prob = 0.6
    lower = ba.anytime_models(counts, MEMBER, prob).lower
    rng, worst = np.random.default_rng(2), 0.0
    laws = np.vstack(
        [rng.dirichlet(np.full(4, 0.5), 3000), [[p, 0, 0, 1 - p] for p in np.linspace(0, 1, 99)]]
    )
    truth = MEMBER.of(*(laws @ (1 - cells)).clip(0, 1).T)
    for law, right in zip(laws, truth, strict=True):
        worst = max(worst, float(law[index].prod(axis=1)[lower > right + 1e-12].sum()))
    assert 0.05 < worst <= (1 - prob) / 2


def test_looking_after_each_model_errs_at_most_at_the_level():
    """The bound never falls, so that it errs at some moment if and only if at the last."""
    rng = np.random.default_rng(3)
    common = rng.random((400, 80))
    fn, fp = 5 * (common < 0.35), 5 * (common < 0.25)
    counts = ba.AttackCounts(fn=fn, tp=5 - fn, fp=fp, tn=5 - fp)
    lower = ba.anytime_models(counts, ba.Epsilon(0.0), 0.8).lower
    assert np.mean(lower > math.log(0.65 / 0.25)) <= 0.1 + 3 * math.sqrt(0.09 / 400)
    assert np.median(lower) > 0.05


def test_one_sided_models_count_when_their_partner_is_there():
    one = ba.AttackCounts(fn=[1, 0] * 20, tp=[9, 0] * 20, fp=[0, 1] * 20, tn=[0, 9] * 20)
    both = ba.AttackCounts(fn=[1] * 20, tp=[9] * 20, fp=[1] * 20, tn=[9] * 20)
    bounds = [ba.anytime_models(one[:n], MEMBER).lower for n in (20, 39, 40)]
    assert bounds[0] < bounds[1] < bounds[2]
    assert bounds[1] == ba.anytime_models(one[:38], MEMBER).lower
    # A pair of models shows more than one model: its sides are independent.
    assert bounds[2] > ba.anytime_models(both, MEMBER).lower


def test_any_order_uses_the_wealth_now():
    rng = np.random.default_rng(6)
    counts = simulate(rng, 60, 5, 0.1, rates=(0.25, 0.1))
    found = [
        ba.anytime_models(counts[rng.permutation(60)], MEMBER, order="any").lower for _ in range(4)
    ]
    assert found == pytest.approx([found[0]] * 4, abs=1e-7)
    assert 0.3 < found[0] <= ba.anytime_models(counts, MEMBER).lower + 1e-7
    last = wealth_paths(counts, found[0], 0.02, stakes_from(0.05))[-1]
    assert last == pytest.approx(20, rel=1e-6)
    alone = ba.AttackCounts(fn=[1, 0] * 20, tp=[9, 0] * 20, fp=[0, 1] * 20, tn=[0, 9] * 20)
    assert ba.anytime_models(alone, MEMBER, order="any").lower == 0


def test_limits_and_refusals():
    nothing = ba.AttackCounts(fn=[0], tp=[0], fp=[0], tn=[0])
    assert ba.anytime_models(nothing, MEMBER).lower == 0
    found = ba.calibration.anytime_models(nothing, ba.Advantage())
    assert (found.lower, found.upper, found.method) == (-1, 1, "anytime betting")
    with pytest.raises(ValueError, match="planned must be >= 1, got 0"):
        ba.anytime_models(nothing, MEMBER, planned=0)
    with pytest.raises(ValueError, match="order must be one of 'declared', 'any'"):
        ba.anytime_models(nothing, MEMBER, order="best")
    with pytest.raises(ValueError, match="trailing model axis"):
        ba.anytime_models(ba.AttackCounts(fn=1, tp=1, fp=1, tn=1), MEMBER)

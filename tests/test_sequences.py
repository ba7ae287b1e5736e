"""Which sequences of calls keep their promise: thresholds that stay, and thresholds that do not."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from simulated_scores import DELTA, true_epsilon

import bayesaudit as ba
from bayesaudit.calibration import anytime_bound, looks_prob

MEMBER = ba.Epsilon(DELTA, "member")
EPSILON = np.log(19.0)


@cache
def anytime(fn, tp, fp, tn):
    return float(anytime_bound(ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn), MEMBER).lower)


def alternating(n, seed):
    """Randomised response at log 19, a member and a non-member in turn."""
    rng = np.random.default_rng(seed)
    member = np.arange(2 * n) % 2
    return ba.AttackScores(score=(rng.random(2 * n) < np.where(member, 0.95, 0.05)), member=member)


def any_look_errs(scores, looks, selection):
    """Whether the anytime bound of a split exceeds the truth at some look."""
    for n in looks:
        found = ba.threshold_bound(
            scores[: 2 * n], MEMBER, strategy="split", method="clopper-pearson", selection=selection
        )
        if anytime(**found.counts.to_dict()) > true_epsilon(EPSILON):
            return True
    return False


def test_a_declared_part_chooses_once_and_for_all():
    rng = np.random.default_rng(2)
    scores = ba.AttackScores(
        score=rng.normal(np.tile([0.0, 1.5], 200), 1), member=np.tile([0, 1], 200)
    )
    found = [
        ba.threshold_bound(scores[:n], MEMBER, strategy="split", selection=80)
        for n in (100, 200, 400)
    ]
    assert len({bound.threshold for bound in found}) == 1
    assert all(bound.frozen and bound.random_seed is None for bound in found)
    # Later counts hold the earlier ones: they belong to one growing sample.
    for before, after in pairwise(found):
        assert all(getattr(before.counts, c) <= getattr(after.counts, c) for c in ("fn", "fp"))
    mask = np.arange(400) < 80
    same = ba.threshold_bound(scores, MEMBER, strategy="split", selection=mask)
    assert (same.lower, same.threshold) == (found[-1].lower, found[-1].threshold)


def test_a_fraction_is_not_frozen():
    scores = alternating(50, 1)
    assert not ba.threshold_bound(scores, MEMBER, strategy="split").frozen
    assert not ba.threshold_bound(scores, MEMBER, strategy="band").frozen
    assert ba.threshold_bound(scores, MEMBER, strategy="fixed", threshold=0.5).frozen
    assert ba.threshold_bound(scores, MEMBER, strategy="split", selection=20).to_dict()["frozen"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"selection": 0}, "fewer rows than the 100"),
        ({"selection": 100}, "fewer rows than the 100"),
        ({"selection": 1}, "both classes among the rows that choose"),
        ({"selection": 99}, "both classes among the other rows"),
        ({"selection": 1.5}, r"selection must be in \(0, 1\)"),
        ({"selection": [True, False]}, "mask of True and False for all 100 rows"),
        ({"selection": np.arange(100)}, "mask of True and False"),
        ({"strategy": "multi-split", "selection": 10}, 'goes with "split"'),
    ],
)
def test_a_bad_declared_part_is_refused(more, message):
    with pytest.raises(ValueError, match=message):
        ba.threshold_bound(alternating(50, 1), MEMBER, **{"strategy": "split", **more})


def test_a_declared_part_keeps_models_together():
    member = np.tile([0, 1], 20)
    model = np.repeat(np.arange(10), 4)
    scores = ba.AttackScores(score=member + 0.0, member=member, model=model)
    with pytest.raises(ValueError, match="rows of a model together, got model 2 on both sides"):
        ba.threshold_bound(scores, MEMBER, strategy="split", selection=10)
    assert ba.threshold_bound(scores, MEMBER, strategy="split", selection=12).n_selection == 12


@pytest.mark.slow
def test_splitting_anew_at_every_look_breaks_the_anytime_bound():
    """Any look of 20, 22, …, 300 rows a side: .13 for .05 anew, within .05 with a declared part."""
    audits, looks = 400, range(20, 301, 2)
    shares = {}
    for selection in (0.3, 30):
        errs = [any_look_errs(alternating(300, seed), looks, selection) for seed in range(audits)]
        shares[selection] = np.mean(errs)
    error = {s: np.sqrt(max(p, 0.01) * (1 - p) / audits) for s, p in shares.items()}
    print({s: f"{p:.3f} ± {error[s]:.3f}" for s, p in shares.items()})
    assert shares[0.3] > 0.05 + 3 * error[0.3]
    assert shares[30] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / audits)


@pytest.mark.parametrize("strategy", ["band", "split", "multi-split"])
def test_declared_looks_share_the_level_of_any_strategy(strategy):
    """Bonferroni over looks needs no threshold that stays."""
    looks, audits = (20, 40, 60), 60
    prob = looks_prob(0.9, len(looks))
    errs = 0
    for seed in range(audits):
        scores = alternating(60, seed)
        errs += any(
            ba.threshold_bound(
                scores[: 2 * n], MEMBER, prob, strategy=strategy, method="clopper-pearson"
            ).lower
            > true_epsilon(EPSILON)
            for n in looks
        )
    assert errs / audits <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / audits)

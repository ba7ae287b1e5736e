"""Operating points: ties as blocks, area, TPR at FPR."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesaudit as ba
from bayesaudit.roc import roc_curve

ROWS = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: 0 < sum(member for _, member in rows) < len(rows)
)


def scores_of(rows):
    score, member = zip(*rows, strict=True)
    return ba.AttackScores(score=score, member=member)


@settings(deadline=None, max_examples=60)
@given(ROWS)
def test_area_is_the_mann_whitney_statistic(rows):
    scores = scores_of(rows)
    inside, outside = scores.score[scores.member], scores.score[~scores.member]
    wins = np.sign(inside[:, None] - outside[None, :])
    assert scores.roc().auc == pytest.approx(np.mean((wins + 1) / 2), abs=1e-15)


@settings(deadline=None, max_examples=60)
@given(ROWS)
def test_every_point_is_what_its_threshold_gives(rows):
    scores = scores_of(rows)
    curve = scores.roc()
    assert curve.threshold.size == np.unique(scores.score).size + 1
    for index, threshold in enumerate(curve.threshold):
        assert curve.counts[index] == scores.counts(threshold)


@settings(deadline=None, max_examples=60)
@given(ROWS)
def test_corners_are_the_points_that_no_other_beats(rows):
    curve = scores_of(rows).roc()
    points = list(zip(curve.tp.tolist(), curve.fp.tolist(), strict=True))
    undominated = [
        index
        for index, (tp, fp) in enumerate(points)
        if not any(t >= tp and f <= fp and (t, f) != (tp, fp) for t, f in points)
    ]
    assert curve.corners().tolist() == undominated


@settings(deadline=None, max_examples=60)
@given(ROWS, st.floats(0, 1))
def test_tpr_at_fpr_is_the_best_realised_point(rows, fpr):
    curve = scores_of(rows).roc()
    point = curve.tpr_at_fpr(fpr)
    assert point.fpr <= fpr
    assert point.tpr == max(curve.tpr[curve.fpr <= fpr])


def test_an_fpr_that_is_reached_exactly_counts_as_allowed():
    scores = ba.AttackScores(score=np.arange(20), member=[1, 0] * 10)
    point = scores.roc().tpr_at_fpr(0.1)
    assert (point.fpr, point.counts.fp) == (0.1, 1)
    assert point.to_dict()["counts"] == {"fn": 9, "tp": 1, "fp": 1, "tn": 9}
    with pytest.raises(ValueError, match=r"fpr must be in \[0, 1\]"):
        scores.roc().tpr_at_fpr(10)


def test_limits():
    perfect = ba.AttackScores(score=[2, 2, 1, 0], member=[1, 1, 0, 0]).roc()
    assert perfect.auc == 1
    assert perfect.corners().size == 1
    tied = ba.AttackScores(score=[1, 1, 1], member=[1, 0, 0]).roc()
    assert tied.auc == 0.5
    assert not tied.informative
    infinite = ba.AttackScores(score=[np.inf, 0], member=[1, 0]).roc()
    assert np.isnan(infinite.threshold[0])
    assert infinite.tpr_at_fpr(0.0).tpr == 1
    single = roc_curve(np.array([3.0]), np.array([True]))
    assert (single.tp.tolist(), single.fp.tolist()) == ([0, 1], [0, 0])
    assert roc_curve(np.array([]), np.array([], bool)).threshold.tolist() == [np.inf]

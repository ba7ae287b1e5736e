"""AttackScores: construction, checks, counts."""

import numpy as np
import pytest
from reference import DATA, cases, ids

import bayesaudit as ba


def test_it_counts_at_a_threshold_with_ties_as_a_block():
    scores = ba.AttackScores(score=[0, 1, 1, 2, 0, 0, 1, 1], member=[1, 1, 1, 1, 0, 0, 0, 0])
    expected = {0: (0, 4, 4, 0), 1: (1, 3, 2, 2), 2: (3, 1, 0, 4), 3: (4, 0, 0, 4)}
    for threshold, (fn, tp, fp, tn) in expected.items():
        assert scores.counts(threshold) == ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn)


def test_a_float32_score_compares_as_the_number_it_is():
    scores = ba.AttackScores(score=np.float32([0.7, 0.1]), member=[1, 0])
    assert scores.counts(0.7).tp == 0
    assert scores.counts(float(np.float32(0.7))).tp == 1


def test_counts_by_model_sum_to_the_counts():
    rng = np.random.default_rng(1)
    scores = ba.AttackScores(
        score=rng.normal(size=200), member=rng.integers(0, 2, 200), model=rng.integers(0, 7, 200)
    )
    per_model = scores.counts_by_model(0.3)
    assert per_model.shape == (7,) == scores.models.shape
    assert per_model.pooled() == scores.counts(0.3)


def test_rows_can_be_chosen_and_arrays_cannot_be_written():
    scores = ba.AttackScores(score=[1, 2, 3, 4], member=[0, 1, 0, 1], challenge=[0, 1, 2, 3])
    chosen = scores[np.array([2, 3])]
    assert chosen.challenge.tolist() == [2, 3]
    with pytest.raises(ValueError, match="read-only"):
        scores.score[0] = 5


def test_infinite_scores_are_legal():
    scores = ba.AttackScores(score=[np.inf, 2, 1, 0, -np.inf], member=[1, 1, 0, 0, 0])
    assert scores.counts(np.inf) == ba.AttackCounts(fn=1, tp=1, fp=0, tn=3)
    assert scores.counts(-np.inf) == ba.AttackCounts(fn=0, tp=2, fp=3, tn=0)


@pytest.mark.parametrize(
    ("score", "member", "more", "message"),
    [
        ([1, 2, np.nan], [1, 0, 0], {}, r"1 NaN \(first at index 2\)"),
        ([], [], {}, "at least one row"),
        ([1, 2, 3], [1, 0], {}, "one length, got 3 and 2"),
        ([1, 2], [1, 1], {}, "both classes"),
        ([1, 2], [0, 0], {}, "both classes"),
        ([1, 2], [1, 2], {}, "positive="),
        (["a", "b"], [1, 0], {}, "score must be numbers"),
        ([1, 2], [1, 0], {"model": [1]}, "model and member must have one length"),
        ([1, 2], [1, 0], {"model": [1, np.nan]}, "NaN at index 1"),
        ([1, 2], [1, 0], {"challenge": ["a", None]}, "none at index 1"),
    ],
)
def test_bad_rows_are_refused(score, member, more, message):
    with pytest.raises(ValueError, match=message):
        ba.AttackScores(score=score, member=member, **more)


def right_counts(cells):
    return ba.AttackCounts(**{name.lower(): value for name, value in cells.items()})


@pytest.mark.parametrize("case", cases("scores"), ids=ids(cases("scores")))
def test_reference_scores(case):
    score = np.array([float(value) for value in case["input"]["scores"]])
    member, right = case["input"]["labels"], case["right"]
    if "outcome" in right or case["id"] in ("S11", "S13"):
        with pytest.raises(ValueError, match=r"NaN|at least one row|one length|must be 0/1"):
            ba.AttackScores(score=score, member=member)
    if case["id"] == "S08":
        scores = ba.AttackScores(score=np.float32([0.1, 0.7, 0.3]), member=[1, 0, 1])
        assert (scores.score >= 0.7).tolist() == [False, right["float32(0.7)>=0.7"], False]
        assert scores.counts(0.1).tp == 2
        return
    tallies = right.get("tallies", right.get("tallies_if_mapped"))
    if tallies is None:
        return
    positive = {"S11": 1, "S13": "1"}.get(case["id"])
    scores = ba.AttackScores(score=score, member=member, positive=positive)
    for threshold, cells in tallies.items():
        assert scores.counts(float(threshold)) == right_counts(cells)
    if "roc_auc" in right:
        assert scores.roc().auc == right["roc_auc"]
    if "distinct_operating_points_without_origin" in right:
        curve = scores.roc()
        points = np.column_stack([curve.fpr, curve.tpr])[1:].tolist()
        assert points == right["distinct_operating_points_without_origin"]


@pytest.mark.parametrize("case", cases("scores_file"), ids=ids(cases("scores_file")))
def test_reference_file(case):
    name = case["input"]["file"].rpartition("/")[2]
    scores = ba.read_attack(DATA.parent.parent / "notebooks" / "data" / name)
    for threshold, cells in case["right"]["tallies"].items():
        assert scores.counts(float(threshold)) == right_counts(cells)

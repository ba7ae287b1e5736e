import numpy as np
import pytest
from reference import cases, ids

import bayesaudit as ba

GOOD = {"fn": 1, "fp": 2, "tp": 9, "tn": 8}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"fn": -1}, ValueError, r"fn must be >= 0, got -1"),
        ({"fp": 2.5}, ValueError, r"fp must be whole numbers, got 2\.5"),
        ({"tp": float("nan")}, ValueError, r"tp must be whole numbers, got nan"),
        ({"tn": True}, TypeError, r"tn must be whole numbers, got booleans"),
        ({"fn": "3"}, TypeError, r"fn must be whole numbers, got '3'"),
        ({"fn": [1, 2]}, ValueError, r"must have one shape, got fn \(2,\), tp \(\)"),
        ({"n_pos": 11}, ValueError, r"fn \+ tp must equal n_pos: got 10 and 11"),
        ({"n_neg": 9}, ValueError, r"fp \+ tn must equal n_neg: got 10 and 9"),
        ({"fn": 1e300}, ValueError, r"fn must be whole numbers, got 1e\+300"),
        ({"fn": np.uint64(2**63)}, ValueError, r"fn must fit in 64 bits"),
        ({"fn": 2**62}, ValueError, r"fn must be at most"),
    ],
)
def test_refuses_what_cannot_be_counts(change, error, message):
    with pytest.raises(error, match=message):
        ba.AttackCounts(**{**GOOD, **change})


def test_counts_are_keyword_only():
    with pytest.raises(TypeError, match="positional"):
        ba.AttackCounts(1, 2, 9, 8)


def test_small_integers_do_not_wrap():
    counts = ba.AttackCounts(**dict.fromkeys(("fn", "tp", "fp", "tn"), np.int8(100)))
    assert counts.n_pos == 200
    assert counts == ba.AttackCounts(fn=100, tp=100, fp=100, tn=100)


def test_whole_floats_and_totals_pass():
    counts = ba.AttackCounts(fn=1.0, tp=9, fp=2, tn=8, n_pos=10, n_neg=10)
    assert counts.to_dict() == GOOD
    assert isinstance(counts.to_dict()["fn"], int)


def test_counts_cannot_be_changed_in_place():
    counts = ba.AttackCounts(fn=[1, 2], tp=[3, 4], fp=[0, 0], tn=[5, 5])
    with pytest.raises(ValueError, match="read-only"):
        counts.fn[0] = 7


def test_pooled_sums_the_model_axis():
    counts = ba.AttackCounts(
        fn=[[1, 2], [3, 4]], tp=[[9, 8], [7, 6]], fp=[[0, 1], [2, 3]], tn=[[5, 5], [5, 5]]
    )
    assert counts.pooled() == ba.AttackCounts(fn=[3, 7], tp=[17, 13], fp=[1, 5], tn=[10, 10])
    assert counts[0].pooled() == counts.pooled()[0]
    with pytest.raises(ValueError, match="needs a trailing model axis"):
        counts[0, 0].pooled()


@pytest.mark.parametrize("case", cases("scores"), ids=ids(cases("scores")))
def test_reference_scores(case):
    score = np.array([float(value) for value in case["input"]["scores"]])
    label, right = case["input"]["labels"], case["right"]

    def tally(threshold, member=label, **more):
        return ba.AttackCounts.from_scores(score=score, member=member, threshold=threshold, **more)

    if case["id"] == "S08":  # float32 scores: compared in double precision, as they are
        score = score.astype(np.float32)
        assert tally(np.float32(0.3)).tp == 1
        assert tally(0.1).to_dict() == {"fn": 0, "tp": 2, "fp": 1, "tn": 0}
        seven = ba.AttackCounts.from_scores(
            score=np.float32([0.7, 0.7]), member=[1, 0], threshold=0.7
        )
        assert (seven.tp, seven.fp) == (0, 0)
        return
    if case["id"] == "S11":  # ±1: refused with a hint, taken when the positive label is named
        with pytest.raises(ValueError, match=r"member must be 0/1 .* positive="):
            tally(0.5)
        named = tally(0.5, positive=1)
        assert named.to_dict() == {k.lower(): v for k, v in right["tallies"]["0.5"].items()}
        return
    if case["id"] == "S13":
        with pytest.raises(ValueError, match=r"member must be 0/1"):
            tally(0.5)
        named = tally(0.5, positive="1")
        assert named.to_dict() == {
            k.lower(): v for k, v in right["tallies_if_mapped"]["0.5"].items()
        }
        return
    if "outcome" in right:
        message = {"S06": "1 NaN .first at index 2", "S18": "at least one row", "S19": "one length"}
        with pytest.raises(ValueError, match=message[case["id"]]):
            tally(0.5)
        return
    for threshold, cells in right["tallies"].items():
        assert tally(float(threshold)).to_dict() == {k.lower(): v for k, v in cells.items()}


def test_one_class_only_is_refused():
    with pytest.raises(ValueError, match="both classes, got 3 members only"):
        ba.AttackCounts.from_guesses(guess=[1, 0, 1], member=[1, 1, 1])
    with pytest.raises(ValueError, match="both classes, got 2 non-members only"):
        ba.AttackCounts.from_guesses(guess=[1, 0], member=[False, False])


def test_labels_that_contradict_counts_are_refused():
    with pytest.raises(ValueError, match=r"fn \+ tp must equal n_pos: got 4 and 3"):
        ba.AttackCounts(tp=3, fp=3, tn=2, fn=1, n_pos=3, n_neg=3)


def test_tallies_per_model():
    counts = ba.AttackCounts.from_guesses(
        guess=[1, 0, 1, 1, 0, 0], member=[1, 0, 0, 1, 1, 0], model=["b", "b", "b", "a", "a", "a"]
    )
    assert counts == ba.AttackCounts(fn=[1, 0], tp=[1, 1], fp=[0, 1], tn=[1, 1])
    assert counts.axis == "model"
    with pytest.raises(ValueError, match="model and member must have one length"):
        ba.AttackCounts.from_guesses(guess=[1, 0], member=[1, 0], model=[1])


def test_the_axis_stays_where_the_trailing_one_does():
    cells = {name: np.arange(6).reshape(2, 3) for name in ("fn", "tp", "fp", "tn")}
    counts = ba.AttackCounts(**cells, axis="model")
    assert counts == ba.AttackCounts(**cells)
    assert counts.to_dict() == ba.AttackCounts(**cells).to_dict()
    mask = np.array([True, False])
    for kept in (0, -1, slice(1), mask, [1, 0], ..., (..., slice(2)), (0, [0, 2]), None):
        assert counts[kept].axis == "model", kept
    for lost in ((0, 0), (..., 1), (slice(None), 0), ([0, 1], [0, 1]), cells["fn"] > 2):
        assert counts[lost].axis is None, lost
    one = counts[0]
    assert (one[:2].axis, one[one.fn > 0].axis, one[[0, 1]].axis) == ("model",) * 3
    assert (one[0].axis, one[np.int64(1)].axis, one.pooled().axis) == (None,) * 3
    with pytest.raises(ValueError, match="axis must be None for a single tally, got 'model'"):
        ba.AttackCounts(**GOOD, axis="model")
    with pytest.raises(ValueError, match="axis must be"):
        ba.AttackCounts(**cells, axis="challenge")


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ([1 + 2j, 0], "score must be real numbers, got complex128"),
        (np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), "score must be real numbers"),
        ([2**53 + 1, 0], "score must be held exactly by 64-bit floats"),
        (["x", "1"], "score must be numbers"),
    ],
)
def test_scores_that_no_double_holds_are_refused(score, message):
    with pytest.raises(ValueError, match=message):
        ba.AttackScores(score=score, member=[1, 0])
    assert ba.AttackScores(score=[2**60, 0], member=[1, 0]).score[0] == 2.0**60


def test_no_data_says_that_the_prior_speaks():
    nothing = ba.AttackCounts(fn=0, tp=0, fp=0, tn=0)
    with pytest.warns(UserWarning, match="no data for FNR and FPR: there the prior speaks"):
        ba.posterior(nothing, ba.Epsilon(0))
    assert np.isnan(nothing.fnr)

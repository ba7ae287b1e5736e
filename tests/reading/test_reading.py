"""read_attack: formats, aliases, and one clear line for what cannot be read."""

import numpy as np
import pandas as pd
import pytest

import bayesaudit as ba

SCORES = {"score": [0.5, 0.25, float("inf"), -1.0], "member": [1, 0, 1, 0]}


def same(found, score, member):
    assert isinstance(found, ba.AttackScores)
    assert found.score.tolist() == score
    assert found.member.tolist() == [bool(bit) for bit in member]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet"])
def test_tables(tmp_path, suffix):
    path = tmp_path / f"attack{suffix}"
    frame = pd.DataFrame(
        {"Is-Member": SCORES["member"], "attack_score": SCORES["score"], "run": list("aabb")}
    )
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="\t" if "tsv" in suffix else ",")
    found = ba.read_attack(path)
    same(found, **SCORES)
    assert found.models.tolist() == ["a", "b"]


def test_numbers_are_read_to_the_last_digit(tmp_path):
    rng = np.random.default_rng(3)
    score = rng.normal(size=5000) * 10.0 ** rng.integers(-30, 5, 5000)
    path = tmp_path / "digits.csv"
    pd.DataFrame({"score": score, "member": np.arange(5000) % 2}).to_csv(path, index=False)
    same(ba.read_attack(path), score.tolist(), np.arange(5000) % 2)


def test_npz_of_one_and_two_dimensions(tmp_path):
    path = tmp_path / "attack.npz"
    np.savez(path, scores=np.arange(6.0).reshape(2, 3), memberships=[[1, 0, 1], [0, 0, 1]])
    found = ba.read_attack(path)
    same(found, [0, 1, 2, 3, 4, 5], [1, 0, 1, 0, 0, 1])
    assert found.model.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.challenge.tolist() == [0, 1, 2, 0, 1, 2]
    np.savez(path, scores=[1.0, 2.0], memberships=[True, False], model=["a", "b"])
    assert ba.read_attack(path).models.tolist() == ["a", "b"]
    np.savez(path, in_canary_scores=[3.0, 2.0], out_canary_scores=[1.0])
    same(ba.read_attack(path), [3, 2, 1], [1, 1, 0])


def test_counts(tmp_path):
    expected = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    for name, text in (
        ("a.json", '{"fn": 35, "tp": 65, "fp": 25, "tn": 75}'),
        ("b.json", '{"inputs": {"counts": {"fn": 35, "tp": 65, "fp": 25, "tn": 75}}}'),
        ("c.csv", "tn,fn,FP,tp\n75,35,25,65\n"),
    ):
        (tmp_path / name).write_text(text)
        assert ba.read_attack(tmp_path / name) == expected
    (tmp_path / "d.json").write_text('{"fn": [1, 2], "tp": [3, 4], "fp": [0, 0], "tn": [5, 5]}')
    assert ba.read_attack(tmp_path / "d.json").shape == (2,)
    (tmp_path / "e.csv").write_text("member,guess,model\n1,1,a\n0,1,a\n1,0,b\n0,0,b\n")
    assert ba.read_attack(tmp_path / "e.csv") == ba.AttackCounts(
        fn=[0, 1], tp=[1, 0], fp=[1, 0], tn=[0, 1]
    )


def test_names_and_labels_of_ones_own(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("who,gap\nin,0.5\nout,0.1\n")
    found = ba.read_attack(path, positive="in", columns={"member": "who", "score": "gap"})
    same(found, [0.5, 0.1], [1, 0])
    path.write_text("member,score\n2,0.5\n3,0.1\n")
    same(ba.read_attack(path, positive="3"), [0.5, 0.1], [0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("member,score\n1,0.5\n0,nan\n", r"row 3: score must not be NaN"),
        ("member,score\n1,x\n0,y\n", r"row 2: score must be a number, got 'x'"),
        ("foo,bar\n1,2\n", r"must have columns fn,tp,fp,tn, .* got foo,bar"),
        ("member,score\n1,1\n2,0\n0,3\n", r"row 3: member must be 0/1 or false/true, got '2'"),
        ("member,score\n1,1\nyes,0\n", r"member must be 0/1 .* positive="),
        ("member,score\n1,1\n,0\n", r"row 3: member must be given, got nothing"),
        ("member,score\n1,1\n1,0\n", r"must have both classes, got 2 members only"),
        ("", r"got an empty file"),
        ("member,score\n", r"at least one row"),
        ("member,score\n1,1\n0,1,2\n", r"row 3: must have 2 fields, as the header has, got 3"),
        ("membership,is_member,score\n1,1,1\n", r"several columns for member"),
        ("score,Score,member\n1,1,1\n", r"has the column score twice"),
        ("fn,tp,fp,tn\n1,2,3,4.5\n", r"row 2: tn must be a whole number, got '4\.5'"),
        ("fn,tp,fp,tn\n1,2,3,x\n", r"row 2: tn must be a whole number, got 'x'"),
    ],
)
def test_bad_tables_are_one_line(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ba.DataError, match=message) as caught:
        ba.read_attack(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_bad_files_are_one_line(tmp_path):
    def refused(name, message, **arrays):
        path = tmp_path / name
        if arrays:
            np.savez(path, **arrays)
        with pytest.raises(ba.DataError, match=message):
            ba.read_attack(path)

    refused("a.npz", "Python objects", scores=np.array([1, None]), memberships=[1, 0])
    refused("b.npz", "must have columns .* or member,score; got scores", scores=[1.0])
    refused("c.npz", r"one shape, got \(2,\) and \(1,\)", scores=[1.0, 2.0], memberships=[1])
    (tmp_path / "d.npz").write_bytes(b"PK\x03\x04 no archive")
    refused("d.npz", "d.npz: ")
    (tmp_path / "e.json").write_text("[1")
    refused("e.json", "must be JSON")
    (tmp_path / "f.json").write_text("[1]")
    refused("f.json", "row 1: must be a JSON object, got a number")
    (tmp_path / "g.json").write_text('{"scores": [1, null], "memberships": [1, 0]}')
    refused("g.json", "row 2: score must be given, got nothing")
    (tmp_path / "h.parquet").write_bytes(b"none")
    refused("h.parquet", "h.parquet: ")
    (tmp_path / "i.xlsx").write_bytes(b"none")
    refused("i.xlsx", "must be one of .csv, .tsv")
    with pytest.raises(FileNotFoundError):
        ba.read_attack(tmp_path / "missing.csv")
    (tmp_path / "j.csv").write_text("m,score\n1,2\n0,1\n")
    with pytest.raises(ba.DataError, match="has no column 'x'; got m,score"):
        ba.read_attack(tmp_path / "j.csv", columns={"member": "x"})
    with pytest.raises(ba.DataError, match="columns must name some of"):
        ba.read_attack(tmp_path / "j.csv", columns={"members": "m"})

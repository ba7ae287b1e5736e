"""What `read_file` says of a file, and the options that say how it is to be read."""

import gzip
import io
import os
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.reading import ALIASES, read_file, read_trials

BOTH = "member,guess,score\n1,0,3\n0,1,2\n"


@pytest.fixture
def file(tmp_path):
    def written(text, name="attack.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_kinds_and_sources(file):
    attack = read_file(file("fn,tp,fp,tn\n1,2,3,4\n"))
    assert (attack.kind, attack.per_model, attack.data.axis) == ("counts", False, None)
    attack = read_file(file("fn,tp,fp,tn\n1,2,3,4\n1,2,3,4\n"))
    assert (attack.kind, attack.per_model, attack.data.axis) == ("counts", False, "tally")
    attack = read_file(file("fn,tp,fp,tn,model\n1,2,3,4,a\n"))
    assert (attack.per_model, attack.data.axis, attack.data.shape) == (True, "model", (1,))
    attack = read_file(file("member,guess\n1,1\n0,0\n"))
    assert (attack.kind, attack.per_model, attack.data.shape) == ("guesses", False, ())
    path = file("member,score,run\n1,1,a\n0,0,b\n")
    attack = read_file(path)
    assert (attack.kind, attack.per_model, attack.source) == ("scores", True, str(path))
    assert attack.notes == ()


def test_trials_with_scores_and_guesses(file):
    path = file(BOTH)
    assert read_file(path).kind == "scores"
    assert isinstance(ba.read_attack(path), ba.AttackScores)
    attack = read_file(path, prefer="guesses")
    assert (attack.kind, attack.data) == ("guesses", ba.AttackCounts(fn=1, tp=0, fp=1, tn=0))
    assert read_file(file("member,score\n1,3\n0,2\n"), prefer="guesses").kind == "scores"
    with pytest.raises(ValueError, match="prefer must be"):
        read_file(path, prefer="members")


def test_counts_come_before_trials(file):
    attack = read_file(file("fn,tp,fp,tn,member,score,challenge\n1,2,3,4,1,0.5,x\n"))
    assert attack.data == ba.AttackCounts(fn=1, tp=2, fp=3, tn=4)
    assert len(attack.notes) == 1 and "column challenge says nothing" in attack.notes[0]


def test_scores_that_point_the_other_way_get_a_hint(file):
    path = file("member,loss\n1,0.1\n1,0.2\n0,0.9\n0,0.0\n0,0.8\n")
    columns = {"score": "loss"}
    attack = read_file(path, columns=columns)
    assert len(attack.notes) == 1 and attack.notes[0].endswith(
        "with lower_is_member (--lower-is-member)."
    )
    assert "AUC 0.333" in attack.notes[0]
    turned = read_file(path, columns=columns, lower_is_member=True)
    assert turned.notes == () and turned.lower_is_member and not attack.lower_is_member
    assert turned.data.score.tolist() == [-0.1, -0.2, -0.9, 0.0, -0.8]
    assert not np.signbit(turned.data.score[3])
    assert turned.data.roc().auc == pytest.approx(1 - attack.data.roc().auc)
    wrong = read_file(file("member,score\n1,1\n0,0\n"), lower_is_member=True)
    assert "without lower_is_member" in wrong.notes[0]


@pytest.mark.parametrize("column", ALIASES)
def test_every_alias_in_every_spelling(file, column):
    counts = column in ("fn", "tp", "fp", "tn")
    names = ["fn", "tp", "fp", "tn"] if counts else ["member", "score", "model", "challenge"]
    if column == "guess":
        names = ["member", "guess", "model", "challenge"]
    for alias in ALIASES[column]:
        for spelled in (alias, alias.upper(), alias.replace("_", "-"), alias.replace("_", " ")):
            header = ",".join(spelled if name == column else name for name in names)
            plain = read_file(file(f"{','.join(names)}\n1,1,0,0\n0,0,0,0\n"))
            found = read_file(file(f"{header}\n1,1,0,0\n0,0,0,0\n"))
            assert found.kind == plain.kind
            assert repr(found.data) == repr(plain.data) and repr(found.trials) == repr(plain.trials)


def test_no_name_is_an_alias_of_two_columns():
    names = [alias for aliases in ALIASES.values() for alias in aliases]
    assert len(set(names)) == len(names)


def test_columns_named_by_hand_win(file):
    path = file("label,is_in,member,score\ncat,1,x,0.9\ndog,0,y,0.1\n")
    assert ba.read_attack(path, columns={"member": "IS-IN"}).member.tolist() == [True, False]
    path = file("miss,tp,fp,tn\n1,2,3,4\n")
    assert ba.read_attack(path, columns={"fn": "miss"}) == ba.AttackCounts(fn=1, tp=2, fp=3, tn=4)
    # A column that is taken by hand is not one of another's candidates.
    path = file("confidence,signal,member\n1,5,1\n0,4,0\n")
    assert ba.read_attack(path, columns={"score": "signal"}).score.tolist() == [5.0, 4.0]


def test_rows_of_one_class_are_for_audits_of_one_run(file):
    path = file("member,score,model\n1,0.9,a\n1,0.2,a\n")
    with pytest.raises(ba.DataError, match="both classes"):
        read_file(path)
    trials = read_trials(path)
    assert trials.member.all() and trials.score.tolist() == [0.9, 0.2]
    with pytest.raises(ba.DataError, match=r"--one-run needs columns member,score; got fn,tp"):
        read_trials(file("fn,tp,fp,tn\n1,2,3,4\n"), needed_by="--one-run")


def test_blank_lines_and_wide_matrices(file, tmp_path):
    found = ba.read_attack(file("\n\nmember,score\n\n1,2\n  \n0,1\n\n"))
    assert found.score.tolist() == [2.0, 1.0]
    path = tmp_path / "wide.npz"
    np.savez(
        path,
        score=np.arange(6.0).reshape(2, 3),
        member=np.eye(2, 3),
        model=["b", "a"],
        canary=[7, 8, 9],
    )
    found = ba.read_attack(path)
    assert found.model.tolist() == ["b"] * 3 + ["a"] * 3
    assert found.challenge.tolist() == [7, 8, 9] * 2


def test_what_estimate_prints_can_be_read(file):
    one = '{"fn": 1, "tp": 2, "fp": 3, "tn": 4}'
    expected = ba.AttackCounts(fn=1, tp=2, fp=3, tn=4)
    for text in (one, f'{{"counts": {one}}}', f'{{"version": 1, "inputs": {{"counts": {one}}}}}'):
        assert ba.read_attack(file(text, "a.json")) == expected
    found = ba.read_attack(file(f'{{"inputs": {{"counts": [{one}, {one}]}}}}', "a.json"))
    assert (found.axis, found[1]) == ("tally", expected)
    text = '{"inputs": {"score": 7}, "score": [1, 2], "member": [0, 1]}'
    assert ba.read_attack(file(text, "a.json")).score.tolist() == [1, 2]


CONTENTS = {
    "csv": BOTH.encode(),
    "gz": gzip.compress(BOTH.encode()),
    "json": b' [{"member": 1, "score": 3}, {"member": 0, "score": 2}]',
}


def npz():
    buffer = io.BytesIO()
    np.savez(buffer, member=[1, 0], score=[3, 2])
    return buffer.getvalue()


@pytest.mark.parametrize("data", [*CONTENTS.values(), npz()], ids=[*CONTENTS, "npz"])
def test_standard_input_and_files_without_a_suffix(tmp_path, monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    attack = read_file("-")
    assert (attack.source, attack.data.score.tolist()) == ("standard input", [3.0, 2.0])
    monkeypatch.setattr(
        sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(b"member,score\n1\n"))
    )
    with pytest.raises(ba.DataError, match=r"^standard input: row 2: must have 2 fields"):
        read_file("-")
    (tmp_path / "scores").write_bytes(data)
    assert ba.read_attack(tmp_path / "scores").score.tolist() == [3.0, 2.0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(
    ("name", "data"), [("pipe", CONTENTS["csv"]), ("p.csv.gz", CONTENTS["gz"]), ("p.npz", npz())]
)
def test_pipes(tmp_path, name, data):
    path = tmp_path / name
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    assert ba.read_attack(path).score.tolist() == [3.0, 2.0]
    writer.join()


def test_text_needs_no_pandas(file):
    code = (
        "import sys, bayesaudit as ba\n"
        f"ba.read_attack({str(file(BOTH))!r})\n"
        "print([name for name in ('pandas', 'pyarrow', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

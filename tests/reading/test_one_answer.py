"""One table gives one answer, in whatever format, coding, size and order it is written."""

import bz2
import csv
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayesaudit as ba
from bayesaudit.reading import read_file

PLAIN_LABELS = st.integers(-5, 10**6).map(str)
TEXT_LABELS = st.one_of(
    st.sampled_from(
        ["01", "1", "1e2", "100", "NA", "nan", "null", "True", "1.0", "é", "a b", "-0"]
    ),
    st.text("abcXYZ019._é,;'\"", min_size=1, max_size=4),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, float("inf"), 2.0**53]),
)


def delimited(delimiter, decimal=".", quoting=csv.QUOTE_MINIMAL, end="\n", start=""):
    """Return a writer of text; floats have a decimal comma where the text has one."""

    def written(table):
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            cells = (repr(c).replace(".", decimal) if isinstance(c, float) else str(c) for c in row)
            writer.writerow(cells)
        return (start + buffer.getvalue()).encode("utf-8")

    return written


def as_npz(table):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{name: np.array(cells) for name, cells in table.items()})
    return buffer.getvalue()


def as_parquet(table):
    buffer = io.BytesIO()
    pq.write_table(pa.table(table), buffer, row_group_size=1000)
    return buffer.getvalue()


def as_columns(table):
    return json.dumps(table).encode()


def as_records(table):
    rows = zip(*table.values(), strict=True)
    return json.dumps([dict(zip(table, row, strict=True)) for row in rows]).encode()


def as_frame(table):
    """Return what `pandas.DataFrame.to_json` writes."""
    return json.dumps({name: dict(enumerate(cells)) for name, cells in table.items()}).encode()


WRITERS = {
    "csv": delimited(","),
    "csv, Windows": delimited(",", end="\r\n", start="\ufeff"),
    "csv, all quoted": delimited(",", quoting=csv.QUOTE_ALL),
    "tsv": delimited("\t"),
    "txt": delimited(";", ","),
    "csv, semicolons and points": delimited(";"),
    "npz": as_npz,
    "parquet": as_parquet,
    "json": as_columns,
    "json, records": as_records,
    "json, frame": as_frame,
}


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("member-of-the-archive", data)
    return buffer.getvalue()


CODINGS = {
    "": bytes,
    ".gz": gzip.compress,
    ".zip": zipped,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def written(folder, table, form, coding=""):
    path = folder / f"attack.{form.split(',')[0]}{coding}"
    path.write_bytes(CODINGS[coding](WRITERS[form](table)))
    return path


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, ba.AttackCounts):
        assert found == expected and found.axis == expected.axis
        return
    for name in ("score", "member", "model", "challenge"):
        got, wanted = getattr(found, name), getattr(expected, name)
        assert (got is None) == (wanted is None), name
        if wanted is not None:
            assert got.dtype.kind == wanted.dtype.kind and np.array_equal(got, wanted), name


@st.composite
def trials(draw):
    size = draw(st.integers(2, 12))

    def column(values):
        return draw(st.lists(values, min_size=size, max_size=size))

    member = [True, False, *column(st.booleans())[2:]]
    table = {
        "score": column(NUMBERS),
        "member": [int(bit) for bit in member],
        "model": column(draw(st.sampled_from([PLAIN_LABELS, TEXT_LABELS]))),
        "challenge": column(PLAIN_LABELS),
        "note": column(st.text("ab ,;\n", max_size=3).map(lambda text: f"n{text}")),
    }
    return {name: table[name] for name in draw(st.permutations(list(table)))}


def labels(cells):
    """Return labels as integers where all are plain ones: the rule, in other words."""
    try:
        numbers = [int(cell) for cell in cells]
    except ValueError:
        return np.array(cells)
    return np.array(numbers if [str(n) for n in numbers] == cells else cells)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(table=trials())
def test_small_tables(tmp_path, table):
    expected = ba.AttackScores(
        score=table["score"],
        member=table["member"],
        model=labels(table["model"]),
        challenge=labels(table["challenge"]),
    )
    for form in WRITERS:
        assert_same(ba.read_attack(written(tmp_path, table, form)), expected)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("form", ["csv", "txt", "npz", "parquet", "json, records"])
@pytest.mark.parametrize("rows", [4096, 4097])  # around the reader's block
def test_every_size_and_compression(tmp_path, form, coding, rows):
    rng = np.random.default_rng(rows)
    table = {
        "model": [f"{label:02d}" for label in rng.integers(0, 30, rows)],
        "score": rng.normal(size=rows).tolist(),
        "member": rng.integers(0, 2, rows).tolist(),
    }
    expected = ba.AttackScores(
        score=table["score"], member=table["member"], model=np.array(table["model"])
    )
    assert_same(ba.read_attack(written(tmp_path, table, form, coding)), expected)
    reversed_table = dict(reversed(table.items()))
    assert_same(ba.read_attack(written(tmp_path, reversed_table, form, coding)), expected)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("form", WRITERS)
def test_counts_and_guesses(tmp_path, form, coding):
    table = {"fn": [1, 2], "tp": [3, 4], "fp": [0, 1], "tn": [5, 6]}
    expected = ba.AttackCounts(**table, axis="tally")
    assert_same(ba.read_attack(written(tmp_path, table, form, coding)), expected)
    for name in ("model", "Model-ID"):
        attack = read_file(written(tmp_path, {name: ["b", "a"], **table}, form, coding))
        assert_same(attack.data, ba.AttackCounts(**table, axis="model"))
        assert (attack.kind, attack.per_model) == ("counts", True)
    one = {name: cells[:1] for name, cells in table.items()}
    assert_same(
        ba.read_attack(written(tmp_path, one, form, coding)),
        ba.AttackCounts(fn=1, tp=3, fp=0, tn=5),
    )
    guesses = {
        "member": [1, 1, 0, 0],
        "guess": ["True", "0", "false", "1"],
        "model": ["x", "y", "x", "y"],
        "challenge": ["7", "7", "8", "8"],
    }
    attack = read_file(written(tmp_path, guesses, form, coding))
    assert (attack.kind, attack.per_model) == ("guesses", True)
    assert_same(
        attack.data, ba.AttackCounts(fn=[0, 1], tp=[1, 0], fp=[0, 1], tn=[1, 0], axis="model")
    )
    assert attack.trials.guess.tolist() == [True, False, False, True]
    assert attack.trials.challenge.tolist() == [7, 7, 8, 8]


@pytest.mark.parametrize("form", WRITERS)
def test_labels_compare_as_text(tmp_path, form):
    def models(cells):
        table = {"score": [1.0, 2.0, 3.0, 4.0], "member": [1, 0, 1, 0], "model": cells}
        return ba.read_attack(written(tmp_path, table, form)).models.tolist()

    assert models(["01", "1", "1e2", "100"]) == ["01", "1", "100", "1e2"]
    assert models(["2", "10", "1", "10"]) == [1, 2, 10]
    assert models(["NA", "nan", "None", "null"]) == ["NA", "None", "nan", "null"]
    table = {"score": [1.0, 2.0], "member": ["in", "NA"]}
    found = ba.read_attack(written(tmp_path, table, form), positive="in")
    assert found.member.tolist() == [True, False]


@pytest.mark.parametrize("form", ["npz", "parquet", "json"])
def test_whole_floats_are_labels_of_whole_numbers(tmp_path, form):
    for cells in ([3.0, 3.0, 4.0], [3, 3, 4]):
        table = {"score": [1.0, 2.0, 3.0], "member": [1, 0, 1], "model": cells}
        assert ba.read_attack(written(tmp_path, table, form)).model.tolist() == [3, 3, 4]


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "json, records"])
def test_booleans_may_be_mixed(tmp_path, form):
    table = {"score": [1.0, 2.0, 3.0, 4.0], "member": [True, 1, False, 0]}
    assert ba.read_attack(written(tmp_path, table, form)).member.tolist() == [1, 1, 0, 0]

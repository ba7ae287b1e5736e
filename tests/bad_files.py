"""Files that cannot be an attack's output, each with what the one line about it must say.

A case is the file's name, its bytes, a part of the message (that begins it where it names a row),
and the reader's options.
"""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


class BadFile(NamedTuple):
    """A file, how it is read, and what is said of it."""

    name: str
    data: bytes
    message: str
    options: Mapping[str, Any] = MappingProxyType({})

    @property
    def id(self) -> str:
        """The name that pytest shows."""
        return f"{self.name}: {self.message[:60]}"


def npz(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def parquet(names=None, **columns) -> bytes:
    buffer = io.BytesIO()
    table = pa.table(list(map(pa.array, columns.values())), names=names or list(columns))
    pq.write_table(table, buffer)
    return buffer.getvalue()


def zipped(**files) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return buffer.getvalue()


def twice_npz() -> bytes:
    """Return an archive in which one array occurs twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("score", "score ", "member"):
            part = io.BytesIO()
            np.save(part, np.array([1.0, 0.0]))
            archive.writestr(f"{name}.npy", part.getvalue())
    return buffer.getvalue()


def huge_npz() -> bytes:
    """Return an archive whose header promises more than any memory holds."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    header += b" " * (64 - (10 + len(header) + 1) % 64) + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    return zipped(score__npy=array, member__npy=array)


def misplaced_zip() -> bytes:
    """Return an archive whose directory lies about where its member starts."""
    data = bytearray(zipped(a__csv="member,score\n1,1\n0,0\n"))
    place = data.index(b"PK\x05\x06") + 16
    data[place : place + 4] = struct.pack("<I", 2**31)
    return bytes(data)


def single_npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([1.0]))
    return buffer.getvalue()


def locked_zip() -> bytes:
    """Return an archive that says of its member that it is encrypted."""
    data = bytearray(zipped(a__csv="member,score\n1,1\n0,0\n"))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    data[6] |= 1
    return bytes(data)


GOOD = b"member,score\n" + b"".join(b"%d,0.%d\n" % (i % 2, i) for i in range(1, 2000))
MUST_BE_BIT = "must be 0/1 or false/true"
SHORT = "must be whole, got a damaged or cut-off file"


def text(lines: str, message: str, **options) -> BadFile:
    """Return a case of a CSV file."""
    return BadFile("bad.csv", lines.encode(), message, options)


def value(cell: str, message: str, name: str = "score") -> BadFile:
    """Return a case of a CSV file with one bad cell, in line 3."""
    good = {"score": "0.5", "member": "1", "guess": "1", "model": "a"}
    columns = {"member", "score"} | {name} if name != "guess" else {"member", "guess"}
    names = sorted(columns)
    first = ",".join("0" if column == "member" else good[column] for column in names)
    second = ",".join(cell if column == name else good[column] for column in names)
    return text(f"{','.join(names)}\n{first}\n{second}\n", f"row 3: {name} {message}")


def count(cell: str, message: str) -> BadFile:
    """Return a case of a CSV file with one bad count, in line 3."""
    return text(f"fn,tp,fp,tn\n1,2,3,4\n1,2,3,{cell}\n", f"row 3: tn {message}")


TEXT = [
    text("", "must have a header line and rows, got an empty file"),
    text("\n \n\r\n", "must have a header line and rows, got an empty file"),
    text("member,score\n", "must have at least one row after the header"),
    text("member,score\n\n\n", "must have at least one row after the header"),
    text("foo,bar\n1,2\n", "must have columns fn,tp,fp,tn, or member,guess, or member,score; got"),
    text("member\n1\n", "must have columns"),
    text("member score\n1 0.5\n", "must have columns"),
    text("fn,tp,fp\n1,2,3\n", "must have columns fn,tp,fp,tn"),
    text("fn,tp,fp\n1,2,3\n", "missing tn"),
    # rows and headers
    text("member,score\n1,0.5\n0,0.1,7\n", "row 3: must have 2 fields, as the header has, got 3"),
    text("score,member\n0.9,1,0\n", "row 2: must have 2 fields, as the header has, got 3"),
    text("score,member\n0.9,1,\n0.1,0,\n", "row 2: must have 2 fields, as the header has, got 3"),
    text("member,score,note\n1,0.5\n", "row 2: must have 3 fields, as the header has, got 2"),
    text("member,score\n1,1\n\n0\n", "row 4: must have 2 fields, as the header has, got 1"),
    text('member,score,note\n1,1,"a\nb"\n0,1\n', "row 4: must have 3 fields"),
    text("member;score\n1;0,5\n0;0,1;9\n", "row 3: must have 2 fields"),
    text('member,score\n1,1\n0,"0.5\n0,0.1\n1,1\n', "row 3: must have sound quotes"),
    text('member,"score\n1,1\n0,0\n', "row 1: must have sound quotes"),
    text('member,score,x\n1,1,"\n"\n1,0,"y"z\n', "row 4: must have sound quotes"),
    text('member,score\n1,"0.5"x\n0,0.1\n', "row 2: must have sound quotes"),
    text("member,score,note\n1,1," + "x" * 200_000 + "\n", "row 2: must have shorter fields"),
    text("score,score,member\n1,2,1\n1,2,0\n", "has the column score twice"),
    text("score,Score,member\n1,2,1\n1,2,0\n", "has the column score twice"),
    text("member,guess,member\n1,1,1\n", "has the column member twice"),
    text("fn,fn,tp,fp,tn\n1,1,2,3,4\n", "has the column fn twice"),
    text("member,score,x,x\n1,1,1,1\n", "has the column x twice"),
    text("membership,is_member,score\n1,1,1\n", "has several columns for member: membership, is_"),
    text("member,mia_score,y_score\n1,1,1\n", "has several columns for score: mia_score, y_score"),
    # numbers
    value("", "must be given, got nothing"),
    value("  ", "must be given, got nothing"),
    value("nan", "must not be NaN"),
    value("-NaN", "must not be NaN"),
    value("NA", "must be a number, got 'NA'"),
    value("abc", "must be a number, got 'abc'"),
    value("1_0", "must be a number, got '1_0'"),
    value("١٢", "must be a number, got '١٢'"),
    value("１２", "must be a number"),
    value("0x10", "must be a number, got '0x10'"),
    value("1+2j", "must be a number, got '1+2j'"),
    value("2020-01-01", "must be a number, got '2020-01-01'"),
    value("True", "must be a number, got 'True'"),
    value('"0,5"', "must be a number, got '0,5'"),
    value('"1,000"', "must be a number, got '1,000'"),
    value("1 000", "must be a number, got '1 000'"),
    value("--1", "must be a number, got '--1'"),
    value("e5", "must be a number, got 'e5'"),
    value("1e400", "must be within the range of 64-bit floats, got '1e400'"),
    value("-1e400", "must be within the range of 64-bit floats, got '-1e400'"),
    value("9007199254740993", "must be held exactly by a 64-bit float, got '9007199254740993'"),
    value("x" * 500, "must be a number, got 'xxx"),
    text("member;score\n0;0,5\n1;1.5\n", "row 3: score must keep to one decimal mark, got '1.5'"),
    text("member;score\n0;0,5\n1;1.234,5\n", "row 3: score must keep to one decimal mark"),
    text("fn;tp;fp;tn\n1;2;3;1,000\n", "row 2: tn must be a whole number without a mark"),
    text("fn;tp;fp;tn\n1;2;3;1.000\n", "row 2: tn must be a whole number without a mark"),
    text("fn;tp;fp;tn\n1;2;3;1,5\n", "row 2: tn must be a whole number, got '1.5'"),
    text("member\tscore\n0\t0,5\n1\t1\n", "row 2: score must be a number, got '0,5'"),
    # labels
    value("2", f"{MUST_BE_BIT}, got '2'", "member"),
    value("yes", f"{MUST_BE_BIT}, got 'yes'; name the label", "member"),
    value("", "must be given, got nothing", "member"),
    value("01", f"{MUST_BE_BIT}, got '01'", "member"),
    value("1e0", f"{MUST_BE_BIT}, got '1e0'", "member"),
    value("١", f"{MUST_BE_BIT}, got '١'", "member"),
    value("nan", f"{MUST_BE_BIT}, got 'nan'", "member"),
    value("maybe", f"{MUST_BE_BIT}, got 'maybe'", "guess"),
    value("", "must be given, got nothing", "guess"),
    value("", "must be given, got nothing", "model"),
    text("member,score\nin,1\nout,0\nx,2\n", "row 4: member must be the positive", positive="in"),
    text("member,score\na,1\nout,0\n", "row 3: member must be the positive label", positive="in"),
    text("member,score\nout,1\nout,0\n", "no row's member is 'in'", positive="in"),
    text("member,score\n1.0,1\n0.0,0\n", "row 3: member must be the positive", positive="1"),
    text("member,guess\nin,1\nout,0\n", "guess must be the positive label 'in'", positive="in"),
    text("member,score\n1,1\n1,0\n", "member must have both classes, got 2 members only"),
    text("member,guess\n0,1\n0,0\n", "member must have both classes, got 2 non-members only"),
    # counts
    count("x", "must be a whole number, got 'x'"),
    count("4.5", "must be a whole number, got '4.5'"),
    count("-4", "must be >= 0, got -4"),
    count("", "must be given, got nothing"),
    count("nan", "must be a whole number, got 'nan'"),
    count("inf", "must be a whole number, got 'inf'"),
    count("1e400", "must be a whole number, got '1e400'"),
    count("1e300", "must be a whole number, got '1e300'"),
    count("1_0", "must be a whole number, got '1_0'"),
    count("٣", "must be a whole number, got '٣'"),
    count("True", "must be a whole number, got 'True'"),
    count("9" * 25, "must be at most 4611686018427387903, got '9999"),
    count("9" * 5000, "must be at most 4611686018427387903, got '9999"),
    text("model,fn,tp,fp,tn\na,1,2,3,4\n,1,2,3,4\n", "row 3: model must be given, got nothing"),
    text(
        "model,fn,tp,fp,tn\na,1,2,3,4\n\na,1,2,3,4\n",
        "row 4: model must occur once in a file of counts, got 'a' again (first in row 2)",
    ),
    # options that do not apply, and names
    text("fn,tp,fp,tn\n1,2,3,4\n", "holds counts, which take no positive", positive="1"),
    text("fn,tp,fp,tn\n1,2,3,4\n", "holds counts, which take no lower", lower_is_member=True),
    text("member,guess\n1,0\n0,1\n", "holds guesses, which take no lower", lower_is_member=True),
    text("m,score\n1,2\n0,1\n", "has no column 'x'; got m,score", columns={"member": "x"}),
    text("m,score\n1,2\n0,1\n", "columns must name some of", columns={"members": "m"}),
]

CODED = [
    BadFile("bad.csv", "member,score\n1,1\n".encode("utf-16"), "must be UTF-8 text"),
    BadFile("bad.csv", b"member,score\n1,\xff\n", "must be UTF-8 text"),
    BadFile("bad.csv", b"\x00\x01\x02\xfe", "must be UTF-8 text"),
    BadFile("bad.xlsx", b"none", "must be one of .csv, .tsv"),
    BadFile("bad.csv.rar", b"none", "must be one of .csv, .tsv"),
    BadFile("bad.csv.gz", gzip.compress(GOOD)[:-200], SHORT),
    BadFile("bad.csv.gz", gzip.compress(GOOD)[:6], SHORT),
    BadFile("bad.csv.gz", b"", "must have a header line and rows, got an empty file"),
    BadFile("bad.csv.gz", GOOD, SHORT),
    BadFile("bad.csv.gz", gzip.compress(GOOD)[:-4] + b"oops", SHORT),
    BadFile("bad.csv.gz", gzip.compress(GOOD)[:99] + b"\xff" * 99, SHORT),
    BadFile("bad.json.gz", gzip.compress(b"[1, 2]")[:-9], SHORT),
    BadFile("bad.csv.bz2", bz2.compress(GOOD)[:-20], SHORT),
    BadFile("bad.csv.bz2", GOOD, SHORT),
    BadFile("bad.csv.xz", lzma.compress(GOOD)[:-20], SHORT),
    BadFile("bad.csv.xz", GOOD, SHORT),
    BadFile("bad.csv.zip", GOOD, SHORT),
    BadFile("bad.csv.zip", zipped(a__csv=GOOD)[:-30], SHORT),
    BadFile("bad.zip", zipped(a__csv=GOOD, b__csv=GOOD), "must be a zip of one file, got 2"),
    BadFile("bad.zip", zipped(), "must be a zip of one file, got 0"),
    BadFile("bad.zip", zipped(a__exe=b"x"), "must be one of .csv"),
    BadFile("bad.csv.zip", misplaced_zip(), SHORT),
    BadFile("bad.csv.zip", locked_zip(), "must be a zip without a password"),
    BadFile("bad.csv.gz", gzip.compress(b"member,score\n1,2\n0,x\n"), "row 3: score must be a num"),
]

ARRAYS = [
    BadFile("bad.npz", b"", "must be a whole NPZ archive"),
    BadFile("bad.npz", b"PK\x03\x04 no archive", "must be a whole NPZ archive"),
    BadFile("bad.npz", b"x" + npz(score=[1.0], member=[1])[1:], "must be a whole NPZ archive"),
    BadFile("bad.npz", single_npy(), "must be a whole NPZ archive"),
    BadFile("bad.npz", npz(score=[1.0, 2.0], member=[1, 0])[:-30], "must be a whole NPZ archive"),
    BadFile("bad.npz", huge_npz(), "score must fit in memory"),
    BadFile("bad.npz", zipped(score__npy=b"xx", member__npy=b"yy"), "must be a whole array"),
    BadFile("bad.npz", zipped(score__txt=b"xx", member__txt=b"yy"), "must"),
    BadFile("bad.npz", twice_npz(), "has the column score twice"),
    BadFile("bad.npz", npz(scores=[1.0]), "must have columns"),
    BadFile(
        "bad.npz", npz(scores=[1.0, 2.0], memberships=[1]), "must have one shape, got (2,) and (1,)"
    ),
    BadFile("bad.npz", npz(score=np.array([1, None]), member=[1, 0]), "Python objects are not unp"),
    BadFile("bad.npz", npz(score=[1 + 2j, 1], member=[1, 0]), "row 1: score must be a number, got"),
    BadFile(
        "bad.npz",
        npz(score=np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"), member=[1, 0]),
        "row 1: score must be a number, got '2020-01-01'",
    ),
    BadFile("bad.npz", npz(score=[True, False], member=[1, 0]), "row 1: score must be a number"),
    BadFile("bad.npz", npz(score=[1.0, np.nan], member=[1, 0]), "row 2: score must not be NaN"),
    BadFile("bad.npz", npz(score=[1, 2**53 + 1], member=[1, 0]), "row 2: score must be held exac"),
    BadFile("bad.npz", npz(score=["1", "1_0"], member=[1, 0]), "row 2: score must be a number"),
    BadFile("bad.npz", npz(score=[1.0, 2.0], member=[1, 2]), f"row 2: member {MUST_BE_BIT}"),
    BadFile("bad.npz", npz(score=[1.0, 2.0], member=[1, np.nan]), "row 2: member must be given"),
    BadFile(
        "bad.npz",
        npz(score=[1.0, 2.0], member=[1, 0], model=[1.0, np.nan]),
        "row 2: model must be given, got nothing",
    ),
    BadFile(
        "bad.npz",
        npz(score=[[1.0, 2.0], [3.0, np.nan]], member=[[1, 0], [0, 1]]),
        "row 2, column 2: score must not be NaN",
    ),
    BadFile(
        "bad.npz",
        npz(in_canary_scores=[1.0], out_canary_scores=[2.0, np.nan]),
        "out_canary_scores, row 2: score must not be NaN",
    ),
    BadFile("bad.npz", npz(score=np.zeros(0), member=np.zeros(0)), "must have at least one row"),
    BadFile("bad.npz", npz(score=np.zeros((1, 1, 1)), member=[1]), "score must have fewer"),
    BadFile("bad.npz", npz(fn=[1, 2], tp=[1, 2], fp=[1, 2], tn=[1]), "fn and tn must have one sha"),
    BadFile(
        "bad.npz", npz(fn=[[1]], tp=[[1]], fp=[[1]], tn=[[1]]), "fn must have fewer dimensions"
    ),
    BadFile("bad.npz", npz(fn=[1.5], tp=[1], fp=[1], tn=[1]), "row 1: fn must be a whole number"),
    BadFile("bad.npz", npz(fn=[True], tp=[1], fp=[1], tn=[1]), "row 1: fn must be a whole number"),
    BadFile("bad.npz", npz(fn=[2.0**60], tp=[1], fp=[1], tn=[1]), "row 1: fn must be a whole numb"),
    BadFile("bad.parquet", b"none", "must be a whole Parquet file"),
    BadFile("bad.parquet", b"", "must be a whole Parquet file"),
    BadFile("bad.parquet", parquet(score=[1.0], member=[1])[:-20], "must be a whole Parquet file"),
    BadFile(
        "bad.parquet",
        parquet(score=pa.array([], pa.float64()), member=pa.array([], pa.int64())),
        "must have at least one row, got none",
    ),
    BadFile("bad.parquet", parquet(score=[1.0, None], member=[1, 0]), "row 2: score must be given"),
    BadFile(
        "bad.parquet", parquet(score=[1.0, 2.0], member=[1, None]), "row 2: member must be giv"
    ),
    BadFile(
        "bad.parquet",
        parquet(score=[date(2020, 1, 1), date(2020, 1, 2)], member=[1, 0]),
        "row 1: score must be a number, got '2020-01-01'",
    ),
    BadFile(
        "bad.parquet", parquet(score=[[1.0], [2.0]], member=[1, 0]), "row 1: score must be a si"
    ),
    BadFile(
        "bad.parquet", parquet(score=[1, 2**53 + 1], member=[1, 0]), "row 2: score must be held"
    ),
    BadFile(
        "bad.parquet",
        parquet(score=["0.5", "x"], member=[1, 0]),
        "row 2: score must be a number, got 'x'",
    ),
    BadFile(
        "bad.parquet",
        parquet(["score", "score", "member"], a=[1.0, 2.0], b=[1.0, 2.0], c=[1, 0]),
        "has the column score twice",
    ),
]


def jsoned(document: str, message: str, **options) -> BadFile:
    """Return a case of a JSON file."""
    return BadFile("bad.json", document.encode(), message, options)


JSON = [
    jsoned("", "must be JSON, got an empty file"),
    jsoned("[1", "must be JSON: "),
    jsoned('{"score": [1, 2]} x', "must be JSON: "),
    jsoned("[1]", "row 1: must be a JSON object, got a number"),
    jsoned("5", "must be a JSON object of columns or a list of records, got a number"),
    jsoned("null", "must be a JSON object of columns or a list of records, got null"),
    jsoned('"x"', "must be a JSON object of columns or a list of records, got a string"),
    jsoned("[]", "must have at least one row, got none"),
    jsoned("[" * 100_000, "must be JSON of columns or records, got deeper nesting"),
    jsoned('{"score": [1, 2], "score": [3, 4], "member": [1, 0]}', "has the key score twice"),
    jsoned('{"score": [1, 2], "Score": [3, 4], "member": [1, 0]}', "has the column score twice"),
    jsoned('[{"score": 1, "score": 2, "member": 1}]', "has the key score twice"),
    jsoned('{"score": [1, null], "member": [1, 0]}', "row 2: score must be given, got nothing"),
    jsoned('{"score": [1, NaN], "member": [1, 0]}', "row 2: score must not be NaN"),
    jsoned('{"score": [1, 1e400], "member": [1, 0]}', "row 2: score must be within the range"),
    jsoned('{"score": [1, 9007199254740993], "member": [1, 0]}', "row 2: score must be held exac"),
    jsoned('{"score": [1, ' + "9" * 5000 + '], "member": [1, 0]}', "row 2: score must be within"),
    jsoned('{"score": [1, true], "member": [1, 0]}', "row 2: score must be a number, got True"),
    jsoned('{"score": [1, [2]], "member": [1, 0]}', "row 2: score must be a single value"),
    jsoned('{"score": [1, {"a": 2}], "member": [1, 0]}', "row 2: score must be a single value"),
    jsoned(
        '{"score": [1, 2], "member": [1]}',
        "score and member must have one shape, got (2,) and (1,)",
    ),
    jsoned('{"score": [1, 2], "member": [1, "yes"]}', f"row 2: member {MUST_BE_BIT}, got 'yes'"),
    jsoned('{"score": [], "member": []}', "must have at least one row, got none"),
    jsoned('[{"score": 1, "member": 1}, {"score": 2}]', "row 2: member must be given, got nothing"),
    jsoned('[{"score": 1, "member": 1}, {"score": 1, "member": 0, "model": 3}]', "row 1: model"),
    jsoned('[{"score": 1, "member": 1}, 7]', "row 2: must be a JSON object, got a number"),
    jsoned('{"score": {"0": 1, "1": 2}, "member": {"1": 1, "0": 0}}', "must have the same keys"),
    jsoned('{"fn": 1, "tp": 2, "fp": 3}', "missing tn"),
    jsoned('{"fn": 1, "tp": 2, "fp": 3, "tn": 4.5}', "row 1: tn must be a whole number, got '4.5'"),
    jsoned('{"fn": 1, "tp": 2, "fp": 3, "tn": true}', "row 1: tn must be a whole number, got 'Tr"),
    jsoned('{"fn": 1, "tp": 2, "fp": 3, "tn": -1}', "row 1: tn must be >= 0, got -1"),
    jsoned('{"fn": 1, "tp": 2, "fp": 3, "tn": 1' + "0" * 30 + "}", "row 1: tn must be at most"),
    jsoned('{"fn": 1, "tp": 2, "fp": 3, "tn": "x"}', "row 1: tn must be a whole number, got 'x'"),
]

BAD_FILES = [*TEXT, *CODED, *ARRAYS, *JSON]

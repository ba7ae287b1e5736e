"""Open a file: which format it holds, and its bytes as they were before compression."""

import bz2
import errno
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any

from bayesaudit._checks import DataError

__all__ = ["FORMATS", "named", "opened", "source_name"]

#: Suffix -> format.
FORMATS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".npz": "arrays",
    ".json": "json",
}
#: Suffix -> what opens the bytes behind it.
OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
#: First bytes -> suffix, for standard input and files without one.
MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz", b"PK": ".zip", b"PAR1": ".parquet"}
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)


def source_name(path: str | Path) -> str:
    """Return what messages call a file: its name as given."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def named(source: str) -> Iterator[None]:
    """Turn an error about the content into one line that names the file."""
    try:
        yield
    except DataError:
        raise
    except DAMAGED:
        raise DataError(f"{source}: must be whole, got a damaged or cut-off file.") from None
    except UnicodeDecodeError:
        raise DataError(f"{source}: must be UTF-8 text.") from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # the system's: no such file, say
            raise
        raise DataError(f"{source}: must be whole, got a damaged or cut-off file.") from None
    except (ValueError, TypeError) as error:
        raise DataError(f"{source}: {' '.join(str(error).split())}") from None


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Yield a file's format and its content as a stream of text or bytes; ``-``: standard input."""
    if str(path) == "-":
        with _decoded([], io.BytesIO(sys.stdin.buffer.read())) as found:
            yield found
        return
    with Path(path).open("rb") as file, _decoded(Path(path).suffixes, file) as found:
        yield found


@contextmanager
def _decoded(suffixes: list[str], stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Peel one compression after the other off a stream; without a suffix its content tells."""
    if not stream.seekable():  # a pipe
        stream = io.BytesIO(stream.read())
    if not suffixes:
        suffixes = [_sniffed(stream)]
    *outer, suffix = [suffix.lower() for suffix in suffixes]
    if FORMATS.get(suffix) == "text":
        with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as lines:
            yield "text", lines
    elif suffix in FORMATS:
        yield FORMATS[suffix], stream
    elif suffix in OPENERS:
        with OPENERS[suffix](stream, "rb") as inner, _decoded(outer, inner) as found:
            yield found
    elif suffix == ".zip":
        with zipfile.ZipFile(stream) as archive:
            member = _only_member(archive)
            with archive.open(member) as inner:
                with _decoded(outer or PurePath(member.filename).suffixes, inner) as found:
                    yield found
    else:
        raise ValueError(
            f"must be one of {', '.join(FORMATS)}, also as {', '.join(OPENERS)} or .zip; "
            f"got {suffix}."
        )


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise ValueError(f"must be a zip of one file, got {len(members)}.")
    if members[0].flag_bits & 1:
        raise ValueError("must be a zip without a password.")
    return members[0]


def _sniffed(stream: IO[bytes]) -> str:
    """Return the suffix that a stream's first bytes deserve."""
    start = stream.read(64)
    stream.seek(0)
    for magic, suffix in MAGIC.items():
        if start.startswith(magic):
            return ".npz" if suffix == ".zip" and _holds_arrays(stream) else suffix
    return ".json" if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else ".csv"


def _holds_arrays(stream: IO[bytes]) -> bool:
    with zipfile.ZipFile(stream) as archive:
        names = archive.namelist()
    stream.seek(0)
    return all(name.endswith(".npy") for name in names)

"""Typed columns: Parquet, NPZ and JSON."""

import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bayesaudit.reading._columns import ALIASES, CELLS, PAIRS, key
from bayesaudit.reading._table import Block, Table

__all__ = ["json_table", "npz_table", "parquet_table"]

KNOWN = {name for names in (*ALIASES.values(), *PAIRS) for name in names}


def parquet_table(stream: BinaryIO) -> Table:
    """Return the table in a Parquet file."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ValueError("needs pyarrow: pip install 'bayesaudit[parquet]'.") from None
    try:
        file = ParquetFile(stream)
    except (ArrowException, OSError):
        raise ValueError("must be a whole Parquet file, got something else.") from None
    if file.metadata.num_rows == 0:
        raise ValueError("must have at least one row, got none.")
    names = tuple(file.schema_arrow.names)

    def blocks(places: Mapping[str, int]) -> Iterator[Block]:
        first = 1
        try:
            for batch in file.iter_batches(columns=[names[place] for place in places.values()]):
                cells = {
                    column: _cells(batch.column(batch.schema.get_field_index(names[place])))
                    for column, place in places.items()
                }
                yield Block(cells, lambda index, first=first: f"row {first + index}")
                first += batch.num_rows
        except (ArrowException, OSError):
            raise ValueError("must be a whole Parquet file, got a damaged one.") from None

    return Table(names, blocks)


def _cells(array: Any) -> Sequence[Any]:
    """Return numbers as an array, and all else as Python's objects."""
    plain = array.null_count == 0 and str(array.type).startswith(("int", "uint", "float", "double"))
    return array.to_numpy() if plain else array.to_pylist()


def npz_table(stream: BinaryIO) -> Table:
    """Return the table of the arrays in an NPZ file; nothing is unpickled."""
    if stream.read(2) != b"PK" or not zipfile.is_zipfile(stream):
        raise ValueError("must be a whole NPZ archive of named arrays, got something else.")
    stream.seek(0)
    archive = np.load(stream, allow_pickle=False)

    def load(name: str) -> NDArray:
        try:
            array = archive[name]
        except ValueError as error:
            if "allow_pickle" in str(error):
                raise ValueError(
                    f"{name} must be a plain array; Python objects are not unpickled."
                ) from None
            raise ValueError(f"{name} must be a whole array, got a damaged one.") from None
        except MemoryError:
            raise ValueError(f"{name} must fit in memory.") from None
        if not isinstance(array, np.ndarray):  # NumPy gives the bytes of what is no array
            raise ValueError(f"{name} must be a whole array, got something else.")
        return array

    return _table_of(tuple(archive.files), load)


def json_table(stream: BinaryIO) -> Table:
    """Return the table in an object of columns, or in a list of records."""
    text = stream.read().decode("utf-8-sig")
    if not text.strip():
        raise ValueError("must be JSON, got an empty file.")
    try:
        document = json.loads(
            text, object_pairs_hook=_unique, parse_float=_number, parse_int=_number
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"must be JSON: {error}.") from None
    except RecursionError:
        raise ValueError("must be JSON of columns or records, got deeper nesting.") from None
    for name in ("inputs", "counts"):  # what `estimate --json` prints, or counts under their name
        if isinstance(document, dict) and not KNOWN & set(map(key, document)):
            document = document.get(name, document)
    if isinstance(document, list):
        document = _columns_of(document)
    if not isinstance(document, dict):
        raise ValueError(
            f"must be a JSON object of columns or a list of records, got {_kind(document)}."
        )
    index: list[Any] = []

    def load(name: str) -> NDArray:
        value = document[name]
        if isinstance(value, dict):  # as pandas writes a column, with the frame's index
            index.append(list(value))
            if index[-1] != index[0]:
                raise ValueError(f"{name} must have the same keys as the other columns.")
            value = list(value.values())
        return _objects(value)

    return _table_of(tuple(document), load)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"has the key {twice} twice.")
    return found


def _number(text: str) -> Any:
    """Return a number of JSON, or its text where Python would round it to infinity or give up."""
    if len(text) < 300 and text.lstrip("-").isdigit():
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else text


def _columns_of(records: list[Any]) -> dict[str, list[Any]]:
    """Return the columns of records; a name that some records lack is a column with holes."""
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise ValueError(f"row {number}: must be a JSON object, got {_kind(record)}.")
    if not records:
        raise ValueError("must have at least one row, got none.")
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


def _objects(value: Any) -> NDArray:
    """Return a JSON value as an array of Python's objects; two dimensions if lists are equal."""
    if not isinstance(value, list) or any(isinstance(part, list) for part in value):
        return np.array(value, dtype=object)
    array = np.empty(len(value), dtype=object)
    array[:] = value
    return array


def _table_of(names: tuple[str, ...], load: Callable[[str], NDArray]) -> Table:
    """Return the table of named arrays."""
    keys = {key(name): name for name in names}
    for pair in PAIRS:
        if set(pair) <= set(keys) and not set(keys) & {*ALIASES["score"], *ALIASES["member"]}:
            return _pair_table([(keys[name], np.ravel(load(keys[name]))) for name in pair])

    def blocks(places: Mapping[str, int]) -> Iterator[Block]:
        yield _block({column: load(names[place]) for column, place in places.items()})

    return Table(names, blocks)


def _pair_table(pair: list[tuple[str, NDArray]]) -> Table:
    """Return the table of two arrays: the scores of members, and those of non-members."""
    (inside, members), (outside, others) = pair
    cells = {
        "score": _plain(np.concatenate([members, others])),
        "member": np.repeat([True, False], [members.size, others.size]),
    }

    def row(index: int) -> str:
        if index < members.size:
            return f"{inside}, row {index + 1}"
        return f"{outside}, row {index - members.size + 1}"

    return Table(tuple(cells), lambda places: iter([Block({c: cells[c] for c in places}, row)]))


def _block(arrays: dict[str, NDArray]) -> Block:
    """Return arrays as flat columns; a row of a matrix is a model, and a column a challenge."""
    lead = next(iter(arrays))
    shape = arrays[lead].shape
    if len(shape) > (1 if lead in CELLS else 2):
        raise ValueError(f"{lead} must have fewer dimensions, got shape {shape}.")
    if len(shape) == 2:
        model, challenge = np.indices(shape)
        arrays = {"model": model, "challenge": challenge} | arrays
        for name, axis in (("model", 0), ("challenge", 1)):
            if arrays[name].shape == shape[axis : axis + 1]:
                labels = np.expand_dims(arrays[name], 1 - axis)
                arrays[name] = np.broadcast_to(labels, shape)
    for name, array in arrays.items():
        if array.shape != shape:
            raise ValueError(
                f"{lead} and {name} must have one shape, got {shape} and {array.shape}."
            )
    if arrays[lead].size == 0:
        raise ValueError("must have at least one row, got none.")

    def row(index: int) -> str:
        if len(shape) < 2:
            return f"row {index + 1}"
        return f"row {index // shape[1] + 1}, column {index % shape[1] + 1}"

    return Block({name: _plain(np.ravel(array)) for name, array in arrays.items()}, row)


def _plain(array: NDArray) -> Any:
    return array.tolist() if array.dtype.kind == "O" else array

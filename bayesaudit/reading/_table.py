"""A table of named columns, read block by block, whatever the format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Block", "Table"]


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of the columns that were asked for.

    Parameters
    ----------
    cells : mapping
        Column -> its cells, as text or typed.
    row : callable
        Index in this block -> the row's name, "row 7" as an editor counts.
    """

    cells: Mapping[str, Sequence[Any]]
    row: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a file.

    Parameters
    ----------
    names : tuple
        The header as it stands in the file.
    blocks : callable
        Column -> place in the header, to the blocks of these columns; to be called once.
    decimal : str
        The decimal mark that numbers may have beside the point.
    """

    names: tuple[str, ...]
    blocks: Callable[[Mapping[str, int]], Iterator[Block]]
    decimal: str = "."

"""Delimited text: CSV, TSV, and semicolons with decimal commas.

Python's csv module reads it in small blocks: pandas fills up a row that is too short without a
word, takes a first column too many for an index, and cannot name the row of what it refuses.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain, islice
from typing import Any, TextIO

from bayesaudit.reading._table import Block, Table

__all__ = ["text_table"]

ROWS = 4096
LINE_END = re.compile(r"\r\n|\r|\n")


def text_table(lines: TextIO) -> Table:
    """Return the table in a text; the header's most frequent of comma, semicolon and tab delimits.

    Blank lines are no rows.
    """
    blank = 0
    for header in lines:
        if header.strip():
            break
        blank += 1
    else:
        raise ValueError("must have a header line and rows, got an empty file.")
    outside_quotes = re.sub(r'"[^"]*"', "", header)
    delimiter = max(",;\t", key=outside_quotes.count)
    records = csv.reader(
        chain([header], lines), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    names = _take(records, 1, blank)[0]
    return Table(
        tuple(name.strip() for name in names),
        lambda places: _blocks(records, len(names), blank, places),
        decimal="," if delimiter == ";" else ".",
    )


def _take(records: Any, count: int, blank: int) -> list[list[str]]:
    """Return the next records; one that csv cannot split is named by the line it starts in."""
    before = records.line_num
    taken: list[list[str]] = []
    try:
        taken.extend(islice(records, count))
    except csv.Error as error:
        rule = "have shorter fields" if "field limit" in str(error) else "have sound quotes"
        row = _lines([*taken, []], before, before, blank)[-1]
        raise ValueError(f"row {row}: must {rule}.") from None
    return taken


def _blocks(records: Any, width: int, blank: int, places: Mapping[str, int]) -> Iterator[Block]:
    empty = True
    before = records.line_num
    while taken := _take(records, ROWS, blank):
        lines = _lines(taken, before, records.line_num, blank)
        before = records.line_num
        if set(map(len, taken)) != {width}:
            full = [index for index, record in enumerate(taken) if any(record) or len(record) > 1]
            taken, lines = [taken[index] for index in full], [lines[index] for index in full]
            for line, record in zip(lines, taken, strict=True):
                if len(record) != width:
                    fields = f"{width} field{'s' * (width != 1)}"
                    raise ValueError(
                        f"row {line}: must have {fields}, as the header has, got {len(record)}."
                    )
            if not taken:
                continue
        empty = False
        columns = list(zip(*taken, strict=True))
        cells = {name: columns[place] for name, place in places.items()}
        yield Block(cells, lambda index, lines=lines: f"row {lines[index]}")
    if empty:
        raise ValueError("must have at least one row after the header, got none.")


def _lines(taken: list[list[str]], before: int, after: int, blank: int) -> Any:
    """Return the line of the file that every record starts in; quoted fields may hold several."""
    first = blank + before + 1
    if after - before == len(taken):  # one line each
        return range(first, first + len(taken))
    spans = [1 + sum(len(LINE_END.findall(field)) for field in record) for record in taken]
    return list(accumulate(spans[:-1], initial=first))

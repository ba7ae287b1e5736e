"""One rule each for numbers, whole numbers, labels and bits, whatever the format of the file.

A column arrives in blocks of cells: text, or typed as the format has it. Each class here takes a
column's blocks one after the other and holds its values; what it cannot take is a `ValueError` that
names the row.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bits", "Column", "Labels", "Numbers", "Wholes", "text_of"]

Rows = Callable[[int], str]  # index in a block -> "row 7"

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
GROUPED = re.compile(r"[+-]?\d{1,3}([.,]\d{3})+", re.ASCII)
INFINITE = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
PLAIN = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
NOT_A_NUMBER = re.compile(r"[+-]?nan", re.ASCII | re.IGNORECASE)
BITS = {"0": False, "1": True, "false": False, "true": True, "0.0": False, "1.0": True}
#: Doubles hold every whole number up to here.
EXACT = 2.0**53
LARGEST = np.iinfo(np.int64).max // 2


def text_of(value: Any) -> str:
    """Return a typed cell as the text that labels compare by; "" where there is none.

    A whole float is the label of that whole number: formats that have a type for missing values
    in floats only turn a column of 3 into one of 3.0.
    """
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, list | dict | set | tuple | np.ndarray):
        raise ValueError(f"be a single value, got {_shown(value)}")
    if isinstance(value, bytes):
        try:
            return value.decode().strip()
        except UnicodeDecodeError:
            raise ValueError(f"be UTF-8 text, got {value[:20]!r}") from None
    try:
        if value != value:  # NaN, NaT
            return ""
    except TypeError:  # pandas.NA has no truth
        return ""
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def number_of(text: str) -> float:
    """Return the number that a text is; the error says what it must be."""
    if not text:
        raise ValueError("be given, got nothing")
    if NOT_A_NUMBER.fullmatch(text):
        raise ValueError("not be NaN")
    if INFINITE.fullmatch(text):
        return float(text)
    if not NUMBER.fullmatch(text):
        raise ValueError(f"be a number, got {_shown(text)}")
    value = float(text)
    if np.isinf(value):
        raise ValueError(f"be within the range of 64-bit floats, got {_shown(text)}")
    if abs(value) >= EXACT and WHOLE.fullmatch(text) and int(text.lstrip("+-0")) != abs(value):
        raise ValueError(f"be held exactly by a 64-bit float, got {_shown(text)}")
    return value


def whole_of(value: Any) -> int:
    """Return a count; the error says what it must be."""
    text = text_of(value)
    if not text:
        raise ValueError("be given, got nothing")
    if isinstance(value, float | np.floating) and abs(value) >= EXACT:
        raise ValueError(f"be a whole number that a float holds, got {float(value)!r}")
    if WHOLE.fullmatch(text):
        count = int(text) if len(text) < 30 else LARGEST + 1
    elif NUMBER.fullmatch(text) and float(text).is_integer() and abs(float(text)) < EXACT:
        count = int(float(text))
    else:
        raise ValueError(f"be a whole number, got {_shown(text)}")
    if count < 0:
        raise ValueError(f"be >= 0, got {count}")
    if count > LARGEST:
        raise ValueError(f"be at most {LARGEST}, got {_shown(text)}")
    return count


class Column:
    """The values of one column, block by block."""

    def __init__(self, name: str, *, decimal: str = ".") -> None:
        self.name = name
        self.decimal = decimal
        self.mark: str | None = None  # the decimal mark seen so far, where two are possible
        self.parts: list[NDArray] = []

    def add(self, cells: Sequence[Any], rows: Rows) -> None:
        """Take the next block of cells."""
        raise NotImplementedError

    def values(self) -> NDArray:
        """Return the values of all blocks."""
        return np.concatenate(self.parts)

    def each(self, cells: Sequence[Any], rows: Rows, rule: Callable[[Any], Any]) -> list[Any]:
        """Return the rule's value of every cell; name the row of the first that breaks it."""
        values = []
        for index, cell in enumerate(cells):
            try:
                values.append(rule(cell))
            except ValueError as error:
                raise ValueError(f"{rows(index)}: {self.name} must {error}.") from None
        return values

    def point(self, cell: str) -> str:
        """Return a cell of text with a decimal point, where its column may have commas."""
        if not ("," in cell or "." in cell):
            return cell
        mark = "," if "," in cell else "."
        if self.mark not in (None, mark) or (mark == "," and "." in cell):
            raise ValueError(f"keep to one decimal mark, got {_shown(cell)}")
        self.mark = mark
        return cell.replace(",", ".")


class Numbers(Column):
    """Real numbers, kept as 64-bit floats; infinities are legal."""

    def add(self, cells: Sequence[Any], rows: Rows) -> None:
        """Take the next block; in one go where every cell is an ordinary number."""
        if self.decimal == ",":
            cells = self.each(cells, rows, self.point)
        part = _typed(cells) if isinstance(cells, np.ndarray) else _quick(cells)
        if part is None:
            part = np.array(self.each(cells, rows, _number_of_cell), dtype=float)
        self.parts.append(part)


def _typed(cells: NDArray) -> NDArray | None:
    """Return an array of numbers as doubles, if doubles hold every one."""
    if cells.dtype.kind not in "iuf" or cells.dtype.itemsize > 8:
        return None
    values = cells.astype(float)
    unsure = np.isnan(values) if cells.dtype.kind == "f" else np.abs(values) >= EXACT
    return None if unsure.any() else values


def _quick(cells: Sequence[Any]) -> NDArray | None:
    """Return cells as doubles where Python's `float` and the rule here cannot differ."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        joined = "\n".join(cells)
        if not joined.isascii() or "_" in joined:
            return None
    elif not kinds <= {int, float}:
        return None
    try:
        values = np.fromiter(map(float, cells), float, len(cells))
    except (ValueError, OverflowError):
        return None
    return values if np.all(np.abs(values) < EXACT) else None


def _number_of_cell(cell: Any) -> float:
    if isinstance(cell, bool | np.bool_):
        raise ValueError(f"be a number, got {cell}")
    if isinstance(cell, float | np.floating):
        return number_of(repr(float(cell)))
    return number_of(text_of(cell))


class Wholes(Column):
    """Counts: whole numbers >= 0."""

    def add(self, cells: Sequence[Any], rows: Rows) -> None:
        """Take the next block."""
        if self.decimal == ",":
            cells = self.each(cells, rows, self.point)
        self.parts.append(np.array(self.each(cells, rows, whole_of), dtype=np.int64))

    def point(self, cell: str) -> str:
        """Refuse 1.000 and 1,000, which may be one or a thousand where either mark is decimal."""
        if GROUPED.fullmatch(cell.strip()):
            raise ValueError(f"be a whole number without a mark, got {_shown(cell)}")
        return super().point(cell)


class Labels(Column):
    """Labels, which compare as text: 01 is not 1, and none may be missing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.codes: dict[str, int] = {}  # text as it stands in a cell -> number of its label
        self.labels: dict[str, int] = {}  # label -> its number, in the order of appearance

    def add(self, cells: Sequence[Any], rows: Rows) -> None:
        """Take the next block."""
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "biufUS":
            distinct, first, inverse = np.unique(cells, return_index=True, return_inverse=True)
            codes = self._codes(distinct, lambda index: rows(int(first[index])))
            self.parts.append(codes[inverse.ravel()])
        else:
            self.parts.append(self._codes(cells, rows))

    def _codes(self, cells: Sequence[Any], rows: Rows) -> NDArray:
        if set(map(type, cells)) != {str}:  # 1 and True are one key of a dictionary
            cells = self.each(cells, rows, text_of)
        codes = list(map(self.codes.get, cells))
        if None in codes:
            self.each(cells, rows, self._meet)
            codes = list(map(self.codes.get, cells))
        return np.array(codes, dtype=np.intp)

    def _meet(self, cell: str) -> None:
        if cell not in self.codes:
            label = cell.strip()
            if not label:
                raise ValueError("be given, got nothing")
            self.check(label)
            self.codes[cell] = self.labels.setdefault(label, len(self.labels))

    def check(self, label: str) -> None:
        """Refuse a label at its first row."""

    def values(self) -> NDArray:
        """Return the label of every row: integers where all are plain ones, and else text.

        "01" is no plain integer, so that two labels never become one; and models 2 and 10 are in
        their own order.
        """
        labels = list(self.labels)
        plain = all(PLAIN.fullmatch(label) for label in labels)
        return np.array([int(label) for label in labels] if plain else labels)[super().values()]


class Bits(Labels):
    """Two labels, of which one means "member": 0/1, false/true, or any two if one is named."""

    def __init__(self, name: str, positive: Any = None) -> None:
        super().__init__(name)
        self.positive = None if positive is None else text_of(positive)

    def check(self, label: str) -> None:
        """Refuse what is no bit, or a third label."""
        if self.positive is None:
            if label.lower() not in BITS:
                raise ValueError(
                    f"be 0/1 or false/true, got {_shown(label)}; name the label that means "
                    "'member' with positive= (--positive)"
                )
        elif len({self.positive, label, *self.labels}) > 2:
            others = ", ".join(_shown(other) for other in self.labels if other != self.positive)
            raise ValueError(
                f"be the positive label {_shown(self.positive)} or one other ({others}), "
                f"got {_shown(label)}"
            )

    def values(self) -> NDArray:
        """Return whether every row says "member"."""
        if self.positive is None:
            bits = [BITS[label.lower()] for label in self.labels]
        elif self.positive not in self.labels and self.name == "member":
            got = ", ".join(map(_shown, self.labels))
            raise ValueError(
                f"no row's member is {_shown(self.positive)}, the positive label; got {got}."
            )
        else:
            bits = [label == self.positive for label in self.labels]
        return np.array(bits)[np.concatenate(self.parts)]

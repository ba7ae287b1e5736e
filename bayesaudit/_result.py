"""What every result shares: plain JSON types, a plain repr, a table for a person or a notebook."""

from dataclasses import fields
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar

from bayesaudit._plain import plain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Result", "Table", "shown"]

#: Values of a sequence, and rows of a table, that are shown before it is summarised.
FEW, ROWS = 4, 20
#: A nested repr that is longer than this is replaced by its type's name.
LONG = 120


class Result:
    """A frozen dataclass whose dict, repr and tables follow from its fields.

    A class says what of it `to_dict` holds: `_omit` names the fields that are left out, `_also` the
    attributes and methods that are added ("key=attribute.of_it" under another name), and `_if_any`
    the keys that are left out while they are ``None``.
    """

    __slots__ = ()
    _omit: ClassVar[tuple[str, ...]] = ()
    _also: ClassVar[tuple[str, ...]] = ()
    _if_any: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # `dataclass` writes a repr unless the class itself has one.
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; a number that is not finite is ``None``."""
        parts = [name for name in _names(self) if name not in self._omit] + [*self._also]
        paths = dict((part.split("=") * 2)[:2] for part in parts)
        values = {key: plain(_value(self, path)) for key, path in paths.items()}
        return {k: v for k, v in values.items() if v is not None or k not in self._if_any}

    def __repr__(self) -> str:
        parts = (
            f"{field.name}={_brief(value)}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr and (value := getattr(self, field.name)) is not None
        )
        return f"{type(self).__name__}({', '.join(parts)})"

    def _grid(self) -> tuple[str, list[str], list[list[str]]]:
        """Return a caption, a header (or none) and rows of cells."""
        rows = [[name, shown(value)] for name, value in self.to_dict().items()]
        return type(self).__name__, [], rows

    def __str__(self) -> str:
        caption, header, rows = self._grid()
        lines = [header, *rows] if header else rows
        wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = ["  ".join(map(str.ljust, line, wide)).rstrip() for line in lines]
        return "\n".join([caption, *(f"  {text}" for text in texts)])

    def _repr_html_(self) -> str:
        from html import escape  # loads a large table

        caption, header, rows = self._grid()
        heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
        head = f"<thead><tr>{heads}</tr></thead>" if header else ""
        first = "td" if header else 'th scope="row"'
        body = "".join(
            f"<tr><{first}>{escape(start)}</{first[:2]}>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
            + "</tr>"
            for start, *rest in rows
        )
        return f"<table><caption>{escape(caption)}</caption>{head}<tbody>{body}</tbody></table>"


class Table(Result):
    """A result with columns: its array fields, or what its rows hold.

    `_rows` names the attribute with the rows, where these are results or dicts of their own.
    """

    __slots__ = ()
    _rows: ClassVar[str | None] = None

    def columns(self) -> dict[str, Any]:
        """Return the table by column name; the columns are of one shape."""
        if self._rows is None:
            return {name: getattr(self, name) for name in self._arrays() if name not in self._omit}
        rows = plain(_value(self, self._rows))
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, columns as lists; a number that is not finite is ``None``."""
        if self._rows is not None:
            return Result.to_dict(self)
        kept = {name: plain(v) for name, v in self.columns().items() if name not in self._omit}
        return kept | {k: v for k, v in Result.to_dict(self).items() if k not in self._arrays()}

    def _arrays(self) -> list[str]:
        return [name for name in _names(self) if hasattr(getattr(self, name), "tolist")]

    def _flat(self) -> dict[str, list]:
        """Return the columns as flat lists."""
        return {
            name: value.ravel().tolist() if hasattr(value, "ravel") else list(value)
            for name, value in self.columns().items()
        }

    def records(self) -> list[dict[str, Any]]:
        """Return the table's rows, as plain JSON types."""
        flat = plain(self._flat())
        return [dict(zip(flat, row, strict=True)) for row in zip(*flat.values(), strict=True)]

    def to_frame(self) -> "pd.DataFrame":
        """Return the table as a pandas DataFrame, one row a point."""
        import pandas as pd

        return pd.DataFrame(self._flat())

    def _grid(self) -> tuple[str, list[str], list[list[str]]]:
        flat = self._flat()
        facts = {
            name: value
            for name, value in self.to_dict().items()
            if name not in flat and not isinstance(value, list | dict)
        }
        told = ", ".join(f"{name} {shown(v)}" for name, v in facts.items())
        rows = [list(map(shown, row)) for row in zip(*flat.values(), strict=True)]
        name = type(self).__name__ + (f": {told}" if told else "")
        if len(rows) > ROWS:
            name += f" (the first {ROWS} of {len(rows)} rows)"
        return name, list(flat), rows[:ROWS]


def shown(value: Any) -> str:
    """Return a plain value as a person reads it: four digits, lists and dicts in one line."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return _number(value).removesuffix(".0")
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        if len(value) > FEW and all(isinstance(item, int | float) for item in value):
            return f"{len(value)} values from {shown(min(value))} to {shown(max(value))}"
        return ", ".join(map(shown, value))
    return str(value)


def _names(result: Any) -> list[str]:
    return [field.name for field in fields(result)]


def _value(result: Any, path: str) -> Any:
    """Return an attribute, of an attribute perhaps (None of None), or what a method returns."""
    for name in path.split("."):
        result = None if result is None else getattr(result, name)
    return result() if isinstance(result, MethodType) else result


def _number(x: float) -> str:
    """Return a number to four digits, or exactly where that is no longer; never 1 for .99999."""
    exact = repr(x)
    if len(exact) <= 7:
        return exact
    if 1e4 <= abs(x) < 1e15:
        return f"{x:.0f}"
    texts = (f"{x:.4g}", f"{x:.8g}", exact)
    return next(text for text in texts if text not in ("1", "-1"))


def _brief(value: Any) -> str:
    """Return a repr in one line, without NumPy's type names; a long array is summarised."""
    if hasattr(value, "tolist") and not hasattr(value, "values"):
        shape, dtype = value.shape, value.dtype
        if len(shape) < 2 and value.size <= FEW:
            return _brief(value.tolist())
        span = f" from {_brief(value.min())} to {_brief(value.max())}" if value.size else ""
        return f"<{'x'.join(map(str, shape))} {dtype}{span}>" if dtype.kind in "iufb" else "<array>"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        left, right = "[]" if isinstance(value, list) else "()"
        if len(value) > 2 * FEW:
            return f"{left}{_brief(value[0])}, … {len(value)} in all{right}"
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{left}{', '.join(map(_brief, value))}{comma}{right}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_brief(item)}' for key, item in value.items())}}}"
    text = repr(value)
    if isinstance(value, str | Result):
        return text
    if "\n" in text or len(text) > LONG or (callable(value) and " at 0x" in text):
        return f"<{getattr(value, '__name__', type(value).__name__)}>"
    return text

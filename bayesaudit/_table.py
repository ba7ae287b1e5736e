"""Tables of text for a person: aligned columns."""

from collections.abc import Iterable, Sequence

__all__ = ["format_table"]


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Align columns of text: the first and the last to the left, the others to the right."""
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    last = len(header) - 1
    lines = []
    for row in table:
        cells = [
            cell.ljust(width) if column in (0, last) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)

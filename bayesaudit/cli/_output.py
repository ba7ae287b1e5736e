"""What every command prints: JSON without NaN or infinity, aligned tables, warnings on stderr."""

import json
import sys
from collections.abc import Iterable, Sequence

from bayesaudit._plain import plain
from bayesaudit._version import __version__

__all__ = ["SCHEMA_VERSION", "emit_json", "envelope", "format_table", "print_warnings"]

SCHEMA_VERSION = 1


def envelope(*, inputs: dict, results: dict, warnings: Iterable[str]) -> dict:
    """Return the object every ``--json`` prints (schema in DESIGN: inputs, results, warnings)."""
    return {
        "schema_version": SCHEMA_VERSION,
        "bayesaudit_version": __version__,
        "inputs": inputs,
        "results": results,
        "warnings": list(warnings),
    }


def emit_json(document: dict) -> None:
    """Write one JSON object to standard output."""
    json.dump(plain(document), sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


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


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error, one line each."""
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)

"""What every command prints: JSON without NaN or infinity on stdout, warnings on stderr."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from bayesaudit._plain import envelope, plain
from bayesaudit._table import format_table

__all__ = [
    "emit",
    "emit_json",
    "envelope",
    "format_table",
    "json_text",
    "print_warnings",
    "table_text",
]


def json_text(document: dict) -> str:
    """Return one JSON object as text."""
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"


def emit_json(document: dict) -> None:
    """Write one JSON object to standard output."""
    sys.stdout.write(json_text(document))


def emit(audit: Any, document: dict, as_json: bool) -> None:
    """Print an audit, as JSON or as a table, and its warnings."""
    if as_json:
        emit_json(document)
    else:
        print(audit)
    print_warnings(audit.warnings)


def table_text(audit: Any, form: str) -> str:
    """Return the lines of an audit, or of all its tallies, as one CSV or Markdown table."""
    if form == "csv":
        return audit.to_frame().to_csv(index=False, lineterminator="\n")
    tables = [audit.table()] if audit.n_tallies else [audit.table(delta) for delta in audit.delta]
    lines = []
    for header, rows in tables:
        cells = [header, ["---"] * len(header), *rows]
        lines += [f"| {' | '.join(cell.strip().replace('|', '/') for cell in c)} |" for c in cells]
        lines.append("")
    return "\n".join(lines)


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error, one line each."""
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)

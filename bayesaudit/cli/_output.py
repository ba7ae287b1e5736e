"""What every command prints: JSON without NaN or infinity on stdout, warnings on stderr."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from bayesaudit._plain import envelope, plain
from bayesaudit._table import format_table

__all__ = ["emit", "emit_json", "envelope", "format_table", "json_text", "print_warnings"]


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


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error, one line each."""
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)

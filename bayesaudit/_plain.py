"""Results as plain JSON types; light, so that the command line loads no NumPy for it."""

import math
from collections.abc import Iterable
from typing import Any

from bayesaudit._version import __version__

__all__ = ["SCHEMA_VERSION", "envelope", "plain"]

SCHEMA_VERSION = 1


def envelope(*, inputs: dict, results: dict, warnings: Iterable[str]) -> dict[str, Any]:
    """Return the object that every command prints with ``--json``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "bayesaudit_version": __version__,
        "inputs": plain(inputs),
        "results": plain(results),
        "warnings": list(warnings),
    }


def plain(value: Any) -> Any:
    """Turn results and NumPy values into plain JSON types; NaN and infinity become ``None``."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):  # an array or a scalar of NumPy, which need not be loaded here
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

"""Reference values copied into the tests: independent high-precision computations."""

import json
from pathlib import Path

DATA = Path(__file__).parent / "data"


def cases(kind):
    document = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
    return [case for case in document["cases"] if case["kind"] == kind]


def peers(name):
    return json.loads((DATA / "peers.json").read_text(encoding="utf-8"))[name]


def ids(items):
    return [item["id"] for item in items]


def close(value, right, tolerance):
    """Within tolerance in absolute or in relative terms, whichever is looser."""
    right = float(right)
    return value == right or abs(value - right) <= tolerance * max(1.0, abs(right))

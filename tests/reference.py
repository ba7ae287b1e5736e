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


def audits(largest=100_000):
    """Yield (case, fn, tp, fp, tn, delta) of the count cases in whole numbers up to `largest`."""
    for case in cases("counts"):
        given = case["input"]
        cells = [given[name] for name in ("FN", "TP", "FP", "TN")]
        if all(isinstance(cell, int) for cell in cells) and max(cells) <= largest:
            yield case, *cells, float(given["delta"])

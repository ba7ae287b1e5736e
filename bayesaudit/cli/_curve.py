"""``bayesaudit estimate --curve FILE``: epsilon as a function of delta, as a CSV file."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["add_argument", "check_unused", "curve_deltas", "write_columns", "write_curve"]

#: Values of delta in a curve, beside those asked for.
LOWEST, HIGHEST, POINTS = 1e-9, 0.5, 36


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add --curve."""
    parser.add_argument(
        "--curve",
        metavar="FILE",
        help="also write epsilon at many values of delta, pointwise and simultaneous, as CSV",
    )


def check_unused(args: argparse.Namespace) -> None:
    """Refuse a curve of a one-run audit."""
    if args.curve is not None:
        raise ValueError("--one-run takes no --curve.")


def curve_deltas(args: argparse.Namespace) -> list[float]:
    """Return rising values of delta: a geometric grid and those asked for."""
    import numpy as np

    grid = np.geomspace(LOWEST, HIGHEST, POINTS)
    return np.unique(np.concatenate([grid, args.delta or [1e-5]])).tolist()


def write_curve(args: argparse.Namespace, counts: Any, *, direction: str) -> dict[str, Any]:
    """Write the posterior and confidence curve of one tally."""
    from bayesaudit.curves import epsilon_curve

    curve = epsilon_curve(
        counts, curve_deltas(args), args.prob, direction=direction, prior=args.prior
    )
    written = write_columns(args.curve, curve.columns())
    return written | {
        "pointwise_mass": curve.pointwise_mass,
        "simultaneous_mass": curve.simultaneous_mass,
    }


def write_columns(path: str, columns: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Write columns to a CSV file; return where and how many rows."""
    import csv

    rows = list(zip(*(list(column) for column in columns.values()), strict=True))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([repr(float(value)) for value in row] for row in rows)
    return {"file": path, "rows": len(rows)}

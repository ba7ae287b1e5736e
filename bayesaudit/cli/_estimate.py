"""``bayesaudit estimate``: the exact posterior of epsilon beside what else may be said."""

import argparse
from typing import Any

from bayesaudit.cli._input import add_audit_arguments, audit_of, file_inputs
from bayesaudit.cli._output import emit_json, json_text, print_warnings, table_text

__all__ = ["add_parser", "run"]

EPILOG = """\
examples:
  bayesaudit estimate --fn 35 --tp 65 --fp 25 --tn 75 --delta 1e-5
  bayesaudit estimate scores.csv --threshold 0.5 --delta 0 --claim 2 --json
  bayesaudit estimate scores.csv --threshold band --curve curve.csv
  bayesaudit estimate --one-run --canaries 1000 --guesses 200 --correct 150 --delta 1e-5
  bayesaudit estimate counts.csv --fail-above 4 --quiet --out audit.json

exit status: 0 done; 1 --fail-above was exceeded; 2 a usage or data error
"""


def add_parser(commands: Any, summary: str) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "estimate",
        help=summary,
        description="The exact posterior of epsilon from what an attack guessed, beside the "
        "classical intervals, each with what it promises.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_audit_arguments(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object")
    output.add_argument(
        "--table",
        choices=("csv", "md"),
        help="print the lines as one table, CSV or Markdown, also for many tallies",
    )
    output.add_argument(
        "--all", action="store_true", help="show the classical asymptotic intervals, too"
    )
    output.add_argument("--out", metavar="FILE", help="write the JSON object to a file")
    output.add_argument(
        "--curve",
        metavar="FILE",
        help="also write epsilon at many values of delta, pointwise and simultaneous, as CSV",
    )
    output.add_argument("--quiet", action="store_true", help="print nothing on standard output")
    output.add_argument("--force", action="store_true", help="replace files that exist")
    output.add_argument(
        "--fail-above",
        type=float,
        metavar="EPS",
        help="exit with 1 if the guaranteed lower bound exceeds EPS, for a pipeline",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Audit, print; return the exit status."""
    from bayesaudit._checks import check_nonnegative
    from bayesaudit._files import check_target, write_atomically

    if args.json and args.table is not None:
        raise ValueError(f"--table {args.table} does not go with --json.")
    used = file_inputs(args)
    for target in (args.out, args.curve):
        if target is not None:
            check_target(target, inputs=used, overwrite=args.force)
            used.append(target)
    if args.fail_above is not None:
        check_nonnegative(args.fail_above, "fail_above")
    audit = audit_of(args)
    document = audit.to_dict()
    if args.curve is not None:
        document["results"]["curve"] = _write_curve(args.curve, audit.curve())
    failed = args.fail_above is not None and _exceeds(audit, args.fail_above)
    if args.out is not None:
        write_atomically(args.out, lambda file: file.write(json_text(document).encode()))
    if args.quiet:
        print_warnings(audit.warnings)
        return int(failed)
    if args.json:
        emit_json(document)
    elif args.table is not None:
        print(table_text(audit, args.table), end="")
    else:
        print(audit.text(everything=args.all))
    print_warnings(audit.warnings)
    if args.curve is not None and not (args.json or args.table):
        rows = document["results"]["curve"]["rows"]
        print(f"curve: {rows} values of delta in {args.curve}")
    return int(failed)


def _exceeds(audit: Any, limit: float) -> bool:
    """Say whether the guaranteed lower bound of any tally, at any delta, exceeds a limit."""
    ones = [audit] if audit.n_tallies is None else [audit[i] for i in range(audit.n_tallies)]
    bounds = [one.quoted(delta) for one in ones for delta in one.delta]
    if any(bound is None for bound in bounds):
        raise ValueError("--fail-above needs a guaranteed lower bound, and this audit has none.")
    return any(bound.lower > limit for bound in bounds)


def _write_curve(path: str, curve: Any) -> dict[str, Any]:
    """Write the columns of a curve as CSV; return where, how many rows, and the masses."""
    from bayesaudit._files import write_atomically

    columns = curve.columns()
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
    write_atomically(path, lambda file: file.write(("\n".join(lines) + "\n").encode()))
    masses = ("pointwise_mass", "simultaneous_mass")
    found = {name: getattr(curve, name) for name in masses if hasattr(curve, name)}
    return {"file": path, "rows": len(rows), **found}

"""``bayesaudit estimate``: the exact posterior of epsilon beside what else may be said."""

import argparse
from typing import Any

from bayesaudit.cli._input import (
    add_input_arguments,
    add_looks_argument,
    add_question_arguments,
    attack_of,
    file_of,
    question_of,
)
from bayesaudit.cli._output import emit, json_text, print_warnings

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
ONLY_ONE_RUN = ("canaries", "guesses", "correct", "independent_canaries")
#: Options that a one-run audit does not take, and their defaults.
NOT_ONE_RUN = {
    **dict.fromkeys(("fn", "tp", "fp", "tn", "threshold", "looks", "icc_prior", "curve", "seed")),
    "direction": "both",
    "prior": "jeffreys",
}


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
    add_input_arguments(parser)
    add_question_arguments(parser)
    add_looks_argument(parser)
    group = parser.add_argument_group(
        "scores without a declared threshold",
        "--threshold band (guaranteed, no seed), split (choose on 30 % of the rows or models, "
        "posterior and bounds from the others), multi-split, bonferroni, or optimistic (not a "
        "bound)",
    )
    group.add_argument(
        "--seed", type=int, metavar="N", help="seed of the splits, declared beforehand (default 0)"
    )
    group = parser.add_argument_group(
        "one training run with many canaries",
        "--one-run --canaries M --guesses R --correct V, or --one-run FILE --guesses R with "
        "columns member,score: R highest and lowest scores are guessed, ties as blocks",
    )
    group.add_argument(
        "--one-run",
        action="store_true",
        help="canaries were put in by independent fair coins, and the guesses declared beforehand",
    )
    group.add_argument("--canaries", type=int, metavar="M", help="canaries in all")
    group.add_argument(
        "--guesses",
        type=_rule,
        action="append",
        metavar="R",
        help="guesses released, fixed beforehand; for a file also TOP,BOTTOM, and repeated for a "
        "declared grid, each tested at its share of the level",
    )
    group.add_argument("--correct", type=int, metavar="V", help="right guesses")
    group.add_argument(
        "--independent-canaries",
        action="store_true",
        help="also print the bound that assumes independent canaries, which DP does not give",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object")
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

    for target in (args.out, args.curve):
        if target is not None:
            check_target(target, inputs=[args.file] if args.file else [], overwrite=args.force)
    if args.fail_above is not None:
        check_nonnegative(args.fail_above, "fail_above")
    audit = _one_run(args) if args.one_run else _audit(args)
    document = audit.to_dict()
    if args.curve is not None:
        document["results"]["curve"] = _write_curve(args.curve, audit.curve())
    failed = args.fail_above is not None and _exceeds(audit, args.fail_above)
    if args.out is not None:
        write_atomically(args.out, lambda file: file.write(json_text(document).encode()))
    if args.quiet:
        print_warnings(audit.warnings)
        return int(failed)
    emit(audit, document, args.json)
    if args.curve is not None and not args.json:
        rows = document["results"]["curve"]["rows"]
        print(f"curve: {rows} values of delta in {args.curve}")
    return int(failed)


def _audit(args: argparse.Namespace) -> Any:
    from bayesaudit.audits import audit

    for name in ONLY_ONE_RUN:
        if getattr(args, name) not in (None, False):
            raise ValueError(f"--{name.replace('_', '-')} needs --one-run.")
    if args.file is None and args.seed is not None:
        raise ValueError("--seed needs --threshold split or another strategy.")
    return audit(attack_of(args), random_seed=args.seed, **question_of(args))


def _one_run(args: argparse.Namespace) -> Any:
    from bayesaudit.audits import audit_one_run

    if args.seed is not None:
        raise ValueError("--seed needs --threshold split or another strategy.")
    for name, default in NOT_ONE_RUN.items():
        if getattr(args, name) != default:
            raise ValueError(f"--one-run takes no --{name.replace('_', '-')}.")
    if not args.guesses:
        raise ValueError("--one-run needs --guesses.")
    asked = {"delta": args.delta or 1e-5, "prob": args.prob, "claim": args.claim}
    asked["independent_canaries"] = args.independent_canaries
    if args.file is not None:
        for name in ("canaries", "correct"):
            if getattr(args, name) is not None:
                raise ValueError(f"--one-run takes a file or --{name}, got both.")
        return audit_one_run(file_of(args), guesses=args.guesses, **asked)
    missing = [f"--{name}" for name in ("canaries", "correct") if getattr(args, name) is None]
    if missing:
        raise ValueError(f"--one-run needs a file or a tally; missing {', '.join(missing)}.")
    if len(args.guesses) > 1 or isinstance(args.guesses[0], tuple):
        raise ValueError("--guesses must be one number without a file of scores.")
    return audit_one_run(
        n_canaries=args.canaries, n_guesses=args.guesses[0], n_correct=args.correct, **asked
    )


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


def _rule(text: str) -> Any:
    try:
        parts = [int(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) not in (1, 2):
        raise argparse.ArgumentTypeError(f"must be R or TOP,BOTTOM, got {text!r}")
    return parts[0] if len(parts) == 1 else tuple(parts)

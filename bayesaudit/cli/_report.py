"""``bayesaudit report``: one audit as a page for a reviewer."""

import argparse
import shlex
import sys
from typing import Any

from bayesaudit.cli._input import add_audit_arguments, audit_of, file_inputs
from bayesaudit.cli._output import print_warnings

__all__ = ["add_parser", "run"]

EPILOG = """\
examples:
  bayesaudit report counts.csv --claim 2 --out report.html
  bayesaudit report scores.csv --threshold 0.5 --claim 2 --out report.html
  bayesaudit report per_model.csv --sample --seed 1 --out report.html
  bayesaudit report --fn 35 --tp 65 --fp 25 --tn 75 --out report.md

exit status: 0 done; 2 a usage or data error
"""


def add_parser(commands: Any, summary: str) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "report",
        help=summary,
        description="Write one audit as a self-contained page: the conclusion, what each line "
        "promises, figures, dependence, coverage, and what is needed to repeat it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_audit_arguments(parser)
    group = parser.add_argument_group("the page")
    group.add_argument("--out", required=True, metavar="FILE", help="the file to write")
    group.add_argument(
        "--format",
        choices=("html", "md", "json"),
        help="default: what FILE ends with, and html otherwise",
    )
    group.add_argument(
        "--title", default="Privacy audit", metavar="TEXT", help='(default "Privacy audit")'
    )
    group.add_argument("--force", action="store_true", help="replace a file that exists")
    group.add_argument(
        "--sample",
        action="store_true",
        help="draw from the posterior too, and report the diagnostics of the draws (--seed)",
    )
    group.add_argument(
        "--model", metavar="NAME", help="the PyMC model to sample, as for `bayesaudit sample`"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Audit, write the page; return the exit status."""
    from bayesaudit._files import check_target
    from bayesaudit.reports import report

    check_target(args.out, inputs=file_inputs(args), overwrite=args.force)
    if args.model is not None and not args.sample:
        raise ValueError("--model needs --sample.")
    seed = args.seed
    if args.sample and not _splits(args):
        args.seed = None
    audit = audit_of(args)
    if args.sample:
        _say("sampling")
        audit = audit.sample(args.model, random_seed=seed, progress=False)
    _say("drawing the figures")
    written = report(
        audit,
        args.out,
        format=args.format,
        title=args.title,
        command=shlex.join(["bayesaudit", *args.argv]),
        overwrite=args.force,
    )
    print(written)
    print_warnings(audit.warnings)
    return 0


def _splits(args: argparse.Namespace) -> bool:
    """Say whether the seed is that of a split."""
    from bayesaudit.audits import STRATEGIES

    return args.threshold in STRATEGIES


def _say(step: str) -> None:
    print(f"report: {step} …", file=sys.stderr)

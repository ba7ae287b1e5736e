"""``bayesaudit diagnose``: the verdict on a file of draws."""

import argparse
from pathlib import Path
from typing import Any

from bayesaudit.cli._output import emit

__all__ = ["add_parser", "run"]

EPILOG = """\
examples:
  bayesaudit diagnose run.nc --delta 1e-5
  bayesaudit diagnose run.nc --figures pictures --json

exit status: 0 done; 1 with --strict, if a check failed (a caution is none); 2 a usage or
data error
"""


def add_parser(commands: Any, summary: str) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "diagnose",
        help=summary,
        description="Diagnose the draws of a file that `sample --out` wrote, or of any netCDF file "
        "whose posterior has fnr and fpr.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run_file", metavar="RUN.nc", help="the draws")
    parser.add_argument(
        "--delta", type=float, default=1e-5, metavar="D", help="of (epsilon, delta)-DP (1e-5)"
    )
    parser.add_argument(
        "--prob", type=float, default=0.90, metavar="P", help="mass of the interval (default 0.9)"
    )
    parser.add_argument(
        "--direction", choices=("both", "member"), default="both", help="as for estimate (both)"
    )
    parser.add_argument(
        "--claim", type=float, metavar="EPS", help="print P(epsilon-hat > EPS | draws)"
    )
    parser.add_argument("--figures", metavar="DIR", help="write figures as PNG to this directory")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if a check failed; a caution is none"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load the draws, check, print; return the exit status."""
    from bayesaudit.audits import audit_draws
    from bayesaudit.audits.score_model import audit_score_draws, holds_scores
    from bayesaudit.sampling import load

    dt = load(args.run_file)
    if holds_scores(dt):
        for name in ("claim", "figures"):
            if getattr(args, name) is not None:
                raise ValueError(
                    f"{args.run_file} holds a model of scores, which takes no --{name}."
                )
        asked = {"delta": args.delta, "prob": args.prob, "direction": args.direction}
        curve = audit_score_draws(dt, source=args.run_file, **asked)
        emit(curve, curve.to_dict(), args.json)
        return 0 if curve.passed or not args.strict else 1
    found = audit_draws(
        args.run_file,
        delta=args.delta,
        prob=args.prob,
        direction=args.direction,
        claim=args.claim,
    )
    document = found.to_dict()
    written = _write_figures(found, Path(args.figures)) if args.figures else []
    document["results"]["figures"] = written
    emit(found, document, args.json)
    if not args.json:
        for path in written:
            print(f"wrote {path}")
    return 0 if found.draws.passed or not args.strict else 1


def _write_figures(audit: Any, folder: Path) -> list[str]:
    from matplotlib.figure import Figure

    from bayesaudit import plots
    from bayesaudit._files import write_atomically

    post = audit.lines[0].posterior
    region, distribution = (
        Figure(figsize=size, layout="constrained") for size in ((5.2, 5.4), (9, 4.6))
    )
    plots.region(post, prob=audit.prob, ax=region.subplots())
    plots.distribution(post, prob=audit.prob, ax=distribution.subplots(1, 2))
    figures = {
        "region": region,
        "distribution": distribution,
        **plots.diagnostics(audit.draws.diagnosis[audit.delta[0]]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in figures.items():
        path = folder / f"{name}.png"
        write_atomically(path, lambda file, one=figure: one.savefig(file, format="png", dpi=100))
        written.append(str(path))
    return written

"""``bayesaudit diagnose``: the verdict on a file of draws."""

import argparse
from pathlib import Path
from typing import Any

from bayesaudit.cli._sample import add_output_arguments, print_verdicts, verdicts

__all__ = ["add_parser", "run"]

EPILOG = """\
examples:
  bayesaudit diagnose run.nc --delta 1e-5
  bayesaudit diagnose run.nc --figures pictures --json
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
    parser.add_argument("--delta", type=float, default=1e-5, metavar="D", help="default 1e-5")
    parser.add_argument(
        "--prob", type=float, default=0.90, metavar="P", help="mass of the interval (default 0.9)"
    )
    parser.add_argument("--direction", choices=("both", "member"), default="both")
    parser.add_argument("--figures", metavar="DIR", help="write figures as PNG to this directory")
    add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load the draws, check, print; return the exit status."""
    from bayesaudit._checks import check_prob, check_probability
    from bayesaudit.cli._input import collected
    from bayesaudit.cli._output import emit_json, envelope, print_warnings
    from bayesaudit.sampling import load

    check_probability(args.delta, "--delta")
    check_prob(args.prob, "--prob")
    dt = load(args.run_file)
    if dt["posterior"].dataset["fnr"].ndim > 2 or dt["posterior"].dataset["fpr"].ndim > 2:
        raise ValueError(
            f"{args.run_file}: holds many tallies; diagnose them from Python, or sample one."
        )
    with collected() as notes:
        counts, prior = _recorded(dt)
        draws, parts = verdicts(dt, args.delta, args, counts, prior)
        written = _write_figures(dt, args) if args.figures else []
    inputs = {
        "file": args.run_file,
        "delta": args.delta,
        "prob": args.prob,
        "direction": args.direction,
        "run": dict(dt.attrs),
    }
    results = {"epsilon": {"draws": draws}, "claim": None, **parts, "figures": written}
    if args.json:
        emit_json(envelope(inputs=inputs, results=results, warnings=notes))
    else:
        known = [
            f"{key} {dt.attrs[key]}"
            for key in ("model", "method", "random_seed")
            if key in dt.attrs
        ]
        print(f"{args.run_file}: {', '.join(known) or 'nothing recorded'}")
        print_verdicts({"delta": args.delta, **results}, args.prob)
        for path in written:
            print(f"wrote {path}")
    print_warnings(notes)
    check = parts["cross_check"]
    sound = parts["diagnostics"]["passed"] and (check is None or check["passed"])
    return 0 if sound or not args.strict else 1


def _recorded(dt: Any) -> tuple[Any, Any]:
    """Return counts and prior of the independent model, from which the exact posterior follows."""
    import json

    from bayesaudit.counts import AttackCounts

    attrs = dt.attrs
    if attrs.get("model") != "independent" or not str(attrs.get("prior", "")).startswith("{"):
        return None, None
    prior = {name: tuple(shapes) for name, shapes in json.loads(attrs["prior"]).items()}
    return AttackCounts(**json.loads(attrs["counts"])), prior


def _write_figures(dt: Any, args: argparse.Namespace) -> list[str]:
    from matplotlib.figure import Figure

    from bayesaudit import plots
    from bayesaudit.diagnostics import diagnose
    from bayesaudit.measures import Epsilon
    from bayesaudit.posteriors import posterior

    measure = Epsilon(args.delta, args.direction)
    post = posterior(dt, measure)
    region, distribution = (
        Figure(figsize=size, layout="constrained") for size in ((5.2, 5.4), (9, 4.6))
    )
    plots.region(post, prob=args.prob, ax=region.subplots())
    plots.distribution(post, prob=args.prob, ax=distribution.subplots(1, 2))
    figures = {
        "region": region,
        "distribution": distribution,
        **plots.diagnostics(diagnose(dt, measure, prob=args.prob)),
    }
    folder = Path(args.figures)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in figures.items():
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=100)
        written.append(str(path))
    return written

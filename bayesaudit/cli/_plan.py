"""``bayesaudit plan``: how many trials, and models, show a claim."""

import argparse
from typing import Any

__all__ = ["add_parser", "run"]

#: Set side by side for a person; the exact unconditional bound, slow here, on request.
COMPARED = ("posterior", "two-direction", "clopper-pearson")
EPILOG = """\
examples:
  bayesaudit plan --claim 0.5 --fnr 0.35 --fpr 0.25
  bayesaudit plan --claim 2.5 --fnr 0.05 --fpr 0.05 --per-model 10 --icc 0.02 --plot plan.png
  bayesaudit plan --claim 0.5 --pilot pilot.csv --n 200 --json
"""


def add_parser(commands: Any, summary: str) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "plan",
        help=summary,
        description="How many trials a side, and models, an audit needs so that its lower end on "
        "epsilon exceeds a claim, and with what probability (assurance), by exact enumeration.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    question = parser.add_argument_group("what is to be shown")
    question.add_argument(
        "--claim", type=float, required=True, metavar="EPS", help="the epsilon to exceed"
    )
    question.add_argument("--delta", type=float, default=1e-5, help="default 1e-5")
    question.add_argument(
        "--prob",
        type=float,
        default=0.90,
        help="level of the interval; its lower end errs by (1 - prob)/2 (default 0.9)",
    )
    question.add_argument(
        "--assurance", type=float, default=0.80, metavar="P", help="wanted (default 0.8)"
    )
    question.add_argument("--n", type=int, help="trials a side, instead of searching for them")
    attack = parser.add_argument_group("how strong the attack is (rates, or mu, or a pilot)")
    attack.add_argument("--fnr", type=float, help="false negative rate")
    attack.add_argument("--fpr", type=float, help="false positive rate")
    attack.add_argument("--mu", type=float, help="mu of a Gaussian trade-off curve")
    attack.add_argument("--pilot", metavar="CSV", help="counts of a pilot audit: fn, tp, fp, tn")
    parser.add_argument(
        "--method",
        default="posterior",
        help="how the lower end is found: posterior (default), two-direction, "
        "exact-unconditional (slow), clopper-pearson or another classical method, or betting (in "
        "models; guaranteed under any dependence within a model)",
    )
    parser.add_argument("--prior", default="jeffreys", choices=("jeffreys", "uniform"))
    parser.add_argument(
        "--per-model", type=int, default=1, metavar="M", help="trials a side a model (default 1)"
    )
    parser.add_argument(
        "--icc", type=float, default=0.0, metavar="RHO", help="correlation within a model"
    )
    parser.add_argument("--plot", metavar="FILE", help="write the assurance curves as a picture")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plan, print; return the exit status."""
    from bayesaudit.calibration.planning import plan
    from bayesaudit.cli._output import emit_json, envelope, print_warnings

    pilot = None if args.pilot is None else _pilot(args.pilot)
    strength = {"fnr": args.fnr, "fpr": args.fpr, "mu": args.mu, "pilot": pilot}
    question = {"delta": args.delta, "prob": args.prob, "prior": args.prior, **strength}
    design = {"n": args.n, "target": args.assurance, "per_model": args.per_model, "icc": args.icc}
    chosen = plan(args.claim, method=args.method, **question, **design)
    plans, refused = {args.method: chosen}, {}
    by_model = ("betting",) if args.per_model > 1 else ()
    for method in (*COMPARED, *by_model):
        if method not in plans:
            try:
                plans[method] = plan(args.claim, method=method, **question, **design)
            except ValueError as error:
                refused[method] = str(error)
    warnings = []
    if args.icc > 0 and args.per_model > 1:
        warnings.append(
            "dependent trials: but for betting the plan supposes an analysis that allows for the "
            f"dependence, with the intra-model correlation {args.icc:g} known."
        )
    if args.per_model > 1 and args.icc == 0:
        warnings.append("several trials a model with --icc 0: their independence is an assumption.")
    if args.plot is not None:
        _draw(args, question, plans)
    if args.json:
        emit_json(_document(args, chosen, plans, refused, warnings, envelope))
    else:
        _print(args, chosen, plans, refused)
    print_warnings(warnings)
    return 0


def _pilot(path: str) -> Any:
    from bayesaudit.counts import AttackCounts
    from bayesaudit.reading import read_file

    attack = read_file(path)
    if not isinstance(attack.data, AttackCounts):
        raise ValueError(f"{attack.source}: holds scores; a pilot is counts or guesses.")
    return attack.data.pooled() if attack.data.shape else attack.data


def _document(args, chosen, plans, refused, warnings, envelope) -> dict:
    from bayesaudit.betting import betting_ceiling

    echoed = ("claim", "delta", "prob", "target", "method", "per_model", "icc", "strength")
    whole = chosen.to_dict()
    inputs = {name: whole[name] for name in echoed} | {"n": args.n, "prior": args.prior}
    results = {name: value for name, value in whole.items() if name not in echoed}
    results["methods"] = {
        name: {key: getattr(found, key) for key in ("n", "n_models", "assurance", "ceiling")}
        for name, found in plans.items()
    }
    if "betting" in plans:
        found = plans["betting"]
        results["methods"]["betting"] |= {
            "n_models_any": found.n_models_any,
            "ceiling_any_bound": betting_ceiling(found.n_models, args.prob, args.delta),
        }
    results["methods"] |= {
        name: {"n": None, "n_models": None, "assurance": None, "ceiling": None, "reason": reason}
        for name, reason in refused.items()
    }
    return envelope(inputs=inputs, results=results, warnings=warnings)


def _print(args, chosen, plans, refused) -> None:
    from bayesaudit.cli._output import format_table

    strength = chosen.strength
    if "pilot" in strength:
        cells = strength["pilot"]
        print(
            f"pilot FN {cells['fn']}, FP {cells['fp']}, TP {cells['tp']}, TN {cells['tn']}: "
            f"P(epsilon-hat > {args.claim:g} | pilot) = {chosen.limit:.4f}"
        )
    else:
        print(
            f"attack FNR {strength['fnr']:.4g}, FPR {strength['fpr']:.4g}: "
            f"epsilon-hat {chosen.true_epsilon:.4f} at delta {args.delta:g}"
        )
    print()
    promises = {
        "posterior": "credible",
        "two-direction": "credible, near nominal",
        "exact-unconditional": "confidence, guaranteed",
        "clopper-pearson": "confidence, guaranteed",
        "betting": "confidence, guaranteed under any dependence within a model",
    }
    if args.per_model > 1:
        for name in ("exact-unconditional", "clopper-pearson"):
            promises[name] += " if trials are independent"
    rows = [
        (
            name,
            str(found.n),
            str(found.n_models),
            f"{found.assurance:.4f}",
            f"{found.ceiling:.4f}",
            "-" if found.expected_lower is None else f"{found.expected_lower:.4f}",
            promises.get(name, "confidence, asymptotic"),
        )
        for name, found in plans.items()
    ]
    rows += [(name, "-", "-", "-", "-", "-", reason) for name, reason in refused.items()]
    header = ("lower end by", "n a side", "models", "assurance", "ceiling", "mean end", "promise")
    print(format_table(header, rows))
    print(
        f"With {chosen.n} trials a side ({chosen.n_models} models) the {args.method} lower end at "
        f"level {(1 + args.prob) / 2:.4g} exceeds epsilon {args.claim:g} with probability "
        f"{chosen.assurance:.3f}; no attack could show more than {chosen.ceiling:.4f} with them."
    )
    if "betting" in plans:
        _print_models(args, plans["betting"])


def _print_models(args, found) -> None:
    """Print what a plan in models says beyond the table."""
    from bayesaudit.betting import betting_ceiling

    if found.n_models_any is not None:
        print(
            f"Under the least favourable dependence within a model betting takes "
            f"{found.n_models_any} models, however many trials each has."
        )
    top = betting_ceiling(found.n_models, args.prob, args.delta)
    print(
        f"{found.n_models} models show at most epsilon {top:.4f} by any bound that holds under any "
        "dependence."
    )


def _draw(args, question, plans) -> None:
    import numpy as np
    from matplotlib.figure import Figure

    from bayesaudit import plots
    from bayesaudit.calibration import assurance_curve

    plans = {name: found for name, found in plans.items() if name != "betting"}
    sizes = [found.n_effective for found in plans.values()]
    grid = np.unique(np.geomspace(max(2, min(sizes) / 8), max(sizes) * 2, 48).astype(int))
    curves = {
        name: assurance_curve(args.claim, grid, method=name, **question)
        for name in plans
        if name != "exact-unconditional"
    }
    figure = Figure(figsize=(6, 4.6), layout="constrained")
    plots.assurance(grid, curves, plans=list(plans.values()), ax=figure.subplots())
    figure.savefig(args.plot, dpi=120)

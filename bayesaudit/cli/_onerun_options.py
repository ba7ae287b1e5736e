"""``bayesaudit estimate --one-run``: lower bounds from the guesses of one training run."""

import argparse
from typing import Any

__all__ = ["add_arguments", "estimate_one_run", "run_one_run"]

ONLY_ONE_RUN = ("canaries", "guesses", "correct", "independent_canaries")
NOT_ONE_RUN = {"fn": None, "tp": None, "fp": None, "tn": None, "threshold": None, "looks": None}
NO_POSTERIOR = (
    "one run gives no likelihood of the guesses under (epsilon, delta)-DP, since canaries may "
    "depend on each other in any way: there is a lower bound at every level, and no posterior"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a one-run audit."""
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


def _rule(text: str) -> Any:
    try:
        parts = [int(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) not in (1, 2):
        raise argparse.ArgumentTypeError(f"must be a number or TOP,BOTTOM, got {text!r}")
    return parts[0] if len(parts) == 1 else tuple(parts)


def check_unused(args: argparse.Namespace) -> None:
    """Refuse options of a one-run audit without --one-run."""
    for name in ONLY_ONE_RUN:
        if getattr(args, name) not in (None, False):
            raise ValueError(f"--{name.replace('_', '-')} needs --one-run.")


def _check_used(args: argparse.Namespace) -> None:
    for name, default in {**NOT_ONE_RUN, "direction": "both", "prior": "jeffreys"}.items():
        if getattr(args, name, default) != default:
            raise ValueError(f"--one-run takes no --{name}.")
    if not args.guesses:
        raise ValueError("--one-run needs --guesses.")
    if args.file is not None:
        for name in ("canaries", "correct"):
            if getattr(args, name) is not None:
                raise ValueError(f"--one-run takes a file or --{name}, got both.")
        return
    missing = [f"--{name}" for name in ("canaries", "correct") if getattr(args, name) is None]
    if missing:
        raise ValueError(f"--one-run needs a file or a tally; missing {', '.join(missing)}.")
    if len(args.guesses) > 1 or isinstance(args.guesses[0], tuple):
        raise ValueError("--guesses must be one number without a file of scores.")


def _read_scores(args: argparse.Namespace) -> tuple[Any, Any]:
    from bayesaudit.reading import read_trials

    trials = read_trials(args.file, positive=args.positive, needed_by="--one-run")
    if trials.model is not None and (n_models := len(set(trials.model.tolist()))) > 1:
        raise ValueError(f"{args.file}: holds {n_models} models; --one-run takes the rows of one.")
    return trials.score, trials.member


def _audits(args: argparse.Namespace, delta: float, scored: Any) -> dict[str, Any]:
    from bayesaudit import onerun

    forms = {
        "all-subset": ("all-subset", "gaussian"),
        "steinke": ("steinke", "gaussian"),
        "f-dp": ("f-dp", "gaussian"),
        "f-dp-epsilon-delta": ("f-dp", "epsilon-delta"),
    }
    if args.independent_canaries:
        forms["xiang"] = ("xiang", "gaussian")
        forms["xiang-epsilon-delta"] = ("xiang", "epsilon-delta")
    audits: dict[str, Any] = {}
    for name, (method, curve) in forms.items():
        options = {"delta": delta, "method": method, "curve": curve, "prob": args.prob}
        if scored is None:
            audits[name] = onerun.audit(
                n_canaries=args.canaries,
                n_guesses=args.guesses[0],
                n_correct=args.correct,
                **options,
            )
        else:
            audits[name] = onerun.audit_scores(*scored, guesses=args.guesses, **options)
    return audits


def estimate_one_run(
    args: argparse.Namespace, delta: float, scored: Any = None
) -> tuple[dict[str, Any], list[tuple[str, ...]], list[str]]:
    """Return the results, the rows of the table, and the warnings, at one delta."""
    audits = _audits(args, delta, scored)
    confidence = {name: result.to_dict() for name, result in audits.items()}
    results: dict[str, Any] = {
        "epsilon": {"credible": None, "credible_reason": NO_POSTERIOR, "confidence": confidence},
        "claim": None,
    }
    if args.claim is not None:
        p_values = {name: result.p_value(args.claim) for name, result in audits.items()}
        results["claim"] = {"epsilon": args.claim, "p_value": p_values}
    rows = [
        (
            name,
            "-" if found["lower"] is None else f"{found['lower']:.5f}",
            *([f"{results['claim']['p_value'][name]:.3g}"] if results["claim"] else []),
            found["assumption"],
        )
        for name, found in confidence.items()
    ]
    warnings = [
        f"{name} at delta {delta:g}: {found['reason']}."
        for name, found in confidence.items()
        if "reason" in found
    ]
    if args.independent_canaries:
        warnings.append(
            "xiang assumes independent canaries: a mechanism with dependent ones can exceed its "
            "level by any amount."
        )
    return results, rows, warnings


def run_one_run(args: argparse.Namespace) -> int:
    """Estimate from one run, print, and return the exit status."""
    from bayesaudit._checks import check_nonnegative, check_prob, check_probability
    from bayesaudit.cli._input import collected
    from bayesaudit.cli._output import emit_json, envelope, print_warnings

    _check_used(args)
    deltas = [check_probability(delta, "--delta") for delta in args.delta or [1e-5]]
    check_prob(args.prob, "--prob")
    if args.claim is not None:
        check_nonnegative(args.claim, "--claim")
    scored = None if args.file is None else _read_scores(args)
    with collected() as notes:
        estimates = [estimate_one_run(args, delta, scored) for delta in deltas]
    results = dict(estimates[0][0])
    if len(deltas) > 1:
        results["by_delta"] = [
            {"delta": delta, **found}
            for delta, (found, _, _) in zip(deltas, estimates, strict=True)
        ]
    notes += [note for _, _, found in estimates for note in found]
    warnings = list(dict.fromkeys(notes))
    best = results["epsilon"]["confidence"]["all-subset"]
    inputs = {
        "n_canaries": best["n_canaries"],
        "n_guesses": best["n_guesses"],
        "n_correct": best["n_correct"],
        "source": "arguments" if args.file is None else f"{args.file} (scores)",
        "delta": deltas[0] if len(deltas) == 1 else deltas,
        "prob": args.prob,
    }
    if scored is not None:
        inputs["guesses"] = [list(r) if isinstance(r, tuple) else r for r in args.guesses]
    if args.json:
        emit_json(envelope(inputs=inputs, results=results, warnings=warnings))
    else:
        _print(args, inputs, deltas, estimates)
    print_warnings(warnings)
    return 0


def _print(args: argparse.Namespace, inputs: dict, deltas: list[float], estimates: list) -> None:
    from bayesaudit.cli._output import format_table

    confidence = f"{(1 + args.prob) / 2:.4g}"
    print(
        f"one run: {inputs['n_canaries']} canaries, {inputs['n_guesses']} guesses, "
        f"{inputs['n_correct']} right"
        + (f"   best of {len(args.guesses)} declared rules" if len(args.guesses) > 1 else "")
    )
    for delta, (results, rows, _) in zip(deltas, estimates, strict=True):
        claim = [f"p of {args.claim:g}"] if results["claim"] else []
        header = (
            f"epsilon at delta {delta:g}",
            "lower",
            *claim,
            f"confidence {confidence}; assumes",
        )
        print()
        print(format_table(header, rows))
        lower = results["epsilon"]["confidence"]["all-subset"]["lower"]
        shown = (
            f"the training leaks at least epsilon {lower:.5f}" if lower > 0 else "no leak is shown"
        )
        print(
            f"With confidence {confidence} {shown} at delta {delta:g}, if fair coins put the "
            "canaries in and the guesses were declared beforehand."
        )

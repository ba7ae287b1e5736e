"""``bayesaudit estimate --threshold STRATEGY``: bounds from scores without a threshold."""

import argparse
from typing import Any

__all__ = ["STRATEGIES", "add_arguments", "check_unused", "is_strategy", "run_strategy"]

#: The names in `bayesaudit.thresholds.STRATEGIES` other than "fixed", which a number stands for.
STRATEGIES = ("band", "split", "multi-split", "bonferroni", "optimistic")
NO_POSTERIOR = (
    "the threshold was chosen on the rows that it is judged by, so that their counts have no "
    "simple likelihood; --threshold split keeps rows apart for a posterior"
)
LOWER_ONLY = "a choice among thresholds gives a lower bound"
PROMISES = {
    "band": "guaranteed, at all thresholds at once",
    "multi-split": "guaranteed, median of splits",
    "bonferroni": "asymptotic, best of a label-blind grid",
    "optimistic": "NOT A BOUND: threshold chosen on the same rows",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of threshold strategies."""
    group = parser.add_argument_group(
        "scores without a declared threshold",
        "--threshold band (guaranteed, no seed), split (choose on 30 %% of the rows or models, "
        "posterior and bounds from the others), multi-split, bonferroni, or optimistic (not a "
        "bound)",
    )
    group.add_argument(
        "--seed", type=int, metavar="N", help="seed of the splits, declared beforehand (default 0)"
    )


def is_strategy(threshold: str | None) -> bool:
    """Say whether --threshold names a strategy; refuse words that do not."""
    if threshold is None or threshold in STRATEGIES:
        return threshold is not None
    try:
        float(threshold)
    except ValueError:
        raise ValueError(
            f"--threshold must be a number, got {threshold!r}; or {', '.join(STRATEGIES)}."
        ) from None
    return False


def check_unused(args: argparse.Namespace) -> None:
    """Refuse options of strategies where there is none."""
    if args.seed is not None:
        raise ValueError("--seed needs --threshold split or another strategy.")


def run_strategy(args: argparse.Namespace) -> int:
    """Read scores, bound by the strategy, print, and return the exit status."""
    from bayesaudit._checks import check_nonnegative, check_prob, check_probability
    from bayesaudit.cli._input import collected, no_model_note
    from bayesaudit.cli._output import emit_json, envelope, print_warnings

    deltas = [check_probability(delta, "--delta") for delta in args.delta or [1e-5]]
    check_prob(args.prob, "--prob")
    if args.claim is not None:
        check_nonnegative(args.claim, "--claim")
    scores = _read(args)
    with collected() as notes:
        if scores.model is None:
            notes.append(no_model_note(args.file))
        found = [_estimate(args, scores, delta, notes) for delta in deltas]
    bounds = [bound for bound, _ in found]
    results = dict(found[0][1])
    if len(deltas) > 1:
        results["by_delta"] = [
            {"delta": delta, **result} for delta, (_, result) in zip(deltas, found, strict=True)
        ]
    if args.curve is not None:
        results["curve"] = _write_curve(args, scores, bounds[0])
    warnings = list(dict.fromkeys(notes))
    inputs = {
        "counts": None if bounds[0].counts is None else bounds[0].counts.to_dict(),
        "n_pos": scores.n_pos,
        "n_neg": scores.n_neg,
        "source": f"{args.file} (scores)",
        "delta": deltas[0] if len(deltas) == 1 else deltas,
        "prob": args.prob,
        "direction": "member",
        "prior": args.prior,
        "seed": bounds[0].random_seed,
    }
    if args.json:
        emit_json(envelope(inputs=inputs, results=results, warnings=warnings))
    else:
        for number, (delta, (bound, result)) in enumerate(zip(deltas, found, strict=True)):
            if number:
                print()
            _print(args, scores, bound, {"delta": delta, **result})
        if args.curve is not None:
            print(f"curve: {results['curve']['rows']} values of delta in {args.curve}")
    print_warnings(warnings)
    return 0


def _read(args: argparse.Namespace) -> Any:
    from bayesaudit.reading import read_attack
    from bayesaudit.scores import AttackScores

    for name in ("fn", "tp", "fp", "tn"):
        if getattr(args, name) is not None:
            raise ValueError(f"--threshold {args.threshold} takes scores, not --{name}.")
    if args.file is None:
        raise ValueError(f"--threshold {args.threshold} needs a file of scores.")
    scores = read_attack(args.file, positive=args.positive)
    if not isinstance(scores, AttackScores):
        raise ValueError(f"{args.file}: holds counts or guesses, which take no --threshold.")
    return scores


def _estimate(
    args: argparse.Namespace, scores: Any, delta: float, notes: list[str]
) -> tuple[Any, dict]:
    """Return the bound, and the results at one delta as the JSON holds them."""
    from bayesaudit.measures import Epsilon
    from bayesaudit.thresholds import threshold_bound

    bound = threshold_bound(
        scores,
        Epsilon(delta, "member"),
        args.prob,
        strategy=args.threshold,
        random_seed=0 if args.seed is None else args.seed,
        prior=args.prior,
    )
    notes += bound.warnings
    result = (
        _split(args, bound, delta, notes) if args.threshold == "split" else _chosen(args, bound)
    )
    return bound, {**result, "threshold": _threshold(bound)}


def _split(args: argparse.Namespace, bound: Any, delta: float, notes: list[str]) -> dict:
    """Everything that a declared threshold allows, on the rows that did not choose it.

    The lower credible end is that of the two-direction bound, which is below the equal-tailed one,
    so that the interval holds at least its mass.
    """
    from bayesaudit.cli._estimate import estimate

    declared = argparse.Namespace(**{**vars(args), "direction": "member"})
    result = estimate(declared, bound.counts, delta, notes)
    credible = result["epsilon"]["credible"]
    credible["joint_lower"] = credible["lower"]
    credible["lower"] = bound.lower
    credible["lower_method"] = "two-direction"
    return result


def _chosen(args: argparse.Namespace, bound: Any) -> dict:
    entry = {
        "lower": bound.lower,
        "upper": None,
        "upper_reason": LOWER_ONLY,
        "guarantee": bound.guarantee,
        "is_bound": bound.is_bound,
    }
    claim = None
    if args.claim is not None:
        claim = {
            "epsilon": args.claim,
            "prob_above": None,
            "prob_above_reason": NO_POSTERIOR,
            "refuted": bound.is_bound and bound.lower > args.claim,
        }
    epsilon = {
        "credible": None,
        "credible_reason": NO_POSTERIOR,
        "confidence": {bound.method: entry},
    }
    return {"epsilon": epsilon, "claim": claim}


def _threshold(bound: Any) -> dict:
    found = bound.to_dict()
    block = {"strategy": found["strategy"], "value": found["threshold"]}
    if found["threshold"] is None:
        several = bound.threshold is None
        block["value_reason"] = (
            "every split has its own"
            if several
            else "no row reaches it: nobody is guessed a member"
        )
    return block | {key: found[key] for key in ("is_bound", "guarantee", "n_selection", "counts")}


def _write_curve(args: argparse.Namespace, scores: Any, bound: Any) -> dict:
    from bayesaudit.cli._curve import curve_deltas, write_columns, write_curve

    if args.threshold == "split":
        return write_curve(args, bound.counts, direction="member")
    if args.threshold != "band":
        raise ValueError("--curve goes with counts, a declared threshold, split or band.")
    from bayesaudit.measures import Epsilon
    from bayesaudit.thresholds import confidence_band

    band = confidence_band(scores, args.prob)
    deltas = curve_deltas(args)
    best = [band.best(Epsilon(delta, "member")) for delta in deltas]
    columns = {
        "delta": deltas,
        "lower": [lower for lower, _ in best],
        "threshold": [float(band.roc.threshold[index]) for _, index in best],
    }
    return write_columns(args.curve, columns)


# -- for a person --------------------------------------------------------------------------------


def _print(args: argparse.Namespace, scores: Any, bound: Any, result: dict) -> None:
    from bayesaudit.cli._estimate import print_one
    from bayesaudit.cli._output import format_table

    print(_head(scores, bound))
    print()
    if args.threshold == "split":
        print_one(result, args.prob)
        return
    delta = result["delta"]
    confidence = f"{(1 + args.prob) / 2:.4g}"
    rows = [(bound.method, f"{bound.lower:.5f}", PROMISES[args.threshold])]
    print(format_table((f"epsilon at delta {delta:g}", "lower", f"confidence {confidence}"), rows))
    if not bound.is_bound:
        print(
            f"{bound.lower:.5f} is the best over all thresholds on the same rows: not a bound, and "
            "not to be quoted as one."
        )
        return
    if result["claim"] is not None and result["claim"]["refuted"]:
        print(f"The claim of epsilon {args.claim:g} is refuted at this confidence.")
    shown = (
        f"the training leaks at least epsilon {bound.lower:.5f}"
        if bound.lower > 0
        else "no leak is shown"
    )
    print(f"With confidence {confidence} {shown} at delta {delta:g}, if rows are independent.")


def _head(scores: Any, bound: Any) -> str:
    head = f"{bound.strategy}: {scores.n_pos} members, {scores.n_neg} non-members"
    if bound.threshold is None:
        return f"{head}, every split with its own threshold   direction member"
    counts = bound.counts.to_dict()
    part = f" on the {len(scores) - bound.n_selection} rows left" if bound.n_selection else ""
    return (
        f"{head}\nmember iff score >= {bound.threshold:g}: FN {counts['fn']}, FP {counts['fp']}, "
        f"TP {counts['tp']}, TN {counts['tn']}{part}   direction member"
    )

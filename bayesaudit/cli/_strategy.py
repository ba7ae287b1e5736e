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
#: False positive rates whose TPR is reported.
LOW_FPR = (0.001, 0.01)
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
        "--threshold band (guaranteed, no seed), split (choose on 30 % of the rows or models, "
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
    from bayesaudit.cli._output import emit_json, print_warnings

    deltas = [check_probability(delta, "--delta") for delta in args.delta or [1e-5]]
    check_prob(args.prob, "--prob")
    if args.claim is not None:
        check_nonnegative(args.claim, "--claim")
    if args.curve is not None and args.threshold not in ("split", "band"):
        raise ValueError("--curve goes with counts, a declared threshold, split or band.")
    # The scores declare the direction: higher means member.
    args = argparse.Namespace(**{**vars(args), "direction": "member"})
    scores = _read(args)
    with collected() as notes:
        if scores.model is None:
            notes.append(no_model_note(args.file))
        if args.threshold == "split":
            document, bounds = _split(args, scores, deltas, notes)
        else:
            document, bounds = _chosen(args, scores, deltas, notes)
        document["inputs"] |= {
            "n_pos": scores.n_pos,
            "n_neg": scores.n_neg,
            "seed": bounds[0].random_seed,
        }
        document["results"]["roc"] = _roc(scores)
        if args.curve is not None:
            document["results"]["curve"] = _write_curve(args, scores, bounds[0])
    document["warnings"] = list(dict.fromkeys(notes))
    if args.json:
        emit_json(document)
    else:
        _print(args, document, bounds)
    print_warnings(document["warnings"])
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


def _level(args: argparse.Namespace) -> float:
    """Return the level of a bound from all rows, which declared looks share."""
    if args.looks is None or args.threshold == "split":
        return args.prob
    if args.looks == "anytime":
        raise ValueError(f"--looks anytime does not go with --threshold {args.threshold}.")
    from bayesaudit.calibration.sequential import looks_prob

    return looks_prob(args.prob, args.looks)


def _bound(args: argparse.Namespace, scores: Any, delta: float) -> Any:
    from bayesaudit.measures import Epsilon
    from bayesaudit.thresholds import threshold_bound

    return threshold_bound(
        scores,
        Epsilon(delta, "member"),
        _level(args),
        strategy=args.threshold,
        random_seed=0 if args.seed is None else args.seed,
        prior=args.prior,
    )


def _split(
    args: argparse.Namespace, scores: Any, deltas: list[float], notes: list[str]
) -> tuple[dict, list[Any]]:
    """Everything that a declared threshold allows, on the rows that did not choose it.

    The threshold is chosen for the first delta. The lower credible end is that of the two-direction
    bound, which is below the equal-tailed one, so that the interval holds at least its mass.
    """
    from bayesaudit.cli._estimate import _document
    from bayesaudit.cli._input import AttackInput
    from bayesaudit.posteriors.two_direction import two_direction_bound

    bound = _bound(args, scores, deltas[0])
    notes += bound.warnings
    rows, grouped = bound.rows, scores.model is not None
    counts = rows.counts_by_model(bound.threshold) if grouped else bound.counts
    attack = AttackInput(counts, grouped, f"{args.file} (scores)", [], bound.threshold)
    document = _document(args, attack, bound.counts, deltas, notes)
    results = document["results"]
    for delta, result in zip(deltas, results.get("by_delta", [results]), strict=True):
        credible = result["epsilon"]["credible"]
        lower = two_direction_bound(bound.counts, delta, args.prob, prior=args.prior).lower
        if credible.get("lower_method") is None:
            credible |= {"joint_lower": credible["lower"], "lower_method": "two-direction"}
        credible["lower"] = float(lower)
        dependent = result["epsilon"].get("dependent")
        if dependent is not None:
            dependent |= {"joint_lower": dependent["lower"], "lower_method": "two-direction"}
            companion = dependent["uniform_icc"]
            for place, icc_prior in ((dependent, args.icc_prior), (companion, "uniform")):
                lower = two_direction_bound(
                    counts,
                    delta,
                    args.prob,
                    prior=args.prior,
                    dependence="beta-binomial",
                    icc_prior=icc_prior,
                ).lower
                place["lower"] = float(lower)
    results["threshold"] = _threshold(bound)
    return document, [bound]


def _chosen(
    args: argparse.Namespace, scores: Any, deltas: list[float], notes: list[str]
) -> tuple[dict, list[Any]]:
    """One bound a delta, from all rows."""
    from bayesaudit.cli._output import envelope

    bounds = [_bound(args, scores, delta) for delta in deltas]
    for bound in bounds:
        notes += bound.warnings
    found = [_result(args, bound) for bound in bounds]
    results = dict(found[0])
    if len(deltas) > 1:
        results["by_delta"] = [
            {"delta": delta, **result} for delta, result in zip(deltas, found, strict=True)
        ]
    counts = bounds[0].counts
    inputs = {
        "counts": None if counts is None else counts.to_dict(),
        "source": f"{args.file} (scores)",
        "delta": deltas[0] if len(deltas) == 1 else deltas,
        "prob": args.prob,
        "direction": args.direction,
        "prior": args.prior,
    }
    return envelope(inputs=inputs, results=results, warnings=[]), bounds


def _result(args: argparse.Namespace, bound: Any) -> dict:
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
    return {"epsilon": epsilon, "claim": claim, "threshold": _threshold(bound)}


def _roc(scores: Any) -> dict:
    curve = scores.roc()
    points = [curve.tpr_at_fpr(fpr) for fpr in LOW_FPR]
    return {"auc": curve.auc, "tpr_at_fpr": [point.to_dict() for point in points]}


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
    from bayesaudit.measures import Epsilon
    from bayesaudit.thresholds import confidence_band

    band = confidence_band(scores, _level(args))
    deltas = curve_deltas(args)
    best = [band.best(Epsilon(delta, "member")) for delta in deltas]
    columns = {
        "delta": deltas,
        "lower": [lower for lower, _ in best],
        "threshold": [float(band.roc.threshold[index]) for _, index in best],
    }
    return write_columns(args.curve, columns)


# -- for a person --------------------------------------------------------------------------------


def _print(args: argparse.Namespace, document: dict, bounds: list[Any]) -> None:
    inputs, results = document["inputs"], document["results"]
    print(f"{args.threshold}: {inputs['n_pos']} members, {inputs['n_neg']} non-members")
    print(_roc_line(results["roc"]))
    if args.threshold == "split":
        from bayesaudit.cli._estimate import _print as print_estimate

        left = inputs["n_pos"] + inputs["n_neg"] - bounds[0].n_selection
        print(
            f"member iff score >= {bounds[0].threshold:g}, on the {left} rows that did not choose"
        )
        print_estimate(document, args)
    else:
        for bound, result in zip(bounds, results.get("by_delta", [results]), strict=True):
            print()
            _print_bound(args, bound, result["claim"])
    if args.curve is not None:
        print(f"curve: {results['curve']['rows']} values of delta in {args.curve}")


def _roc_line(roc: dict) -> str:
    points = [
        f"TPR {point['tpr']:.4g} at FPR {point['fpr']:.4g} (<= {point['requested_fpr']:g})"
        for point in roc["tpr_at_fpr"]
    ]
    return f"AUC {roc['auc']:.4f}, {', '.join(points)}"


def _print_bound(args: argparse.Namespace, bound: Any, claim: dict | None) -> None:
    from bayesaudit.cli._output import format_table

    delta, confidence = bound.measure.delta, f"{(1 + args.prob) / 2:.4g}"
    if bound.threshold is None:
        print("every split has its own threshold   direction member")
    else:
        cells = ", ".join(
            f"{name.upper()} {count}" for name, count in bound.counts.to_dict().items()
        )
        print(f"member iff score >= {bound.threshold:g}: {cells}   direction member")
    rows = [(bound.method, f"{bound.lower:.5f}", PROMISES[args.threshold])]
    print(format_table((f"epsilon at delta {delta:g}", "lower", f"confidence {confidence}"), rows))
    if not bound.is_bound:
        print(
            f"{bound.lower:.5f} is the best over all thresholds on the same rows: not a bound, and "
            "not to be quoted as one."
        )
        return
    if claim is not None and claim["refuted"]:
        print(f"The claim of epsilon {args.claim:g} is refuted at this confidence.")
    shown = (
        f"the training leaks at least epsilon {bound.lower:.5f}"
        if bound.lower > 0
        else "no leak is shown"
    )
    print(f"With confidence {confidence} {shown} at delta {delta:g}, if rows are independent.")

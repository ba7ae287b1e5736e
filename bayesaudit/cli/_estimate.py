"""``bayesaudit estimate``: the exact posterior of epsilon beside the classical intervals."""

import argparse
from typing import Any

from bayesaudit.cli import _curve, _strategy
from bayesaudit.cli._confidence import (
    add_looks_argument,
    confidence_lines,
    guaranteed_lower,
)
from bayesaudit.cli._dependence import add_dependence_arguments, check_dependence_arguments
from bayesaudit.cli._input import (
    AttackInput,
    add_input_arguments,
    add_question_arguments,
    collected,
    read_input,
)
from bayesaudit.cli._onerun_options import add_arguments, check_unused, run_one_run

__all__ = ["add_parser", "run"]

EPILOG = """\
examples:
  bayesaudit estimate --fn 35 --tp 65 --fp 25 --tn 75 --delta 1e-5
  bayesaudit estimate scores.csv --threshold 0.5 --delta 0 --claim 2 --json
  bayesaudit estimate scores.csv --threshold band --curve curve.csv
  bayesaudit estimate --one-run --canaries 1000 --guesses 200 --correct 150 --delta 1e-5
"""
#: Where the folded interval and that of the declared direction are the same to a reader.
SAME = 1e-6


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
    _strategy.add_arguments(parser)
    add_looks_argument(parser)
    add_dependence_arguments(parser)
    add_arguments(parser)
    _curve.add_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the input, estimate, print; return the exit status."""
    if args.one_run:
        _strategy.check_unused(args)
        _curve.check_unused(args)
        return run_one_run(args)
    check_unused(args)
    if _strategy.is_strategy(args.threshold):
        return _strategy.run_strategy(args)
    _strategy.check_unused(args)
    from bayesaudit._checks import check_nonnegative, check_prob, check_probability
    from bayesaudit.cli._output import emit_json, print_warnings

    deltas = [check_probability(delta, "--delta") for delta in args.delta or [1e-5]]
    check_prob(args.prob, "--prob")
    if args.claim is not None:
        check_nonnegative(args.claim, "--claim")
    attack = read_input(args)
    check_dependence_arguments(args, attack.per_model)
    with collected() as notes:
        notes += attack.warnings
        tallies = _tallies(attack)
        documents = [_document(args, attack, tally, deltas, notes) for tally in tallies]
        if args.curve is not None:
            if len(tallies) > 1:
                raise ValueError(f"--curve takes a single tally, got {len(tallies)}.")
            curve = _curve.write_curve(args, tallies[0], direction=args.direction)
            documents[0]["results"]["curve"] = curve
    for document in documents:
        document["warnings"] = list(dict.fromkeys(notes))
    if args.json:
        emit_json(documents[0] if len(documents) == 1 else _many(documents))
    else:
        for number, document in enumerate(documents):
            if number:
                print()
            _print(document, args)
        if args.curve is not None:
            print(f"curve: {curve['rows']} values of delta in {args.curve}")
    print_warnings(documents[0]["warnings"])
    return 0


def _tallies(attack: AttackInput) -> list[Any]:
    if attack.per_model:
        return [attack.counts.pooled()]
    if not attack.counts.shape:
        return [attack.counts]
    return [attack.counts[i] for i in range(attack.counts.shape[0])]


def _many(documents: list[dict]) -> dict:
    """One object for a file with several tallies: the first one's shape, results in a list."""
    first = documents[0]
    inputs = {**first["inputs"], "counts": [doc["inputs"]["counts"] for doc in documents]}
    return {
        **first,
        "inputs": inputs,
        "results": {"tallies": [doc["results"] for doc in documents]},
    }


def _document(
    args: argparse.Namespace,
    attack: AttackInput,
    counts: Any,
    deltas: list[float],
    notes: list[str],
) -> dict:
    """Return the JSON object of one tally, all deltas."""
    from bayesaudit.cli._output import envelope

    by_delta = [_estimate(args, counts, delta, notes) for delta in deltas]
    if attack.per_model:
        dependence = _add_dependence(args, attack.counts, deltas, by_delta)
    results = dict(by_delta[0])
    if attack.per_model:
        results["dependence"] = dependence
    if attack.threshold is not None:
        results["threshold"] = {
            "strategy": "fixed",
            "value": attack.threshold,
            "is_bound": True,
        }
    if len(deltas) > 1:
        results["by_delta"] = [
            {"delta": delta, **result} for delta, result in zip(deltas, by_delta, strict=True)
        ]
    inputs = {
        "counts": counts.to_dict(),
        "source": attack.source,
        "delta": deltas[0] if len(deltas) == 1 else deltas,
        "prob": args.prob,
        "direction": args.direction,
        "prior": args.prior,
        **({"looks": args.looks} if args.looks is not None else {}),
    }
    return envelope(inputs=inputs, results=results, warnings=[])


def _add_dependence(
    args: argparse.Namespace, counts: Any, deltas: list[float], by_delta: list[dict]
) -> dict:
    """Add the dependent intervals, and return what the data say of dependence."""
    from bayesaudit.cli._dependence import (
        clustered_confidence,
        dependence_results,
        dependent_epsilon,
    )
    from bayesaudit.measures import Epsilon

    priors = {"prior": args.prior, "icc_prior": args.icc_prior}
    for delta, result in zip(deltas, by_delta, strict=True):
        measure = Epsilon(delta, args.direction)
        epsilon = result["epsilon"]
        epsilon["dependent"] = dependent_epsilon(counts, measure, args.prob, args.claim, **priors)
        if args.looks is None:
            epsilon["confidence"] |= clustered_confidence(counts, measure, args.prob)
    measure = Epsilon(deltas[0], args.direction)
    return dependence_results(counts, measure, args.prob, **priors)


def _estimate(args: argparse.Namespace, counts: Any, delta: float, notes: list[str]) -> dict:
    """Return the results for one tally at one delta, as the JSON holds them."""
    from bayesaudit.measures import Epsilon
    from bayesaudit.posteriors import posterior

    measure = Epsilon(delta, args.direction)
    post = posterior(counts, measure, prior=args.prior)
    epsilon: dict[str, Any] = {"credible": post.to_dict(args.prob)}
    if args.direction == "both":
        member = posterior(counts, Epsilon(delta, "member"), prior=args.prior).to_dict(args.prob)
        if any(abs(member[end] - epsilon["credible"][end]) > SAME for end in ("lower", "upper")):
            epsilon["credible_member"] = member
            notes.append(
                "the attack is near chance or worse: epsilon-hat of direction both folds the two "
                "directions, so its lower end is positive also for a coin flip; the interval of "
                "the declared direction stands beside it."
            )
    epsilon["confidence"] = confidence_lines(args, counts, measure, notes)
    claim = None
    if args.claim is not None:
        claim = {"epsilon": args.claim, "prob_above": float(post.prob_above(args.claim))}
    return {"epsilon": epsilon, "claim": claim}


# -- for a person --------------------------------------------------------------------------------


def _print(document: dict, args: argparse.Namespace) -> None:
    """Print the estimates of one tally."""
    counts, results = document["inputs"]["counts"], document["results"]
    print(
        f"FN {counts['fn']}, FP {counts['fp']}, TP {counts['tp']}, TN {counts['tn']}"
        f"   direction {args.direction}, prior {_shown_prior(args.prior)}"
    )
    deltas = document["inputs"]["delta"]
    pairs = results.get("by_delta") or [{"delta": deltas, **results}]
    for pair in pairs:
        print()
        _print_one(pair, args.prob)
    if "dependence" in results:
        from bayesaudit.cli._dependence import dependence_lines

        print()
        print("\n".join(dependence_lines(results["dependence"], args.prob)))


def _print_one(result: dict, prob: float) -> None:
    from bayesaudit.cli._output import format_table

    epsilon, delta = result["epsilon"], result["delta"]
    credible = epsilon["credible"]
    promise = "credible: holds this posterior mass"
    if "lower_method" in credible:
        promise = f"credible: at least this mass, lower end {credible['lower_method']}"
    dependent = epsilon.get("dependent")
    if dependent is not None:
        promise += ", if all trials are independent"
    rows = [("exact posterior", *_ends(credible), promise)]
    if "credible_member" in epsilon:
        promise = "credible, of the declared direction alone"
        rows.append(("  direction member", *_ends(epsilon["credible_member"]), promise))
    if dependent is not None:
        from bayesaudit.cli._dependence import dependent_rows

        rows += dependent_rows(dependent)
    promises = {
        "guaranteed": "confidence, guaranteed if trials are independent",
        "asymptotic": "confidence, asymptotic",
        "posterior": "rectangle of posterior intervals, rate by rate",
    }
    clustered = {
        "cluster-bootstrap": "confidence, approximate: whole models resampled",
        "xbern": "confidence, asymptotic in the number of models",
    }
    for method, found in epsilon["confidence"].items():
        promise = clustered.get(method) or promises[found["guarantee"]]
        rows.append((method, *_ends(found), promise))
    header = (f"epsilon at delta {delta:g}", "lower", "upper", f"{100 * prob:g} % interval")
    print(format_table(header, rows))
    line = f"median {credible['median']:.5f}, mean {credible['mean']:.5f}"
    if credible["prob_zero"] >= 1e-4:
        line += f", P(epsilon-hat = 0 | data) = {credible['prob_zero']:.3g}"
    if dependent is not None:
        line += f" (independent); median {dependent['median']:.5f} (beta-binomial)"
    print(line)
    if result["claim"] is not None:
        claim = result["claim"]
        line = f"P(epsilon-hat > {claim['epsilon']:g} | data) = {claim['prob_above']:.6g}"
        if dependent is not None:
            line += f" (independent), {dependent['prob_above_claim']:.6g} (beta-binomial)"
        print(line)
    print(_conclusion(epsilon, delta, prob))


def _conclusion(epsilon: dict, delta: float, prob: float) -> str:
    if "dependent" in epsilon:
        return _dependent_conclusion(epsilon["dependent"], delta, prob)
    shown = epsilon.get("credible_member", epsilon["credible"])
    guaranteed = guaranteed_lower(epsilon["confidence"])
    one_sided = f"{(1 + prob) / 2:.4g}"
    least = "at least " if "lower_method" in shown else ""
    text = (
        f"Given these counts, epsilon-hat lies in [{shown['lower']:.5f}, {shown['upper']:.5f}] "
        f"with posterior probability {least}{prob:g}"
    )
    if guaranteed > 0:
        return (
            f"{text}; with confidence {one_sided} the training leaks at least epsilon "
            f"{guaranteed:.5f} at delta {delta:g}."
        )
    return f"{text}; with confidence {one_sided} no leak is shown at delta {delta:g}."


def _dependent_conclusion(dependent: dict, delta: float, prob: float) -> str:
    interval = f"[{dependent['lower']:.5f}, {dependent['upper']:.5f}]"
    if dependent["prior_driven"]:
        return (
            f"One trained model does not identify the correlation of its trials: the interval "
            f"{interval} at delta {delta:g} is prior-driven."
        )
    least = "at least " if "lower_method" in dependent else ""
    return (
        f"Allowing for dependence within a trained model, epsilon-hat lies in {interval} with "
        f"posterior probability {least}{prob:g} at delta {delta:g}."
    )


def _ends(interval: dict) -> tuple[str, str]:
    return tuple(f"{interval[end]:.5f}" for end in ("lower", "upper"))


def _shown_prior(prior: Any) -> str:
    if isinstance(prior, dict):
        return ", ".join(f"{rate} Beta({a:g}, {b:g})" for rate, (a, b) in prior.items())
    return prior if isinstance(prior, str) else f"Beta({prior[0]:g}, {prior[1]:g})"

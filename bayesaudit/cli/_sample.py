"""``bayesaudit sample``: draws beside the exact posterior, and a verdict on both."""

import argparse
from pathlib import Path
from typing import Any

from bayesaudit.cli._confidence import add_looks_argument
from bayesaudit.cli._dependence import add_dependence_arguments, check_dependence_arguments
from bayesaudit.cli._estimate import _document, _many, _tallies
from bayesaudit.cli._input import (
    add_input_arguments,
    add_question_arguments,
    collected,
    read_input,
)
from bayesaudit.cli._sample_model import (
    add_candidate,
    add_model_argument,
    chosen_model,
    draw_model,
    reference,
)

__all__ = ["add_parser", "print_verdicts", "run", "verdicts"]

EPILOG = """\
examples:
  bayesaudit sample --fn 35 --tp 65 --fp 25 --tn 75 --delta 1e-5 --seed 1
  bayesaudit sample counts.csv --method nuts --out run.nc --strict
  bayesaudit sample per_model.csv --model mypackage.models:logit_normal --seed 1
"""


def add_parser(commands: Any, summary: str) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "sample",
        help=summary,
        description="Draw from the posterior, cross-check the draws against quadrature, and "
        "diagnose them.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(parser)
    add_question_arguments(parser)
    add_looks_argument(parser)
    add_dependence_arguments(parser)
    group = parser.add_argument_group("sampling")
    group.add_argument(
        "--method",
        choices=("conjugate", "nuts"),
        help="conjugate: draw the Beta posteriors directly, all trials independent; nuts: by "
        "Markov chains (default conjugate; nuts with --model or a model column)",
    )
    add_model_argument(group)
    group.add_argument("--draws", type=int, default=2000, metavar="N", help="draws of every chain")
    group.add_argument("--chains", type=int, default=4, metavar="N", help="number of chains")
    group.add_argument("--tune", type=int, default=1000, metavar="N", help="tuning draws (nuts)")
    group.add_argument(
        "--target-accept",
        type=float,
        metavar="P",
        help="acceptance rate (nuts; default 0.9, and 0.99 for data of one model)",
    )
    group.add_argument(
        "--sampler", choices=("nutpie", "pymc"), default="nutpie", help="who runs nuts"
    )
    group.add_argument(
        "--seed", type=int, metavar="N", help="seed; without one, a fresh one is printed"
    )
    group.add_argument("--out", metavar="RUN.nc", help="write the draws as netCDF")
    add_output_arguments(parser)
    parser.set_defaults(run=run)


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `sample` and `diagnose` share."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if a check or diagnostic failed"
    )


def run(args: argparse.Namespace) -> int:
    """Read the input, sample, check, print; return the exit status."""
    from bayesaudit._checks import check_nonnegative, check_prob, check_probability
    from bayesaudit.cli._output import emit_json, print_warnings

    deltas = [check_probability(delta, "--delta") for delta in args.delta or [1e-5]]
    check_prob(args.prob, "--prob")
    if args.claim is not None:
        check_nonnegative(args.claim, "--claim")
    if args.out is not None and not Path(args.out).parent.is_dir():
        raise ValueError(f"{args.out}: must be in a directory that exists.")
    attack = read_input(args)
    check_dependence_arguments(args, attack.per_model)
    name = chosen_model(args, attack.per_model)
    if name is not None or args.method is None:
        args.method = "conjugate" if name is None else "nuts"
    with collected() as notes:
        notes += attack.warnings
        tallies = _tallies(attack)
        if name is not None and len(tallies) > 1:
            raise ValueError("--model takes one audit: one tally, or counts with a model column.")
        documents = [_document(args, attack, tally, deltas, notes) for tally in tallies]
        dt = _draw(args, attack, name)
        for number, (document, counts) in enumerate(zip(documents, tallies, strict=True)):
            one = _of_tally(dt, number, counts) if dt["posterior"].dataset["fnr"].ndim > 2 else dt
            exact = reference(args, name, attack) if attack.per_model else (counts, {})
            if name is not None and not attack.per_model:
                exact = (counts, {}) if name == "independent" else None
            _add_verdicts(args, document, one, deltas, exact)
            if (
                name is not None
                and attack.per_model
                and name not in ("independent", "beta_binomial")
            ):
                add_candidate(args, name, attack, dt, document["results"], notes)
    if args.out is not None:
        from bayesaudit.sampling import save

        save(dt, args.out)
    for document in documents:
        document["warnings"] = list(dict.fromkeys(notes))
        document["inputs"] |= _settings(args, dt)
    if args.json:
        emit_json(documents[0] if len(documents) == 1 else _many(documents))
    else:
        for number, document in enumerate(documents):
            if number:
                print()
            _print(document, args)
    print_warnings(documents[0]["warnings"])
    sound = all(_sound(document["results"]) for document in documents)
    return 0 if sound or not args.strict else 1


def _draw(args: argparse.Namespace, attack: Any, name: str | None) -> Any:
    from bayesaudit.sampling import sample

    if name is not None:
        counts = attack.counts
        if not attack.per_model and counts.shape:
            counts = counts[0]
        return draw_model(args, name, counts, attack.per_model)
    return sample(
        attack.counts.pooled() if attack.per_model else attack.counts,
        prior=args.prior,
        method=args.method,
        draws=args.draws,
        tune=args.tune,
        chains=args.chains,
        target_accept=0.9 if args.target_accept is None else args.target_accept,
        random_seed=args.seed,
        sampler=args.sampler,
        progress=False if args.json else None,
    )


def _settings(args: argparse.Namespace, dt: Any) -> dict[str, Any]:
    settings = {"method": args.method, "draws": args.draws, "chains": args.chains}
    if args.method == "nuts":
        settings |= {
            "tune": args.tune,
            "target_accept": float(dt.attrs["target_accept"]),
            "sampler": args.sampler,
            "model": dt.attrs["model"],
        }
    return settings | {"seed": int(dt.attrs["random_seed"])}


def _of_tally(dt: Any, number: int, counts: Any) -> Any:
    """Return the tree of one tally of many."""
    import json

    import xarray as xr

    groups = {
        node.path: data.isel(tally=number, drop=True) if "tally" in data.dims else data
        for node in dt.subtree
        for data in [node.to_dataset(inherit=False)]
    }
    one = xr.DataTree.from_dict(groups)
    one.attrs = {**dt.attrs, "counts": json.dumps(counts.to_dict())}
    return one


def _add_verdicts(
    args: argparse.Namespace,
    document: dict,
    dt: Any,
    deltas: list[float],
    exact: tuple[Any, dict] | None,
) -> None:
    results = document["results"]
    places = results["by_delta"] if "by_delta" in results else [results]
    counts, options = exact or (None, {})
    found = [verdicts(dt, delta, args, counts, args.prior, **options) for delta in deltas]
    for place, (draws, parts) in zip(places, found, strict=True):
        place["epsilon"] = {**place["epsilon"], "draws": draws}
        place |= parts
    if "by_delta" in results:
        results["epsilon"] = places[0]["epsilon"]
        results |= found[0][1]


def verdicts(
    dt: Any, delta: float, args: argparse.Namespace, counts: Any, prior: Any, **options: Any
) -> tuple[dict, dict]:
    """Return the summary of the draws at one delta, and the two verdicts.

    Parameters
    ----------
    dt : xarray.DataTree
        The draws of one tally.
    delta : float
        Of (epsilon, delta)-DP.
    args : argparse.Namespace
        With `direction` and `prob`.
    counts : AttackCounts or None
        What to compute the exact posterior from; None where there is none.
    prior : str, tuple or dict
        Its prior.
    **options
        How trials of one model depend on each other (see `bayesaudit.posterior`).
    """
    from bayesaudit.diagnostics import cross_check, diagnose
    from bayesaudit.measures import Epsilon
    from bayesaudit.posteriors import posterior

    measure = Epsilon(delta, args.direction)
    draws = posterior(dt, measure)
    check = None
    if counts is not None:
        exact = posterior(counts, measure, prior=prior, **options)
        check = cross_check(draws, exact).to_dict()
    return draws.to_dict(args.prob), {
        "cross_check": check,
        "diagnostics": diagnose(dt, measure, prob=args.prob).to_dict(),
    }


def _sound(results: dict) -> bool:
    places = results.get("by_delta", [results])
    return all(
        (place["cross_check"] is None or place["cross_check"]["passed"])
        and place["diagnostics"]["passed"]
        for place in places
    )


# -- for a person --------------------------------------------------------------------------------


def _print(document: dict, args: argparse.Namespace) -> None:
    inputs, results = document["inputs"], document["results"]
    counts = inputs["counts"]
    print(
        f"FN {counts['fn']}, FP {counts['fp']}, TP {counts['tp']}, TN {counts['tn']}   "
        f"{inputs['chains']} chains of {inputs['draws']} draws, method {inputs['method']}, "
        f"seed {inputs['seed']}"
    )
    deltas = inputs["delta"]
    for place in results.get("by_delta") or [{"delta": deltas, **results}]:
        print()
        print_verdicts(place, args.prob)
        if place.get("claim") is not None:
            claim = place["claim"]
            print(f"P(epsilon-hat > {claim['epsilon']:g} | data) = {claim['prob_above']:.6g}")
    if "dependence" in results:
        from bayesaudit.cli._dependence import dependence_lines

        print()
        print("\n".join(dependence_lines(results["dependence"], args.prob)))


def print_verdicts(result: dict, prob: float) -> None:
    """Print the intervals, the cross-check and the diagnostics at one delta."""
    from bayesaudit.cli._output import format_table

    epsilon, names = result["epsilon"], ("lower", "median", "upper", "mean")
    rows = []
    if "credible" in epsilon:
        exact = [f"{epsilon['credible'][name]:.5f}" for name in names]
        assumed = ", if all trials are independent" if "dependent" in epsilon else ""
        rows.append(("exact posterior", *exact, f"credible, by quadrature{assumed}"))
    dependent = epsilon.get("beta_binomial", epsilon.get("dependent"))
    if dependent is not None:
        exact = [f"{dependent[name]:.5f}" for name in names]
        promise = "prior-driven" if dependent["prior_driven"] else "by quadrature"
        rows.append(("beta-binomial", *exact, f"credible, {promise}, trials of a model dependent"))
    draws = epsilon["draws"]
    rows.append(("draws", *(_number(draws[name]) for name in names), "credible, by Monte Carlo"))
    errors = [_number(draws["mcse"][name]) for name in names]
    rows.append(("  their error", *errors, "Monte Carlo standard error"))
    header = (f"epsilon at delta {result['delta']:g}", *names, f"{100 * prob:g} % interval")
    print(format_table(header, rows))
    check = result["cross_check"]
    if check is not None:
        print(f"cross-check {'passed' if check['passed'] else 'FAILED'}: {check['reason']}.")
    _print_diagnostics(result["diagnostics"])


def _print_diagnostics(found: dict) -> None:
    checks = found["checks"]
    failed = [check for check in checks if check["verdict"] == "failed"]
    cautions = [check for check in checks if check["verdict"] == "caution"]
    shown = {"rhat": "R-hat {:.4g}", "ess_lower": "ESS at the ends {:.0f}", "ess_upper": "{:.0f}"}
    facts = [
        text.format(check["value"])
        for name, text in shown.items()
        for check in checks
        if check["name"] == name and check["value"] is not None
    ]
    facts += [
        f"{check['value']:.0f} divergences" for check in checks if check["name"] == "divergences"
    ]
    verdict = f"FAILED {len(failed)} of {len(checks)} checks" if failed else "passed"
    if cautions:
        verdict += f", {len(cautions)} caution{'s' if len(cautions) > 1 else ''}"
    print(f"diagnostics {verdict}: {', '.join(facts) or f'{len(checks)} checks'}.")
    for check in failed + cautions:
        value = "not a number" if check["value"] is None else f"{check['value']:.4g}"
        where = f" ({check['where']})" if check["where"] else ""
        print(f"  {check['name']} = {value}{where}, threshold {check['threshold']:g}:")
        detail = f" ({check['detail']})" if check["detail"] else ""
        print(f"    {check['meaning']}{detail}; {check['remedy']}.")


def _number(value: float | None) -> str:
    return "inf" if value is None else f"{value:.5f}"

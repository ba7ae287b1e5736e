"""Per-model data on the command line: independent and dependent intervals side by side."""

import argparse
from typing import Any

__all__ = [
    "add_dependence_arguments",
    "check_dependence_arguments",
    "dependence_lines",
    "dependence_results",
    "dependent_epsilon",
    "dependent_rows",
]

#: What to report from one training run, since its correlation is not identified.
ONE_RUN = "one-run"
#: Below this number of models, methods that are asymptotic in it are not printed.
FEW_MODELS = 5


def add_dependence_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for data with a model column."""
    group = parser.add_argument_group("trials that share a trained model (column model)")
    group.add_argument(
        "--icc-prior",
        type=_icc_prior,
        metavar="PRIOR",
        help="prior of the intra-model correlation: default for Beta(1, 9), uniform, a,b for "
        "Beta(a, b), or a number taken as known (default: default)",
    )


def _icc_prior(text: str) -> Any:
    from bayesaudit.rates import check_icc_prior

    value: Any = text
    if text not in ("default", "uniform"):
        try:
            numbers = tuple(float(part) for part in text.split(","))
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"must be default, uniform, a,b or a number, got {text!r}"
            ) from None
        value = numbers[0] if len(numbers) == 1 else numbers
    try:
        check_icc_prior(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return value


def check_dependence_arguments(args: argparse.Namespace, per_model: bool) -> None:
    """Refuse arguments that need a model column where there is none."""
    if args.icc_prior is not None and not per_model:
        raise ValueError("--icc-prior needs data with a model column.")


def dependent_epsilon(
    counts: Any, measure: Any, prob: float, claim: float | None, *, prior: Any, icc_prior: Any
) -> dict[str, Any]:
    """Return the beta-binomial interval, and its companion under a uniform prior of the ICC."""
    from bayesaudit.posteriors import posterior

    icc_prior = "default" if icc_prior is None else icc_prior
    main, uniform = (
        posterior(counts, measure, prior=prior, dependence="beta-binomial", icc_prior=chosen)
        for chosen in (icc_prior, "uniform")
    )
    lower, upper = uniform.interval(prob)
    found = {
        **main.to_dict(prob),
        "model": "beta-binomial",
        "icc_prior": icc_prior,
        "uniform_icc": {"lower": lower, "upper": upper, "median": uniform.median()},
        "prior_driven": counts.shape[-1] < 2,
    }
    if claim is not None:
        found["prob_above_claim"] = float(main.prob_above(claim))
    return found


def clustered_confidence(counts: Any, measure: Any, prob: float) -> dict[str, Any]:
    """Return frequentist intervals that allow for dependence within a model."""
    from bayesaudit.dependence import cluster_bootstrap, xbern_interval

    if counts.shape[-1] < FEW_MODELS:
        return {}
    found = {"cluster-bootstrap": cluster_bootstrap(counts, measure, prob)}
    if all((n == n[0]).all() and n[0] > 0 for n in (counts.n_pos, counts.n_neg)):
        found["xbern"] = xbern_interval(counts, measure, prob)
    return {
        name: {"lower": interval.lower, "upper": interval.upper, "guarantee": interval.guarantee}
        for name, interval in found.items()
    }


def dependence_results(
    counts: Any, measure: Any, prob: float, *, prior: Any, icc_prior: Any
) -> dict[str, Any]:
    """Return what the data say of dependence within a model, as the JSON holds it."""
    from bayesaudit.dependence import icc, tipping_point
    from bayesaudit.dependence.comparison import compare
    from bayesaudit.dependence.tipping import NOT_IDENTIFIED, ONE_RUN_AUDITS
    from bayesaudit.rates import check_icc_prior

    found = icc(counts, prob)
    side = {name: getattr(found, name).to_dict() for name in ("fnr", "fpr")}
    result: dict[str, Any] = {
        "icc": {name: side[name]["estimate"] for name in side},
        "icc_detail": side,
        "n_models": found.n_models,
        "identified": found.identified,
        "recommended": "beta-binomial",
        "comparison": None,
        "tipping_point": None,
        "message": None,
    }
    if found.n_models < 2:
        curve = tipping_point(counts, measure, prob, prior=prior)
        result |= {
            "recommended": ONE_RUN,
            "tipping_point": curve.to_dict(),
            "message": f"one model: the intra-model correlation is {NOT_IDENTIFIED}; "
            f"{ONE_RUN_AUDITS}.",
        }
        return result
    if not found.identified:
        reasons = [f"{name}: {side[name]['reason']}" for name in side if side[name]["reason"]]
        result["message"] = (
            f"the intra-model correlation is not identified ({'; '.join(reasons)}): there the "
            "interval is prior-driven."
        )
        if max(side[name]["n_trials"] - side[name]["n_models"] for name in side) == 0:
            result["message"] = (
                "every model has one trial a side: no trials depend on each other through a model, "
                "and the intra-model correlation does not matter."
            )
    icc_prior = "default" if icc_prior is None else icc_prior
    if all(value != 0.0 for value in check_icc_prior(icc_prior).values()):
        comparison = compare(counts, prior=prior, icc_prior=icc_prior)
        result["comparison"] = comparison.to_dict()
        result["message"] = result["message"] or comparison.sentence
    return result


# -- for a person --------------------------------------------------------------------------------


def dependent_rows(dependent: dict) -> list[tuple[str, str, str, str]]:
    """Return the table rows of the dependent intervals."""
    promise = "credible, trials of one model dependent"
    if dependent["prior_driven"]:
        promise = "credible, but not identified: prior-driven"
    if "lower_method" in dependent:
        promise += f", lower end {dependent['lower_method']}"
    rows = [("beta-binomial", *_ends(dependent), promise)]
    if dependent["icc_prior"] != "uniform":
        rows.append(
            (
                "  uniform ICC prior",
                *_ends(dependent["uniform_icc"]),
                "credible, cautious companion",
            )
        )
    return rows


def dependence_lines(result: dict, prob: float) -> list[str]:
    """Return what is printed of dependence, below the tables."""
    from bayesaudit.cli._output import format_table

    lines = [f"models: {result['n_models']}"]
    for name in ("fnr", "fpr"):
        side = result["icc_detail"][name]
        if side["identified"]:
            ends = ""
            if side["lower"] is not None:
                ends = f" [{side['lower']:.3f}, {side['upper']:.3f}]"
            lines.append(
                f"{name.upper()}: intra-model correlation {side['estimate']:.3f}{ends}, design "
                f"effect {side['design_effect']:.2f}, {side['n_trials']} trials worth "
                f"{side['n_eff']:.0f} independent ones"
            )
        else:
            lines.append(
                f"{name.upper()}: intra-model correlation not identified ({side['reason']})"
            )
    curve = result["tipping_point"]
    if curve is not None:
        rows = [
            (f"{point['icc']:g}", *_ends(point), f"{point['median']:.5f}")
            for point in curve["points"]
        ]
        lines += ["", format_table(("correlation", "lower", "upper", "median"), rows)]
    candidates = (result["comparison"] or {}).get("candidates", [])
    if len(candidates) > 2:
        rows = [
            (
                row["name"],
                f"{row['elpd']:.1f}",
                f"{row['difference']:.1f} ± {row['se_difference']:.1f}",
            )
            for row in candidates
        ]
        lines += ["", format_table(("LOO by model", "elpd", "difference to the best"), rows)]
    if result["message"]:
        lines += ["", _capital(result["message"])]
    if result["recommended"] == ONE_RUN:
        lines.append("Recommended: train more models, or audit the one run as such.")
    else:
        lines.append(f"Recommended: the {result['recommended']} interval.")
    return lines


def _ends(interval: dict) -> tuple[str, str]:
    return tuple(f"{interval[end]:.5f}" for end in ("lower", "upper"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

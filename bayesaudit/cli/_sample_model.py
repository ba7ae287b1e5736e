"""``bayesaudit sample --model``: models of dependent samples, built in or a user's."""

import argparse
import inspect
from typing import Any

__all__ = ["add_candidate", "add_model_argument", "chosen_model", "draw_model", "reference"]

#: Acceptance rate for data of one model, where the correlation's prior speaks and is hard to walk.
CAREFUL = 0.99


def add_model_argument(parser: argparse.ArgumentParser) -> None:
    """Add --model."""
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="PyMC model: beta_binomial, probit_normal, independent, or package.module:function, a "
        "function (counts, **priors) that returns a pm.Model with population rates fnr and fpr "
        "(default: beta_binomial for data with a model column)",
    )


def chosen_model(args: argparse.Namespace, per_model: bool) -> str | None:
    """Return the model to sample by NUTS; None where the conjugate or independent way serves."""
    if args.model is not None:
        if args.method == "conjugate":
            raise ValueError("--model takes --method nuts, got conjugate.")
        return args.model.replace("-", "_") if ":" not in args.model else args.model
    return "beta_binomial" if per_model and args.method is None else None


def draw_model(args: argparse.Namespace, name: str, counts: Any, per_model: bool) -> Any:
    """Build, check and sample a model."""
    from bayesaudit.models import build_model, load_builder
    from bayesaudit.sampling import sample

    builder = load_builder(name)
    known = inspect.signature(builder).parameters
    offered = {"prior": args.prior, "icc_prior": args.icc_prior}
    if name == "independent":
        offered["axis"] = "model" if per_model else "tally"
    anything = any(p.kind is p.VAR_KEYWORD for p in known.values())
    priors = {
        key: value
        for key, value in offered.items()
        if value is not None and (key in known or (anything and key == "prior"))
    }
    accept = args.target_accept
    if accept is None:
        accept = CAREFUL if per_model and counts.shape[-1] == 1 else 0.9
    dt = sample(
        build_model(builder, counts, **priors),
        draws=args.draws,
        tune=args.tune,
        chains=args.chains,
        target_accept=accept,
        random_seed=args.seed,
        sampler=args.sampler,
        progress=False if args.json else None,
    )
    dt.attrs["model"] = name
    return dt


def reference(args: argparse.Namespace, name: str | None, attack: Any) -> tuple[Any, dict] | None:
    """Return counts and options of the exact posterior that the draws should equal, if any."""
    if name is None:
        return (attack.counts.pooled() if attack.per_model else attack.counts), {}
    if name == "independent" and attack.per_model:
        return attack.counts, {"dependence": "independent"}
    if name == "beta_binomial" and attack.per_model:
        icc_prior = "default" if args.icc_prior is None else args.icc_prior
        return attack.counts, {"dependence": "beta-binomial", "icc_prior": icc_prior}
    return None


def add_candidate(
    args: argparse.Namespace, name: str, attack: Any, dt: Any, results: dict, notes: list[str]
) -> None:
    """Put the sampled model beside the others: its interval, and its place in the comparison."""
    from bayesaudit.dependence.comparison import compare

    for place in results.get("by_delta") or [results]:
        draws = place["epsilon"]["draws"]
        place["epsilon"]["beta_binomial"] = place["epsilon"]["dependent"]
        place["epsilon"]["dependent"] = {
            **{key: draws[key] for key in ("lower", "upper", "median", "mean", "prob_zero")},
            "model": name,
            "icc_prior": None,
            "uniform_icc": None,
            "prior_driven": attack.counts.shape[-1] < 2,
        }
    if "by_delta" in results:
        results["epsilon"] = results["by_delta"][0]["epsilon"]
    dependence = results["dependence"]
    if dependence["comparison"] is None:
        return
    icc_prior = "default" if args.icc_prior is None else args.icc_prior
    try:
        found = compare(attack.counts, {name: dt}, prior=args.prior, icc_prior=icc_prior)
    except ValueError as error:
        notes.append(f"not in the comparison: {error}")
        return
    dependence["comparison"] = found.to_dict()
    if not found[name].reliable:
        reason = "a few trained models are influential"
        if "log_marginal" not in dt["posterior"].dataset:
            reason = (
                "let the model define log_marginal, its effects of trained models integrated out"
            )
        worst = found[name].worst_k
        notes.append(f"the LOO of {name} is rough (Pareto k {worst:.2f}): {reason}.")

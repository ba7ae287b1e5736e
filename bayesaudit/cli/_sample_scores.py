"""``bayesaudit sample SCORES --model location``, and other models of the scores themselves."""

import argparse
from typing import Any

from bayesaudit.cli._input import columns_of
from bayesaudit.cli._output import emit

__all__ = ["SCORE_MODELS", "add_score_arguments", "refuse_score_options", "run_scores"]

#: The names alone, so that the parser loads no library for them.
SCORE_MODELS = ("location", "binormal", "student")
#: Options of counts, and their defaults.
OF_COUNTS = {
    **dict.fromkeys(("fn", "tp", "fp", "tn", "threshold", "looks", "icc_prior", "claim")),
    "prior": "jeffreys",
}
#: Options of score models, and their defaults.
OF_SCORES: dict[str, Any] = {"support": 5, "transform": "identity", "fpr": None}
OF_SCORES |= {"extrapolate": False}


def add_score_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of models of scores."""
    group = parser.add_argument_group(
        "models of scores",
        "--model location, binormal or student takes the scores of a file as they are, with a "
        "random shift by model and challenge where these columns tell one, and gives the whole "
        "trade-off curve",
    )
    group.add_argument(
        "--support",
        type=int,
        default=OF_SCORES["support"],
        metavar="K",
        help="thresholds have K members and K non-members on either side (default 5)",
    )
    group.add_argument(
        "--transform",
        choices=("identity", "logit"),
        default=OF_SCORES["transform"],
        help="monotone map under which scores should look normal (default identity)",
    )
    group.add_argument(
        "--fpr",
        type=float,
        action="append",
        metavar="F",
        help="declared false positive rate for a true positive rate (default .001, .01, .1)",
    )
    group.add_argument(
        "--extrapolate",
        action="store_true",
        help="also print what the model says beyond the data, labelled as that",
    )


def refuse_score_options(args: argparse.Namespace) -> None:
    """Refuse the options of score models where there is none."""
    for name, default in OF_SCORES.items():
        if getattr(args, name) != default:
            raise ValueError(f"--{name} needs --model location, binormal or student.")


def run_scores(args: argparse.Namespace) -> int:
    """Sample the model, print the curve and the verdict; return the exit status."""
    for name, default in OF_COUNTS.items():
        if getattr(args, name) != default:
            option = name.replace("_", "-")
            raise ValueError(f"--model {args.model} takes scores, and no --{option}.")
    if args.method == "conjugate":
        raise ValueError(f"--model {args.model} takes --method nuts, got conjugate.")
    if args.file is None:
        raise ValueError(f"--model {args.model} needs a file of scores.")
    from bayesaudit.audits.score_model import audit_scores
    from bayesaudit.reading import read_file

    attack = read_file(args.file, prefer="scores", **columns_of(args))
    found = audit_scores(
        attack.data,
        args.model,
        delta=args.delta or 1e-5,
        fpr=args.fpr or (1e-3, 1e-2, 1e-1),
        prob=args.prob,
        direction=args.direction,
        extrapolate=args.extrapolate,
        support=args.support,
        transform=args.transform,
        source=attack.source,
        draws=args.draws,
        tune=1000 if args.tune is None else args.tune,
        chains=args.chains,
        target_accept=0.9 if args.target_accept is None else args.target_accept,
        random_seed=args.seed,
        sampler=args.sampler or "nutpie",
        progress=False if args.json else None,
    )
    if args.out is not None:
        from bayesaudit.sampling import save

        save(found.dt, args.out)
    found = found.with_warnings(attack.notes)
    emit(found, found.to_dict(), args.json)
    return 0 if found.passed or not args.strict else 1

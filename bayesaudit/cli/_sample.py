"""``bayesaudit sample``: draws beside the exact posterior, and a verdict on both."""

import argparse
import sys
from typing import Any

from bayesaudit.cli._input import (
    add_input_arguments,
    add_looks_argument,
    add_question_arguments,
    attack_of,
    file_inputs,
    model_output,
    question_of,
)
from bayesaudit.cli._output import emit
from bayesaudit.cli._sample_scores import (
    SCORE_MODELS,
    add_score_arguments,
    refuse_score_options,
    run_scores,
)

__all__ = ["add_parser", "run"]

EPILOG = """\
examples:
  bayesaudit sample --fn 35 --tp 65 --fp 25 --tn 75 --delta 1e-5 --seed 1
  bayesaudit sample counts.csv --method nuts --out run.nc --strict
  bayesaudit sample per_model.csv --model mypackage.models:logit_normal --seed 1
  bayesaudit sample scores.csv --model location --delta 1e-5 --seed 1

exit status: 0 done; 1 with --strict, if a check failed (a caution is none); 2 a usage or
data error
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
    group = parser.add_argument_group("sampling")
    group.add_argument(
        "--method",
        choices=("conjugate", "nuts"),
        help="conjugate: draw the Beta posteriors directly, all trials independent; nuts: by "
        "Markov chains (default conjugate; nuts with --model or a model column)",
    )
    group.add_argument(
        "--model",
        metavar="NAME",
        help="PyMC model: beta_binomial, probit_normal, independent, crossed (rows with columns "
        "model and challenge), or package.module:function, a function (counts, **priors) that "
        "returns a pm.Model with population rates fnr and fpr, and may take the trials as guess, "
        "member, model and challenge (default: beta_binomial for data with a model column); or a "
        "model of scores (below)",
    )
    group.add_argument(
        "--draws", type=int, default=2000, metavar="N", help="draws of every chain (default 2000)"
    )
    group.add_argument(
        "--chains", type=int, default=4, metavar="N", help="number of chains (default 4)"
    )
    group.add_argument("--tune", type=int, metavar="N", help="tuning draws of nuts (default 1000)")
    group.add_argument(
        "--target-accept",
        type=float,
        metavar="P",
        help="acceptance rate (nuts; default 0.9, and 0.99 for data of one model)",
    )
    group.add_argument(
        "--sampler",
        choices=("nutpie", "pymc"),
        help="who runs nuts (default nutpie)",
    )
    group.add_argument(
        "--seed", type=int, metavar="N", help="seed; without one, a fresh one is printed"
    )
    group.add_argument("--out", metavar="RUN.nc", help="write the draws as netCDF")
    group.add_argument("--force", action="store_true", help="replace a file that exists")
    add_score_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if a check failed; a caution is none"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Audit, sample, check, print; return the exit status."""
    from bayesaudit._files import check_target
    from bayesaudit.audits import audit

    if args.out is not None:
        check_target(args.out, inputs=file_inputs(args), overwrite=args.force)
    if args.model in SCORE_MODELS:
        return run_scores(args)
    refuse_score_options(args)
    question = question_of(args)
    if isinstance(question["threshold"], str):
        raise ValueError(f"--threshold must be a number, got {args.threshold!r}.")
    audited = audit(attack_of(args), **question)
    if sys.stderr.isatty() and (args.model or args.method == "nuts" or audited.is_per_model):
        print("sample: compiling and sampling …", file=sys.stderr)
    with model_output(args.model):
        sampled = audited.sample(
            args.model,
            method=args.method,
            draws=args.draws,
            tune=args.tune,
            chains=args.chains,
            target_accept=args.target_accept,
            random_seed=args.seed,
            sampler=args.sampler,
            progress=False if args.json else None,
        )
    if args.out is not None:
        from bayesaudit.sampling import save

        save(sampled.draws.dt, args.out)
    emit(sampled, sampled.to_dict(), args.json)
    return 0 if sampled.draws.passed or not args.strict else 1

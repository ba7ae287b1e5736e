"""The arguments that `estimate`, `sample` and others share: the attack, and what is asked of it."""

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

__all__ = [
    "add_audit_arguments",
    "add_input_arguments",
    "add_looks_argument",
    "add_question_arguments",
    "attack_of",
    "audit_of",
    "columns_of",
    "file_inputs",
    "model_output",
    "question_of",
]

COUNT_OPTIONS = ("fn", "tp", "fp", "tn")
ONLY_ONE_RUN = ("canaries", "guesses", "correct", "independent_canaries")
#: Options that a one-run audit does not take, and their defaults.
NOT_ONE_RUN = {
    **dict.fromkeys(("fn", "tp", "fp", "tn", "threshold", "looks", "icc_prior", "curve", "seed")),
    "direction": "both",
    "prior": "jeffreys",
}


def add_audit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add all arguments of one audit: of counts, of scores, or of one run."""
    add_input_arguments(parser)
    add_question_arguments(parser)
    add_looks_argument(parser)
    group = parser.add_argument_group(
        "scores without a declared threshold",
        "--threshold band (guaranteed, no seed), split (choose on 30 % of the rows or models, "
        "posterior and bounds from the others), multi-split, bonferroni, or optimistic (not a "
        "bound)",
    )
    group.add_argument(
        "--seed", type=int, metavar="N", help="seed of the splits, declared beforehand (default 0)"
    )
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


def audit_of(args: argparse.Namespace) -> Any:
    """Return the audit that the arguments ask for."""
    return _one_run(args) if args.one_run else _audit(args)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the attack comes from."""
    group = parser.add_argument_group("counts, one way or the other")
    group.add_argument(
        "file",
        nargs="?",
        help="CSV, TSV, Parquet, NPZ or JSON (- for standard input) with fn,tp,fp,tn; or "
        "member,guess; or member,score with --threshold; an optional column model names the "
        "trained model of each row",
    )
    for name, help_text in (
        ("fn", "members guessed non-member"),
        ("tp", "members guessed member"),
        ("fp", "non-members guessed member"),
        ("tn", "non-members guessed non-member"),
    ):
        group.add_argument(f"--{name}", type=int, metavar="N", help=help_text)
    group.add_argument(
        "--threshold", metavar="T", help='for scores: "member" iff score >= T, T chosen beforehand'
    )
    group.add_argument("--positive", metavar="LABEL", help="the label that means member, if not 1")
    group.add_argument(
        "--columns",
        type=_columns,
        metavar="ROLE=NAME,…",
        help="names of columns that are not found by their own: member=IS_IN,score=LOSS",
    )
    group.add_argument(
        "--lower-is-member", action="store_true", help="lower scores mean member (a loss, say)"
    )


def add_question_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what is asked of the attack."""
    group = parser.add_argument_group("question")
    group.add_argument(
        "--delta",
        type=float,
        action="append",
        metavar="D",
        help="delta of (epsilon, delta)-DP (default 1e-5); repeat it for several",
    )
    group.add_argument(
        "--prob",
        type=float,
        default=0.90,
        metavar="P",
        help="level of two-sided intervals; either end errs by (1 - P)/2 (default 0.9)",
    )
    group.add_argument(
        "--direction",
        choices=("both", "member"),
        default="both",
        help="both: an attack worse than chance counts as its inversion; member: the direction "
        "was declared beforehand (default both)",
    )
    group.add_argument(
        "--prior",
        default="jeffreys",
        type=_prior,
        metavar="PRIOR",
        help="jeffreys, uniform, a,b for Beta(a, b), or a,b,c,d for FNR and FPR (default jeffreys)",
    )
    group.add_argument(
        "--claim",
        type=float,
        metavar="EPS",
        help="a claimed epsilon: whether the guaranteed bound refutes it, and how probable or how "
        "extreme the data make it where a posterior or a test can tell",
    )
    group.add_argument(
        "--independent",
        action="store_true",
        help="declare that rows without a model column are independent: no warning of it",
    )
    group.add_argument(
        "--icc-prior",
        type=_icc_prior,
        metavar="PRIOR",
        help="with a model column, the prior of the intra-model correlation: default for "
        "Beta(1, 9), uniform, a,b for Beta(a, b), or a number taken as known (default: default)",
    )


def add_looks_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--looks``."""
    parser.add_argument(
        "--looks",
        type=_looks,
        metavar="L",
        help="how often the audit is looked at: a number declared beforehand (confidence bounds "
        "then share their error), or 'anytime' (one bound that holds at every moment; with a model "
        "column, after each model)",
    )


def attack_of(args: argparse.Namespace) -> Any:
    """Return the counts that the arguments give, or what the file holds."""
    given = [name for name in COUNT_OPTIONS if getattr(args, name) is not None]
    if given and args.threshold is not None:
        raise ValueError(f"--threshold {args.threshold} takes scores, not --{given[0]}.")
    if args.file is None:
        if args.threshold is not None:
            raise ValueError(f"--threshold {args.threshold} needs a file of scores.")
        missing = [f"--{name}" for name in COUNT_OPTIONS if name not in given]
        if missing:
            raise ValueError(f"needs a file or all four counts; missing {', '.join(missing)}.")
        for name in ("positive", "columns", "lower_is_member"):
            if getattr(args, name):
                raise ValueError(f"--{name.replace('_', '-')} needs a file.")
        from bayesaudit.counts import AttackCounts

        return AttackCounts(**{name: getattr(args, name) for name in COUNT_OPTIONS})
    if given:
        raise ValueError(f"takes a file or counts, got both {args.file} and --{given[0]}.")
    from bayesaudit.reading import read_file

    prefer = "guesses" if args.threshold is None else "scores"
    return read_file(args.file, prefer=prefer, **columns_of(args))


def file_inputs(args: argparse.Namespace) -> list[str]:
    """Return the files that are read, which no output may replace."""
    return [args.file] if args.file not in (None, "-") else []


def _audit(args: argparse.Namespace) -> Any:
    from bayesaudit.audits import audit

    for name in ONLY_ONE_RUN:
        if getattr(args, name) not in (None, False):
            raise ValueError(f"--{name.replace('_', '-')} needs --one-run.")
    if args.file is None and args.seed is not None:
        raise ValueError("--seed needs --threshold split or another strategy.")
    return audit(attack_of(args), random_seed=args.seed, **question_of(args))


def _one_run(args: argparse.Namespace) -> Any:
    from bayesaudit.audits import audit_one_run

    if args.seed is not None:
        raise ValueError("--seed needs --threshold split or another strategy.")
    for name, default in NOT_ONE_RUN.items():
        if getattr(args, name, default) != default:
            raise ValueError(f"--one-run takes no --{name.replace('_', '-')}.")
    if not args.guesses:
        raise ValueError("--one-run needs --guesses.")
    asked = {"delta": args.delta or 1e-5, "prob": args.prob, "claim": args.claim}
    asked["independent_canaries"] = args.independent_canaries
    if args.file is not None:
        for name in ("canaries", "correct"):
            if getattr(args, name) is not None:
                raise ValueError(f"--one-run takes a file or --{name}, got both.")
        from bayesaudit.reading import read_trials

        trials = read_trials(args.file, needed_by="--one-run", **columns_of(args))
        return audit_one_run(trials, guesses=args.guesses, source=args.file, **asked)
    missing = [f"--{name}" for name in ("canaries", "correct") if getattr(args, name) is None]
    if missing:
        raise ValueError(f"--one-run needs a file or a tally; missing {', '.join(missing)}.")
    if len(args.guesses) > 1 or isinstance(args.guesses[0], tuple):
        raise ValueError("--guesses must be one number without a file of scores.")
    return audit_one_run(
        n_canaries=args.canaries, n_guesses=args.guesses[0], n_correct=args.correct, **asked
    )


def columns_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return how the columns of the file are to be read."""
    return {name: getattr(args, name) for name in ("columns", "positive", "lower_is_member")}


@contextlib.contextmanager
def model_output(name: str | None) -> Iterator[None]:
    """Send what a user's module prints to standard error, and report one that ends the program."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except SystemExit as error:
        raise ValueError(f"--model {name} ended the program, with status {error.code}.") from None


def question_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `bayesaudit.audit` beside the attack."""
    names = ("prob", "direction", "prior", "claim", "icc_prior", "looks", "independent")
    return {name: getattr(args, name) for name in names} | {
        "delta": args.delta or 1e-5,
        "threshold": _threshold(args.threshold),
    }


def _threshold(text: str | None) -> Any:
    """Return a number where the text is one, else a name, for the audit to check."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(role and name for role, _, name in pairs):
        raise argparse.ArgumentTypeError(f"must be ROLE=NAME,…, got {text!r}")
    return {role.strip(): name.strip() for role, _, name in pairs}


def _prior(text: str) -> Any:
    if text in ("jeffreys", "uniform"):
        return text
    shapes = _floats(text)
    if len(shapes) == 2:
        return shapes
    if len(shapes) == 4:
        return {"fnr": shapes[:2], "fpr": shapes[2:]}
    raise argparse.ArgumentTypeError(f"must be jeffreys, uniform, a,b or a,b,c,d, got {text!r}")


def _icc_prior(text: str) -> Any:
    from bayesaudit.rates import check_icc_prior

    value: Any = text
    if text not in ("default", "uniform"):
        value = _floats(text)
        if not value:
            raise argparse.ArgumentTypeError(
                f"must be default, uniform, a,b or a number, got {text!r}"
            )
        value = value[0] if len(value) == 1 else value
    try:
        check_icc_prior(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return value


def _floats(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return ()


def _looks(text: str) -> int | str:
    if text == "anytime":
        return text
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 1 or 'anytime', got {text!r}")
    return int(text)


def _rule(text: str) -> Any:
    try:
        parts = [int(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) not in (1, 2):
        raise argparse.ArgumentTypeError(f"must be R or TOP,BOTTOM, got {text!r}")
    return parts[0] if len(parts) == 1 else tuple(parts)

"""What `estimate`, `sample` and others share: where counts come from, and the questions asked."""

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "AttackInput",
    "add_input_arguments",
    "add_question_arguments",
    "collected",
    "read_input",
]

NEEDS_THRESHOLD = (
    "holds scores, which need --threshold: a number chosen without looking at these rows, or for "
    "estimate a strategy (band, split, multi-split, bonferroni)."
)
COUNT_OPTIONS = ("fn", "tp", "fp", "tn")


@dataclass(frozen=True)
class AttackInput:
    """Counts and where they came from.

    Parameters
    ----------
    counts : AttackCounts
        One tally, several (shape (n,)), or one tally a model (see `per_model`).
    per_model : bool
        Whether the counts have a trailing ``model`` axis.
    source : str
        "arguments" or the file's name, with the kind of file.
    warnings : list of str
        What the user must know about this input.
    threshold : float or None
        The declared threshold, where scores became counts.
    """

    counts: Any
    per_model: bool = False
    source: str = "arguments"
    warnings: list[str] = field(default_factory=list)
    threshold: float | None = None


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the counts come from."""
    group = parser.add_argument_group("counts, one way or the other")
    group.add_argument(
        "file",
        nargs="?",
        help="CSV, TSV, Parquet, NPZ or JSON with fn,tp,fp,tn; or member,guess; or member,score "
        "with --threshold; an optional column model names the trained model of each row",
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


def add_question_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what is asked of the counts."""
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
        "--claim", type=float, metavar="EPS", help="print P(epsilon-hat > EPS | data)"
    )


def _prior(text: str) -> Any:
    if text in ("jeffreys", "uniform"):
        return text
    try:
        shapes = tuple(float(part) for part in text.split(","))
    except ValueError:
        shapes = ()
    if len(shapes) == 2:
        return shapes
    if len(shapes) == 4:
        return {"fnr": shapes[:2], "fpr": shapes[2:]}
    raise argparse.ArgumentTypeError(f"must be jeffreys, uniform, a,b or a,b,c,d, got {text!r}")


def read_input(args: argparse.Namespace) -> AttackInput:
    """Return the counts that the arguments name; those given as options need no reader."""
    from bayesaudit.counts import AttackCounts

    given = [name for name in COUNT_OPTIONS if getattr(args, name) is not None]
    if args.file is None:
        missing = [f"--{name}" for name in COUNT_OPTIONS if name not in given]
        if missing:
            raise ValueError(f"needs a file or all four counts; missing {', '.join(missing)}.")
        return AttackInput(AttackCounts(**{name: getattr(args, name) for name in COUNT_OPTIONS}))
    if given:
        raise ValueError(f"takes a file or counts, got both {args.file} and --{given[0]}.")
    from bayesaudit.reading import read_file

    prefer = "guesses" if args.threshold is None else "scores"
    attack = read_file(args.file, positive=args.positive, prefer=prefer)
    notes = list(attack.notes)
    if attack.kind != "counts" and not attack.per_model:
        notes.append(no_model_note(attack.source))
    counts, threshold, kind = attack.data, None, attack.kind
    if attack.kind == "scores":
        if args.threshold is None:
            raise ValueError(f"{attack.source}: {NEEDS_THRESHOLD}")
        threshold = _threshold(args.threshold)
        read = counts.counts_by_model if attack.per_model else counts.counts
        counts = read(threshold)
    elif args.threshold is not None:
        raise ValueError(f"{attack.source}: holds {kind}, which take no --threshold.")
    elif kind == "counts" and attack.per_model:
        kind = "counts per model"
    source = f"{attack.source} ({kind})"
    return AttackInput(counts, attack.per_model, source, notes, threshold)


def no_model_note(path: str) -> str:
    """Return what to say of rows that may share a trained model."""
    return (
        f"{path} has no model column: that its rows are independent is an assumption; "
        "rows that share a trained model are not, and the interval is then too narrow."
    )


def _threshold(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--threshold must be a number, got {text!r}.") from None


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect Python warnings as text, each once."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    for warning in caught:
        text = str(warning.message)
        if text not in notes:
            notes.append(text)

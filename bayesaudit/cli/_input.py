"""What `estimate`, `sample` and others share: where counts come from, and the questions asked."""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
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

#: Larger files are read by pandas, smaller ones without it, so that they start at once.
LIGHT_BYTES = 2_000_000
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
    """Return the counts that the arguments name; without pandas, so that it starts at once."""
    from bayesaudit.counts import AttackCounts, counts_from_rows, read_rows

    given = [name for name in COUNT_OPTIONS if getattr(args, name) is not None]
    if args.file is None:
        missing = [f"--{name}" for name in COUNT_OPTIONS if name not in given]
        if missing:
            raise ValueError(f"needs a file or all four counts; missing {', '.join(missing)}.")
        return AttackInput(AttackCounts(**{name: getattr(args, name) for name in COUNT_OPTIONS}))
    if given:
        raise ValueError(f"takes a file or counts, got both {args.file} and --{given[0]}.")
    if _needs_pandas(args.file):
        return _table_input(args)
    rows = read_rows(args.file)
    columns = set(rows[0])
    if {"fn", "tp", "fp", "tn"} <= columns:
        return _counts_input(args, rows, counts_from_rows(rows, args.file))
    if "member" in columns and columns & {"guess", "score"}:
        return _trials_input(args, rows)
    return _table_input(args)


def _needs_pandas(path: str) -> bool:
    """Say whether a file is large, or no plain text: pandas then reads it."""
    suffixes = (".parquet", ".npz", ".json", ".gz", ".bz2", ".xz", ".zip", ".zst")
    if path.lower().endswith(suffixes):
        return True
    return os.path.getsize(path) > LIGHT_BYTES


def _table_input(args: argparse.Namespace) -> AttackInput:
    """Read any format that `read_attack` knows, and column names by their aliases."""
    from bayesaudit.reading import read_table
    from bayesaudit.scores import AttackScores

    table = read_table(args.file)
    attack = table.attack(positive=args.positive)
    kind = "counts" if table.holds_counts else "guesses"
    if isinstance(attack, AttackScores):
        if args.threshold is None:
            raise ValueError(f"{args.file}: {NEEDS_THRESHOLD}")
        threshold = _threshold(args.threshold)
        grouped = attack.model is not None
        counts = attack.counts_by_model(threshold) if grouped else attack.counts(threshold)
        notes = [] if grouped else [no_model_note(args.file)]
        return AttackInput(counts, grouped, f"{args.file} (scores)", notes, threshold)
    if args.threshold is not None:
        raise ValueError(f"{args.file}: holds {kind}, which take no --threshold.")
    grouped = bool(attack.shape) and not table.holds_counts
    notes = [] if grouped or table.holds_counts else [no_model_note(args.file)]
    return AttackInput(attack, grouped, f"{args.file} ({kind})", notes)


def no_model_note(path: str) -> str:
    """Return what to say of rows that may share a trained model."""
    return (
        f"{path} has no model column: that its rows are independent is an assumption; "
        "rows that share a trained model are not, and the interval is then too narrow."
    )


def _counts_input(args: argparse.Namespace, rows: list[dict[str, str]], counts: Any) -> AttackInput:
    if args.threshold is not None:
        raise ValueError(f"{args.file}: holds counts, which take no --threshold.")
    if "model" not in rows[0]:
        return AttackInput(counts, source=f"{args.file} (counts)")
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, start=2):
        if row["model"] in seen:
            raise ValueError(
                f"{args.file}: row {number}: model must occur once in a file of counts, "
                f"got {row['model']!r} again (first in row {seen[row['model']]})."
            )
        seen[row["model"]] = number
    counts = counts if counts.shape else counts[None]
    return AttackInput(counts, per_model=True, source=f"{args.file} (counts per model)")


def _trials_input(args: argparse.Namespace, rows: list[dict[str, str]]) -> AttackInput:
    from bayesaudit.counts import AttackCounts

    scored = args.threshold is not None or "guess" not in rows[0]
    if scored and "score" not in rows[0]:
        raise ValueError(f"{args.file}: holds guesses, which take no --threshold.")
    if scored and args.threshold is None:
        raise ValueError(f"{args.file}: {NEEDS_THRESHOLD}")
    models = [row["model"] for row in rows] if "model" in rows[0] else None
    common: dict[str, Any] = {"model": models}
    if args.positive is None:
        common["member"] = _bits(args.file, rows, "member")
    else:
        common |= {"member": [row["member"] for row in rows], "positive": args.positive}
    with _named(args.file):
        if scored:
            counts = AttackCounts.from_scores(
                score=_numbers(args.file, rows, "score"),
                threshold=_threshold(args.threshold),
                **common,
            )
        else:
            guess = (
                _bits(args.file, rows, "guess")
                if args.positive is None
                else [row["guess"] for row in rows]
            )
            counts = AttackCounts.from_guesses(guess=guess, **common)
    notes = [no_model_note(args.file)] if models is None else []
    kind = "scores" if scored else "guesses"
    threshold = _threshold(args.threshold) if scored else None
    return AttackInput(counts, models is not None, f"{args.file} ({kind})", notes, threshold)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Put the file's name before a data error."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(path) else f"{path}: {text}") from None


def _threshold(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--threshold must be a number, got {text!r}.") from None


def _numbers(path: str, rows: list[dict[str, str]], name: str) -> list[float]:
    return _parsed(path, rows, name, float, "a number")


def _bits(path: str, rows: list[dict[str, str]], name: str) -> list[int]:
    words = {"0": 0, "1": 1, "false": 0, "true": 1, "0.0": 0, "1.0": 1}
    return _parsed(
        path,
        rows,
        name,
        lambda text: words[text.lower()],
        "0/1 or false/true (--positive names another label)",
    )


def _parsed(
    path: str, rows: list[dict[str, str]], name: str, parse: Callable[[str], Any], rule: str
) -> list[Any]:
    values = []
    for number, row in enumerate(rows, start=2):
        try:
            value = parse(row[name])
        except (ValueError, KeyError):
            raise ValueError(
                f"{path}: row {number}: {name} must be {rule}, got {row[name]!r}."
            ) from None
        if value != value:
            raise ValueError(f"{path}: row {number}: {name} must not be NaN.")
        values.append(value)
    return values


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

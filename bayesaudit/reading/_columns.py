"""Names of columns: what other tools call them, and which of a file's columns are which."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["ALIASES", "CELLS", "PAIRS", "key", "listed", "positions"]

CELLS = ("fn", "tp", "fp", "tn")
#: Column -> names it goes by in files, in lower case with "-", "." and " " read as "_".
ALIASES: dict[str, tuple[str, ...]] = {
    "fn": ("fn", "false_negatives"),
    "tp": ("tp", "true_positives"),
    "fp": ("fp", "false_positives"),
    "tn": ("tn", "true_negatives"),
    "member": (
        "member",
        "members",
        "membership",
        "memberships",
        "is_member",
        "label",
        "labels",
        "y_true",
        "true_label",
        "true_labels",
        "challenge_bit",
        "challenge_bits",
    ),
    "score": (
        "score",
        "scores",
        "mia_score",
        "mia_scores",
        "attack_score",
        "attack_scores",
        "membership_score",
        "membership_scores",
        "canary_score",
        "canary_scores",
        "confidence",
        "signal",
        "signal_values",
        "y_score",
    ),
    "guess": (
        "guess",
        "guesses",
        "predicted_member",
        "prediction",
        "predictions",
        "predicted_label",
        "predicted_labels",
        "y_pred",
    ),
    "model": ("model", "models", "model_id", "model_index", "run", "run_id"),
    "challenge": (
        "challenge",
        "challenges",
        "challenge_id",
        "canary",
        "canary_id",
        "sample_id",
        "example_id",
    ),
}
#: Names of two arrays, the scores of members and of non-members, which NPZ and JSON may hold.
PAIRS = (("in_canary_scores", "out_canary_scores"), ("in_scores", "out_scores"))


def key(name: Any) -> str:
    """Return a column's name as names are compared."""
    text = str(name).strip().lower()
    return text.replace("-", "_").replace(".", "_").replace(" ", "_")


def listed(names: Sequence[str]) -> str:
    """Return the first few names."""
    shown = [name for name in names if name]
    return ",".join(shown[:8]) + (",…" if len(shown) > 8 else "") if shown else "none"


def positions(names: Sequence[Any], columns: Mapping[str, str] | None = None) -> dict[str, int]:
    """Return where the columns are that have a meaning, by this package's names.

    Parameters
    ----------
    names : sequence
        The header as it stands in the file.
    columns : mapping, optional
        Names of columns in the file where they are not in `ALIASES`.

    Raises
    ------
    ValueError
        If a name occurs twice, a column that `columns` names does not occur, or several columns
        could be one and none has its plain name.
    """
    given = columns or {}
    for unknown in set(given) - set(ALIASES):
        raise ValueError(f"columns must name some of {', '.join(ALIASES)}; got {unknown!r}.")
    keys = [key(name) for name in names]
    for twice in (name for place, name in enumerate(keys) if name and name in keys[:place]):
        raise ValueError(f"has the column {twice} twice.")
    claimed = {key(name) for name in given.values()}
    found = {}
    for column, aliases in ALIASES.items():
        if column in given:
            if key(given[column]) not in keys:
                raise ValueError(f"has no column {given[column]!r}; got {listed(keys)}.")
            found[column] = keys.index(key(given[column]))
            continue
        present = [alias for alias in aliases if alias in keys and alias not in claimed]
        if len(present) > 1 and present[0] != column:
            raise ValueError(
                f"has several columns for {column}: {', '.join(present)}; "
                "say which with columns= (--columns)."
            )
        if present:
            found[column] = keys.index(present[0])
    return found

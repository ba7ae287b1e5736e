"""Files of attack outputs: scores or counts, from CSV, TSV, Parquet, NPZ or JSON."""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesaudit._checks import DataError
from bayesaudit.counts import CELLS, AttackCounts
from bayesaudit.scores import AttackScores

__all__ = ["ALIASES", "Table", "read_attack", "read_table"]

#: Column -> names it goes by in files, in lower case with "-" and " " read as "_".
ALIASES: dict[str, tuple[str, ...]] = {
    "score": (
        "score",
        "scores",
        "attack_score",
        "attack_scores",
        "confidence",
        "signal",
        "y_score",
    ),
    "member": ("member", "members", "membership", "memberships", "is_member", "label", "y_true"),
    "guess": ("guess", "guesses", "predicted_member", "y_pred"),
    "model": ("model", "models", "model_id", "model_index", "run", "run_id"),
    "challenge": ("challenge", "challenges", "challenge_id", "canary", "canary_id", "sample_id"),
}
PAIR = ("in_canary_scores", "out_canary_scores")


def read_attack(
    path: str | Path,
    *,
    positive: Any = None,
    columns: Mapping[str, str] | None = None,
) -> AttackScores | AttackCounts:
    r"""Read what an attack put out.

    Parameters
    ----------
    path : str or path
        The suffix names the format, also of a compressed ``.csv.gz`` and the like.

        * ``.csv``, ``.tsv``, ``.txt``, ``.parquet``: one row a trial with columns score (or guess)
          and member, and optionally model and challenge; or one row a tally with columns fn, tp,
          fp and tn. Case does not matter, common aliases are understood (`ALIASES`), and other
          columns are ignored.
        * ``.npz``: ``scores`` and ``memberships`` of one shape, (n,) or (n_models, n_challenges);
          or ``in_canary_scores`` and ``out_canary_scores``. Nothing is unpickled.
        * ``.json``: an object with the counts fn, tp, fp and tn, as numbers or lists (also under
          the key "counts"), or with lists of scores and memberships.
    positive : object, optional
        The label that means "member", where labels are not {0, 1} or {False, True}.
    columns : mapping, optional
        Names of columns in the file where they are not in `ALIASES`:
        ``{"score": "loss_gap"}``.

    Returns
    -------
    AttackScores or AttackCounts
        Scores where there are any. Guesses are counted; with a column model, by model.

    Raises
    ------
    DataError
        One line that names the file, where it can the row, and the rule.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("is_member,score\n1,0.9\n0,0.2\n1,0.4\n")
    >>> read_attack(path)
    AttackScores(2 members, 1 non-members)
    """
    return read_table(path).attack(positive=positive, names=columns or {})


def read_table(path: str | Path) -> "Table":
    """Return the columns of a file, before they are taken for scores or counts."""
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    reader = next((READERS[suffix] for suffix in suffixes[::-1] if suffix in READERS), None)
    if reader is None:
        raise DataError(f"{path}: must be one of {', '.join(READERS)}.")
    with _named(path):
        # Row 1 of a text file is its header.
        return Table(path, reader(path), 2 if reader is _text else 0)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn an error about the content into one line that names the file."""
    try:
        yield
    except (ValueError, TypeError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: {' '.join(str(error).split())}") from None


def _text(path: Path) -> dict[str, Any]:
    import pandas as pd

    suffixes = path.suffixes
    separator = "\t" if ".tsv" in suffixes else ","
    if suffixes[-1] in (".csv", ".txt"):
        with path.open(encoding="utf-8-sig") as lines:
            separator = "\t" if "\t" in lines.readline() else ","
    # A score must be the number in the file, or a threshold taken from it misses; from pandas 3.1
    # on that is the default.
    exact = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
    try:
        frame = pd.read_csv(
            path,
            sep=separator,
            encoding="utf-8-sig",
            skipinitialspace=True,
            low_memory=False,
            **({} if exact else {"float_precision": "round_trip"}),
        )
    except pd.errors.EmptyDataError:
        raise ValueError("must have a header line and rows, got an empty file.") from None
    return _frame_columns(frame)


def _parquet(path: Path) -> dict[str, Any]:
    import pandas as pd

    path.open("rb").close()
    try:
        return _frame_columns(pd.read_parquet(path))
    except ImportError:
        raise ValueError("needs pyarrow: pip install 'bayesaudit[parquet]'.") from None


def _frame_columns(frame: Any) -> dict[str, Any]:
    names = [_key(name) for name in frame.columns]
    for name in {name for name in names if names.count(name) > 1}:
        raise ValueError(f"has the column {name} twice.")
    if len(frame) == 0:
        raise ValueError("must have at least one row, got none.")
    return {name: frame.iloc[:, place] for place, name in enumerate(names)}


def _npz(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {_key(name): archive[name] for name in archive.files}
        except ValueError:
            raise ValueError("must hold plain arrays; Python objects are not unpickled.") from None
        except TypeError:
            raise ValueError("must be an archive of named arrays, got a single one.") from None
    if set(PAIR) <= set(arrays):
        parts = [np.ravel(arrays[name]) for name in PAIR]
        member = np.repeat([1, 0], [part.size for part in parts])
        return {"score": np.concatenate(parts), "member": member}
    table = Table(path, arrays, 0).find({})
    score, member = table.get("score"), table.get("member")
    if score is None or member is None:
        raise ValueError(
            f"must hold scores and memberships, or {' and '.join(PAIR)}; got {_listed(arrays)}."
        )
    if score.shape != member.shape:
        raise ValueError(
            f"scores and memberships must have one shape, got {score.shape} and {member.shape}."
        )
    if score.ndim == 2:
        model, challenge = np.indices(score.shape)
        table = {"model": model, "challenge": challenge} | table
    return {name: np.ravel(array) for name, array in table.items()}


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"must be JSON: {error}.") from None
    for key in ("inputs", "counts"):  # what `estimate --json` prints, or counts under their name
        if isinstance(document, dict) and isinstance(document.get(key), dict):
            document = document[key]
    if not isinstance(document, dict):
        raise ValueError(f"must be a JSON object, got {type(document).__name__}.")
    return {_key(name): value for name, value in document.items()}


#: Suffix -> what reads such a file into named columns.
READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    ".csv": _text,
    ".tsv": _text,
    ".txt": _text,
    ".parquet": _parquet,
    ".npz": _npz,
    ".json": _json,
}


def _key(name: Any) -> str:
    return str(name).strip().lower().replace("-", "_").replace(" ", "_")


def _listed(names: Any) -> str:
    shown = [name for name in names if not name.startswith("unnamed:")]
    return ",".join(shown[:8]) + (",…" if len(shown) > 8 else "") if shown else "none"


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a file.

    Parameters
    ----------
    path : Path
        The file.
    columns : dict
        Columns by their names in lower case.
    first : int
        The number of the first row of a text file, below its header; 0 for other files.
    """

    path: Path
    columns: dict[str, Any]
    first: int

    @property
    def holds_counts(self) -> bool:
        """Whether rows are tallies."""
        return all(cell in self.columns for cell in CELLS)

    def attack(
        self, *, positive: Any = None, names: Mapping[str, str] | None = None
    ) -> AttackScores | AttackCounts:
        """Return what the columns hold."""
        with _named(self.path):
            if self.holds_counts:
                return self._counts()
            return self._trials(positive, names or {})

    def _trials(self, positive: Any, names: Mapping[str, str]) -> AttackScores | AttackCounts:
        found = self.find(names)
        if "member" not in found or not {"score", "guess"} & set(found):
            raise ValueError(
                "must have columns fn,tp,fp,tn, or member,guess, or member,score; "
                f"got {_listed(self.columns)}."
            )
        rows: dict[str, Any] = {
            name: self._labels(found[name], name)
            for name in ("member", "model", "challenge")
            if name in found
        }
        if positive is not None:
            rows["positive"] = _as_label(positive, rows["member"])
        if "score" in found:
            return AttackScores(score=self._numbers(found["score"], "score"), **rows)
        rows.pop("challenge", None)
        return AttackCounts.from_guesses(guess=self._labels(found["guess"], "guess"), **rows)

    def _counts(self) -> AttackCounts:
        """Return tallies; a single row is a single tally."""
        cells = {cell: self.columns[cell] for cell in CELLS}
        if self.first:  # a text file, whose entries may be anything
            cells = {cell: self._numbers(column, cell) for cell, column in cells.items()}
        if all(np.shape(column) == (1,) for column in cells.values()):
            cells = {cell: np.ravel(column)[0] for cell, column in cells.items()}
        return AttackCounts(**cells)

    def find(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Return the columns that have a meaning, by this package's names."""
        for name in set(names) - set(ALIASES):
            raise ValueError(f"columns must name some of {', '.join(ALIASES)}; got {name!r}.")
        found = {}
        for name, aliases in ALIASES.items():
            wanted = (_key(names[name]),) if name in names else aliases
            present = [alias for alias in wanted if alias in self.columns]
            if name in names and not present:
                raise ValueError(f"has no column {names[name]!r}; got {_listed(self.columns)}.")
            if len(present) > 1 and name not in present:
                raise ValueError(f"has several columns for {name}: {', '.join(present)}.")
            if present:
                found[name] = self.columns[name if name in present else present[0]]
        return found

    def _numbers(self, values: Any, name: str) -> np.ndarray:
        """Return a column of numbers; name the first entry that is none."""
        import pandas as pd

        series = pd.Series(values)
        plain = series.dtype.kind in "biuf"
        numbers = series if plain else pd.to_numeric(series, errors="coerce")
        bad = np.flatnonzero(numbers.isna())
        if bad.size:
            shown = series.iloc[bad[0]]
            entry = "NaN or nothing" if pd.isna(shown) else repr(str(shown))
            more = f" ({bad.size} such entries)" if bad.size > 1 else ""
            raise ValueError(f"{self._at(bad)}: {name} must be a number, got {entry}{more}.")
        return numbers.to_numpy() if plain else numbers.to_numpy(float)

    def _labels(self, values: Any, name: str) -> np.ndarray:
        """Return a column of labels; name the first entry that is missing."""
        import pandas as pd

        series = pd.Series(values)
        missing = np.flatnonzero(series.isna())
        if missing.size:
            raise ValueError(f"{self._at(missing)}: {name} must be given, got nothing.")
        if series.dtype.kind in "biuf":
            return series.to_numpy()
        # Labels of several types, 1 and "yes" say, compare as text.
        return series.astype(str).to_numpy(str)

    def _at(self, index: np.ndarray) -> str:
        return f"{'row' if self.first else 'index'} {int(index[0]) + self.first}"


def _as_label(positive: Any, member: np.ndarray) -> Any:
    """Return the positive label as a number where labels are numbers, as from a command line."""
    if member.dtype.kind not in "biuf" or not isinstance(positive, str):
        return positive
    try:
        return float(positive)
    except ValueError:
        return positive

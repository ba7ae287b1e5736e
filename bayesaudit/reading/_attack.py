"""What a file holds of an attack: counts, guesses or scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice
from bayesaudit.counts import AttackCounts
from bayesaudit.reading._arrays import json_table, npz_table, parquet_table
from bayesaudit.reading._cells import Bits, Column, Labels, Numbers, Wholes
from bayesaudit.reading._columns import CELLS, key, listed, positions
from bayesaudit.reading._files import named, opened, source_name
from bayesaudit.reading._table import Table
from bayesaudit.reading._text import text_table
from bayesaudit.scores import AttackScores

__all__ = ["Attack", "Trials", "read_attack", "read_file", "read_trials"]

#: Format -> what reads the table in a stream of it.
TABLES: dict[str, Callable[[Any], Table]] = {
    "text": text_table,
    "parquet": parquet_table,
    "arrays": npz_table,
    "json": json_table,
}
#: Scores with a smaller area under the ROC curve look as if lower ones meant "member".
SUSPECT_AUC = 0.4
UNUSED_CHALLENGE = "{}: holds counts, whose column challenge says nothing about single trials."


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """Rows of a file: what the attack said of every trial, and the truth.

    Parameters
    ----------
    member : array of bool, shape (n,)
        The truth; true for a member.
    score : array of float, shape (n,), optional
        Scores, higher for "member".
    guess : array of bool, shape (n,), optional
        Guesses, true for "member".
    model, challenge : array, shape (n,), optional
        The trained model of every row, and the challenge point it is about.
    """

    member: NDArray[np.bool_]
    score: NDArray[np.float64] | None = None
    guess: NDArray[np.bool_] | None = None
    model: NDArray | None = None
    challenge: NDArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What a file holds.

    Parameters
    ----------
    data : AttackCounts or AttackScores
        The counts, also of guesses; or the scores, higher for "member".
    kind : "counts", "guesses" or "scores"
        What the file holds.
    source : str
        The file's name as given.
    notes : tuple of str
        Hints for who reads the result.
    trials : Trials, optional
        The rows behind scores or the counts of guesses.
    lower_is_member : bool
        Whether `data` holds the file's scores with their sign turned; a threshold T of the file's
        is then -T.
    """

    data: AttackCounts | AttackScores
    kind: Literal["counts", "guesses", "scores"]
    source: str
    notes: tuple[str, ...] = ()
    trials: Trials | None = None
    lower_is_member: bool = False

    @property
    def per_model(self) -> bool:
        """Whether the rows are told apart by trained model."""
        if isinstance(self.data, AttackScores):
            return self.data.model is not None
        return self.data.axis == "model"


def read_attack(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    positive: Any = None,
    lower_is_member: bool = False,
) -> AttackCounts | AttackScores:
    r"""Read what an attack put out.

    Parameters
    ----------
    path : str or path
        The suffix names the format; ``.gz``, ``.bz2``, ``.xz`` or ``.zip`` may follow. ``-`` is
        standard input, where the content tells the format, as for a file without a suffix.

        * ``.csv``, ``.tsv``, ``.txt``: a header, and one row a trial with the columns score (or
          guess) and member, and optionally model and challenge; or one row a tally with the columns
          fn, tp, fp and tn, and optionally model. Commas, tabs or semicolons delimit; with
          semicolons numbers may have decimal commas.
        * ``.parquet``: the same columns.
        * ``.npz``: the same as arrays of one shape, (n,), or (n_models, n_challenges) for trials;
          or ``in_canary_scores`` and ``out_canary_scores``. Nothing is unpickled.
        * ``.json``: the same as an object of columns or a list of records (also under the key
          "counts").

        Case does not matter in names, the usual aliases are understood (`ALIASES`), and other
        columns are ignored.
    columns : mapping, optional
        Names of columns in the file where they are not in `ALIASES`: ``{"score": "loss_gap"}``.
    positive : object, optional
        The label that means "member", where labels are not 0/1 or false/true; compared as text.
    lower_is_member : bool
        Whether lower scores mean "member", as losses do: their sign is then turned.

    Returns
    -------
    AttackScores or AttackCounts
        Counts where there are counts, else scores where there are scores. Guesses are counted.
        Counts with a model column have ``axis="model"``, several without it ``axis="tally"``.
        Labels of models and challenges compare as text, 01 is not 1; where all are plain whole
        numbers they are integers.

    Raises
    ------
    DataError
        One line that names the file, the row where it can, and the rule. Rows are numbered as an
        editor does; those of a file that is no text from 1.
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
    return _read(path, columns, positive, lower_is_member, "scores").data


def read_file(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    positive: Any = None,
    lower_is_member: bool = False,
    prefer: Literal["scores", "guesses"] = "scores",
) -> Attack:
    r"""Read what an attack put out, with what is known of the file.

    Parameters
    ----------
    path, columns, positive, lower_is_member
        As in `read_attack`.
    prefer : "scores" or "guesses"
        What to take from trials that have both.

    Raises
    ------
    DataError, OSError
        As `read_attack`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "guesses.csv"
    >>> _ = path.write_text("member,guess,model\n1,1,a\n0,1,a\n1,0,b\n0,0,b\n")
    >>> attack = read_file(path)
    >>> attack.kind, attack.per_model, attack.data.pooled()
    ('guesses', True, AttackCounts(fn=1, tp=1, fp=1, tn=1))
    """
    check_choice(prefer, "prefer", ("scores", "guesses"))
    attack = _read(path, columns, positive, lower_is_member, prefer)
    if not isinstance(attack.data, AttackScores):
        return attack
    auc = attack.data.roc().auc
    if auc >= SUSPECT_AUC:
        return attack
    turn = "without" if lower_is_member else "with"
    note = (
        f"{attack.source}: the scores have AUC {auc:.3g}; if they point the other way, read them "
        f"{turn} lower_is_member (--lower-is-member)."
    )
    return replace(attack, notes=(*attack.notes, note))


def read_trials(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    positive: Any = None,
    lower_is_member: bool = False,
    needed_by: str = "a one-run audit",
) -> Trials:
    r"""Read scores row by row; all rows may be members, as one training run may have it.

    Parameters
    ----------
    path, columns, positive, lower_is_member
        As in `read_attack`.
    needed_by : str
        What asks for scores, for the message of a file that has none.

    Raises
    ------
    DataError, OSError
        As `read_attack`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "canaries.csv"
    >>> _ = path.write_text("member,score\n1,0.9\n1,0.2\n")
    >>> read_trials(path).score
    array([0.9, 0.2])
    """
    with named(source_name(path)), opened(path) as (form, stream):
        table = TABLES[form](stream)
        found = positions(table.names, columns)
        if not {"member", "score"} <= set(found):
            names = listed([key(name) for name in table.names])
            raise ValueError(f"{needed_by} needs columns member,score; got {names}.")
        return _trials(table, found, "score", positive, lower_is_member)


def _read(
    path: str | Path,
    columns: Mapping[str, str] | None,
    positive: Any,
    lower_is_member: bool,
    prefer: str,
) -> Attack:
    source = source_name(path)
    with named(source), opened(path) as (form, stream):
        table = TABLES[form](stream)
        found = positions(table.names, columns)
        if set(CELLS) <= set(found):
            _refuse("counts", positive=positive is not None, lower_is_member=lower_is_member)
            return _counts(table, found, source)
        if "member" not in found or not {"score", "guess"} & set(found):
            raise ValueError(
                "must have columns fn,tp,fp,tn, or member,guess, or member,score; "
                f"got {listed([key(name) for name in table.names])}{_missing(found)}."
            )
        if "guess" not in found or ("score" in found and prefer == "scores"):
            trials = _trials(table, found, "score", positive, lower_is_member)
            data = AttackScores(
                score=trials.score,
                member=trials.member,
                model=trials.model,
                challenge=trials.challenge,
            )
            return Attack(
                data=data,
                kind="scores",
                source=source,
                trials=trials,
                lower_is_member=lower_is_member,
            )
        _refuse("guesses", lower_is_member=lower_is_member)
        trials = _trials(table, found, "guess", positive, lower_is_member)
        counts = AttackCounts.from_guesses(
            guess=trials.guess, member=trials.member, model=trials.model
        )
        return Attack(data=counts, kind="guesses", source=source, trials=trials)


def _missing(found: Mapping[str, int]) -> str:
    missing = [cell for cell in CELLS if cell not in found]
    return f", missing {', '.join(missing)}" if len(missing) < len(CELLS) else ""


def _refuse(kind: str, **given: bool) -> None:
    for option in (name for name, is_given in given.items() if is_given):
        raise ValueError(f"holds {kind}, which take no {option} (--{option.replace('_', '-')}).")


def _values(
    table: Table,
    found: Mapping[str, int],
    names: tuple[str, ...],
    positive: Any = None,
    rows: list[str] | None = None,
) -> dict[str, NDArray]:
    """Return the named columns, as far as the file has them; put the rows' names into `rows`."""
    columns: dict[str, Column] = {}
    for block in table.blocks({name: found[name] for name in names if name in found}):
        for name, cells in block.cells.items():
            if name not in columns:
                columns[name] = _column(name, table.decimal, positive)
            columns[name].add(cells, block.row)
        if rows is not None:
            rows.extend(map(block.row, range(len(cells))))
    return {name: column.values() for name, column in columns.items()}


def _column(name: str, decimal: str, positive: Any) -> Column:
    if name in ("member", "guess"):
        return Bits(name, positive)
    if name in ("model", "challenge"):
        return Labels(name)
    return (Numbers if name == "score" else Wholes)(name, decimal=decimal)


def _trials(
    table: Table, found: Mapping[str, int], said: str, positive: Any, lower_is_member: bool
) -> Trials:
    values = _values(table, found, (said, "member", "model", "challenge"), positive)
    if lower_is_member:
        values["score"] = 0.0 - values["score"]
    return Trials(**values)


def _counts(table: Table, found: Mapping[str, int], source: str) -> Attack:
    """Return tallies; a single row without a model is a single tally."""
    rows: list[str] = []
    cells = _values(table, found, (*CELLS, "model"), rows=rows)
    model = cells.pop("model", None)
    axis: Literal["model", "tally"] | None = "tally"
    if model is not None:
        axis = "model"
        _require_once(model.tolist(), rows)
    elif len(rows) == 1:
        axis = None
        cells = {name: cell[0] for name, cell in cells.items()}
    notes = () if "challenge" not in found else (UNUSED_CHALLENGE.format(source),)
    data = AttackCounts(**cells, axis=axis)
    return Attack(data=data, kind="counts", source=source, notes=notes)


def _require_once(model: list[Any], rows: list[str]) -> None:
    first: dict[Any, str] = {}
    for label, row in zip(model, rows, strict=True):
        if label in first:
            raise ValueError(
                f"{row}: model must occur once in a file of counts, got {str(label)!r} again "
                f"(first in {first[label]})."
            )
        first[label] = row

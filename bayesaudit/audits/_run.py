"""Draws of the rates alone, from a tree or a file, as an audit."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from bayesaudit.audits._audit import Audit
from bayesaudit.audits._draws import recorded_twin
from bayesaudit.audits._notes import collected, once
from bayesaudit.audits._question import Question

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["audit_draws"]


def audit_draws(
    draws: "xr.DataTree | str | Path",
    *,
    delta: ArrayLike = 1e-5,
    prob: float = 0.90,
    direction: Literal["both", "member"] = "both",
    claim: float | None = None,
) -> Audit:
    """Audit draws of the rates alone: their line, and the verdicts on them.

    Parameters
    ----------
    draws : xarray.DataTree, str or path
        Draws with a posterior of ``fnr`` and ``fpr``, of one audit; or a netCDF file of them.
    delta, prob, direction, claim
        As for `audit`.

    Returns
    -------
    Audit
        Of kind "draws", with `draws`; cross-checked where the tree records counts and prior of the
        independent model.

    Raises
    ------
    ValueError, OSError
        If the file holds no such draws, or those of many tallies.
    """
    question = Question.asked(delta, prob, direction, None, claim, None, None, None)
    source = "draws"
    if isinstance(draws, str | Path):
        from bayesaudit.sampling import load

        source, draws = str(draws), load(draws)
    rates = draws["posterior"].dataset
    if "tally" in (*rates["fnr"].dims, *rates["fpr"].dims):
        raise ValueError(f"{source}: holds many tallies; diagnose them from Python, or sample one.")
    with collected() as notes:
        found = Audit(
            kind="draws",
            lines=(),
            question=question,
            counts=None,
            source=source,
            inputs={
                "file": source,
                "direction": question.direction,
                **question.inputs(),
                "run": dict(draws.attrs),
            },
        ).judged(draws, recorded_twin(draws))
    return replace(found, warnings=once(notes))

"""Reports: one audit as a page that a reviewer can be handed, from the `Audit` object alone.

`report` writes one self-contained HTML file (no script, nothing fetched), Markdown, or the JSON of
the audit; all three say the same, since they render the same content.
"""

from pathlib import Path
from typing import Any, Literal

from bayesaudit._checks import check_choice
from bayesaudit._files import check_target, write_atomically
from bayesaudit.audits import Audit

__all__ = ["report"]

Format = Literal["html", "md", "json"]


def report(
    audit: Audit,
    path: str | Path,
    *,
    format: Format | None = None,
    title: str = "Privacy audit",
    command: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write an audit as a page for a reviewer.

    Parameters
    ----------
    audit : Audit
        What `bayesaudit.audit` or `bayesaudit.audit_one_run` returned, with draws or without.
    path : str or path
        The file to write.
    format : {"html", "md", "json"}, optional
        By default what the file's name ends with, and HTML otherwise.
    title : str
        The page's title.
    command : str, optional
        The command that made it, echoed for reproducibility.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    TypeError
        If `audit` is no `Audit`.
    ValueError, OSError
        If the format is unknown, the file exists, or it cannot be written.

    Notes
    -----
    The same audit gives the same bytes: the page bears no time.

    Examples
    --------
    >>> import tempfile
    >>> import bayesaudit as ba
    >>> audit = ba.audit(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), claim=0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report(audit, f"{folder}/audit.md").read_text()
    >>> print(page.splitlines()[0])
    # Privacy audit
    """
    if not isinstance(audit, Audit):
        raise TypeError(f"audit must be an Audit, got {type(audit).__name__}.")
    path = Path(path)
    if format is None:
        suffix = path.suffix.lower().removeprefix(".")
        format = suffix if suffix in ("md", "json") else "html"
    check_choice(format, "format", ("html", "md", "json"))
    check_target(path, overwrite=overwrite)
    text = rendered(audit, format, title=title, command=command)
    write_atomically(path, lambda file: file.write(text.encode()))
    return path


def rendered(
    audit: Audit, format: Format, *, title: str = "Privacy audit", command: str | None = None
) -> str:
    """Return the text of a report."""
    import json

    from bayesaudit.reports._content import content

    if format == "json":
        return json.dumps(audit.to_dict(), indent=2, allow_nan=False) + "\n"
    from bayesaudit.reports._render import render

    found: dict[str, Any] = content(audit, title=title, command=command)
    return render(found, audit, format)

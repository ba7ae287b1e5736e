"""From a report's content to HTML or Markdown, by templates that escape what they are given."""

from typing import Any, Literal

from bayesaudit.audits import Audit

__all__ = ["render"]


def render(found: dict[str, Any], audit: Audit, format: Literal["html", "md"]) -> str:
    """Return the text of a report."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    page = Environment(
        loader=PackageLoader("bayesaudit.reports", "templates"),
        autoescape=format == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page.filters["cell"] = _cell
    figures = []
    if format == "html":
        from bayesaudit.reports._figures import drawn

        figures = [
            {
                "name": one.name,
                "finding": one.finding,
                "light": Markup(one.light),
                "dark": Markup(one.dark),
            }
            for one in drawn(audit)
        ]
    return page.get_template(f"report.{format}").render(**found, figures=figures)


def _cell(text: str) -> str:
    """Escape what would break a Markdown table, or be read as HTML."""
    escaped = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(escaped.replace("|", "\\|").split())

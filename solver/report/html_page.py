"""Pages as HTML: one file that loads nothing, for screens, phones and paper."""

from __future__ import annotations

from typing import Any

from solver.messages import sentence
from solver.report.html_blocks import Document
from solver.report.palette import DARK, LIGHT, variables

__all__ = ["document_as_html"]


def document_as_html(document: Document) -> str:
    """Return a page as HTML; all of its text is escaped."""
    template = _environment().get_template("document.html.j2")
    text: str = template.render(
        page=document, light=variables(LIGHT), dark=variables(DARK)
    )
    return text


def _environment() -> Any:
    """Return jinja2 with the package's templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("solver.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["sentence"] = sentence
    return environment

"""The page of ``gpuplan catalog check``."""

from __future__ import annotations

from collections.abc import Sequence

from solver.catalog_view.checks import CheckReport
from solver.errors import Issue
from solver.messages import sentence
from solver.report.figures import Page, Row, Section, label

__all__ = ["check_page"]


def check_page(report: CheckReport, own: Sequence[str] = ()) -> Page:
    """Return what the checks of a catalog found.

    Parameters
    ----------
    report
        What was found.
    own
        Names of the user's folders. Where there are any, warnings of the shipped
        catalog are counted and not listed, so that those of the folders are seen.
    """
    words = {
        "checked": sum(report.checked.values()),
        "errors": len(report.errors),
        "warnings": len(report.warnings),
    }
    good = not report.errors
    headline = "headline.catalog.check.good" if good else "headline.catalog.check.bad"
    counts = tuple(
        Row(label("catalog.checked", kind), f"{count:,}")
        for kind, count in report.checked.items()
    )
    parts = (
        _issues("section.catalog.errors", report.errors),
        _warnings(report.warnings, own),
        Section("section.catalog.checked", counts),
    )
    return Page(sentence(headline, **words), good, tuple(p for p in parts if p.rows))


def _warnings(issues: Sequence[Issue], own: Sequence[str]) -> Section:
    """Return the warnings, those of other folders than the user's as their number."""
    starts = tuple(f"{folder}/" for folder in own)
    listed = [i for i in issues if not own or str(i.where).startswith(starts)]
    rows = _issues("section.catalog.check-warnings", listed).rows
    if others := len(issues) - len(listed):
        text = sentence("note.catalog.check.shipped", count=others)
        rows = (*rows, Row("", text))
    return Section("section.catalog.check-warnings", rows)


def _issues(title: str, issues: Sequence[Issue]) -> Section:
    """Return issues, one a line."""
    return Section(title, tuple(Row("", str(issue)) for issue in issues))

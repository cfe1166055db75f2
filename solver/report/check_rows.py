"""The page of ``gpuplan catalog check``."""

from __future__ import annotations

from collections.abc import Sequence

from solver.catalog_view.checks import CheckReport
from solver.errors import Issue
from solver.messages import sentence
from solver.report.figures import Page, Row, Section

__all__ = ["check_page"]


def check_page(report: CheckReport) -> Page:
    """Return what the checks of a catalog found."""
    words = {
        "checked": sum(report.checked.values()),
        "errors": len(report.errors),
        "warnings": len(report.warnings),
    }
    good = not report.errors
    headline = "headline.catalog.check.good" if good else "headline.catalog.check.bad"
    counts = tuple(
        Row(kind.replace("_", " "), f"{count:,}")
        for kind, count in report.checked.items()
    )
    parts = (
        _issues("section.catalog.errors", report.errors),
        _issues("section.catalog.check-warnings", report.warnings),
        Section("section.catalog.checked", counts),
    )
    return Page(sentence(headline, **words), good, tuple(p for p in parts if p.rows))


def _issues(title: str, issues: Sequence[Issue]) -> Section:
    """Return issues, one a line."""
    return Section(title, tuple(Row("", str(issue)) for issue in issues))

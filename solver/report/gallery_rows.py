"""The page that lists the shipped scenarios."""

from __future__ import annotations

from collections.abc import Iterable

from solver.messages import sentence
from solver.report.figures import Grid, Page

__all__ = ["gallery_page"]


def gallery_page(entries: Iterable[tuple[str, str]]) -> Page:
    """Return the list of scenarios as a page.

    Parameters
    ----------
    entries
        Name of each scenario and the question that it answers.
    """
    columns = (sentence("column.scenario"), sentence("column.question"))
    grid = Grid("section.scenarios", columns, tuple(entries))
    return Page(sentence("headline.scenarios"), True, (grid,))

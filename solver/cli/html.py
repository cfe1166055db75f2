"""``--html``: an answer as one HTML page in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solver.cli.outputs import check_writable, write_file

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.plan import PlanResult
    from solver.report.html_blocks import Document
    from solver.scenario.scenario import Scenario

__all__ = ["HtmlFile", "check_html", "write_answer", "write_document"]

OPTION = "--html"

HtmlFile = Annotated[
    Path | None,
    typer.Option(
        OPTION,
        metavar="FILE",
        show_default=False,
        help="Also write one HTML page with charts to FILE; it loads nothing.",
    ),
]


def check_html(file: Path | None) -> None:
    """Refuse an ``--html`` that could not be done, before any work is done.

    Raises
    ------
    InputError
        The file cannot be written, or matplotlib is missing.
    """
    if file is None:
        return
    from solver.report.pictures import check_drawing

    check_drawing(OPTION)
    check_writable(file, OPTION)


def write_document(file: Path, document: Document) -> None:
    """Write a page.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    from solver.report.html_page import document_as_html

    write_file(file, document_as_html(document), OPTION)


def write_answer(
    file: Path, result: PlanResult, job: Scenario, catalog: Catalog, *, quiet: bool
) -> None:
    """Write the page of an answer, with what surrounds the plan of one job.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    from solver.acting.basis import acting_on_result
    from solver.acting.route import route_of
    from solver.cli.progress import ProgressLine
    from solver.interruption import gently
    from solver.planning.surroundings import surroundings
    from solver.report.html_plan import answer_document

    around = None
    if result.plan is not None and result.total is None:
        with gently(), ProgressLine(wanted=not quiet) as line:
            around = surroundings(job, catalog, result.plan, line.update)
    acting = acting_on_result(result, job, catalog)
    route = None if acting is None else route_of(acting)
    write_document(file, answer_document(result, catalog, around, route))

"""``gpuplan pareto``: what a shorter run costs, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solver.cli.html import HtmlFile, check_html, write_document
from solver.cli.inputs import (
    AsJson,
    CatalogFolders,
    OfferTables,
    OnlyThese,
    Overrides,
    Quiet,
    ScenarioName,
    read_inputs,
)
from solver.cli.outputs import CsvFile, check_csv, check_writable, deliver, tell_letters
from solver.cli.solve import STATUS
from solver.errors import InputError, Issue, nearest, shown

if TYPE_CHECKING:
    from solver.frontier import Third

__all__ = ["pareto"]

THIRDS: tuple[Third, ...] = ("memory_headroom", "carbon")

ThirdFigure = Annotated[
    str | None,
    typer.Option(
        "--third",
        metavar="FIGURE",
        show_default=False,
        help="Let a third figure count as well: memory_headroom or carbon.",
    ),
]
Points = Annotated[
    int,
    typer.Option(
        "--points",
        metavar="N",
        min=3,
        help="Show at most N points, evenly; CSV, JSON and picture have all.",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default=False,
        help="Draw the frontier (.png, .svg, .pdf); needs matplotlib.",
    ),
]


def pareto(
    scenario: ScenarioName,
    third: ThirdFigure = None,
    points: Points = 20,
    plot: Plot = None,
    catalog: CatalogFolders = None,
    overrides: Overrides = None,
    offers: OfferTables = None,
    only: OnlyThese = False,
    csv: CsvFile = None,
    html: HtmlFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Show what a shorter run costs: every plan that no other betters in cost and time.

    The frontier is exact within the constraints of the scenario: under each point's
    cost nothing ends sooner. Of each point the servers and the layout are told, and
    what a day saved costs; the knee is marked. The objective plays no part.
    """
    check_csv(csv, as_json=as_json)
    check_html(html)
    if plot is not None:
        from solver.report.pictures import check_picture

        check_picture(plot)
        check_writable(plot, "--plot")
        _check_apart(csv, plot)
    faults = _faults_of(third)
    job, entries = read_inputs(
        scenario, catalog, overrides, offers=offers, only=only, faults=faults
    )
    from solver.cli.progress import ProgressLine
    from solver.interruption import gently
    from solver.planning.pareto import pareto as frontier_of

    counted = next((name for name in THIRDS if name == third), None)
    with gently(), ProgressLine(wanted=not quiet) as line:
        found = frontier_of(job, entries, third=counted, progress=line.update)
    from solver.report.pareto_rows import frontier_as_csv, pareto_page

    deliver(
        csv,
        as_json=as_json,
        table=lambda: frontier_as_csv(found),
        data=found.as_dict,
        page=lambda width: pareto_page(found, width, points),
    )
    if plot is not None and found.points:
        from solver.report.pareto_plot import draw_frontier

        draw_frontier(found, plot)
        tell_letters()
    if html is not None:
        from solver.report.html_tables import frontier_document

        write_document(html, frontier_document(found, points))
    return STATUS[found.status]


def _check_apart(csv: str | None, plot: Path) -> None:
    """Refuse to draw over the table that is written."""
    if csv is not None and Path(csv).resolve() == plot.resolve():
        message = "--csv and --plot name one file; expected one for each"
        raise InputError([Issue("bad-usage", message, f"--plot {plot}")])


def _faults_of(third: str | None) -> list[Issue]:
    """Return what is wrong with ``--third``."""
    if third is None or third in THIRDS:
        return []
    message = f"expected one of {', '.join(THIRDS)}, not {shown(third)}"
    return [Issue("bad-usage", message, "--third", hint=nearest(third, THIRDS))]

"""``gpuplan compare``: the same job with one dimension fixed to each value."""

from __future__ import annotations

from collections.abc import Sequence
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
    read_scenario,
)
from solver.cli.outputs import CsvFile, check_csv, deliver
from solver.errors import InputError, Issue, nearest, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.planning.comparing import Comparison
    from solver.scenario.scenario import Scenario

__all__ = ["compare"]

BY = ("region", "country", "provider", "gpu", "purchase", "network", "method")

STATUS_INFEASIBLE = 3
STATUS_UNKNOWN = 4

By = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="WHAT",
        show_default=False,
        help="What differs: region, country, provider, gpu, purchase, network, method.",
    ),
]
Everything = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Also values that the scenario forbids, and those without usable offers.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        show_default=False,
        help="Show the N best only; CSV and JSON have all.",
    ),
]


def compare(
    scenario: ScenarioName,
    by: By,
    everything: Everything = False,
    limit: Limit = None,
    catalog: CatalogFolders = None,
    overrides: Overrides = None,
    offers: OfferTables = None,
    only: OnlyThese = False,
    csv: CsvFile = None,
    html: HtmlFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Compare regions, GPUs, purchase kinds and so on: the best plan with each.

    Each row is proved by a search of its own; what makes the difference to the best is
    told in figures that add up, and why a value has no plan. A limit of the scenario on
    the dimension itself narrows the rows; all purchase kinds are compared. The exit
    status is 3 where no value has a plan.
    """
    check_csv(csv, as_json=as_json)
    check_html(html)
    faults = _faults_of(by)
    job, entries = read_inputs(
        scenario, catalog, overrides, offers=offers, only=only, faults=faults
    )
    from solver.cli.progress import ProgressLine
    from solver.interruption import gently
    from solver.planning import comparing

    with gently(), ProgressLine(wanted=not quiet) as line:
        if by == "method":
            key = "method" if job.workload.kind == "train" else "train"
            asked = {
                method: _asked(
                    {"--by method": (f"workload.{key}", method)},
                    scenario,
                    entries,
                    overrides,
                    offers,
                    only=only,
                )
                for method in comparing.METHODS
            }
            found = comparing.compare_methods(asked, entries, line.update)
        else:
            found = comparing.compare(
                job, entries, by, everything=everything, progress=line.update
            )
    from solver.report.compare_rows import compare_page, comparison_as_csv

    deliver(
        csv,
        as_json=as_json,
        table=lambda: comparison_as_csv(found),
        data=found.as_dict,
        page=lambda width: compare_page(found, width, limit),
    )
    if html is not None:
        from solver.report.html_tables import comparison_document

        write_document(html, comparison_document(found, entries.regions, limit))
    return _status(found)


def _faults_of(by: str) -> list[Issue]:
    """Return what is wrong with ``--by``."""
    if by in BY:
        return []
    message = f"expected one of {', '.join(BY)}, not {shown(by)}"
    return [Issue("bad-usage", message, "--by", hint=nearest(by, BY))]


def _asked(
    option: dict[str, tuple[str, str]],
    scenario: str,
    catalog: Catalog,
    overrides: Sequence[str] | None,
    offers: Sequence[Path] | None,
    *,
    only: bool,
) -> Scenario | tuple[Issue, ...]:
    """Return the scenario with another training method, or why it cannot be asked."""
    try:
        return read_scenario(
            scenario, catalog, overrides, option, offers=offers, only=only
        )
    except InputError as error:
        return tuple(error.issues)


def _status(found: Comparison) -> int:
    """Return the exit status: 3 if all rows are proved to have no plan."""
    if found.planned:
        return 0
    if any(row.status == "unknown" for row in found.rows):
        return STATUS_UNKNOWN
    return STATUS_INFEASIBLE

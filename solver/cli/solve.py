"""``gpuplan solve``: the best configuration, proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solver.cli.html import HtmlFile, check_html, write_answer
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
from solver.cli.outputs import check_writable
from solver.cli.terminal import note, write, write_page

if TYPE_CHECKING:
    from solver.plan import PlanResult

__all__ = ["solve"]

STATUS = {"optimal": 0, "feasible": 0, "infeasible": 3, "unknown": 4}
"""Exit status by the status of the answer."""


ExportModel = Annotated[
    Path | None,
    typer.Option(
        "--export-model",
        metavar="FILE",
        show_default=False,
        help="Also write the CP-SAT model to FILE, as text.",
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="TIME",
        show_default=False,
        help="Stop after this long, such as '60 s'.",
    ),
]
Gap = Annotated[
    str | None,
    typer.Option(
        "--gap",
        metavar="SHARE",
        show_default=False,
        help="Stop when no plan can be better by more than this, such as 1%.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        show_default=False,
        help="Threads to search with. One is as fast, and reproducible.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", min=0, show_default=False, help="Seed of the search."
    ),
]
PriceAge = Annotated[
    str | None,
    typer.Option(
        "--max-price-age",
        metavar="TIME",
        show_default=False,
        help="Warn of prices that are older, such as '90 days'; 180 days by default.",
    ),
]
Alternatives = Annotated[
    int,
    typer.Option(
        "--alternatives",
        metavar="N",
        min=0,
        help="Look for at most this many runners-up.",
    ),
]
Log = Annotated[
    bool, typer.Option("--log", help="Show the search as it goes, on standard error.")
]


def solve(
    scenario: ScenarioName,
    catalog: CatalogFolders = None,
    overrides: Overrides = None,
    offers: OfferTables = None,
    only: OnlyThese = False,
    as_json: AsJson = False,
    html: HtmlFile = None,
    export_model: ExportModel = None,
    time_limit: TimeLimit = None,
    gap: Gap = None,
    workers: Workers = None,
    seed: Seed = None,
    alternatives: Alternatives = 5,
    max_price_age: PriceAge = None,
    log: Log = False,
    quiet: Quiet = False,
) -> int:
    """Find the cheapest (or fastest) configuration, and prove it."""
    from solver.cli.progress import ProgressLine

    if export_model is not None:
        check_writable(export_model, "--export-model")
    check_html(html)
    options = {
        "--time-limit": ("limits.time", time_limit),
        "--gap": ("limits.gap", gap),
        "--workers": ("limits.workers", workers),
        "--seed": ("limits.seed", seed),
        "--max-price-age": ("limits.price_age", max_price_age),
    }
    job, entries = read_inputs(
        scenario, catalog, overrides, options, offers=offers, only=only, phased=True
    )
    from solver.planning.answering import answer

    with ProgressLine(wanted=not (quiet or log)) as line:
        result = answer(
            job,
            entries,
            export_model=export_model,
            log=note if log else None,
            progress=line.update,
            alternatives=alternatives,
        )
    _print(result, as_json=as_json, quiet=quiet)
    if html is not None:
        write_answer(html, result, job, entries, quiet=quiet)
    return STATUS[result.status]


def _print(result: PlanResult, *, as_json: bool, quiet: bool) -> None:
    """Print an answer as the user wants it."""
    if as_json:
        from solver.report.as_json import result_as_json

        write(result_as_json(result))
        return
    from solver.report.phase_rows import answer_page

    answer = answer_page(result)
    write_page(replace(answer, parts=()) if quiet else answer)

"""``gpuplan explain``: what stands in the way, or what holds the plan back."""

from __future__ import annotations

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
from solver.cli.solve import STATUS, PriceAge, Seed, TimeLimit
from solver.cli.terminal import write, write_page

__all__ = ["explain"]


def explain(
    scenario: ScenarioName,
    catalog: CatalogFolders = None,
    overrides: Overrides = None,
    offers: OfferTables = None,
    only: OnlyThese = False,
    as_json: AsJson = False,
    html: HtmlFile = None,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    max_price_age: PriceAge = None,
    quiet: Quiet = False,
) -> int:
    """Tell what stands in the way of a plan, or what holds it back and at what price.

    With a plan: which requirements bind, what one step more of each would save, and the
    price below which each losing offer would win. Without one: what is in conflict, and
    the least change of each requirement that opens a plan. Everything is solved again.
    """
    from solver.cli.progress import ProgressLine
    from solver.interruption import gently

    check_html(html)
    options = {
        "--time-limit": ("limits.time", time_limit),
        "--seed": ("limits.seed", seed),
        "--max-price-age": ("limits.price_age", max_price_age),
    }
    job, entries = read_inputs(
        scenario, catalog, overrides, options, offers=offers, only=only
    )
    from solver.planning.insight import explain_job

    with gently(), ProgressLine(wanted=not quiet) as line:
        insight = explain_job(job, entries, progress=line.update)
    if as_json:
        from solver.report.as_json import insight_as_json

        write(insight_as_json(insight))
    else:
        from solver.report.insight_rows import insight_page

        write_page(insight_page(insight))
    if html is not None:
        from solver.report.html_tables import insight_document

        write_document(html, insight_document(insight))
    return STATUS[insight.result.status]

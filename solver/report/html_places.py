"""The GPU of a plan in other regions, as a table and on a map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.plan import Plan
from solver.planning.comparing import ComparedRow, Comparison
from solver.report.charts_map import Place, world_map
from solver.report.compare_rows import to_best
from solver.report.figures import duration_text, gpu_name, number, region_text
from solver.report.html_blocks import Chart, Table
from solver.units import format_usd
from solver.wording import day_text

if TYPE_CHECKING:
    from solver.catalog.schema import Region

__all__ = ["map_chart", "places"]

_ON_PAPER = 7
"""Rows that are shown at once, and printed."""


def places(
    comparison: Comparison, regions: Mapping[str, Region], plan: Plan
) -> Iterator[Chart | Table]:
    """Yield where the plan's GPU can be had, at what price and with what result.

    With one region there is nothing to compare, and without a known place no map.
    """
    if len(comparison.rows) > 1:
        yield _places(comparison, regions, plan)


def _places(
    comparison: Comparison, regions: Mapping[str, Region], plan: Plan
) -> Chart | Table:
    """Return the regions as a map and a table, or as a table alone."""
    text = sentence(
        "html.regions.text",
        gpu=gpu_name(plan.gpu),
        planned=len(comparison.planned),
        rows=len(comparison.rows),
    )
    table = _table(comparison, regions)
    drawn = _map(comparison, regions, table.title, text)
    return table if drawn is None else drawn


def map_chart(comparison: Comparison, regions: Mapping[str, Region]) -> Iterator[Chart]:
    """Yield all compared regions on a map, where the place of one is known."""
    title = sentence("html.map")
    text = sentence(
        "html.map.text",
        planned=len(comparison.planned),
        rows=len(comparison.rows),
    )
    drawn = _map(comparison, regions, title, text)
    if drawn is not None:
        yield drawn


def _map(
    comparison: Comparison, regions: Mapping[str, Region], title: str, text: str
) -> Chart | None:
    """Return the compared regions on a map; None: no place is known."""
    marked = [
        Place(region.lon, region.lat, _kind(row, comparison))
        for row in comparison.rows
        if (region := regions.get(row.value)) is not None
        and region.lon is not None
        and region.lat is not None
    ]
    if not marked:
        return None
    missing = len(comparison.rows) - len(marked)
    note = text
    if missing:
        note += " " + sentence("html.regions.unplaced", count=missing)
    note += " " + sentence("html.map.land")
    svg = world_map("chart-regions", title, text, marked)
    legend = tuple(
        (mark, sentence(f"html.map.{kind}"))
        for mark, kind in (("★", "best"), ("●", "plan"), ("×", "none"))
    )
    table = _table(comparison, regions)
    return Chart("regions", title, svg, (table,), note, legend, wide=True)


def _kind(row: ComparedRow, comparison: Comparison) -> str:
    """Return how a region is marked."""
    if row is comparison.best:
        return "best"
    return "plan" if row.plan is not None else "none"


def _table(comparison: Comparison, regions: Mapping[str, Region]) -> Table:
    """Return a row a region, the best first."""
    names = ("region", "place", "price", "stock", "result")
    heads = [sentence(f"html.column.{name}") for name in names]
    heads[4:4] = [sentence("column.cost"), sentence("column.to_best")]
    rows = tuple(_row(row, comparison, regions) for row in comparison.rows)
    title = sentence("html.regions")
    best = (0,) if comparison.best is not None else ()
    return Table(
        "regions-table",
        title,
        tuple(heads),
        rows,
        right=(2, 4, 5),
        first=_ON_PAPER,
        wide=True,
        strong=best,
    )


def _row(
    row: ComparedRow, comparison: Comparison, regions: Mapping[str, Region]
) -> tuple[str, ...]:
    """Return a region with its price, stock and result."""
    region = regions.get(row.value)
    place = ", ".join(filter(None, (region.city, region.country))) if region else ""
    provider, _, name = row.value.partition("/")
    where = row.value if not name else f"{provider}/{region_text(name)}"
    if row.plan is None:
        reasons = "; ".join(message.text for message in row.reasons)
        nothing = sentence("value.unknown")
        return (where, place, nothing, nothing, nothing, nothing, reasons)
    plan = row.plan
    known = "known" if plan.stock_known else "assumed"
    return (
        where,
        place,
        number(plan.usd_per_gpu_hour),
        sentence(
            f"value.stock_used.{known}",
            nodes=plan.rented_nodes,
            stock=plan.stock_nodes,
        ),
        format_usd(plan.cost_usd),
        to_best(comparison, row),
        sentence(
            "value.finish",
            days=duration_text(plan.duration_days),
            day=day_text(plan.finish),
        ),
    )

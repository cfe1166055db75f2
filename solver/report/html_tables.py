"""Comparisons, frontiers, reasons and sweeps as HTML pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.planning.comparing import ComparedRow, Comparison
from solver.report.charts import Bar, bars, inline
from solver.report.charts_frontier import frontier_chart
from solver.report.compare_rows import WIDE, compare_page
from solver.report.figures import Page, Row, duration_text, number
from solver.report.html_asked import asked_block, footer_text
from solver.report.html_blocks import (
    Block,
    Chart,
    Document,
    Facts,
    blocks_of,
    table_of,
)
from solver.report.html_places import map_chart
from solver.report.html_plan import plan_facts, status_text, tone_of
from solver.report.insight_rows import insight_page
from solver.report.pareto_rows import pareto_page
from solver.report.sweep_plot import KINDS, chosen_axes, results_as_svg
from solver.report.sweep_rows import results_page
from solver.units import format_mwh, format_tonnes, format_usd

if TYPE_CHECKING:
    from solver.catalog.schema import Region
    from solver.planning.insight import Insight
    from solver.planning.pareto import Frontier
    from solver.sweeps.results import Results

__all__ = [
    "comparison_document",
    "frontier_document",
    "insight_document",
    "results_document",
]

_MOST_BARS = 15
"""Values of a comparison that are drawn; the table has all."""


def _document(
    page: Page, about: str, blocks: Iterable[Block], facts: tuple[Row, ...] = ()
) -> Document:
    """Return a page without a proof of its own: the headline says what is known."""
    return Document(
        title=f"{about} – gpuplan",
        eyebrow=about,
        headline=page.headline,
        tone="good" if page.good else "bad",
        status="",
        facts=Facts(facts),
        blocks=tuple(blocks),
        footer="",
    )


def comparison_document(
    comparison: Comparison, regions: Mapping[str, Region], limit: int | None = None
) -> Document:
    """Return a comparison as a page; ``limit`` as that of `compare_page`."""
    page = compare_page(comparison, WIDE, limit)
    parts = list(page.parts)
    blocks: list[Block] = []
    if comparison.planned:
        first = parts.pop(0)
        rows = comparison.planned[: min(limit or _MOST_BARS, _MOST_BARS)]
        text = sentence("html.compare.text", count=len(rows))
        svg = bars("chart-compare", first.title, text, _bars(comparison, rows))
        table = table_of(first, wide=True)
        blocks.append(Chart("compare", first.title, svg, (table,), text, wide=True))
    if comparison.by == "region":
        blocks += map_chart(comparison, regions)
    return _document(page, comparison.scenario, [*blocks, *blocks_of(parts)])


def _bars(comparison: Comparison, rows: tuple[ComparedRow, ...]) -> list[Bar]:
    """Return a bar a row: what is minimised, or what it costs."""
    sizes = [_size(comparison, row) for row in rows]
    most = max(size for size, _ in sizes) or 1.0
    return [
        Bar(
            row.value,
            text,
            0.0,
            size / most,
            "good" if row is comparison.best else "c0",
        )
        for row, (size, text) in zip(rows, sizes, strict=True)
    ]


def _size(comparison: Comparison, row: ComparedRow) -> tuple[float, str]:
    """Return what is compared of a row, and as shown."""
    if row.plan is None:
        return 0.0, sentence("value.unknown")
    plan = row.plan
    if comparison.objective == "time":
        return plan.duration_days, duration_text(plan.duration_days)
    if comparison.objective == "carbon" and plan.carbon_t is not None:
        return plan.carbon_t, format_tonnes(plan.carbon_t)
    if comparison.objective == "energy" and plan.energy_mwh is not None:
        return plan.energy_mwh, format_mwh(plan.energy_mwh)
    return plan.cost_usd, format_usd(plan.cost_usd)


def frontier_document(frontier: Frontier, most: int) -> Document:
    """Return a frontier as a page; ``most`` as that of `pareto_page`."""
    page = pareto_page(frontier, WIDE, most)
    parts = list(page.parts)
    blocks: list[Block] = []
    if frontier.points:
        knee = next((point.plan for point in frontier.points if point.knee), None)
        first = parts.pop(0)
        proved = "" if frontier.status == "optimal" else ".open"
        text = sentence(f"html.frontier.text{proved}", points=len(frontier.points))
        svg = frontier_chart(
            "chart-frontier",
            first.title,
            text,
            frontier,
            knee,
            sentence("value.knee"),
        )
        table = table_of(first, wide=True)
        blocks.append(Chart("frontier", first.title, svg, (table,), text, wide=True))
    return _document(page, frontier.scenario, [*blocks, *blocks_of(parts)])


def insight_document(insight: Insight) -> Document:
    """Return the reasons for an answer as a page."""
    result = insight.result
    page = insight_page(insight)
    facts = plan_facts(result.plan, result).rows if result.plan is not None else ()
    return Document(
        title=f"{result.scenario} – gpuplan",
        eyebrow=result.scenario,
        headline=page.headline,
        tone=tone_of(result),
        status=status_text(result),
        facts=Facts(facts),
        blocks=(*blocks_of(page.parts), *asked_block(result)),
        footer=footer_text(result),
    )


def results_document(results: Results, limit: int) -> Document:
    """Return the results of a sweep as a page; ``limit`` as that of `results_page`."""
    page = results_page(results, limit)
    name = str(results.facts.get("name", ""))
    blocks = blocks_of(page.parts)
    facts = (Row(sentence("html.fact.points"), number(len(results.planned))),)
    return _document(page, name, [*_pictures(results, page), *blocks], facts)


def _pictures(results: Results, page: Page) -> Iterable[Chart]:
    """Yield what can be drawn of the results."""
    axes = len(results.dimensions)
    if not results.planned or not axes:
        return
    tables = tuple(table_of(part) for part in page.parts[1:2])
    for kind in KINDS:
        if axes > 1 or kind == "lines":
            title = sentence(f"html.sweep.{kind}")
            svg = results_as_svg(results, kind, chosen_axes(results, kind))
            text = sentence(f"plot.sweep.{results.figure}")
            drawn = inline(svg.encode(), f"chart-{kind}", title, text)
            on_paper = drawn.replace("<svg ", '<svg class="paper" ', 1)
            yield Chart(f"sweep-{kind}", title, on_paper, tables, text)

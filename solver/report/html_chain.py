"""A chain of phases on a page: what is rented when, and each phase's layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from solver.messages import sentence
from solver.plan import PhasePlan, PlanResult, Total
from solver.report.charts import Bar, bars
from solver.report.figures import Grid, Row, Section, duration_text, percent
from solver.report.html_blocks import Block, Chart, Facts, Table, table_of
from solver.report.html_charts import share_chart
from solver.report.html_layout import drawing
from solver.units import format_usd

__all__ = ["chain_blocks", "chain_facts"]


def chain_facts(result: PlanResult) -> Facts:
    """Return the key figures of all phases together."""
    total = _total(result)
    leases = sentence("html.fact.leases", leases=len(result.leases))
    rows = [
        Row(
            sentence("html.fact.cost"),
            format_usd(total.cost_usd),
            note=sentence("html.fact.p90", value=format_usd(total.cost_p90_usd)),
        ),
        Row(
            sentence("section.duration"),
            duration_text(total.duration_days),
            note=sentence(
                "html.fact.p90", value=duration_text(total.duration_p90_days)
            ),
        ),
        Row(sentence("html.fact.chain"), f"{len(result.phases)}", note=leases),
        Row(sentence("row.gpu_hours"), f"{total.gpu_hours:,.0f}"),
    ]
    if result.proof.gap is not None:
        note = sentence("html.fact.candidates", candidates=result.proof.candidates)
        gap = percent(result.proof.gap)
        rows.append(Row(sentence("html.fact.proof"), gap, note=note))
    return Facts(tuple(rows))


def _total(result: PlanResult) -> Total:
    """Return the totals of a chain."""
    if result.total is None:
        raise ValueError("only a chain of phases has totals")
    return result.total


def chain_blocks(
    result: PlanResult, sections: Mapping[str, Section | Grid]
) -> tuple[Block, ...]:
    """Return the timeline, cost and time of the chain, and each phase's layout."""
    total = _total(result)
    parts = {id_: part for id_, part in sections.items() if isinstance(part, Section)}
    moves = [sections["section.moves"]] if "section.moves" in sections else []
    return (
        _timeline(result, sections),
        share_chart(
            parts["section.cost"],
            [usd for usd in total.cost_parts_usd.values() if usd],
            format_usd(total.cost_usd),
        ),
        share_chart(
            parts["section.duration"],
            [days for days in total.duration_parts_days.values() if days],
            duration_text(total.duration_days),
        ),
        *(table_of(grid, wide=True) for grid in moves),
        *(_drawn(number, phase) for number, phase in enumerate(result.phases)),
    )


def _timeline(result: PlanResult, sections: Mapping[str, Section | Grid]) -> Chart:
    """Return when each phase runs and each lease is paid."""
    whole = max(lease.end_day for lease in result.leases)
    rows = []
    for number, lease in enumerate(result.leases):
        label = sentence("html.timeline.lease", number=number + 1, nodes=lease.nodes)
        days = _days(lease.start_day, lease.end_day)
        rows.append(
            Bar(label, days, lease.start_day / whole, lease.end_day / whole, "c6")
        )
        rows += [
            Bar(
                phase.name,
                _days(phase.start_day, phase.end_day),
                phase.start_day / whole,
                phase.end_day / whole,
                f"c{place % 6}",
            )
            for place, phase in enumerate(result.phases)
            if phase.lease == number
        ]
    title = sentence("html.timeline")
    counts = {"phases": len(result.phases), "leases": len(result.leases)}
    text = sentence("html.timeline.text", **counts)
    tables: tuple[Table, ...] = tuple(
        table_of(sections[id_], wide=True)
        for id_ in ("section.phases", "section.leases")
    )
    svg = bars("chart-timeline", title, text, rows)
    return Chart("timeline", title, svg, tables, text, wide=True)


def _days(start: float, end: float) -> str:
    """Return from which to which day something lasts."""
    return sentence("html.days", start=f"{start:,.1f}", end=f"{end:,.1f}")


def _drawn(number: int, phase: PhasePlan) -> Block:
    """Return the layout of a phase, drawn."""
    drawn = drawing(phase.plan)
    title = sentence("html.phase", name=phase.name)
    table = replace(drawn.table, id=f"{drawn.table.id}-{number}")
    return replace(drawn, id=f"{drawn.id}-{number}", title=title, table=table)

"""The charts of a plan: cost, time, memory and a step, each with its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from solver.messages import sentence
from solver.plan import Plan
from solver.report.charts import Bar, bars
from solver.report.figures import Row, Section, of_whole
from solver.report.html_blocks import Chart, table_of

__all__ = ["memory_chart", "share_chart", "step_chart"]

_COLOURS = 7


def share_chart(section: Section, parts: Sequence[float], total: str) -> Chart:
    """Return the parts of a whole as bars, each beginning where the last one ends.

    Parameters
    ----------
    section
        The rows of the parts come first in it; all are the chart's table.
    parts
        Size of each of those rows.
    total
        The whole, as shown.
    """
    kind = section.id.removeprefix("section.")
    text = sentence(f"html.chart.{kind}", total=total)
    rows = _waterfall(section.rows, parts, sum(parts))
    svg = bars(f"chart-{kind}", section.title, text, rows)
    return Chart(kind, section.title, svg, (table_of(section),), text)


def _waterfall(rows: Sequence[Row], parts: Sequence[float], whole: float) -> list[Bar]:
    """Return a bar a part, from where the one before ends."""
    found, start = [], 0.0
    for place, (row, part) in enumerate(zip(rows, parts, strict=False)):
        end = start + part / whole if whole > 0 else start
        found.append(Bar(row.label, row.value, start, end, _colour(place)))
        start = end
    return found


def _colour(place: int) -> str:
    """Return the colour of a part by its place."""
    return f"c{place % _COLOURS}"


def memory_chart(section: Section, memory_gib: Mapping[str, float]) -> Chart:
    """Return the memory of the fullest GPU, stacked against what the card has."""
    capacity, total = memory_gib["capacity"], memory_gib["total"]
    parts = [
        size
        for name, size in memory_gib.items()
        if size and name not in ("capacity", "total")
    ]
    rows = _waterfall(section.rows, parts, capacity)
    free = max(capacity - total, 0.0)
    amounts = {"used": total, "capacity": capacity, "free": free}
    shown = {k: of_whole(v, capacity, "GiB") for k, v in amounts.items()}
    used = total / capacity
    rows.append(Bar(sentence("html.free"), shown["free"], min(used, 1.0), 1.0, "line"))
    text = sentence("html.chart.memory", **shown)
    svg = bars("chart-memory", section.title, text, rows, stack=rows)
    return Chart("memory", section.title, svg, (table_of(section),), text)


def step_chart(section: Section, plan: Plan) -> Chart:
    """Return the exposed parts of a step up to the whole, with its interval."""
    parts = [seconds for seconds in plan.step_time_parts_s.values() if seconds]
    low, high = plan.step_time_p10_s, plan.step_time_p90_s
    whole = max(plan.step_time_s, high or 0.0)
    rows = _waterfall(section.rows, parts, whole)
    total = section.rows[len(parts)]
    if low is None or high is None:
        end = plan.step_time_s / whole
        rows.append(Bar(total.label, total.value, 0.0, end, "c6"))
        text = sentence("html.chart.step", total=total.value)
    else:
        interval = section.rows[len(parts) + 1].value
        whisker = (low / whole, high / whole)
        end = plan.step_time_s / whole
        rows.append(Bar(total.label, total.value, 0.0, end, "c6", whisker))
        words = {"total": total.value, "interval": interval}
        text = sentence("html.chart.step-interval", **words)
    svg = bars("chart-step", section.title, text, rows)
    return Chart("step", section.title, svg, (table_of(section),), text)

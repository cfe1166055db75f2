"""The page and the table of ``gpuplan compare``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from solver.errors import InternalError
from solver.messages import sentence
from solver.plan import Plan
from solver.planning.comparing import ComparedRow, Comparison
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    label,
    number,
    rented_text,
)
from solver.report.plan_cells import (
    PLAN_COLUMNS,
    layout_text,
    plan_cells,
    plans_as_csv,
)
from solver.units import format_usd
from solver.wording import clauses, day_text, listed

__all__ = [
    "causes_text",
    "change_text",
    "compare_page",
    "comparison_as_csv",
    "to_best",
]

WIDE = 112
"""Columns of a terminal from which servers, layout and stock have one each."""

_TELLING = 0.02
"""Causes below this share of the largest one are added up as 'other'."""

_MOST_CAUSES = 3


def compare_page(comparison: Comparison, width: int, limit: int | None = None) -> Page:
    """Return a comparison as a page.

    Parameters
    ----------
    comparison
        What to show.
    width
        Columns of the terminal.
    limit
        Most rows with a plan to show; None: all.
    """
    shown = comparison.planned[:limit]
    parts: list[Grid | Section] = []
    if shown:
        parts.append(_rows(comparison, shown, width))
    if len(shown) > 1:
        parts.append(_differences(comparison, shown))
    hidden = len(comparison.planned) - len(shown)
    none = [row for row in comparison.rows if row.plan is None]
    if none:
        parts.append(_without_plan(comparison, none))
    notes = _notes(comparison, shown, hidden)
    if notes:
        parts.append(Section("section.notes", tuple(Row("", n) for n in notes)))
    return Page(_headline(comparison), bool(comparison.planned), tuple(parts))


def _headline(comparison: Comparison) -> str:
    """Return which value is best, in one sentence."""
    best, planned = comparison.best, comparison.planned
    dimension = label("dimension", comparison.by)
    if best is None or best.plan is None:
        return sentence("headline.compare.none", dimension=dimension)
    known = all(row.status != "unknown" for row in comparison.rows)
    proved = known and all(row.status == "optimal" for row in planned)
    return sentence(
        "headline.compare" if proved else "headline.compare.open",
        dimension=dimension,
        value=best.value,
        what=rented_text(best.plan),
        cost=format_usd(best.plan.cost_usd),
        duration=duration_text(best.plan.duration_days),
        planned=len(planned),
        rows=len(comparison.rows),
    )


def _rows(comparison: Comparison, rows: tuple[ComparedRow, ...], width: int) -> Grid:
    """Return the rows with a plan: cost, finish, servers, layout, stock."""
    names = ["column.cost", "column.to_best", "column.finish"]
    wide = width >= WIDE
    names += (
        ["column.servers", "column.layout", "column.stock"] if wide else ["column.plan"]
    )
    cells = []
    for row in rows:
        plan = _known(row)
        finish = sentence(
            "value.finish" if wide else "value.finish.narrow",
            days=duration_text(plan.duration_days),
            day=day_text(plan.finish),
        )
        what = [rented_text(plan)]
        what += [layout_text(plan.layout), _stock(plan)]
        if not wide:
            what = ["\n".join(what)]
        value = row.value if row.forbidden_by is None else f"{row.value} (!)"
        difference = to_best(comparison, row)
        cells.append((value, format_usd(plan.cost_usd), difference, finish, *what))
    heads = (label("dimension", comparison.by), *map(sentence, names))
    return Grid("section.compare", heads, tuple(cells), right=(1, 2))


def _known(row: ComparedRow) -> Plan:
    """Return the plan of a row that has one."""
    if row.plan is None:
        raise InternalError(f"the row '{row.value}' has no plan to show")
    return row.plan


def _stock(plan: Plan) -> str:
    """Return how much of the stock a plan takes, and whether that is known."""
    known = "value.stock_used.known" if plan.stock_known else "value.stock_used.assumed"
    rented = plan.rented_nodes
    return sentence(known, nodes=rented, stock=plan.stock_nodes)


def to_best(comparison: Comparison, row: ComparedRow) -> str:
    """Return what a row has more of what is minimised than the best one."""
    if row is comparison.best:
        return sentence("value.best")
    best = comparison.best
    if best is None or best.plan is None:
        return sentence("value.unknown")
    ours, theirs = _known(row), best.plan
    if comparison.objective == "time":
        return change_text(ours.duration_days - theirs.duration_days, duration_text)
    if comparison.objective == "carbon":
        return change_text((ours.carbon_t or 0.0) - (theirs.carbon_t or 0.0), _tonnes)
    if comparison.objective == "energy":
        more = (ours.energy_mwh or 0.0) - (theirs.energy_mwh or 0.0)
        return change_text(more, _megawatt_hours)
    return change_text(ours.cost_usd - theirs.cost_usd, _usd)


def _tonnes(tonnes: float) -> str:
    """Return CO2 as differences show it."""
    return sentence("value.tonnes", tonnes=number(tonnes))


def _megawatt_hours(mwh: float) -> str:
    """Return energy as differences show it."""
    return sentence("value.mwh", mwh=number(mwh))


def change_text(change: float, text: Callable[[float], str]) -> str:
    """Return a difference with its sign; ``text`` makes one of its size."""
    if not change:
        return sentence("value.same")
    return f"{'-' if change < 0 else '+'}{text(abs(change))}"


def _usd(usd: float) -> str:
    """Return dollars as differences show them: whole from a hundred on."""
    return format_usd(usd, 0 if usd >= 100 or not usd else 2)


def causes_text(parts: Mapping[str, float], *, days: bool = False) -> str:
    """Return a difference by cause, largest first; what is small is added up.

    The figures shown add up to the difference.
    """
    ordered = sorted(parts.items(), key=lambda item: -abs(item[1]))
    ordered = [item for item in ordered if item[1]]
    if not ordered:
        return sentence("value.no_difference")
    least = _TELLING * abs(ordered[0][1])
    told = [i for i in ordered if abs(i[1]) >= least][:_MOST_CAUSES]
    other = sum(value for _, value in ordered[len(told) :])
    text = duration_text if days else _usd
    texts = [f"{label('cause', k)} {change_text(v, text)}" for k, v in told]
    if len(ordered) > len(told):
        texts.append(f"{label('cause', 'other')} {change_text(other, text)}")
    return " · ".join(texts)


def _differences(comparison: Comparison, rows: tuple[ComparedRow, ...]) -> Grid:
    """Return what makes the difference of each row to the best one."""
    cells, days = [], comparison.objective == "time"
    for row in rows:
        if row is comparison.best:
            continue
        if days:
            parts = comparison.time_difference(row) or {}
        else:  # of carbon and energy, too, it is told what they cost
            parts = comparison.cost_difference(row) or {}
        total = change_text(sum(parts.values()), duration_text if days else _usd)
        cells.append((row.value, total, causes_text(parts, days=days)))
    heads = ("column.days_more" if days else "column.usd_more", "column.causes")
    columns = (label("dimension", comparison.by), *map(sentence, heads))
    return Grid("section.differences", columns, tuple(cells), right=(1,))


def _without_plan(comparison: Comparison, rows: list[ComparedRow]) -> Grid:
    """Return why values have no plan; those with one and the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        reason = clauses(message.text for message in row.reasons)
        by_reason.setdefault(reason, []).append(row.value)
    cells = tuple((listed(values), text) for text, values in by_reason.items())
    heads = (label("dimension", comparison.by), sentence("column.why_not"))
    return Grid("section.without_plan", heads, cells)


def _notes(
    comparison: Comparison, shown: tuple[ComparedRow, ...], hidden: int
) -> list[str]:
    """Return what has to be said beside the rows."""
    notes = []
    if hidden:
        notes.append(sentence("note.compare.limited", count=hidden))
    if comparison.left_out:
        notes.append(sentence("note.compare.left-out", count=comparison.left_out))
    if any(row.forbidden_by for row in shown):
        notes.append(sentence("note.compare.forbidden"))
    if any(not _known(row).stock_known for row in shown):
        notes.append(sentence("note.compare.stock"))
    if comparison.by == "method":
        notes.append(sentence("note.compare.method"))
    if any(_known(row).purchase == "spot" for row in shown):
        notes.append(sentence("note.compare.spot"))
    return notes


def comparison_as_csv(comparison: Comparison) -> str:
    """Return all rows as a table for a spreadsheet."""
    rows = []
    causes: dict[str, None] = {}
    for row in comparison.rows:
        usd = comparison.cost_difference(row) or {}
        cells = {f"more_usd_{name}": value for name, value in usd.items()}
        causes |= dict.fromkeys(cells)
        days = comparison.time_difference(row)
        rows.append(
            {
                "value": row.value,
                "status": row.status,
                "best": row is comparison.best,
                "forbidden_by": row.forbidden_by,
                "reason": "; ".join(message.text for message in row.reasons) or None,
                "more_usd": sum(usd.values()) if usd else None,
                "more_days": sum(days.values()) if days else None,
                **cells,
                **plan_cells(row.plan),
            }
        )
    first = ("value", "status", "best", "forbidden_by", "reason")
    columns = (*first, *PLAN_COLUMNS, "more_usd", "more_days", *causes)
    return plans_as_csv(columns, rows)

"""The page and the table of ``gpuplan alternatives``."""

from __future__ import annotations

from solver.messages import sentence
from solver.plan import Plan
from solver.planning.choosing import Choice, Choices, Nearest
from solver.planning.trade import Change
from solver.report.answer_rows import headline, page
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    label,
    number,
    percent,
    region_text,
    rented_text,
)
from solver.report.plan_cells import (
    PLAN_COLUMNS,
    layout_text,
    plan_cells,
    plans_as_csv,
)
from solver.report.purchase_rows import purchase_text
from solver.units import format_fraction, format_usd
from solver.wording import pair

__all__ = ["choices_as_csv", "choices_page"]


def choices_page(choices: Choices) -> Page:
    """Return the best plan and its alternatives as a page."""
    plan = choices.result.plan
    if plan is None:
        return page(choices.result)
    parts: list[Grid | Section] = []
    if choices.rows:
        parts.append(_grid(choices.rows))
    notes = [sentence("note.choices.within", within=format_fraction(choices.within))]
    if choices.missing is None:
        notes.append(sentence("note.choices.no-time"))
    notes += [_missing(n, choices) for n in choices.missing or ()]
    if any(not plan.stock_known for plan in _plans(choices)):
        notes.append(sentence("note.choices.stock"))
    parts.append(Section("section.notes", tuple(Row("", note) for note in notes)))
    return Page(headline(choices.result), True, tuple(parts))


def _plans(choices: Choices) -> list[Plan]:
    """Return all plans that are shown."""
    return [row.measured.plan for row in choices.rows]


def _grid(rows: tuple[Choice, ...]) -> Grid:
    """Return the alternatives with what each gains and loses."""
    names = ("column.kind", "column.plan", "column.gains", "column.loses")
    cells = tuple(
        (
            "\n".join(label("alternative", kind) for kind in row.kinds),
            _plan(row.measured.plan),
            _told([change for change in row.changes if change.gain]),
            _told([change for change in row.changes if not change.gain]),
        )
        for row in rows
    )
    return Grid("section.choices", tuple(map(sentence, names)), cells)


def _plan(plan: Plan) -> str:
    """Return servers, place, purchase and layout of a plan, a line each."""
    place = f"{plan.provider} {region_text(plan.region)}"
    lines = [rented_text(plan)]
    lines += [pair(place, purchase_text(plan.purchase)), layout_text(plan.layout)]
    return "\n".join(lines)


def _told(changes: list[Change]) -> str:
    """Return changes in words and figures, one a line."""
    return "\n".join(map(_change, changes)) or sentence("value.nothing")


def _change(change: Change) -> str:
    """Return one change: ``14.3 days sooner``, ``$2,325 (1.9%) dearer``."""
    size = abs(change.change)
    way = "more" if change.change > 0 else "less"
    share = percent(size / change.other) if change.other else None
    figures: dict[str, object] = {
        "cost_usd": format_usd(size, 0 if size >= 100 else None),
        "duration_days": duration_text(size),
        "memory_headroom": f"{size * 100:.1f}",
        "carbon_t": number(size),
        "interruptions_per_month": number(size),
    }
    figure = figures.get(change.measure, round(size))
    message_id = f"change.{change.measure}.{way}"
    told = sentence(message_id, figure=figure)
    if change.measure == "cost_usd" and share is not None:
        told = sentence("change.with-share", told=told, share=share)
    return told


def _missing(nearest: Nearest, choices: Choices) -> str:
    """Return how far the nearest of a kind is that has none near enough."""
    kind = label("alternative", nearest.kind)
    if not nearest.found:
        return sentence("note.choices.none", kind=kind, dimension=nearest.kind)
    if nearest.by is None:
        return sentence("note.choices.not-free", kind=kind)
    what = label("objective", choices.result.objective)
    more = percent(nearest.by)
    return sentence("note.choices.nearest", kind=kind, more=more, what=what)


def choices_as_csv(choices: Choices) -> str:
    """Return the best plan and the alternatives as a table for a spreadsheet."""
    plan = choices.result.plan
    rows = [] if plan is None else [{"kinds": ("best",), **plan_cells(plan)}]
    measures: dict[str, None] = {}
    for row in choices.rows:
        changed = {f"more_{c.measure}": c.change for c in row.changes}
        measures |= dict.fromkeys(changed)
        cells = {"kinds": row.kinds, "differs": row.differs}
        rows.append({**cells, **changed, **plan_cells(row.measured.plan)})
    columns = ("kinds", "differs", *PLAN_COLUMNS, *measures)
    return plans_as_csv(columns, rows)

"""The pages and the table of ``gpuplan sweep``."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Any

from solver.messages import sentence
from solver.plan import Plan
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    label,
    percent,
    region_text,
    servers_text,
)
from solver.report.plan_cells import PLAN_COLUMNS, plan_cells, plans_as_csv
from solver.sweeps.prepare import Estimate, Prepared
from solver.sweeps.record import Record
from solver.sweeps.results import Results, short
from solver.sweeps.running import Outcome
from solver.sweeps.summary import (
    Effect,
    PlanMap,
    ValueRow,
    best_by_value,
    correlations,
    effects,
    plan_map,
    scatters,
    status_counts,
    summary_dict,
)
from solver.units import format_duration_s, format_usd
from solver.wording import pair

__all__ = [
    "dry_run_dict",
    "dry_run_page",
    "results_as_csv",
    "results_as_dict",
    "results_as_rows",
    "results_page",
    "run_page",
]

_ABOUT = ("status", "reason", "bound", "gap", "wall_s", "host", "solved_at")
_MOST_ACROSS = 8
"""Columns of the map of plans: more do not fit a terminal."""

_WHOSE = ("version", "catalog", "sweep")


def dry_run_page(prepared: Prepared, taken: Estimate, left: int) -> Page:
    """Return how many points a sweep has, and how long they take."""
    points = prepared.points
    headline = sentence(
        "headline.sweep.dry",
        points=len(points.points),
        left=left,
        time=format_duration_s(taken.total_s),
        workers=taken.workers,
    )
    once = sentence(
        "value.sweep.sampled",
        time=format_duration_s(taken.first_s),
        sampled=taken.sampled,
    )
    rows = [
        Row(sentence("label.sweep.combinations"), f"{len(points.points):,}"),
        Row(sentence("label.sweep.kinds"), f"{prepared.kinds:,}"),
        Row(sentence("label.sweep.first"), once),
        Row(sentence("label.sweep.next"), format_duration_s(taken.next_s)),
    ]
    if points.skipped:
        rows.append(Row(sentence("label.sweep.skipped"), f"{points.skipped:,}"))
    if points.duplicates:
        rows.append(Row(sentence("label.sweep.duplicates"), f"{points.duplicates:,}"))
    return Page(headline, True, (Section("section.sweep.size", tuple(rows)),))


def dry_run_dict(prepared: Prepared, taken: Estimate, left: int) -> dict[str, Any]:
    """Return the same as the JSON contract has it."""
    points = prepared.points
    return {
        "points": len(points.points),
        "left": left,
        "skipped": points.skipped,
        "duplicates": points.duplicates,
        "kinds_of_physics": prepared.kinds,
        "sampled": taken.sampled,
        "first_point_s": taken.first_s,
        "next_point_s": taken.next_s,
        "estimated_s": taken.total_s,
        "workers": taken.workers,
    }


def run_page(prepared: Prepared, outcome: Outcome, place: str) -> Page:
    """Return what a run has done."""
    if outcome.complete:
        headline = sentence(
            "headline.sweep.run",
            answered=outcome.new,
            time=format_duration_s(outcome.seconds),
            total=outcome.total,
        )
    else:
        headline = sentence(
            "headline.sweep.stopped", done=outcome.done, total=outcome.total
        )
    rows = [
        Row(label("sweep_status", status), f"{count:,}")
        for status, count in sorted(outcome.statuses.items())
    ]
    points = prepared.points
    told = {
        "stored": outcome.before,
        "elsewhere": outcome.elsewhere,
        "skipped": points.skipped,
        "duplicates": points.duplicates,
    }
    rows += [
        Row(sentence(f"label.sweep.{name}"), f"{count:,}")
        for name, count in told.items()
        if count
    ]
    if outcome.new:
        rows.append(Row(sentence("label.sweep.rate"), f"{outcome.rate:.3g}"))
    look = f"gpuplan sweep show {quote(place)}"
    rows.append(Row(sentence("label.sweep.results"), look))
    section = Section("section.sweep.run", tuple(rows))
    return Page(headline, outcome.complete, (section,))


def results_page(results: Results, limit: int) -> Page:
    """Return what a sweep found.

    Parameters
    ----------
    results
        What to show.
    limit
        Most values of each axis to show.
    """
    by_value = best_by_value(results)
    parts: list[Grid | Section] = [_counts(results)]
    notes = _notes(results)
    shown = [row for row in by_value if row.best is not None]
    if shown:
        kept = _limited(shown, limit)
        parts.append(_best(kept))
        hidden = len(shown) - len(kept)
        notes += [sentence("note.sweep.more", count=hidden)] if hidden else []
        parts.append(_effects(effects(results)))
        notes.append(sentence("note.sweep.effects"))
    refused = [row for row in by_value if row.planned < row.points]
    if refused:
        parts.append(_refused(_limited(refused, limit)))
    found = plan_map(results)
    if found is not None:
        parts.append(_map(found, limit))
        notes.append(sentence("note.sweep.map"))
    if results.drawn:
        parts += _drawn(results, limit)
        notes.append(sentence("note.sweep.correlations"))
    parts.append(Section("section.notes", tuple(Row("", note) for note in notes)))
    return Page(_headline(results), bool(results.planned), tuple(parts))


def _headline(results: Results) -> str:
    """Return how many points have a plan and which is best, in one sentence."""
    name, answered = results.facts.get("name", ""), len(results.records)
    best = results.best(results.records)
    if not answered:
        return sentence("headline.sweep.nothing", name=name)
    if best is None or best.plan is None:
        return sentence("headline.sweep.none", name=name, answered=answered)
    return sentence(
        "headline.sweep.show",
        name=name,
        planned=len(results.planned),
        answered=answered,
        cost=format_usd(best.plan["cost_usd"]),
        duration=duration_text(best.plan["duration_days"]),
    )


def _counts(results: Results) -> Section:
    """Return how many points have which status."""
    rows = tuple(
        Row(label("sweep_status", status), f"{count:,}", share=count / results.total)
        for status, count in status_counts(results).items()
    )
    return Section("section.sweep.points", rows)


def _limited(rows: list[ValueRow], limit: int) -> list[ValueRow]:
    """Return at most so many values of each axis, the first ones."""
    seen: dict[str, int] = {}
    kept = []
    for row in rows:
        seen[row.dimension] = seen.get(row.dimension, 0) + 1
        if seen[row.dimension] <= limit:
            kept.append(row)
    return kept


def _best(rows: list[ValueRow]) -> Grid:
    """Return the best point of each value that has one."""
    cells, above = [], None
    for row in rows:
        plan = None if row.best is None else row.best.plan
        if plan is None:
            continue
        cells.append(
            (
                "" if row.dimension == above else row.title,
                short(row.value),
                sentence("value.sweep.of", count=row.planned, whole=row.points),
                format_usd(plan["cost_usd"]),
                duration_text(plan["duration_days"]),
                _servers(plan),
            )
        )
        above = row.dimension
    heads = _heads("axis", "value", "planned", "cost", "time", "servers")
    return Grid("section.sweep.best", heads, tuple(cells), right=(2, 3, 4))


def _servers(plan: dict[str, Any]) -> str:
    """Return what a plan rents, and where."""
    servers = servers_text(
        plan["nodes"], plan["gpus_per_node"], plan["gpu"], plan["spare_nodes"]
    )
    return pair(servers, f"{plan['provider']} {region_text(plan['region'])}")


def _effects(found: list[Effect]) -> Grid:
    """Return what each axis does to cost and time."""
    rows = tuple(
        (
            effect.title,
            _range(effect.cost_median, effect.cost_most),
            _range(effect.time_median, effect.time_most),
            sentence(
                "value.sweep.decides", opened=effect.opened, groups=effect.all_groups
            ),
        )
        for effect in found
    )
    heads = _heads("axis", "cost_range", "time_range", "decides")
    return Grid("section.sweep.effects", heads, rows, right=(1, 2, 3))


def _range(middle: float | None, most: float | None) -> str:
    """Return a median and a maximum in per cent."""
    if middle is None or most is None:
        return "–"
    return sentence("value.sweep.range", median=percent(middle), most=percent(most))


def _refused(rows: list[ValueRow]) -> Grid:
    """Return at which values there is no plan, and why."""
    cells, above = [], None
    for row in rows:
        missing = row.points - row.planned
        cells.append(
            (
                "" if row.dimension == above else row.title,
                short(row.value),
                sentence("value.sweep.of", count=missing, whole=row.points),
                "" if row.reason is None else label("sweep_reason", row.reason),
            )
        )
        above = row.dimension
    heads = _heads("axis", "value", "no_plan", "why")
    return Grid("section.sweep.infeasible", heads, tuple(cells), right=(2,))


def _map(found: PlanMap, limit: int) -> Grid:
    """Return where there is a plan, by the values of two axes."""
    across = found.across.values[:_MOST_ACROSS]
    rows = [
        (short(down), *(_cell(found.cells.get((down, value))) for value in across))
        for down in found.down.values[:limit]
    ]
    corner = f"{found.down.title} / {found.across.title}"
    heads = (corner, *(short(value) for value in across))
    return Grid("section.sweep.map", heads, tuple(rows))


def _cell(cell: tuple[int, int, str | None] | None) -> str:
    """Return whether points have a plan: all, some, or none and why."""
    if cell is None:
        return ""
    points, planned, reason = cell
    if planned == points:
        return sentence("value.sweep.planned")
    if planned:
        return sentence("value.sweep.of", count=planned, whole=points)
    return "" if reason is None else label("sweep_reason", reason)


def _drawn(results: Results, limit: int) -> list[Grid | Section]:
    """Return how cost and time scatter over the draws, and what moves them."""
    rows = []
    for each in scatters(results)[:limit]:
        at = " · ".join(map(short, each.coordinates)) or sentence("value.sweep.all")
        planned = sentence("value.sweep.of", count=each.planned, whole=each.draws)
        cost, time = each.cost_usd, each.duration_days
        told = "–" if cost is None else " – ".join(format_usd(usd) for usd in cost)
        rows.append(
            (at, planned, told, "–" if time is None else duration_text(time[1]))
        )
    heads = _heads("at", "planned", "cost_draws", "time_draws")
    scattered = Grid("section.sweep.scatters", heads, tuple(rows), right=(1, 2, 3))
    ranked = tuple(
        (each.key, _signed(each.cost), _signed(each.time))
        for each in correlations(results)
    )
    heads = _heads("drawn", "cost_rank", "time_rank")
    return [scattered, Grid("section.sweep.correlations", heads, ranked, right=(1, 2))]


def _heads(*names: str) -> tuple[str, ...]:
    """Return the heads of columns by the ends of their ids."""
    return tuple(sentence(f"column.sweep.{name}") for name in names)


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}"


def _notes(results: Results) -> list[str]:
    """Return what is to be known of the results as a whole."""
    notes = []
    left = results.total - len(results.records)
    if left:
        notes.append(sentence("note.sweep.left", count=left))
    failed = [record for record in results.records if record.error]
    if failed:
        error = failed[0].error
        notes.append(sentence("note.sweep.failed", count=len(failed), error=error))
    if len({tuple(getattr(r, k) for k in _WHOSE) for r in results.records}) > 1:
        notes.append(sentence("note.sweep.mixed"))
    return notes


def results_as_csv(results: Results) -> str:
    """Return all points as a table for a spreadsheet."""
    return plans_as_csv(*results_as_rows(results))


def results_as_rows(
    results: Results,
) -> tuple[tuple[str, ...], Iterator[dict[str, Any]]]:
    """Return the columns of the table of all points, and its rows by column."""
    keys = _input_keys(results)
    columns = (*keys, *_ABOUT, *PLAN_COLUMNS, *_WHOSE)
    return columns, (_cells(record, keys) for record in results.records)


def _input_keys(results: Results) -> tuple[str, ...]:
    """Return what varies: the first columns of the table."""
    keys = [key for dimension in results.dimensions for key in dimension.keys]
    return (*keys, *results.drawn, *(("draw",) if results.drawn else ()))


def _cells(record: Record, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return a point as the cells of a table."""
    plan = None if record.plan is None else Plan.from_dict(record.plan)
    varied = {"overlay": record.overlay, "draw": record.draw, **record.inputs}
    return {
        **plan_cells(plan),
        **{key: varied.get(key) for key in keys},
        **{name: getattr(record, name) for name in (*_ABOUT, *_WHOSE)},
    }


def results_as_dict(results: Results, *, plans: bool) -> dict[str, Any]:
    """Return the results as the JSON contract has them.

    ``plans`` adds the whole plan to each row, not only its main figures.
    """
    facts = {key: results.facts.get(key) for key in ("name", "base", "groups", "drawn")}
    rows = []
    for record in results.records:
        row = _cells(record, ())
        row |= {
            "id": record.id,
            "inputs": record.inputs,
            "overlay": record.overlay,
            "draw": record.draw,
            "reasons": list(record.reasons),
        }
        rows.append(row | ({"plan": record.plan} if plans else {}))
    return {"sweep": facts, "summary": summary_dict(results), "rows": rows}

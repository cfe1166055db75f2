"""The page and the table of ``gpuplan pareto``."""

from __future__ import annotations

from solver.frontier import Third
from solver.messages import sentence
from solver.plan import Plan
from solver.planning.pareto import Frontier, Point
from solver.report.explanation_rows import explanation_parts
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
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
from solver.units import format_usd
from solver.wording import day_text, pair

__all__ = ["frontier_as_csv", "pareto_page", "thinned"]

SHOWN_DAYS = 0.01
"""Least difference, days, of which the price is told: below it is float noise."""

WIDE = 112
"""Columns of a terminal from which servers, place and layout have one each."""


def pareto_page(frontier: Frontier, width: int, most: int) -> Page:
    """Return a frontier as a page.

    Parameters
    ----------
    frontier
        What to show.
    width
        Columns of the terminal.
    most
        Most points to show; both ends and the knee are among them.
    """
    if not frontier.points:
        return _none(frontier)
    shown = thinned(frontier.points, most, frontier.third)
    notes = []
    if len(shown) < len(frontier.points):
        counts = {"shown": len(shown), "points": len(frontier.points)}
        notes.append(sentence("note.pareto.thinned", **counts))
    if frontier.third is None:
        notes.append(sentence("note.pareto.saved"))
    if any(point.knee for point in frontier.points):
        notes.append(sentence("note.pareto.knee"))
    if frontier.third == "carbon":
        notes.append(sentence("note.pareto.carbon"))
    if any(not point.plan.stock_known for point in shown):
        notes.append(sentence("note.pareto.stock"))
    section = Section("section.notes", tuple(Row("", note) for note in notes))
    parts = (_grid(frontier, shown, width), section)
    return Page(_headline(frontier), True, parts)


def _none(frontier: Frontier) -> Page:
    """Return the page of a scenario without any plan."""
    why = frontier.explanation
    if why is None:
        return Page(sentence("headline.unknown"), False, ())
    decision = sentence("headline.infeasible")
    headline = sentence("headline.why", decision=decision, why=why.summary)
    return Page(headline, False, tuple(explanation_parts(why)))


def _headline(frontier: Frontier) -> str:
    """Return the ends of the frontier, in one sentence."""
    proved = frontier.status == "optimal"
    plans = [point.plan for point in frontier.points]
    cheapest = min(plans, key=lambda plan: (plan.cost_usd, plan.duration_days))
    soonest = min(plans, key=lambda plan: (plan.duration_days, plan.cost_usd))
    return sentence(
        "headline.pareto" if proved else "headline.pareto.open",
        points=len(plans),
        cost=format_usd(cheapest.cost_usd),
        duration=duration_text(cheapest.duration_days),
        fast_cost=format_usd(soonest.cost_usd),
        fast_duration=duration_text(soonest.duration_days),
    )


def thinned(
    points: tuple[Point, ...], most: int, third: Third | None = None
) -> tuple[Point, ...]:
    """Return at most ``most`` of the points, spread evenly: the ends and the knee too.

    Of three points at least, where there are so many. An end is best in one figure;
    the knee gives way only where three figures have three ends and no more are shown.
    """
    if len(points) <= most:
        return points
    last = len(points) - 1
    kept = {round(place * last / (most - 1)) for place in range(most)}
    marks = set(_marks(points, third)[:most])
    while len(kept | marks) > most:
        spare = kept - marks
        nearest = min(spare, key=lambda i: (min(abs(i - m) for m in marks - kept), i))
        kept.remove(nearest)
    return tuple(points[i] for i in sorted(kept | marks))


def _marks(points: tuple[Point, ...], third: Third | None) -> list[int]:
    """Return the points that are shown in any case, the most wanted first."""
    places = range(len(points))
    soonest = min(places, key=lambda i: (points[i].plan.duration_days, -i))
    marks = [0, soonest if third else places[-1]]
    if third == "memory_headroom":
        marks.append(max(places, key=lambda i: points[i].plan.memory_headroom))
    elif third == "carbon":
        marks.append(min(places, key=lambda i: points[i].plan.carbon_t or 0.0))
    marks += [i for i in places if points[i].knee]
    return list(dict.fromkeys(marks))


def _grid(frontier: Frontier, shown: tuple[Point, ...], width: int) -> Grid:
    """Return the points as rows, cheapest first."""
    third = frontier.third
    names = ["column.cost", "column.finish_in"]
    names += ["column.day_saved"] if third is None else [f"column.{third}"]
    names += ["column.knee"]
    wide = width >= WIDE
    names += (
        ["column.servers", "column.place", "column.layout"] if wide else ["column.plan"]
    )
    rows, above = [], None
    for point in shown:
        plan = point.plan
        what = _what(plan, above)
        if not wide:
            what = [f"{what[0]}\n{what[1]} · {what[2]}"]
        figure = _saved(plan, above) if third is None else _third(plan, third)
        rows.append(
            (
                format_usd(plan.cost_usd),
                duration_text(plan.duration_days),
                figure,
                sentence("value.knee") if point.knee else "",
                *what,
            )
        )
        above = plan
    heads = tuple(sentence(name) for name in names)
    return Grid("section.pareto", heads, tuple(rows), right=(0, 1, 2))


def _third(plan: Plan, third: Third) -> str:
    """Return the third figure of a plan."""
    if third == "memory_headroom":
        return percent(plan.memory_headroom)
    return sentence("value.tonnes", tonnes=number(plan.carbon_t or 0.0))


def _what(plan: Plan, above: Plan | None) -> list[str]:
    """Return servers, place and layout; the storage where nothing else differs."""
    what = _bare(plan)
    if above is not None and what == _bare(above) and plan.storage:
        what[2] = f"{what[2]} · {plan.storage}"
    return what


def _bare(plan: Plan) -> list[str]:
    """Return servers, place and layout, and what is not as usual: purchase, start."""
    place = f"{plan.provider} {region_text(plan.region)}"
    if plan.purchase != "on_demand":
        place = pair(place, purchase_text(plan.purchase))
    if plan.start is not None:
        start = day_text(plan.start)
        place = sentence("value.alternative.start", plan=place, start=start)
    return [rented_text(plan), place, layout_text(plan.layout)]


def _saved(plan: Plan, above: Plan | None) -> str:
    """Return what each day saved costs against the row above."""
    if above is None:
        return ""
    days = above.duration_days - plan.duration_days
    if days < SHOWN_DAYS:
        return "–"
    usd = (plan.cost_usd - above.cost_usd) / days
    return format_usd(usd, 0 if usd >= 100 else 2)


def frontier_as_csv(frontier: Frontier) -> str:
    """Return all points as a table for a spreadsheet."""
    columns = ("knee", "usd_per_day_saved", *PLAN_COLUMNS)
    rows = (
        {
            "knee": point.knee,
            "usd_per_day_saved": point.usd_per_day_saved,
            **plan_cells(point.plan),
        }
        for point in frontier.points
    )
    return plans_as_csv(columns, rows)

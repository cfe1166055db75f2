"""The way from a plan to a finished run as a checklist of an HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.report.figures import Row, Section, duration_text
from solver.report.html_blocks import Checklist, Document, Facts, Task, table_of
from solver.report.route_rows import route_page, route_parts
from solver.wording import day_text

if TYPE_CHECKING:
    from solver.acting.route import Route

__all__ = ["checklist", "route_document"]


def checklist(route: Route, *, folded: bool = False) -> Checklist:
    """Return the steps of a route below its dates."""
    dates, *steps = route_parts(route)
    tasks = tuple(_task(step) for step in steps if isinstance(step, Section))
    return Checklist(
        "route", sentence("html.route"), table_of(dates), tasks, folded=folded
    )


def route_document(route: Route, name: str, digest: str) -> Document:
    """Return a route as a page of its own, to be printed and ticked off.

    ``name`` is the scenario's, ``digest`` that of its catalog.
    """
    ends = [one for one in route.milestones if one.kind in ("finish", "finish_p90")]
    facts = [Row(sentence("html.fact.start"), day_text(route.day))]
    facts += [
        Row(
            sentence(f"milestone.{one.kind}"),
            day_text(one.date),
            note=sentence("html.fact.duration", duration=duration_text(one.day)),
        )
        for one in ends
    ]
    return Document(
        title=f"{name} – gpuplan",
        eyebrow=name,
        headline=route_page(route).headline,
        tone="good",
        status="",
        facts=Facts(tuple(facts)),
        blocks=(checklist(route),),
        footer=sentence("html.footer", day=day_text(route.day), digest=digest),
    )


def _task(step: Section) -> Task:
    """Return a step: its first row is when it is."""
    when, *lines = (row.value for row in step.rows)
    return Task(step.title, when, tuple(lines))

"""The way from a plan to a finished run, as a page and as a checklist."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.report.figures import Grid, Page, Row, Section, duration_text
from solver.units import format_count
from solver.wording import day_text

if TYPE_CHECKING:
    from solver.acting.route import Milestone, Route, RouteStep

__all__ = ["route_page", "route_parts"]


def route_page(route: Route) -> Page:
    """Return all of a route, under the dates that it ends on."""
    late = next(one for one in route.milestones if one.kind == "finish_p90")
    finish = next(one for one in route.milestones if one.kind == "finish")
    headline = sentence(
        "headline.route",
        day=day_text(route.day),
        finish=day_text(finish.date),
        steps=len(route.steps),
        duration=duration_text(route.duration_days),
        late=day_text(late.date),
    )
    return Page(headline, True, route_parts(route))


def route_parts(route: Route) -> tuple[Section | Grid, ...]:
    """Return the dates and the checklist of a route, a section a step."""
    steps = (_step(step) for step in route.steps)
    return (_milestones(route.milestones), *steps)


def _step(step: RouteStep) -> Section:
    """Return when a step is, and what to do and check in it."""
    lines = tuple(Row("", line.text) for line in step.lines)
    return Section(f"section.route.{step.kind}", (Row("", _when(step)), *lines))


def _when(step: RouteStep) -> str:
    """Return the dates of a step, and its phases."""
    if step.end_day - step.start_day < 1 and step.start == step.end:
        when = _date(step.start, step.start_day)
    else:
        when = sentence(
            "value.route.span",
            start=day_text(step.start),
            end=day_text(step.end),
            first=step.start_day,
            last=step.end_day,
        )
    if not step.phases:
        return when
    phases = ", ".join(step.phases)
    return sentence("value.route.of-phases", phases=phases, when=when)


def _date(day: date, number: float) -> str:
    """Return a date with its day."""
    return sentence("value.route.when", date=day_text(day), day=number)


def _milestones(milestones: tuple[Milestone, ...]) -> Grid:
    """Return the dates to look at, a row each."""
    names = ("date", "day", "what", "steps", "tokens")
    heads = tuple(sentence(f"column.route.{name}") for name in names)
    rows = tuple(
        (
            day_text(one.date),
            f"{one.day:.1f}",
            _what(one),
            f"{one.facts['step']:,}" if "step" in one.facts else "",
            format_count(one.facts["tokens"]) if "tokens" in one.facts else "",
        )
        for one in milestones
    )
    return Grid("section.route.milestones", heads, rows, right=(1, 3, 4))


def _what(one: Milestone) -> str:
    """Return what happens on a date, and in which phase."""
    share = one.facts.get("share", 0.0)
    what = sentence(f"milestone.{one.kind}", share=share)
    if not one.phase:
        return what
    return sentence("milestone.of-phase", phase=one.phase, what=what)

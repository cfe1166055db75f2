"""Tests of the page of a route."""

from __future__ import annotations

import re

from solver.acting.route import route_of
from solver.report.as_table import render
from solver.report.figures import Grid, Section
from solver.report.route_rows import route_page, route_parts
from tests.acting.test_route import chain, far


def shown(width: int = 100) -> str:
    """The page of a single job."""
    return render(route_page(route_of(far())), width=width)


def test_the_headline_has_both_finishes() -> None:
    """Tests day 0, the expected finish and the one that most runs keep."""
    plan = far().jobs[0].plan
    words = " ".join(shown().split("\n\n")[0].split())
    assert words.startswith(f"From 2026-12-01 to {plan.finish.isoformat()}:")
    assert "nine of ten runs by" in words


def test_there_is_a_section_a_step_with_its_dates_first() -> None:
    """Tests that each step of the route is a section whose first line is its dates."""
    route = route_of(far())
    first, *sections = route_parts(route)
    assert isinstance(first, Grid)
    assert len(sections) == len(route.steps)
    for step, section in zip(route.steps, sections, strict=True):
        assert isinstance(section, Section)
        assert section.id == f"section.route.{step.kind}"
        assert section.rows[0].value.startswith(step.start.isoformat())
        assert [r.value for r in section.rows[1:]] == [c.text for c in step.lines]


def test_milestones_are_in_order_of_their_days() -> None:
    """Tests the grid of dates: sorted, with steps and tokens where a run is."""
    grid = route_parts(route_of(far()))[0]
    assert isinstance(grid, Grid)
    days = [float(row[1]) for row in grid.rows]
    assert days == sorted(days)
    quarter = next(row for row in grid.rows if row[2].startswith("25%"))
    assert quarter[3] == "9,537"
    assert quarter[4] == "1.25B"
    finish = next(row for row in grid.rows if row[2] == "expected finish")
    assert finish[3:] == ("", "")


def test_phases_are_named_in_a_chain() -> None:
    """Tests that dates and steps say which phase they are of."""
    text = render(route_page(route_of(chain())), width=120)
    assert "pre-train: training starts" in text
    assert "extend: all tokens" in text
    assert re.search(r"extend: 20\d\d-", text)
    assert "Move the checkpoint" in text
    assert text.count("Release the nodes") == 2


def test_no_line_is_wider_than_the_terminal() -> None:
    """Tests narrow and wide terminals."""
    for width in (60, 80, 120):
        assert max(map(len, shown(width).splitlines())) <= width

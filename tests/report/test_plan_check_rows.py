"""Tests of the page of a plan held against what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from solver.acting.checking import Asked, Check, check_plan
from solver.acting.measured import PARTS, read_measured
from solver.acting.suspects import Suspect
from solver.languages import speaking
from solver.report.as_table import render
from solver.report.figures import Grid, Section
from solver.report.plan_check_rows import plan_check_page
from tests.acting.test_checking import checked, decided, tight
from tests.acting.test_route import shared


def titles(check: Check) -> list[str]:
    """The ids of the parts of the page."""
    return [part.id for part in plan_check_page(check).parts]


def section(check: Check, name: str) -> Section:
    """A section of the page."""
    found = [part for part in plan_check_page(check).parts if part.id == name]
    assert isinstance(found[0], Section)
    return found[0]


def grid(check: Check) -> Grid:
    """The figures of the page."""
    found = plan_check_page(check).parts[0]
    assert isinstance(found, Grid)
    return found


def test_parts_that_have_nothing_to_say_are_left_out() -> None:
    """Tests a check without notes and a new plan, and one with both."""
    plain = checked(shared())
    assert titles(plain) == [
        "section.check.measured",
        "section.check.forecast",
        "section.check.suspects",
    ]
    whole = replace(plain, verdict=decided(shared(), plain))
    assert titles(whole)[3:] == ["section.check.verdict", "section.check.notes"]


@pytest.mark.parametrize(
    ("deadline", "budget", "words"),
    [
        (True, True, "the limits of the plan are kept"),
        (None, None, "the limits of the plan are kept"),
        (False, True, "the deadline cannot be kept"),
        (True, False, "the budget cannot be kept"),
        (False, False, "deadline and budget cannot be kept"),
    ],
)
def test_the_headline_names_what_is_lost(
    deadline: bool | None, budget: bool | None, words: str
) -> None:
    """Tests finish, bill and the limits that cannot be kept."""
    check = replace(checked(tight()), deadline_kept=deadline, budget_kept=budget)
    page = plan_check_page(check)
    assert page.good is check.kept
    assert page.headline.endswith(words)
    assert check.finish.isoformat() in page.headline


def test_figures_have_their_units() -> None:
    """Tests seconds, shares, GiB and rates beside their predictions."""
    words = ["step_time=2s", "mfu=40%", "peak_memory=30GiB", "tokens_per_s=60k"]
    check = check_plan(shared(), read_measured(words), Asked())
    rows = {row[0]: row for row in grid(check).rows}
    assert rows["step time"][1] == "2 s"
    assert rows["MFU"][1] == "40.0%"
    assert rows["peak memory"][1] == "30.0 GiB"
    assert rows["tokens a second"][1] == "60,000 tokens/s"
    assert rows["peak memory"][4:] == ("", "")
    assert rows["step time"][5] in ("yes", "no")


def test_parts_are_called_as_in_a_plan() -> None:
    """Tests the names of measured parts."""
    words = ["data_parallel=1s", "compute=1s", "data_stall=1s"]
    check = check_plan(shared(), read_measured(words), Asked())
    names = {row[0] for row in grid(check).rows}
    assert {"data parallel", "compute"} <= names


def test_limits_are_shown_where_there_are_any() -> None:
    """Tests rows of deadline and budget, kept and not, and their absence."""
    none = section(checked(shared()), "section.check.forecast")
    assert not {"deadline", "budget"} & {row.label for row in none.rows}
    both = section(checked(tight()), "section.check.forecast")
    values = {row.label: row.value for row in both.rows}
    assert values["deadline"] == "24.0 h, kept"
    assert values["budget"] == "$5,000, kept"
    late = replace(checked(tight()), deadline_kept=False)
    values = {r.label: r.value for r in section(late, "section.check.forecast").rows}
    assert values["deadline"].endswith("not kept")


def test_every_part_has_a_cause() -> None:
    """Tests that whatever part is slow, there is something to look at."""
    check = checked(shared())
    for part in PARTS:
        one = Suspect(part, 1.0, 2.0, 1.0, 2.0, 1.0)
        rows = section(replace(check, suspects=(one,)), "section.check.suspects").rows
        assert len(rows) == 2
        assert rows[1].value.endswith(".")


def test_what_cannot_be_told_is_said() -> None:
    """Tests that without measured parts the page says so, after three of them."""
    found = checked(shared(), 1.6)
    many = tuple(
        Suspect(part, 1.0, None, 1.0, 2.0, 1.0)
        for part in ("compute", "pipeline", "optimizer", "overhead")
    )
    rows = section(replace(found, suspects=many), "section.check.suspects").rows
    assert len(rows) == 7
    assert "cannot be told" in rows[-1].value
    none = section(checked(shared()), "section.check.suspects").rows
    assert [row.value for row in none] == ["No part of the step is suspect."]


def test_the_verdict_goes_first_and_its_reasons_follow() -> None:
    """Tests the first line of each verdict, also of a change that is needed."""
    check = checked(shared())
    verdict = decided(shared(), check)
    firsts = set()
    for kind, kept in (
        ("stay", True),
        ("change", True),
        ("change", False),
        ("cannot_tell", True),
        ("cannot", False),
    ):
        told = replace(verdict, kind=kind, stay_kept=kept)
        rows = section(replace(check, verdict=told), "section.check.verdict").rows
        firsts.add(rows[0].value)
        assert [row.value for row in rows[1:]] == [one.text for one in verdict.lines]
    assert len(firsts) == 5


def test_the_page_in_chinese_has_no_english_sentence() -> None:
    """Tests that made in Chinese every line is."""
    with speaking("zh"):
        check = checked(shared(), 1.6, done_steps=100)
        check = replace(check, verdict=decided(shared(), check))
        text = render(plan_check_page(check), width=100)
    for word in ("What", "predicted", "stay", "would", "limits"):
        assert word not in text


def test_no_line_is_wider_than_the_terminal() -> None:
    """Tests a narrow and a wide terminal."""
    check = checked(tight(), 1.5, done_steps=10)
    check = replace(check, verdict=decided(tight(), check))
    for width in (60, 100):
        text = render(plan_check_page(check), width=width)
        assert max(map(len, text.splitlines())) <= width

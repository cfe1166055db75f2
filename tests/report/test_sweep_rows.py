"""Tests of the pages and tables of sweeps, on figures made by hand."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from solver.report.as_table import render
from solver.report.figures import Page
from solver.report.sweep_rows import (
    dry_run_dict,
    dry_run_page,
    results_as_csv,
    results_as_dict,
    results_page,
    run_page,
)
from solver.sweeps.prepare import Estimate
from solver.sweeps.running import Outcome
from tests.sweeps.examples import prepared
from tests.sweeps.test_summary import GRID, answer, results


def text_of(page: Page, width: int = 100) -> str:
    """Return a page as one line of text."""
    return " ".join(render(page, width=width, color=False).split())


def test_a_dry_run_tells_points_and_time(tmp_path: Path) -> None:
    """Tests skipped and doubled points, and the time that was estimated."""
    skip = [{"constraints.budget": "$10", "overlay": "dear"}]
    ready = prepared(tmp_path, skip=skip)
    taken = Estimate(4, 2.0, 0.25, 90.0, 2)
    page = text_of(dry_run_page(ready, taken, 5))
    assert page.startswith("9 points, 5 of them not answered yet: about 1.5 min on 2")
    assert "skipped 3" in page
    data = dry_run_dict(ready, taken, 5)
    assert (data["points"], data["left"], data["skipped"]) == (9, 5, 3)
    assert data["estimated_s"] == 90.0


def test_a_run_tells_what_it_did(tmp_path: Path) -> None:
    """Tests the page of a run that completed, and of one that was stopped."""
    ready = prepared(tmp_path)
    outcome = Outcome(12, 3, Counter(optimal=6, error=1), 2, True, 3.5)
    assert (outcome.new, outcome.done, outcome.failed) == (7, 12, 1)
    assert outcome.rate == pytest.approx(2.0)
    page = text_of(run_page(ready, outcome, "r.db"))
    parts = ("error 1", "stored before 3", "by other processes 2")
    for part in (*parts, "gpuplan sweep show r.db"):
        assert part in page
    assert "7 points answered in 3.5 s: all 12 are stored" in page
    stopped = Outcome(12, 3, Counter(optimal=1), 0, False, 1.0)
    page = text_of(run_page(ready, stopped, "r.db"))
    assert "Stopped: 4 of 12 points are stored; the same command goes on" in page
    assert stopped.as_dict()["complete"] is False


def test_progress_tells_rate_time_left_and_failures() -> None:
    """Tests the line that is shown while a sweep runs, from the first answer on."""
    outcome = Outcome(100, 40, Counter(optimal=18, error=2), 0, False, 10.0)
    assert outcome.progress == "60 of 100 points, 2/s, 20 s left, 2 failed"
    assert "0 of 100 points" in Outcome(100).progress


def test_results_tell_best_effects_and_refusals() -> None:
    """Tests the parts of the page of results."""
    page = text_of(results_page(GRID, 12))
    assert "3 of 4 points have a plan, the best $100.00 in 10.0 days" in page
    assert "50.0% (most 50.0%)" in page
    assert "1 of 2 budget" in page
    assert "Which points have a plan" in page
    assert text_of(results_page(results([], ["x"]), 5)).startswith(": no point is")
    assert "1 point is not answered yet" in page


def test_few_values_are_shown_openly() -> None:
    """Tests that the limit on rows is told, and that it cuts each axis."""
    records = [answer(i, float(10 + i), x=f"{i} days", y=1) for i in range(8)]
    found = results(records, ["x", "y"])
    page = text_of(results_page(found, 3))
    assert "5 more values; --csv and --json have all." in page
    assert "2 days" in page
    assert "3 days" not in page
    assert "more values" not in text_of(results_page(found, 8))


def test_draws_have_tables_of_their_own() -> None:
    """Tests percentiles and correlations on the page."""
    records = [
        answer(i, 100.0 + i, x=1, price_factor=1 + i / 10, draw=i) for i in range(5)
    ]
    page = text_of(results_page(results(records, ["x"], ("price_factor",)), 5))
    assert "Over the draws" in page
    assert "$100.40 – $102.00 – $103.60" in page
    assert "price_factor +1.00" in page
    assert "Over the draws" not in text_of(results_page(GRID, 5))


def test_errors_and_mixtures_are_told() -> None:
    """Tests the notes on points that failed, and on rows of several catalogs."""
    failed = replace(answer(1, None, x=2), status="error", error="it broke", reasons=())
    other = replace(answer(2, 3.0, x=3), catalog="another")
    found = results([answer(0, 2.0, x=1), failed, other], ["x"])
    page = text_of(results_page(found, 5))
    assert "1 point ended in an error, such as: it broke." in page
    assert "several sweeps, catalogs or versions" in page


def test_no_plan_at_all() -> None:
    """Tests the page of a sweep that is a 'no' everywhere."""
    page = text_of(results_page(results([answer(0, None, x=1)], ["x"]), 5))
    assert "none of 1 points has a plan" in page
    assert "The best of each value" not in page


def test_a_table_computes_nothing() -> None:
    """Tests that a value that looks like a formula is text to a spreadsheet."""
    found = results([answer(0, None, name="=1+1")], ["name"])
    (row,) = csv.DictReader(StringIO(results_as_csv(found)))
    assert row["name"] == "'=1+1"
    assert row["status"] == "infeasible"


def test_json_has_whole_plans_on_demand() -> None:
    """Tests that plans are left out unless asked for."""
    found = results([answer(0, None, x=1)], ["x"])
    assert "plan" not in results_as_dict(found, plans=False)["rows"][0]
    assert results_as_dict(found, plans=True)["rows"][0]["plan"] is None

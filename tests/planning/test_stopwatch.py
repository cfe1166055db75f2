"""Tests of the stopwatch of the stages."""

from __future__ import annotations

from time import sleep

import pytest

from solver.planning.single_job import plan_job
from solver.planning.stopwatch import Stopwatch
from tests.planning.jobs import A100, catalog, job


def test_times_add_up_under_one_name() -> None:
    """Tests that a stage measured twice is the sum, in order of first start."""
    stopwatch = Stopwatch()
    for name in ("first", "second", "first"):
        with stopwatch.measure(name):
            sleep(0.01)
    assert list(stopwatch.seconds) == ["first", "second"]
    assert stopwatch.seconds["first"] >= 0.019
    assert stopwatch.seconds["second"] >= 0.009


def test_a_stage_that_fails_is_measured() -> None:
    """Tests that an error passes through and its time is kept."""
    stopwatch = Stopwatch()

    def fail() -> None:
        with stopwatch.measure("failing"):
            sleep(0.01)
            int("no number")

    with pytest.raises(ValueError, match="no number"):
        fail()
    assert stopwatch.seconds["failing"] >= 0.009


def test_a_plan_names_its_stages() -> None:
    """Tests which stages a solved and an infeasible job go through."""
    stopwatch = Stopwatch()
    plan_job(job([A100]), catalog(), stopwatch=stopwatch)
    wanted = ["options", "candidates", "import ortools", "model build", "solve"]
    assert list(stopwatch.seconds) == [*wanted, "plan", "verify"]
    stopwatch = Stopwatch()
    plan_job(job([A100], {"deadline": "1 min"}), catalog(), stopwatch=stopwatch)
    assert list(stopwatch.seconds) == ["options", "candidates", "explain"]

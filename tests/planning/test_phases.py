"""Tests of the stopwatch of the phases."""

from __future__ import annotations

from time import sleep

import pytest

from solver.planning.phases import Phases
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, catalog, job


def test_times_add_up_under_one_name() -> None:
    """Tests that a phase measured twice is the sum, in order of first start."""
    phases = Phases()
    for name in ("first", "second", "first"):
        with phases.measure(name):
            sleep(0.01)
    assert list(phases.seconds) == ["first", "second"]
    assert phases.seconds["first"] >= 0.019
    assert phases.seconds["second"] >= 0.009


def test_a_phase_that_fails_is_measured() -> None:
    """Tests that an error passes through and its time is kept."""
    phases = Phases()

    def fail() -> None:
        with phases.measure("failing"):
            sleep(0.01)
            int("no number")

    with pytest.raises(ValueError, match="no number"):
        fail()
    assert phases.seconds["failing"] >= 0.009


def test_a_plan_names_its_phases() -> None:
    """Tests which phases a solved and an infeasible job go through."""
    phases = Phases()
    plan_job(job([A100]), catalog(), phases=phases)
    wanted = ["options", "candidates", "import ortools", "model build", "solve"]
    assert list(phases.seconds) == [*wanted, "plan", "verify"]
    phases = Phases()
    plan_job(job([A100], {"deadline": "1 min"}), catalog(), phases=phases)
    assert list(phases.seconds) == ["options", "candidates", "explain"]

"""Tests that the planner does not believe itself: disagreement is a bug, not a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver.cpsat import problem as problem_module
from solver.cpsat import prune as prune_module
from solver.cpsat import reduce as reduce_module
from solver.cpsat.table import SolveLimits
from solver.errors import InternalError
from solver.planning import single_job
from solver.planning.single_job import plan_job, versions
from solver.verify.violation import Violation
from tests.planning.jobs import A100, H100, catalog, job


def solve(offers: list[dict[str, Any]] | None = None) -> Any:
    """The answer of the toy job on two offers."""
    return plan_job(job(offers or [A100, H100]), catalog(), alternatives=0)


def test_a_plan_that_fails_its_certificate_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that a violation stops the answer and names the rule."""
    wrong = Violation("deadline", "too late", 1, 2)
    monkeypatch.setattr(single_job, "verify", lambda *_: [wrong])
    with pytest.raises(InternalError, match="deadline: too late"):
        solve()


def test_two_ways_to_different_rows_are_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that CP-SAT is held against the reduction."""
    right = reduce_module.best_row_by_reduction

    def other(table: Any, requirements: Any, levels: Any) -> int | None:
        row = right(table, requirements, levels)
        return None if row is None else (row + 1) % len(table)

    def all_rows(table: Any, *_: Any) -> Any:
        return np.arange(len(table))

    monkeypatch.setattr(reduce_module, "best_row_by_reduction", other)
    monkeypatch.setattr(prune_module, "undominated", all_rows)
    with pytest.raises(InternalError, match="different candidates"):
        solve([A100, {**A100, "name": "b", "usd_per_gpu_hour": 2.01}])


def _outcome(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Let CP-SAT say something else than it found."""
    real = problem_module.PlacementProblem.solve

    def changed(self: Any, limits: SolveLimits = SolveLimits(), *args: Any) -> Any:  # noqa: B008
        return replace(real(self, limits, *args), **changes)

    monkeypatch.setattr(problem_module.PlacementProblem, "solve", changed)


def test_infeasible_where_there_is_a_plan_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that a 'no' of CP-SAT is not believed against a known row."""
    _outcome(monkeypatch, status="infeasible", rows=None, ties_proved=False)
    with pytest.raises(InternalError, match="no plan where the reduction has one"):
        solve()


def test_no_time_for_cpsat_leaves_the_reductions_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that the reduction's row is shown as feasible, without a bound."""
    wanted = solve().plan
    _outcome(monkeypatch, status="unknown", rows=None, ties_proved=False, bound=None)
    result = solve()
    assert result.status == "feasible"
    assert result.plan == wanted
    assert result.proof.bound is None


def test_the_log_has_levels_and_bounds() -> None:
    """Tests that progress of CP-SAT is told a line at a time."""
    lines: list[str] = []
    plan_job(job([A100, H100]), catalog(), log=lines.append, alternatives=0)
    assert all(line.startswith("level ") for line in lines)
    assert all("bound" in line and "gap" in line for line in lines)


def test_versions_of_all_that_counts() -> None:
    """Tests that an answer names what it was computed with."""
    found = versions()
    assert set(found) >= {"python", "gpuplan", "ortools", "numpy", "pydantic"}
    assert found["numpy"][0].isdigit()
    assert solve().versions == found

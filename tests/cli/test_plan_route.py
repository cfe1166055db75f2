"""Tests of ``gpuplan plan route``."""

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.cli.test_json_contract import SCENARIO

STEP = {"kind", "phases", "start_day", "end_day", "start", "end", "checks"}


@pytest.fixture
def plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A plan in a file."""
    scenario, path = tmp_path / "scenario.yaml", tmp_path / "plan.json"
    scenario.write_text(SCENARIO, encoding="utf-8")
    path.write_text(run(capsys, "solve", scenario, "--json").out, encoding="utf-8")
    return path


def test_the_route_of_a_plan_in_json(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests the keys promised, and that solve's answer has the same steps."""
    ran = run(capsys, "plan", "route", plan, "--json")
    assert (ran.status, ran.err) == (0, "")
    found = ran.data["route"]
    assert set(found) == {"day", "duration_days", "steps", "milestones"}
    kinds = [step["kind"] for step in found["steps"]]
    assert kinds[:4] == ["order", "stage", "setup", "first_hour"]
    assert all(set(step) > STEP for step in found["steps"])
    for step in found["steps"]:
        assert all(set(c) == {"id", "text", "values"} for c in step["checks"])
        assert step["checks"]
    solved = run(capsys, "solve", plan.parent / "scenario.yaml", "--json").data
    route = solved["route"]
    assert [s["kind"] for s in route["steps"]] == kinds
    assert route["milestones"] == found["milestones"]


def test_the_route_as_a_page(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the checklist names dates, figures and the command to type."""
    ran = run(capsys, "plan", "route", plan)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("From ")
    for text in ("Dates to look at", "Measure the first hour", "expected finish"):
        assert text in ran.out
    words = " ".join(ran.out.split())
    assert "gpuplan plan check" in words
    assert "--measured step_time=" in words


def test_what_is_no_plan_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests the exit status and the code for a file that is something else."""
    path = tmp_path / "other.json"
    path.write_text("{}", encoding="utf-8")
    ran = run(capsys, "plan", "route", path, "--json")
    assert ran.status == 2
    assert [e["code"] for e in ran.data["errors"]] == ["not-a-plan"]

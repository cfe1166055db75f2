"""Tests of ``gpuplan plan check``."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.cli.test_json_contract import SCENARIO


def plan_of(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Path:
    """A plan in a file."""
    scenario, path = folder / "scenario.yaml", folder / "plan.json"
    scenario.write_text(SCENARIO, encoding="utf-8")
    ran = run(capsys, "solve", scenario, "--json", *words)
    path.write_text(ran.out, encoding="utf-8")
    return path


def step_of(path: Path) -> float:
    """The step time that a plan predicts."""
    return float(json.loads(path.read_text("utf-8"))["plan"]["step_time_s"])


def test_as_predicted_it_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests the keys of the JSON contract and the figures of a run as planned."""
    path = plan_of(tmp_path, capsys)
    word = f"step_time={step_of(path)!r}s"
    ran = run(capsys, "plan", "check", path, "--measured", word, "--json")
    assert (ran.status, ran.err) == (0, "")
    found = ran.data["check"]
    plan = json.loads(path.read_text("utf-8"))["plan"]
    assert found["pace"] == 1.0
    assert found["forecast"]["cost_usd"] == pytest.approx(plan["cost_usd"])
    assert found["forecast"]["duration_days"] == pytest.approx(plan["duration_days"])
    assert found["replan"]["verdict"] == "stay"
    assert found["replan"]["change"]["same"] is True
    assert found["suspects"] == []


def test_a_lost_deadline_is_exit_status_three(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests the status, with and without a new plan, and the words of the page."""
    path = plan_of(tmp_path, capsys, "--set", "constraints.deadline=5 hours")
    words = ("--measured", f"step_time={step_of(path) * 60!r}s", "--done-steps", "3")
    ran = run(capsys, "plan", "check", path, *words, "--no-replan")
    assert ran.status == 3
    assert "the deadline cannot be kept" in " ".join(ran.out.split())
    assert "What to do" not in ran.out
    page = run(capsys, "plan", "check", path, *words, "--as-of", "9 hours")
    assert page.status == 3
    text = " ".join(page.out.split())
    assert "No way keeps the limits any more." in text
    assert "The deadline has passed." in text


def test_the_page_has_all_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests figures, finish, suspects, verdict and notes, in both languages."""
    path = plan_of(tmp_path, capsys)
    step = step_of(path)
    words = (
        *("--measured", f"step_time={step * 1.5!r}s"),
        *("--measured", "peak_memory=30GiB", "--measured", "failures=0/1 day"),
        *("--measured", "mfu=20%", "--done-tokens", "1M"),
    )
    text = run(capsys, "plan", "check", path, *words).out
    for part in (
        "Measured against predicted",
        "Finish and bill",
        "Where the time may go",
        "What to do",
        "What this rests on",
        "peak memory",
        "failures",
    ):
        assert part in text
    chinese = run(capsys, "plan", "check", path, *words, "--lang", "zh").out
    assert "实测与预测" in chinese
    assert "What to do" not in chinese


def test_measurements_come_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that the median of a column is what counts."""
    path = plan_of(tmp_path, capsys)
    step = step_of(path)
    table = tmp_path / "steps.csv"
    table.write_text(f"step_time\n{step}\n{step * 1.1}\n{step * 9}\n", "utf-8")
    words = ("--measurements", table, "--no-replan", "--json")
    (one,) = run(capsys, "plan", "check", path, *words).data["check"]["measured"]
    assert one["ratio"] == pytest.approx(1.1)
    assert one["count"] == 3


def test_all_that_is_wrong_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests exit status 2, one fault a wrong word, and no traceback."""
    path = plan_of(tmp_path, capsys)
    words = (
        *("--measured", "stp_time=5s", "--measured", "mfu=0%"),
        *("--spent", "lots", "--as-of", "2026-13-01", "--done-tokens", "many"),
    )
    ran = run(capsys, "plan", "check", path, *words)
    assert (ran.status, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 5
    assert "did you mean 'step_time'?" in ran.err
    none = run(capsys, "plan", "check", path, "--json")
    assert none.status == 2
    assert [e["code"] for e in none.data["errors"]] == ["missing-key"]

"""Tests of ``gpuplan alternatives``: page, JSON, CSV, statuses, wrong input."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.cli.test_json_contract import SCENARIO, check_plan


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the path of a small scenario."""
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_json(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests the contract: the best plan, each alternative and its changes."""
    ran = run(capsys, "alternatives", small, "--json")
    assert (ran.status, ran.err) == (0, "")
    data = ran.data
    assert (data["ok"], data["status"], data["objective"]) == (True, "optimal", "cost")
    assert data["within"] == 0.1
    check_plan(data["best"])
    assert data["rows"]
    for row in data["rows"]:
        check_plan(row["plan"])
        assert row["kind"] == row["kinds"][0]
        cost = {c["measure"]: c for c in (*row["gains"], *row["loses"])}["cost_usd"]
        assert cost["value"] == row["plan"]["cost_usd"]
        assert cost["other"] == data["best"]["cost_usd"]
        assert all(change["gain"] for change in row["gains"])
        assert not any(change["gain"] for change in row["loses"])
    assert {m["kind"] for m in data["missing"]} == {"purchase"}


@pytest.mark.parametrize("width", ["60", "80", "140"])
def test_page(
    width: str,
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that the page fits the terminal and tells gains and losses."""
    monkeypatch.setenv("COLUMNS", width)
    ran = run(capsys, "alternatives", small, "--within", "50%")
    assert ran.status == 0
    assert max(map(len, ran.out.splitlines())) <= int(width)
    text = " ".join(ran.out.split())
    assert "What else would do" in text
    assert "at most 50% more of the objective" in text
    assert "compare --by purchase" in text


def test_nothing_near(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the distance of the nearest is told where none is near enough."""
    ran = run(capsys, "alternatives", small, "--within", "0%")
    assert ran.status == 0
    assert "What else would do" not in ran.out
    assert "With other GPU nothing is that near: the nearest takes" in " ".join(
        ran.out.split()
    )


def test_csv(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the best plan comes first, then each alternative."""
    ran = run(capsys, "alternatives", small, "--csv", "-")
    rows = list(csv.DictReader(StringIO(ran.out)))
    assert rows[0]["kinds"] == "best"
    assert len(rows) > 1
    more = float(rows[1]["more_cost_usd"])
    assert more == pytest.approx(
        float(rows[1]["cost_usd"]) - float(rows[0]["cost_usd"])
    )


def test_infeasible(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests exit status 3 with the explanation of a solve."""
    words = ("--set", "constraints.deadline=1 min")
    ran = run(capsys, "alternatives", small, *words)
    assert ran.status == 3
    assert "What would open a plan" in ran.out
    data = run(capsys, "alternatives", small, "--json", *words).data
    assert (data["ok"], data["best"], data["rows"]) == (True, None, [])
    assert "soonest" in data["reason"]


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (("--within", "20x"), ["unknown-unit"]),
        (("--within", "-5%"), ["out-of-range"]),
        (("--within", "9999%"), ["out-of-range"]),
        (("--within", "10"), ["out-of-range"]),
        (
            ("--within", "20x", "--set", "objektive=time"),
            ["unknown-unit", "unknown-key"],
        ),
        (("--per-kind", "0"), ["bad-usage"]),
        (("--csv", "none/rows.csv"), ["output-unwritable"]),
        (("--csv", "-"), ["bad-usage"]),
    ],
)
def test_wrong_options(
    words: tuple[str, ...],
    codes: list[str],
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests options that cannot be read or done, all told at once."""
    monkeypatch.chdir(small.parent)
    ran = run(capsys, "alternatives", small, "--json", *words)
    assert ran.status == 2
    assert [e["code"] for e in ran.data["errors"]] == codes
    assert [p.name for p in small.parent.iterdir()] == ["small.yaml"]

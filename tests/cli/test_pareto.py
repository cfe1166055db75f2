"""Tests of ``gpuplan pareto``: page, thinning, JSON, CSV, picture, wrong input."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.cli.test_json_contract import check_plan

SCENARIO = """\
name: small
model: llama-2-7b
workload: {tokens: 200M, sequence_length: 1024, global_batch_size: 64}
offers:
  - {name: mine, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.00,
     max_nodes: 8, region: sg, network: {gbps_per_node: 1600, kind: infiniband}}
  - {name: other, gpu: h100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 6.10,
     max_nodes: 4, region: jp, network: {gbps_per_node: 3200, kind: infiniband}}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the path of a small scenario."""
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.mark.parametrize("third", [None, "memory_headroom", "carbon"])
def test_json(
    third: str | None, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests the contract: cost, time and plan of each point."""
    words = () if third is None else ("--third", third)
    ran = run(capsys, "pareto", small, "--json", *words)
    assert (ran.status, ran.err) == (0, "")
    assert (ran.data["ok"], ran.data["schema_version"]) == (True, 1)
    assert (ran.data["status"], ran.data["third"]) == ("optimal", third)
    rows = ran.data["rows"]
    assert len(rows) > 3
    assert [row["cost_usd"] for row in rows] == sorted(row["cost_usd"] for row in rows)
    assert sum(row["knee"] for row in rows) <= 1
    for row in rows:
        check_plan(row["plan"])


@pytest.mark.parametrize("width", ["60", "80", "140"])
@pytest.mark.parametrize("third", [None, "carbon"])
def test_page(
    width: str,
    third: str | None,
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that the page fits the terminal and thins openly."""
    monkeypatch.setenv("COLUMNS", width)
    words = () if third is None else ("--third", third)
    ran = run(capsys, "pareto", small, "--points", "4", *words)
    assert ran.status == 0
    assert max(map(len, ran.out.splitlines())) <= int(width)
    text = " ".join(ran.out.split())
    assert "The frontier, cheapest first" in text
    assert "4 of " in text
    assert ("CO2 is an estimate" in text) == (third == "carbon")
    assert ("A day saved:" in text) == (third is None)


def test_csv_has_all_points(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that thinning leaves the table alone."""
    data = run(capsys, "pareto", small, "--json").data
    listed = run(capsys, "pareto", small, "--points", "3", "--csv", "-")
    rows = list(csv.DictReader(StringIO(listed.out)))
    assert [float(row["cost_usd"]) for row in rows] == [
        row["cost_usd"] for row in data["rows"]
    ]
    assert {"true", "false"} >= {row["knee"] for row in rows}


@pytest.mark.parametrize("third", [None, "memory_headroom", "carbon"])
def test_picture(
    third: str | None,
    small: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """Tests that a picture is written in both formats, its axes named."""
    pytest.importorskip("matplotlib")
    words = () if third is None else ("--third", third)
    svg, png = tmp_path / "frontier.svg", tmp_path / "frontier.png"
    assert run(capsys, "pareto", small, "--plot", svg, *words).status == 0
    assert "<svg" in svg.read_text(encoding="utf-8")
    assert run(capsys, "pareto", small, "--plot", png, "--json", *words).status == 0
    assert png.read_bytes().startswith(b"\x89PNG")


def test_infeasible(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests exit status 3 with the explanation of a solve."""
    words = ("--set", "constraints.deadline=1 min")
    ran = run(capsys, "pareto", small, *words)
    assert ran.status == 3
    assert ran.out.startswith("No plan fulfils this scenario (proved)")
    assert "What would open a plan" in ran.out
    data = run(capsys, "pareto", small, "--json", *words).data
    assert (data["ok"], data["status"], data["rows"]) == (True, "infeasible", [])
    assert "soonest" in data["reason"]


def test_no_plan_has_no_picture(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that nothing is drawn where there is nothing to draw."""
    pytest.importorskip("matplotlib")
    picture = small.parent / "none.svg"
    words = ("--set", "constraints.deadline=1 min", "--plot", picture)
    assert run(capsys, "pareto", small, *words).status == 3
    assert not picture.exists()


def test_no_time(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests exit status 4 where the time limit came before any plan."""
    ran = run(capsys, "pareto", small, "--set", "limits.time=0.000001 s")
    assert ran.status == 4
    assert ran.out.startswith("No plan found within the time limit")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--third", "carbn"), "bad-usage"),
        (("--points", "2"), "bad-usage"),
        (("--points", "many"), "bad-usage"),
        (("--plot", "picture"), "file-unwritable"),
        (("--plot", "picture.xyz"), "file-unwritable"),
        (("--plot", "none/picture.png"), "output-unwritable"),
        (("--csv", "none/rows.csv"), "output-unwritable"),
        (("--csv", "-"), "bad-usage"),
        (("--csv", "both.svg", "--plot", "./both.svg"), "bad-usage"),
    ],
)
def test_wrong_options(
    words: tuple[str, ...],
    code: str,
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests options that cannot be done: told before any work, nothing written."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(small.parent)
    ran = run(capsys, "pareto", small, "--json", *words)
    assert ran.status == 2
    assert [e["code"] for e in ran.data["errors"]] == [code]
    assert [p.name for p in small.parent.iterdir()] == ["small.yaml"]


def test_wrong_input_all_at_once(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests a misspelled figure beside a misspelled key, each with its hint."""
    words = ("--third", "carbn", "--set", "objektive=time", "--json")
    ran = run(capsys, "pareto", small, *words)
    assert [e["hint"] for e in ran.data["errors"]] == ["carbon", "objective"]


def test_rows_tell_spares_and_purchase_apart(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that what differs between points is in the table: spot, spare nodes."""
    words = (
        "--set",
        "constraints.purchase=[on_demand,spot]",
        "--set",
        "failures={replacement: 9 days, gpu_mtbf: 300 hours, spares: [0, 1]}",
    )
    rows = run(capsys, "pareto", small, "--json", *words).data["rows"]
    page = run(capsys, "pareto", small, *words).out
    spares = {row["plan"]["spare_nodes"] for row in rows}
    kinds = {row["plan"]["purchase"] for row in rows}
    assert ("spare node" in page) == (max(spares) > 0)
    assert ("spot" in page) == ("spot" in kinds)
    assert max(spares) > 0 or "spot" in kinds

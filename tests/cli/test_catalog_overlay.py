"""Tests of one's own catalog folders, by option and by environment, from end to end."""

from __future__ import annotations

import csv
import random
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from solver.catalog.load import ENVIRONMENT_VARIABLE, load_catalog
from solver.plan import Plan
from solver.planning.single_job import plan_job
from solver.scenario.load import load_scenario
from tests.catalog.small import OK_SMALL, copy_of_small
from tests.cli.running import run, run_process
from tests.planning.jobs import catalog
from tests.project.source import ROOT

SCENARIO = """\
name: overlay
model: toy-1b
workload: {tokens: 20B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {providers: [acme], gpus: {max: 16}}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return a scenario on a provider that only the tiny catalog has."""
    path = tmp_path / "overlay.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_a_folder_by_option(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that --catalog adds a provider, and without it the name is unknown."""
    ran = run(capsys, "solve", scenario, "--catalog", OK_SMALL, "--json")
    assert ran.status == 0
    assert ran.data["plan"]["provider"] == "acme"
    without = run(capsys, "solve", scenario, "--json")
    assert without.status == 2
    codes = {error["code"] for error in without.data["errors"]}
    assert codes == {"unknown-name"}


def test_a_folder_by_environment(
    scenario: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that GPUPLAN_CATALOG gives the same plan as --catalog."""
    option = run(capsys, "solve", scenario, "--catalog", OK_SMALL, "--json").data
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(OK_SMALL))
    environment = run(capsys, "solve", scenario, "--json").data
    assert environment["plan"] == option["plan"]


def test_a_folder_by_environment_in_a_process(scenario: Path) -> None:
    """Tests the variable in a process of its own, from another folder."""
    ran = run_process(
        "solve",
        scenario.name,
        "--json",
        cwd=scenario.parent,
        **{ENVIRONMENT_VARIABLE: str(OK_SMALL)},
    )
    assert (ran.status, ran.err) == (0, "")
    assert ran.data["plan"]["provider"] == "acme"


def _dearer(folder: Path, factor: float) -> Path:
    """Multiply every price of a catalog folder's offers."""
    for path in (folder / "offers").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["usd_per_node_hour"] = str(float(row["usd_per_node_hour"]) * factor)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return folder


def test_a_later_folder_wins(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that the last --catalog replaces offers of the same id: prices double."""
    dear = _dearer(copy_of_small(tmp_path), 2.0)
    words = ("solve", scenario, "--json", "--catalog")
    plain = run(capsys, *words, OK_SMALL).data["plan"]
    over = run(capsys, *words, OK_SMALL, "--catalog", dear).data["plan"]
    under = run(capsys, *words, dear, "--catalog", OK_SMALL).data["plan"]
    assert over["cost_parts_usd"]["compute"] == pytest.approx(
        2 * plain["cost_parts_usd"]["compute"]
    )
    assert under["cost_usd"] == plain["cost_usd"]


def test_an_option_wins_over_the_environment(
    scenario: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that --catalog is read over GPUPLAN_CATALOG."""
    dear = _dearer(copy_of_small(tmp_path), 3.0)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(dear))
    words = ("solve", scenario, "--json")
    by_variable = run(capsys, *words).data["plan"]["cost_parts_usd"]["compute"]
    by_option = run(capsys, *words, "--catalog", OK_SMALL).data["plan"]
    assert by_variable == pytest.approx(3 * by_option["cost_parts_usd"]["compute"])


def test_a_broken_folder_is_an_input_error(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a wrong cell is told with its file and line."""
    folder = copy_of_small(tmp_path)
    offers = folder / "offers" / "acme.csv"
    text = offers.read_text(encoding="utf-8")
    offers.write_text(text.replace("on_demand", "on_demnd", 1), encoding="utf-8")
    ran = run(capsys, "solve", scenario, "--catalog", folder, "--json")
    assert ran.status == 2
    assert ran.data["ok"] is False
    assert any("acme.csv:2" in error["where"] for error in ran.data["errors"])


def _shuffled_copy(folder: Path, seed: int) -> Path:
    """Copy the shipped catalog with the rows of every table in another order."""
    target = folder / f"shuffled-{seed}"
    shutil.copytree(ROOT / "catalog", target)
    order = random.Random(seed)
    for path in sorted(target.rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
        order.shuffle(rows)
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return target


def _decisions(plan: Plan | None) -> Plan:
    assert plan is not None
    return replace(plan, provenance={}, warnings=())


def test_order_of_the_shipped_tables_plays_no_part(tmp_path: Path) -> None:
    """Tests that shuffled rows of every table give the very same plans."""
    day_0 = date(2026, 12, 1)
    names = ("quickstart-7b", "qlora-65b-one-card", "full-7b-l40s")
    wanted = [
        _decisions(
            plan_job(
                load_scenario(name, catalog(), (), day_0), catalog(), alternatives=0
            ).plan
        )
        for name in names
    ]
    for seed in (1, 2):
        other = load_catalog(
            [_shuffled_copy(tmp_path, seed)], shipped=False, environment={}
        )
        found = [
            plan_job(load_scenario(name, other, (), day_0), other, alternatives=0).plan
            for name in names
        ]
        assert [_decisions(plan) for plan in found] == wanted

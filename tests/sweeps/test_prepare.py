"""Tests of sweeps on their way from the file to the results, in whole runs."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from solver.catalog.digest import catalog_digest
from solver.errors import InputError
from solver.sweeps.prepare import estimate, find_sweep, prepare
from solver.sweeps.solving import solve_points
from solver.sweeps.store import Store, stored_meta
from solver.sweeps.workers import Here
from tests.cli.running import run as run_command
from tests.sweeps.examples import BASE, SWEEP, TODAY, prepared, shipped, written
from tests.sweeps.test_running import answers, run


def test_the_base_lies_beside_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that paths in a sweep file do not depend on the current folder."""
    file = written(tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    assert len(prepare(str(file), (), TODAY).points.points) == 12
    relative = prepare(str(file.relative_to(tmp_path.parent)), (), TODAY)
    records = solve_points(relative.question, relative.points.points[:1])
    assert records[0].status == "infeasible"


def test_ctrl_c_ends_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that no time is told for points that were not answered."""
    ready = prepared(tmp_path)
    monkeypatch.setattr("solver.sweeps.prepare.solve_points", lambda _, points: [])
    with pytest.raises(KeyboardInterrupt):
        estimate(ready, 1, 12)


def test_tables_that_the_base_names(tmp_path: Path) -> None:
    """Tests offers in a CSV file beside the base, which are part of the question."""
    table = tmp_path / "offers.csv"
    head = "name,gpu,gpus_per_node,usd_per_gpu_hour,max_nodes,region\n"
    table.write_text(f"{head}mine,a100-sxm-80gb,8,2.0,1,sg\n", encoding="utf-8")
    base = BASE[: BASE.index("offers:")] + "offers: offers.csv\n"
    first = prepared(tmp_path, base, overlays=None)
    table.write_text(f"{head}mine,a100-sxm-80gb,8,2.5,1,sg\n", encoding="utf-8")
    second = prepared(tmp_path, base, overlays=None)
    assert first.question.sweep != second.question.sweep
    (record,) = solve_points(second.question, second.points.points[-1:])
    assert record.plan is not None
    assert record.plan["usd_per_gpu_hour"] == 2.5


@pytest.mark.parametrize(
    "change",
    [
        {"axes": {**SWEEP["axes"], "constraints.budget": ["$10"]}},
        {"set": {"limits.seed": 1}},
        {"base": "other.yaml"},
    ],
)
def test_what_makes_another_sweep(change: dict[str, Any], tmp_path: Path) -> None:
    """Tests that a change of the file or of its base is noticed."""
    before = prepared(tmp_path).question.sweep
    text = BASE.replace("1.50", "1.60")
    (tmp_path / "other.yaml").write_text(text, encoding="utf-8")
    assert prepared(tmp_path, **change).question.sweep != before
    assert prepared(tmp_path).question.sweep == before


def test_a_catalog_folder_is_part_of_the_question(tmp_path: Path) -> None:
    """Tests that a folder of one's own changes the digest, and an edit in it again."""
    ours = tmp_path / "ours" / "offers"
    ours.mkdir(parents=True)
    table = ours / "mine.csv"
    source = (
        "region,server,purchase,usd_per_node_hour,source,as_of\n"
        "aws/us-east-1,{server},on_demand,{price},ours,2026-11-30\n"
    )
    offer = next(iter(shipped().offers.values()))
    table.write_text(source.format(server=offer.server, price=1), encoding="utf-8")
    file = written(tmp_path)
    with_ours = prepare(str(file), [tmp_path / "ours"], TODAY).question
    assert with_ours.catalog != catalog_digest(shipped())
    table.write_text(source.format(server=offer.server, price=2), encoding="utf-8")
    edited = prepare(str(file), [tmp_path / "ours"], TODAY).question
    assert edited.catalog != with_ours.catalog
    assert edited.sweep == with_ours.sweep


def test_a_catalog_overlay(tmp_path: Path) -> None:
    """Tests that an overlay may be a folder, of which the points know."""
    (tmp_path / "empty").mkdir()
    overlays = [{"name": "listed"}, {"name": "ours", "catalog": "./empty"}]
    ready = prepared(tmp_path, overlays=overlays)
    assert ready.kinds == 2  # another catalog might have other cards
    run(ready, tmp_path / "r.db", Here())
    by_overlay: dict[str | None, list[Any]] = {}
    for record in answers(tmp_path / "r.db"):
        by_overlay.setdefault(record.overlay, []).append((record.status, record.plan))
    assert by_overlay["ours"] == by_overlay["listed"]


def test_plans_count_from_the_first_day(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that a sweep gone on with tomorrow is that of today."""
    file, place = written(tmp_path), tmp_path / "r.db"
    ready = prepare(str(file), (), TODAY)
    with closing(Store.open(str(place), create=True)) as store:
        store.describe(ready.facts)
    monkeypatch.setenv("GPUPLAN_TODAY", "2026-12-05")
    words = ("sweep", "run", file, "--out", place, "--workers", "1", "--json")
    ran = run_command(capsys, *words)
    assert (ran.status, ran.data["complete"]) == (0, True)
    assert stored_meta(str(place))["today"] == "2026-11-30"
    days = {r.plan["order_date"] for r in answers(place) if r.plan is not None}
    assert days == {"2026-11-30"}
    later = run_command(capsys, *words[:-1], "--mixed", "--json")
    assert later.data["answered"] == 0
    assert stored_meta(str(place))["today"] == "2026-12-05"


def test_errors_are_answered_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that failed points stay as they are, and --retry tries them once more."""
    axes = {"constraints.gpus.min": [1, 32], "constraints.gpus.max": [8, 64]}
    file, place = written(tmp_path, axes=axes, overlays=None), tmp_path / "r.db"
    words = ("sweep", "run", file, "--out", place, "--workers", "1", "--json")
    first = run_command(capsys, *words)
    assert (first.data["answered"], first.data["failed"]) == (4, 1)
    assert run_command(capsys, *words).data["answered"] == 0
    again = run_command(capsys, *words, "--retry")
    assert (again.data["answered"], again.data["failed"]) == (1, 1)


def test_draws_are_answered_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests Monte Carlo from the file to the page: more draws change none before."""
    draws = {
        "count": 4,
        "seed": 7,
        "price_factor": {"lognormal": [1.0, "20%"]},
        "failures.gpu_mtbf": {"uniform": ["5000 hours", "50000 hours"]},
    }
    axes = {"constraints.budget": ["$1k"]}
    few = prepared(tmp_path, axes=axes, draws=draws, overlays=None)
    many = prepared(tmp_path, axes=axes, draws={**draws, "count": 9}, overlays=None)
    assert [p.id for p in many.points.points[:4]] == [p.id for p in few.points.points]
    run(few, tmp_path / "r.db", Here())
    costs = [r.plan["cost_usd"] for r in answers(tmp_path / "r.db") if r.plan]
    assert len(set(costs)) == 4
    shown = run_command(capsys, "sweep", "show", tmp_path / "r.db", "--json")
    (scatter,) = shown.data["summary"]["scatters"]
    assert min(costs) < scatter["cost_usd"][1] < max(costs)
    ranked = {c["key"]: c["cost"] for c in shown.data["summary"]["correlations"]}
    assert ranked["price_factor"] > 0.5


def test_an_estimate_is_measured(tmp_path: Path) -> None:
    """Tests that the time of all is that of the sample, scaled by what is left."""
    ready = prepared(tmp_path)
    whole = estimate(ready, 1, 12)
    assert 4 <= whole.sampled <= 12
    assert whole.first_s > 0
    assert whole.total_s == pytest.approx(whole.first_s + 11 * whole.next_s)
    assert estimate(ready, 2, 0).total_s == 0.0


def test_shipped_sweeps_are_found_by_name() -> None:
    """Tests names in any case, and what is told of a wrong one."""
    assert find_sweep("Deadline-By-GPU").stem == "deadline-by-gpu"
    with pytest.raises(InputError, match="no shipped sweep of that name") as caught:
        find_sweep("deadline-by-gpus")
    assert caught.value.issues[0].hint == "deadline-by-gpu"


def test_phases_are_refused(tmp_path: Path) -> None:
    """Tests that a base of several phases is told, not half answered."""
    data = {"base": "three-phases-8b", "axes": {"limits.seed": [1, 2]}}
    with pytest.raises(InputError, match="the base has phases"):
        prepare(str(written(tmp_path, **data)), (), date(2026, 11, 30))

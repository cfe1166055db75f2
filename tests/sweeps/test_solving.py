"""Tests of single points: they are what a solve answers, and errors are kept."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solver.errors import InputError
from solver.planning.single_job import plan_job
from solver.sweeps.offers import changed
from solver.sweeps.question import scenario_at
from solver.sweeps.sharing import chunks_of, physics_key
from solver.sweeps.solving import solve_points
from tests.sweeps.examples import prepared, shipped


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"set": {"objective": "time"}},
        {"set": {"constraints.confidence": 0.9}},
        {"set": {"objective": {"cost": 1, "usd_per_day": 100}}},
        {"axes": {"constraints.budget": ["$20.80", "$21", "$31.2", "$1k", None]}},
    ],
)
def test_each_point_is_what_a_solve_answers(
    keys: dict[str, Any], tmp_path: Path
) -> None:
    """Tests points that share solves against solves of their own, sharing nothing."""
    ready = prepared(tmp_path, **keys)
    chunks = chunks_of(ready.points.points, ready.question.objective)
    assert sorted(p.number for c in chunks for p in c) == list(
        range(len(ready.points.points))
    )
    statuses = set()
    for chunk in chunks:
        records = solve_points(ready.question, chunk)
        for point, record in zip(chunk, records, strict=True):
            scenario = scenario_at(ready.question, point, shipped())
            told = changed(scenario, shipped(), point.overlay, point.price_factor)
            alone = plan_job(*told, alternatives=0)
            assert record.status == alone.status
            plan = None if alone.plan is None else alone.plan.as_dict()
            assert record.plan == plan
            assert bool(record.reasons) == (plan is None) == bool(record.reason)
            statuses.add(record.status)
    assert statuses == {"optimal", "infeasible"}


def test_a_contradiction_is_kept_at_its_point(tmp_path: Path) -> None:
    """Tests that a point that is no scenario has an error, and the others answers."""
    axes = {"constraints.gpus.min": [1, 32], "constraints.gpus.max": [8, 64]}
    ready = prepared(tmp_path, axes=axes, overlays=None)
    records = solve_points(ready.question, ready.points.points)
    by_values = {tuple(r.inputs.values()): r for r in records}
    assert by_values[32, 8].status == "error"
    assert "gpus.min" in str(by_values[32, 8].error)
    assert by_values[1, 8].status == "optimal"
    assert by_values[32, 64].status == "infeasible"  # 16 GPUs are on offer


def test_prices_and_limits_are_no_physics(tmp_path: Path) -> None:
    """Tests which points share layouts: all but those of other architectures."""
    axes = {
        "constraints.deadline": ["3 hours", "2 days"],
        "price_factor": [1.0, 1.1],
        "prices": [[], [{"provider": "aws", "discount": "10%"}]],
        "workload.sequence_length": [512, 1024],
    }
    ready = prepared(tmp_path, axes=axes)
    assert len(ready.points.points) == 32
    assert ready.kinds == 2
    length = "workload.sequence_length"
    keys = {(physics_key(p), p.values[length]) for p in ready.points.points}
    assert sorted(each for _, each in keys) == [512, 1024]


def test_a_worker_answers_its_own_version_and_catalog_only(tmp_path: Path) -> None:
    """Tests that results of another gpuplan, or another catalog, are never mixed in."""
    ready = prepared(tmp_path)
    point = ready.points.points[0]
    with pytest.raises(InputError, match=r"gpuplan .*, not 0\.0\.1"):
        solve_points(replace(ready.question, version="0.0.1"), (point,))
    with pytest.raises(InputError, match="another catalog"):
        solve_points(replace(ready.question, catalog="other"), (point,))


def test_what_is_sent_to_workers_can_be_sent(tmp_path: Path) -> None:
    """Tests that question and point survive the way to another process."""
    ready = prepared(tmp_path)
    point = ready.points.points[3]
    sent = pickle.loads(pickle.dumps((ready.question, point)))
    assert sent == (ready.question, point)
    assert len(pickle.dumps(ready.question)) < 10_000

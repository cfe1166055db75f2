"""Tests of the runners-up: each differs in kind, and none is better than the plan."""

from __future__ import annotations

from typing import Any

import pytest

from solver.plan import Alternative, PlanResult
from solver.planning.single_job import plan_job
from solver.report.answer_rows import page
from solver.report.as_table import render
from tests.planning.jobs import A100, H100, catalog, job

MANY: list[dict[str, Any]] = [
    A100,
    {**A100, "name": "b", "region": "jp", "usd_per_gpu_hour": 2.05},
    {**A100, "name": "c", "provider": "a", "region": "us", "usd_per_gpu_hour": 2.1},
    {**H100, "usd_per_gpu_hour": 4.2},
    {**A100, "name": "d", "usd_per_gpu_hour": 9.0},
]
"""The last is too dear to be within a quarter of the best."""


def answer(offers: list[dict[str, Any]], most: int = 5, **keys: Any) -> PlanResult:
    """The answer with runners-up."""
    result = plan_job(job(offers, **keys), catalog(), alternatives=most)
    assert result.status == "optimal"
    return result


def others(result: PlanResult) -> dict[str, Alternative]:
    """Runners-up by kind."""
    return {a.kind: a for a in result.alternatives}


@pytest.mark.parametrize("objective", ["cost", "time", {"cost": 1, "usd_per_day": 20}])
def test_differences_are_those_of_the_figures(objective: Any) -> None:
    """Tests the change of dollars and days against the two plans themselves."""
    result = answer(MANY, objective=objective)
    assert result.plan is not None
    assert result.alternatives
    for other in result.alternatives:
        assert other.cost_change_usd == other.plan.cost_usd - result.plan.cost_usd
        days = other.plan.duration_days - result.plan.duration_days
        assert other.duration_change_days == days


def test_each_differs_in_what_it_says() -> None:
    """Tests GPU, provider, region and size of the runners-up."""
    result = answer(MANY, objective={"cost": 1, "usd_per_day": 20})
    plan = result.plan
    assert plan is not None
    for kind, other in others(result).items():
        if kind in ("gpu", "provider", "region", "purchase"):
            assert getattr(other.plan, kind) != getattr(plan, kind), kind
        if kind == "size":
            assert other.plan.offer == plan.offer
            assert other.plan.nodes != plan.nodes
        if kind == "batch":
            ours, theirs = plan.layout, other.plan.layout
            assert theirs.global_batch_size != ours.global_batch_size


@pytest.mark.parametrize("objective", ["cost", "time"])
def test_none_is_better_than_the_plan(objective: str) -> None:
    """Tests that runners-up are worse in the objective, nearest first, within 25 %."""
    result = answer(MANY, objective=objective)
    assert result.plan is not None
    name = "cost_usd" if objective == "cost" else "duration_days"
    values = [getattr(a.plan, name) for a in result.alternatives if a.kind != "batch"]
    best = getattr(result.plan, name)
    assert values == sorted(values)
    assert all(best * (1 - 1e-9) <= value <= 1.25 * best for value in values)


def test_the_dear_offer_is_none() -> None:
    """Tests that what is over a quarter dearer is not shown."""
    result = answer(MANY)
    assert result.plan is not None
    assert result.plan.offer == "a"
    assert {a.plan.offer for a in result.alternatives} <= {"a", "b", "c", "h"}
    found = others(result)
    assert found["provider"].plan.offer == "b"
    assert found["provider"].cost_change_usd == pytest.approx(
        result.plan.gpu_hours * 0.05, rel=1e-6
    )


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_more_than_asked_for(most: int) -> None:
    """Tests the number of runners-up; another batch may come on top."""
    result = answer(MANY, most)
    kinds = [a.kind for a in result.alternatives]
    assert len([k for k in kinds if k != "batch"]) <= most
    assert len(kinds) <= most + 1
    if most == 0:
        assert kinds == []
    full = answer(MANY).alternatives
    assert [a.plan for a in result.alternatives if a.kind != "batch"] == [
        a.plan for a in full if a.kind != "batch"
    ][: len([k for k in kinds if k != "batch"])]


def test_one_offer_has_no_other() -> None:
    """Tests that a single node of a single offer leaves nothing to compare."""
    result = answer([{**A100, "max_nodes": 1}])
    assert {a.kind for a in result.alternatives} <= {"batch"}


def test_a_better_batch_is_told() -> None:
    """Tests that 57 sequences on 8 GPUs leave seven idle: 56 or 64 do better."""
    one = {**A100, "max_nodes": 1}
    result = answer([one], workload={"global_batch_size": 57})
    assert result.plan is not None
    assert result.plan.layout.global_batch_size == 57
    assert "other batch, not as asked" in render(page(result), width=120)
    other = others(result)["batch"]
    batch = other.plan.layout.global_batch_size
    assert 50 <= batch <= 64
    assert batch % 8 == 0
    assert other.cost_change_usd < -0.002 * result.plan.cost_usd
    again = answer([one], 0, workload={"global_batch_size": batch})
    assert again.plan is not None
    assert again.plan.cost_usd <= other.plan.cost_usd * (1 + 1e-9)


def test_a_range_of_batches_has_no_better_one() -> None:
    """Tests that where the batch was free no other is suggested."""
    written = {"sequences": 57, "tolerance": "20%"}
    result = answer([A100], workload={"global_batch_size": written})
    assert "batch" not in others(result)


def test_purchase_is_a_kind() -> None:
    """Tests that on demand is the runner-up of a spot price near it."""
    offer = {**A100, "spot_usd_per_gpu_hour": 1.8}
    both = {"purchase": ["spot", "on_demand"]}
    result = answer([offer], constraints=both)
    assert result.plan is not None
    assert result.plan.purchase == "spot"
    assert others(result)["purchase"].plan.purchase == "on_demand"


def test_runners_up_are_plans_that_hold() -> None:
    """Tests that every runner-up but another batch passes the certificate."""
    from solver.setting import setting_of
    from solver.verify import verify

    scenario = job(MANY)
    supply = setting_of(scenario, catalog()).catalog
    for other in plan_job(scenario, catalog()).alternatives:
        if other.kind != "batch":
            assert verify(other.plan, scenario, supply) == [], other.kind

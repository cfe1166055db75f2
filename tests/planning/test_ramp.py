"""Tests of plans whose batch grows: layouts, days, verification and refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solver.plan import Plan
from solver.planning.estimate import EstimatePins, estimate
from solver.planning.single_job import plan_job
from solver.report.plan_rows import plan_sections
from solver.scenario.scenario import Scenario
from solver.verify import verify
from tests.planning.jobs import A100, H100, catalog, job

RAMP = {"from": 16, "step": 16, "samples": 200_000}


def scenario(ramp: dict[str, Any] | None = RAMP, **keys: Any) -> Scenario:
    """The toy job on a batch of 256, reached by that ramp."""
    work = {"global_batch_size": 256, "batch_ramp": ramp}
    return job([A100], workload=work, **keys)


def planned(ramp: dict[str, Any] | None = RAMP, **keys: Any) -> Plan:
    """Its plan, which is verified."""
    found = scenario(ramp, **keys)
    result = plan_job(found, catalog(), alternatives=0)
    assert result.status == "optimal"
    assert result.plan is not None
    assert verify(result.plan, found, catalog()) == []
    return result.plan


def test_a_ramp_limits_dp_and_takes_longer() -> None:
    """Tests that no more than 16 replicas run it, and that its steps are counted."""
    pins = {"constraints": {"gpus": {"min": 32}}, "objective": "time"}
    free, grown = planned(None, **pins), planned(**pins)
    assert free.layout.dp == 32
    assert 16 % (grown.layout.dp * grown.layout.micro_batch) == 0
    assert grown.layout.global_batch_size == 256
    assert grown.steps > free.steps
    assert grown.training_days > free.training_days
    assert free.batch_ramp is None


def test_the_figures_of_a_ramp() -> None:
    """Tests the steps by hand and that all of them add up to the training."""
    plan = planned({"from": 128, "step": 128, "samples": 100_000})
    ramp = plan.batch_ramp
    assert ramp is not None
    # 782 steps of 128 see 100,096 sequences; 5B tokens are 2,441,406.25 of them
    assert (ramp["steps"], ramp["sequences"], ramp["increments"]) == (782, 100_096, 1)
    assert plan.steps == 782 + 9_146
    whole = 9_146 * plan.step_time_s / 86_400
    assert plan.training_days == pytest.approx(whole + ramp["days"])
    assert 0.5 * 782 / 9_146 * whole < ramp["days"] < 782 / 9_146 * whole
    assert Plan.from_dict(plan.as_dict()) == plan


def test_small_batches_are_less_efficient_in_a_pipeline() -> None:
    """Tests that few micro-batches wait longer in the pipeline than many."""
    pinned = {"constraints": {"parallelism": {"pp": 4, "dp": 8, "virtual_stages": 1}}}
    ramp = planned({"from": 8, "step": 8, "samples": 1_000_000}, **pinned)
    assert ramp.batch_ramp is not None
    rate = ramp.batch_ramp["sequences"] / ramp.batch_ramp["days"]
    whole = 256 / (ramp.step_time_s / 86_400)
    assert rate < 0.97 * whole


def test_the_estimate_agrees_with_the_plan() -> None:
    """Tests that days of an estimate have the ramp in them."""
    plan = planned()
    axes = ("tp", "pp", "cp", "dp", "micro_batch", "virtual_stages", "zero_stage")
    pins = {axis: getattr(plan.layout, axis) for axis in axes}
    pins["recompute"] = plan.layout.recompute
    found = estimate(scenario(), catalog(), EstimatePins(gpus=plan.gpus, **pins))
    assert found.training_days == pytest.approx(plan.training_days)


@pytest.mark.parametrize(
    ("key", "value"),
    [("steps", 1), ("sequences", 1), ("days", 0.0), ("from", 8), ("increments", 1)],
)
def test_a_changed_ramp_is_rejected(key: str, value: float) -> None:
    """Tests that verification climbs the ramp by itself."""
    plan = planned()
    changed = replace(plan, batch_ramp={**(plan.batch_ramp or {}), key: value})
    assert verify(changed, scenario(), catalog()) != []
    assert verify(replace(plan, batch_ramp=None), scenario(), catalog()) != []


def test_a_layout_that_does_not_divide_the_ramp_is_rejected() -> None:
    """Tests a plan of a constant batch against a scenario with a ramp."""
    pins = {"constraints": {"gpus": {"min": 32}}, "objective": "time"}
    plan = planned(None, **pins)
    rules = {v.rule for v in verify(plan, scenario(**pins), catalog())}
    assert rules == {"divisibility"}


def test_a_pinned_dp_that_does_not_divide_is_explained() -> None:
    """Tests that a 'no' names the ramp."""
    found = scenario(constraints={"parallelism": {"dp": 32}})
    result = plan_job(found, catalog())
    assert result.status == "infeasible"
    assert result.explanation is not None
    ramp = "a batch ramp from 16 in steps of 16 does not divide over DP 32"
    assert ramp in result.explanation.summary


def test_the_page_shows_the_ramp() -> None:
    """Tests the rows of a ramp, which a plan without has not."""
    labels = [row.label for part in plan_sections(planned()) for row in part.rows]
    assert {"batch ramp", "steps of the ramp"} <= set(labels)
    labels = [row.label for part in plan_sections(planned(None)) for row in part.rows]
    assert "batch ramp" not in labels


def test_hardware_choice_counts_the_ramp() -> None:
    """Tests the best of two kinds of node against each by itself."""
    work = {"global_batch_size": 256, "batch_ramp": RAMP}
    alone = [
        plan_job(job([offer], workload=work), catalog(), alternatives=0).plan
        for offer in (A100, H100)
    ]
    both = plan_job(job([A100, H100], workload=work), catalog(), alternatives=0).plan
    costs = [plan.cost_usd for plan in alone if plan is not None]
    assert both is not None
    assert both.cost_usd == pytest.approx(min(costs))

"""Tests of why phases have no chain: what is in conflict, and what would open one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solver.plan import Explanation
from solver.planning.phases import plan_phases
from solver.scenario.scenario import Objective, Scenario
from tests.planning.jobs import A100, H100, catalog
from tests.planning.phased import APART, TWO, phased


def explained(scenario: Scenario) -> Explanation:
    """The explanation of a scenario without a chain."""
    result = plan_phases(scenario, catalog())
    assert result.status == "infeasible"
    assert result.explanation is not None
    return result.explanation


def relaxed(why: Explanation, constraint: str) -> dict[str, Any]:
    """The relaxation of a requirement."""
    return next(r for r in why.relaxations if r["constraint"] == constraint)


def hurry() -> Scenario:
    """The two phases as soon as can be."""
    return replace(phased(), objective=Objective("time"))


def has_chain(scenario: Scenario) -> bool:
    """Whether there is a chain."""
    return plan_phases(scenario, catalog()).total is not None


def test_the_least_deadline_is_the_least() -> None:
    """Tests the deadline told: a chain keeps it, none a print step less."""
    scenario = phased(constraints={"deadline": "2 hours", "confidence": 0.9})
    why = explained(scenario)
    assert why.conflict == ("deadline",)
    told = relaxed(why, "deadline")
    assert told["set"].startswith("constraints.deadline=")
    needed_s = told["needed_value"] * 86_400
    for seconds, possible in ((needed_s, True), (needed_s - 360, False)):
        user = replace(scenario.constraints, deadline_s=seconds)
        assert has_chain(replace(scenario, constraints=user)) == possible


def test_what_a_deadline_opens_keeps_it() -> None:
    """Tests that the finish told is no later than the deadline told beside it."""
    told = relaxed(explained(phased(constraints={"deadline": "2 hours"})), "deadline")
    assert told["opens"]["duration_days"] <= told["needed_value"]


def test_the_least_budget_is_the_least() -> None:
    """Tests the budget told: it buys a chain, a dollar less does not."""
    scenario = phased(constraints={"budget": 30})
    why = explained(scenario)
    assert why.conflict == ("budget",)
    needed = relaxed(why, "budget")["needed_value"]
    for usd, possible in ((needed, True), (needed - 1, False)):
        user = replace(scenario.constraints, budget_usd=usd)
        assert has_chain(replace(scenario, constraints=user)) == possible


def test_both_limits_are_in_conflict() -> None:
    """Tests that each alone would open a chain, and both are named."""
    free = plan_phases(phased(), catalog()).total
    soonest = plan_phases(hurry(), catalog()).total
    assert free is not None
    assert soonest is not None
    days = soonest.duration_days * 1.01
    tight = {"deadline": f"{days} days", "budget": free.cost_usd * 1.001}
    why = explained(phased(constraints=tight))
    assert set(why.conflict) >= {"deadline", "budget"}
    assert relaxed(why, "deadline")["needed_value"] <= free.duration_days + 0.1
    assert relaxed(why, "budget")["needed_value"] > free.cost_usd


def test_a_set_of_one_phase_is_named_with_it() -> None:
    """Tests that the GPUs of the phase that takes too long are in the conflict."""
    slow = [TWO[0] | {"constraints": {"gpus": {"types": ["A100"]}}}, TWO[1]]
    least = plan_phases(hurry(), catalog()).total
    assert least is not None
    deadline = f"{least.duration_days * 1.01} days"
    why = explained(phased(slow, {"deadline": deadline}))
    assert "gpu_types (pre-train)" in why.conflict
    told = relaxed(why, "gpu_types")
    assert told["phases"] == ["pre-train"]
    assert told["set"] == "phases[0].constraints.gpus.types=[]"
    again = phased(slow, {"deadline": deadline}, overrides=(told["set"],))
    assert has_chain(again)


def test_a_phase_that_fits_nowhere_is_told_by_name() -> None:
    """Tests that memory is explained for the phase, with overrides for it alone."""
    big = {"sequence_length": 1_048_576, "global_batch_size": 8}
    long = [TWO[0], {"name": "extend", "workload": big | {"tokens": "1B"}}]
    pins = {"gpus": {"max": 8}, "parallelism": {"cp": 1, "tp": 1}}
    long[1]["constraints"] = pins
    why = explained(phased(long))
    assert why.kind == "memory"
    assert "extend" in why.summary
    assert {r["phase"] for r in why.relaxations} == {"extend"}
    typed = [r["set"] for r in why.relaxations if r.get("set")]
    assert all(text.startswith("phases[1].") for text in typed)


def test_a_phase_without_offers_is_told_by_name() -> None:
    """Tests a phase whose sets leave no offer, with the set that opens one."""
    none = [TWO[0], {"name": "extend", "constraints": {"gpus": {"types": ["B200"]}}}]
    why = explained(phased(none))
    assert why.kind == "catalog"
    assert "extend" in why.summary
    assert "gpu_types" in why.conflict


@pytest.mark.parametrize("days", [0.5, 3.0])
def test_waits_can_be_in_the_way(days: float) -> None:
    """Tests that a lead time beyond the deadline is no plan, and one before it is."""
    offers = [A100, H100 | {"lead_time": "2 days"}]
    scenario = phased(APART, {"deadline": f"{days} days"}, offers)
    assert has_chain(scenario) == (days > 2)


LIFTED: list[tuple[str, dict[str, Any], str]] = [
    ("regions", {"regions": ["b/jp"]}, "regions=[]"),
    ("countries", {"countries": ["JP"]}, "countries=[]"),
    ("gpu_types", {"gpus": {"types": ["H100"]}}, "gpus.types=[]"),
    ("network", {"network": {"min_gbps_per_gpu": 300}}, "network={}"),
]


@pytest.mark.parametrize(("name", "limits", "lifted"), LIFTED)
def test_the_override_of_a_set_opens_a_chain(
    name: str, limits: dict[str, Any], lifted: str
) -> None:
    """Tests that each set of one phase that is in the way can be typed away."""
    slow = H100 | {"name": "b", "lead_time": "30 days"}
    phases = [TWO[0] | {"constraints": limits}, TWO[1]]
    asked: dict[str, Any] = {"constraints": {"deadline": "10 days"}}
    asked["offers"] = [A100, slow]
    why = explained(phased(phases, **asked))
    told = relaxed(why, name)
    assert told["set"] == f"phases[0].constraints.{lifted}"
    assert f"{name} (pre-train)" in why.conflict
    assert has_chain(phased(phases, **asked, overrides=(told["set"],)))


def test_a_set_of_all_phases_is_lifted_at_the_top() -> None:
    """Tests that what stands at the top has one override for all."""
    slow = H100 | {"name": "b", "lead_time": "30 days"}
    limits = {"deadline": "10 days", "gpus": {"types": ["H100"]}}
    why = explained(phased(constraints=limits, offers=[A100, slow]))
    assert "gpu_types" in why.conflict
    assert relaxed(why, "gpu_types")["set"] == "constraints.gpus.types=[]"

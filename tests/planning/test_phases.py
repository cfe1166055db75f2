"""Tests of planning phases: leases, moves, waits, limits and limits of time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from solver.plan import PlanResult, Total
from solver.planning.phases import plan_phases
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Objective, Scenario
from tests.planning.jobs import A100, H100, catalog, job
from tests.planning.phased import APART, TWO, apart, phased

MONTHLY = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"} | {
    "name": "m",
    "usd_per_node_month": 3_000,
    "purchase": "monthly",
}


def answer(scenario: Scenario) -> PlanResult:
    """The answer, which must be proved."""
    result = plan_phases(scenario, catalog())
    assert result.status in ("optimal", "infeasible")
    return result


def total(result: PlanResult) -> Total:
    """The joined figures, which must be there."""
    assert result.total is not None
    return result.total


def test_one_phase_is_the_job_by_itself() -> None:
    """Tests that a chain of one has the plan, cost and time of the plain scenario."""
    alone = plan_job(job(), catalog(), alternatives=0).plan
    assert alone is not None
    result = answer(phased([{"name": "only"}]))
    assert result.phases[0].plan == alone
    assert total(result).cost_usd == pytest.approx(alone.cost_usd)
    assert total(result).duration_days == pytest.approx(alone.duration_days)
    assert total(result).cost_p90_usd == pytest.approx(alone.cost_p90_usd)
    assert total(result).duration_p90_days == pytest.approx(alone.duration_p90_days)


def test_phases_on_the_same_nodes_are_one_lease() -> None:
    """Tests one set-up for both, and that two plans alone are dearer."""
    result = answer(phased(offers=[A100]))
    (lease,) = result.leases
    assert lease.phases == ("pre-train", "extend")
    assert result.moves == ()
    parts = total(result).duration_parts_days
    assert parts["setup"] == pytest.approx(4 / 24)
    apart_usd = sum(phase.plan.cost_usd for phase in result.phases)
    assert total(result).cost_usd < apart_usd
    first, second = result.phases
    assert first.end_day == second.start_day
    assert second.end_day == pytest.approx(total(result).duration_days)


def test_whole_months_are_paid_once_a_lease() -> None:
    """Tests that two short phases share the month that each alone would pay."""
    result = answer(phased(offers=[MONTHLY], constraints={"gpus": {"max": 8}}))
    (lease,) = result.leases
    assert lease.billed_hours == 730
    assert lease.compute_usd == pytest.approx(3_000)
    assert [phase.plan.cost_usd for phase in result.phases] == pytest.approx(
        [3_000] * 2
    )


def test_a_move_has_bytes_time_and_price() -> None:
    """Tests that the checkpoint of the phase before moves, at a price that is told."""
    _, result = apart()
    (move,) = result.moves
    plan = result.phases[0].plan
    assert (move.after, move.origin) == ("pre-train", f"{plan.provider}/{plan.region}")
    assert move.checkpoint_gb == plan.checkpoint_gb
    assert move.days == pytest.approx(move.checkpoint_gb / 1.25 / 86_400)
    assert not move.price_known
    assert {w.id for w in result.warnings} == {
        "phases.moves",
        "phases.price-unknown",
        "phases.confidence",
    }


def test_a_wait_is_only_what_has_not_passed() -> None:
    """Tests that nodes ordered on day 0 are there when the phase before is done."""
    _, result = apart()
    assert result.leases[0].end_day < 2
    assert result.leases[1].start_day == pytest.approx(2)
    late = [{**APART[0], "workload": {"tokens": "120B"}}, APART[1]]
    longer = answer(phased(late, offers=[A100, H100 | {"lead_time": "2 days"}]))
    assert longer.leases[0].end_day > 2
    assert longer.leases[1].wait_days == 0


def test_the_data_set_is_brought_once_a_region() -> None:
    """Tests that one data set pays egress for each of two regions, not each phase."""
    _, result = apart()
    usd = total(result).cost_parts_usd["data"]
    (move,) = result.moves
    assert result.leases[0].data_usd > 0
    assert usd == pytest.approx(result.leases[0].data_usd + move.data_usd)
    same = phased(offers=[A100], data={"size": "2 TB", "location": "aws/us-east-1"})
    assert total(answer(same)).cost_parts_usd["data"] == result.leases[0].data_usd


@pytest.mark.parametrize("kind", ["cost", "time"])
def test_limits_hold_for_all_together(kind: str) -> None:
    """Tests that a limit just under the best of the other aim changes the answer."""
    goal = Objective(kind)  # type: ignore[arg-type]
    free = replace(phased(), objective=goal)
    best = total(answer(free))
    other = "time" if kind == "cost" else "cost"
    user = free.constraints
    if other == "time":
        user = replace(user, deadline_s=best.duration_days * 86_400 * 0.9)
    else:
        user = replace(user, budget_usd=best.cost_usd * 0.9)
    held = total(answer(replace(free, constraints=user)))
    if other == "time":
        assert held.duration_days <= best.duration_days * 0.9
        assert held.cost_usd > best.cost_usd
    else:
        assert held.cost_usd <= best.cost_usd * 0.9
        assert held.duration_days > best.duration_days


def test_the_same_question_has_the_same_answer() -> None:
    """Tests two runs, and offers in another order."""
    first = answer(phased())
    again = answer(phased(offers=[H100, A100]))
    assert first.leases == again.leases
    assert first.total == again.total
    layouts = [phase.plan.layout for phase in first.phases]
    assert layouts == [phase.plan.layout for phase in again.phases]


def test_no_time_gives_what_is_known() -> None:
    """Tests that a time limit of nothing proves nothing and claims nothing."""
    scenario = phased()
    hurried = replace(scenario, limits=replace(scenario.limits, time_s=1e-9))
    result = plan_phases(hurried, catalog())
    assert result.status in ("unknown", "feasible")


def test_names_of_phases_are_in_the_answer() -> None:
    """Tests the keys of the JSON object of phases, and that one job has none."""
    data = answer(phased()).as_dict()
    assert data["plan"] is None
    assert [phase["name"] for phase in data["phases"]] == [p["name"] for p in TWO]
    assert data["phases"][0]["plan"]["layout"]["tp"] >= 1
    single = plan_job(job(), catalog(), alternatives=0).as_dict()
    assert (single["phases"], single["moves"], single["total"]) == ([], [], None)

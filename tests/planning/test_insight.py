"""Tests of why a plan is the one it is: gains, steps and break-even prices."""

from __future__ import annotations

from typing import Any

import pytest

from solver.plan import PlanResult
from solver.planning.break_even import BreakEven
from solver.planning.gains import MORE_NODES
from solver.planning.insight import Insight, explain_job
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, H100, catalog, job

LARGE: dict[str, Any] = {"tokens": "500B"}
"""Long enough that days and dollars matter."""

SPOT: dict[str, Any] = {**A100, "spot_usd_per_gpu_hour": 0.9}


def explained(**keys: Any) -> Insight:
    """The reasons for the answer to a toy job."""
    return explain_job(job(**keys), catalog())


def answered(overrides: tuple[str, ...] = (), **keys: Any) -> PlanResult:
    """The answer to a toy job with overrides."""
    return plan_job(job(overrides=overrides, **keys), catalog())


def told(rows: tuple[dict[str, Any], ...], rule_id: str) -> list[dict[str, Any]]:
    """What is said of one requirement."""
    return [row for row in rows if row["constraint"] == rule_id]


TIGHT: dict[str, Any] = {
    "offers": [SPOT, H100],
    "workload": LARGE,
    "constraints": {"deadline": "5 days"},
}
"""One H100 node; an A100 node is cheaper from 8.2 days on."""


def test_binding_requirements_gain_what_a_solve_without_them_gains() -> None:
    """Tests each requirement that binds against a separate solve with its override."""
    insight = explained(**TIGHT)
    plan = insight.result.plan
    assert plan is not None
    binding = [r for r in insight.requirements if r["binds"]]
    assert {r["constraint"] for r in binding} >= {"deadline", "purchase"}
    for row in binding:
        if not row["set"]:
            continue
        other = answered((row["set"],), **TIGHT).plan
        assert other is not None
        assert other.cost_usd == pytest.approx(plan.cost_usd - row["saves_usd"], abs=1)
        days = plan.duration_days - row["saves_days"]
        assert other.duration_days == pytest.approx(days, abs=1e-3)
        assert other.offer == row["opens"]["offer"]
        assert other.cost_usd < plan.cost_usd


def test_what_does_not_bind_is_said_not_to() -> None:
    """Tests that a loose deadline gains nothing by being left out."""
    insight = explained(workload=LARGE, constraints={"deadline": "9000 days"})
    (deadline,) = told(insight.requirements, "deadline")
    assert deadline == {"constraint": "deadline", "binds": False}
    assert not told(insight.steps, "deadline")


@pytest.mark.parametrize("deadline", ["5 days", "3 days"])
def test_steps_equal_solves_with_the_step(deadline: str) -> None:
    """Tests a day more and the next cheaper deadline against separate solves."""
    keys = {**TIGHT, "constraints": {"deadline": deadline}}
    insight = explained(**keys)
    plan = insight.result.plan
    assert plan is not None
    steps = told(insight.steps, "deadline")
    assert steps, "a binding deadline has a next step that gains"
    for step in steps:
        other = answered((step["set"],), **keys).plan
        assert other is not None
        saved = plan.cost_usd - other.cost_usd
        assert saved == pytest.approx(step["saves_usd"], abs=0.01)
        assert saved > 0


def test_no_deadline_before_the_next_step_is_cheaper() -> None:
    """Tests that the soonest cheaper finish is the soonest, to the tenth of a day."""
    insight = explained(**TIGHT)
    plan = insight.result.plan
    assert plan is not None
    (step,) = told(insight.steps, "deadline")
    days = float(step["set"].split("=")[1].split()[0])
    assert days == pytest.approx(8.2)
    sooner = answered((f"constraints.deadline={days - 0.1:.1f} days",), **TIGHT).plan
    assert sooner is not None
    assert sooner.cost_usd >= plan.cost_usd * (1 - 2e-3)


def test_more_stock_gains_what_more_nodes_gain() -> None:
    """Tests that eight more nodes in each pool are worth what larger offers give."""
    keys: dict[str, Any] = {"workload": LARGE, "objective": "time"}
    insight = explained(offers=[A100, H100], **keys)
    (step,) = told(insight.steps, "stock")
    more = [{**o, "max_nodes": o["max_nodes"] + MORE_NODES} for o in (A100, H100)]
    then = answered(offers=more, **keys).plan
    now = insight.result.plan
    assert then is not None
    assert now is not None
    days = now.duration_days - then.duration_days
    assert step["saves_days"] == pytest.approx(days, abs=1e-3)
    assert days > 0


def test_a_certain_plan_costs_more() -> None:
    """Tests the step from a confidence of 0.9 to the expectation."""
    keys: dict[str, Any] = {
        "workload": LARGE,
        "constraints": {"deadline": "6 days", "confidence": 0.9},
        "offers": [{**A100, "max_nodes": 16}, {**H100, "max_nodes": 16}],
    }
    insight = explained(**keys)
    steps = told(insight.steps, "confidence")
    plan = insight.result.plan
    assert plan is not None
    for step in steps:
        other = answered((step["set"],), **keys).plan
        assert other is not None
        saved = plan.cost_usd - other.cost_usd
        assert saved == pytest.approx(step["saves_usd"], abs=0.01)


PRICED: list[dict[str, Any]] = [
    {"constraints": {}},
    {"constraints": {"deadline": "12 days"}},
    {"constraints": {"budget": 30000}, "objective": "time"},
    {"constraints": {"budget": 30000, "confidence": 0.9}, "objective": "time"},
    {"constraints": {"budget": 25000}},
    {"objective": {"cost": 1, "usd_per_day": 200}},
]
OFFERS = [
    {**A100, "max_nodes": 8},
    {**H100, "max_nodes": 8, "min_term": "7 days"},
    {**A100, "name": "dear", "usd_per_gpu_hour": 2.5, "region": "us"},
]


def _break_evens() -> list[tuple[dict[str, Any], BreakEven]]:
    found = []
    for keys in PRICED:
        insight = explained(offers=OFFERS, workload=LARGE, **keys)
        found += [(keys, price) for price in insight.prices]
    return found


def test_offers_win_just_below_their_break_even_and_lose_just_above() -> None:
    """Tests break-even prices by re-solving on both sides of each."""
    cases = _break_evens()
    assert sum(price.change is not None for _, price in cases) >= 8
    for keys, price in cases:
        at = price.break_even_usd_per_gpu_hour
        if at is None:
            continue
        for factor, wins in ((0.999, True), (1.001, False)):
            offers = [
                {**o, "usd_per_gpu_hour": at * factor}
                if o["name"] == price.offer
                else o
                for o in OFFERS
            ]
            plan = answered(offers=offers, workload=LARGE, **keys).plan
            assert plan is not None
            assert (plan.offer == price.offer) is wins, (keys, price, factor)


def test_an_offer_that_limits_rule_out_has_no_break_even() -> None:
    """Tests that no price helps what can't keep the deadline."""
    offers = [{**A100, "max_nodes": 8}, {**H100, "max_nodes": 1, "name": "one"}]
    keys = {"workload": LARGE, "constraints": {"deadline": "3 days"}}
    prices = {p.offer: p for p in explained(offers=offers, **keys).prices}
    assert prices["one"].break_even_usd_per_gpu_hour is None
    assert prices["one"].change is None


def test_the_soonest_plan_has_no_prices_to_beat() -> None:
    """Tests that without a budget no price makes a slower offer the soonest."""
    insight = explained(offers=OFFERS, workload=LARGE, objective="time")
    assert insight.result.plan is not None
    assert insight.prices == ()


def test_what_saves_carbon_says_how_much() -> None:
    """Tests the tonnes that lifting a deadline saves against a separate solve."""
    keys: dict[str, Any] = {**TIGHT, "objective": "carbon"}
    keys["constraints"] = {"deadline": "3 days"}
    insight = explained(**keys)
    plan = insight.result.plan
    (deadline,) = told(insight.requirements, "deadline")
    other = answered((deadline["set"],), **keys).plan
    assert plan is not None
    assert other is not None
    assert plan.carbon_t is not None
    assert other.carbon_t is not None
    saved = plan.carbon_t - other.carbon_t
    assert saved == pytest.approx(deadline["saves_carbon_t"], abs=1e-3)
    assert saved > 0


def test_no_price_beats_what_is_free() -> None:
    """Tests that beside a free offer no price is a break-even, however small."""
    free = {**H100, "usd_per_gpu_hour": 0.0, "region": "de"}
    data = {"location": "aws/us-east-1"}  # its egress is all that is paid
    insight = explained(offers=[A100, free], workload=LARGE, data=data)
    plan = insight.result.plan
    assert plan is not None
    assert plan.cost_usd > 0
    assert [p.break_even_usd_per_gpu_hour for p in insight.prices] == [None]


@pytest.mark.parametrize("budget", [None, 30000])
def test_money_that_does_not_count_makes_no_price_win(budget: int | None) -> None:
    """Tests a sum of time alone: as with time as the aim, only budgets have prices."""
    alone: dict[str, Any] = {"cost": 0, "usd_per_day": 1}
    limits = {} if budget is None else {"budget": budget}
    keys: dict[str, Any] = {"offers": OFFERS, "workload": LARGE, "constraints": limits}
    prices = explained(objective=alone, **keys).prices
    assert prices == explained(objective="time", **keys).prices
    assert bool(prices) is (budget is not None)


def test_no_plan_is_explained_and_nothing_else() -> None:
    """Tests that an infeasible scenario has its explanation and no gains."""
    insight = explained(workload=LARGE, constraints={"deadline": "1 hours"})
    assert insight.result.status == "infeasible"
    assert insight.result.explanation is not None
    assert insight.requirements == insight.steps == insight.prices == ()
    data = insight.as_dict()
    assert data["break_even"] == []
    assert data["explanation"]["conflict"]


def test_nothing_is_left_out_silently() -> None:
    """Tests that an answer without proof, or cut short, says that it is incomplete."""
    insight = explained(workload=LARGE, overrides=("limits.time=0.001 s",))
    assert insight.result.status in ("feasible", "unknown")
    assert not insight.complete

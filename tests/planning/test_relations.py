"""Tests of relations between answers: what has to follow when the question changes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.plan import Plan, PlanResult
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, H100, catalog, job

OFFERS: list[dict[str, Any]] = [
    A100,
    H100,
    {**A100, "name": "c", "gpus_per_node": 4, "usd_per_gpu_hour": 1.9},
]


def solve(offers: list[dict[str, Any]] | None = None, **keys: Any) -> PlanResult:
    """The answer without runners-up."""
    return plan_job(job(offers or OFFERS, **keys), catalog(), alternatives=0)


def planned(offers: list[dict[str, Any]] | None = None, **keys: Any) -> Plan:
    """The plan, which must be proved."""
    result = solve(offers, **keys)
    assert result.status == "optimal"
    assert result.plan is not None
    return result.plan


def priced(factor: float) -> list[dict[str, Any]]:
    """The offers with all prices multiplied."""
    return [{**o, "usd_per_gpu_hour": o["usd_per_gpu_hour"] * factor} for o in OFFERS]


@settings(max_examples=10)
@given(factor=st.sampled_from([0.01, 0.3, 7.0, 1000.0]))
def test_a_currency_changes_no_decision(factor: float) -> None:
    """Tests that all prices times a number give the same plan at that much."""
    plain, other = planned(), planned(priced(factor))
    assert (other.offer, other.layout) == (plain.offer, plain.layout)
    assert other.cost_usd == pytest.approx(factor * plain.cost_usd, rel=3e-5)


def test_a_discount_for_all_is_a_currency() -> None:
    """Tests that 40 % off everything is a price list of 0.6 of it."""
    cheap = planned(prices=[{"discount": "40%"}])
    assert cheap.cost_usd == pytest.approx(planned(priced(0.6)).cost_usd)
    assert cheap.layout == planned().layout


def test_an_offer_that_does_not_win_does_not_matter() -> None:
    """Tests that a dearer copy of an offer changes nothing."""
    dear = {**A100, "name": "dear", "usd_per_gpu_hour": 5.0}
    with_it = planned([*OFFERS, dear])
    assert with_it.offer == planned().offer
    assert with_it.cost_usd == planned().cost_usd


def test_without_the_winner_it_gets_dearer() -> None:
    """Tests that excluding what won leaves a worse objective, never a better one."""
    best = planned()
    rest = [o for o in OFFERS if o["name"] != best.offer]
    assert planned(rest).cost_usd > best.cost_usd


@pytest.mark.parametrize("objective", ["cost", "time"])
def test_the_limit_at_the_optimum_changes_nothing(objective: str) -> None:
    """Tests that a budget or deadline just above the plan's own is no limit."""
    free = planned(objective=objective)
    tight = planned(
        objective=objective,
        constraints={
            "budget": free.cost_usd * 1.0001,
            "deadline": f"{free.duration_days * 1.0001} days",
        },
    )
    assert (tight.offer, tight.layout) == (free.offer, free.layout)


@settings(max_examples=8)
@given(headroom=st.sampled_from([0.0, 0.05, 0.2, 0.4, 0.6]), more=st.floats(0.01, 0.3))
def test_more_headroom_is_never_cheaper(headroom: float, more: float) -> None:
    """Tests that memory left free costs something or nothing."""
    keys = {"model": "llama-2-7b", "workload": {"tokens": "200M"}}
    low = solve(constraints={"memory_headroom": headroom}, **keys)
    high = solve(constraints={"memory_headroom": round(headroom + more, 3)}, **keys)
    assert low.plan is not None
    if high.plan is not None:
        assert high.plan.cost_usd >= low.plan.cost_usd * (1 - 3e-5)


@settings(max_examples=8)
@given(
    confidence=st.sampled_from([0.1, 0.5, 0.7]),
    more=st.sampled_from([0.05, 0.15, 0.25]),
    hours=st.sampled_from([5.2, 6.0, 7.5]),
)
def test_more_confidence_is_never_cheaper(
    confidence: float, more: float, hours: float
) -> None:
    """Tests that a surer deadline costs more or cannot be kept."""
    limit = {"deadline": f"{hours} hours"}
    low = solve(constraints={**limit, "confidence": confidence})
    high = solve(constraints={**limit, "confidence": round(confidence + more, 2)})
    if high.plan is not None:
        assert low.plan is not None
        assert high.plan.cost_usd >= low.plan.cost_usd * (1 - 3e-5)


@settings(max_examples=8)
@given(tokens=st.sampled_from([1, 3, 10, 40]), factor=st.sampled_from([1.5, 2.0, 5.0]))
def test_more_tokens_cost_more(tokens: int, factor: float) -> None:
    """Tests that a longer run is dearer in proportion at most."""
    one = planned(workload={"tokens": f"{tokens}B"})
    more = planned(workload={"tokens": f"{tokens * factor}B"})
    assert one.cost_usd < more.cost_usd < factor * one.cost_usd * 1.01


def test_waiting_is_free_and_setting_up_is_not() -> None:
    """Tests that a queue moves the finish, and set-up finish and bill."""
    plain = planned([A100], overheads={"setup": "1 hour"})
    queued = planned([A100], overheads={"setup": "1 hour", "queue": "24 hours"})
    assert queued.layout == plain.layout
    assert queued.duration_days == pytest.approx(plain.duration_days + 1)
    assert queued.cost_usd == pytest.approx(plain.cost_usd)
    longer = planned([{**A100, "max_nodes": 1}], overheads={"setup": "5 hours"})
    shorter = planned([{**A100, "max_nodes": 1}], overheads={"setup": "1 hour"})
    assert longer.cost_usd - shorter.cost_usd == pytest.approx(4 * 8 * 2.0)


def test_evaluation_is_a_share_of_training() -> None:
    """Tests that 10 % of evaluation adds a tenth of training to the run."""
    one = [{**A100, "max_nodes": 1}]
    plain = planned(one, workload={"tokens": "100B"})
    judged = planned(one, workload={"tokens": "100B"}, overheads={"evaluation": "10%"})
    parts = judged.duration_parts_days
    assert parts["evaluation"] == pytest.approx(0.1 * parts["training"])
    assert judged.duration_days > plain.duration_days + 0.099 * plain.training_days


@pytest.mark.parametrize("usd_per_day", [1, 30, 300, 3000, 30_000])
def test_a_weight_is_a_trade_between_the_two_ends(usd_per_day: float) -> None:
    """Tests that every weighted plan is between the cheapest and the fastest."""
    cheap, fast = planned(), planned(objective="time")
    plan = planned(objective={"cost": 1, "usd_per_day": usd_per_day})
    assert cheap.cost_usd <= plan.cost_usd * (1 + 3e-5)
    assert fast.duration_days <= plan.duration_days * (1 + 3e-5)

    def value(other: Plan) -> float:
        return other.cost_usd + usd_per_day * other.duration_days

    assert value(plan) <= min(value(cheap), value(fast)) * (1 + 3e-5)


def test_a_dearer_day_is_never_slower() -> None:
    """Tests that the weight on time moves the plan one way only."""
    days = [
        planned(objective={"cost": 1, "usd_per_day": usd}).duration_days
        for usd in (1, 30, 300, 3000, 30_000)
    ]
    assert all(later <= sooner * (1 + 3e-5) for sooner, later in pairwise(days))


@pytest.mark.parametrize(
    ("looser", "tighter"),
    [
        ({"countries": ["SG", "JP"]}, {"countries": ["JP"]}),
        ({}, {"gpus": {"exclude": ["A100"]}}),
        ({}, {"gpus": {"min": 16}}),
        ({}, {"parallelism": {"tp": 2}}),
        ({}, {"network": {"min_gbps_per_gpu": 300}}),
        ({}, {"intra_node": {"min_gb_per_s": 400}}),
        ({}, {"min_tokens_per_s": "1.5M"}),
        ({"parallelism": {"zero_stage": [0, 1]}}, {"parallelism": {"zero_stage": 0}}),
        ({}, {"parallelism": {"recompute": ["full"]}}),
    ],
)
@pytest.mark.parametrize("objective", ["cost", "time"])
def test_a_tighter_wish_is_never_better(
    looser: dict[str, Any], tighter: dict[str, Any], objective: str
) -> None:
    """Tests one constraint of each kind against its absence."""
    free = planned(constraints=looser, objective=objective)
    bound = planned(constraints=tighter, objective=objective)
    name = "cost_usd" if objective == "cost" else "duration_days"
    assert getattr(free, name) <= getattr(bound, name) * (1 + 3e-5)


@settings(max_examples=10)
@given(
    efficiency=st.sampled_from([0.2, 0.5, 0.8, 0.95]),
    objective=st.sampled_from(["cost", "time"]),
)
def test_less_efficiency_is_never_better(efficiency: float, objective: str) -> None:
    """Tests that a slower team pays more and waits longer, a faster one less."""
    tuned = planned(objective=objective)
    slow = planned(objective=objective, workload={"efficiency": efficiency})
    fast = planned(objective=objective, workload={"efficiency": 1.05})
    if objective == "cost":
        assert fast.cost_usd < tuned.cost_usd < slow.cost_usd
    else:
        assert fast.duration_days < tuned.duration_days < slow.duration_days
    assert slow.efficiency == efficiency


def test_a_deadline_is_held_at_the_own_efficiency() -> None:
    """Tests a deadline that a well-tuned framework keeps and a slower team does not."""
    at_once = {"overheads": {"setup": 0}}
    soonest = planned(objective="time", **at_once).duration_days
    limits = {"deadline": f"{soonest * 1.1:.4f} days"}
    assert solve(constraints=limits, **at_once).status == "optimal"
    slow = solve(constraints=limits, workload={"efficiency": "70%"}, **at_once)
    assert slow.status == "infeasible"
    assert slow.explanation is not None
    assert "deadline" in slow.explanation.conflict


def test_a_confidence_that_a_deadline_leaves_and_one_that_it_does_not() -> None:
    """Tests a deadline between the expected finish and the 90th percentile."""
    at_once = {"overheads": {"setup": 0}}
    soonest = planned(objective="time", **at_once)
    assert soonest.duration_p90_days is not None
    between = 0.5 * (soonest.duration_days + soonest.duration_p90_days)
    limit = {"deadline": f"{between:.6f} days"}
    kept = solve(constraints={**limit, "confidence": 0.6}, **at_once)
    assert kept.plan is not None
    sure = solve(constraints={**limit, "confidence": 0.9}, **at_once)
    assert sure.status == "infeasible"
    assert sure.explanation is not None
    assert sure.explanation.conflict[:1] == ("deadline",)


def test_a_confidence_that_a_budget_leaves_and_one_that_it_does_not() -> None:
    """Tests a budget between the expected bill and that of the 90th percentile."""
    cheapest = planned()
    assert cheapest.cost_p90_usd is not None
    between = 0.5 * (cheapest.cost_usd + cheapest.cost_p90_usd)
    kept = solve(constraints={"budget": round(between, 4), "confidence": 0.6})
    assert kept.plan is not None
    sure = solve(constraints={"budget": round(between, 4), "confidence": 0.9})
    assert sure.status == "infeasible"


def test_the_90th_percentile_is_what_a_confidence_plans_with() -> None:
    """Tests that P90 of time and cost are those at a confidence of 0.9."""
    plan = planned(constraints={"confidence": 0.9})
    assert plan.duration_p90_days == pytest.approx(plan.duration_at_confidence_days)
    assert plan.cost_p90_usd == pytest.approx(plan.cost_at_confidence_usd)
    assert plan.duration_p90_days is not None
    assert plan.cost_p90_usd is not None
    assert plan.duration_p90_days > plan.duration_days
    assert plan.cost_p90_usd > plan.cost_usd
    assert plan.step_time_p10_s is not None
    assert plan.step_time_p90_s is not None
    assert plan.step_time_p10_s < plan.step_time_s < plan.step_time_p90_s
    middle = math.sqrt(plan.step_time_p10_s * plan.step_time_p90_s)
    assert middle == pytest.approx(plan.step_time_s)

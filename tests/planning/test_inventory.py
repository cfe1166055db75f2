"""Tests of inventories: when a plan starts, and that less supply is never better."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.plan import Plan, PlanResult
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, H100, catalog, job

TOKENS = {"tokens": "400B"}
"""Days of work for a few nodes, so that waiting for some can be worth it."""

CALENDAR: dict[str, Any] = {
    **{k: v for k, v in A100.items() if k != "max_nodes"},
    "available": [{"nodes": 2}, {"from": "2026-12-06", "nodes": 6}],
}
"""2 nodes on 2026-12-01, 8 from five days later on."""


def solved(
    *offers: dict[str, Any], most: int = 0, work: Any = None, **keys: Any
) -> PlanResult:
    """The answer on these offers."""
    scenario = job(list(offers), workload=work or TOKENS, **keys)
    return plan_job(scenario, catalog(), alternatives=most)


def planned(*offers: dict[str, Any], **keys: Any) -> Plan:
    """The plan, which must be proved."""
    result = solved(*offers, **keys)
    assert result.status == "optimal"
    assert result.plan is not None
    return result.plan


def test_a_short_run_starts_small_and_a_long_one_waits() -> None:
    """Tests both sides of the choice between 2 nodes now and 8 in five days."""
    short = planned(CALENDAR, objective="time", work={"tokens": "20B"})
    assert (short.start, short.nodes) == (None, 2)
    long = planned(CALENDAR, objective="time", work={"tokens": "4T"})
    assert (long.start, long.nodes) == ("2026-12-06", 8)
    assert long.duration_parts_days["delivery"] == 5
    assert {"note.waits"} <= {w.id for w in long.warnings}
    assert {"note.keeps-size"} <= {w.id for w in short.warnings}


def test_the_finish_is_that_of_the_better_start() -> None:
    """Tests the optimum of a calendar against its two starts each by itself."""
    for tokens in ("50B", "300B", "400B", "500B", "1T"):
        work = {"tokens": tokens}
        now = planned({**A100, "max_nodes": 2}, objective="time", work=work)
        late = planned({**A100, "max_nodes": 8}, objective="time", work=work)
        best = planned(CALENDAR, objective="time", work=work)
        either = min(now.duration_days, late.duration_days + 5)
        assert best.duration_days == pytest.approx(either, rel=3e-5)


def test_the_deadline_counts_the_wait() -> None:
    """Tests a deadline, as days and as the date of that day, around a late start."""
    free = planned(CALENDAR, objective="time", work={"tokens": "4T"})
    days = int(free.duration_days) + 1
    date = f"2027-01-{days - 30:02d}" if days > 30 else f"2026-12-{days + 1:02d}"
    for deadline in (f"{days} days", date):
        kept = planned(
            CALENDAR, work={"tokens": "4T"}, constraints={"deadline": deadline}
        )
        assert kept.duration_days <= days
        assert kept.start == "2026-12-06"
    missed = solved(
        CALENDAR,
        work={"tokens": "4T"},
        constraints={"deadline": f"{free.duration_days - 0.1} days"},
    )
    assert missed.status == "infeasible"


def test_waiting_is_not_paid() -> None:
    """Tests that the bill of a late start is that of the same nodes today."""
    storage = [
        {
            "name": "files",
            "kind": "parallel_fs",
            "read": "5 GB/s",
            "write": "5 GB/s",
            "usd_per_gb_month": 2,
        }
    ]
    now = planned({**A100, "storage": storage})
    late = planned({**A100, "storage": storage, "lead_time": "21 days"})
    assert late.layout == now.layout
    assert late.cost_parts_usd == pytest.approx(now.cost_parts_usd)
    assert now.cost_parts_usd["storage"] > 0
    assert late.duration_days == pytest.approx(now.duration_days + 21)


@pytest.mark.parametrize("objective", ["cost", "time"])
def test_the_other_start_is_a_runner_up(objective: str) -> None:
    """Tests that 'small now' stands beside 'wait for more' where both are close."""
    work = {"tokens": "700B", "global_batch_size": 512}
    result = solved(CALENDAR, most=5, objective=objective, work=work)
    assert result.plan is not None
    (other,) = [a for a in result.alternatives if a.kind == "start"]
    assert other.plan.start != result.plan.start
    assert other.plan.offer == result.plan.offer
    assert {other.plan.start, result.plan.start} == {None, "2026-12-06"}


def test_a_start_that_is_not_close_is_no_runner_up() -> None:
    """Tests that a run of an hour has nobody waiting five days."""
    result = solved(CALENDAR, most=5, objective="time", work={"tokens": "2B"})
    assert all(a.kind != "start" for a in result.alternatives)


def test_a_term_makes_one_node_cheaper_than_many() -> None:
    """Tests that a reserved month is paid for few nodes rather than for all."""
    free = planned(A100)
    held = planned({**A100, "purchase": "reserved", "min_term": "1 month"})
    assert held.nodes == 1
    assert held.gpu_hours >= 730 * 8
    assert held.cost_usd >= free.cost_usd
    assert held.unused_term_usd == pytest.approx(
        held.cost_parts_usd["compute"] - 16 * held.nodes * held.duration_days * 24,
        rel=1e-6,
    )


def test_a_quota_limits_the_plan() -> None:
    """Tests the same job with all nodes, with a quota of some, and with none."""
    limits = {"deadline": "10 hours"}
    work = {"tokens": "40B"}
    free = planned(A100, work=work, constraints=limits)
    assert free.nodes > 1
    allowed = {"quota": [{"gpu": "A100", "max_gpus": 8 * free.nodes}]}
    kept = planned(A100, work=work, constraints=limits, stock=allowed)
    assert (kept.nodes, kept.quota_nodes) == (free.nodes, free.nodes)
    for gpus in (8 * free.nodes - 1, 0):
        fewer = {"quota": [{"gpu": "A100", "max_gpus": gpus}]}
        result = solved(A100, work=work, constraints=limits, stock=fewer)
        assert result.explanation is not None
        assert "quota" in result.explanation.conflict


Change = dict[str, Any]

LESS: list[tuple[Change, Change]] = [
    ({"max_nodes": 3}, {"max_nodes": 2}),
    (
        {"available": [{"nodes": 1}, {"from": "2026-12-04", "nodes": 3}]},
        {"available": [{"nodes": 1}, {"from": "2026-12-08", "nodes": 3}]},
    ),
    (
        {"available": [{"nodes": 2}]},
        {"available": [{"from": "2026-12-03", "nodes": 2}]},
    ),
    ({"lead_time": 2}, {"lead_time": 5}),
    ({"min_term": "2 days"}, {"min_term": "9 days"}),
    ({}, {"min_term": "1 hours"}),
    ({"max_nodes_per_cluster": 3}, {"max_nodes_per_cluster": 1}),
]
"""What an offer states, and the same with less of it: fewer, later, longer."""


@settings(max_examples=25)
@given(
    pair=st.sampled_from(LESS),
    base=st.sampled_from([{}, {"lead_time": 1}, {"min_term": "3 days"}]),
    objective=st.sampled_from(["cost", "time", {"cost": 1, "usd_per_day": 300}]),
    tokens=st.sampled_from(["20B", "300B"]),
    confidence=st.sampled_from([0.5, 0.9]),
    deadline=st.sampled_from([None, "5 days", "12 days"]),
)
def test_less_supply_is_never_better(
    pair: tuple[Change, Change],
    base: Change,
    objective: Any,
    tokens: str,
    confidence: float,
    deadline: str | None,
) -> None:
    """Tests that fewer, later or longer never improve the stated objective."""
    limits = {"confidence": confidence, "deadline": deadline, "budget": 9000}
    more, less = (
        solved(
            {**A100, **base, **change},
            H100,
            objective=objective,
            work={"tokens": tokens},
            constraints=limits,
        )
        for change in pair
    )
    if less.plan is None:
        return
    assert more.plan is not None
    assert value(more.plan, objective) <= value(less.plan, objective) * (1 + 3e-5)


def value(plan: Plan, objective: Any) -> float:
    """What the scenario minimises."""
    if objective == "cost":
        return plan.cost_usd
    if objective == "time":
        return plan.duration_days
    return plan.cost_usd + float(objective["usd_per_day"]) * plan.duration_days


@settings(max_examples=12)
@given(
    gpus=st.integers(0, 40),
    fewer=st.integers(0, 16),
    objective=st.sampled_from(["cost", "time"]),
    deadline=st.sampled_from(["2 days", "20 days"]),
)
def test_a_smaller_quota_is_never_better(
    gpus: int, fewer: int, objective: str, deadline: str
) -> None:
    """Tests quotas of GPUs on one of two offers."""
    limits = {"deadline": deadline}
    more, less = (
        solved(
            A100,
            H100,
            objective=objective,
            constraints=limits,
            stock={"quota": [{"provider": "a", "max_gpus": most}]},
        )
        for most in (gpus, max(0, gpus - fewer))
    )
    if less.plan is None:
        return
    assert more.plan is not None
    assert value(more.plan, objective) <= value(less.plan, objective) * (1 + 3e-5)

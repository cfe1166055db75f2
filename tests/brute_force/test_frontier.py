"""The frontier against the whole lattice, and against CP-SAT under each budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.frontier import Third
from solver.planning.pareto import Frontier, pareto
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Objective, Scenario
from solver.setting import setting_of
from tests.brute_force.test_search import (
    LIMITS,
    OFFERS,
    allowed,
    every_candidate,
    fast_enough,
)
from tests.planning.jobs import A100, H100, catalog, job

CLOSE = 3e-5
"""Relative: the integers of the model are at most 1e-9 of the least figure apart."""

Points = list[tuple[float, ...]]


def dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether one point is nowhere worse and somewhere better."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def whole(scenario: Scenario, third: Third | None) -> Points:
    """All allowed candidates that none dominates, by comparing each pair."""
    setting = setting_of(scenario, catalog())
    found: set[tuple[float, ...]] = set()
    for table, group in zip(every_candidate(setting), setting.classes, strict=True):
        headroom = scenario.constraints.memory_headroom
        usable = group.capacity_bytes / (1.0 - headroom)
        for row in range(len(table)):
            if allowed(scenario, table, row) and fast_enough(setting, table, row):
                figure = {
                    "memory_headroom": float(table.memory_bytes[row]) / usable,
                    "carbon": float(table.carbon_kg[row]) / 1000.0,
                }
                point = (float(table.cost_usd[row]), float(table.duration_s[row]))
                found.add((*point, figure[third]) if third else point)
    kept: Points = []
    found = {point for point in found if np.isfinite(point).all()}
    for point in sorted(found):  # what dominates a point comes before it
        if not any(dominates(other, point) for other in kept):
            kept.append(point)
    return kept


def figures(found: Frontier) -> Points:
    """The figures of the points."""
    points = []
    for point in found.points:
        plan = point.plan
        figure = (plan.cost_usd, plan.duration_days * 86_400)
        counted = plan.carbon_t if found.third == "carbon" else 1 - plan.memory_headroom
        assert counted is not None or found.third != "carbon"
        points.append((*figure, counted or 0.0) if found.third else figure)
    return points


def covers(ours: Points, theirs: Points) -> bool:
    """Whether for each of their points one of ours is as good, to the rounding."""
    mine = np.array(ours)
    return all(
        bool(np.all(mine <= np.array(p) * (1 + CLOSE) + 2e-6, axis=1).any())
        for p in theirs
    )


@settings(max_examples=25)
@given(
    offers=OFFERS,
    limits=LIMITS,
    efficiency=st.sampled_from([0.7, 1]),
    third=st.sampled_from([None, None, "memory_headroom", "carbon"]),
)
def test_frontier_equals_brute_force(
    offers: list[dict[str, Any]],
    limits: dict[str, Any],
    efficiency: float,
    third: Third | None,
) -> None:
    """Tests that each point of the whole lattice is met, and each of ours is one."""
    named = [{"name": f"o{i}", **o} for i, o in enumerate(offers)]
    work = {"tokens": "1B", "global_batch_size": 48, "efficiency": efficiency}
    scenario = job(named, limits, work)
    wanted = whole(scenario, third)
    found = pareto(scenario, catalog(), third=third)
    if not wanted:
        assert found.status == "infeasible"
        return
    assert found.status == "optimal"
    ours = figures(found)
    assert covers(ours, wanted)
    assert covers(wanted, ours)
    if third is None:
        assert all(not dominates(a, b) for a in ours for b in ours)


@settings(max_examples=10)
@given(offers=OFFERS, limits=LIMITS)
def test_each_point_is_the_soonest_for_its_money(
    offers: list[dict[str, Any]], limits: dict[str, Any]
) -> None:
    """Tests each point against a solve by time with its cost as the budget."""
    named = [{"name": f"o{i}", **o} for i, o in enumerate(offers)]
    limits = {**limits, "confidence": 0.5}
    work = {"tokens": "1B", "global_batch_size": 48}
    scenario = job(named, limits, work, objective="time")
    for point in pareto(scenario, catalog()).points:
        budget = point.plan.cost_usd
        user = replace(scenario.constraints, budget_usd=budget)
        again = plan_job(replace(scenario, constraints=user), catalog(), alternatives=0)
        assert again.plan == point.plan


MANY = [
    A100,
    H100,
    {**A100, "name": "late", "lead_time": "1 day", "usd_per_gpu_hour": 1.2},
    {
        **{k: v for k, v in H100.items() if k != "usd_per_gpu_hour"},
        "name": "month",
        "usd_per_node_month": 20_000,
        "purchase": "monthly",
    },
    {**H100, "name": "spot", "spot_usd_per_gpu_hour": 1.1},
    {"name": "l4", "gpu": "l4", "gpus_per_node": 1, "usd_per_gpu_hour": 0.4},
]


@pytest.mark.parametrize("third", [None, "memory_headroom", "carbon"])
def test_waits_months_and_spot_against_brute_force(third: Third | None) -> None:
    """Tests a mix of kinds whose bills are no straight lines."""
    limits = {"purchase": ["on_demand", "monthly", "spot"]}
    scenario = job(MANY, limits)
    found = pareto(scenario, catalog(), third=third)
    wanted, ours = whole(scenario, third), figures(found)
    assert covers(ours, wanted)
    assert covers(wanted, ours)
    assert len({point.plan.offer for point in found.points}) > 1


def test_ends_are_the_cheapest_and_the_soonest() -> None:
    """Tests the ends against solves by cost and by time, plan for plan."""
    scenario = job(MANY)
    points = pareto(scenario, catalog()).points
    for place, kind in ((0, "cost"), (-1, "time")):
        asked = replace(scenario, objective=Objective(kind))  # type: ignore[arg-type]
        alone = plan_job(asked, catalog(), alternatives=0)
        assert points[place].plan == alone.plan

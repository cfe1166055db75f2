"""Tests of every kind of objective under time limit, gap, workers, seed and Ctrl-C."""

from __future__ import annotations

from typing import Any

import pytest

from solver.objective import SHOWN, plan_values
from solver.plan import PlanResult
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, H100, catalog, job

KINDS: list[Any] = [
    "cost",
    "time",
    "energy",
    "carbon",
    ["carbon", "cost", "time"],
    ["energy", "time"],
    ["time", "carbon"],
    {"cost": 1, "usd_per_day": 500},
    {"cost": 1, "usd_per_day": 10, "usd_per_tonne_co2": 900},
    {"cost": 0, "usd_per_tonne_co2": 80},
]
OFFERS = [A100, H100, {**H100, "name": "x", "gpus_per_node": 4, "region": "no"}]


def solved(objective: Any, **limits: Any) -> PlanResult:
    """The answer for an objective within limits of the search."""
    return plan_job(
        job(OFFERS, objective=objective, limits=limits), catalog(), alternatives=0
    )


def value(objective: Any, result: PlanResult) -> float:
    """First level of the objective of a plan, in the unit of its bound."""
    aim = job(objective=objective).objective
    assert result.plan is not None
    unit, scale = SHOWN[aim.kind]
    assert result.proof.unit == unit
    return plan_values(aim, result.plan)[0] / scale


@pytest.mark.parametrize("objective", KINDS, ids=str)
def test_the_bound_is_the_optimum_in_its_unit(objective: Any) -> None:
    """Tests status, gap and bound, and that the answer names its levels."""
    result = solved(objective)
    assert (result.status, result.proof.gap) == ("optimal", 0.0)
    assert result.proof.bound == pytest.approx(value(objective, result), rel=1e-8)
    levels = job(objective=objective).objective.levels
    assert result.as_dict()["objective"] == levels[0]
    assert tuple(result.as_dict()["objective_levels"]) == levels
    assert {"cost", "time"} <= set(levels)


@pytest.mark.parametrize("objective", KINDS, ids=str)
def test_workers_and_seed_change_no_plan(objective: Any) -> None:
    """Tests that the same plan is found by two threads and with another seed."""
    plan = solved(objective).plan
    assert solved(objective, workers=2, seed=7).plan == plan
    assert solved(objective, seed=3).plan == plan


@pytest.mark.parametrize("objective", KINDS, ids=str)
def test_a_gap_is_never_passed(objective: Any) -> None:
    """Tests that a plan within an allowed gap is at most that far from the best."""
    best = value(objective, solved(objective))
    result = solved(objective, gap="20%")
    assert result.status in ("optimal", "feasible")
    assert result.proof.gap is not None
    assert result.proof.gap <= 0.2
    assert result.proof.bound is not None
    assert result.proof.bound <= best * (1 + 1e-9)
    assert value(objective, result) <= best / (1 - 0.2) * (1 + 1e-9)


@pytest.mark.parametrize("objective", KINDS, ids=str)
def test_an_interrupted_search_says_how_far_it_is(objective: Any) -> None:
    """Tests that Ctrl-C after one kind of hardware leaves a plan with a true bound."""

    def interrupt(_label: str, _share: float) -> None:
        raise KeyboardInterrupt

    result = plan_job(
        job(OFFERS, objective=objective), catalog(), progress=interrupt, alternatives=0
    )
    best = value(objective, solved(objective))
    assert result.plan is not None
    assert result.proof.bound is not None
    assert result.proof.gap is not None
    assert result.proof.bound <= best * (1 + 1e-9)
    assert 0 <= result.proof.gap < 1
    assert result.status in ("feasible", "optimal")
    assert result.proof.bound == pytest.approx(
        value(objective, result) * (1 - result.proof.gap)
    )


@pytest.mark.parametrize("objective", KINDS, ids=str)
def test_no_time_proves_nothing(objective: Any) -> None:
    """Tests a time limit that comes before any candidate."""
    result = solved(objective, time="0.000001 s")
    assert (result.status, result.plan) == ("unknown", None)


@pytest.mark.parametrize("objective", KINDS, ids=str)
def test_progress_is_told_level_by_level(objective: Any) -> None:
    """Tests that the log of the solver names levels that the objective has."""
    lines: list[str] = []
    plan_job(
        job(OFFERS, objective=objective), catalog(), log=lines.append, alternatives=0
    )
    assert lines
    levels = len(job(objective=objective).objective.levels) + 1  # canonical rank
    named = {int(line.split(":")[0].removeprefix("level ")) for line in lines}
    assert named <= set(range(1, levels + 1))


def test_an_offer_of_unknown_carbon_is_left_out_where_it_counts() -> None:
    """Tests it with carbon first, in the sum, and as a later aim."""
    far = {**A100, "name": "far", "region": "moon base", "usd_per_gpu_hour": 0.5}

    def chosen(objective: Any) -> str:
        result = plan_job(job([far, H100], objective=objective), catalog())
        assert result.plan is not None
        assert (result.plan.carbon_t is None) == (result.plan.offer == "far")
        return result.plan.offer

    assert chosen("cost") == "far"
    assert chosen(["cost", "carbon"]) == "far"
    assert chosen("carbon") == "h"
    assert chosen({"cost": 1, "usd_per_tonne_co2": 0.01}) == "h"
    assert chosen({"cost": 1, "usd_per_tonne_co2": 0}) == "far"

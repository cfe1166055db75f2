"""Tests of the short reasons for a 'no': true, and exact where they have a figure."""

from __future__ import annotations

import re
from typing import Any

import pytest

from solver.plan import Message
from solver.planning.shortfall import shortfall
from solver.planning.single_job import plan_job
from solver.setting import setting_of
from tests.planning.jobs import A100, H100, catalog, job


def reasons(
    offers: list[dict[str, Any]] | None = None, time_s: float = 60.0, **keys: Any
) -> dict[str, Message]:
    """Why a small job has no plan, by message id."""
    scenario = job(offers, **keys)
    assert plan_job(scenario, catalog(), alternatives=0).status == "infeasible"
    found = shortfall(setting_of(scenario, catalog()), time_s)
    return {message.id: message for message in found}


def status(**keys: Any) -> str:
    """Whether a small job has a plan."""
    return plan_job(job(**keys), catalog(), alternatives=0).status


def test_soonest() -> None:
    """Tests that the soonest finish opens a plan and a little less does not."""
    told = reasons(constraints={"deadline": "2 hours"})["short.deadline"]
    assert told.values["now"] == "2.0 h"
    hours = float(re.match(r"[\d.]+", told.values["needed"])[0])  # type: ignore[index]
    assert told.values["needed"].endswith("hours")
    assert status(constraints={"deadline": f"{hours} hours"}) == "optimal"
    assert status(constraints={"deadline": f"{hours - 0.11} hours"}) == "infeasible"


def test_cheapest() -> None:
    """Tests that the least cost opens a plan and a dollar less does not."""
    told = reasons(constraints={"budget": 20})["short.budget"]
    usd = float(told.values["needed"].strip("$").replace(",", ""))
    assert status(constraints={"budget": usd}) == "optimal"
    assert status(constraints={"budget": usd - 1.01}) == "infeasible"


def test_both_alone() -> None:
    """Tests that two limits that cannot be kept by themselves are both told."""
    told = reasons(constraints={"budget": 20, "deadline": "1 hour"})
    assert {"short.deadline", "short.budget"} <= set(told)


def test_only_together() -> None:
    """Tests limits of which each alone can be kept: one is told within the other."""
    cheapest = plan_job(job(), catalog(), alternatives=0).plan
    fastest = plan_job(job(objective="time"), catalog(), alternatives=0).plan
    assert cheapest is not None
    assert fastest is not None
    limits = {
        "budget": cheapest.cost_usd * 1.001,
        "deadline": f"{fastest.duration_days * 24.1:.3f} hours",
    }
    told = reasons(constraints=limits)
    assert list(told) == ["short.budget.within"]
    usd = told["short.budget.within"].values["needed"].strip("$").replace(",", "")
    assert status(constraints={**limits, "budget": float(usd)}) == "optimal"
    assert status(constraints={**limits, "budget": float(usd) - 1.01}) == "infeasible"


def test_pace() -> None:
    """Tests the throughput of the fastest against a floor above it."""
    told = reasons(constraints={"min_tokens_per_s": "900M"})["short.throughput"]
    assert told.values["now"] == "900M"


def test_energy() -> None:
    """Tests that the least energy opens a plan and a little less does not."""
    told = reasons(constraints={"max_energy": "1 kWh"})["short.energy"]
    mwh = float(re.match(r"[\d.]+", told.values["needed"])[0])  # type: ignore[index]
    unit = told.values["needed"].split()[1]
    assert status(constraints={"max_energy": f"{mwh} {unit}"}) == "optimal"
    assert status(constraints={"max_energy": f"{mwh * 0.97} {unit}"}) == "infeasible"


def test_carbon() -> None:
    """Tests that the least CO2 opens a plan and a little less does not."""
    told = reasons(constraints={"max_carbon": "1 kg"})["short.carbon"]
    tonnes = float(re.match(r"[\d.]+", told.values["needed"])[0])  # type: ignore[index]
    unit = told.values["needed"].split()[1]
    assert status(constraints={"max_carbon": f"{tonnes} {unit}"}) == "optimal"
    assert status(constraints={"max_carbon": f"{tonnes * 0.97} {unit}"}) == "infeasible"


def test_stock() -> None:
    """Tests that fewer nodes than told keep the deadline with no stock at all."""
    one = {**A100, "max_nodes": 1}
    limits = {"deadline": "4.5 hours"}
    told = reasons([one], constraints=limits)
    assert "short.deadline" in told
    needed = told["short.stock"].values
    assert needed["stock"] == 1
    assert needed["nodes"] > 1
    fewer = {**A100, "max_nodes": needed["nodes"] - 1}
    assert status(offers=[fewer], constraints=limits) == "infeasible"


def test_stock_is_not_blamed_for_a_lead_time() -> None:
    """Tests that a wait longer than the deadline is not told as missing nodes."""
    late = {**A100, "lead_time": "10 days"}
    told = reasons([late], constraints={"deadline": "5 days"})
    assert list(told) == ["short.deadline"]


def test_memory() -> None:
    """Tests a model that no card holds."""
    small = {"name": "x", "gpu": "l4", "gpus_per_node": 1, "usd_per_gpu_hour": 1}
    told = reasons([small], model="llama-3.1-405b")["short.memory"]
    assert told.values["need"] > told.values["usable"]


def test_layout() -> None:
    """Tests degrees that nothing divides by."""
    assert list(reasons(constraints={"parallelism": {"dp": 7}})) == ["short.layout"]


def test_host() -> None:
    """Tests hosts with too little memory."""
    tiny = [{**H100, "ram_gb": 1}]
    assert list(reasons(tiny)) == ["short.dropped.host"]


def test_no_time() -> None:
    """Tests that without time nothing is claimed."""
    assert list(reasons(time_s=0.0, constraints={"deadline": "1 hour"})) == [
        "short.no-time"
    ]


@pytest.mark.parametrize("limit", ["deadline", "budget"])
def test_confidence_is_in_the_figures(limit: str) -> None:
    """Tests that what is needed at 90 % confidence is what a solve at it needs."""
    limits: dict[str, Any] = {"deadline": "2 hours"} if limit == "deadline" else {}
    limits |= {"confidence": 0.9, **({"budget": 20} if limit == "budget" else {})}
    needed = reasons(constraints=limits)[f"short.{limit}"].values["needed"]
    opened = {**limits, limit: needed.replace(",", "")}
    assert status(constraints=opened) == "optimal"

"""Small scenarios of several phases for tests: a toy model on offers of one's own."""

from __future__ import annotations

from functools import cache
from typing import Any

from solver.plan import PlanResult
from solver.planning.phases import plan_phases
from solver.scenario.scenario import Scenario
from tests.planning.jobs import A100, H100, catalog, job

TWO: list[dict[str, Any]] = [
    {"name": "pre-train", "workload": {"tokens": "20B"}},
    {"name": "extend", "workload": {"tokens": "1B", "sequence_length": 8192}},
]

APART: list[dict[str, Any]] = [
    {"name": "pre-train", "constraints": {"gpus": {"types": ["A100"]}}},
    {"name": "extend", "constraints": {"gpus": {"types": ["H100"]}}},
]
"""Phases that need a lease each."""


def phased(
    phases: list[dict[str, Any]] | None = None,
    constraints: dict[str, Any] | None = None,
    offers: list[dict[str, Any]] | None = None,
    **keys: Any,
) -> Scenario:
    """A scenario of these phases; ``keys`` are further top-level keys."""
    return job(offers, constraints, phases=phases or TWO, **keys)


@cache
def apart() -> tuple[Scenario, PlanResult]:
    """Two phases in two regions, with a data set to bring along; and the answer."""
    scenario = phased(
        APART,
        {"deadline": "30 days", "budget": "90k", "confidence": 0.9},
        [A100, H100 | {"lead_time": "2 days"}],
        data={"size": "2 TB", "location": "aws/us-east-1"},
    )
    return scenario, plan_phases(scenario, catalog())

"""Tests that bounds and pruning lose nothing: the whole lattice by brute force.

Every layout on every offer and storage tier is evaluated without any bound, limits
are applied one candidate at a time, and the best is compared with the plan.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.candidates import CandidateTable, Rows, evaluate
from solver.performance.inputs import Layouts
from solver.performance.step_time import step_time
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Scenario
from solver.setting import Setting, setting_of
from tests.planning.jobs import catalog, job

FABRIC = {"gbps_per_node": 800, "kind": "roce"}

OFFERS = st.lists(
    st.fixed_dictionaries(
        {
            "gpu": st.sampled_from(["a100-sxm-80gb", "h100-sxm-80gb", "l40s"]),
            "gpus_per_node": st.sampled_from([1, 2, 8]),
            "max_nodes": st.integers(1, 3),
            "usd_per_gpu_hour": st.floats(0.5, 9).map(lambda p: round(p, 2)),
            "region": st.sampled_from(["sg", "jp", "us"]),
        },
        optional={"network": st.just(FABRIC)},
    ),
    min_size=1,
    max_size=3,
)

LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "deadline": st.floats(0.3, 6).map(lambda d: f"{d:.3f} days"),
        "budget": st.integers(20, 3000),
        "min_tokens_per_s": st.integers(10_000, 3_000_000),
        "countries": st.lists(st.sampled_from(["SG", "JP", "US"]), min_size=1),
        "gpus": st.fixed_dictionaries({"max": st.integers(1, 24)}),
        "confidence": st.sampled_from([0.3, 0.5, 0.9]),
    },
)


def every_candidate(setting: Setting) -> list[CandidateTable]:
    """All candidates that fit in memory, by hardware class, one layout at a time."""
    tables = []
    for index, group in enumerate(setting.classes):
        lattice = setting.space.lattice(group.node_kind, group.job)
        fits = np.flatnonzero(
            (lattice.memory_bytes <= group.capacity_bytes)
            & (lattice.layouts.nodes <= group.max_nodes)
        )
        seconds = step_time(
            setting.shape,
            group.job,
            setting.framework,
            group.hardware,
            lattice.layouts.take(fits),
        ).total
        layouts, steps = lattice.layouts.take(fits), lattice.steps[fits]
        rows = Rows(
            layouts,
            seconds,
            seconds * steps,
            setting.sigma(group, layouts.gpus, seconds * steps),
            lattice.steps[fits],
            lattice.memory_bytes[fits],
            lattice.writer_nodes[fits],
            lattice.host_bytes[fits],
            lattice.drive_bytes[fits],
        )
        tables.append(
            evaluate(setting, index, rows.take(np.flatnonzero(np.isfinite(seconds))))
        )
    return tables


def allowed(scenario: Scenario, table: CandidateTable, row: int) -> bool:
    """Whether one candidate keeps every limit, by plain comparisons."""
    user = scenario.constraints
    checks = [
        (table.duration_limit_s[row], user.deadline_s),
        (table.cost_limit_usd[row], user.budget_usd),
        (int(table.layouts.gpus[row]), user.gpus.max),
    ]
    return all(limit is None or value <= limit for value, limit in checks)


def fast_enough(setting: Setting, table: CandidateTable, row: int) -> bool:
    """Whether one candidate keeps the throughput floor."""
    floor = setting.scenario.constraints.min_tokens_per_s
    if floor is None:
        return True
    sigma = table.sigma[row]
    return bool(table.tokens_per_s[row] / np.exp(setting.z * sigma) >= floor)


def best_by_brute_force(scenario: Scenario) -> tuple[float, float] | None:
    """Objective and tie-break of the best candidate of all."""
    setting = setting_of(scenario, catalog())
    found = []
    for table in every_candidate(setting):
        for row in range(len(table)):
            if allowed(scenario, table, row) and fast_enough(setting, table, row):
                pair = (float(table.cost_usd[row]), float(table.duration_s[row]))
                found.append(pair if scenario.objective.kind == "cost" else pair[::-1])
    return min(found, default=None)


@settings(max_examples=40)
@given(
    offers=OFFERS,
    limits=LIMITS,
    objective=st.sampled_from(["cost", "time"]),
    efficiency=st.sampled_from([0.7, 1, 1.1]),
    ways=st.fixed_dictionaries(
        {},
        optional={
            "precision": st.sampled_from([["bf16", "fp8"], ["fp8", "bf16"]]),
            "optimizer": st.sampled_from([["adamw", "sgd"], ["lion", "adamw"]]),
        },
    ),
)
def test_the_plan_is_the_best_of_the_whole_lattice(
    offers: list[dict[str, Any]],
    limits: dict[str, Any],
    objective: str,
    efficiency: float,
    ways: dict[str, list[str]],
) -> None:
    """Tests optimum for optimum, or that there is none, to the unit of rounding."""
    named = [{"name": f"o{i}", **o} for i, o in enumerate(offers)]
    work: dict[str, Any] = {
        "tokens": "1B",
        "global_batch_size": 48,
        "efficiency": efficiency,
    }
    work |= ways
    scenario = job(named, limits, work, objective=objective)
    wanted = best_by_brute_force(scenario)
    result = plan_job(scenario, catalog(), alternatives=0)
    if wanted is None:
        assert result.status == "infeasible"
        return
    assert result.plan is not None
    plan = result.plan
    got = plan.cost_usd if objective == "cost" else plan.duration_days * 86_400
    assert abs(got - wanted[0]) <= 3e-5 * wanted[0] + 1e-9


def test_layout_columns_are_all_compared() -> None:
    """Tests that a new column of a layout is noticed here."""
    assert len(fields(Layouts)) == 15

"""The planner's optimum against every layout on every offer, on random catalogs.

Brute force walks the whole lattice in plain Python and takes cost and time from the
certificate's arithmetic; bounds, pruning, reduction and CP-SAT have no part in it.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.catalog.load import Catalog
from solver.catalog.schema import Delivery, Offer
from solver.performance.inputs import RECOMPUTE
from solver.performance.parallelism import LatticeLimits, enumerate_layouts
from solver.physics_inputs import framework_of, job_of, shape_of
from solver.plan import LayoutPlan, Plan
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Failures, Objective, Quota, Scenario
from solver.units import GIB
from solver.verify.evidence import Evidence, gather
from solver.verify.figures import Figures
from tests.verify.examples import PLAIN, catalog, example, scenario_of

QUESTION = """
name: brute force
model: toy-1b
workload: {tokens: 100B, sequence_length: 2048, global_batch_size: 64, start: scratch}
constraints:
  providers: [acme]
  gpus: {max: 16}
  parallelism: {tp: {max: 2}, cp: 1, pp: {max: 2}, micro_batch: 4}
  purchase: [on_demand, spot]
stock: {unknown_nodes: 1}
"""

OFFERS = (
    "acme/east/8x-small-a/on_demand",
    "acme/east/8x-small-b/on_demand",
    "acme/island/8x-small-b/spot",
)


@cache
def _layouts() -> tuple[dict[str, int], ...]:
    """Every layout of the lattice on one or two nodes of 8."""
    scenario = scenario_of(QUESTION)
    layouts = enumerate_layouts(
        shape_of(scenario.architecture),
        job_of(scenario, catalog()),
        framework_of(catalog(), scenario.workload.framework),
        LatticeLimits(
            max_nodes=2,
            gpus_per_node=8,
            nvlink_domain_gpus=8,
            gpus=scenario.constraints.gpus,
            pins=scenario.constraints.parallelism,
        ),
    )
    return tuple(layouts.row(i) for i in range(len(layouts)))


def _plan(
    offer: str,
    storage: str,
    row: dict[str, int],
    start: str | None = None,
    spares: int = 0,
) -> Plan:
    """A plan of these decisions; all other fields are left from an example."""
    pp = row["pp"]
    layout = LayoutPlan(
        **{k: v for k, v in row.items() if k not in ("nodes", "gpus_per_node")}
        | {
            "layers_per_stage": (16 // pp,) * pp,
            "global_batch_size": 64,
            "sequence_parallel": bool(row["sequence_parallel"]),
            "recompute": RECOMPUTE[row["recompute"]],
            "precision": "bf16",
            "optimizer": "adamw",
        }
    )
    return replace(
        example(PLAIN).plan,
        spare_nodes=spares,
        offer=offer,
        storage=storage,
        start=start,
        nodes=row["nodes"],
        gpus=row["nodes"] * row["gpus_per_node"],
        layout=layout,
    )


def at_efficiency(scenario: Scenario, efficiency: float) -> Scenario:
    """The scenario of a team that reaches this share of the predicted speed."""
    return replace(scenario, workload=replace(scenario.workload, efficiency=efficiency))


PHYSICS = ("shape", "job", "framework", "hardware", "layouts", "step", "memory")
"""What does not depend on prices, stock and limits: evaluated once a layout."""

STATE = ("checkpoint_bytes", "writer_nodes", "host_bytes", "model_flops_per_step")


@cache
def _physics(
    offer: str, index: int, efficiency: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Physics of one layout on the server of an offer, each layout by itself."""
    plan = _plan(offer, "local", _layouts()[index])
    scenario = at_efficiency(scenario_of(QUESTION), efficiency)
    evidence = gather(plan, scenario, catalog())
    assert isinstance(evidence, Evidence)
    known = Figures(evidence)
    return (
        {name: getattr(evidence, name) for name in PHYSICS},
        {name: getattr(known, name) for name in STATE},
    )


def _starts(scenario: Scenario, offer: Offer) -> Iterator[str | None]:
    """Every day on which nodes ordered today may become usable; None is today."""
    days = {scenario.start_date} | {d.start for d in offer.available if d.start}
    earliest = scenario.start_date + timedelta(days=offer.lead_time_days)
    for day in {max(day, earliest) for day in days}:
        yield None if day == scenario.start_date else day.isoformat()


def _within_quotas(plan: Plan, scenario: Scenario, provider: str) -> bool:
    """Whether quotas of GPUs, on all or on one provider, allow a plan."""
    return all(
        plan.gpus + 8 * plan.spare_nodes <= quota.limit
        for quota in scenario.quotas
        if quota.providers is None or provider in quota.providers
    )


def _spares(scenario: Scenario) -> tuple[int, ...]:
    """Numbers of spare nodes that a plan may have."""
    failures = scenario.failures
    if failures.spares is not None:
        return failures.spares
    return tuple(range(9)) if failures.replacement_s else (0,)


def _walk(scenario: Scenario, supply: Catalog) -> Iterator[Figures]:
    """Every combination of start, offer, storage and layout that is possible at all."""
    for offer, storage in product(OFFERS, ("local", "shared")):
        for start in _starts(scenario, supply.offers[offer]):
            for (index, row), spares in product(
                enumerate(_layouts()), _spares(scenario)
            ):
                plan = _plan(offer, storage, row, start, spares)
                evidence = gather(plan, scenario, supply)
                assert isinstance(evidence, Evidence), evidence
                known = Figures(evidence)
                physics = _physics(offer, index, scenario.workload.efficiency)
                for holder, values in zip((evidence, known), physics, strict=True):
                    holder.__dict__.update(values)
                rented = row["nodes"] + spares
                if not (evidence.offer.min_nodes or 1) <= rented <= known.stock[0]:
                    continue
                if not _within_quotas(plan, scenario, evidence.offer.provider):
                    continue
                if rented > (evidence.offer.max_nodes_per_cluster or math.inf):
                    continue
                if known.host_bytes > (evidence.server.ram_gb or math.inf) * 1e9:
                    continue
                if known.stored_bytes > known.capacity_bytes:
                    continue
                headroom = scenario.constraints.memory_headroom
                usable = evidence.gpu.usable_memory_gib * GIB * (1 - headroom)
                if float(evidence.memory.total[0]) > usable:
                    continue
                yield known


def _value(scenario: Scenario, cost_usd: float, duration_s: float) -> float:
    """What the scenario minimises."""
    objective = scenario.objective
    if objective.kind == "cost":
        return cost_usd
    if objective.kind == "time":
        return duration_s
    days = duration_s / 86_400
    return objective.cost_weight * cost_usd + objective.usd_per_day * days


def _best(scenario: Scenario, supply: Catalog) -> float | None:
    """The least objective among all that keep the limits."""
    user = scenario.constraints
    values = [
        _value(scenario, known.cost_usd, known.duration_s)
        for known in _walk(scenario, supply)
        if known.duration_at(user.confidence) <= (user.deadline_s or math.inf)
        and known.cost_at(user.confidence) <= (user.budget_usd or math.inf)
    ]
    return min(values, default=None)


PRICES = st.floats(0.5, 40.0)
OBJECTIVES = st.sampled_from(
    [Objective("cost"), Objective("time"), Objective("weighted", 1.0, 500.0)]
)


@settings(max_examples=12)
@given(st.data())
def test_planner_equals_brute_force(data: st.DataObject) -> None:
    """Tests that the plan's objective is the least of all, or that there is none."""
    efficiency = data.draw(st.sampled_from([0.7, 1.0, 1.1]), label="efficiency")
    base = at_efficiency(scenario_of(QUESTION), efficiency)
    billing = st.sampled_from(["second", "hour", "month"])
    offers = [
        catalog()
        .offers[name]
        .model_copy(
            update={
                "usd_per_node_hour": data.draw(PRICES, label=f"price of {name}"),
                "max_nodes": data.draw(st.sampled_from([1, 2]), label="nodes"),
                "billing_unit": data.draw(billing, label="billing"),
            }
        )
        for name in OFFERS
    ]
    shared = catalog().storage["shared"]
    price = data.draw(st.sampled_from([0.0, 0.1, 5.0]), label="storage price")
    tier = shared.model_copy(update={"usd_per_gb_month": price})
    supply = catalog().with_entries(offers=offers, storage=[tier])
    days = data.draw(st.sampled_from([None, 2.0, 4.0, 8.0, 20.0]), label="days")
    user = replace(
        base.constraints,
        deadline_s=None if days is None else days * 86_400,
        budget_usd=data.draw(st.sampled_from([None, 500.0, 3_000.0]), label="usd"),
        confidence=data.draw(st.sampled_from([0.5, 0.9]), label="confidence"),
    )
    objective = data.draw(OBJECTIVES, label="objective")
    scenario = replace(base, constraints=user, objective=objective)
    expected = _best(scenario, supply)
    result = plan_job(scenario, supply, alternatives=0)
    if expected is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.plan is not None
    found = _value(scenario, result.plan.cost_usd, result.plan.duration_days * 86_400)
    # costs are compared in whole units of at most 1e-5 of the cheapest
    assert found == pytest.approx(expected, rel=2e-5)


def test_the_lattice_is_worth_walking() -> None:
    """Tests that brute force has something to choose from."""
    assert len(_layouts()) > 30


QUOTAS: list[tuple[Quota, ...]] = [
    (),
    (Quota(8, "gpus"),),
    (Quota(15, "gpus", providers=("acme",)), Quota(99, "gpus")),
    (Quota(0, "gpus", providers=("other",)), Quota(16, "gpus")),
]


def _calendar(data: st.DataObject, scenario: Scenario, name: str) -> dict[str, Any]:
    """Deliveries, lead time, term and fabric of one offer."""
    order, terms = scenario.start_date, data.draw(st.booleans(), label=f"terms {name}")
    days = data.draw(st.sets(st.sampled_from([0, 1, 3, 6]), min_size=1), label="days")
    return {
        "usd_per_node_hour": data.draw(PRICES, label=f"price of {name}"),
        "max_nodes": data.draw(st.sampled_from([None, 1, 2]), label="nodes"),
        "billing_unit": data.draw(st.sampled_from(["second", "month"]), label="unit"),
        "available": tuple(
            Delivery(start=order + timedelta(days=day) if day else None, nodes=1)
            for day in sorted(days)
        ),
        "lead_time_days": data.draw(st.sampled_from([0, 2, 4]), label="lead"),
        "min_term_hours": data.draw(st.sampled_from([24.0, 100.0, 730.0])) * terms,
        "max_nodes_per_cluster": data.draw(st.sampled_from([None, 1, 2]), label="one"),
    }


@settings(max_examples=12)
@given(st.data())
def test_calendars_and_terms_equal_brute_force(data: st.DataObject) -> None:
    """Tests starting small against waiting, and terms, over every start and layout."""
    base = scenario_of(QUESTION)
    offers = [
        catalog().offers[name].model_copy(update=_calendar(data, base, name))
        for name in OFFERS
    ]
    supply = catalog().with_entries(offers=offers)
    days = data.draw(st.sampled_from([None, 4.0, 8.0, 20.0]), label="deadline")
    user = replace(
        base.constraints,
        deadline_s=None if days is None else days * 86_400,
        budget_usd=data.draw(st.sampled_from([None, 1_000.0, 9_000.0]), label="usd"),
        confidence=data.draw(st.sampled_from([0.5, 0.9]), label="confidence"),
    )
    objective = data.draw(OBJECTIVES, label="objective")
    scenario = replace(
        base,
        constraints=user,
        objective=objective,
        quotas=data.draw(st.sampled_from(QUOTAS), label="quotas"),
    )
    expected = _best(scenario, supply)
    result = plan_job(scenario, supply, alternatives=0)
    if expected is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.plan is not None
    found = _value(scenario, result.plan.cost_usd, result.plan.duration_days * 86_400)
    assert found == pytest.approx(expected, rel=2e-5)


def _failures(data: st.DataObject) -> Failures:
    """Settings under which some spares pay, none does, or nothing finishes."""
    hour = 3600.0
    mtbf = st.sampled_from([100.0, 400.0, 30.0, None])
    mtbf_h = data.draw(mtbf, label="hours of a GPU between failures")
    away = data.draw(
        st.sampled_from([48.0, 6.0, 200.0, 0.0]), label="hours to replace a node"
    )
    interval = st.sampled_from([None, 2.0, 0.2, 500.0])
    interval_h = data.draw(interval, label="hours between checkpoints")
    restart = data.draw(st.sampled_from([None, 0.0, 3_600.0]), label="restart")
    spares = st.sampled_from([None, (0, 2), (1, 2, 3), (0, 1, 4), (0,)])
    return Failures(
        gpu_mtbf_s=None if mtbf_h is None else mtbf_h * hour,
        checkpoint_interval_s=None if interval_h is None else interval_h * hour,
        restart_s=restart,
        replacement_s=away * hour,
        spares=data.draw(spares, label="spares"),
    )


def _failing(data: st.DataObject, name: str) -> dict[str, Any]:
    """Price and numbers of nodes of one offer."""
    return {
        "usd_per_node_hour": data.draw(PRICES, label=f"price of {name}"),
        "max_nodes": data.draw(st.sampled_from([4, 3, 1]), label="nodes"),
        "min_nodes": data.draw(st.sampled_from([1, 1, 3]), label="least"),
        "max_nodes_per_cluster": data.draw(
            st.sampled_from([None, None, 3]), label="one"
        ),
    }


@settings(max_examples=16)
@given(st.data())
def test_failures_and_spares_equal_brute_force(data: st.DataObject) -> None:
    """Tests given intervals, slow replacements and spares over every layout."""
    base = scenario_of(QUESTION)
    offers = [
        catalog().offers[name].model_copy(update=_failing(data, name))
        for name in OFFERS
    ]
    supply = catalog().with_entries(offers=offers)
    days = data.draw(st.sampled_from([None, 20.0, 6.0]), label="deadline")
    user = replace(
        base.constraints,
        deadline_s=None if days is None else days * 86_400,
        budget_usd=data.draw(st.sampled_from([None, 9_000.0]), label="usd"),
        confidence=data.draw(st.sampled_from([0.5, 0.9]), label="confidence"),
    )
    scenario = replace(
        base,
        constraints=user,
        objective=data.draw(OBJECTIVES, label="objective"),
        quotas=data.draw(
            st.sampled_from([(), (), (Quota(24, "gpus"),)]), label="quotas"
        ),
        failures=_failures(data),
    )
    expected = _best(scenario, supply)
    result = plan_job(scenario, supply, alternatives=0)
    if expected is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.plan is not None
    found = _value(scenario, result.plan.cost_usd, result.plan.duration_days * 86_400)
    assert found == pytest.approx(expected, rel=2e-5)

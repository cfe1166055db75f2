"""Chains of phases against every chain of every layout, on random catalogs.

Brute force walks all chains: each phase on every layout, offer, day and storage, and
every way to cut the phases into leases. What a lease costs and takes is the
certificate's arithmetic; bounds, pricing, pruning and CP-SAT have no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.catalog.egress import egress_steps
from solver.catalog.load import Catalog
from solver.catalog.schema import EgressPrice
from solver.performance.inputs import RECOMPUTE
from solver.performance.parallelism import LatticeLimits, enumerate_layouts
from solver.physics_inputs import framework_of, job_of, shape_of
from solver.plan import LayoutPlan, Plan, PlanResult
from solver.planning.phases import plan_phases
from solver.ranges import Range
from solver.scenario.scenario import Objective, Phase, Scenario
from solver.units import GIB
from solver.verify.chain import ChainFigures, LeaseFigures
from solver.verify.evidence import Evidence, gather
from solver.verify.figures import Figures
from solver.verify.moving import moved_usd
from tests.verify.examples import PLAIN, catalog, example, scenario_of

TWO = """
name: brute force
model: toy-1b
workload: {sequence_length: 2048, global_batch_size: 32, framework: megatron}
constraints:
  providers: [acme]
  gpus: {max: 16}
  parallelism: {tp: {max: 2}, cp: 1, pp: 1, micro_batch: 4, virtual_stages: 1}
  purchase: [on_demand, spot]
phases:
  - {name: first, workload: {tokens: 60B}}
  - {name: second, workload: {tokens: 10B, sequence_length: 4096}}
"""

THREE = TWO.replace("{max: 2}, cp", "1, cp") + (
    "  - {name: third, workload: {tokens: 5B, method: lora, framework: hf-trainer}}\n"
)

OFFERS = (
    "acme/east/8x-small-a/on_demand",
    "acme/east/8x-small-b/on_demand",
    "acme/island/8x-small-b/spot",
)


@dataclass(frozen=True)
class Lease:
    """A lease over phases ``first`` to ``last``, seconds and dollars."""

    first: int
    last: int
    place: tuple[Any, ...]
    region: str
    wait_s: float
    time_s: tuple[float, float]
    """Expected, and at the confidence."""
    usd: tuple[float, float]
    data_usd: float
    """Price of bringing the shared data set there from elsewhere."""
    moved_gb: float


@cache
def _layouts(text: str, phase: int) -> list[dict[str, int]]:
    """Every layout of a phase on one or two nodes of 8."""
    scenario = scenario_of(text).phases[phase].scenario
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
    return [layouts.row(i) for i in range(len(layouts))]


def _plan(
    offer: str, storage: str, row: dict[str, int], start: str | None, optimizer: str
) -> Plan:
    """A plan of these decisions; all other fields are left from an example."""
    layout = LayoutPlan(
        **{k: v for k, v in row.items() if k not in ("nodes", "gpus_per_node")}
        | {
            "layers_per_stage": (16 // row["pp"],) * row["pp"],
            "global_batch_size": 32,
            "sequence_parallel": bool(row["sequence_parallel"]),
            "recompute": RECOMPUTE[row["recompute"]],
            "precision": "bf16",
            "optimizer": optimizer,
        }
    )
    return replace(
        example(PLAIN).plan,
        offer=offer,
        storage=storage,
        start=start,
        nodes=row["nodes"],
        gpus=row["nodes"] * row["gpus_per_node"],
        layout=layout,
    )


PHYSICS = ("shape", "job", "framework", "hardware", "layouts", "step", "memory")
STATE = ("checkpoint_bytes", "writer_nodes", "host_bytes", "model_flops_per_step")


@cache
def _physics(
    text: str, phase: int, offer: str, index: int
) -> tuple[dict[str, Any], ...]:
    """What does not depend on prices and limits, evaluated once a layout."""
    scenario = scenario_of(text).phases[phase].scenario
    row = _layouts(text, phase)[index]
    plan = _plan(offer, "local", row, None, scenario.workload.optimizer)
    evidence = gather(plan, scenario, catalog())
    assert isinstance(evidence, Evidence)
    known = Figures(evidence)
    return (
        {name: getattr(evidence, name) for name in PHYSICS},
        {name: getattr(known, name) for name in STATE},
    )


def _ways(
    text: str, phase: int, scenario: Scenario, supply: Catalog
) -> Iterator[Figures]:
    """Every way to run a phase by itself."""
    for offer, storage in product(OFFERS, ("local", "shared")):
        lead = supply.offers[offer].lead_time_days
        start = (
            (scenario.start_date + timedelta(days=lead)).isoformat() if lead else None
        )
        for index, row in enumerate(_layouts(text, phase)):
            plan = _plan(offer, storage, row, start, scenario.workload.optimizer)
            evidence = gather(plan, scenario, supply)
            assert isinstance(evidence, Evidence), evidence
            known = Figures(evidence)
            physics = _physics(text, phase, offer, index)
            for holder, values in zip((evidence, known), physics, strict=True):
                holder.__dict__.update(values)
            user = scenario.constraints
            if evidence.gpu.id not in (user.gpu_types or (evidence.gpu.id,)):
                continue
            if evidence.offer.region not in (user.regions or (evidence.offer.region,)):
                continue
            if not user.gpus.allows(plan.gpus):
                continue
            usable = evidence.gpu.usable_memory_gib * GIB
            usable *= 1 - user.memory_headroom
            if (
                row["nodes"] <= known.stock[0]
                and known.host_bytes <= (evidence.server.ram_gb or math.inf) * 1e9
                and known.stored_bytes <= known.capacity_bytes
                and float(evidence.memory.total[0]) <= usable
                and math.isfinite(known.active_s)
            ):
                yield known


def _place(known: Figures) -> tuple[Any, ...]:
    """What phases of one lease have in common."""
    plan = known.evidence.plan
    return plan.offer, plan.storage, plan.nodes


def _leases(scenario: Scenario, ways: list[list[Figures]]) -> Iterator[Lease]:
    """Every lease over every range of phases."""
    count = len(ways)
    for first in range(count):
        for last in range(first, count):
            for parts in product(*ways[first : last + 1]):
                places = {_place(known) for known in parts}
                if len(places) == 1:
                    yield _lease(scenario, first, last, parts, places.pop(), count)


def _lease(
    scenario: Scenario,
    first: int,
    last: int,
    parts: tuple[Figures, ...],
    place: tuple[Any, ...],
    count: int,
) -> Lease:
    """One lease by the certificate's arithmetic."""
    known: list[Any] = [parts[0]] * count
    known[first : last + 1] = parts
    lease = LeaseFigures(ChainFigures(scenario, tuple(known), ()), first, last)
    user = scenario.constraints
    shared = lease.chain.one_data_set
    return Lease(
        first=first,
        last=last,
        place=place,
        region=lease.region,
        wait_s=lease.wait_s,
        time_s=(lease.time_s(0.5), lease.time_s(user.confidence)),
        usd=(lease.cost_usd(0.5), lease.cost_usd(user.confidence)),
        data_usd=lease.head.moving.egress_usd if shared else 0.0,
        moved_gb=lease.moved_gb,
    )


def _chains(
    leases: list[Lease], supply: Catalog, count: int
) -> Iterator[tuple[float, float, float, float]]:
    """Finish and cost, expected and at the confidence, of every chain."""
    starting = [[x for x in leases if x.first == p] for p in range(count)]
    move_usd: dict[Any, float] = {}

    def moved(before: Lease, after: Lease) -> tuple[float, float]:
        if before.region == after.region:
            return 0.0, 0.0
        key = (before.region, after.region, before.moved_gb)
        if key not in move_usd:
            move_usd[key] = moved_usd(egress_steps(supply, *key[:2]), key[2])
        return before.moved_gb / 1.25, move_usd[key] + after.data_usd

    def walk(
        done: int,
        before: Lease | None,
        now: tuple[float, float],
        usd: tuple[float, float],
    ) -> Iterator[tuple[float, float, float, float]]:
        if done == count:
            yield (*now, *usd)
            return
        for lease in starting[done]:
            gap = extra = 0.0
            if before is not None:
                if before.place == lease.place:
                    continue  # one lease, not two
                gap, extra = moved(before, lease)
            ends = [max(now[k] + gap, lease.wait_s) + lease.time_s[k] for k in (0, 1)]
            spent = [usd[k] + extra + lease.usd[k] for k in (0, 1)]
            yield from walk(
                lease.last + 1, lease, (ends[0], ends[1]), (spent[0], spent[1])
            )

    return walk(0, None, (0.0, 0.0), (0.0, 0.0))


def _value(scenario: Scenario, cost_usd: float, duration_s: float) -> float:
    """What the scenario minimises."""
    objective = scenario.objective
    if objective.kind == "cost":
        return cost_usd
    if objective.kind == "time":
        return duration_s
    days = duration_s / 86_400
    return objective.cost_weight * cost_usd + objective.usd_per_day * days


def _best(
    text: str, scenario: Scenario, supply: Catalog
) -> tuple[float, float, float] | None:
    """Least objective among chains that keep the limits; its cost and finish."""
    ways = [
        list(_ways(text, p, phase.scenario, supply))
        for p, phase in enumerate(scenario.phases)
    ]
    user = scenario.constraints
    leases = list(_leases(scenario, ways))
    found = [
        (_value(scenario, cost, finish), cost, finish)
        for finish, late, cost, bill in _chains(leases, supply, len(ways))
        if late <= (user.deadline_s or math.inf)
        and bill <= (user.budget_usd or math.inf)
    ]
    if not found:
        return None
    least = min(value for value, _, _ in found) * (1 + 1e-9)  # ties, but for rounding
    cost = min(cost for value, cost, _ in found if value <= least) * (1 + 1e-9)
    return min(c for c in found if c[0] <= least and c[1] <= cost)


def _copy(price: float) -> EgressPrice:
    """What data that leaves a region costs."""
    return EgressPrice(
        id="acme-egress", origin="acme/*", destination="acme/*", usd_per_gb=price,
        source="made up", as_of="2026-01",
    )  # fmt: skip


def _supply(data: st.DataObject) -> Catalog:
    """Offers with prices, units, terms, lead times, and prices of storage and moves."""
    offers = []
    for name in OFFERS:
        term = data.draw(st.sampled_from([0.0, 0.0, 100.0, 730.0]), label="term")
        changes = {
            "usd_per_node_hour": data.draw(st.floats(2.0, 12.0), label="price"),
            "max_nodes": data.draw(st.sampled_from([1, 2]), label="nodes"),
            "billing_unit": data.draw(
                st.sampled_from(["second", "hour", "month"]), label="unit"
            ),
            "min_term_hours": term,
            "lead_time_days": data.draw(st.sampled_from([0, 0, 3, 9]), label="lead"),
        }
        offers.append(catalog().offers[name].model_copy(update=changes))
    usd = data.draw(st.sampled_from([0.0, 0.1, 5.0]), label="storage price")
    tier = catalog().storage["shared"].model_copy(update={"usd_per_gb_month": usd})
    egress = data.draw(st.sampled_from([0.0, 0.02, 2.0]), label="egress price")
    return catalog().with_entries(offers=offers, storage=[tier], egress=[_copy(egress)])


OBJECTIVES = st.sampled_from(
    [Objective("cost"), Objective("time"), Objective("weighted", 1.0, 500.0)]
)


def _asked(data: st.DataObject, text: str) -> Scenario:
    """The phases with random limits, confidence, data and overheads."""
    shared = data.draw(st.booleans(), label="one data set")
    text += "data: {location: acme/island" + (", size: 300 GB}\n" if shared else "}\n")
    confidence = data.draw(st.sampled_from([0.5, 0.9]), label="confidence")
    text = text.replace("constraints:", f"constraints:\n  confidence: {confidence}", 1)
    setup = data.draw(st.sampled_from([0, 4, 30]), label="setup")
    queue = data.draw(st.sampled_from([0, 5]), label="queue")
    text += f"overheads: {{setup: {setup}, queue: {queue}}}\n"
    scenario = scenario_of(text)
    days = data.draw(st.sampled_from([None, 2.0, 5.0, 8.0, 12.0, 20.0]), label="days")
    budget = data.draw(st.sampled_from([None, 800.0, 2_000.0, 6_000.0]), label="usd")
    user = replace(
        scenario.constraints,
        deadline_s=None if days is None else days * 86_400,
        budget_usd=budget,
    )
    objective = data.draw(OBJECTIVES, label="objective")
    phases = tuple(_phase(data, phase, objective) for phase in scenario.phases)
    return replace(scenario, constraints=user, objective=objective, phases=phases)


def _phase(data: st.DataObject, phase: Phase, objective: Objective) -> Phase:
    """A phase that may be held to some GPUs and places, so that phases part."""
    types = st.sampled_from([None, ("small-a",), ("small-b",)])
    regions = st.sampled_from([None, ("acme/east",), ("acme/island",)])
    alone = replace(
        phase.scenario.constraints,
        gpu_types=data.draw(types, label="types"),
        regions=data.draw(regions, label="regions"),
        gpus=data.draw(st.sampled_from([Range(max=16), Range(max=8)]), label="gpus"),
    )
    return replace(
        phase,
        scenario=replace(phase.scenario, constraints=alone, objective=objective),
    )


def _check(
    scenario: Scenario, expected: tuple[float, ...] | None, got: PlanResult
) -> None:
    """Compare an answer with brute force; it has verified itself already."""
    if expected is None:
        assert got.status == "infeasible"
        assert got.total is None
        return
    assert got.status == "optimal"
    assert got.total is not None
    finish = got.total.duration_days * 86_400
    found = _value(scenario, got.total.cost_usd, finish)
    assert found == pytest.approx(expected[0], rel=1e-7)
    assert got.total.cost_usd == pytest.approx(expected[1], rel=1e-6)
    assert finish == pytest.approx(expected[2], rel=1e-6)
    assert got.proof.gap == 0


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_two_phases_equal_brute_force(data: st.DataObject) -> None:
    """Tests whole units, terms, waits, moves and limits over all chains of two."""
    scenario, supply = _asked(data, TWO), _supply(data)
    expected = _best(TWO, scenario, supply)
    _check(scenario, expected, plan_phases(scenario, supply))


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_three_phases_equal_brute_force(data: st.DataObject) -> None:
    """Tests the same over all chains of three, in all four cuts into leases."""
    scenario, supply = _asked(data, THREE), _supply(data)
    expected = _best(THREE, scenario, supply)
    _check(scenario, expected, plan_phases(scenario, supply))

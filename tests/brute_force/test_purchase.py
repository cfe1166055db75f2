"""Mixes, one's own nodes and bought ones against every split of every layout.

Brute force tries each number of nodes of the base beside the rest, on each day, and
takes cost and time from the certificate's arithmetic.
"""

from __future__ import annotations

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
from solver.catalog.ownership import YEAR_HOURS, depreciation_usd_per_hour
from solver.catalog.schema import Delivery, Offer
from solver.performance.inputs import RECOMPUTE
from solver.performance.parallelism import LatticeLimits, enumerate_layouts
from solver.physics_inputs import framework_of, job_of, shape_of
from solver.plan import LayoutPlan, Plan
from solver.planning.single_job import plan_job
from solver.ranges import Range
from solver.scenario.scenario import Failures, Objective, Quota, Scenario
from solver.units import GIB
from solver.verify import verify
from solver.verify.evidence import Evidence, gather
from solver.verify.figures import Figures
from tests.verify.examples import PLAIN, catalog, example, scenario_of

QUESTION = """
name: brute force
model: toy-1b
workload: {tokens: 100B, sequence_length: 2048, global_batch_size: 960, start: scratch}
constraints:
  providers: [acme]
  gpus: {max: 40}
  parallelism: {tp: {max: 2}, cp: 1, pp: 1, micro_batch: 4, zero_stage: 1}
  purchase: [on_demand, reserved, monthly, owned, bought]
stock: {unknown_nodes: 2}
"""
MOST = 5

REST = "acme/east/8x-small-a/on_demand"
BASE = "acme/east/8x-small-a/base"


@cache
def layouts() -> tuple[dict[str, int], ...]:
    """Every layout of the lattice."""
    scenario = scenario_of(QUESTION)
    found = enumerate_layouts(
        shape_of(scenario.architecture),
        job_of(scenario, catalog()),
        framework_of(catalog(), scenario.workload.framework),
        LatticeLimits(
            max_nodes=MOST,
            gpus_per_node=8,
            nvlink_domain_gpus=8,
            gpus=scenario.constraints.gpus,
            pins=scenario.constraints.parallelism,
        ),
    )
    return tuple(found.row(i) for i in range(len(found)))


def plan_of(
    row: dict[str, int], storage: str, start: str | None, base: int, spares: int = 0
) -> Plan:
    """A plan of these decisions; all other fields are left from an example."""
    layout = LayoutPlan(
        **{k: v for k, v in row.items() if k not in ("nodes", "gpus_per_node")}
        | {
            "layers_per_stage": (16,),
            "global_batch_size": 960,
            "sequence_parallel": bool(row["sequence_parallel"]),
            "recompute": RECOMPUTE[row["recompute"]],
            "precision": "bf16",
            "optimizer": "adamw",
        }
    )
    nodes = row["nodes"] + spares
    split = ({"offer": BASE, "nodes": base}, {"offer": REST, "nodes": nodes - base})
    return replace(
        example(PLAIN).plan,
        offer=BASE if base == nodes else REST,
        mix=split if 0 < base < nodes else None,
        storage=storage,
        start=start,
        nodes=row["nodes"],
        spare_nodes=spares,
        gpus=row["nodes"] * row["gpus_per_node"],
        layout=layout,
    )


PHYSICS = ("shape", "job", "framework", "hardware", "layouts", "step", "memory")
STATE = ("checkpoint_bytes", "writer_nodes", "host_bytes", "model_flops_per_step")


@cache
def physics(index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What does not depend on prices and stock, each layout by itself."""
    plan = plan_of(layouts()[index], "local", None, 0)
    evidence = gather(plan, scenario_of(QUESTION), catalog())
    assert isinstance(evidence, Evidence)
    known = Figures(evidence)
    return (
        {name: getattr(evidence, name) for name in PHYSICS},
        {name: getattr(known, name) for name in STATE},
    )


def starts(scenario: Scenario, offers: list[Offer]) -> set[str | None]:
    """Every day on which nodes of all offers may become usable; None is today."""
    today = scenario.start_date
    earliest = today + timedelta(days=max(offer.lead_time_days for offer in offers))
    days = {today} | {d.start for o in offers for d in o.available if d.start}
    later = {max(day, earliest) for day in days}
    return {None if day == today else day.isoformat() for day in later}


def within_quotas(scenario: Scenario, known: Figures) -> bool:
    """Whether the quotas of nodes allow a plan."""
    return all(
        sum(
            part.nodes
            for part in known.evidence.parts
            if quota.purchase in (None, part.offer.purchase)
        )
        <= quota.limit
        for quota in scenario.quotas
    )


def possible(scenario: Scenario, known: Figures) -> bool:
    """Whether stock, fabrics, quotas, memory and drives allow a plan."""
    evidence = known.evidence
    for bill in known.bills:
        offer, nodes = bill.part.offer, bill.part.nodes
        if not offer.min_nodes <= nodes <= bill.stock(known.start)[0]:
            return False
        if known.rented_nodes > (offer.max_nodes_per_cluster or math.inf):
            return False
    usable = evidence.gpu.usable_memory_gib * GIB
    headroom = scenario.constraints.memory_headroom
    return (
        within_quotas(scenario, known)
        and known.host_bytes <= (evidence.server.ram_gb or math.inf) * 1e9
        and (scenario.constraints.gpus.min or 0) <= evidence.plan.gpus
        and known.stored_bytes <= known.capacity_bytes
        and float(evidence.memory.total[0]) <= usable * (1 - headroom)
    )


def spares_of(scenario: Scenario) -> tuple[int, ...]:
    """Numbers of spare nodes that are stated; none else."""
    return scenario.failures.spares or (0,)


def walk(scenario: Scenario, supply: Catalog) -> Iterator[Figures]:
    """Every start, split, storage and layout that is possible at all."""
    base, rest = supply.offers[BASE], supply.offers[REST]
    choices = product(enumerate(layouts()), ("local", "shared"), spares_of(scenario))
    for (index, row), storage, spares in choices:
        rented = row["nodes"] + spares
        for of_base in range(rented + 1):
            used = [base] * (of_base > 0) + [rest] * (of_base < rented)
            for start in starts(scenario, used):
                plan = plan_of(row, storage, start, of_base, spares)
                evidence = gather(plan, scenario, supply)
                assert isinstance(evidence, Evidence), evidence
                known = Figures(evidence)
                for holder, values in zip(
                    (evidence, known), physics(index), strict=True
                ):
                    holder.__dict__.update(values)
                if possible(scenario, known):
                    yield known


def value(scenario: Scenario, cost_usd: float, duration_s: float) -> float:
    """What the scenario minimises."""
    objective = scenario.objective
    if objective.kind == "cost":
        return cost_usd
    if objective.kind == "time":
        return duration_s
    days = duration_s / 86_400
    return objective.cost_weight * cost_usd + objective.usd_per_day * days


def best(scenario: Scenario, supply: Catalog) -> float | None:
    """The least objective among all that keep the limits."""
    user = scenario.constraints
    values = [
        value(scenario, known.cost_usd, known.duration_s)
        for known in walk(scenario, supply)
        if known.duration_at(user.confidence) <= (user.deadline_s or math.inf)
        and known.cost_at(user.confidence) <= (user.budget_usd or math.inf)
    ]
    return min(values, default=None)


PRICES = st.floats(0.5, 40.0)
OBJECTIVES = st.sampled_from(
    [Objective("cost"), Objective("time"), Objective("weighted", 1.0, 500.0)]
)
QUOTAS: list[tuple[Quota, ...]] = [
    (),
    (Quota(3, "nodes"),),
    (Quota(2, "nodes", purchase="on_demand"), Quota(4, "nodes")),
    (Quota(1, "nodes", purchase="owned"),),
]


FAILURES = [
    Failures(),
    Failures(),
    Failures(gpu_mtbf_s=2e6, replacement_s=4e5, spares=(0, 1)),
]


def own_costs(data: st.DataObject, kind: str) -> dict[str, Any]:
    """Price, energy and hosting of a base of one kind."""
    price = data.draw(PRICES, label="price of the base")
    if kind not in ("owned", "bought"):
        term = data.draw(st.sampled_from([24.0, 100.0, 730.0]), label="term")
        unit = {"reserved": "second", "monthly": "month"}[kind]
        return {
            "usd_per_node_hour": price,
            "billing_unit": unit,
            "min_term_hours": term if kind == "reserved" else 0.0,
        }
    running = {
        "usd_per_kwh": data.draw(st.sampled_from([0.0, 0.1, 2.0]), label="energy"),
        "hosting_usd_per_node_month": data.draw(st.sampled_from([0.0, 500.0])),
        "pue": data.draw(st.sampled_from([None, 1.2]), label="PUE"),
        "node_power_kw": data.draw(st.sampled_from([None, 5.0]), label="power"),
    }
    if kind == "owned":
        return {"usd_per_node_hour": 0.0, **running}
    whole = data.draw(st.booleans(), label="whole")
    years = 0.2 if whole else 4.0
    buy, resale = price * (2_000.0 if whole else 30_000.0), 0.1
    return {
        "usd_per_node_hour": depreciation_usd_per_hour(buy, years, resale),
        "buy_usd_per_node": buy,
        "years": years,
        "resale": resale,
        "min_term_hours": years * YEAR_HOURS * whole,
        **running,
    }


def base_of(data: st.DataObject, scenario: Scenario) -> Offer:
    """A base of any kind in the pool of the rest."""
    kind = data.draw(st.sampled_from(["reserved", "monthly", "owned", "bought"]))
    days = data.draw(st.sets(st.sampled_from([0, 2, 6]), max_size=2), label="days")
    order = scenario.start_date
    delivered = data.draw(st.sampled_from([1, 2]), label="a delivery")
    return (
        catalog()
        .offers[REST]
        .model_copy(
            update={
                "id": BASE,
                "purchase": kind,
                "max_nodes": data.draw(st.sampled_from([1, 2, 3]), label="base nodes"),
                "min_nodes": data.draw(st.sampled_from([1, 1, 2]), label="least base"),
                "available": tuple(
                    Delivery(
                        start=order + timedelta(days=day) if day else None,
                        nodes=delivered,
                    )
                    for day in sorted(days)
                ),
                "lead_time_days": data.draw(st.sampled_from([0, 3]), label="lead"),
                "max_nodes_per_cluster": data.draw(st.sampled_from([None, 4])),
                **own_costs(data, kind),
            }
        )
    )


def rest_of(data: st.DataObject) -> Offer:
    """Nodes on demand."""
    return (
        catalog()
        .offers[REST]
        .model_copy(
            update={
                "usd_per_node_hour": data.draw(PRICES, label="price of the rest"),
                "max_nodes": data.draw(st.sampled_from([None, 1, 2, 3]), label="rest"),
                "min_nodes": data.draw(st.sampled_from([1, 1, 2]), label="least rest"),
                "billing_unit": data.draw(st.sampled_from(["second", "hour"])),
                "lead_time_days": data.draw(st.sampled_from([0, 0, 5]), label="later"),
                "max_nodes_per_cluster": data.draw(st.sampled_from([None, 3])),
            }
        )
    )


@settings(max_examples=15)
@given(st.data())
def test_every_split_equals_brute_force(data: st.DataObject) -> None:
    """Tests that no split, day, storage or layout is better than the plan."""
    base = scenario_of(QUESTION)
    pool = [base_of(data, base), rest_of(data)]
    supply = catalog().with_entries(alone=("offers",), offers=pool)
    days = data.draw(st.sampled_from([None, 2.0, 4.0, 9.0]), label="days")
    user = replace(
        base.constraints,
        deadline_s=None if days is None else days * 86_400,
        budget_usd=data.draw(st.sampled_from([None, 9_000.0]), label="usd"),
        gpus=Range(
            min=data.draw(st.sampled_from([None, 24, 32]), label="gpus"), max=40
        ),
        confidence=data.draw(st.sampled_from([0.5, 0.9]), label="confidence"),
    )
    scenario = replace(
        base,
        constraints=user,
        objective=data.draw(OBJECTIVES, label="objective"),
        quotas=data.draw(st.sampled_from(QUOTAS), label="quotas"),
        failures=data.draw(st.sampled_from(FAILURES), label="failures"),
    )
    expected = best(scenario, supply)
    result = plan_job(scenario, supply, alternatives=0)
    if expected is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.plan is not None
    assert verify(result.plan, scenario, supply) == []
    found = value(scenario, result.plan.cost_usd, result.plan.duration_days * 86_400)
    assert found == pytest.approx(expected, rel=2e-5)


def test_the_lattice_is_worth_walking() -> None:
    """Tests that brute force has sizes to split."""
    assert {row["nodes"] for row in layouts()} == {1, 2, 3, 4, 5}
    assert len(layouts()) > 20

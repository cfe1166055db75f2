"""Objectives of every kind, and limits of energy and carbon, against brute force.

Every layout on every offer and tier is priced by the certificate's arithmetic; of a
list of aims each decides among the exact equals of those before it.
"""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.catalog.load import Catalog
from solver.plan import Plan
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Aim, Objective, Scenario
from solver.verify.figures import Figures
from tests.brute_force.test_planner_equals_brute_force import (
    OFFERS,
    PRICES,
    QUESTION,
    _walk,
)
from tests.verify.examples import catalog, scenario_of

AIMS: list[Aim] = ["cost", "time", "carbon", "energy"]
OBJECTIVES = st.one_of(
    st.permutations(AIMS).flatmap(
        lambda aims: st.integers(1, 3).map(
            lambda n: Objective(aims[0], then=tuple(aims[1:n]))
        )
    ),
    st.builds(
        Objective,
        st.just("weighted"),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from([0.0, 500.0]),
        st.sampled_from([80.0, 5_000.0]),
    ),
)
GRIDS = st.sampled_from([None, 0.0, 0.0, 35.0, 600.0])
"""Of two sites whose grids emit nothing all carbon is equal: the next aim decides."""

SAME = 1e-7
"""Relative difference below which two values are the same: whole units of 1e-9."""


def random_catalog(data: st.DataObject) -> Catalog:
    """The small offers at random prices, on random grids."""
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
    regions = []
    for name in ("acme/east", "acme/island"):
        # a country of no catalog region has no average that could stand in
        changes: dict[str, Any] = {
            "country": "XX",
            "grid_gco2_per_kwh": data.draw(GRIDS, label=f"grid of {name}"),
            "pue": data.draw(st.sampled_from([None, 1.1]), label=f"PUE of {name}"),
        }
        regions.append(catalog().regions[name].model_copy(update=changes))
    return catalog().with_entries(offers=offers, regions=regions)


def value_of(objective: Objective, level: str, known: Figures) -> float:
    """One level of an objective: USD, days, MWh or tonnes."""
    carbon = known.carbon_t()
    days = known.duration_s / 86_400
    if level == "weighted":
        emitted = carbon if objective.usd_per_tonne_co2 else 0.0
        return (
            objective.cost_weight * known.cost_usd
            + objective.usd_per_day * days
            + objective.usd_per_tonne_co2 * (math.inf if emitted is None else emitted)
        )
    return {
        "cost": known.cost_usd,
        "time": days,
        "energy": known.energy_mwh(),
        "carbon": math.inf if carbon is None else carbon,
    }[level]


def keeps_limits(scenario: Scenario, known: Figures) -> bool:
    """Whether a candidate keeps every limit, unknown carbon none."""
    user = scenario.constraints
    stretch = known.stretch(user.confidence)
    carbon = known.carbon_t(stretch)
    allowed = scenario.data.residency
    return (
        (allowed is None or known.evidence.country in allowed)
        and known.duration_at(user.confidence) <= (user.deadline_s or math.inf)
        and known.cost_at(user.confidence) <= (user.budget_usd or math.inf)
        and known.energy_mwh(stretch) <= (user.max_energy_mwh or math.inf)
        and not (scenario.counts_carbon and carbon is None)
        and (
            user.max_carbon_t is None
            or (carbon is not None and carbon <= user.max_carbon_t)
        )
    )


def best_values(scenario: Scenario, supply: Catalog) -> list[float] | None:
    """The least value of each level in turn; None where no candidate is left."""
    objective = scenario.objective
    left = [k for k in _walk(scenario, supply) if keeps_limits(scenario, k)]
    if not left:
        return None
    found = []
    for level in objective.levels:
        values = [value_of(objective, level, known) for known in left]
        least = min(values)
        found.append(least)
        edge = least + SAME * abs(least)
        left = [k for k, v in zip(left, values, strict=True) if v <= edge]
    return found


def reached(scenario: Scenario, plan: Plan) -> list[float]:
    """The value of each level that a plan has."""
    objective = scenario.objective
    carbon = math.inf if plan.carbon_t is None else plan.carbon_t
    found = {
        "cost": plan.cost_usd,
        "time": plan.duration_days,
        "energy": plan.energy_mwh or 0.0,
        "carbon": carbon,
    }
    emitted = carbon * objective.usd_per_tonne_co2 if objective.needs_carbon else 0.0
    found["weighted"] = (
        objective.cost_weight * plan.cost_usd
        + objective.usd_per_day * plan.duration_days
        + emitted
    )
    return [found[level] for level in objective.levels]


def assert_best(scenario: Scenario, supply: Catalog) -> Plan | None:
    """Hold the planner's answer against brute force; returns its plan."""
    expected = best_values(scenario, supply)
    result = plan_job(scenario, supply, alternatives=0)
    if expected is None:
        assert result.status == "infeasible"
        return None
    assert result.status == "optimal"
    assert result.plan is not None
    assert reached(scenario, result.plan) == pytest.approx(expected, rel=1e-6)
    assert result.proof.gap == 0.0
    assert result.proof.bound == pytest.approx(expected[0], rel=1e-6)
    return result.plan


@settings(max_examples=20)
@given(st.data())
def test_every_objective_equals_brute_force(data: st.DataObject) -> None:
    """Tests each level of the objective, under limits of every kind."""
    supply, base = random_catalog(data), scenario_of(QUESTION)
    days = data.draw(st.sampled_from([None, None, 4.0, 20.0]), label="days")
    user = replace(
        base.constraints,
        deadline_s=None if days is None else days * 86_400,
        budget_usd=data.draw(st.sampled_from([None, 3_000.0]), label="usd"),
        max_energy_mwh=data.draw(st.sampled_from([None, 0.6, 2.0]), label="MWh"),
        max_carbon_t=data.draw(st.sampled_from([None, 0.0, 0.3]), label="tonnes"),
        confidence=data.draw(st.sampled_from([0.5, 0.9]), label="confidence"),
    )
    objective = data.draw(OBJECTIVES, label="objective")
    assert_best(replace(base, constraints=user, objective=objective), supply)


def test_among_equals_the_next_aim_decides() -> None:
    """Tests three orders of the same aims where every grid emits nothing."""
    regions = [
        catalog().regions[name].model_copy(update={"grid_gco2_per_kwh": 0.0})
        for name in ("acme/east", "acme/island")
    ]
    supply, base = catalog().with_entries(regions=regions), scenario_of(QUESTION)
    plans = []
    orders: list[tuple[Aim, ...]] = [("cost",), ("time",), ("energy",)]
    for then in orders:
        scenario = replace(base, objective=Objective("carbon", then=then))
        plan = assert_best(scenario, supply)
        assert plan is not None
        assert plan.carbon_t == 0.0
        plans.append(plan)
    cheap, soon, lean = plans
    assert cheap.cost_usd < soon.cost_usd
    assert soon.duration_days < cheap.duration_days
    assert (lean.energy_mwh or 0.0) <= min(p.energy_mwh or 0.0 for p in plans)

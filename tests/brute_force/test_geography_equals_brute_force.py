"""Residency, copies of data and weights, and their prices, against brute force."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.catalog.load import Catalog
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Objective, Scenario
from solver.units import DAY
from tests.brute_force.test_objectives_equal_brute_force import (
    OBJECTIVES,
    assert_best,
    random_catalog,
    reached,
)
from tests.brute_force.test_planner_equals_brute_force import (
    OFFERS,
    QUESTION,
    _calendar,
)
from tests.verify.examples import catalog, scenario_of

PLACES = ("acme/east", "acme/island", "aws/us-east-1")
COUNTRIES = {"acme/east": "AA", "acme/island": "BB"}


def placed_catalog(data: st.DataObject, scenario: Scenario) -> Catalog:
    """Offers with deliveries in two countries, prices of egress and of reading."""
    supply = random_catalog(data)
    offers = [
        supply.offers[name].model_copy(update=_calendar(data, scenario, name))
        for name in OFFERS
    ]
    regions = [
        supply.regions[name].model_copy(update={"country": country})
        for name, country in COUNTRIES.items()
    ]
    price = st.sampled_from([None, 0.02, 3.0])
    egress = [
        catalog()
        .egress[name]
        .model_copy(update={"usd_per_gb": data.draw(price, label=name)})
        for name in ("acme/*>internet>0", "acme/*>internet>3", "acme/*>acme/*>0")
    ]
    read = data.draw(st.sampled_from([None, 0.5]), label="price of reading")
    shared = supply.storage["shared"].model_copy(
        update={"usd_per_gb_month": 2.0, "usd_per_gb_retrieved": read}
    )
    return supply.with_entries(
        offers=offers, regions=regions, egress=egress, storage=[shared]
    )


def placed(data: st.DataObject, scenario: Scenario) -> Scenario:
    """The scenario with data that lies and may lie somewhere, and weights to serve."""
    rate = data.draw(st.sampled_from([0.02, 0.2, 10.0]), label="Gb/s")
    where: dict[str, Any] = {
        "location": data.draw(st.sampled_from([None, *PLACES]), label="location"),
        "residency": data.draw(
            st.sampled_from([None, None, ("AA",), ("BB", "CC"), ("CC",)]),
            label="residency",
        ),
        "transfer_bytes_per_s": rate * 1e9 / 8,
    }
    serving = data.draw(st.sets(st.sampled_from(PLACES)), label="serving")
    return replace(
        scenario,
        data=replace(scenario.data, **where),
        serving=tuple(sorted(serving)),
    )


@settings(max_examples=20)
@given(st.data())
def test_places_equal_brute_force(data: st.DataObject) -> None:
    """Tests every layout, tier and start with copies that take days or minutes."""
    base = placed(data, scenario_of(QUESTION))
    supply = placed_catalog(data, base)
    days = data.draw(st.sampled_from([None, None, 8.0, 20.0]), label="days")
    user = replace(
        base.constraints,
        deadline_s=None if days is None else days * DAY,
        budget_usd=data.draw(st.sampled_from([None, 9_000.0]), label="usd"),
        confidence=data.draw(st.sampled_from([0.5, 0.9]), label="confidence"),
    )
    objective = data.draw(
        st.one_of(st.sampled_from([Objective("cost"), Objective("time")]), OBJECTIVES),
        label="objective",
    )
    scenario = replace(base, constraints=user, objective=objective)
    plan = assert_best(scenario, supply)
    if plan is not None and scenario.data.residency is not None:
        assert plan.country in scenario.data.residency


@settings(max_examples=25)
@given(st.data())
def test_more_freedom_never_worsens_a_plan(data: st.DataObject) -> None:
    """Tests a country more, a faster copy, a region less and a higher limit."""
    base = placed(data, scenario_of(QUESTION))
    supply = placed_catalog(data, base)
    limits = {
        "max_carbon_t": data.draw(st.sampled_from([None, 0.3, 1.0]), label="tonnes"),
        "max_energy_mwh": data.draw(st.sampled_from([None, 0.6, 2.0]), label="MWh"),
    }
    objective = data.draw(OBJECTIVES, label="objective")
    tight = replace(
        base,
        constraints=replace(base.constraints, **limits),
        objective=objective,
    )
    where = tight.data
    more = (*where.residency, "AA") if where.residency else None
    looser = [
        replace(tight, data=replace(where, residency=more)),
        replace(tight, data=replace(where, residency=None)),
        replace(tight, data=replace(where, transfer_bytes_per_s=2e9)),
        replace(tight, serving=tight.serving[1:]),
        *(
            replace(tight, constraints=replace(tight.constraints, **{name: limit * 2}))
            for name, limit in limits.items()
            if limit is not None
        ),
    ]
    plan = plan_job(tight, supply, alternatives=0).plan
    if plan is None:
        return
    least = reached(tight, plan)[0]
    for scenario in looser:
        better = plan_job(scenario, supply, alternatives=0).plan
        assert better is not None
        assert reached(tight, better)[0] <= least * (1 + 1e-9) + 1e-12


def test_copies_run_while_nodes_are_waited_for() -> None:
    """Tests the parts of a duration on shared storage and on the nodes' own drives."""
    base = scenario_of(QUESTION)
    where = replace(
        base.data,
        location="aws/us-east-1",
        transfer_bytes_per_s=base.data.size_bytes / (2 * DAY),
    )
    offers = [
        catalog().offers[name].model_copy(update={"lead_time_days": lead})
        for name, lead in zip(OFFERS, (1, 1, 1), strict=True)
    ]
    supply = catalog().with_entries(offers=offers)
    waits = {}
    for kinds in (("parallel_fs",), ("local_nvme", "nvme_raid")):
        user = replace(base.constraints, storage_kinds=kinds)
        scenario = replace(base, data=where, constraints=user)
        plan = assert_best_of_kind(scenario, supply)
        parts = plan.duration_parts_days
        assert parts["delivery"] == 1.0
        waits[kinds[0]] = parts["transfer"]
        paid = plan.gpu_hours / plan.gpus / 24
        held = plan.duration_days - parts["delivery"] - parts["queue"]
        nodes_needed = kinds[0] != "parallel_fs"
        assert paid == pytest.approx(held - (not nodes_needed) * parts["transfer"])
    assert waits["parallel_fs"] == pytest.approx(1.0), "a day of two runs meanwhile"
    assert waits["local_nvme"] == pytest.approx(2.0), "the drives come with the nodes"


def assert_best_of_kind(scenario: Scenario, supply: Catalog) -> Any:
    """The proved plan of a scenario that has one."""
    result = plan_job(scenario, supply, alternatives=0)
    assert result.status == "optimal"
    return result.plan

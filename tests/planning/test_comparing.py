"""Tests of comparisons: each row is what a separate solve of that value gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.performance.step_time import step_time
from solver.plan import Plan
from solver.planning.comparing import ComparedRow, Comparison, compare, compare_methods
from solver.planning.dimensions import DIMENSIONS, NO_NETWORK, NOT_KNOWN
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Scenario
from solver.search import Search
from tests.brute_force.test_search import FABRIC, LIMITS, OFFERS
from tests.planning.jobs import A100, H100, catalog, job

MANY: list[dict[str, Any]] = [
    A100,
    {**A100, "name": "b", "region": "jp", "usd_per_gpu_hour": 2.05},
    {**A100, "name": "c", "provider": "a", "region": "us", "usd_per_gpu_hour": 2.1},
    {**H100, "usd_per_gpu_hour": 4.2},
    {**A100, "name": "far", "region": "jp", "usd_per_gpu_hour": 9.0},
    {**A100, "name": "cheap", "spot_usd_per_gpu_hour": 0.9, "usd_per_gpu_hour": 2.2},
]


REGIONS = ("sg", "jp", "us", "kr")
"""Where the same servers may stand."""


def of_value(scenario: Scenario, by: str, value: str) -> Scenario:
    """The scenario of somebody who allows one value alone."""
    user = scenario.constraints
    changes: dict[str, Any] = {
        "gpu": {"gpu_types": (value,), "gpu_exclude": ()},
        "provider": {"providers": (value,)},
        "region": {"regions": (value,)},
        "country": {"countries": (value,)},
        "purchase": {"purchase": (value,), "stated": user.stated | {"purchase"}},
    }
    return replace(scenario, constraints=replace(user, **changes[by]))


def rows(comparison: Comparison) -> dict[str, ComparedRow]:
    """Rows by value."""
    return {row.value: row for row in comparison.rows}


def compared(
    offers: list[dict[str, Any]] | None = None, by: str = "region", **keys: Any
) -> Comparison:
    """The comparison of a small job."""
    everything = keys.pop("everything", False)
    asked = job(MANY if offers is None else offers, **keys)
    return compare(asked, catalog(), by, everything=everything)


def plan_of(row: ComparedRow) -> Plan:
    """The plan of a row that has one."""
    assert row.plan is not None, row.reasons
    return row.plan


@pytest.mark.parametrize("by", ["gpu", "provider", "region", "country", "purchase"])
@pytest.mark.parametrize("objective", ["cost", "time", "carbon", ["energy", "time"]])
def test_rows_equal_separate_solves(by: str, objective: Any) -> None:
    """Tests each row against a solve with that value alone, plan for plan."""
    scenario = job(MANY, {"deadline": "2 days"}, objective=objective)
    found = compare(scenario, catalog(), by)
    assert len(found.rows) > 1
    for row in found.rows:
        alone = plan_job(of_value(scenario, by, row.value), catalog(), alternatives=0)
        assert (row.status, row.plan) == (alone.status, alone.plan), row.value


@settings(max_examples=15)
@given(
    offers=OFFERS,
    limits=LIMITS,
    by=st.sampled_from(["gpu", "region"]),
    objective=st.sampled_from(["cost", "time", {"cost": 1, "usd_per_day": 50}]),
)
def test_rows_equal_separate_solves_on_random_catalogs(
    offers: list[dict[str, Any]], limits: dict[str, Any], by: str, objective: Any
) -> None:
    """Tests plans, and that a row without one has a reason, on random offers."""
    named = [{"name": f"o{i}", **o} for i, o in enumerate(offers)]
    work = {"tokens": "1B", "global_batch_size": 48}
    scenario = job(named, limits, work, objective=objective)
    for row in compare(scenario, catalog(), by).rows:
        alone = plan_job(of_value(scenario, by, row.value), catalog(), alternatives=0)
        assert (row.status, row.plan) == (alone.status, alone.plan), row.value
        assert bool(row.reasons) == (row.plan is None)


def test_a_shipped_scenario_by_country() -> None:
    """Tests rows of the whole catalog against separate solves."""
    from solver.scenario.load import load_scenario

    scenario = load_scenario("llama3-8b-apac", catalog())
    found = compare(scenario, catalog(), "country")
    assert {row.value for row in found.rows} == {"SG", "JP", "HK", "KR"}
    for row in found.rows:
        alone = plan_job(
            of_value(scenario, "country", row.value), catalog(), alternatives=0
        )
        assert (row.status, row.plan) == (alone.status, alone.plan), row.value
    best = plan_job(scenario, catalog(), alternatives=0)
    assert found.best is not None
    assert found.best.plan == best.plan


def test_best_first_and_marked() -> None:
    """Tests the order, and that the best row is what a plain solve gives."""
    found = compared()
    costs = [plan_of(row).cost_usd for row in found.rows]
    assert costs == sorted(costs)
    assert found.best is found.rows[0]
    whole = plan_job(job(MANY), catalog(), alternatives=0)
    assert found.best.plan == whole.plan
    fastest = compared(objective="time")
    days = [plan_of(row).duration_days for row in fastest.rows]
    assert days == sorted(days)


def test_sorted_by_every_objective() -> None:
    """Tests that what is minimised rises down the rows, level by level."""
    for objective, name in (("carbon", "carbon_t"), (["energy", "time"], "energy_mwh")):
        found = compared(objective=objective)
        values = [getattr(plan_of(row), name) for row in found.rows]
        assert values == sorted(values)
        whole = plan_job(job(MANY, objective=objective), catalog(), alternatives=0)
        assert found.best is not None
        assert found.best.plan == whole.plan


def test_networks_and_nodes_without_one() -> None:
    """Tests that a server without a fabric is a value of its own."""
    alone = {k: v for k, v in A100.items() if k != "network"}
    found = compared([A100, {**alone, "name": "x"}, H100], "network")
    values = rows(found)
    assert NO_NETWORK in values
    assert plan_of(values[NO_NETWORK]).nodes == 1
    assert len(values) == 3


def test_countries_that_are_not_known() -> None:
    """Tests that an offer of an unknown country is told as such."""
    found = compared([A100, {**A100, "name": "x", "region": "somewhere"}], "country")
    assert set(rows(found)) == {"SG", NOT_KNOWN}


def test_the_own_limit_narrows_the_rows() -> None:
    """Tests that other values are left out, or shown as forbidden when asked."""
    limits = {"countries": ["SG"]}
    found = compared(by="country", constraints=limits)
    assert list(rows(found)) == ["SG"]
    assert found.left_out == 2
    every = compared(by="country", constraints=limits, everything=True)
    assert {v: r.forbidden_by for v, r in rows(every).items()} == {
        "SG": None,
        "JP": "countries",
        "US": "countries",
    }
    assert every.best is rows(every)["SG"]
    assert every.left_out == 0


def test_a_forbidden_value_is_never_best() -> None:
    """Tests a country that would be cheaper but is not allowed."""
    limits = {"countries": ["JP"]}
    every = compared(by="country", constraints=limits, everything=True)
    assert every.best is not None
    assert every.best.value == "JP"
    assert plan_of(every.rows[0]).cost_usd < plan_of(every.best).cost_usd
    assert every.rows[0].forbidden_by == "countries"


def test_all_purchase_kinds_are_compared() -> None:
    """Tests that what the scenario says of purchase kinds plays no part."""
    for limits in ({}, {"purchase": ["on_demand"]}):
        found = compared(by="purchase", constraints=limits)
        assert set(rows(found)) == {"on_demand", "spot"}
        assert found.best is not None
        assert found.best.value == "spot"


def test_values_without_usable_offers() -> None:
    """Tests that a named value is shown with the rule that leaves nothing of it."""
    limits = {"countries": ["SG", "JP"], "gpus": {"types": ["A100"]}}
    offers = [A100, H100]
    named = rows(compared(offers, "country", constraints=limits))
    assert [m.id for m in named["JP"].reasons] == ["short.removed"]
    assert named["JP"].reasons[0].values["rule"] == "gpu_types"
    unnamed = compared(offers, "country", constraints={"gpus": {"types": ["A100"]}})
    assert set(rows(unnamed)) == {"SG"}
    assert unnamed.left_out == 1
    every = compared(
        offers, "country", constraints={"gpus": {"types": ["A100"]}}, everything=True
    )
    assert rows(every)["JP"].status == "infeasible"


def test_nothing_at_all() -> None:
    """Tests a comparison in which no value has a plan."""
    found = compared(constraints={"deadline": "1 min"})
    assert found.best is None
    assert found.planned == ()
    assert {row.status for row in found.rows} == {"infeasible"}
    assert found.cost_difference(found.rows[0]) is None


def test_no_time() -> None:
    """Tests that rows that no time is left for are unknown, not infeasible."""
    found = compared(limits={"time": "0.000001 s"})
    assert {row.status for row in found.rows} == {"unknown"}


def test_physics_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that no layout's step time is evaluated twice on one kind of hardware."""
    seen: Counter[tuple[Any, ...]] = Counter()

    def counted(*model: Any) -> Any:
        hardware, layouts = model[3], model[4]
        for i in range(len(layouts)):
            seen[(id(hardware), *layouts.row(i).values())] += 1
        return step_time(*model)

    monkeypatch.setattr("solver.search.step_time", counted)
    twins = [{**A100, "name": f"o{i}", "region": r} for i, r in enumerate(REGIONS)]
    found = compared(twins, constraints={"gpus": {"max": 16}})
    assert len(found.planned) == len(REGIONS)
    assert seen
    rows = Counter(key[1:] for key in seen.elements())
    assert set(rows.values()) == {1}


def test_ctrl_c_ends_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that rows before Ctrl-C stay, and that no later one is asked."""
    evaluated: list[int] = []
    run_class = Search.run_class

    def interrupted(self: Search, index: int, group: Any) -> None:
        evaluated.append(index)
        if len(evaluated) == 2:
            raise KeyboardInterrupt
        run_class(self, index, group)

    monkeypatch.setattr(Search, "run_class", interrupted)
    found = compared()
    states = [row.status for row in found.rows]
    assert states.count("optimal") == 1
    assert states.count("unknown") == len(states) - 1 > 1
    assert len(evaluated) == 2


def test_methods() -> None:
    """Tests rows of methods against solves of them, and one that cannot be asked."""
    from solver.errors import Issue

    full = job(MANY)
    lora = job(MANY, workload={"method": "lora"})
    issue = Issue("wrong", "qlora is not for this", path="workload.method")
    found = compare_methods({"full": full, "lora": lora, "qlora": (issue,)}, catalog())
    told = rows(found)
    for method, scenario in {"full": full, "lora": lora}.items():
        alone = plan_job(scenario, catalog(), alternatives=0)
        assert told[method].plan == alone.plan
    assert told["qlora"].status == "refused"
    assert "qlora is not for this" in told["qlora"].reasons[0].text


def test_json_rows() -> None:
    """Tests keys and figures of the JSON object."""
    slow = {"name": "x", "gpu": "l4", "gpus_per_node": 1, "usd_per_gpu_hour": 9}
    limits = {"deadline": "12 hours"}
    data = compared([A100, slow], "gpu", constraints=limits).as_dict()
    assert (data["by"], data["objective"], data["left_out"]) == ("gpu", "cost", 0)
    first, last = data["rows"][0], data["rows"][-1]
    assert first["best"]
    assert set(first["difference_usd"].values()) == {0.0}
    assert first["reason"] is None
    assert last["plan"] is None
    assert last["difference_usd"] is None
    assert last["reason"].startswith("soonest ")
    assert last["reasons"][0]["id"] == "short.deadline"


def test_every_dimension_has_a_rule() -> None:
    """Tests that a dimension is restricted by a rule that can be left out."""
    from solver.planning.relaxing import RELAXABLE

    assert {d.rule for d in DIMENSIONS.values()} <= set(RELAXABLE)
    assert FABRIC["kind"] == "roce"

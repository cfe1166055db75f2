"""Tests that each requirement can be left out, and that what is named opens a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from solver.plan import Explanation, PlanResult
from solver.planning.relaxing import (
    ALL_PURCHASE,
    LIFTED,
    RELAXABLE,
    STOCK_WITHOUT_LIMIT,
    in_force,
    without,
)
from solver.planning.single_job import plan_job
from solver.rules import RULE_IDS, rule
from solver.scenario.scenario import Constraints, Scenario
from solver.search import limits_of, search
from solver.setting import setting_of
from tests.planning.jobs import A100, H100, catalog, job

EVERYTHING: dict[str, Any] = {
    "deadline": "9 days",
    "budget": 9999,
    "max_energy": "9 MWh",
    "max_carbon": "9 t",
    "min_tokens_per_s": 1000,
    "regions": ["sg"],
    "countries": ["SG"],
    "providers": ["a"],
    "gpus": {"types": ["A100"], "exclude": ["H100"], "max": 64, "per_node": [8]},
    "intra_node": {"min_gb_per_s": 100, "kinds": ["nvswitch"]},
    "network": {"min_gbps_per_gpu": 100, "kinds": ["infiniband"]},
    "storage": {"min_read": "1 GB/s", "kinds": ["local_nvme"]},
    "purchase": ["on_demand"],
    "parallelism": {"tp": 1, "recompute": ["none"]},
    "memory_headroom": 0.2,
}

LIMITED: dict[str, Any] = {
    **A100,
    "max_nodes_per_cluster": 4,
    "lead_time": "3 days",
    "min_term": "30 hours",
}
"""An offer that states something for every rule of supply."""

OWN: dict[str, Any] = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}
"""Nodes that cost nothing."""

FIELDS_OF_RULE: dict[str, set[str]] = {
    "memory": {"memory_headroom"},
    "precision": set(),
    "residency": set(),
    "parallelism": {"parallelism", "recompute"},
    "regions": {"regions"},
    "countries": {"countries"},
    "providers": {"providers"},
    "gpu_types": {"gpu_types", "gpu_exclude"},
    "gpus": {"gpus", "gpus_per_node"},
    "intra_node": {"intra_node_min_gb_per_s", "intra_node_kinds"},
    "network": {"network_min_gbps_per_gpu", "network_kinds"},
    "storage": {"storage_kinds", "storage_min_read_bytes_per_s"},
    "purchase": {"purchase"},
    "throughput": {"min_tokens_per_s"},
    "deadline": {"deadline_s"},
    "budget": {"budget_usd"},
    "energy": {"max_energy_mwh"},
    "carbon": {"max_carbon_t"},
    "stock": set(),
    "cluster": set(),
    "quota": set(),
    "spares": set(),
    "lead_time": set(),
    "term": set(),
}

Keys = dict[str, Any]


def solved(**keys: Any) -> PlanResult:
    """The answer without runners-up."""
    return plan_job(job(**keys), catalog(), alternatives=0)


def refused(**keys: Any) -> Explanation:
    """Why there is no plan."""
    result = solved(**keys)
    assert result.status == "infeasible"
    assert result.explanation is not None
    return result.explanation


def test_relaxable_rules_are_rules_and_not_physics() -> None:
    """Tests that only what a user chose can be given up, in the order of the rules."""
    assert set(RELAXABLE) == set(FIELDS_OF_RULE)
    assert all(rule(name).kind != "physics" for name in RELAXABLE)
    given_up = [name for name in RULE_IDS if name in RELAXABLE]
    assert set(given_up) == set(RELAXABLE)


def forced(scenario: Scenario) -> tuple[str, ...]:
    """The rules in force on a scenario."""
    return in_force(setting_of(scenario, catalog()))


@pytest.mark.parametrize("name", RELAXABLE)
def test_a_rule_left_out_leaves_all_others(name: str) -> None:
    """Tests that exactly the fields of one rule are back at 'no limit'."""
    quota = {"quota": [{"provider": "a", "max_nodes": 3}]}
    keys = {"failures": {"spares": 1}, "data": {"residency": ["SG"]}}
    work = {"precision": "fp8"}
    scenario = job([LIMITED, H100], EVERYTHING, work, stock=quota, **keys)
    assert set(forced(scenario)) == set(RELAXABLE)
    relaxed = without(scenario, name)
    changed = {
        f.name
        for f in fields(Constraints)
        if f.name != "stated"
        and getattr(relaxed.constraints, f.name)
        != getattr(scenario.constraints, f.name)
    }
    assert changed == FIELDS_OF_RULE[name]
    if name == "stock":
        assert relaxed.stock_at_least == STOCK_WITHOUT_LIMIT
        return
    assert name not in forced(relaxed)
    assert set(forced(relaxed)) == set(RELAXABLE) - {name}
    assert relaxed.lifted == ({name} if name in LIFTED else set())
    if name == "precision":
        assert relaxed.workload.precision == "bf16"
        relaxed = replace(relaxed, workload=scenario.workload)
    assert (relaxed.data != scenario.data) == (name == "residency")
    kept = {
        "constraints": scenario.constraints,
        "lifted": frozenset[str](),
        "data": scenario.data,
    }
    assert replace(relaxed, **kept) == scenario


def test_a_free_scenario_leaves_stock_and_purchase() -> None:
    """Tests that what is on by default is all that is in force."""
    assert forced(job([A100])) == ("purchase", "stock")
    every = job([A100], {"purchase": list(ALL_PURCHASE)})
    assert forced(every) == ("stock",)


def _with(keys: Keys, **constraints: Any) -> Keys:
    return {**keys, "constraints": {**keys.get("constraints", {}), **constraints}}


def _stocked(keys: Keys, nodes: int) -> Keys:
    return {**keys, "offers": [{**keys["offers"][0], "max_nodes": nodes}]}


def _offered(keys: Keys, **changes: Any) -> Keys:
    return {**keys, "offers": [{**keys["offers"][0], **changes}]}


CASES: list[tuple[str, str, Keys]] = [
    (
        "memory",
        "memory",
        {
            "model": "llama-2-7b",
            "offers": [{**A100, "max_nodes": 1}],
            "workload": {"start": "checkpoint"},
            "constraints": {"memory_headroom": 0.8},
        },
    ),
    ("precision", "catalog", {"offers": [A100], "workload": {"precision": "nvfp4"}}),
    ("parallelism", "layout", {"constraints": {"parallelism": {"dp": 3}}}),
    (
        "residency",
        "catalog",
        {"data": {"residency": ["JP"]}, "constraints": {"providers": ["a"]}},
    ),
    ("residency", "catalog", {"data": {"residency": "EU"}}),
    (
        "residency",
        "catalog",
        {"offers": [{**A100, "region": "moon base"}], "data": {"residency": ["EEA"]}},
    ),
    ("energy", "constraints", {"constraints": {"max_energy": "9 kWh"}}),
    ("energy", "constraints", {"constraints": {"max_energy": 0.01, "confidence": 0.9}}),
    ("carbon", "constraints", {"constraints": {"max_carbon": "9 kg"}}),
    ("carbon", "constraints", {"constraints": {"max_carbon": 0, "confidence": 0.8}}),
    (
        "carbon",
        "catalog",
        {
            "offers": [{**A100, "region": "moon base"}],
            "constraints": {"max_carbon": "9 t"},
        },
    ),
    (
        "carbon",
        "catalog",
        {"offers": [{**A100, "region": "moon base"}], "objective": "carbon"},
    ),
    (
        "regions",
        "catalog",
        {"constraints": {"regions": ["jp"], "gpus": {"types": ["A100"]}}},
    ),
    (
        "gpu_types",
        "catalog",
        {"constraints": {"regions": ["jp"], "gpus": {"types": ["A100"]}}},
    ),
    (
        "gpu_types",
        "catalog",
        {"constraints": {"gpus": {"exclude": ["A100", "H100"]}}},
    ),
    (
        "countries",
        "catalog",
        {"constraints": {"countries": ["JP"], "providers": ["a"]}},
    ),
    (
        "providers",
        "catalog",
        {"constraints": {"countries": ["JP"], "providers": ["a"]}},
    ),
    ("gpus", "layout", {"constraints": {"gpus": {"max": 7}}}),
    ("gpus", "layout", {"constraints": {"gpus": {"min": 4000}}}),
    ("gpus", "catalog", {"constraints": {"gpus": {"per_node": [4]}}}),
    (
        "gpus",
        "layout",
        {"constraints": {"gpus": {"max": 4, "per_node": [8, 6], "exclude": ["H200"]}}},
    ),
    (
        "gpus",
        "catalog",
        {"constraints": {"gpus": {"max": 4, "per_node": [4], "exclude": ["H200"]}}},
    ),
    (
        "gpu_types",
        "catalog",
        {"constraints": {"gpus": {"types": ["A100", "H200"], "exclude": ["A100"]}}},
    ),
    (
        "countries",
        "catalog",
        {
            "offers": [{**A100, "region": "moon base"}],
            "constraints": {"countries": ["JP"]},
        },
    ),
    (
        "regions",
        "catalog",
        {
            "offers": [{**A100, "region": "sg [1], east"}],
            "constraints": {"regions": ["jp"]},
        },
    ),
    (
        "intra_node",
        "catalog",
        {"constraints": {"intra_node": {"min_gb_per_s": 900, "kinds": ["pcie"]}}},
    ),
    (
        "network",
        "catalog",
        {"constraints": {"network": {"kinds": ["ethernet"], "min_gbps_per_gpu": 800}}},
    ),
    (
        "storage",
        "catalog",
        {
            "constraints": {
                "storage": {"kinds": ["object_store"], "min_read": "90 TB/s"}
            }
        },
    ),
    ("intra_node", "catalog", {"constraints": {"intra_node": {"min_gb_per_s": 900}}}),
    ("intra_node", "catalog", {"constraints": {"intra_node": {"kinds": ["pcie"]}}}),
    ("network", "catalog", {"constraints": {"network": {"kinds": ["ethernet"]}}}),
    ("network", "catalog", {"constraints": {"network": {"min_gbps_per_gpu": 800}}}),
    ("storage", "catalog", {"constraints": {"storage": {"kinds": ["object_store"]}}}),
    ("storage", "constraints", {"constraints": {"storage": {"min_read": "90 TB/s"}}}),
    ("purchase", "catalog", {"constraints": {"purchase": ["spot"]}}),
    ("throughput", "constraints", {"constraints": {"min_tokens_per_s": "800M"}}),
    (
        "deadline",
        "constraints",
        {"constraints": {"deadline": "4.2 hours"}, "workload": {"tokens": "40B"}},
    ),
    ("budget", "constraints", {"constraints": {"budget": 20}}),
    (
        "stock",
        "constraints",
        {
            "offers": [{**A100, "max_nodes": 1}],
            "constraints": {"deadline": "9 hours"},
            "workload": {"tokens": "40B"},
        },
    ),
    (
        "cluster",
        "constraints",
        {
            "offers": [{**A100, "max_nodes_per_cluster": 1}],
            "constraints": {"deadline": "9 hours"},
            "workload": {"tokens": "40B"},
        },
    ),
    (
        "cluster",
        "constraints",
        {
            "offers": [
                {**H100, "max_nodes": 1, "spot_usd_per_gpu_hour": 2},
                {**A100, "max_nodes_per_cluster": 1},
            ],
            "constraints": {"deadline": "9 hours", "gpus": {"types": ["A100"]}},
            "workload": {"tokens": "40B"},
        },
    ),
    (
        "quota",
        "constraints",
        {
            "offers": [A100],
            "stock": {"quota": [{"max_gpus": 8}, {"provider": "a", "max_gpus": 64}]},
            "constraints": {"deadline": "9 hours"},
            "workload": {"tokens": "40B"},
        },
    ),
    (
        "quota",
        "catalog",
        {
            "stock": {
                "quota": [
                    {"region": "sg", "max_nodes": 0},
                    {"gpu": "A100", "purchase": "on_demand", "max_gpus": 4},
                    {"gpu": "H100", "max_gpus": 0},
                ]
            },
            "constraints": {"countries": ["SG"]},
        },
    ),
    ("spares", "constraints", {"offers": [A100], "failures": {"spares": 4}}),
    (
        "spares",
        "constraints",
        {
            "offers": [{**A100, "max_nodes": 20}],
            "failures": {"gpu_mtbf": 200, "replacement": "1 day", "spares": [0, 12]},
            "constraints": {"deadline": "2 days", "gpus": {"min": 32}, "budget": 4700},
            "workload": {"tokens": "200B"},
        },
    ),
    (
        "lead_time",
        "constraints",
        {
            "offers": [{**A100, "lead_time": "14 days"}],
            "constraints": {"deadline": "10 days"},
        },
    ),
    (
        "lead_time",
        "constraints",
        {
            "offers": [
                {
                    **A100,
                    "max_nodes": None,
                    "lead_time": "20 days",
                    "available": [
                        {"nodes": 1},
                        {"from": "2026-12-06", "nodes": 3},
                    ],
                },
                {**H100, "lead_time": "30 days"},
            ],
            "constraints": {"deadline": "10 days", "confidence": 0.9},
            "workload": {"tokens": "100B"},
        },
    ),
    (
        "term",
        "constraints",
        {
            "offers": [{**A100, "min_term": "1 year"}],
            "constraints": {"budget": 3000},
        },
    ),
    (
        "term",
        "constraints",
        {
            "offers": [
                {**A100, "purchase": "reserved", "min_term": "3 years"},
                {**H100, "min_term": "50 days"},
            ],
            "constraints": {"budget": 3000, "confidence": 0.8},
        },
    ),
    (
        "term",
        "constraints",
        {
            "offers": [{**A100, "purchase": "reserved", "min_term": "1 day"}],
            "constraints": {"budget": 300, "purchase": ["reserved"]},
        },
    ),
    *(
        (
            rule_id,
            kind,
            {
                "offers": [{**OWN, **offer}],
                "constraints": constraints,
                "stock": stock,
            },
        )
        for rule_id, kind, offer, constraints, stock in (
            ("quota", "catalog", {}, {}, {"quota": [{"max_nodes": 0}]}),
            (
                *("cluster", "layout", {"max_nodes_per_cluster": 1}),
                *({"gpus": {"min": 9}}, {}),
            ),
            (
                *("lead_time", "constraints", {"lead_time": "9 days"}),
                *({"deadline": "8 days"}, {}),
            ),
        )
    ),
]


@pytest.mark.parametrize(("name", "kind", "keys"), CASES)
def test_what_is_named_opens_a_plan(name: str, kind: str, keys: Keys) -> None:
    """Tests that the override that is named, typed as it stands, opens a plan."""
    explanation = refused(**keys)
    assert explanation.kind == kind
    assert name in explanation.conflict
    found = next(r for r in explanation.relaxations if r["constraint"] == name)
    assert found["now"]
    assert found["needed"]
    if found["set"] is None:  # a stated stock is the owner's to change
        assert name == "stock"
        opened = solved(**_stocked(keys, found["needed_value"]))
    else:
        opened = solved(**keys, overrides=(found["set"],))
    assert opened.status == "optimal"
    assert opened.plan is not None
    assert found["opens"]["gpus"] > 0
    sets = ("regions", "countries", "residency", "providers", "gpu_types", "purchase")
    if name in (*sets, *LIFTED):
        assert opened.plan.offer == found["opens"]["offer"]
        assert opened.plan.cost_at_confidence_usd == pytest.approx(
            found["opens"]["cost_usd"], abs=0.01
        )


def test_every_relaxable_rule_has_a_case() -> None:
    """Tests that a new rule can't be forgotten here."""
    assert {name for name, *_ in CASES} == set(RELAXABLE)


def test_a_term_is_told_as_it_can_be_stated() -> None:
    """Tests that below one day hours are told, and that a reserved offer keeps some."""
    offer = {**A100, "purchase": "reserved", "min_term": "1 day", "max_nodes": 1}
    short = {"workload": {"tokens": "1M"}, "overheads": {"setup": 0}}
    rented = {"offers": [offer], **short}
    told = {}
    for budget in (100, 15):
        limits = {"budget": budget, "purchase": ["reserved"]}
        found = refused(constraints=limits, **rented)
        assert set(found.conflict) == {"budget", "term"}
        told[budget] = [r for r in found.relaxations if r["constraint"] == "term"]
    (term,) = told[100]
    assert (term["needed_value"], term["unit"]) == (6, "hours")  # 8 x $2 x 6 h = $96
    assert term["set"] == "offers[0].min_term=6 hours"
    assert not told[15], "an hour is $16"


@pytest.mark.parametrize(
    ("name", "keys", "less"),
    [
        (
            "throughput",
            {"constraints": {"min_tokens_per_s": "800M"}},
            lambda keys, found: _with(keys, min_tokens_per_s=found["needed_value"] + 2),
        ),
        (
            "budget",
            {"constraints": {"budget": 20}},
            lambda keys, found: _with(keys, budget=found["needed_value"] - 1),
        ),
        (
            "energy",
            {"constraints": {"max_energy": "9 kWh"}},
            lambda keys, found: _with(
                keys, max_energy=f"{found['needed_value'] * 0.99:.9f} MWh"
            ),
        ),
        (
            "carbon",
            {"constraints": {"max_carbon": "9 kg", "confidence": 0.9}},
            lambda keys, found: _with(
                keys, max_carbon=f"{found['needed_value'] * 0.99:.9f} t"
            ),
        ),
        (
            "stock",
            {
                "offers": [{**A100, "max_nodes": 1}],
                "constraints": {"deadline": "9 hours"},
                "workload": {"tokens": "40B"},
            },
            lambda keys, found: _stocked(keys, found["needed_value"] - 1),
        ),
        (
            "gpus",
            {"constraints": {"gpus": {"max": 7}}},
            lambda keys, found: _with(keys, gpus={"max": found["needed_value"] - 1}),
        ),
        (
            "cluster",
            {
                "offers": [{**A100, "max_nodes_per_cluster": 1}],
                "constraints": {"deadline": "9 hours"},
                "workload": {"tokens": "40B"},
            },
            lambda keys, found: _offered(
                keys, max_nodes_per_cluster=found["needed_value"] - 1
            ),
        ),
        (
            "quota",
            {
                "offers": [A100],
                "stock": {"quota": [{"max_gpus": 8}]},
                "constraints": {"deadline": "9 hours"},
                "workload": {"tokens": "40B"},
            },
            lambda keys, found: {
                **keys,
                "stock": {"quota": [{"max_gpus": found["needed_value"] - 1}]},
            },
        ),
        (
            "spares",
            {"offers": [A100], "failures": {"spares": [4, 5]}},
            lambda keys, found: {
                **keys,
                "failures": {"spares": found["needed_value"] + 1},
            },
        ),
        (
            "lead_time",
            {
                "offers": [{**A100, "lead_time": "14 days"}],
                "constraints": {"deadline": "10 days"},
            },
            lambda keys, found: _offered(
                keys, lead_time=f"{found['needed_value'] + 1} days"
            ),
        ),
        (
            "term",
            {
                "offers": [{**A100, "min_term": "1 year"}],
                "constraints": {"budget": 3000},
            },
            lambda keys, found: _offered(
                keys, min_term=f"{found['needed_value'] + 1} days"
            ),
        ),
        (
            "deadline",
            {"constraints": {"deadline": "4.2 hours"}, "workload": {"tokens": "40B"}},
            lambda keys, found: _with(
                keys, deadline=f"{found['needed_value'] - 0.1:.1f} days"
            ),
        ),
    ],
)
def test_a_little_less_opens_none(
    name: str, keys: Keys, less: Callable[[Keys, Keys], Keys]
) -> None:
    """Tests that the named number is the least that would do, to its last digit."""
    explanation = refused(**keys)
    found = next(r for r in explanation.relaxations if r["constraint"] == name)
    assert solved(**less(keys, found)).status == "infeasible"


@pytest.mark.parametrize(
    "constraints",
    [
        {"countries": ["KR"], "gpus": {"types": ["h200-sxm-141gb"]}},
        {"countries": ["KR"], "purchase": ["spot"], "budget": 50},
        {"deadline": "4.2 hours", "budget": 20, "countries": ["SG"]},
    ],
)
def test_a_conflict_is_minimal(constraints: dict[str, Any]) -> None:
    """Tests that requirements in conflict allow nothing, and without one of them do."""
    scenario = job([A100, H100], constraints)
    explanation = refused(constraints=constraints)
    for found in explanation.relaxations:
        assert opens(without(scenario, found["constraint"]))
    if explanation.relaxations:
        return
    only = scenario
    for name in forced(scenario):
        if name not in explanation.conflict:
            only = without(only, name)
    assert not opens(only)
    for name in explanation.conflict:
        assert opens(without(only, name)), name


def opens(scenario: Scenario) -> bool:
    """Whether any candidate is left, as the search sees it."""
    return (
        search(setting_of(scenario, catalog()), limits_of(scenario)).table is not None
    )


def test_counts_are_of_the_offers_removed() -> None:
    """Tests that a 'no' of the catalog counts every offer once, by its first rule."""
    explanation = refused(constraints={"countries": ["KR"], "purchase": ["spot"]})
    assert explanation.kind == "catalog"
    assert explanation.counts == {"countries": 2}
    assert "2" in explanation.summary


def test_a_feasible_scenario_explains_nothing() -> None:
    """Tests that there is no explanation beside a plan."""
    assert solved().explanation is None

"""Tests of the integers that CP-SAT is fed: rounding, labels, order and rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from solver.candidates import CandidateTable, objective_values
from solver.cpsat.table import (
    AllowedSet,
    AllowedValues,
    Bound,
    JobTable,
    Term,
    satisfied,
)
from solver.planning import model_table
from solver.planning.model_table import Scale, canonical_order, job_table
from solver.planning.single_job import floor_of
from solver.search import limits_of, within_limits
from solver.setting import Setting
from tests.planning.jobs import A100, H100, job
from tests.settings import all_candidates, toy

SCALE = Scale(usd=0.01, seconds=0.5, kwh=0.1, kg=0.2, objective=0.02)


def found(*offers: dict[str, Any], **keys: Any) -> tuple[Setting, CandidateTable]:
    """Every candidate of the toy job within its limits."""
    setting = toy(*(offers or (A100, H100)), **keys)
    table = all_candidates(setting)
    ok = within_limits(table, limits_of(setting.scenario))
    return setting, table.take(np.flatnonzero(ok))


def made(
    *offers: dict[str, Any], **keys: Any
) -> tuple[Setting, CandidateTable, JobTable]:
    """The same with the table of integers."""
    setting, table = found(*offers, **keys)
    return setting, table, job_table(setting, table, SCALE)


def test_spent_is_rounded_up_and_delivered_down() -> None:
    """Tests that an integer never says less is spent, or more delivered, than is."""
    _, table, whole = made(constraints={"confidence": 0.9})
    q = whole.quantities
    spent = {
        "cost": (table.cost_usd, 0.01),
        "cost_at_confidence": (table.cost_limit_usd, 0.01),
        "duration": (table.duration_s, 0.5),
        "duration_at_confidence": (table.duration_limit_s, 0.5),
        "energy": (table.energy_kwh, 0.1),
        "energy_at_confidence": (table.energy_limit_kwh, 0.1),
        "carbon": (table.carbon_kg, 0.2),
        "carbon_at_confidence": (table.carbon_limit_kg, 0.2),
        "step_time": (table.step_time_s, 1e-6),
        "memory": (table.memory_bytes, 2**20),
    }
    for name, (values, unit) in spent.items():
        excess = q[name] * unit - values
        assert (excess >= -1e-6 * unit).all(), name
        assert (excess < unit * (1 + 1e-6)).all(), name
    reads = np.minimum(table.read_bytes_per_s, 1e15)
    short = reads - q["storage_read"] * 1e6
    assert ((short >= 0) & (short < 1e6)).all()


def test_pace_is_that_at_the_confidence_asked() -> None:
    """Tests that tokens/s are divided by e^(sigma z), in thousandths, rounded down."""
    _, table, whole = made(constraints={"confidence": 0.9})
    pace = table.tokens_per_s / np.exp(1.2815515655446004 * table.sigma)
    short = pace - whole.quantities["tokens_per_s"] * 1e-3
    assert (short >= -1e-6).all()
    assert (short < 1e-3 + 1e-6).all()


def test_layout_columns_are_those_of_the_layouts() -> None:
    """Tests degrees and GPUs of every row."""
    _, table, whole = made()
    for name in model_table.LAYOUT_QUANTITIES:
        assert (whole.quantities[name] == getattr(table.layouts, name)).all(), name
    assert (whole.quantities["gpus"] == table.layouts.nodes * 8).all()


def test_candidates_that_fit_have_no_excess() -> None:
    """Tests that candidates keep memory and stock, and changed ones are over."""
    setting, table, whole = made()
    assert not whole.quantities["memory_excess"].any()
    assert not whole.quantities["stock_excess"].any()
    capacity = np.array([g.capacity_bytes for g in setting.classes])[table.group]
    over = replace(table, memory_bytes=capacity + 1)
    excess = job_table(setting, over, SCALE).quantities["memory_excess"]
    assert (excess == 1).all(), "a byte too many is a MiB too many"
    setting.arrays.stock_nodes[:] = 0
    excess = job_table(setting, table, SCALE).quantities["stock_excess"]
    assert (excess == table.layouts.nodes).all()
    assert not whole.quantities["cluster_excess"].any()
    setting.arrays.cluster_nodes[:] = 1
    excess = job_table(setting, table, SCALE).quantities["cluster_excess"]
    assert (excess == table.layouts.nodes - 1).all()


def test_labels_are_those_of_the_offers() -> None:
    """Tests that each row's label is its offer's GPU, region, country and so on."""
    alone = {k: v for k, v in A100.items() if k not in ("network", "region")}
    setting, table, whole = made({**alone, "name": "z"}, A100, objective="cost")
    for row in range(len(table)):
        option = setting.options[int(table.option[row])]
        wanted = {
            "offer": option.offer.id,
            "gpu_type": option.gpu.id,
            "region": option.offer.region,
            "country": option.country or "none",
            "provider": option.offer.provider,
            "purchase": option.offer.purchase,
            "network_tier": option.server.network or "none",
            "intra_node_tier": option.server.intra_node,
            "storage_tier": setting.tiers[int(table.tier[row])].id,
        }
        for name, label in wanted.items():
            codes, labels = whole.categories[name]
            assert labels[codes[row]] == label, name
    assert whole.categories["country"][1] == ("SG", "none")
    for codes, labels in whole.categories.values():
        assert ((codes >= 0) & (codes < len(labels))).all()


def test_rank_is_a_permutation_and_nodes_come_first() -> None:
    """Tests that fewer nodes rank first, then offers by their order."""
    setting, table = found(objective="time")
    rank = canonical_order(setting, table)
    assert sorted(rank) == list(range(len(table)))
    order = np.argsort(rank)
    keys = [
        (int(table.layouts.nodes[i]), int(table.option[i]), int(table.tier[i]))
        for i in order
    ]
    assert all(a <= b for a, b in pairwise(keys))


def test_rank_does_not_depend_on_the_order_of_rows() -> None:
    """Tests that shuffled candidates have the same order."""
    setting, table = found()
    shuffled = np.random.default_rng(1).permutation(len(table))
    rank = canonical_order(setting, table)
    again = canonical_order(setting, table.take(shuffled))
    assert (again == rank[shuffled]).all()


@pytest.mark.parametrize(
    "objective",
    [
        "cost",
        "time",
        "energy",
        ["carbon", "time"],
        {"cost": 1, "usd_per_day": 40},
        {"cost": 0, "usd_per_tonne_co2": 40},
    ],
)
def test_units_are_fine_enough_and_numbers_small_enough(objective: Any) -> None:
    """Tests that a unit is at most 1e-9 of the least and integers stay below 2^50."""
    setting, table = found(objective=objective)
    scale = model_table.scale_of(setting, floor_of(setting), table)
    floor = floor_of(setting)
    assert scale.usd <= 1e-9 * floor.cost_usd[0]
    assert scale.seconds <= 1e-9 * floor.duration_s[0]
    assert scale.kwh <= 1e-9 * floor.energy_kwh[0]
    assert scale.kg <= 1e-9 * floor.carbon_kg[0]
    values = objective_values(setting, table)
    assert scale.objective <= 1e-9 * values.min()
    whole = job_table(setting, table, scale)
    assert all(abs(int(v.max())) < 2**50 for v in whole.quantities.values())


def test_units_do_not_depend_on_limits() -> None:
    """Tests that a deadline leaves units, and so the rounding, as they were."""
    free, table = found()
    bound, fewer = found(constraints={"deadline": "5.9 hours"})
    assert 0 < len(fewer) < len(table)
    first = model_table.scale_of(free, floor_of(free), table)
    second = model_table.scale_of(bound, floor_of(bound), fewer)
    assert first == second


def test_floors_are_below_every_candidate() -> None:
    """Tests the least cost, time, energy and carbon that the scale is taken from."""
    setting, table = found()
    floor = floor_of(setting)
    assert 0 < floor.cost_usd[0] < table.cost_usd.min()
    assert 0 < floor.duration_s[0] < table.duration_s.min()
    assert 0 < floor.energy_kwh[0] < table.energy_kwh.min()
    assert 0 < floor.carbon_kg[0] < table.carbon_kg.min()


def test_carbon_that_is_not_known_ranks_last() -> None:
    """Tests that such candidates stand above all others, in a later level only."""
    far = {**H100, "region": "nowhere"}
    setting, table, whole = made(A100, far, objective=["cost", "carbon"])
    known = np.isfinite(table.carbon_kg)
    assert known.any()
    assert not known.all()
    carbon = whole.quantities["carbon"]
    assert carbon[~known].min() > carbon[known].max()
    first, _ = found(A100, far, objective=["carbon", "cost"])
    assert {option.offer.id for option in first.options} == {"a"}
    assert len(setting.options) == 2


def rows(constraints: dict[str, Any], data: dict[str, Any] | None = None) -> list[Any]:
    """The rows of a scenario with these limits, beside memory and stock."""
    setting = toy(A100, H100, constraints=constraints, data=data or {})
    empty = made()[2].take(np.array([], dtype=np.int64))
    every = model_table.requirements_of(setting.scenario, setting, SCALE, empty)
    assert list(every[:2]) == [
        Bound("memory", "memory_excess", upper=0),
        Bound("stock", "stock_excess", upper=0),
    ]
    return list(every[2:])


@pytest.mark.parametrize(
    ("constraints", "wanted"),
    [
        ({}, []),
        ({"deadline": "1 hour"}, [Bound("deadline", "duration", upper=7200)]),
        (
            {"deadline": "1 hour", "confidence": 0.9},
            [Bound("deadline", "duration_at_confidence", upper=7200)],
        ),
        ({"budget": 100.009}, [Bound("budget", "cost", upper=10_000)]),
        (
            {"budget": 100, "confidence": 0.8},
            [Bound("budget", "cost_at_confidence", upper=10_000)],
        ),
        ({"max_energy": "12.34 kWh"}, [Bound("energy", "energy", upper=123)]),
        (
            {"max_carbon": "3.1 kg", "confidence": 0.8},
            [Bound("carbon", "carbon_at_confidence", upper=15)],
        ),
        (
            {"min_tokens_per_s": 1234.5},
            [Bound("throughput", "tokens_per_s", lower=1_234_500)],
        ),
        (
            {"storage": {"min_read": "1.5 GB/s"}},
            [Bound("storage", "storage_read", lower=1500)],
        ),
        ({"gpus": {"min": 8, "max": 16}}, [Bound("gpus", "gpus", lower=8, upper=16)]),
        (
            {"gpus": {"per_node": [8]}},
            [AllowedValues("gpus", "gpus_per_node", frozenset({8}))],
        ),
        (
            {"parallelism": {"tp": [2, 1]}},
            [AllowedValues("parallelism", "tp", frozenset({1, 2}))],
        ),
        (
            {"parallelism": {"pp": {"max": 4}}},
            [Bound("parallelism", "pp", upper=4)],
        ),
        (
            {"parallelism": {"recompute": ["none"]}},
            [AllowedSet("parallelism", "recompute", frozenset({"none"}))],
        ),
        ({"regions": ["sg"]}, [AllowedSet("regions", "region", frozenset({"a/sg"}))]),
        (
            {"countries": ["JP"]},
            [AllowedSet("countries", "country", frozenset({"JP"}))],
        ),
        ({"providers": ["h"]}, [AllowedSet("providers", "provider", frozenset({"h"}))]),
        (
            {"gpus": {"types": ["h100-sxm-80gb"]}},
            [AllowedSet("gpu_types", "gpu_type", frozenset({"h100-sxm-80gb"}))],
        ),
        (
            {"purchase": ["on_demand"]},
            [AllowedSet("purchase", "purchase", frozenset({"on_demand"}))],
        ),
        (
            {"intra_node": {"min_gb_per_s": 400}},
            [
                AllowedSet(
                    "intra_node", "intra_node_tier", frozenset({"nvswitch-nvlink4"})
                )
            ],
        ),
        (
            {"network": {"min_gbps_per_gpu": 400}},
            [AllowedSet("network", "network_tier", frozenset({"infiniband-ndr-400"}))],
        ),
    ],
)
def test_each_limit_is_a_row(constraints: dict[str, Any], wanted: list[Any]) -> None:
    """Tests the row that each key of the scenario becomes, in rounded units."""
    assert rows(constraints) == wanted


def test_every_limit_at_once() -> None:
    """Tests that no limit hides another."""
    ids = [
        r.rule
        for r in rows(
            {
                "deadline": "9 days",
                "budget": 9999,
                "max_energy": "99 MWh",
                "max_carbon": "99 t",
                "min_tokens_per_s": 1,
                "storage": {"min_read": "1 GB/s", "kinds": ["local_nvme"]},
                "gpus": {"max": 64, "per_node": [8], "types": ["A100", "H100"]},
                "parallelism": {"tp": 1, "recompute": ["none"]},
                "countries": ["SG", "JP"],
                "regions": ["sg", "jp"],
                "providers": ["a", "h"],
                "purchase": ["on_demand"],
                "intra_node": {"kinds": ["nvswitch"]},
                "network": {"kinds": ["infiniband"]},
            },
            {"residency": ["SG"]},
        )
    ]
    assert sorted(ids) == sorted(
        [
            "deadline",
            "budget",
            "energy",
            "carbon",
            "throughput",
            "storage",
            "storage",
            "gpus",
            "gpus",
            "gpu_types",
            "parallelism",
            "parallelism",
            "countries",
            "residency",
            "regions",
            "providers",
            "purchase",
            "intra_node",
            "network",
        ]
    )


@pytest.mark.parametrize(
    ("objective", "names"),
    [
        ("cost", ["cost", "duration"]),
        ("time", ["duration", "cost"]),
        ({"cost": 1, "usd_per_day": 3}, ["objective", "cost", "duration"]),
        ("energy", ["energy", "cost", "duration"]),
        (["carbon"], ["carbon", "cost", "duration"]),
        (["carbon", "time"], ["carbon", "duration", "cost"]),
        (["time", "energy"], ["duration", "energy", "cost"]),
        (["cost", "time", "carbon"], ["cost", "duration", "carbon"]),
    ],
)
def test_ties_are_broken_by_the_other(objective: Any, names: list[str]) -> None:
    """Tests the levels of each objective, ties broken by cost, then time."""
    levels = model_table.objective_levels(job([A100], objective=objective))
    assert levels == tuple((Term(name),) for name in names)


def test_rounding_never_refuses_a_candidate_at_its_limit() -> None:
    """Tests that limits equal to a candidate's own figures let it through."""
    setting, table, whole = made()
    row = int(np.argmin(table.cost_usd))
    limits = {
        "budget": f"{float(table.cost_usd[row])!r}",
        "deadline": f"{float(table.duration_s[row]) / 86_400!r} days",
    }
    exact = toy(A100, H100, constraints=limits)
    one = whole.take(np.array([row]))
    for requirement in model_table.requirements_of(exact.scenario, setting, SCALE, one):
        assert satisfied(one, requirement).all()

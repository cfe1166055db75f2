"""Tests of the exact search: bounds that hold, limits that are kept, nothing lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver import search as search_module
from solver.candidates import CandidateTable, objective_values
from solver.layout_space import LatticeStore
from solver.performance.step_time import lower_bound, step_time
from solver.search import (
    Search,
    SearchLimits,
    SearchResult,
    ideal_bounds,
    least_rent,
    limits_of,
    search,
    within_limits,
)
from solver.setting import Setting, narrowed
from tests.planning.jobs import A100, H100, job
from tests.settings import all_candidates, rows_of, toy

L40S: dict[str, Any] = {
    "name": "l",
    "gpu": "l40s",
    "gpus_per_node": 4,
    "network": {"gbps_per_node": 100, "kind": "ethernet"},
    "max_nodes": 2,
    "usd_per_gpu_hour": 0.8,
    "region": "us",
}

NONE = SearchLimits()

JOBS = st.fixed_dictionaries(
    {
        "tokens": st.sampled_from(["200M", "5B", "300B"]),
        "sequence_length": st.sampled_from([512, 2048, 8192]),
        "global_batch_size": st.sampled_from([16, 48, 64, 256]),
        "precision": st.sampled_from(["bf16", "fp16"]),
        "framework": st.sampled_from(
            ["megatron", "pytorch-fsdp", "deepspeed", "torchtitan", "nanotron"]
        ),
    }
)
OBJECTIVES = st.sampled_from(["cost", "time", {"cost": 1, "usd_per_day": 400}])


def work_of(setting: Setting, limits: SearchLimits = NONE, slack: float = 0) -> Search:
    """The state of a search that has not begun."""
    return Search(setting, limits, slack)


@settings(max_examples=15)
@given(workload=JOBS, objective=OBJECTIVES, evaluation=st.sampled_from(["0%", "4%"]))
def test_bounds_never_pass_true_values(
    workload: dict[str, Any], objective: Any, evaluation: str
) -> None:
    """Tests step, layout and class bounds of every layout on three kinds of node."""
    setting = toy(
        A100,
        H100,
        L40S,
        workload=workload,
        objective=objective,
        overheads={"evaluation": evaluation},
    )
    for index, group in enumerate(setting.classes):
        lattice = setting.space.lattice(group.node_kind)
        model = (setting.shape, setting.job, setting.framework, group.hardware)
        bound = lower_bound(*model, lattice.layouts)
        exact = step_time(*model, lattice.layouts).total
        assert (bound <= exact * (1 + 1e-9)).all()
        if not len(rows_of(setting, index).steps):
            continue
        work = work_of(setting)
        key, possible = work._bounds(group, lattice)
        assert possible.all(), "without limits nothing is impossible"
        table = candidates_of(setting, index)
        if not len(table):
            continue
        values = objective_values(setting, table)
        assert work.class_bound(group) <= values.min()
        cost, duration = ideal_bounds(setting, group)
        assert cost <= table.compute_usd.min()
        assert duration <= table.training_s.min()
        best_key = float(key.min())
        assert best_key <= values.min()
        assert work.class_bound(group) <= best_key * (1 + 1e-9)


def candidates_of(setting: Setting, index: int) -> CandidateTable:
    """All candidates of one hardware class."""
    from solver.candidates import evaluate

    return evaluate(setting, index, rows_of(setting, index))


def test_each_layouts_own_bound_holds() -> None:
    """Tests the bound of a layout against the cheapest candidate of that layout."""
    setting = toy(A100, {**A100, "name": "b", "usd_per_gpu_hour": 1.5, "max_nodes": 2})
    (group,) = setting.classes
    lattice = setting.space.lattice(group.node_kind)
    key, _ = work_of(setting)._bounds(group, lattice)
    bound = {str(lattice.layouts.row(i)): key[i] for i in range(0, len(lattice), 13)}
    table = all_candidates(setting)
    checked = 0
    for i in range(len(table)):
        name = str(table.layouts.row(i))
        if name in bound:
            assert bound[name] <= table.cost_usd[i]
            checked += 1
    assert checked > 100


def test_the_cheapest_price_is_of_offers_with_enough_nodes() -> None:
    """Tests that 1 node takes the small cheap offer, 3 nodes the large dear one."""
    small = {**A100, "name": "s", "usd_per_gpu_hour": 1.0, "max_nodes": 2}
    large = {**A100, "name": "l", "usd_per_gpu_hour": 3.0, "max_nodes": 8}
    middle = {**A100, "name": "m", "usd_per_gpu_hour": 2.0, "max_nodes": 4}
    setting = toy(small, large, middle)
    (group,) = setting.classes
    nodes = np.array([1, 2, 3, 4, 5, 8])
    found = least_rent(setting, group, nodes, np.ones(6))
    assert list(found) == [8.0, 8.0, 16.0, 16.0, 24.0, 24.0]


@pytest.mark.parametrize("objective", ["cost", "time", {"cost": 1, "usd_per_day": 900}])
@pytest.mark.parametrize("slack", [0.0, 0.25])
def test_slack_keeps_all_that_is_near(objective: Any, slack: float) -> None:
    """Tests that each (offer, nodes) within the slack is there at its best value."""
    setting = toy(A100, H100, L40S, objective=objective)
    found = search(setting, NONE, slack)
    assert found.complete
    assert found.table is not None
    whole = all_candidates(setting)
    values = objective_values(setting, whole)
    best = float(values.min())
    assert found.bound == pytest.approx(best)
    kept = _best_by_kind(setting, found.table)
    wanted = _best_by_kind(setting, whole)
    near = {k: v for k, v in wanted.items() if v <= best * (1 + slack)}
    assert near, "the best itself"
    for kind, value in near.items():
        assert kept[kind] == pytest.approx(value), kind
    assert max(kept.values()) <= best * (1 + slack) * (1 + 1e-9)


def _best_by_kind(
    setting: Setting, table: CandidateTable
) -> dict[tuple[int, int], float]:
    values = objective_values(setting, table)
    best: dict[tuple[int, int], float] = {}
    for option, nodes, value in zip(
        table.option, table.layouts.nodes, values, strict=True
    ):
        key = (int(option), int(nodes))
        best[key] = min(best.get(key, np.inf), float(value))
    return best


def test_limits_of_a_scenario() -> None:
    """Tests that the limits are the user's, in seconds, dollars, bytes, kWh and kg."""
    constraints = {
        "deadline": "2 days",
        "budget": "$3k",
        "min_tokens_per_s": "50k",
        "storage": {"min_read": "2 GB/s"},
        "max_energy": "1 GWh",
        "max_carbon": "900 kg",
    }
    found = limits_of(job([A100], constraints))
    assert found == SearchLimits(2 * 86_400, 3000, 50_000, 2e9, 1e6, 900)
    assert limits_of(job([A100])) == NONE


def test_each_limit_keeps_what_meets_it() -> None:
    """Tests limits on the columns that they are held against, edge included."""
    setting = toy(A100, H100, constraints={"confidence": 0.8})
    table = all_candidates(setting)
    columns = {
        "deadline_s": (table.duration_limit_s, 1),
        "budget_usd": (table.cost_limit_usd, 1),
        "max_energy_kwh": (table.energy_limit_kwh, 1),
        "max_carbon_kg": (table.carbon_limit_kg, 1),
        "min_read_bytes_per_s": (table.read_bytes_per_s, -1),
    }
    for name, (column, sign) in columns.items():
        edge = float(np.sort(column)[len(column) // 2])
        ok = within_limits(table, SearchLimits(**{name: edge}))
        meets = sign * column <= sign * edge
        assert np.array_equal(ok, meets), name
        assert ok.any()
    both = SearchLimits(
        deadline_s=float(np.median(table.duration_limit_s)),
        budget_usd=float(np.median(table.cost_limit_usd)),
    )
    kept = within_limits(table, both)
    assert (table.duration_limit_s[kept] <= both.deadline_s).all()
    assert (table.cost_limit_usd[kept] <= both.budget_usd).all()
    assert within_limits(table, NONE).all()


@pytest.mark.parametrize("confidence", [0.2, 0.5, 0.9])
def test_what_is_hopeless_has_no_candidate(confidence: float) -> None:
    """Tests limits around the possible: a class called hopeless keeps no candidate."""
    setting = toy(A100, H100, L40S, constraints={"confidence": confidence})
    called = 0
    for index, group in enumerate(setting.classes):
        table = candidates_of(setting, index)
        sigma = table.sigma
        pace = table.tokens_per_s / np.exp(setting.z * sigma)
        for factor in (0.1, 0.6, 0.99, 1.0, 1.5):
            trials = [
                SearchLimits(deadline_s=factor * float(table.duration_limit_s.min())),
                SearchLimits(budget_usd=factor * float(table.cost_limit_usd.min())),
                SearchLimits(min_tokens_per_s=float(pace.max()) / factor),
            ]
            for limits in trials:
                hopeless = work_of(setting, limits).hopeless(group)
                called += hopeless
                if hopeless:
                    meets = within_limits(table, limits)
                    if limits.min_tokens_per_s is not None:
                        meets &= pace >= limits.min_tokens_per_s
                    assert not meets.any(), limits
    assert called >= 6


def test_no_limit_is_hopeless_by_itself() -> None:
    """Tests that without limits every class is looked at."""
    setting = toy(A100, H100, L40S)
    assert not any(work_of(setting).hopeless(g) for g in setting.classes)


def test_hopeless_classes_are_counted_as_bounded() -> None:
    """Tests that slow hardware is skipped before its layouts are made."""
    fast = SearchLimits(min_tokens_per_s=2e6)
    setting = toy(H100, {**L40S, "max_nodes": 1})
    found = search(setting, fast)
    assert found.complete
    assert found.stats.classes_bounded == 1
    assert len(setting.space.lattices) <= 1


@pytest.mark.parametrize("slack", [0.0, 0.25])
def test_counts_add_up(slack: float) -> None:
    """Tests that each layout did not fit, was bounded or was evaluated."""
    setting = toy(A100, H100, L40S)
    stats = search(setting, NONE, slack).stats
    assert stats.classes + stats.classes_bounded == len(setting.classes)
    assert stats.evaluated > 0
    known = stats.bounded + stats.evaluated + stats.out_of_memory
    assert known == stats.layouts
    assert stats.candidates <= 4 * stats.evaluated


def test_small_chunks_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that evaluating a few layouts at a time changes nothing but the counts."""
    setting = toy(A100, H100, L40S)
    wanted = search(setting, NONE)
    monkeypatch.setattr(search_module, "FIRST_CHUNK", 16)
    monkeypatch.setattr(search_module, "CHUNK", 32)
    found = search(setting, NONE)
    assert _summary(setting, found) == _summary(setting, wanted)
    assert found.stats.evaluated <= wanted.stats.evaluated
    assert found.stats.layouts == wanted.stats.layouts


def _summary(setting: Setting, found: SearchResult) -> tuple[bool, float, list[Any]]:
    table = found.table
    assert table is not None
    values = objective_values(setting, table)
    row = int(np.lexsort((table.duration_s, values))[0])
    decided = [int(table.option[row]), table.layouts.row(row)]
    return found.complete, round(found.bound, 9), decided


def test_a_limit_never_hides_what_meets_it() -> None:
    """Tests the best under many limits against the best of all that meet them."""
    setting = toy(A100, H100, L40S)
    table = all_candidates(setting)
    for quantile in (0.0, 0.05, 0.3, 0.8):
        limits = SearchLimits(
            deadline_s=float(np.quantile(table.duration_limit_s, quantile)),
            min_tokens_per_s=float(np.quantile(table.tokens_per_s, quantile / 2)),
        )
        ok = within_limits(table, limits)
        ok &= table.tokens_per_s >= limits.min_tokens_per_s
        found = search(setting, limits)
        assert ok.any()
        assert found.table is not None
        assert found.table.cost_usd.min() == pytest.approx(table.cost_usd[ok].min())


def test_nothing_on_offer_is_complete_and_empty() -> None:
    """Tests that no options are a proof that there is no plan."""
    found = search(toy(A100, constraints={"countries": ["KR"]}), NONE)
    assert (found.table, found.complete, found.bound) == (None, True, np.inf)


def test_nothing_fits() -> None:
    """Tests that 70B on one L4 is out of memory throughout, and proved so."""
    l4 = {"name": "x", "gpu": "l4", "gpus_per_node": 1, "usd_per_gpu_hour": 1}
    found = search(toy(l4, model="llama-2-70b"), NONE)
    assert found.table is None
    assert found.complete
    assert found.stats.evaluated == 0
    assert found.stats.out_of_memory > 0


def test_no_time_leaves_a_bound() -> None:
    """Tests that a search without time is not complete and bounds what is left."""
    setting = toy(A100, H100)
    stopped = search(setting, NONE, time_s=-1.0)
    assert stopped.table is None
    assert not stopped.complete
    best = search(setting, NONE).bound
    assert 0 < stopped.bound <= best


def test_progress_ends_at_one() -> None:
    """Tests that the share done grows to the end when nothing is bounded."""
    shares: list[float] = []
    search(toy(A100, H100), NONE, 100.0, lambda _, share: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


TERMS: list[dict[str, Any]] = [
    {"min_term": "5 hours", "usd_per_gpu_hour": 1.0},
    {"min_term": "90 days", "usd_per_gpu_hour": 0.01, "purchase": "reserved"},
    {
        "max_nodes": None,
        "available": [{"nodes": 1}, {"from": "2026-12-03", "nodes": 3}],
    },
    {"lead_time": "2 days", "max_nodes_per_cluster": 2, "usd_per_gpu_hour": 0.5},
    {"usd_per_gpu_hour": None, "usd_per_node_month": 3000, "min_term": "3 months"},
]
"""Offers of the same nodes with terms, deliveries, lead times and fabrics."""


@pytest.mark.parametrize("objective", ["cost", "time", {"cost": 1, "usd_per_day": 900}])
@pytest.mark.parametrize("confidence", [0.2, 0.5, 0.9])
def test_bounds_hold_with_terms_and_waits(objective: Any, confidence: float) -> None:
    """Tests class and layout bounds, and 'hopeless', on offers of every kind of term.

    By every subset of three of the offers, so that none hides behind another.
    """
    named = [{**A100, "name": f"t{i}", **more} for i, more in enumerate(TERMS)]
    for left in range(len(named)):
        chosen = named[left:][:3] or named[:1]
        setting = toy(
            *chosen, objective=objective, constraints={"confidence": confidence}
        )
        (group,) = setting.classes
        table = all_candidates(setting)
        values = objective_values(setting, table)
        work = work_of(setting)
        lattice = setting.space.lattice(group.node_kind)
        key, _ = work._bounds(group, lattice)
        assert work.class_bound(group) <= values.min() * (1 + 1e-12)
        bound = {
            str(lattice.layouts.row(i)): key[i] for i in range(0, len(lattice), 11)
        }
        for i in range(0, len(table), 7):
            name = str(table.layouts.row(i))
            assert bound.get(name, 0.0) <= values[i] * (1 + 1e-12)
        cost, training = ideal_bounds(setting, group)
        assert cost <= table.compute_usd.min() * (1 + 1e-12)
        assert training <= table.training_s.min()
        soonest = float(table.duration_limit_s.min())
        cheapest = float(table.cost_limit_usd.min())
        assert not work_of(setting, SearchLimits(soonest)).hopeless(group)
        assert not work_of(setting, SearchLimits(None, cheapest)).hopeless(group)
        for limits in (SearchLimits(soonest), SearchLimits(None, cheapest)):
            assert search(setting, limits).table is not None


SHARED = {
    "name": "fs",
    "kind": "parallel_fs",
    "read": "9 GB/s",
    "write": "9 GB/s",
    "usd_per_gb_month": 0.1,
}
PLACES: list[dict[str, Any]] = [
    {"region": "sg", "storage": [SHARED]},
    {"region": "jp", "lead_time": "1 days", "storage": [SHARED], "max_nodes": 2},
    {"region": "no", "lead_time": "9 days", "usd_per_gpu_hour": 0.5},
]
"""Offers of the same nodes where the copy is longer, or shorter, than the wait."""


@pytest.mark.parametrize("location", [None, "aws/us-east-1", "t0/sg"])
@pytest.mark.parametrize("confidence", [0.2, 0.9])
@pytest.mark.parametrize(
    "objective",
    ["time", "carbon", "energy", {"cost": 1, "usd_per_day": 9, "usd_per_tonne_co2": 9}],
)
def test_bounds_hold_with_copies_and_carbon(
    objective: Any, confidence: float, location: str | None
) -> None:
    """Tests class and layout bounds where data and weights are days on their way."""
    named = [{**A100, "name": f"t{i}", **more} for i, more in enumerate(PLACES)]
    for left in range(len(named)):
        keys: dict[str, Any] = {"objective": objective}
        if location != "t0/sg" or left == 0:
            keys["data"] = {"location": location, "size": "1 TB", "transfer": 0.02}
        keys["serving"] = {"regions": ["aws/us-east-1"]}
        setting = toy(*named[left:], constraints={"confidence": confidence}, **keys)
        (group,) = setting.classes
        table, lattice = all_candidates(setting), setting.space.lattice(group.node_kind)
        values = objective_values(setting, table)
        key, _ = work_of(setting)._bounds(group, lattice)
        assert work_of(setting).class_bound(group) <= values.min() * (1 + 1e-12)
        bound = {str(lattice.layouts.row(i)): key[i] for i in range(len(lattice))}
        for i in range(0, len(table), 5):
            name = str(table.layouts.row(i))
            assert bound[name] <= values[i] * (1 + 1e-12)
        for limits in (
            SearchLimits(float(table.duration_limit_s.min())),
            SearchLimits(max_energy_kwh=float(table.energy_limit_kwh.min())),
            SearchLimits(max_carbon_kg=float(table.carbon_limit_kg.min())),
        ):
            assert not work_of(setting, limits).hopeless(group)
            assert search(setting, limits).table is not None


def test_a_delivery_after_the_deadline_is_hopeless_before_any_layout() -> None:
    """Tests that the wait for the nodes is in the bound on the finish."""
    late = {**A100, "lead_time": "9 days"}
    setting = toy(late)
    (group,) = setting.classes
    assert work_of(setting, SearchLimits(9 * 86_400)).hopeless(group)
    assert not work_of(setting, SearchLimits(30 * 86_400)).hopeless(group)


def test_narrowed_solves_equal_solves_of_their_own() -> None:
    """Tests that each option alone has the same plan, physics shared or not."""
    setting = toy(A100, H100, {**A100, "name": "small", "max_nodes": 2})
    search(setting, limits_of(setting.scenario))
    for index, option in enumerate(setting.options):
        shared = narrowed(setting, [index])
        fresh = replace(shared, store=LatticeStore())
        answers = [search(s, limits_of(s.scenario), 0.25) for s in (shared, fresh)]
        tables = [answer.table for answer in answers]
        assert tables[0] is not None
        assert tables[1] is not None
        for name in ("cost_usd", "duration_s", "step_time_s", "memory_bytes"):
            columns = [np.sort(getattr(table, name)) for table in tables]
            assert columns[0].tolist() == columns[1].tolist(), (option.offer.id, name)

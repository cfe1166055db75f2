"""Tests of alternatives: each is the best of its kind, and its changes are true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.options import Option
from solver.plan import Plan
from solver.planning.choosing import Choice, Choices, alternatives
from solver.planning.dimensions import DIMENSIONS
from solver.planning.trade import Measured, changes
from solver.search import Search
from solver.setting import Setting, setting_of
from solver.verify import verify
from tests.brute_force.test_search import LIMITS, OFFERS, allowed, every_candidate
from tests.brute_force.test_search import fast_enough as paced
from tests.planning.jobs import A100, H100, catalog, job

MANY: list[dict[str, Any]] = [
    A100,
    {**A100, "name": "b", "region": "jp", "usd_per_gpu_hour": 2.05},
    {**A100, "name": "c", "provider": "a", "region": "us", "usd_per_gpu_hour": 2.1},
    {**H100, "usd_per_gpu_hour": 4.2},
    {**A100, "name": "d", "usd_per_gpu_hour": 9.0},
    {**A100, "name": "e", "spot_usd_per_gpu_hour": 1.9, "usd_per_gpu_hour": 9.0},
]


def of_job(
    offers: list[dict[str, Any]] | None = None,
    within: float = 0.25,
    per_kind: int = 1,
    **keys: Any,
) -> Choices:
    """The alternatives of a small job."""
    asked = job(MANY if offers is None else offers, **keys)
    return alternatives(asked, catalog(), within, per_kind=per_kind)


def by_kind(found: Choices) -> dict[str, Choice]:
    """The best alternative of each kind."""
    return {kind: row for row in reversed(found.rows) for kind in row.kinds}


def best_by_brute_force(
    setting: Setting, kind: str, mine: Option, objective: str
) -> float | None:
    """The least objective over the whole lattice on offers of another kind."""
    label = DIMENSIONS[kind].label
    values = []
    for table in every_candidate(setting):
        for row in range(len(table)):
            option = setting.options[int(table.option[row])]
            ok = allowed(setting.scenario, table, row) and paced(setting, table, row)
            if ok and label(option) != label(mine):
                figure = table.cost_usd if objective == "cost" else table.duration_s
                values.append(float(figure[row]))
    return min(values, default=None)


@settings(max_examples=15)
@given(
    offers=OFFERS,
    limits=LIMITS,
    within=st.sampled_from([0.0, 0.1, 0.5, 3.0]),
    objective=st.sampled_from(["cost", "time"]),
)
def test_best_of_each_kind_equals_brute_force(
    offers: list[dict[str, Any]],
    limits: dict[str, Any],
    within: float,
    objective: str,
) -> None:
    """Tests the best of each dimension, near enough or not, on random offers."""
    named = [{"name": f"o{i}", **o} for i, o in enumerate(offers)]
    work = {"tokens": "1B", "global_batch_size": 48}
    scenario = job(named, limits, work, objective=objective)
    found = alternatives(scenario, catalog(), within)
    best = found.result.plan
    if best is None:
        assert found.rows == ()
        return
    setting = setting_of(scenario, catalog())
    mine = next(o for o in setting.options if o.offer.id == best.offer)
    name = "cost_usd" if objective == "cost" else "duration_days"
    unit = 1.0 if objective == "cost" else 86_400.0
    least = getattr(best, name) * unit
    rows, missing = by_kind(found), {n.kind: n for n in found.missing or ()}
    for kind in ("gpu", "provider", "region", "network"):
        wanted = best_by_brute_force(setting, kind, mine, objective)
        if kind in rows:
            assert wanted is not None
            got = getattr(rows[kind].measured.plan, name) * unit
            assert got == pytest.approx(wanted, rel=3e-5)
            assert got <= least * (1 + within) * (1 + 1e-5)
        elif wanted is None:
            assert not missing[kind].found
        else:
            assert missing[kind].by == pytest.approx(wanted / least - 1, abs=1e-4)
            assert wanted > least * (1 + within) * (1 - 1e-5)


@pytest.mark.parametrize("objective", ["cost", "time"])
def test_rows_differ_in_what_they_say(objective: str) -> None:
    """Tests kinds and all other differences against the plans, best first."""
    limits = {"purchase": ["on_demand", "spot"]}
    found = of_job(constraints=limits, objective=objective, within=2.0)
    best = found.result.plan
    assert best is not None
    assert len(found.rows) >= 2
    name = "cost_usd" if objective == "cost" else "duration_days"
    values = [getattr(row.measured.plan, name) for row in found.rows]
    assert values == sorted(values)
    for row in found.rows:
        plan = row.measured.plan
        for kind in ("gpu", "provider", "purchase", "network", "country"):
            assert (getattr(plan, kind) != getattr(best, kind)) == (kind in row.differs)
        assert (plan.nodes != best.nodes) == ("size" in row.differs)
        assert set(row.kinds) - {"start", "spares"} <= set(row.differs)


def test_constraints_hold_for_all() -> None:
    """Tests every plan with the certificate, and that nothing forbidden is shown."""
    scenario = job(MANY, {"countries": ["SG", "JP"]})
    supply = setting_of(scenario, catalog()).catalog
    found = alternatives(scenario, catalog(), 0.5, per_kind=3)
    assert found.rows
    for row in found.rows:
        assert verify(row.measured.plan, scenario, supply) == []
        assert row.measured.plan.purchase == "on_demand"
    purchase = {n.kind: n for n in found.missing or ()}["purchase"]
    assert not purchase.found


def test_several_of_a_kind_have_other_values() -> None:
    """Tests that N of a kind are N values, the best ones."""
    found = of_job(per_kind=3, within=5.0)
    providers = [
        row.measured.plan.provider for row in found.rows if "provider" in row.kinds
    ]
    assert len(providers) == len(set(providers)) == 3
    one = by_kind(of_job(within=5.0))
    assert one["provider"].measured.plan.provider == providers[0]


def test_a_plan_is_shown_once() -> None:
    """Tests that the best of several kinds has all of them."""
    found = of_job([A100, {**H100, "usd_per_gpu_hour": 4.4}], within=2.0)
    row = by_kind(found)["gpu"]
    assert {"gpu", "provider", "region"} <= set(row.kinds)
    offers = [(r.measured.plan.offer, r.measured.plan.nodes) for r in found.rows]
    assert len(offers) == len(set(offers))


def test_no_plan_at_all() -> None:
    """Tests that without a best plan the answer is that of a solve."""
    found = of_job(constraints={"deadline": "1 min"})
    assert found.result.status == "infeasible"
    assert found.result.explanation is not None
    assert found.rows == ()
    assert found.as_dict()["best"] is None


def test_ctrl_c_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that an interrupted search gives plans, not proved, and no distances."""
    evaluated: list[int] = []
    run_class = Search.run_class

    def interrupted(self: Search, index: int, group: Any) -> None:
        evaluated.append(index)
        if len(evaluated) == 2:
            raise KeyboardInterrupt
        run_class(self, index, group)

    monkeypatch.setattr(Search, "run_class", interrupted)
    found = of_job([A100, {**H100, "usd_per_gpu_hour": 2.5}], objective="time")
    assert found.result.status == "feasible"
    assert found.result.plan is not None
    assert found.missing is None
    assert len(evaluated) == 2


def test_a_best_plan_that_is_free() -> None:
    """Tests that nothing is a share more than nothing."""
    own = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}
    found = of_job([own, H100])
    assert found.result.plan is not None
    assert found.result.plan.cost_usd == 0
    gpu = {n.kind: n for n in found.missing or ()}["gpu"]
    assert (gpu.found, gpu.by) == (True, None)


def plan() -> Plan:
    """Some plan."""
    found = of_job().result.plan
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("changed", "measure", "gain"),
    [
        ({"cost_usd": 1e6}, "cost_usd", False),
        ({"cost_usd": 1.0}, "cost_usd", True),
        ({"duration_days": 99.0}, "duration_days", False),
        ({"gpus": 4096}, "gpus", False),
        ({"stock_nodes": 4096}, "stock_left_nodes", True),
        ({"spare_nodes": 1}, "stock_left_nodes", False),
        ({"carbon_t": 0.001}, "carbon_t", True),
    ],
)
def test_changes_and_whether_they_gain(
    changed: dict[str, Any], measure: str, gain: bool
) -> None:
    """Tests each measure by itself, in both directions."""
    one, other = Measured(replace(plan(), **changed), 0.0), Measured(plan(), 0.0)
    (found,) = changes(one, other)
    assert (found.measure, found.gain) == (measure, gain)
    (back,) = changes(other, one)
    assert (back.gain, back.change) == (not gain, -found.change)


def test_interruptions_and_memory() -> None:
    """Tests what a plan does not state itself, and that equals are not told."""
    one = Measured(plan(), 2.0)
    (found,) = changes(one, Measured(plan(), 0.0))
    assert (found.measure, found.change, found.gain) == (
        "interruptions_per_month",
        2.0,
        False,
    )
    leaner = {**plan().memory_gib, "total": 1.0}
    (memory,) = changes(Measured(replace(plan(), memory_gib=leaner), 2.0), one)
    assert (memory.measure, memory.gain) == ("memory_headroom", True)
    assert changes(one, one) == ()


def test_spot_tells_its_interruptions() -> None:
    """Tests interruptions of all nodes a month, from the catalog's rate."""
    limits = {"purchase": ["on_demand", "spot"]}
    offers = [A100, {**A100, "name": "e", "spot_usd_per_gpu_hour": 2.1}]
    found = by_kind(of_job(offers, constraints=limits))["purchase"]
    rate = catalog().failure_rates["spot-default"].per_node_hour
    assert rate is not None
    told = {change.measure: change for change in found.changes}
    nodes = found.measured.plan.nodes
    assert told["interruptions_per_month"].value == pytest.approx(rate * 720 * nodes)
    assert not told["interruptions_per_month"].gain


def test_unknown_carbon_is_no_change() -> None:
    """Tests that what is not known is not compared."""
    one = Measured(replace(plan(), carbon_t=None), 0.0)
    assert changes(one, Measured(plan(), 0.0)) == ()

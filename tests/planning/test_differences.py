"""Tests that what makes one plan dearer or slower adds up, whatever the plans."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from solver.plan import Plan
from solver.planning.comparing import compare
from solver.planning.differences import cost_difference, time_difference
from tests.planning.jobs import A100, H100, catalog, job

OFFERS: list[dict[str, Any]] = [
    A100,
    {**A100, "name": "b", "region": "jp", "usd_per_gpu_hour": 2.5},
    {**H100, "region": "us"},
    {**A100, "name": "own", "region": "kr", "usd_per_gpu_hour": 0, "max_nodes": 1},
    {
        **{k: v for k, v in A100.items() if k != "usd_per_gpu_hour"},
        "name": "month",
        "region": "de",
        "usd_per_node_month": 9000,
        "purchase": "monthly",
    },
    {**A100, "name": "late", "region": "fr", "lead_time": "3 days"},
]


def plans() -> dict[str, Plan]:
    """A plan a region, of very different kinds."""
    limits = {"purchase": ["on_demand", "monthly", "owned"]}
    found = compare(job(OFFERS, limits), catalog(), "region")
    assert len(found.planned) == len(OFFERS)
    return {row.value: row.plan for row in found.planned if row.plan}


PLANS = plans()


@pytest.mark.parametrize(("one", "other"), list(permutations(PLANS, 2)))
def test_causes_add_up(one: str, other: str) -> None:
    """Tests the sum of the causes against cost and duration of both plans."""
    ours, theirs = PLANS[one], PLANS[other]
    usd = sum(cost_difference(ours, theirs).values())
    assert usd == pytest.approx(ours.cost_usd - theirs.cost_usd, abs=1e-6)
    days = sum(time_difference(ours, theirs).values())
    assert days == pytest.approx(ours.duration_days - theirs.duration_days, abs=1e-9)


def test_causes_add_up_where_nodes_wait_for_weights() -> None:
    """Tests serving, which takes paid hours of nodes and has a price of its own."""
    far = {"serving": {"regions": ["aws/us-east-1"]}, "data": {"transfer": "10 Mb/s"}}
    kept = {"storage": {"kinds": ["local_nvme"]}}  # the nodes' own drives hold them
    own = {**A100, "name": "own", "region": "kr", "usd_per_gpu_hour": 0}
    ours, theirs = (
        row.plan
        for row in compare(job([own, H100], kept, **far), catalog(), "region").rows
    )
    assert ours is not None
    assert theirs is not None
    for one, other in ((ours, theirs), (theirs, ours)):
        causes = cost_difference(one, other)
        assert bool(causes["serving"]) is (other is theirs)  # at the other's price
        total = one.cost_usd - other.cost_usd
        assert sum(causes.values()) == pytest.approx(total, abs=1e-6)


def test_a_dearer_twin_differs_by_the_price() -> None:
    """Tests that the same servers elsewhere cost more by their price alone."""
    causes = cost_difference(PLANS["b/jp"], PLANS["a/sg"])
    assert causes["price"] == pytest.approx(0.5 * PLANS["a/sg"].gpu_hours)
    rest = [value for name, value in causes.items() if name != "price"]
    assert rest == pytest.approx([0.0] * len(rest), abs=1e-6)


def test_a_wait_is_not_paid() -> None:
    """Tests that days until nodes are there are in the time and not in the cost."""
    late, now = PLANS["late/fr"], PLANS["a/sg"]
    assert time_difference(late, now)["delivery"] == pytest.approx(3.0)
    assert "delivery" not in cost_difference(late, now)


def test_paid_but_not_used() -> None:
    """Tests that the rest of a whole month is a cause of its own."""
    month, now = PLANS["month/de"], PLANS["a/sg"]
    unused = cost_difference(month, now)["unused"]
    rate = month.cost_parts_usd["compute"] / month.gpu_hours
    used = (
        24.0 * month.gpus * (month.duration_days - month.duration_parts_days["queue"])
    )
    assert unused == pytest.approx(rate * (month.gpu_hours - used))
    assert unused == month.unused_term_usd > 0


def test_copies_are_paid_on_the_nodes_own_drives_only() -> None:
    """Tests that copying to drives of the nodes is paid time, to others it is not."""
    data = {"size": "40 TB", "location": "aws/us-east-1", "transfer": "1 Gb/s"}
    for storage, paid in (("local_nvme", True), ("object_store", False)):
        tier = {"name": "t", "kind": storage, "read": "20 GB/s", "write": "9 GB/s"}
        offers = [{**A100, "storage": [tier]}]
        found = compare(job(offers, data=data), catalog(), "region")
        plan = found.planned[0].plan
        assert plan is not None
        assert plan.duration_parts_days["transfer"] > 1
        causes = cost_difference(plan, PLANS["a/sg"])
        assert ("transfer" in causes and causes["transfer"] > 0) == paid, storage
        assert causes["unused"] == pytest.approx(0.0, abs=1e-6)
        total = sum(causes.values())
        assert total == pytest.approx(plan.cost_usd - PLANS["a/sg"].cost_usd, abs=1e-6)


def test_no_difference_to_itself() -> None:
    """Tests that a plan does not differ from itself."""
    for plan in PLANS.values():
        assert set(cost_difference(plan, plan).values()) == {0.0}
        assert set(time_difference(plan, plan).values()) == {0.0}


def test_spare_nodes_are_a_cause() -> None:
    """Tests that nodes rented as spares are told as such, and not as unused."""
    spared = compare(job([A100], failures={"spares": 1}), catalog(), "region")
    plan = spared.planned[0].plan
    assert plan is not None
    assert plan.spare_nodes == 1
    now = PLANS["a/sg"]
    causes = cost_difference(plan, now)
    rate = now.cost_parts_usd["compute"] / now.gpu_hours
    assert causes["spares"] == pytest.approx(rate * plan.gpu_hours / (plan.nodes + 1))
    assert causes["unused"] == pytest.approx(0.0, abs=1e-6)
    total = sum(causes.values())
    assert total == pytest.approx(plan.cost_usd - now.cost_usd, abs=1e-6)

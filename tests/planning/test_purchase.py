"""Tests of mixes, one's own nodes, buying against renting, and runs that never end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solver.catalog.ownership import YEAR_HOURS
from solver.energy import DEFAULT_PUE, HOST_FACTOR
from solver.messages import MESSAGES
from solver.options import Option
from solver.plan import Plan, PlanResult
from solver.planning.single_job import plan_job
from solver.report.answer_rows import headline
from solver.setting import setting_of
from solver.verify import verify
from tests.planning.jobs import A100, H100, catalog, job

BASE: dict[str, Any] = {
    **A100,
    "name": "base",
    "provider": "host",
    "max_nodes": 3,
    "usd_per_gpu_hour": 0.5,
    "purchase": "reserved",
    "min_term": "2 days",
}
REST: dict[str, Any] = {**A100, "name": "rest", "provider": "host", "max_nodes": 5}
WORK = {"tokens": "200B"}
FOUR = {"gpus": {"min": 32}}
"""At least four nodes."""


def solved(*offers: dict[str, Any], **keys: Any) -> PlanResult:
    """The answer on these offers."""
    keys = {"workload": WORK, **keys}
    return plan_job(job(list(offers), **keys), catalog(), alternatives=0)


def planned(*offers: dict[str, Any], **keys: Any) -> Plan:
    """The plan, which must be proved."""
    result = solved(*offers, **keys)
    assert result.status == "optimal", result.explanation
    assert result.plan is not None
    return result.plan


def mixes(*offers: dict[str, Any], **keys: Any) -> list[Option]:
    """The mixes that a scenario on these offers may use."""
    scenario = job(list(offers), workload=WORK, **keys)
    return [o for o in setting_of(scenario, catalog()).options if o.mix]


def test_a_base_and_a_rest() -> None:
    """Tests what a plan of a mix says of its parts, and that they add up."""
    plan = planned(BASE, REST, constraints=FOUR)
    assert plan.purchase == "reserved+on_demand"
    assert plan.offer == "rest"
    assert plan.mix is not None
    base, rest = plan.mix
    assert (base["offer"], base["purchase"], base["nodes"]) == ("base", "reserved", 3)
    assert (rest["offer"], rest["purchase"], rest["nodes"]) == ("rest", "on_demand", 1)
    assert plan.nodes == 4
    parts = base["compute_usd"] + rest["compute_usd"]
    assert parts == pytest.approx(plan.cost_parts_usd["compute"])
    assert plan.usd_per_gpu_hour == pytest.approx((3 * 0.5 + 2.0) / 4)
    assert (plan.stock_nodes, plan.stock_known) == (8, True)
    assert plan.min_term_hours == 48
    assert "note.mix" in {w.id for w in plan.warnings}


def test_each_part_is_paid_by_its_own_terms() -> None:
    """Tests a term and whole months of the base, and a discount on the rest alone."""
    discount = [{"purchase": "on_demand", "discount": "50%"}]
    plan = planned(BASE, REST, constraints=FOUR, prices=discount)
    assert plan.mix is not None
    base, rest = plan.mix
    assert base["usd_per_node_hour"] == 4.0
    assert rest["usd_per_node_hour"] == 8.0
    assert base["compute_usd"] >= 3 * 4.0 * 48
    monthly = {**BASE, "purchase": "monthly", "min_term": None}
    cheap = {**monthly, "usd_per_gpu_hour": 0.02}
    plan = planned(cheap, REST, constraints=FOUR)
    assert plan.purchase == "monthly+on_demand"
    assert plan.mix is not None
    assert plan.mix[0]["compute_usd"] == pytest.approx(3 * 8 * 0.02 * 730)


def test_a_mix_beats_what_it_is_made_of() -> None:
    """Tests that neither part alone, nor all on demand, costs less."""
    both = planned(BASE, REST, constraints=FOUR)
    alone = planned({**REST, "max_nodes": 8}, constraints=FOUR)
    assert both.cost_usd < alone.cost_usd
    assert solved(BASE, constraints=FOUR).status == "infeasible"


def test_a_dear_base_is_used_as_little_as_can_be() -> None:
    """Tests the other end of the line: on demand first where the base costs more."""
    dear = {**BASE, "usd_per_gpu_hour": 9}
    plan = planned(dear, {**REST, "max_nodes": 3}, constraints=FOUR)
    assert plan.mix is not None
    assert [part["nodes"] for part in plan.mix] == [1, 3]


@pytest.mark.parametrize(
    ("base", "rest"),
    [
        ({"provider": "other"}, {}),
        ({"region": "jp"}, {}),
        ({"gpu": "h100-sxm-80gb"}, {}),
        ({"gpus_per_node": 4, "network": {"gbps_per_node": 800, "kind": "roce"}}, {}),
        ({"network": {"gbps_per_node": 3200, "kind": "infiniband"}}, {}),
        ({"max_nodes": None}, {}),
        ({"local_nvme_tb": 7.0}, {"local_nvme_tb": 9.0}),
        ({}, {"purchase": "reserved", "min_term": "1 day"}),
        ({"purchase": "on_demand", "min_term": None}, {}),
    ],
)
def test_what_makes_no_mix(base: dict[str, Any], rest: dict[str, Any]) -> None:
    """Tests pools, known stock, common storage and the kinds of both parts."""
    assert mixes(BASE, REST)
    assert not mixes({**BASE, **base}, {**REST, **rest})


def test_both_kinds_have_to_be_allowed() -> None:
    """Tests that a mix is no way around the purchase kinds."""
    kinds = ["on_demand", "reserved"]
    assert mixes(BASE, REST, constraints={"purchase": kinds})
    for kind in kinds:
        assert not mixes(BASE, REST, constraints={"purchase": [kind]})


def test_a_shared_tier_serves_both_parts() -> None:
    """Tests that a file system of one offer joins two with drives that differ."""
    (first, *_) = mixes({**BASE, "storage": ["lustre"]}, {**REST, "local_nvme_tb": 9})
    assert {tier.id for tier in first.storage} == {"lustre"}


def test_it_starts_when_both_parts_are_there() -> None:
    """Tests lead times of both parts, and a base that grows."""
    late = {**BASE, "lead_time": "9 days"}
    plan = planned(late, {**REST, "lead_time": "4 days"}, constraints=FOUR)
    assert (plan.start, plan.lead_time_days) == ("2026-12-10", 9)
    free = {"purchase": "owned", "usd_per_gpu_hour": None, "min_term": None}
    calendar = [{"nodes": 1}, {"from": "2026-12-05", "nodes": 2}]
    grown = {**BASE, **free, "max_nodes": None, "available": calendar}
    plan = planned(grown, REST, constraints={"gpus": {"min": 32, "max": 32}})
    assert plan.mix is not None
    assert (plan.start, plan.mix[0]["nodes"]) == ("2026-12-05", 3)
    soon = planned(grown, REST, constraints=FOUR, objective="time")
    assert soon.start is None


def test_limits_hold_for_the_sum_or_for_each_part() -> None:
    """Tests fabrics, shared quotas and quotas of one purchase kind."""
    wide = {"gpus": {"min": 48}}
    assert planned(BASE, REST, constraints=wide).nodes >= 6
    one_fabric = {**REST, "max_nodes_per_cluster": 5}
    assert solved(BASE, one_fabric, constraints=wide).status == "infeasible"
    shared = {"quota": [{"provider": "host", "max_nodes": 5}]}
    assert solved(BASE, REST, constraints=wide, stock=shared).status == "infeasible"
    plan = planned(BASE, REST, constraints=FOUR, stock=shared)
    assert (plan.quota_nodes, plan.nodes) == (5, 4)
    reserved = {"quota": [{"purchase": "reserved", "max_gpus": 16}]}
    plan = planned(BASE, REST, constraints=FOUR, stock=reserved)
    assert plan.mix is not None
    assert [part["nodes"] for part in plan.mix] == [2, 2]
    assert plan.quota_nodes is None


def test_spare_nodes_are_split_too() -> None:
    """Tests that base and rest count the spares."""
    failures = {"spares": 2, "replacement": "2 days"}
    plan = planned(BASE, REST, constraints=FOUR, failures=failures)
    assert plan.mix is not None
    assert (plan.nodes, plan.spare_nodes) == (4, 2)
    assert [part["nodes"] for part in plan.mix] == [3, 3]


def test_a_wrong_mix_is_rejected() -> None:
    """Tests mixes that differ in their split, of which no figure is right."""
    scenario = job([BASE, REST], workload=WORK, constraints=FOUR)
    plan = planned(BASE, REST, constraints=FOUR)
    assert plan.mix is not None
    assert verify(plan, scenario, catalog()) == []
    base, rest = plan.mix
    for wrong in (
        (rest, base),
        (base, base),
        (base,),
        (base, rest, rest),
        ({**base, "nodes": 2}, {**rest, "nodes": 2}),
        ({**base, "nodes": 4}, {**rest, "nodes": 0}),
        ({**base, "nodes": 3.0}, rest),
        ({**base, "offer": "none"}, rest),
    ):
        assert verify(replace(plan, mix=wrong), scenario, catalog())
    assert verify(replace(plan, mix=None), scenario, catalog())
    only = job([BASE, REST], workload=WORK, constraints={**FOUR, "purchase": ["owned"]})
    rules = {violation.rule for violation in verify(plan, only, catalog())}
    assert rules == {"purchase"}


def test_a_no_names_the_kinds_that_a_mix_needs() -> None:
    """Tests that the override of two kinds opens the plan that is told."""
    spot = {**H100, "spot_usd_per_gpu_hour": 1, "max_nodes": 1}
    asked = {**FOUR, "purchase": ["spot"]}
    rest = {**REST, "max_nodes": 3}
    result = solved(BASE, rest, spot, constraints=asked)
    assert result.explanation is not None
    told = {r["constraint"]: r for r in result.explanation.relaxations}
    override = told["purchase"]["set"]
    assert override == "constraints.purchase=[spot,reserved,on_demand]"
    again = job(
        [BASE, rest, spot], workload=WORK, constraints=asked, overrides=(override,)
    )
    plan = plan_job(again, catalog(), alternatives=0).plan
    assert plan is not None
    assert plan.cost_usd == pytest.approx(told["purchase"]["opens"]["cost_usd"], 1e-4)


def test_a_no_names_what_the_offers_of_a_mix_state() -> None:
    """Tests terms, lead times and fabrics of a part as what stands in the way."""
    for change, limits, rule in (
        ({"min_term": "300 days"}, {"budget": 900}, "term"),
        ({"lead_time": "200 days"}, {"deadline": "20 days"}, "lead_time"),
        ({"max_nodes_per_cluster": 3}, {}, "cluster"),
    ):
        base = {**BASE, "usd_per_gpu_hour": 0.05, **change}
        rest = {**REST, "max_nodes": 2}
        result = solved(base, rest, constraints={**FOUR, **limits})
        assert result.explanation is not None, rule
        told = {r["constraint"]: r for r in result.explanation.relaxations}
        override = told[rule]["set"]
        assert override.startswith("offers[0].")
        again = job(
            [base, rest],
            workload=WORK,
            constraints={**FOUR, **limits},
            overrides=(override,),
        )
        opened = plan_job(again, catalog(), alternatives=0).plan
        assert opened is not None, override
        assert opened.purchase == "reserved+on_demand"


OWNED: dict[str, Any] = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}


def test_energy_and_hosting_of_owned_nodes() -> None:
    """Tests both by hand: power x PUE x price and a fee, for the hours used."""
    stated = {"usd_per_kwh": 0.1, "node_power": 6, "pue": 1.2}
    plan = planned({**OWNED, **stated, "hosting_usd_per_node_month": 73})
    hours = plan.duration_days * 24 * plan.nodes
    assert plan.cost_parts_usd["energy"] == pytest.approx(hours * 6 * 1.2 * 0.1)
    assert plan.cost_parts_usd["hosting"] == pytest.approx(hours * 0.1)
    assert plan.cost_parts_usd["compute"] == 0
    assert plan.cost_usd == pytest.approx(sum(plan.cost_parts_usd.values()))
    assert plan.energy_mwh == pytest.approx(hours * 6 * 1.2 / 1000)
    assert (plan.node_power_kw, plan.pue) == (6, 1.2)


def test_power_and_pue_that_are_not_stated() -> None:
    """Tests the documented defaults: limits of the GPUs, and what sites average."""
    plan = planned({**OWNED, "usd_per_kwh": 0.1})
    power = 8 * catalog().gpus["a100-sxm-80gb"].tdp_w / 1000 * HOST_FACTOR
    hours = plan.duration_days * 24 * plan.nodes
    expected = hours * power * DEFAULT_PUE * 0.1
    assert plan.cost_parts_usd["energy"] == pytest.approx(expected)
    assert {"warning.node-power", "warning.pue"} <= {w.id for w in plan.warnings}


HALL: dict[str, Any] = {
    **OWNED,
    "name": "hall",
    "buy_usd_per_node": 200_000,
    "years": 4,
    "resale": "10%",
    "usd_per_kwh": 0.1,
    "node_power": 6,
    "pue": 1.2,
    "hosting_usd_per_node_month": 730,
}


def test_what_buying_means() -> None:
    """Tests outlay, cost a year and a GPU-hour by hand, and the charge for the use."""
    plan = planned(HALL)
    bought = plan.purchase_plan
    assert bought is not None
    assert plan.purchase == "bought"
    assert bought["outlay_usd"] == plan.nodes * 200_000
    assert bought["resale_usd"] == pytest.approx(plan.nodes * 20_000)
    running = 0.1 * 6 * 1.2 + 1.0
    yearly = plan.nodes * (180_000 / 4 + running * YEAR_HOURS)
    assert bought["usd_per_year"] == pytest.approx(yearly)
    per_gpu_hour = yearly / (YEAR_HOURS * plan.gpus)
    assert bought["usd_per_gpu_hour"] == pytest.approx(per_gpu_hour)
    hours = plan.duration_days * 24
    charged = plan.nodes * 180_000 * hours / (4 * YEAR_HOURS)
    assert plan.cost_parts_usd["compute"] == pytest.approx(charged)


def test_the_whole_price_can_be_charged() -> None:
    """Tests who has no other use: the price less resale, and what that decides."""
    plan = planned({**HALL, "charge": "whole"})
    assert plan.cost_parts_usd["compute"] == pytest.approx(plan.nodes * 180_000)
    assert "note.bought-whole" in {w.id for w in plan.warnings}
    assert planned({**HALL, "charge": "whole"}, A100).purchase == "on_demand"
    assert planned(HALL, A100).purchase == "bought"


def test_the_break_even_is_where_both_cost_the_same() -> None:
    """Tests months of use by running the job so often, bought and rented."""
    plan, rented = planned(HALL, A100), planned(A100)
    assert plan.purchase_plan is not None
    bought, even = plan.purchase_plan, plan.purchase_plan["break_even"]
    assert (even["offer"], even["purchase"]) == ("a", "on_demand")
    assert even["cost_usd"] == pytest.approx(rented.cost_usd)
    jobs = even["months"] * 730 / bought["used_hours"]
    each = plan.cost_usd - bought["charged_usd"]
    owning = bought["outlay_usd"] - bought["resale_usd"] + jobs * each
    assert owning == pytest.approx(jobs * rented.cost_usd)
    for more in (0.99, 1.01):
        fewer = bought["outlay_usd"] - bought["resale_usd"] + more * jobs * each
        assert (fewer > more * jobs * rented.cost_usd) == (more < 1)


def test_a_break_even_that_never_comes_and_one_without_a_rival() -> None:
    """Tests nodes whose energy costs more than rent, and a job that none can rent."""
    dear = {**HALL, "usd_per_kwh": 8}
    only = {"purchase": ["bought"]}
    plan = planned(dear, A100, constraints=only)
    assert plan.purchase_plan is not None
    assert plan.purchase_plan["break_even"]["months"] is None
    alone = planned(HALL).purchase_plan
    assert alone is not None
    assert alone["break_even"] is None


def test_a_base_may_be_bought() -> None:
    """Tests the outlay of the base of a mix, and the break-even of it."""
    hall = {**HALL, "name": "base", "provider": "host", "max_nodes": 3}
    rest = {**REST, "max_nodes": 3}
    plan = planned(hall, rest, {**H100, "max_nodes": 8}, constraints=FOUR)
    assert plan.purchase == "bought+on_demand"
    assert plan.purchase_plan is not None
    assert plan.purchase_plan["outlay_usd"] == 600_000
    assert plan.purchase_plan["break_even"]["offer"] == "h"


def test_a_no_says_that_the_use_could_be_charged() -> None:
    """Tests that the override instead of the whole price opens a plan."""
    whole = {**HALL, "charge": "whole"}
    result = solved(whole, constraints={"budget": 9_000})
    assert result.explanation is not None
    told = {r["constraint"]: r for r in result.explanation.relaxations}
    assert told["term"]["set"] == "offers[0].charge=used"
    again = job(
        [whole],
        workload=WORK,
        constraints={"budget": 9_000},
        overrides=("offers[0].charge=used",),
    )
    assert plan_job(again, catalog(), alternatives=0).status == "optimal"


SPOT: dict[str, Any] = {
    **A100,
    "max_nodes": 64,
    "min_nodes": 48,
    "spot_usd_per_gpu_hour": 0.5,
    "storage": ["local-nvme-gen4"],
}
"""Many spot nodes whose checkpoints are lost with them."""


def test_lost_time_is_told() -> None:
    """Tests the share of a run that interruptions take, and both percentiles."""
    spot = {"purchase": ["spot"]}
    plan = planned(SPOT, workload={"tokens": "500B"}, constraints=spot)
    parts = plan.duration_parts_days
    run = sum(v for k, v in parts.items() if k not in ("setup", "queue", "delivery"))
    lost = parts["failures"] + parts["replacement"]
    assert plan.lost_share == pytest.approx(lost / run)
    assert plan.lost_share > 0.2
    assert "warning.lost-spot" in {w.id for w in plan.warnings}
    assert plan.duration_p90_days is not None
    assert plan.cost_p90_usd is not None
    assert plan.duration_p90_days > plan.duration_days
    assert plan.cost_p90_usd > plan.cost_usd
    steady = planned(SPOT, workload={"tokens": "500B"})
    assert steady.lost_share < plan.lost_share


def test_a_run_that_never_ends_is_refused_and_explained() -> None:
    """Tests that a 'no' by goodput names it, and what opens a plan: each is tried."""
    keys: dict[str, Any] = {"workload": {"tokens": "4T"}}
    kinds = {"purchase": ["spot"], "gpus": {"min": 256}}
    offer = {**SPOT, "min_nodes": 1}
    result = solved(offer, constraints=kinds, **keys)
    why = result.explanation
    assert why is not None
    assert "goodput" in why.conflict
    assert MESSAGES["why.goodput"].split("{")[0].strip() in why.summary
    told = {r["constraint"]: r["set"] for r in why.relaxations}
    assert set(told) >= {"purchase", "gpus"}
    for name in ("purchase", "gpus"):
        again = job([offer], constraints=kinds, overrides=(told[name],), **keys)
        assert plan_job(again, catalog(), alternatives=0).status == "optimal"


def test_an_outlay_is_told_beside_the_charge() -> None:
    """Tests the headline, and the warning only where the outlay passes a budget."""
    free = solved(HALL, A100, constraints={"purchase": ["bought"]})
    assert free.plan is not None
    assert free.plan.purchase_plan is not None
    outlay = free.plan.purchase_plan["outlay_usd"]
    assert f" charged, ${outlay:,.0f} up front, " in headline(free)
    assert outlay > free.plan.cost_usd
    for budget, warned in ((outlay - 1, True), (outlay + 1, False)):
        limits = {"purchase": ["bought"], "budget": budget}
        told = {w.id for w in planned(HALL, A100, constraints=limits).warnings}
        assert ("warning.outlay" in told) == warned
    assert "up front" not in headline(solved(A100))

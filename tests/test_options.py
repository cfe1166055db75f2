"""Tests of the offers that a scenario may use, of what removes each, and of prices."""

from __future__ import annotations

from typing import Any

import pytest

from solver.options import (
    SET_RULES,
    OptionSet,
    allowed_purchase,
    gather_options,
    network_gbps_per_gpu,
    price_after_discount,
)
from solver.plan import Message
from solver.rules import RULE_IDS
from solver.setting import setting_of
from tests.planning.jobs import A100, H100, catalog, job

FAST = {"name": "fast", "kind": "parallel_fs", "read": "50 GB/s", "write": "20 GB/s"}
SLOW = {"name": "slow", "kind": "network_fs", "read": "1 GB/s", "write": "1 GB/s"}

L40S: dict[str, Any] = {
    "name": "l",
    "gpu": "l40s",
    "gpus_per_node": 4,
    "network": {"gbps_per_node": 100, "kind": "ethernet"},
    "max_nodes": 4,
    "usd_per_gpu_hour": 0.8,
    "region": "us",
    "storage": [FAST],
}
A, H = {**A100, "storage": [SLOW]}, {**H100, "storage": [FAST]}


def options(offers: list[dict[str, Any]] | None = None, **keys: Any) -> OptionSet:
    """The options of the toy job."""
    return setting_of(
        job([A, H, L40S] if offers is None else offers, **keys), catalog()
    ).option_set


def names(found: OptionSet) -> list[str]:
    """Ids of the offers that are left."""
    return [o.offer.id for o in found.options]


@pytest.mark.parametrize(
    ("rule", "constraints", "left"),
    [
        ("regions", {"regions": ["sg"]}, ["a"]),
        ("regions", {"regions": ["h/jp", "l/us"]}, ["h", "l"]),
        ("countries", {"countries": ["JP", "US"]}, ["h", "l"]),
        ("countries", {"countries": ["Singapore"]}, ["a"]),
        ("providers", {"providers": ["l"]}, ["l"]),
        ("gpu_types", {"gpus": {"types": ["H100"]}}, ["h"]),
        ("gpu_types", {"gpus": {"exclude": ["A100", "L40S"]}}, ["h"]),
        ("gpus", {"gpus": {"per_node": [4]}}, ["l"]),
        ("gpus", {"gpus": {"per_node": [8]}}, ["a", "h"]),
        ("intra_node", {"intra_node": {"min_gb_per_s": 301}}, ["h"]),
        ("intra_node", {"intra_node": {"min_gb_per_s": 300}}, ["a", "h"]),
        ("intra_node", {"intra_node": {"kinds": ["pcie"]}}, ["l"]),
        ("network", {"network": {"min_gbps_per_gpu": 201}}, ["h"]),
        ("network", {"network": {"min_gbps_per_gpu": 25}}, ["a", "h", "l"]),
        ("network", {"network": {"kinds": ["ethernet"]}}, ["l"]),
        ("storage", {"storage": {"kinds": ["network_fs"]}}, ["a"]),
        ("storage", {"storage": {"kinds": ["parallel_fs"]}}, ["h", "l"]),
        ("purchase", {"purchase": ["spot"]}, []),
        ("purchase", {"purchase": ["spot", "on_demand"]}, ["a", "h", "l"]),
    ],
)
def test_a_rule_keeps_what_it_allows(
    rule: str, constraints: dict[str, Any], left: list[str]
) -> None:
    """Tests which offers one set rule keeps, and that all others are its doing."""
    found = options(constraints=constraints)
    assert names(found) == left
    lost = 3 - len(left)
    assert found.total == 3
    assert dict(found.removed) == ({rule: lost} if lost else {})
    assert found.alone == found.removed


def test_precision_removes_what_has_no_such_cores() -> None:
    """Tests that fp8 leaves Hopper and Ada, and fp4 nothing of them."""
    fp8 = options(workload={"precision": "fp8"})
    assert names(fp8) == ["h", "l"]
    assert dict(fp8.alone) == {"precision": 1}
    fp4 = options(workload={"precision": "nvfp4"})
    assert names(fp4) == []
    assert dict(fp4.removed) == {"precision": 3}


def today(offer: dict[str, Any]) -> list[int]:
    """Nodes of the offer's options that need not wait for a delivery."""
    found = options([offer]).options
    return [o.max_nodes for o in found if getattr(o, "start", None) is None]


def test_stock_that_comes_later_is_none_today() -> None:
    """Tests that nodes delivered after the start are no stock, and those before are."""
    bare = {k: v for k, v in A.items() if k != "max_nodes"}
    later = {**bare, "available": [{"from": "2027-06-01", "nodes": 4}]}
    assert today(later) == []
    two = [{"from": "2026-11-01", "nodes": 3}, *later["available"]]
    assert today({**bare, "available": two}) == [3]
    assert all(o.stock_known for o in options([{**bare, "available": two}]).options)


def test_fewest_nodes_beyond_the_stock_of_today() -> None:
    """Tests that an offer of 4 nodes at least is none where 2 have come."""
    dates = [{"from": "2026-11-01", "nodes": 2}, {"from": "2027-06-01", "nodes": 8}]
    bare = {k: v for k, v in A.items() if k != "max_nodes"}
    offer = {**bare, "min_nodes": 4, "available": dates}
    assert today(offer) == []
    assert today({**offer, "min_nodes": 2}) == [2]


def test_the_first_broken_rule_counts_and_alone_only_one() -> None:
    """Tests the two counts on an offer that breaks one rule and one that breaks two."""
    found = options(
        constraints={"countries": ["JP"], "gpus": {"types": ["H100", "A100"]}}
    )
    assert names(found) == ["h"]
    # a: its country only; l: country and GPU
    assert dict(found.removed) == {"countries": 2}
    assert dict(found.alone) == {"countries": 1}


def test_rules_are_named_and_ordered_as_everywhere() -> None:
    """Tests that every set rule is a rule of the registry, in its order."""
    places = [RULE_IDS.index(rule) for rule in SET_RULES]
    assert places == sorted(places)


def test_options_are_in_the_order_of_ids() -> None:
    """Tests that the order in the file plays no part."""
    assert (
        names(options([L40S, H, A])) == names(options([A, H, L40S])) == ["a", "h", "l"]
    )


def test_storage_keeps_only_allowed_kinds() -> None:
    """Tests that an offer with two tiers stays with the allowed one."""
    both = {**A, "storage": [FAST, SLOW]}
    (option,) = options(
        [both], constraints={"storage": {"kinds": ["network_fs"]}}
    ).options
    assert [t.name for t in option.storage] == ["slow"]
    (option,) = options([both]).options
    assert sorted(t.name for t in option.storage) == ["fast", "slow"]


RULES = [
    ([{"discount": "10%"}], 0.9),
    ([{"provider": "a", "discount": "25%"}], 0.75),
    ([{"provider": "h", "discount": "25%"}], 1.0),
    ([{"region": "sg", "discount": "5%"}], 0.95),
    ([{"region": "jp", "discount": "5%"}], 1.0),
    ([{"gpu": "A100", "discount": "40%"}], 0.6),
    ([{"gpu": "H100", "discount": "40%"}], 1.0),
    ([{"purchase": "on_demand", "discount": "30%"}], 0.7),
    ([{"purchase": "spot", "discount": "30%"}], 1.0),
    ([{"provider": "a", "gpu": "H100", "discount": "50%"}], 1.0),
    ([{"provider": "a", "gpu": "A100", "discount": "50%"}], 0.5),
    # the last that matches, not the best and not the sum
    ([{"discount": "50%"}, {"provider": "a", "discount": "20%"}], 0.8),
    ([{"provider": "a", "discount": "20%"}, {"provider": "h", "discount": "60%"}], 0.8),
]


@pytest.mark.parametrize(("prices", "factor"), RULES)
def test_price_rules(prices: list[dict[str, Any]], factor: float) -> None:
    """Tests which negotiated discount applies to $16 a node-hour in Singapore."""
    scenario = job([A, H], prices=prices)
    offer = scenario.supply.offers[0]
    assert price_after_discount(scenario, offer, "a100-sxm-80gb") == pytest.approx(
        16.0 * factor
    )
    option = next(
        o for o in options([A, H], prices=prices).options if o.offer.id == "a"
    )
    assert option.usd_per_node_hour == pytest.approx(16.0 * factor)


def test_a_discount_leaves_the_list_price_in_the_offer() -> None:
    """Tests that the record of the offer stays as stated."""
    (option,) = options([A], prices=[{"discount": "50%"}]).options
    assert (option.usd_per_node_hour, option.offer.usd_per_node_hour) == (8.0, 16.0)


def test_owned_and_monthly_are_used_without_asking() -> None:
    """Tests that the kinds of one's own offers are allowed unless kinds are stated."""
    bare = {k: v for k, v in A.items() if k != "usd_per_gpu_hour"}
    monthly = {**bare, "name": "m", "usd_per_node_month": 5000}
    assert names(options([bare, monthly, H])) == ["a", "h", "m"]
    scenario = job([bare, monthly, H])
    assert allowed_purchase(scenario) == {"on_demand", "owned", "monthly"}
    only = {"purchase": ["monthly"]}
    assert names(options([bare, monthly, H], constraints=only)) == ["m"]
    assert allowed_purchase(job([bare, monthly], constraints=only)) == {"monthly"}


def test_spot_of_ones_own_is_asked_for() -> None:
    """Tests that a spot price is used only where spot is allowed."""
    both = {**A, "spot_usd_per_gpu_hour": 0.9}
    assert names(options([both])) == ["a"]
    found = options([both], constraints={"purchase": ["spot"]})
    assert names(found) == ["a/spot"]
    assert found.options[0].usd_per_node_hour == pytest.approx(7.2)


def test_share_of_the_nics() -> None:
    """Tests that a GPU's share is the node's rate over its GPUs, 0 without a fabric."""
    alone = {k: v for k, v in A.items() if k != "network"}
    shares = {
        o.offer.id: network_gbps_per_gpu(o.server)
        for o in options([{**alone, "name": "n"}, H, L40S]).options
    }
    assert shares == {"h": 400.0, "l": 25.0, "n": 0.0}


def test_no_fabric_is_one_node_and_no_kind_of_network() -> None:
    """Tests that a node by itself fails any wish for a network."""
    alone = {k: v for k, v in A.items() if k != "network"}
    (option,) = options([alone]).options
    assert (option.max_nodes, option.network) == (1, None)
    for wish in ({"min_gbps_per_gpu": 1}, {"kinds": ["infiniband"]}):
        assert dict(options([alone], constraints={"network": wish}).alone) == {
            "network": 1
        }


def test_unknown_stock_is_what_the_scenario_says() -> None:
    """Tests that stock.unknown_nodes fills in, and is no stated stock."""
    bare = {k: v for k, v in A.items() if k != "max_nodes"}
    (option,) = options([bare], stock={"unknown_nodes": 7}).options
    assert (option.max_nodes, option.stock_known) == (7, False)
    (option,) = options([A], stock={"unknown_nodes": 7}).options
    assert (option.max_nodes, option.stock_known) == (4, True)


def test_stock_can_be_lifted_where_nodes_are_joined() -> None:
    """Tests that 'at least' raises connected offers and leaves single nodes alone."""
    from dataclasses import replace

    from solver.catalog.supply import merged_catalog

    alone = {**{k: v for k, v in A.items() if k != "network"}, "name": "n"}
    scenario = replace(job([alone, H]), stock_at_least=4096)
    supply = merged_catalog(catalog(), scenario.supply)
    nodes = {o.offer.id: o.max_nodes for o in gather_options(scenario, supply).options}
    assert nodes == {"h": 4096, "n": 1}


def test_every_shipped_offer_is_usable_or_counted() -> None:
    """Tests that usable and removed offers add up over the shipped catalog."""
    scenario = job([], {"countries": ["SG", "US"], "gpus": {"types": ["A100", "H100"]}})
    found = setting_of(scenario, catalog()).option_set
    assert found.options
    assert len(found.options) + sum(found.removed.values()) == found.total
    assert found.total == len(catalog().offers)
    assert all(o.country in ("SG", "US") for o in found.options)
    assert all(o.gpu.family in ("A100", "H100") for o in found.options)
    assert sum(found.alone.values()) <= sum(found.removed.values())


def test_own_offers_replace_the_catalog_unless_included() -> None:
    """Tests that own offers stand alone, or on top under `catalog: include`."""
    assert options([A]).total == 1
    with_all = setting_of(job([A], catalog="include"), catalog()).option_set
    assert with_all.total == 1 + len(catalog().offers)


def test_notices_come_with_the_scenario() -> None:
    """Tests that a fabric taken as a tier is told once an offer."""
    told = [n for n in job([A, H]).notices if n.id == "notice.offer.network"]
    assert [n.values["offer"] for n in told] == ["a", "h"]
    assert all(isinstance(n, Message) and n.text for n in told)


def starts(offer: dict[str, Any]) -> list[tuple[str | None, int, int]]:
    """Day, fewest and most nodes of each option of an offer."""
    return [
        (o.start.isoformat() if o.start else None, o.min_nodes, o.max_nodes)
        for o in options([offer]).options
    ]


CALENDAR: dict[str, Any] = {
    **{k: v for k, v in A.items() if k != "max_nodes"},
    "available": [
        {"nodes": 2},
        {"from": "2026-12-11", "nodes": 3},
        {"from": "2027-01-01", "nodes": 4},
    ],
}
"""2 nodes on 2026-12-01, 5 from the 11th on, 9 in the new year."""


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, [(None, 1, 2), ("2026-12-11", 3, 5), ("2027-01-01", 6, 9)]),
        (
            {"lead_time": "5 days"},
            [("2026-12-06", 1, 2), ("2026-12-11", 3, 5), ("2027-01-01", 6, 9)],
        ),
        ({"lead_time": "10 days"}, [("2026-12-11", 1, 5), ("2027-01-01", 6, 9)]),
        ({"lead_time": "60 days"}, [("2027-01-30", 1, 9)]),
        ({"max_nodes_per_cluster": 4}, [(None, 1, 2), ("2026-12-11", 3, 4)]),
        ({"max_nodes_per_cluster": 2}, [(None, 1, 2)]),
        ({"max_nodes": 6}, [(None, 1, 2), ("2026-12-11", 3, 5), ("2027-01-01", 6, 6)]),
        ({"min_nodes": 4}, [("2026-12-11", 4, 5), ("2027-01-01", 6, 9)]),
    ],
)
def test_each_start_is_worth_waiting_for(
    changes: dict[str, Any], wanted: list[tuple[str | None, int, int]]
) -> None:
    """Tests start = max(order + lead time, delivery), and the nodes new then."""
    assert starts({**CALENDAR, **changes}) == wanted


def test_a_cluster_too_small_is_its_own_reason() -> None:
    """Tests that a stock of 9 nodes fails on the fabric, not on the stock."""
    supply = {**CALENDAR, "min_nodes": 2, "max_nodes_per_cluster": 2}
    found = options([supply], constraints={"countries": ["SG"]})
    assert [o.cluster_nodes for o in found.options] == [2]
    assert found.supply_rules == {"cluster"}


def test_rules_of_supply_that_offers_state() -> None:
    """Tests that what no offer states is not in force."""
    assert options([A]).supply_rules == frozenset()
    offer = {**A, "lead_time": 3, "min_term": "1 month"}
    assert options([offer]).supply_rules == {"lead_time", "term"}


@pytest.mark.parametrize(
    ("quotas", "most"),
    [
        ([], None),
        ([{"max_nodes": 3}], 3),
        ([{"max_gpus": 17}], 2),
        ([{"max_vcpus": 300}], 3),
        ([{"max_nodes": 3}, {"gpu": "A100", "max_gpus": 8}], 1),
        ([{"provider": "a", "max_nodes": 2}, {"provider": "h", "max_nodes": 1}], 2),
        ([{"purchase": "spot", "max_nodes": 1}], None),
    ],
)
def test_quotas_in_nodes(quotas: list[dict[str, Any]], most: int | None) -> None:
    """Tests that every quota that covers an offer holds, counted by its servers."""
    found = options([{**A, "vcpus": 96}, H], stock={"quota": quotas})
    (option,) = [o for o in found.options if o.offer.id == "a"]
    assert option.quota_nodes == most
    assert option.max_nodes == min(option.stock_nodes, most or option.stock_nodes)
    assert found.supply_rules == ({"quota"} if quotas else set())


def test_a_quota_of_zero_is_its_own_reason() -> None:
    """Tests that an offer that the account may not have is removed by the quota."""
    found = options([A, H], stock={"quota": [{"provider": "a", "max_gpus": 7}]})
    assert names(found) == ["h"]
    assert dict(found.alone) == {"quota": 1}

"""Tests of what an offer amounts to: nodes, storage, usual server."""

from dataclasses import dataclass, field
from datetime import date

import pytest

from solver.catalog.inventory import stock_limit
from solver.catalog.load import load_catalog
from solver.catalog.schema import Delivery, Offer, Server, StorageTier
from solver.catalog.supply import (
    merged_catalog,
    standard_server,
    storage_options,
)
from solver.errors import InputError
from tests.catalog.small import small_catalog

CATALOG = load_catalog(environment={})
SMALL = small_catalog()


def _offer(**changes):
    values = {
        "id": "mine",
        "provider": "acme",
        "region": "acme/east",
        "server": "8x-small-a",
        "purchase": "on_demand",
        "usd_per_node_hour": 8,
        "source": "made up",
    }
    return Offer.model_validate(values | changes)


@dataclass
class _Supply:
    offers: tuple = ()
    servers: tuple = ()
    storage: tuple = ()
    countries: dict = field(default_factory=dict)
    with_catalog: bool = False


DELIVERIES = (Delivery(nodes=2), Delivery(start="2027-01-01", nodes=3))


@pytest.mark.parametrize(
    ("changes", "network", "expected"),
    [
        ({}, True, (64, False)),
        ({"marketplace": True}, True, (1, False)),
        ({}, False, (1, False)),
        ({"max_nodes": 5}, True, (5, True)),
        ({"max_nodes": 5, "marketplace": True}, True, (5, True)),
        ({"max_nodes": 5}, False, (1, True)),
        ({"max_nodes": 0}, True, (0, True)),
        ({"available": DELIVERIES}, True, (5, True)),
        ({"max_nodes": 4, "available": DELIVERIES}, True, (4, True)),
    ],
)
def test_stock(changes, network, expected):
    """Tests that stock that is not known is one node or the stated number."""
    server = SMALL.servers["8x-small-a"]
    if not network:
        server = server.model_copy(update={"network": None, "network_gbps": 0})
    assert stock_limit(SMALL, _offer(**changes), server, 64) == expected


def test_stock_of_a_day():
    """Tests that nodes which are delivered later are not in stock yet."""
    server = SMALL.servers["8x-small-a"]
    offer = _offer(available=DELIVERIES)
    for day, nodes in (("2026-12-31", 2), ("2027-01-01", 5), ("2028-01-01", 5)):
        stock = stock_limit(SMALL, offer, server, 64, date.fromisoformat(day))
        assert stock == (nodes, True)


def test_stock_of_a_network_that_nobody_knows():
    """Tests that a network tier that the catalog lacks counts as none."""
    server = SMALL.servers["8x-small-a"].model_copy(
        update={"network": "carrier-pigeon"}
    )
    assert stock_limit(SMALL, _offer(max_nodes=9), server, 64) == (1, True)


def test_storage_that_an_offer_names():
    """Tests that named tiers are taken, and that none named is free and enough."""
    server = SMALL.servers["8x-small-a"]
    named = storage_options(SMALL, _offer(storage=("shared",)), server)
    assert [tier.id for tier in named] == ["shared"]
    (free,) = storage_options(SMALL, _offer(storage=()), server)
    assert (free.id, free.usd_per_gb_month, free.capacity_tb) == ("local", 0.0, None)


def test_storage_that_an_offer_does_not_name():
    """Tests that local NVMe has the node's size, beside the provider's own tiers."""
    tiers = storage_options(SMALL, _offer(), SMALL.servers["8x-small-a"])
    assert [(tier.id, tier.capacity_tb) for tier in tiers] == [
        ("local", 3.84),
        ("shared", None),
    ]
    assert tiers[0].usd_per_gb_month == 0
    without = SMALL.servers["8x-small-a"].model_copy(
        update={"id": "x", "local_nvme_tb": 0}
    )
    assert [t.id for t in storage_options(SMALL, _offer(), without)] == ["shared"]


def _shipped_storage(offer_id):
    offer = CATALOG.offers[offer_id]
    return storage_options(CATALOG, offer, CATALOG.servers[offer.server])


def test_storage_of_shipped_offers():
    """Tests the providers' own tiers, GPUDirect over RDMA only, and generic tiers."""
    aws = _shipped_storage("aws/us-east-1/p5.48xlarge/on_demand")
    assert {tier.provider for tier in aws} == {"", "aws"}
    local = [tier for tier in aws if not tier.provider]
    assert {tier.kind for tier in local} == {"nvme_raid"}
    assert {tier.capacity_tb for tier in local} == {30.4}
    assert any(tier.gpudirect and tier.provider == "aws" for tier in aws)
    ethernet = _shipped_storage("aws/us-east-1/g5.12xlarge/on_demand")
    assert not any(tier.gpudirect and tier.provider for tier in ethernet)
    host = _shipped_storage("vast/us-ga/1x-a100-sxm4-32/on_demand")
    assert [tier.id for tier in host] == ["nfs-10gbe"]
    assert host[0].usd_per_gb_month is None


def test_every_shipped_offer_has_storage():
    """Tests that no offer is left without a place for data and checkpoints."""
    for offer in CATALOG.offers.values():
        assert storage_options(CATALOG, offer, CATALOG.servers[offer.server])


def test_standard_servers_of_every_size():
    """Tests that each GPU has a usual server of 1, 2, 4 and 8 cards."""
    for gpu in CATALOG.gpus.values():
        for count in (1, 2, 4, 8):
            server = standard_server(CATALOG, gpu.id, count)
            assert (server.gpu, server.gpus_per_node) == (gpu.id, count)
            assert server.nvlink_domain_gpus >= count
            joined = server.intra_node_kind != "none"
            assert joined or count == 1


@pytest.mark.parametrize(
    ("gpu", "count", "tier", "rate", "domain", "pairs"),
    [
        ("a100-sxm-80gb", 8, "nvswitch-nvlink3", 300, 8, False),
        ("h100-sxm-80gb", 4, "nvswitch-nvlink4", 450, 4, False),
        ("h800-sxm-80gb", 8, "nvswitch-nvlink4", 200, 8, False),
        ("h100-sxm-80gb", 1, "none", 0, 1, False),
        ("l40s", 8, "pcie4", 31, 8, False),
        ("h100-nvl-94gb", 8, "nvlink4-bridge", 300, 8, True),
        ("h200-nvl-141gb", 4, "nvlink4-bridge", 450, 4, False),
        ("gb200-nvl72", 4, "nvl72-nvlink5", 900, 72, False),
        ("gb200-nvl72", 1, "nvl72-nvlink5", 900, 72, False),
        ("gb200-nvl72", 72, "nvl72-nvlink5", 900, 72, False),
    ],
)
def test_links_of_standard_servers(gpu, count, tier, rate, domain, pairs):
    """Tests that the usual links of known servers are right."""
    server = standard_server(CATALOG, gpu, count)
    assert server.intra_node == tier
    assert server.intra_node_gb_per_s == rate
    assert server.nvlink_domain_gpus == domain
    assert server.nvlink_pair_only is pairs


def test_standard_servers_scale():
    """Tests that host and NICs of half a server are half of them."""
    whole = standard_server(CATALOG, "h100-sxm-80gb", 8)
    half = standard_server(CATALOG, "h100-sxm-80gb", 4)
    assert half.network_gbps * 2 == whole.network_gbps == 3200
    assert half.ram_gb * 2 == whole.ram_gb
    assert half.network == whole.network


def test_other_links_than_the_usual_ones():
    """Tests that a stated tier, by id or alias, replaces the usual one."""
    server = standard_server(CATALOG, "a100-pcie-80gb", 2, "nvlink3-bridge")
    assert (server.intra_node_kind, server.intra_node_gb_per_s) == ("nvlink", 300)
    assert server.nvlink_pair_only
    server = standard_server(CATALOG, "h100-sxm-80gb", 8, "PCIe5")
    assert (server.intra_node, server.intra_node_gb_per_s) == ("pcie5", 63)


def test_a_gpu_without_reference_server():
    """Tests that cards of an own catalog are joined by PCIe where nothing is stated."""
    gpu = CATALOG.gpus["l40s"].model_copy(update={"id": "l50", "pcie_generation": 5})
    catalog = CATALOG.with_entries(gpus=[gpu])
    server = standard_server(catalog, "l50", 4)
    assert (server.intra_node, server.intra_node_gb_per_s) == ("pcie5", 63)
    assert standard_server(catalog, "l50", 1).intra_node == "none"
    assert server.network is None


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (("h100-sxm-80g", 8), "unknown-name", "h100-sxm-80gb"),
        (("h100-sxm-80gb", 0), "out-of-range", None),
        (("h100-sxm-80gb", 17), "out-of-range", None),
        (("gb200-nvl72", 73), "out-of-range", None),
        (("l40s", 8, "nvlnk4"), "unknown-name", "nvlink4"),
    ],
)
def test_servers_that_cannot_be(arguments, code, hint):
    """Tests that unknown cards, links and sizes are refused."""
    with pytest.raises(InputError) as caught:
        standard_server(CATALOG, *arguments)
    (issue,) = caught.value.issues
    assert (issue.code, issue.hint) == (code, hint)


def test_own_offers_alone_or_with_the_catalog():
    """Tests that own offers come with server, storage and country."""
    server = SMALL.servers["8x-small-a"].model_copy(update={"id": "me/8x-small-a"})
    tier = StorageTier(
        id="me/disk",
        name="disk",
        kind="block",
        read_gb_per_s_per_node=1,
        write_gb_per_s_per_node=1,
        source="mine",
    )
    offer = _offer(region="me/sg", provider="me", server=server.id, storage=[tier.id])
    supply = _Supply((offer,), (server,), (tier,), {"me/sg": "SG"})
    alone = merged_catalog(SMALL, supply)
    assert list(alone.offers) == ["mine"]
    assert alone.regions["me/sg"].country == "SG"
    assert isinstance(alone.servers["me/8x-small-a"], Server)
    assert [t.id for t in storage_options(alone, offer, server)] == ["me/disk"]
    supply.with_catalog = True
    assert len(merged_catalog(SMALL, supply).offers) == 4
    assert merged_catalog(SMALL, _Supply()) is SMALL
    assert "me/sg" not in SMALL.regions

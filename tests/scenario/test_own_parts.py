"""Tests of MIG slices and fractions of a node among offers of one's own."""

from pathlib import Path

import pytest

from solver.catalog.schema import Offer, Server
from solver.scenario.csv_offers import read_offers
from solver.scenario.scenario import Scenario
from tests.scenario.reading import SMALL, faults, notice_ids, only_fault, read
from tests.scenario.test_own_offers import offering, own


def supply(text: str) -> tuple[dict[str, Offer], dict[str, Server]]:
    """Return the offers and servers of a scenario by id."""
    found = read(text).supply
    return {o.id: o for o in found.offers}, {s.id: s for s in found.servers}


def test_a_slice_is_a_node_of_its_own() -> None:
    """Tests the offer of a slice: its price, one GPU, no network, nothing between."""
    scenario, offer, server = own(
        "{name: mine, gpu: a100-sxm-80gb, slice: 3g.40gb, usd_per_gpu_hour: 0.90, "
        "max_nodes: 14}"
    )
    assert (server.gpu, server.gpus_per_node) == ("a100-sxm-80gb/3g.40gb", 1)
    assert (server.network, server.intra_node_kind) == (None, "none")
    assert (offer.usd_per_node_hour, offer.max_nodes) == (0.90, 14)
    # that slices are alone is no assumption of ours
    assert "notice.offer.one-node" not in notice_ids(scenario)


@pytest.mark.parametrize(
    ("gpu", "profile"),
    [
        ("A100-SXM4-80GB", "MIG 3g.40gb"),
        ("A100 80GB SXM", "3G.40GB"),
        ("a100-sxm-80gb/3g.40gb", "3g.40gb"),
        ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "3g.40gb"),
    ],
)
def test_spellings(gpu: str, profile: str) -> None:
    """Tests that GPU and slice may be written as vendors do."""
    _, _, server = own(f"{{name: mine, gpu: {gpu}, slice: {profile}}}")
    assert server.gpu == "a100-sxm-80gb/3g.40gb"


def test_the_gpu_alone_may_name_the_slice() -> None:
    """Tests that the key is not needed where the GPU's name has the profile."""
    _, _, server = own("{name: mine, gpu: NVIDIA A30 MIG 2g.12gb}")
    assert (server.gpu, server.gpus_per_node) == ("a30/2g.12gb", 1)


def test_a_profile_may_tell_the_card() -> None:
    """Tests that of a family that card is meant which has the profile."""
    _, _, server = own("{name: mine, gpu: H200 SXM, slice: 1g.18gb}")
    assert server.gpu == "h200-sxm-141gb/1g.18gb"
    _, _, server = own("{name: mine, gpu: B200, slice: 1g.23gb}")
    assert server.gpu == "b200-sxm-180gb/1g.23gb"


@pytest.mark.parametrize(
    ("offer", "code", "path", "told"),
    [
        (
            "gpu: a100-sxm-80gb, slice: 3g.41gb",
            "unknown-name",
            "slice",
            "it has 1g.10gb (7 a card), 1g.20gb (4 a card)",
        ),
        ("gpu: rtx-4090, slice: 1g.6gb", "unknown-name", "slice", "cannot be cut"),
        ("gpu: h101, slice: 1g.10gb", "unknown-name", "gpu", "no GPU 'h101'"),
        ("gpu: A100, slice: 3g.40gb", "ambiguous-name", "gpu", "name one of them"),
        ("gpu: a30, slice: half", "wrong-value", "slice", "expected a MIG profile"),
        ("gpu: a30, slice: MIG", "wrong-value", "slice", "such as 3g.40gb"),
        ("gpu: a30, slice: h100 1g.10gb", "wrong-value", "slice", "not 'h100 1g.10gb'"),
        (
            "gpu: a30/1g.6gb, slice: 2g.12gb",
            "contradiction",
            "slice",
            "is a slice 1g.6gb already",
        ),
        (
            "gpu: a30, slice: 1g.6gb, gpus_per_node: 4",
            "out-of-range",
            "gpus_per_node",
            "one GPU of its own",
        ),
        (
            "gpu: a30, slice: 1g.6gb, intra_node: nvlink3-bridge",
            "wrong-value",
            "intra_node",
            "no link or network joins it",
        ),
        (
            "gpu: a30, slice: 1g.6gb, network: {gbps_per_node: 100, kind: ethernet}",
            "contradiction",
            "network",
            "no network joins MIG slices",
        ),
        (
            "gpu: a30, slice: 1g.6gb, min_nodes: 2",
            "contradiction",
            "min_nodes",
            "cannot use more than one",
        ),
        (
            "gpu: a30, slice: 1g.6gb, fractions: [1]",
            "contradiction",
            "fractions",
            "is rented whole",
        ),
        ("gpu: a100-sxm-80gb", "missing-key", "gpus_per_node", "is needed"),
        (
            "gpu: l40s, gpus_per_node: 8, fractions: [8]",
            "out-of-range",
            "fractions[0]",
            "fewer than the node's 8 GPUs",
        ),
        (
            "gpu: l40s, gpus_per_node: 8, fractions: [0]",
            "out-of-range",
            "fractions[0]",
            "",
        ),
    ],
)
def test_what_is_refused(offer: str, code: str, path: str, told: str) -> None:
    """Tests that each wrong part is one fault at its place."""
    issue = only_fault(offering(f"{{name: mine, {offer}, usd_per_gpu_hour: 1}}"))
    assert (issue.code, issue.path) == (code, f"offers[0].{path}")
    assert told in issue.message


def test_faults_of_a_node_are_not_told_of_its_fractions() -> None:
    """Tests that a wrong storage tier is one fault, not one for each fraction."""
    text = "{name: mine, gpu: l40s, gpus_per_node: 8, fractions: [1, 2], storage: nope}"
    assert [issue.code for issue in faults(offering(text))] == ["unknown-name"]


NODE = (
    "{name: mine, gpu: h100-sxm-80gb, gpus_per_node: 8, fractions: [1, 2, 4, 3], "
    "usd_per_gpu_hour: 2, ram_gb: 2000, vcpus: 128, local_nvme_tb: 16, max_nodes: 3, "
    "network: {gbps_per_node: 3200, kind: infiniband}, spot_usd_per_gpu_hour: 1}"
)


def test_fractions_have_their_share() -> None:
    """Tests price, stock, host, drives and NICs of half a node."""
    offers, servers = supply(offering(NODE))
    assert [i for i in offers if "spot" not in i] == [
        "mine",
        "mine/1-of-8",
        "mine/2-of-8",
        "mine/4-of-8",
        "mine/3-of-8",
    ]
    half = offers["mine/4-of-8"]
    assert (half.usd_per_node_hour, half.max_nodes) == (8.0, 6)
    assert (half.provider, half.region) == ("mine", "mine/local")
    assert offers["mine/4-of-8/spot"].usd_per_node_hour == 4.0
    assert offers["mine/3-of-8"].max_nodes == 6  # two of three GPUs a node
    server = servers[half.server]
    assert (server.ram_gb, server.vcpus, server.local_nvme_tb) == (1000, 64, 8)
    assert (server.network, server.network_gbps) == ("infiniband-ndr-400", 1600)


def test_a_fraction_may_stand_alone_or_twice() -> None:
    """Tests that one number needs no list, and that a number given twice is one."""
    for written in ("2", "[2]", "[2, 2]"):
        offers, _ = supply(
            offering(f"{{name: m, gpu: l40s, gpus_per_node: 8, fractions: {written}}}")
        )
        assert list(offers) == ["m", "m/2-of-8"]


def test_links_of_fractions_are_those_that_exist() -> None:
    """Tests that a part of an NVSwitch node has NVLink, and one GPU alone nothing."""
    _, servers = supply(offering(NODE))
    half = servers["mine/8x-h100-sxm-80gb/4-of-8"]
    assert (half.intra_node, half.nvlink_domain_gpus) == ("nvswitch-nvlink4", 4)
    assert half.intra_node_gb_per_s == 450
    one = servers["mine/8x-h100-sxm-80gb/1-of-8"]
    assert (one.intra_node_kind, one.nvlink_domain_gpus) == ("none", 1)
    _, over_pcie = supply(
        offering("{name: mine, gpu: l40s, gpus_per_node: 8, fractions: [2]}")
    )
    assert over_pcie["mine/8x-l40s/2-of-8"].intra_node == "pcie4"


def test_prices_a_node_are_shared() -> None:
    """Tests that prices, hosting and power of a node go in proportion."""
    offers, _ = supply(
        offering(
            "{name: mine, gpu: l40s, gpus_per_node: 8, fractions: [2], "
            "buy_usd_per_node: 80000, years: 4, hosting_usd_per_node_month: 400, "
            "usd_per_kwh: 0.1, node_power: 4 kW}"
        )
    )
    part = offers["mine/2-of-8"]
    assert (part.buy_usd_per_node, part.hosting_usd_per_node_month) == (20000, 100)
    assert part.node_power_kw == 1
    assert part.usd_per_node_hour == pytest.approx(offers["mine"].usd_per_node_hour / 4)


def test_local_drives_are_shared_and_shared_storage_is_not() -> None:
    """Tests capacity and rate of drives in the node, and of a file system beside it."""
    drives = "{name: disk, kind: local_nvme, read: 8, write: 4, capacity: 8 TB}"
    shared = "{name: fs, kind: network_fs, read: 2, write: 1, capacity: 9 TB}"
    found = read(
        offering(
            "{name: mine, gpu: l40s, gpus_per_node: 8, fractions: [2], "
            f"storage: [{drives}, {shared}]}}"
        )
    ).supply
    tiers = {tier.id: tier for tier in found.storage}
    part, whole = tiers["mine/2-of-8/disk"], tiers["mine/disk"]
    assert (whole.capacity_tb, part.capacity_tb) == (8, 2)
    assert (whole.read_gb_per_s_per_node, part.read_gb_per_s_per_node) == (8, 2)
    assert tiers["mine/2-of-8/fs"].read_gb_per_s_per_node == 2
    assert tiers["mine/2-of-8/fs"].capacity_tb == 9


def test_dated_stock_of_fractions() -> None:
    """Tests that each delivery brings as many parts as fit into its nodes."""
    offers, _ = supply(
        offering(
            "{name: mine, gpu: l40s, gpus_per_node: 8, fractions: [2], "
            "available: [{nodes: 1}, {from: 2027-01-01, nodes: 2}]}"
        )
    )
    assert [d.nodes for d in offers["mine/2-of-8"].available] == [4, 8]


def test_whole_nodes_at_least_leave_no_fractions() -> None:
    """Tests that nodes which are rented by fours are not parted."""
    text = (
        "{name: mine, gpu: l40s, gpus_per_node: 8, fractions: [2], min_nodes: 4, "
        "network: {gbps_per_node: 100, kind: ethernet}}"
    )
    issue = only_fault(offering(text))
    assert (issue.code, issue.path) == ("contradiction", "offers[0].fractions[0]")


def types(scenario: Scenario) -> set[str]:
    """Return the GPU types that a scenario allows."""
    return set(scenario.constraints.gpu_types or ())


SLICES = offering(
    "{name: a, gpu: a100-sxm-80gb, slice: 3g.40gb}",
    "{name: b, gpu: a30, slice: 1g.6gb}",
    more="constraints: {gpus: {types: [NAME]}}\n",
)


@pytest.mark.parametrize(
    ("name", "mine"),
    [
        ("A100", {"a100-sxm-80gb/3g.40gb"}),
        ("a100-sxm-80gb", {"a100-sxm-80gb/3g.40gb"}),
        ("A100-40GB", set()),
        ("A30", {"a30/1g.6gb"}),
        ("3g.40gb", {"a100-sxm-80gb/3g.40gb"}),
        ("MIG", {"a100-sxm-80gb/3g.40gb", "a30/1g.6gb"}),
        ("A30 MIG", {"a30/1g.6gb"}),
        ("a30/2g.12gb", set()),
    ],
)
def test_slices_belong_to_card_and_family(name: str, mine: set[str]) -> None:
    """Tests which of the slices on offer a name in a constraint allows."""
    allowed = types(read(SLICES.replace("NAME", name)))
    assert allowed & {"a100-sxm-80gb/3g.40gb", "a30/1g.6gb"} == mine


def test_a_family_names_no_slices_that_nobody_offers() -> None:
    """Tests that the types of a scenario without slices are cards."""
    allowed = types(read(f"{SMALL}constraints: {{gpus: {{types: [A100]}}}}\n"))
    assert allowed
    assert not any("/" in name for name in allowed)


def test_tables_have_slices_and_fractions(tmp_path: Path) -> None:
    """Tests the columns of a CSV table."""
    file = tmp_path / "mine.csv"
    file.write_text(
        "name,gpu,slice,gpus_per_node,fractions,usd_per_gpu_hour\n"
        "a,a100-sxm-80gb,3g.40gb,,,0.9\nb,l40s,,8,1;2,1.1\n",
        encoding="utf-8",
    )
    first, second = read_offers(file, "mine.csv").data["offers"]
    assert (first["slice"], "gpus_per_node" in first) == ("3g.40gb", False)
    assert second["fractions"] == [1, 2]

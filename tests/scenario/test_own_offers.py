"""Tests of offers of one's own."""

from datetime import date

import pytest

from solver.catalog.schema import Offer, Server
from solver.catalog.supply import merged_catalog
from solver.options import gather_options
from solver.scenario.own_offers import nearest_tier
from solver.scenario.scenario import Scenario
from tests.scenario.reading import (
    SMALL,
    faults,
    notice_ids,
    only_fault,
    read,
    shipped_catalog,
)

PRODUCT = (
    "{name: mine, gpu: a100-sxm-80gb, gpus_per_node: 8, "
    "network: {gbps_per_node: 1600, kind: infiniband}, max_nodes: 64, "
    "usd_per_gpu_hour: 2.00, region: sg}"
)
"""The offer of the documentation."""


def offering(*offers: str, more: str = "") -> str:
    """Return a scenario with offers."""
    lines = "".join(f"  - {offer}\n" for offer in offers)
    return f"{SMALL}offers:\n{lines}{more}"


def own(offer: str) -> tuple[Scenario, Offer, Server]:
    """Return the scenario of an offer, the offer and its server."""
    scenario = read(offering(offer))
    return scenario, scenario.supply.offers[0], scenario.supply.servers[0]


def test_the_documented_offer() -> None:
    """Tests every field of the offer that the documentation shows."""
    scenario, offer, server = own(PRODUCT)
    assert (offer.id, offer.provider, offer.region) == ("mine", "mine", "mine/sg")
    assert (offer.purchase, offer.usd_per_node_hour) == ("on_demand", 16.0)
    assert (offer.max_nodes, offer.min_nodes, offer.storage) == (64, 1, ())
    assert offer.server == server.id
    assert offer.source == "stated in s.yaml:4:5"
    assert offer.as_of == "2026-11-30"
    assert (server.gpu, server.gpus_per_node) == ("a100-sxm-80gb", 8)
    assert server.intra_node == "nvswitch-nvlink3"
    assert (server.network, server.network_gbps) == ("infiniband-hdr-200", 1600)
    assert scenario.supply.countries == {"mine/sg": "SG"}
    assert not scenario.supply.with_catalog
    assert "notice.offer.network" in notice_ids(scenario)


def test_with_the_catalog() -> None:
    """Tests that own offers are used alone unless the catalog is included."""
    assert read(SMALL).supply.with_catalog
    assert read(offering(PRODUCT, more="catalog: include\n")).supply.with_catalog


@pytest.mark.parametrize(
    ("price", "kind", "usd", "unit"),
    [
        ("usd_per_gpu_hour: 2", "on_demand", 16.0, "second"),
        ("usd_per_node_hour: $20", "on_demand", 20.0, "second"),
        ("usd_per_node_month: 7300", "monthly", 10.0, "month"),
        ("note: ours", "owned", 0.0, "second"),
        ("spot_usd_per_gpu_hour: 1", "spot", 8.0, "second"),
    ],
)
def test_prices(price: str, kind: str, usd: float, unit: str) -> None:
    """Tests what each way of giving a price makes of an offer."""
    _, offer, _ = own(f"{{name: mine, gpu: l40s, gpus_per_node: 8, {price}}}")
    assert offer.purchase == kind
    assert offer.usd_per_node_hour == pytest.approx(usd)
    assert offer.billing_unit == unit


def test_spot_beside_on_demand() -> None:
    """Tests that a spot price makes a second offer of the same server."""
    scenario = read(
        offering(
            "{name: mine, gpu: l40s, gpus_per_node: 4, usd_per_gpu_hour: 1, "
            "spot_usd_per_gpu_hour: 0.5}"
        )
    )
    prices = {
        offer.id: (offer.purchase, offer.usd_per_node_hour)
        for offer in scenario.supply.offers
    }
    assert prices == {"mine": ("on_demand", 4.0), "mine/spot": ("spot", 2.0)}


def test_what_is_owned_may_be_used_by_default() -> None:
    """Tests that offers without a price need no `purchase: [owned]`, and say so."""
    text = offering("{name: mine, gpu: l40s, gpus_per_node: 8}")
    scenario = read(text)
    assert scenario.constraints.purchase == ("on_demand", "owned")
    assert "notice.purchase.own" in notice_ids(scenario)
    stated = read(text, ["constraints.purchase=spot"])
    assert stated.constraints.purchase == ("spot",)


def test_a_host_as_stated() -> None:
    """Tests that host figures are those stated, or not known."""
    stated = "ram_gb: 512, vcpus: 64, local_nvme_tb: 7.68"
    _, _, server = own(f"{{name: mine, gpu: l40s, gpus_per_node: 8, {stated}}}")
    assert (server.ram_gb, server.vcpus, server.local_nvme_tb) == (512, 64, 7.68)
    _, _, bare = own("{name: mine, gpu: l40s, gpus_per_node: 8}")
    assert (bare.ram_gb, bare.vcpus, bare.local_nvme_tb) == (None, None, None)
    assert (bare.network, bare.network_gbps) == (None, 0.0)


@pytest.mark.parametrize(
    ("intra_node", "gpu", "tier", "kind"),
    [
        ("pcie", "a100-pcie-80gb", "pcie4", "pcie"),
        ("PCIe5", "h100-pcie-80gb", "pcie5", "pcie"),
        ("nvswitch", "h100-sxm-80gb", "nvswitch-nvlink4", "nvswitch"),
        ("nvswitch-nvlink4", "h100-sxm-80gb", "nvswitch-nvlink4", "nvswitch"),
        ("none", "l4", "none", "none"),
    ],
)
def test_intra_node(intra_node: str, gpu: str, tier: str, kind: str) -> None:
    """Tests that a fabric inside a node is named by tier or by kind."""
    count = 1 if tier == "none" else 8
    _, _, server = own(
        f"{{name: mine, gpu: {gpu}, gpus_per_node: {count}, intra_node: {intra_node}}}"
    )
    assert (server.intra_node, server.intra_node_kind) == (tier, kind)


def test_regions_and_countries() -> None:
    """Tests how a place is read, and that constraints may name it."""
    scenario = read(
        offering(
            "{name: a, gpu: l40s, gpus_per_node: 8, provider: host, region: Lagos 1, "
            "country: ng}",
            "{name: b, gpu: l40s, gpus_per_node: 8, provider: host, region: th}",
            "{name: c, gpu: l40s, gpus_per_node: 8}",
            "{name: d, gpu: l40s, gpus_per_node: 8, region: tokyo, country: Japan}",
            more="constraints: {countries: [NG, TH], regions: [lagos 1, host/th], "
            "providers: [HOST]}\n",
        )
    )
    assert [offer.region for offer in scenario.supply.offers] == [
        "host/Lagos 1",
        "host/th",
        "c/local",
        "d/tokyo",
    ]
    assert scenario.supply.countries == {
        "host/Lagos 1": "NG",
        "host/th": "TH",
        "d/tokyo": "JP",
    }
    assert scenario.constraints.countries == ("NG", "TH")
    assert scenario.constraints.regions == ("host/Lagos 1", "host/th")
    assert scenario.constraints.providers == ("host",)


def test_dated_stock() -> None:
    """Tests that stock may come by date: then how much there is depends on the day."""
    _, offer, _ = own(
        "{name: mine, gpu: l40s, gpus_per_node: 8, "
        "available: [{nodes: 2}, {from: 2027-01-15, nodes: 6}]}"
    )
    assert [(d.start, d.nodes) for d in offer.available] == [
        (None, 2),
        (date(2027, 1, 15), 6),
    ]
    assert offer.max_nodes is None


def test_several_nodes_without_network_are_told() -> None:
    """Tests the notice that only one node can be used."""
    scenario = read(offering("{name: m, gpu: l40s, gpus_per_node: 8, max_nodes: 4}"))
    assert "notice.offer.one-node" in notice_ids(scenario)


def test_storage() -> None:
    """Tests that storage is named from the catalog, by kind, or described."""
    scenario, offer, _ = own(
        "{name: mine, gpu: l40s, gpus_per_node: 8, storage: [lustre, "
        "{name: fast, kind: parallel_fs, read: 20 GB/s, write: 10, capacity: 1 PB, "
        "total_read: 100 GB/s, usd_per_gb_month: 0.1}]}"
    )
    assert offer.storage == ("lustre", "mine/fast")
    (tier,) = scenario.supply.storage
    assert (tier.read_gb_per_s_per_node, tier.write_gb_per_s_per_node) == (20, 10)
    assert (tier.capacity_tb, tier.aggregate_read_gb_per_s) == (1000, 100)
    _, by_kind, _ = own("{name: m, gpu: l40s, gpus_per_node: 8, storage: local nvme}")
    kinds = {shipped_catalog().storage[name].kind for name in by_kind.storage or ()}
    assert kinds == {"local_nvme"}


@pytest.mark.parametrize(
    ("offer", "code", "path"),
    [
        ("{name: m, gpu: l40t, gpus_per_node: 8}", "unknown-name", "offers[0].gpu"),
        ("{name: m, gpu: H100, gpus_per_node: 8}", "ambiguous-name", "offers[0].gpu"),
        (
            "{name: m, gpu: l40s, gpus_per_node: 640}",
            "out-of-range",
            "offers[0].gpus_per_node",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, intra_node: nvlnk3}",
            "unknown-name",
            "offers[0].intra_node",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, min_nodes: 4, max_nodes: 2, "
            "network: {kind: roce, gbps_per_node: 400}}",
            "contradiction",
            "offers[0].min_nodes",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, min_nodes: 2}",
            "contradiction",
            "offers[0].min_nodes",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, usd_per_gpu_hour: 1, "
            "usd_per_node_hour: 8}",
            "conflicting-keys",
            "offers[0].usd_per_node_hour",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, storage: [lustr]}",
            "unknown-name",
            "offers[0].storage[0]",
        ),
        (
            "{name: m/n, gpu: l40s, gpus_per_node: 8}",
            "wrong-value",
            "offers[0].name",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, country: Sinagpore}",
            "unknown-name",
            "offers[0].country",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, network: {kind: roce}}",
            "missing-key",
            "offers[0].network.gbps_per_node",
        ),
        (
            "{name: m, gpu: l40s, gpus_per_node: 8, "
            "available: [{from: soon, nodes: 1}]}",
            "wrong-type",
            "offers[0].available[0].from",
        ),
    ],
)
def test_wrong_offers(offer: str, code: str, path: str) -> None:
    """Tests that what is wrong with an offer is told at its place."""
    issue = only_fault(offering(offer))
    assert (issue.code, issue.path) == (code, path)


def test_faults_of_several_offers_keep_their_positions() -> None:
    """Tests that a faulty offer does not shift the places of those after it."""
    found = faults(offering("7", "{name: m}", "{name: n, gpu: l40t, gpus_per_node: 8}"))
    assert [issue.path for issue in found] == [
        "offers[0]",
        "offers[1].gpu",
        "offers[1].gpus_per_node",
        "offers[2].gpu",
    ]


def test_an_unknown_key_of_an_offer_hides_nothing() -> None:
    """Tests that names are looked up even where an offer has a wrong key."""
    found = faults(offering("{name: m, gpu: l40t, gpus_per_node: 8, max_node: 4}"))
    assert [(issue.code, issue.hint) for issue in found] == [
        ("unknown-name", "l40"),
        ("unknown-key", "max_nodes"),
    ]


@pytest.mark.parametrize(
    ("kind", "gbps", "gpus", "tier"),
    [
        ("infiniband", 3200, 8, "infiniband-ndr-400"),
        ("infiniband", 1600, 8, "infiniband-hdr-200"),
        ("infiniband", 800, 8, "infiniband-edr-100"),
        ("infiniband", 200, 8, "infiniband-hdr-200"),
        ("infiniband", 3000, 8, "infiniband-ndr-400"),
        ("ethernet", 100, 8, "ethernet-100"),
        ("ethernet", 200, 4, "ethernet-200"),
        ("ethernet", 30, 1, "ethernet-25"),
    ],
)
def test_the_nearest_network_tier(kind: str, gbps: float, gpus: int, tier: str) -> None:
    """Tests which tier of the catalog stands for a stated sum of NICs."""
    tiers = [t for t in shipped_catalog().networks.values() if t.kind == kind]
    assert nearest_tier(tiers, gbps, gpus).id == tier


def test_the_usual_tier_is_preferred() -> None:
    """Tests that the GPU's standard network is taken where it makes the stated sum."""
    _, _, server = own(
        "{name: m, gpu: l40s, gpus_per_node: 8, network: {kind: roce, "
        "gbps_per_node: 400}}"
    )
    assert server.network == "roce-200"


def test_stated_drives_are_as_large_as_stated() -> None:
    """Tests that local NVMe of a stated size is a tier of its own, and no larger."""
    scenario, offer, server = own(
        "{name: mine, gpu: l40s, gpus_per_node: 8, local_nvme_tb: 3.84}"
    )
    assert offer.storage == ("mine/local-nvme",)
    (tier,) = scenario.supply.storage
    assert (tier.capacity_tb, tier.usd_per_gb_month) == (3.84, 0.0)
    assert tier.kind == "local_nvme"
    generic = [
        t.read_gb_per_s_per_node
        for t in shipped_catalog().storage.values()
        if t.kind == "local_nvme"
    ]
    assert tier.read_gb_per_s_per_node == min(generic)
    assert tier.source.startswith("stated in s.yaml:4:5")
    assert server.local_nvme_tb == 3.84


@pytest.mark.parametrize(
    ("stated", "storage"),
    [
        ("note: nothing", ()),
        ("local_nvme_tb: 0", None),
        ("local_nvme_tb: 3.84, storage: [lustre]", ("lustre",)),
    ],
)
def test_storage_where_drives_do_not_decide(
    stated: str, storage: tuple[str, ...] | None
) -> None:
    """Tests unstated drives (enough), none at all (a network's), and a list."""
    _, offer, _ = own(f"{{name: mine, gpu: l40s, gpus_per_node: 8, {stated}}}")
    assert offer.storage == storage


def test_sold_out_is_no_fault() -> None:
    """Tests that an inventory may have rows of nothing, which are not used."""
    text = offering("{name: m, gpu: l40s, gpus_per_node: 8, max_nodes: 0}")
    scenario = read(text)
    assert scenario.supply.offers[0].max_nodes == 0
    found = gather_options(scenario, merged_catalog(shipped_catalog(), scenario.supply))
    assert found.options == ()
    assert found.removed == {"stock": 1}


def test_an_ambiguous_gpu_has_its_choices_most_usual_first() -> None:
    """Tests that H100 in an offer suggests the SXM card, not the first by name."""
    issue = only_fault(offering("{name: m, gpu: h100, gpus_per_node: 8}"))
    assert (issue.code, issue.hint) == ("ambiguous-name", "h100-sxm-80gb")
    assert "h100-pcie-80gb" in issue.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_nodes", "2M"),
        ("usd_per_gpu_hour", "$900k"),
        ("usd_per_node_hour", "$2M"),
        ("usd_per_node_month", "1B"),
        ("spot_usd_per_gpu_hour", "1M"),
        ("ram_gb", "2M"),
        ("vcpus", "0.5"),
        ("local_nvme_tb", "2M"),
        ("network.gbps_per_node", "2 Eb/s"),
        ("available[0].nodes", "2M"),
        ("storage[0].read", "2 EB/s"),
        ("storage[0].write", "1 B/s"),
        ("storage[0].total_read", "3000 EB/s"),
        ("storage[0].usd_per_gb_month", "20k"),
        ("storage[0].capacity", "2000000 EB"),
    ],
)
def test_numbers_that_no_hardware_has(key: str, value: str) -> None:
    """Tests that an offer has the limits of a catalog, told at its own key."""
    stated = {
        "network": "{kind: roce, gbps_per_node: 400}",
        "available": "[{nodes: 4}]",
        "storage": "[{name: s, kind: block, read: 1, write: 1}]",
    }
    more = ", ".join(f"{k}: {v}" for k, v in stated.items() if key.startswith(k))
    more = f", {more}" if more else ""
    text = offering(f"{{name: m, gpu: l40s, gpus_per_node: 8{more}}}")
    issue = only_fault(text, [(f"offers[0].{key}", value)])
    assert (issue.code, issue.path) == ("out-of-range", f"offers[0].{key}")
    assert "expected " in issue.message


TIMED = "{name: mine, gpu: l40s, gpus_per_node: 8, usd_per_gpu_hour: 1, "
"""The start of an offer on demand."""


@pytest.mark.parametrize(
    ("written", "field", "value"),
    [
        ("lead_time: 14 days", "lead_time_days", 14),
        ("lead_time: 2 weeks", "lead_time_days", 14),
        ("lead_time: 48 h", "lead_time_days", 2),
        ("lead_time: 3", "lead_time_days", 3),
        ("min_term: 30 days", "min_term_hours", 720.0),
        ("min_term: 1 month", "min_term_hours", 730.0),
        ("min_term: 30", "min_term_hours", 720.0),
        ("min_term: 3 years, purchase: reserved", "min_term_hours", 26_280.0),
        ("max_nodes_per_cluster: 16", "max_nodes_per_cluster", 16),
        ("purchase: monthly", "billing_unit", "month"),
        ("purchase: Reserved, min_term: 1 year", "purchase", "reserved"),
        ("purchase: spot", "purchase", "spot"),
    ],
)
def test_terms_as_written(written: str, field: str, value: object) -> None:
    """Tests what each way of giving a term makes of an offer."""
    _, offer, _ = own(f"{TIMED}{written}}}")
    assert getattr(offer, field) == value


@pytest.mark.parametrize(
    ("written", "code", "path"),
    [
        ("lead_time: 36 hours", "wrong-value", "lead_time"),
        ("lead_time: 11 years", "out-of-range", "lead_time"),
        ("lead_time: -3 days", "out-of-range", "lead_time"),
        ("lead_time: soon", "wrong-type", "lead_time"),
        ("lead_time: 2027-01-01", "wrong-type", "lead_time"),
        ("min_term: 1 yeer", "unknown-unit", "min_term"),
        ("min_term: 5 m", "ambiguous-unit", "min_term"),
        ("min_term: 200 years", "out-of-range", "min_term"),
        ("max_nodes_per_cluster: 0", "out-of-range", "max_nodes_per_cluster"),
        ("max_nodes_per_cluster: 2.5", "wrong-type", "max_nodes_per_cluster"),
        ("purchase: rented", "wrong-value", "purchase"),
        ("purchase: reserved", "missing-key", "min_term"),
        ("purchase: owned", "contradiction", "purchase"),
        ("purchase: spot, min_term: 30 days", "contradiction", "min_term"),
        ("purchase: spot, spot_usd_per_gpu_hour: 1", "contradiction", "purchase"),
    ],
)
def test_wrong_terms(written: str, code: str, path: str) -> None:
    """Tests that each wrong term is told once, where it stands."""
    issue = only_fault(offering(f"{TIMED}{written}}}"))
    assert (issue.code, issue.path) == (code, f"offers[0].{path}")
    assert issue.where is not None
    assert issue.where.startswith("s.yaml:4:")


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("lead_tme: 3 days", "lead_time"),
        ("min_terms: 3 days", "min_term"),
        ("max_nodes_per_clustr: 3", "max_nodes_per_cluster"),
        ("purchse: spot", "purchase"),
    ],
)
def test_misspelled_terms(written: str, hint: str) -> None:
    """Tests that the nearest right spelling is told."""
    issue = only_fault(offering(f"{TIMED}{written}}}"))
    assert (issue.code, issue.hint) == ("unknown-key", hint)


@pytest.mark.parametrize(
    ("offer", "path"),
    [
        ("purchase: on_demand", "purchase"),
        ("purchase: reserved, min_term: 1 year", "purchase"),
        ("min_term: 30 days", "min_term"),
        ("spot_usd_per_gpu_hour: 1, min_term: 30 days", "min_term"),
        ("spot_usd_per_gpu_hour: 1, purchase: owned", "purchase"),
    ],
)
def test_terms_of_what_is_free(offer: str, path: str) -> None:
    """Tests that what has no price has no purchase kind but its own, and no term."""
    text = f"{{name: mine, gpu: l40s, gpus_per_node: 8, {offer}}}"
    issue = only_fault(offering(text))
    assert (issue.code, issue.path) == ("contradiction", f"offers[0].{path}")


def test_more_nodes_at_least_than_a_fabric_has() -> None:
    """Tests that at least 8 nodes on a fabric of 4 contradict each other."""
    fabric = "network: {kind: roce, gbps_per_node: 400}"
    text = f"{TIMED}{fabric}, min_nodes: 8, max_nodes_per_cluster: 4}}"
    issue = only_fault(offering(text))
    assert (issue.code, issue.path) == ("contradiction", "offers[0].min_nodes")


def test_reserved_offers_may_be_used_by_default() -> None:
    """Tests that who lists a reserved offer means to use it."""
    scenario = read(offering(f"{TIMED}purchase: reserved, min_term: 1 year}}"))
    assert scenario.constraints.purchase == ("on_demand", "reserved")

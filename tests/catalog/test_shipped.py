"""Tests that the shipped catalog is whole and fits together."""

from collections import Counter
from datetime import date

import pytest

from solver.catalog.consistency import WARNINGS, check_catalog
from solver.catalog.load import PARTS, load_catalog
from solver.catalog.names import compact
from solver.catalog_view.checks import agrees_with_published, check_whole_catalog
from solver.performance.transformer import parameters
from solver.physics_inputs import shape_of

CATALOG = load_catalog(environment={})


def _without_tables(count):
    """All parameters but those of embedding and head."""
    return count.total - count.embedding - count.head


def _glm(count):
    """As GLM-4.5's report counts: with the prediction layer, without the tables.

    The layer is one more mixture layer, two norms and a projection of two hidden
    states to one.
    """
    hidden = count.final_norm
    return _without_tables(count) + count.moe_layer + 2 * hidden + 2 * hidden**2


OTHER_COUNT = {
    "glm-4.5": _glm,
    "glm-4.5-air": _without_tables,
    "gpt3-medium": lambda count: 50e6 * round(count.total / 50e6),
    "grok-1": _without_tables,
}
"""What a published size counts, where it is not all parameters; see the notes."""


def test_counts():
    """Tests that everything that was gathered is there."""
    counts = {kind: len(CATALOG.entries(kind)) for kind in PARTS}
    assert counts["gpus"] == 41
    assert counts["architectures"] == 188
    # 370 gathered, 3 Local Zones of Capacity Blocks and Qubrid, which names no place
    assert counts["regions"] == 374
    assert counts["storage"] == 60
    purchases = Counter(offer.purchase for offer in CATALOG.offers.values())
    # on demand and spot: the 1,272 rows gathered; reserved: 55 of Capacity Blocks
    # and 5 of Qubrid; monthly: OVHcloud's 12 instances with cards of the catalog
    assert purchases == {
        "on_demand": 1236,
        "spot": 429,
        "reserved": 60,
        "monthly": 12,
    }
    servers = Counter(server.standard for server in CATALOG.servers.values())
    assert servers == {False: 302, True: 41}


def test_entries_fit_together():
    """Tests that no check finds a fault; warnings are the known odd prices."""
    found = check_catalog(CATALOG)
    assert [str(issue) for issue in found if issue.code not in WARNINGS] == []
    assert Counter(issue.code for issue in found) == {
        "price-outlier": 18,
        "spot-not-cheaper": 7,
    }


def test_the_whole_catalog_has_no_error():
    """Tests that `gpuplan catalog check` finds no error in what is shipped."""
    report = check_whole_catalog(CATALOG, date(2026, 11, 30))
    assert [str(issue) for issue in report.errors] == []
    assert report.checked.keys() == PARTS.keys()
    codes = {issue.code for issue in report.warnings}
    assert codes <= WARNINGS
    wrong_counts = {i.where for i in report.warnings if i.code == "parameter-count"}
    assert len(wrong_counts) == len(OTHER_COUNT)


def test_every_offer_leads_to_a_gpu_and_a_region():
    """Tests that each offer's server, GPU, tiers and region exist."""
    for offer in CATALOG.offers.values():
        server = CATALOG.servers[offer.server]
        assert server.gpu in CATALOG.gpus
        assert server.intra_node in CATALOG.intra_node
        assert server.network is None or server.network in CATALOG.networks
        assert CATALOG.regions[offer.region].provider == offer.provider
        assert offer.usd_per_node_hour > 0


def test_every_entry_has_source_and_date():
    """Tests that architectures, too, say where they come from and when."""
    for entry in CATALOG.entries("architectures").values():
        assert entry.source
        assert entry.as_of


def test_every_gpu_has_a_standard_server():
    """Tests that an offer of one's own can leave out what a server usually has."""
    standard = {s.gpu for s in CATALOG.servers.values() if s.standard}
    assert standard == set(CATALOG.gpus)


def test_marketplaces_are_marked():
    """Tests that marketplaces and brokers are told from clouds."""
    providers: dict[bool, set[str]] = {True: set(), False: set()}
    for offer in CATALOG.offers.values():
        providers[offer.marketplace].add(offer.provider)
    assert {"vast", "runpod", "hyperbolic", "massedcompute"} <= providers[True]
    assert not providers[True] & {"aws", "gcp", "azure", "oci", "coreweave", "nebius"}
    brokers = {p for p in CATALOG.providers if p.startswith("primeintellect")}
    assert len(brokers) == 8
    assert not brokers & providers[False]


@pytest.mark.parametrize(
    ("gpu", "field", "value"),
    [
        ("h100-sxm-80gb", "bf16_tflops", 989),
        ("h100-sxm-80gb", "usable_memory_gib", 79.1),
        ("h200-sxm-141gb", "usable_memory_gib", 139.8),
        ("a100-sxm-80gb", "memory_bandwidth_gb_per_s", 2039),
        ("a100-pcie-80gb", "memory_bandwidth_gb_per_s", 1935),
        ("l40s", "usable_memory_gib", 44.4),
        ("a40", "usable_memory_gib", 44.4),
        ("rtx-4090", "ecc", False),
        ("mi250x", "memory_gb", 64),
        ("gb200-nvl72", "nvlink_gb_per_s", 900),
        ("v100-sxm-16gb", "bf16_tflops", None),
        ("h800-sxm-80gb", "nvlink_gb_per_s", 200),
    ],
)
def test_known_figures(gpu, field, value):
    """Tests that data-sheet and measured figures arrived unchanged."""
    assert getattr(CATALOG.gpus[gpu], field) == value


def test_racks_join_72_gpus():
    """Tests that trays of an NVL72 are one NVLink domain."""
    trays = [s for s in CATALOG.servers.values() if s.intra_node == "nvl72-nvlink5"]
    assert {(s.gpus_per_node, s.nvlink_domain_gpus) for s in trays} == {(4, 72)}
    assert len(trays) == 6


def test_measured_pcie_rates():
    """Tests that the measured all-reduce rates over PCIe are those of the sources."""
    gen4 = CATALOG.intra_node["pcie4"]
    rates = (gen4.bus_2_gb_per_s, gen4.bus_4_gb_per_s, gen4.bus_8_gb_per_s)
    assert rates == (20.1, 5.2, 1.4)
    assert CATALOG.intra_node["pcie5"].bus_8_gb_per_s == 24.7


def test_efa_efficiency_is_the_measured_one():
    """Tests the arithmetic: busbw 381.8 GB/s of 32 GPUs on 4 nodes, 50 GB/s a NIC."""
    measured = 381.8 * (4 - 1) / (32 - 1) / 50
    assert CATALOG.networks["efa-v4-400"].efficiency == pytest.approx(
        measured, abs=0.005
    )


def test_failure_rates_are_those_of_the_sources():
    """Tests that Llama 3's rate gives 50,679 h / N, and RSC-1's 29,538 h / N."""
    rates = CATALOG.failure_rates
    assert 1 / rates["hopper"].per_gpu_hour == pytest.approx(50_679, rel=1e-3)
    assert 1 / rates["ampere"].per_gpu_hour == pytest.approx(29_538, rel=1e-3)
    assert rates["default"].low < rates["default"].per_gpu_hour < rates["default"].high
    assert 1 / rates["rsc-1-jobs-1024"].per_gpu_hour == pytest.approx(8_090, rel=1e-3)
    assert rates["spot-aws"].per_node_hour * 730 == pytest.approx(0.25, rel=1e-3)


def test_regions_without_a_country_say_why():
    """Tests that what lies nowhere is known, and that its note tells the reason."""
    without = {r.id: r.note for r in CATALOG.regions.values() if r.country is None}
    assert set(without) == {
        "crusoe/unstated",
        "hyperbolic/default",
        "lambda/1-click-cluster",
        "lambda/europe-south-1",
        "onprem/on-prem",
        "primeintellect-dc-wildebeest/eu-west1",
        "qubrid/unstated",
    }
    assert all(len(note) > 20 for note in without.values())


def test_regions_with_a_city_have_its_place():
    """Tests that coordinates are those of the gazetteer's city, where one is known."""
    for region in CATALOG.regions.values():
        known = bool(region.city) and "/" not in region.city
        assert (region.lat is not None) == known, region.id
        assert region.coordinate_source.startswith("GeoNames ") == known, region.id
    places = {r.id: (r.lat, r.lon) for r in CATALOG.regions.values()}
    assert places["aws/us-east-1"] == (39.04, -77.49)
    assert places["gcp/asia-southeast1"] == pytest.approx((1.35, 103.72), abs=0.1)
    assert places["azure/japaneast"] == pytest.approx((35.69, 139.69), abs=0.1)
    assert sum(lat is not None for lat, _ in places.values()) >= 290


def test_one_city_has_one_place():
    """Tests that regions in one city and country lie at the same spot."""
    spots = {}
    for region in CATALOG.regions.values():
        if region.lat is not None:
            key = (region.city, region.country)
            spots.setdefault(key, set()).add((region.lat, region.lon))
    assert {key for key, found in spots.items() if len(found) > 1} == set()


def test_regions_of_a_metro_are_near_each_other():
    """Tests that a metro's regions are within a third of a quadrant of each other."""
    metros = {}
    for region in CATALOG.regions.values():
        if region.metro and region.lat is not None:
            metros.setdefault(region.metro, []).append((region.lat, region.lon))
    assert len(metros) >= 25
    wide = {"us-west", "us-central"}
    for metro, places in metros.items():
        lat, lon = zip(*places, strict=True)
        limit = 20 if metro in wide else 7
        assert max(lat) - min(lat) < limit, metro
        assert max(lon) - min(lon) < limit, metro


def test_parameter_counts_are_the_published_ones():
    """Tests that our formula counts every model as its publisher does."""
    apart, checked = set(), 0
    for entry in CATALOG.entries("architectures").values():
        if entry.reported_params_b is not None:
            checked += 1
            count = parameters(shape_of(entry))
            if not agrees_with_published(count.total / 1e9, entry.reported_params_b):
                apart.add(entry.id)
                other = OTHER_COUNT[entry.id](count) / 1e9
                assert agrees_with_published(other, entry.reported_params_b), (
                    entry.id,
                    other,
                )
    assert checked == 97
    assert apart == set(OTHER_COUNT)


def test_counts_known_to_the_last_parameter():
    """Tests biases on queries, keys and values, and the sizes of BLOOM.

    The counts are those of the released weights: Qwen2.5-7B's model card says 7.61
    billion, BLOOM's 176,247,271,424.
    """
    bloom = parameters(shape_of(CATALOG.architecture("bloom-176b")))
    norm_of_the_embedding = 2 * 14_336  # which is not modelled
    assert bloom.total + norm_of_the_embedding == 176_247_271_424
    qwen = CATALOG.architecture("qwen2.5-7b")
    count = parameters(shape_of(qwen))
    assert count.total == 7_615_616_512
    assert count.attention == 3584 * (2 * 3584 + 2 * 512) + 3584 + 2 * 512


def test_names_of_architectures_are_unique():
    """Tests that no alias or Hugging Face id means two models."""
    owners = {}
    for entry in CATALOG.entries("architectures").values():
        for name in {compact(n) for n in (entry.id, entry.hf_id, *entry.aliases) if n}:
            assert owners.setdefault(name, entry.id) == entry.id

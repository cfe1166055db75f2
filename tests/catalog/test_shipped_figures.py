"""Tests that the figures of the shipped catalog agree with each other."""

import re

import pytest

from solver.catalog.load import PARTS, load_catalog

CATALOG = load_catalog(environment={})

TENSOR_RATES = ("tf32", "fp16", "bf16", "fp8", "fp4")


@pytest.mark.parametrize("kind", sorted(PARTS))
def test_every_figure_has_a_source_and_a_date(kind):
    """Tests that entries say where and when, and never in the future."""
    entries = CATALOG.entries(kind)
    assert entries
    for entry in entries.values():
        assert entry.source.strip(), entry.id
        years = [int(year) for year in re.findall(r"20\d\d", entry.as_of)]
        assert years, entry.id
        assert max(years) <= 2026, entry.id


def test_grids_and_pue_are_dated():
    """Tests that the carbon intensity of every grid names its source and year."""
    dated = 0
    for region in CATALOG.regions.values():
        if region.grid_gco2_per_kwh is not None:
            assert re.search(r"20(19|2\d)", region.grid_source), region.id
            dated += 1
        if region.pue is not None:
            assert region.pue_source, region.id
            assert 1.0 < region.pue < 2.0, region.id
    assert dated >= 350


def test_narrower_formats_are_faster():
    """Tests that dense peaks grow from fp32 over tf32, 16 and 8 to 4 bits."""
    for gpu in CATALOG.gpus.values():
        sixteen = gpu.bf16_tflops or gpu.fp16_tflops
        steps = (gpu.fp32_tflops, gpu.tf32_tflops, sixteen, gpu.fp8_tflops)
        known = [rate for rate in (*steps, gpu.fp4_tflops) if rate]
        assert known == sorted(known), gpu.id


def test_rates_are_dense():
    """Tests that no 8-bit rate is the sparse one: twice the 16-bit rate at most."""
    for gpu in CATALOG.gpus.values():
        sixteen = gpu.bf16_tflops or gpu.fp16_tflops
        if gpu.fp8_tflops:
            assert gpu.fp8_tflops <= 2.03 * sixteen, gpu.id
        if gpu.int8_tops and gpu.fp16_tflops and not gpu.family.startswith("RTX"):
            assert gpu.int8_tops <= 2.03 * gpu.fp16_tflops, gpu.id


def test_geforce_rates_are_with_fp32_accumulation():
    """Tests that GeForce cards have half the rate of the workstation card's chip."""
    for card in ("rtx-3090", "rtx-4090", "rtx-5090"):
        gpu = CATALOG.gpus[card]
        assert "fp32 accumulation" in gpu.note
        assert gpu.bf16_tflops == pytest.approx(2 * gpu.fp32_tflops, rel=0.01)


def test_rates_from_memory_say_so():
    """Tests the cards whose tensor rates no source states: each rate is marked."""
    for card in ("l4", "l40", "a10", "a10g", "a30", "a40", "rtx-a6000", "rtx-4090"):
        gpu = CATALOG.gpus[card]
        for rate in TENSOR_RATES:
            if getattr(gpu, f"{rate}_tflops") is not None:
                assert gpu.sources[f"{rate}_tflops"].startswith("memory"), card
    blackwell = CATALOG.gpus["b300-sxm-288gb"]
    assert {"fp4_tflops", "int8_tops", "tdp_w"} <= blackwell.sources.keys()
    assert "int8_tops: memory" in CATALOG.gpus["gb300-nvl72"].all_sources


def test_mig_slices_fit_into_the_card():
    """Tests that so many slices of a profile have no more memory and seven parts."""
    checked = 0
    for gpu in CATALOG.gpus.values():
        for profile, count in gpu.mig_profiles.items():
            parts, memory = re.fullmatch(r"(\d)g\.(\d+)gb", profile).groups()
            assert int(parts) * count <= 7, (gpu.id, profile)
            assert int(memory) * count <= gpu.memory_gb * 1.03, (gpu.id, profile)
            checked += 1
    assert checked >= 80


def test_linked_servers_have_the_links_of_their_gpu():
    """Tests that a node's rate between GPUs is that of the card's NVLink."""
    for server in CATALOG.servers.values():
        if server.intra_node_kind in ("nvlink", "nvswitch"):
            gpu = CATALOG.gpus[server.gpu]
            assert server.intra_node_gb_per_s == gpu.nvlink_gb_per_s, server.id


def test_prices_per_gpu_hour_are_plausible():
    """Tests that no price is of another unit: cents, or a month, or a whole rack."""
    for offer in CATALOG.offers.values():
        count = CATALOG.servers[offer.server].gpus_per_node
        assert 0.05 < offer.usd_per_node_hour / count < 20, offer.id


def test_spot_costs_no_more_than_on_demand():
    """Tests that spot is cheaper, or equal and said to be."""
    prices = {
        (o.region, o.server): o.usd_per_node_hour
        for o in CATALOG.offers.values()
        if o.purchase == "on_demand"
    }
    compared = 0
    for offer in CATALOG.offers.values():
        price = prices.get((offer.region, offer.server))
        if offer.purchase == "spot" and price is not None:
            compared += 1
            assert offer.usd_per_node_hour <= price, offer.id
            if offer.usd_per_node_hour == price:
                assert "no discount" in offer.note, offer.id
    assert compared > 400


def test_spot_quotes_of_one_moment_are_marked():
    """Tests that AWS's spot prices are flagged, and no list price is."""
    for offer in CATALOG.offers.values():
        expected = offer.provider == "aws" and offer.purchase == "spot"
        assert offer.one_moment == expected, offer.id


def test_committed_prices_have_a_term_and_are_lower():
    """Tests that a price for a term says how long it is, and is worth committing to."""
    prices = {
        (o.region, o.server): o.usd_per_node_hour
        for o in CATALOG.offers.values()
        if o.purchase == "on_demand"
    }
    terms, compared = set(), 0
    for offer in CATALOG.offers.values():
        committed = offer.purchase in ("reserved", "monthly")
        assert committed == (offer.min_term_hours > 0), offer.id
        terms.add((offer.purchase, offer.min_term_hours))
        price = prices.get((offer.region, offer.server))
        if committed and price is not None:
            compared += 1
            assert offer.usd_per_node_hour < price, offer.id
    assert terms >= {("reserved", 24), ("reserved", 8760), ("monthly", 730)}
    assert compared >= 30


@pytest.mark.parametrize(
    ("offer", "usd"),
    [
        ("aws/us-east-1/p5.48xlarge/reserved-1d", 8 * 5.191),
        # 36 or 72 GPUs at 10.582 a GPU, 4 a node
        ("aws/us-east-1-dfw-2a/p6e-gb200.36xlarge/reserved-1d", 4 * 10.582),
        ("ovh/gra11/h100-380/monthly-1m", 1_940 * 1.1133 / 730),
        ("qubrid/unstated/8x-h200/reserved-1y", 210_240 / 8_760),
    ],
)
def test_committed_prices_are_those_of_the_lists(offer, usd):
    """Tests single prices against their lists by hand."""
    found = {o.id: o.usd_per_node_hour for o in CATALOG.offers.values()}
    assert found[offer] == pytest.approx(usd, abs=1e-4)


def test_derived_prices_say_how():
    """Tests that a computed price names what it was computed from."""
    for offer in CATALOG.offers.values():
        if offer.source.startswith("derived"):
            assert offer.note, offer.id
        if offer.note.startswith("derived"):
            assert offer.source.startswith("derived"), offer.id


def test_google_rows_are_host_and_gpus_together():
    """Tests by hand: 8 H100 at 9.79655 and their host; a card alone costs less."""
    for offer in CATALOG.offers.values():
        if offer.provider == "gcp" and "h100" in CATALOG.servers[offer.server].gpu:
            count = CATALOG.servers[offer.server].gpus_per_node
            if offer.purchase == "on_demand" and count == 8:
                assert offer.usd_per_node_hour > 8 * 9.79655, offer.id


def test_counted_failures_give_their_rates():
    """Tests that events over GPU-hours are the rate, where the source counts both."""
    checked = 0
    for rate in CATALOG.failure_rates.values():
        if rate.events and rate.gpus and rate.days and rate.per_gpu_hour:
            hours = rate.gpus * rate.days * 24
            assert rate.per_gpu_hour == pytest.approx(rate.events / hours, rel=0.03)
            checked += 1
    assert checked == 5
    watched = CATALOG.failure_rates["rsc-1-nodes"]
    assert watched.per_node_hour == pytest.approx(6.5 / 1000 / 24, rel=1e-4)


def test_storage_prices_are_those_of_the_lists():
    """Tests that prices of operations and retrieval arrived."""
    tiers = CATALOG.storage
    assert tiers["aws-ebs-gp3"].usd_per_iops_month == 0.005
    assert tiers["azure-blob-hot"].usd_per_1000_writes == 0.0065
    assert tiers["aws-s3-standard-ia"].usd_per_gb_retrieved == 0.01
    assert tiers["aws-ebs-io2"].max_iops == 256_000
    assert tiers["aws-s3-standard"].sources["read_gb_per_s_per_node"] == "memory"


def test_round_trips_join_known_metros():
    """Tests that every pair is there once, and that regions' metros have distances."""
    pairs = [frozenset((t.metro_a, t.metro_b)) for t in CATALOG.round_trips.values()]
    assert len(pairs) == len(set(pairs)) == 47
    known = set().union(*pairs)
    metros = {region.metro for region in CATALOG.regions.values() if region.metro}
    assert metros <= known

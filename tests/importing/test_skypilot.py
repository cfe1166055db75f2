"""Tests of reading SkyPilot's catalogs."""

from pathlib import Path

import pytest

from solver.catalog.load import load_catalog
from tests.importing.lists import (
    AWS,
    GCP,
    LAMBDA,
    PRIME,
    SHADEFORM,
    imported,
    prices,
    skipped,
)


def test_a_cloud_of_whole_servers(tmp_path: Path) -> None:
    """Tests on-demand and spot prices, zones folded to the lowest."""
    done = imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    assert prices(done) == {
        "aws/eu-west-2/p5.48xlarge/on_demand": 63.296,
        "aws/eu-west-2/p5.48xlarge/spot": 63.296,
        "aws/us-east-1/g5.8xlarge/on_demand": 2.448,
        "aws/us-east-1/g5.8xlarge/spot": 0.9,
        "aws/us-east-1/p3.2xlarge/spot": 0.4,
        "aws/us-east-1/p4d.24xlarge/on_demand": 21.9576,
        "aws/us-east-1/p5.48xlarge/on_demand": 55.04,
        "aws/us-east-1/p5.48xlarge/spot": 19.5,
    }
    notes = {offer.id: offer.note for offer in done.overlay.offers}
    assert notes["aws/us-east-1/p5.48xlarge/spot"] == (
        "lowest of 2 zones: zone use1-az6"
    )
    assert notes["aws/us-east-1/p5.48xlarge/on_demand"] == ""


def test_spot_prices_are_quotes_of_one_moment(tmp_path: Path) -> None:
    """Tests that a plan can warn that an imported spot price moves, and of no other."""
    done = imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    catalog = load_catalog([tmp_path / "out"])
    flagged = {o.id for o in catalog.offers.values() if o.one_moment}
    known = {offer.id for offer in done.overlay.offers if offer.purchase == "spot"}
    assert known <= flagged
    assert not flagged & {o.id for o in done.overlay.offers if o.purchase != "spot"}


def test_what_is_left_out_is_listed(tmp_path: Path) -> None:
    """Tests that each row that makes no offer is told once, with the reason."""
    done = imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    assert skipped(done) == {
        "part-of-a-gpu": ["AcceleratorCount 0.125"],
        "unknown-gpu": ["T4g"],
        "unreadable": ["Price cheap"],
        "no-price": ["p5e.48xlarge"],
        "cpu-only": ["m5.large"],
    }
    lines = {r.what: r.where.rpartition(":")[2] for r in done.findings.skipped}
    assert (lines["Price cheap"], lines["m5.large"]) == ("9", "11")


def test_every_row_makes_an_offer_or_is_listed(tmp_path: Path) -> None:
    """Tests that nothing is dropped without a word, in any of the lists."""
    for cloud, table in {"aws": AWS, "gcp": GCP, "lambda": LAMBDA}.items():
        done = imported(tmp_path / cloud, "skypilot", f"{cloud}/vms.csv", table)
        told = {r.where.rpartition(":")[2] for r in done.findings.skipped}
        used = {q.where.rpartition(":")[2] for q in done.findings.quotes}
        lines = {str(n) for n in range(2, len(table.splitlines()) + 1)}
        if cloud == "gcp":  # GPUs that are part of a sum stand in no quote of their own
            lines -= {"11", "12", "13", "14", "15"}
        assert lines <= told | used


def test_a_server_of_the_catalog_keeps_its_network(tmp_path: Path) -> None:
    """Tests that a known instance is not described anew, and an unknown one is."""
    done = imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    (server,) = done.overlay.servers
    assert (server.id, server.gpu, server.network) == ("aws-g5.8xlarge", "a10g", None)
    assert (server.vcpus, server.ram_gb, server.local_nvme_tb) == (32, 137.4, 0.9)
    assert "Network between nodes not known." in server.note
    assert [r.reason for r in done.findings.assumed] == ["one-node"]


def test_hosts_and_gpus_that_are_listed_apart(tmp_path: Path) -> None:
    """Tests Google's split rows: summed in a region, never across, traps left out."""
    done = imported(tmp_path, "skypilot", "gcp/vms.csv", GCP)
    assert prices(done) == pytest.approx(
        {
            # 14.77 in zone a is a flexible start: 31.424 of zone c is the price
            "gcp/us-central1/a2-ultragpu-8g/on_demand": 8.79698 + 31.424,
            "gcp/us-central1/a2-ultragpu-8g/spot": 4.39824 + 15.4,
            "gcp/us-central1/a2-highgpu-4g/on_demand": 2.95791 + 11.73556,
            "gcp/us-central1/a2-highgpu-4g/spot": 1.479 + 4.69424,
            "gcp/us-central1/a3-highgpu-8g/on_demand": 9.46006 + 78.3724,
            "gcp/us-central1/a3-highgpu-8g/spot": 2.88933 + 25.0,
            # zones differ, the region does not
            "gcp/us-central1/g2-standard-96/on_demand": 4.0 + 4.48,
            "gcp/us-central1/g2-standard-96/spot": 1.6 + 1.79,
            "gcp/europe-west4/a2-ultragpu-8g/on_demand": 9.68403 + 34.6,
            "gcp/europe-west4/a2-ultragpu-8g/spot": 3.78624 + 14.5,
        }
    )
    assert skipped(done) == {
        "flexible-start": ["8 x A100-80GB, $14.77 (spot $17.28)"],
        "tpu": ["tpu-v5p-8"],
        "no-accelerator-price": ["a2-ultragpu-8g"],
        "cpu-only": ["n1-highmem-8"],
        "attached-gpu": ["4 x T4"],
        "no-host-price": ["8 x B200"],
    }
    notes = {offer.id: offer.note for offer in done.overlay.offers}
    assert "another zone" in notes["gcp/us-central1/g2-standard-96/spot"]
    assert "another zone" not in notes["gcp/us-central1/a3-highgpu-8g/spot"]


def test_forms_that_the_name_does_not_say(tmp_path: Path) -> None:
    """Tests how PCIe and SXM are told apart, and that guesses are listed."""
    gcp = imported(tmp_path / "a", "skypilot", "gcp/vms.csv", GCP)
    assert {s.id: s.gpu for s in gcp.overlay.servers} == {
        "gcp-a2-highgpu-4g": "a100-sxm-40gb"  # as Google's other servers
    }
    assert "form-of-provider" in {r.reason for r in gcp.findings.assumed}
    done = imported(tmp_path / "b", "skypilot", "lambda/vms.csv", LAMBDA)
    assert {s.id: (s.gpu, s.intra_node) for s in done.overlay.servers} == {
        "lambda-gpu-8x-h100-pcie": ("h100-pcie-80gb", "pcie5"),  # the name says so
        "lambda-gpu-2x-h200": ("h200-nvl-141gb", "nvlink4-bridge"),  # the slower
    }
    guessed = [r.what for r in done.findings.assumed if r.reason == "form-slowest"]
    assert guessed == ["lambda-gpu-2x-h200: h200-nvl-141gb"]
    (region,) = done.overlay.regions
    assert (region.id, region.country) == ("lambda/mars-north-1", None)


def test_eight_cards_are_a_board(tmp_path: Path) -> None:
    """Tests that a node of eight is taken as SXM where nothing else tells."""
    table = LAMBDA.replace("gpu_2x_h200,H200,2.0", "box,H200,8.0")
    done = imported(tmp_path, "skypilot", "newcloud/vms.csv", table)
    servers = {s.id: s.gpu for s in done.overlay.servers}
    assert servers["newcloud-box"] == "h200-sxm-141gb"
    reasons = {r.what: r.reason for r in done.findings.assumed}
    assert reasons["newcloud-box: h200-sxm-141gb"] == "form-of-board"


def test_brokers(tmp_path: Path) -> None:
    """Tests that a broker's rows are offers of the clouds behind it, and marked."""
    prime = imported(tmp_path / "a", "skypilot", "primeintellect/vms.csv", PRIME)
    assert prices(prime) == {
        "primeintellect-datacrunch/fin-01/2a100.44v/spot": 1.05,
        "primeintellect-lambdalabs/us-midwest-1/gpu-8x-a100-80gb-sxm4/on_demand": 14.32,
        # one name, two sizes
        "primeintellect-oblivus/mon9/a100-pcie-80gb.2/on_demand": 2.9455,
        "primeintellect-oblivus/mon9/a100-pcie-80gb.8/on_demand": 11.7655,
    }
    (region,) = prime.overlay.regions
    assert (region.id, region.country) == ("primeintellect-oblivus/mon9", "CA")
    shade = imported(tmp_path / "b", "skypilot", "shadeform/vms.csv", SHADEFORM)
    assert list(prices(shade)) == ["massedcompute/kansascity-usa-1/a6000x8/on_demand"]
    assert all(o.marketplace for o in (*prime.overlay.offers, *shade.overlay.offers))
    assert skipped(shade) == {"unknown-gpu": ["A16"]}


def test_the_catalogs_count_wins(tmp_path: Path) -> None:
    """Tests the row of Azure that lists 12 cards for a server of 8."""
    table = (
        "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region,"
        "Generation\nStandard_ND96isr_H100_v5,H100,12.0,98.32,39.3,eastus,V2\n"
    )
    done = imported(tmp_path, "skypilot", "azure/vms.csv", table)
    assert {o.server for o in done.overlay.offers} == {"azure-standard-nd96isr-h100-v5"}
    (remark,) = done.findings.assumed
    assert remark.reason == "count-of-catalog"
    assert remark.what == "Standard_ND96isr_H100_v5: 12, not 8"


def test_columns_that_are_not_read(tmp_path: Path) -> None:
    """Tests that an unknown column is listed rather than overlooked."""
    table = LAMBDA.replace("GpuInfo", "Colour")
    done = imported(tmp_path, "skypilot", "lambda/vms.csv", table)
    assert skipped(done)["unknown-column"] == ["Colour"]

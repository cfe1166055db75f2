"""Tests of the rates of nodes by hand: peaks, NICs, links and buses."""

from __future__ import annotations

from typing import Any

import pytest

from solver.hardware import calibration_for, hardware_for, hardware_of
from solver.performance.inputs import Hardware
from tests.planning.jobs import catalog


def server_of(name: str, **changes: Any) -> Any:
    """A shipped server, changed."""
    return catalog().servers[name].model_copy(update=changes)


def made(name: str, precision: str = "bf16", **changes: Any) -> Hardware:
    """The hardware of a shipped server, changed."""
    return hardware_of(catalog(), server_of(name, **changes), precision)


@pytest.mark.parametrize(
    ("gpu", "precision", "tflops"),
    [
        ("a100-sxm-80gb", "bf16", 312),
        ("a100-sxm-80gb", "fp32", 156),
        ("h100-sxm-80gb", "bf16", 989.4),
        ("h100-sxm-80gb", "fp8", 1978.9),
        ("l40s", "bf16", 362),
        ("b200-sxm-180gb", "bf16", 2250),
        ("b200-sxm-180gb", "nvfp4", 9000),
        ("v100-sxm-32gb", "fp16", 125),
    ],
)
def test_peaks_are_those_of_the_data_sheets(
    gpu: str, precision: str, tflops: float
) -> None:
    """Tests dense peaks against the vendors' data sheets, to a percent."""
    server = next(s for s in catalog().servers.values() if s.gpu == gpu)
    hardware = hardware_of(catalog(), server, precision)
    assert hardware.peak_precision == pytest.approx(tflops * 1e12, rel=0.01)


def test_narrow_precisions_keep_the_peak_of_16_bit() -> None:
    """Tests that attention runs in 16 bits whatever the matmuls do."""
    by_precision = {p: made("8x-h100-sxm-80gb", p) for p in ("bf16", "fp16", "fp8")}
    assert len({h.peak_16bit for h in by_precision.values()}) == 1
    fp8 = by_precision["fp8"]
    assert fp8.peak_precision == pytest.approx(2 * fp8.peak_16bit, rel=0.01)


def test_fp32_jobs_know_no_16_bit() -> None:
    """Tests that a job in fp32 computes everything at the TF32 rate."""
    hardware = made("8x-a100-sxm-80gb", "fp32")
    assert hardware.peak_16bit == hardware.peak_precision == 156e12


def test_a_gpus_share_of_the_nics() -> None:
    """Tests that 3,200 Gb/s over 8 GPUs are 50 GB/s each, less the tier's loss."""
    network = catalog().networks["infiniband-ndr-400"]
    changes = {"network": network.id, "network_gbps": 3200.0}
    rate = made("8x-h100-sxm-80gb", **changes).inter_bytes_per_s
    assert rate == pytest.approx(50e9 * network.efficiency)
    half = made("8x-h100-sxm-80gb", **{**changes, "network_gbps": 1600.0})
    assert half.inter_bytes_per_s == pytest.approx(rate / 2)
    assert half.inter_latency_s == pytest.approx(network.latency_us * 1e-6)


def test_nvlink_is_nominal_less_the_tiers_loss() -> None:
    """Tests 450 GB/s of an H100's NVLink, and the latency of a hop of fourteen."""
    tier = catalog().intra_node["nvswitch-nvlink4"]
    hardware = made("8x-h100-sxm-80gb")
    assert hardware.intra_bytes_per_s == pytest.approx(450e9 * tier.efficiency)
    assert hardware.intra_latency_s == pytest.approx(tier.latency_us * 1e-6 / 14)
    assert not hardware.intra_pair_only


def test_host_links_by_generation() -> None:
    """Tests PCIe 3, 4 and 5 of 16 lanes: near 16, 32 and 63 GB/s, of which 0.8."""
    for gpu, nominal in (
        ("v100-sxm-32gb", 15.75),
        ("a100-sxm-80gb", 31.5),
        ("h100-sxm-80gb", 63.0),
    ):
        server = next(s for s in catalog().servers.values() if s.gpu == gpu)
        precision = "fp16" if gpu.startswith("v100") else "bf16"
        rate = hardware_of(catalog(), server, precision).host_bytes_per_s
        share = calibration_for(catalog().gpus[gpu], catalog().calibration)
        wanted = nominal * 1e9 * share.values["host_link"]
        assert rate == pytest.approx(wanted, rel=0.01), gpu


def test_bridges_join_pairs_only() -> None:
    """Tests that NVLink bridges mark pairs, and that wider groups take the bus."""
    bridged = made(
        "8x-a100-sxm-80gb",
        intra_node="nvlink3-bridge",
        intra_node_kind="nvlink",
        intra_node_gb_per_s=300.0,
        nvlink_pair_only=True,
    )
    assert bridged.intra_pair_only
    curve = catalog().calibration["pcie"]
    assert bridged.pcie_bus_8 == pytest.approx(curve["bus_8"] * 1e9)


def test_buses_that_were_measured_win_over_the_curve() -> None:
    """Tests that PCIe 5 switches are faster than the curve of a box without."""
    curve, tier = catalog().calibration["pcie"], catalog().intra_node["pcie5"]
    gpu = catalog().gpus["l40s"]
    args = (server_of("8x-l40s"), None, None, catalog().calibration, "bf16")
    assumed = hardware_for(gpu, *args)
    assert assumed.pcie_bus_8 == pytest.approx(curve["bus_8"] * 1e9)
    measured = hardware_for(gpu, args[0], tier, *args[2:])
    assert measured.pcie_bus_8 == pytest.approx(tier.bus_8_gb_per_s * 1e9)
    assert measured.pcie_bus_8 > assumed.pcie_bus_8


def test_direct_links_between_pairs_are_a_mesh() -> None:
    """Tests that only tiers with a rate of a pair are meshes."""
    meshes = {
        name
        for name, tier in catalog().intra_node.items()
        if tier.point_to_point_gb_per_s
    }
    for server in catalog().servers.values():
        precision = "fp16" if server.gpu.startswith(("v100", "t4")) else "bf16"
        hardware = hardware_of(catalog(), server, precision)
        assert hardware.intra_mesh == (server.intra_node in meshes), server.id


def test_usable_memory_is_less_than_the_marketed() -> None:
    """Tests that an 80 GB H100 has 79.1 GiB, and no card more than its label in GiB."""
    assert made("8x-h100-sxm-80gb").memory_bytes == pytest.approx(
        79.1 * 2**30, rel=0.003
    )
    for gpu in catalog().gpus.values():
        assert 0.85 * gpu.memory_gb * 1e9 < gpu.usable_memory_gib * 2**30
        assert gpu.usable_memory_gib < gpu.memory_gb

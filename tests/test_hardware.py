"""From catalog to the performance model's hardware."""

from __future__ import annotations

from typing import Any

import pytest

from solver.catalog.load import Catalog, load_catalog
from solver.catalog.supply import standard_server
from solver.errors import InternalError
from solver.hardware import (
    calibration_for,
    hardware_for,
    hardware_of,
    pcie_rate_is_assumed,
    precision_supported,
)

PRECISIONS = ("bf16", "fp16", "fp32", "fp8", "mxfp8", "nvfp4")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def test_every_server_has_hardware_within_its_data_sheet(catalog: Catalog) -> None:
    """Tests that no fraction passes 1, in every precision that the GPU has."""
    for server in catalog.servers.values():
        gpu = catalog.gpus[server.gpu]
        for precision in PRECISIONS:
            if not precision_supported(gpu, precision):
                continue
            made = hardware_of(catalog, server, precision)
            for name in (
                "gemm_efficiency",
                "gemm_efficiency_16bit",
                "attention_efficiency",
                "hbm_efficiency",
                "plain_rate",
            ):
                assert 0 < getattr(made, name) <= 1, (server.id, precision, name)
            assert made.peak_precision > 0
            assert made.intra_bytes_per_s <= server.intra_node_gb_per_s * 1e9
            nic = server.network_gbps / 8 * 1e9 / server.gpus_per_node
            assert made.inter_bytes_per_s <= nic


def test_every_generation_is_calibrated_with_its_source(catalog: Catalog) -> None:
    """Tests that no GPU falls back to the default and each entry says its source."""
    for gpu in catalog.gpus.values():
        found = calibration_for(gpu, catalog.calibration)
        assert found.key != "default", gpu.id
        assert found.source
        assert 0 < found.sigma < 0.5


def test_compute_capability_wins_over_generation(catalog: Catalog) -> None:
    """Tests that a 3090 is not taken for an A100, nor a B300 for a B200."""
    keys = {
        name: calibration_for(catalog.gpus[name], catalog.calibration).key
        for name in ("a100-sxm-80gb", "rtx-3090", "b200-sxm-180gb", "b300-sxm-288gb")
    }
    assert list(keys.values()) == [
        "ampere",
        "ampere-consumer",
        "blackwell",
        "blackwell-ultra",
    ]


def test_unknown_generation_takes_the_default(catalog: Catalog) -> None:
    """Tests that a GPU of the future is estimated, and that nothing else is a bug."""
    gpu = catalog.gpus["h100-sxm-80gb"].model_copy(update={"generation": "rubin"})
    assert calibration_for(gpu, catalog.calibration).key == "default"
    with pytest.raises(InternalError, match="rubin"):
        calibration_for(gpu, {"generations": {}})


def test_year_takes_the_software_of_its_time(catalog: Catalog) -> None:
    """Tests that attention on H100 was slower up to 2024."""
    gpu = catalog.gpus["h100-sxm-80gb"]
    by_year = {
        year: calibration_for(gpu, catalog.calibration, year).values["attention"]
        for year in (2023, 2024, 2025, None)
    }
    assert by_year[2023] == by_year[2024] < by_year[2025] == by_year[None]


def test_lower_power_limit_is_slower(catalog: Catalog) -> None:
    """Tests that the same chip at 350 W sustains a smaller share of its peak."""
    server = catalog.servers["8x-h100-sxm-80gb"]
    gpu = catalog.gpus[server.gpu]

    def efficiency(watts: float) -> float:
        part = gpu.model_copy(update={"tdp_w": watts})
        made: Any = hardware_for(part, server, None, None, catalog.calibration, "bf16")
        return float(made.gemm_efficiency)

    assert efficiency(350) < efficiency(500) < efficiency(700) == efficiency(1000)


def test_parts_of_one_silicon_go_with_their_power(catalog: Catalog) -> None:
    """Tests that B200 falls behind GB200 by its power, not by its listed peak."""

    def sustained(gpu_id: str, watts: float | None = None) -> float:
        gpu = catalog.gpus[gpu_id]
        part = gpu.model_copy(update={"tdp_w": watts or gpu.tdp_w})
        server = catalog.servers["8x-h100-sxm-80gb"]
        made: Any = hardware_for(part, server, None, None, catalog.calibration, "bf16")
        return float(made.gemm_efficiency * made.peak_precision)

    exponent = catalog.calibration["generations"]["blackwell"]["power_exponent"]
    ratio = sustained("b200-sxm-180gb") / sustained("gb200-nvl72")
    assert ratio == pytest.approx((1000 / 1200) ** exponent)
    assert sustained("gb300-nvl72", 1e6) == 2500e12  # never above its peak


def test_no_network_means_one_node(catalog: Catalog) -> None:
    """Tests that a server without a fabric has no rate between nodes."""
    server = catalog.servers["8x-h100-sxm-80gb"].model_copy(update={"network": None})
    assert hardware_of(catalog, server, "bf16").inter_bytes_per_s == 0


def test_precision_that_the_gpu_lacks(catalog: Catalog) -> None:
    """Tests that A100 has no FP8, H100 no block scaling, and V100 no bf16."""
    gpus = catalog.gpus
    assert not precision_supported(gpus["a100-sxm-80gb"], "fp8")
    assert precision_supported(gpus["h100-sxm-80gb"], "fp8")
    assert not precision_supported(gpus["h100-sxm-80gb"], "mxfp8")
    assert precision_supported(gpus["b200-sxm-180gb"], "nvfp4")
    assert not precision_supported(gpus["v100-sxm-32gb"], "bf16")
    server = catalog.servers["8x-a100-sxm-80gb"]
    with pytest.raises(InternalError, match="fp8"):
        hardware_of(catalog, server, "fp8")


def test_l40s_groups_take_the_measured_bus(catalog: Catalog) -> None:
    """Tests that 2, 4 and 8 L40S have about 20, 5.2 and 1.4 GB/s and no NVLink."""
    made = hardware_of(catalog, catalog.servers["8x-l40s"], "bf16")
    rates = [made.pcie_bus_2, made.pcie_bus_4, made.pcie_bus_8]
    assert rates == pytest.approx([20e9, 5.2e9, 1.4e9], rel=0.02)
    assert made.intra_bytes_per_s == 0


def test_assumed_pcie_rates_are_told(catalog: Catalog) -> None:
    """Tests that only PCIe groups without a measured tier lean on the curve."""
    l40s, h100 = catalog.servers["8x-l40s"], catalog.servers["8x-h100-sxm-80gb"]
    assert pcie_rate_is_assumed(l40s, None)
    assert not pcie_rate_is_assumed(l40s, catalog.intra_node["pcie4"])
    assert not pcie_rate_is_assumed(h100, None)


@pytest.mark.parametrize(
    ("gpu", "pair"),
    [
        # 27 % of 31.5 and 63 GB/s: what passes through host memory
        ("rtx-4090", 8.5),
        ("rtx-3090", 8.5),
        ("rtx-5090", 17.0),
        # measured, and copied from card to card
        ("l40s", 20.1),
        ("rtx-6000-ada", 20.1),
        ("rtx-pro-6000", 38.6),
    ],
)
def test_cards_that_cannot_copy_to_one_another(
    catalog: Catalog, gpu: str, pair: float
) -> None:
    """Tests the bus rate of a pair over PCIe, GB/s, with and without peer-to-peer."""
    made = hardware_of(catalog, standard_server(catalog, gpu, 2), "bf16")
    assert made.pcie_bus_2 / 1e9 == pytest.approx(pair, rel=0.01)
    assert made.pcie_bus_8 <= made.pcie_bus_4 <= made.pcie_bus_2


def test_without_peer_to_peer_is_never_faster(catalog: Catalog) -> None:
    """Tests every card over PCIe: taking away copies between cards gains nothing."""
    for gpu in catalog.gpus.values():
        server = standard_server(catalog, gpu.id, 2)
        if server.intra_node_kind != "pcie":
            continue
        tier = catalog.intra_node[server.intra_node]
        precision = "bf16" if gpu.bf16_tflops else "fp16"
        args = (server, tier, None, catalog.calibration, precision)
        copies, cannot = (
            hardware_for(gpu.model_copy(update={"peer_to_peer": able}), *args)
            for able in (True, False)
        )
        for size in (2, 4, 8):
            name = f"pcie_bus_{size}"
            assert getattr(cannot, name) <= getattr(copies, name)

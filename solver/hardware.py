"""From catalog entries and calibration to the hardware of the performance model.

A GPU's data sheet says what it could do; catalog/calibration.yaml says, by GPU
generation, what fraction of it training sustains. A constant may carry a year, as in
catalog/frameworks: the newest holds for a plan, that of its year for a published run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from solver.catalog.generations import calibration_key
from solver.catalog.slices import Slice, whole_card
from solver.errors import InternalError
from solver.host_rates import (
    THREADS_PER_CORE,
    drive_bytes_per_s,
    host_memory_bytes_per_s,
    host_threads,
)
from solver.performance.inputs import Hardware
from solver.performance.stack import at_year
from solver.units import GIB

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, IntraNodeTier, NetworkTier, Server

SIXTEEN_BIT = ("bf16", "fp16")

_PEAKS = {"fp8": "fp8_tflops", "mxfp8": "fp8_tflops", "nvfp4": "fp4_tflops"}

_RING_HOPS = 14
"""Hops of a ring all-reduce over 8 GPUs, the tier's measured latency."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What training sustains on one GPU generation, and how sure that is."""

    key: str
    values: Mapping[str, float]
    sigma: float
    """Spread of the logarithm of predicted over measured step time."""
    source: str


def calibration_for(
    gpu: Gpu, calibration: Mapping[str, Any], year: float | None = None
) -> Calibration:
    """The entry of calibration.yaml for ``gpu``, as it holds in ``year``.

    An unknown generation takes the entry ``default``.
    """
    key = calibration_key(gpu, calibration)
    if key is None:
        raise InternalError(f"no calibration for GPU generation {gpu.generation}")
    entry = calibration["generations"][key]
    numbers = {
        k: float(v)
        for k, v in {**calibration.get("common", {}), **entry}.items()
        if isinstance(v, int | float) and not isinstance(v, bool)
    }
    return Calibration(
        key=key,
        values=at_year(numbers, year),
        sigma=float(entry.get("sigma", 0.2)),
        source=str(entry.get("source", "")),
    )


def precision_supported(gpu: Gpu, precision: str) -> bool:
    """Whether ``gpu`` has tensor cores for ``precision``."""
    return _peak_tflops(gpu, precision) is not None


def _peak_tflops(gpu: Gpu, precision: str) -> float | None:
    """Dense peak of ``precision`` in TFLOP/s; None where the GPU lacks it."""
    if precision == "fp32":
        return gpu.tf32_tflops or gpu.fp32_tflops
    if precision == "mxfp8" and not gpu.fp4_tflops:
        return None  # block scaling came with the 4-bit formats
    rates = {"bf16": gpu.bf16_tflops, "fp16": gpu.fp16_tflops or gpu.bf16_tflops}
    if precision in rates:
        return rates[precision]
    value = getattr(gpu, _PEAKS[precision])
    return float(value) if value else None


def _power_factor(gpu: Gpu, values: Mapping[str, float]) -> float:
    """What a part sustains of its peak over what the part calibrated on does.

    Where ``silicon_tflops`` names the 16-bit peak of the same silicon at
    ``reference_w``, parts of it go with their power and not with the peak of their
    data sheets; elsewhere a part with less power for its peak is slower. A slice
    shares the power of its card, and sustains what the card would.
    """
    gpu = whole_card(gpu)
    peak = gpu.bf16_tflops or gpu.fp16_tflops
    if not gpu.tdp_w or not peak:
        return 1.0
    if silicon := values.get("silicon_tflops"):
        power = gpu.tdp_w / values["reference_w"]
        return float(silicon / peak * power ** values["power_exponent"])
    reference = values.get("reference_w_per_tflop", 0.0)
    if not reference:
        return 1.0
    share = min(1.0, gpu.tdp_w / peak / reference)
    return float(share ** values["power_exponent"])


def hardware_for(
    gpu: Gpu,
    server: Server,
    intra_node: IntraNodeTier | None,
    network: NetworkTier | None,
    calibration: Mapping[str, Any],
    precision: str,
    year: float | None = None,
) -> Hardware:
    """One kind of node as the performance model takes it.

    Parameters
    ----------
    intra_node, network
        Tiers of ``server``; no network: one node only.
    precision
        Of the job; the GPU must have it (`precision_supported`).
    year
        Of a published run, whose software was slower; None: the newest.
    """
    values = calibration_for(gpu, calibration, year).values
    peak = _peak_tflops(gpu, precision)
    if peak is None:
        raise InternalError(f"{gpu.id} does not compute in {precision}")
    sixteen = peak if precision == "fp32" else gpu.bf16_tflops or gpu.fp16_tflops
    if precision in SIXTEEN_BIT:
        sixteen = peak
    power = _power_factor(gpu, values)
    efficiency = min(1.0, values["gemm_16bit"] * power)
    name = f"gemm_{precision}"
    inter = 0.0
    if network is not None:
        inter = server.network_gbps / 8 * 1e9 / server.gpus_per_node
        inter *= network.efficiency
    made = Hardware(
        gpus_per_node=server.gpus_per_node,
        nvlink_domain_gpus=server.nvlink_domain_gpus,
        memory_bytes=gpu.usable_memory_gib * GIB,
        hbm_bytes_per_s=gpu.memory_bandwidth_gb_per_s * 1e9,
        peak_16bit=(sixteen or peak) * 1e12,
        peak_precision=peak * 1e12,
        sm_count=gpu.sm_count,
        gemm_efficiency=min(1.0, values.get(name, values["gemm_16bit"]) * power),
        gemm_efficiency_16bit=efficiency,
        attention_efficiency=min(1.0, values["attention"] * power),
        fused_attention=values["fused_attention"] > 0,
        inter_bytes_per_s=inter,
        inter_latency_s=(network.latency_us if network else 0.0) * 1e-6,
        host_bytes_per_s=values["host_link"] * _pcie_bytes_per_s(gpu),
        host_memory_bytes_per_s=host_memory_bytes_per_s(gpu, server),
        host_cores=host_threads(gpu, server) / THREADS_PER_CORE,
        hbm_efficiency=values["hbm"],
        tile_fill_s=values["tile_fill_s"],
        wave_tail=values["wave_tail"],
        plain_rate=values["plain_rate"],
        grouped_rate=values.get("grouped", 1.0),
        attention_ramp_tokens=values["attention_ramp_tokens"],
        **_inside(gpu, server, intra_node, calibration),
    )
    return replace(made, speed_headroom=_speed_headroom(made, gpu, server, intra_node))


def _speed_headroom(
    made: Hardware, gpu: Gpu, server: Server, intra_node: IntraNodeTier | None
) -> float:
    """How many times faster all could be until something passes its data sheet."""
    pcie = _pcie_bytes_per_s(gpu)
    inside = server.intra_node_gb_per_s or (intra_node.gb_per_s if intra_node else 0.0)
    links = [
        (made.inter_bytes_per_s, server.network_gbps / 8 * 1e9 / server.gpus_per_node),
        (made.intra_bytes_per_s, inside * 1e9),
        (made.host_bytes_per_s, pcie),
    ]
    if server.intra_node_kind == "pcie":
        links.append((made.pcie_bus_2, pcie))
    shares = [
        made.gemm_efficiency,
        made.gemm_efficiency_16bit,
        made.attention_efficiency,
        made.hbm_efficiency,
        *(rate / nominal for rate, nominal in links if nominal > 0),
    ]
    return float(max(1.0, 1.0 / max(shares)))


_PCIE_LANE_GB_PER_S = {3: 0.985, 4: 1.97, 5: 3.94, 6: 7.56}
"""Rate of a PCIe lane and direction by generation, GB/s (PCI-SIG)."""


def _pcie_bytes_per_s(gpu: Gpu) -> float:
    """Nominal bytes/s of a GPU's PCIe link, each direction; a slice has its share."""
    whole = _PCIE_LANE_GB_PER_S.get(gpu.pcie_generation, 2.0) * gpu.pcie_lanes * 1e9
    return whole * gpu.link_share if isinstance(gpu, Slice) else whole


def _inside(
    gpu: Gpu,
    server: Server,
    tier: IntraNodeTier | None,
    calibration: Mapping[str, Any],
) -> dict[str, Any]:
    """Fields of the hardware that say how the GPUs of a node reach each other.

    Without measured bus rates the PCIe groups take the measured curve of a box
    without peer-to-peer between sockets (``pcie`` of calibration.yaml). Cards that
    cannot copy to one another have no more of their link than ``without_peer``, for
    all that they say passes through host memory.
    """
    curve = calibration["pcie"]
    buses = {2: curve["bus_2"], 4: curve["bus_4"], 8: curve["bus_8"]}
    if tier is not None:
        measured = {2: tier.bus_2_gb_per_s, 4: tier.bus_4_gb_per_s}
        measured[8] = tier.bus_8_gb_per_s
        buses = {size: measured[size] or buses[size] for size in buses}
    if not gpu.peer_to_peer:
        most = curve.get("without_peer", 1.0) * _pcie_bytes_per_s(gpu) / 1e9
        buses = {size: min(rate, most) for size, rate in buses.items()}
    linked = server.intra_node_kind in ("nvlink", "nvswitch")
    nominal = server.intra_node_gb_per_s or (tier.gb_per_s if tier else 0.0)
    efficiency = tier.efficiency if tier else curve["nvlink"]
    pairs = server.nvlink_pair_only or bool(tier and tier.pair_only)
    latency = tier.latency_us if tier else curve["latency_us"]
    return {
        "intra_bytes_per_s": nominal * efficiency * 1e9 if linked else 0.0,
        "intra_pair_only": pairs,
        "pcie_bus_2": buses[2] * 1e9,
        "pcie_bus_4": buses[4] * 1e9,
        "pcie_bus_8": buses[8] * 1e9,
        "intra_latency_s": latency * 1e-6 / _RING_HOPS,
        "intra_mesh": bool(tier and tier.point_to_point_gb_per_s),
    }


def pcie_rate_is_assumed(server: Server, tier: IntraNodeTier | None) -> bool:
    """Whether groups over PCIe are timed by the general curve, not a measurement."""
    if server.gpus_per_node == 1 or server.intra_node_kind == "nvswitch":
        return False
    wanted = 4 if server.gpus_per_node <= 4 else 8
    rate = tier and (tier.bus_4_gb_per_s if wanted == 4 else tier.bus_8_gb_per_s)
    linked = server.intra_node_kind == "nvlink" and not server.nvlink_pair_only
    return not rate and not linked


def hardware_of(
    catalog: Catalog, server: Server, precision: str, year: float | None = None
) -> Hardware:
    """The hardware of ``server``, its names looked up in ``catalog``."""
    read, write = drive_bytes_per_s(catalog, server)
    made = hardware_for(
        catalog.gpu(server.gpu),
        server,
        catalog.intra_node.get(server.intra_node),
        catalog.networks[server.network] if server.network else None,
        catalog.calibration,
        precision,
        year,
    )
    return replace(made, nvme_read_bytes_per_s=read, nvme_write_bytes_per_s=write)

"""Whether the figures of a catalog's entries are possible: rates, ranges, ratios.

Each check yields the issues of one problem, as those of `solver.catalog.consistency`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from solver.errors import Issue

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import FailureRate, Gpu, IntraNodeTier

__all__ = [
    "check_failure_rates",
    "check_link_rates",
    "check_measured_links",
    "check_ratios",
    "check_steps_of_egress",
]

PCIE_GB_PER_S_PER_LANE: Mapping[int, float] = MappingProxyType(
    {3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
)
"""Peak of a lane and direction after coding (PCI-SIG base specifications)."""

SLACK = 1.02
"""Figures are rounded: so much above a peak is still the peak."""

GROUPS = (2, 4, 8)
"""Sizes of the groups whose bus rates a link may state."""

MOST_TIMES_WIDER = 4.1
"""Most that a format of half the width gains; more is another format or a sparse rate.

Dense fp4 is four times fp8 on consumer Blackwell (RTX 5090), twice to three times
elsewhere."""


def check_ratios(catalog: Catalog) -> Iterator[Issue]:
    """Yield GPUs of which a rate is too far from another: a sparse one, or a slip."""
    for gpu in catalog.gpus.values():
        for field, wider in _ratios(gpu):
            message = (
                f"more than {MOST_TIMES_WIDER:.0f} times {wider}: expected dense rates"
            )
            where = catalog.where("gpus", gpu.id, field)
            yield Issue("impossible-value", message, where, f"{gpu.id}.{field}")


def _ratios(gpu: Gpu) -> Iterator[tuple[str, str]]:
    """Yield each rate that is too high beside a wider format, and that format."""
    half = "bf16_tflops" if gpu.bf16_tflops else "fp16_tflops"
    for field, wider in (
        ("fp8_tflops", half),
        ("fp4_tflops", "fp8_tflops"),
        ("tf32_tflops", half),
        ("fp32_tflops", half),
        ("int8_tops", half),
    ):
        most = 1.0 if field in ("tf32_tflops", "fp32_tflops") else MOST_TIMES_WIDER
        rate, base = getattr(gpu, field), getattr(gpu, wider)
        if rate and base and rate > most * base * SLACK:
            yield field, wider


def check_link_rates(catalog: Catalog) -> Iterator[Issue]:
    """Yield servers whose GPUs reach each other faster than the GPU's own links."""
    for server in catalog.servers.values():
        gpu = catalog.gpus.get(server.gpu)
        if gpu is None:
            continue
        peak = _peak_gb_per_s(gpu, server.intra_node_kind)
        if peak is not None and server.intra_node_gb_per_s > peak * SLACK:
            field = "intra_node_gb_per_s"
            rate = server.intra_node_gb_per_s
            message = f"{rate:g} GB/s a GPU and direction, but {gpu.id} has {peak:g}"
            where = catalog.where("servers", server.id, field)
            yield Issue("impossible-value", message, where, f"{server.id}.{field}")


def _peak_gb_per_s(gpu: Gpu, kind: str) -> float | None:
    """Return the peak of a GPU's links of a kind, a direction; None: not known."""
    if kind in ("nvlink", "nvswitch"):
        return gpu.nvlink_gb_per_s
    lane = PCIE_GB_PER_S_PER_LANE.get(gpu.pcie_generation)
    return lane * gpu.pcie_lanes if kind == "pcie" and lane is not None else None


def check_measured_links(catalog: Catalog) -> Iterator[Issue]:
    """Yield tiers inside a node whose measured bus rates are above what links carry.

    Notes
    -----
    A bus rate is 2 (n - 1) / n times size over time (NCCL's definition). Each of n GPUs
    sends its data once at least, also where the switch adds up, so that size over time
    is the link's rate at most.
    """
    for tier in catalog.intra_node.values():
        for field in _impossible_rates(tier):
            message = f"above what links of {tier.gb_per_s:g} GB/s can carry"
            where = catalog.where("intra_node", tier.id, field)
            yield Issue("impossible-value", message, where, f"{tier.id}.{field}")


def _impossible_rates(tier: IntraNodeTier) -> Iterator[str]:
    """Yield the fields of rates that the links cannot carry."""
    for gpus in GROUPS:
        most = 2 * (gpus - 1) / gpus * tier.gb_per_s * SLACK
        if (getattr(tier, f"bus_{gpus}_gb_per_s") or 0.0) > most:
            yield f"bus_{gpus}_gb_per_s"
    if (tier.point_to_point_gb_per_s or 0.0) > tier.gb_per_s * SLACK:
        yield "point_to_point_gb_per_s"


def check_failure_rates(catalog: Catalog) -> Iterator[Issue]:
    """Yield failure rates that are none, or lie outside of their own range."""
    for rate in catalog.failure_rates.values():
        for field, message in _rate_faults(rate):
            where = catalog.where("failure_rates", rate.id, field)
            yield Issue("impossible-value", message, where, f"{rate.id}.{field}")


def _rate_faults(rate: FailureRate) -> Iterator[tuple[str, str]]:
    """Yield field and fault of a failure rate."""
    if rate.per_gpu_hour is None and rate.per_node_hour is None:
        yield "per_gpu_hour", "expected a rate per GPU-hour or per node-hour"
    middle = rate.per_node_hour if rate.per_gpu_hour is None else rate.per_gpu_hour
    if middle is not None:
        if rate.low is not None and rate.low > middle:
            yield "low", f"the low end is above the rate itself, {middle:g}"
        if rate.high is not None and rate.high < middle:
            yield "high", f"the high end is below the rate itself, {middle:g}"


def check_steps_of_egress(catalog: Catalog) -> Iterator[Issue]:
    """Yield steps of an egress price that end before they begin."""
    for price in catalog.egress.values():
        if price.to_gb is not None and price.to_gb <= price.from_gb:
            message = f"the step ends at {price.to_gb:g} GB, where it begins or before"
            where = catalog.where("egress", price.id, "to_gb")
            yield Issue("impossible-value", message, where, f"{price.id}.to_gb")

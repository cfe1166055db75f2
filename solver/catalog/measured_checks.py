"""Whether figures of the catalog agree with what was measured, and say where from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from solver.catalog.calibration_checks import where_calibrated
from solver.catalog.generations import calibration_key
from solver.catalog.references import missing
from solver.errors import Issue, nearest, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.measured import CollectiveRate, MatmulRate
    from solver.catalog.schema import Gpu

__all__ = [
    "check_calibrated_matmuls",
    "check_collective_rates",
    "check_field_sources",
    "check_matmul_rates",
    "check_measured_tiers",
    "check_region_sources",
]

_PEAKS: Mapping[str, tuple[str, str]] = {
    # precision of a measured product: field of the peak, constant of the calibration
    "bf16": ("bf16_tflops", "gemm_16bit"),
    "fp8": ("fp8_tflops", "gemm_fp8"),
    "fp8-block": ("fp8_tflops", "gemm_fp8"),
    "nvfp4": ("fp4_tflops", "gemm_nvfp4"),
}
_ROUNDING = 1.005
"""Rates are written with three digits or four."""

_REPEATS = 1.05
"""Repeats of one measurement differ by 3 to 4 %, and the products are of libraries for
inference: a constant fitted on training may lie so much above their largest."""

_IN_SWITCH = 2.0
"""Reduction in the switch moves half the bytes, so busbw may reach twice the link."""


def check_matmul_rates(catalog: Catalog) -> Iterator[Issue]:
    """Yield measured matrix products that the GPU cannot have done."""
    for rate in catalog.matmul_rates.values():
        yield from missing(catalog, "matmul_rates", rate.id, "gpu", rate.gpu, "gpus")
        gpu = catalog.gpus.get(rate.gpu)
        for message in _matmul_faults(rate, gpu) if gpu is not None else ():
            where = catalog.where("matmul_rates", rate.id, "max_tflops")
            yield Issue("impossible-value", message, where, rate.id)


def _matmul_faults(rate: MatmulRate, gpu: Gpu) -> Iterator[str]:
    """Yield what is impossible about a measured product."""
    peak = getattr(gpu, _PEAKS[rate.precision][0])
    if peak is None or rate.max_tflops > peak:
        yield f"faster than the peak of {gpu.id} ({shown(peak)} TFLOP/s)"
    known = [r for r in (rate.median_tflops, rate.p90_tflops, rate.max_tflops) if r]
    if known != sorted(known):
        yield "the median is above the 90th percentile, or that above the largest"


def check_calibrated_matmuls(catalog: Catalog) -> Iterator[Issue]:
    """Yield calibrated fractions of a peak above the largest that was measured."""
    entries = catalog.calibration.get("generations", {})
    for (gpu_id, constant), (rate, field) in sorted(_fastest(catalog).items()):
        gpu = catalog.gpus.get(gpu_id)
        key = None if gpu is None else calibration_key(gpu, catalog.calibration)
        peak = getattr(gpu, field) if gpu is not None else None
        fraction = entries[key].get(constant) if key is not None else None
        if not peak or key is None or not isinstance(fraction, int | float):
            continue
        if fraction * peak > rate * _REPEATS:
            message = (
                f"generations.{key}.{constant} is {fraction:g} of the peak, but the "
                f"largest measured on {gpu_id} is {rate / peak:.3f}"
            )
            path = ("generations", key, constant)
            where = where_calibrated(catalog, path)
            yield Issue("above-measured", message, where, ".".join(path))


def _fastest(catalog: Catalog) -> dict[tuple[str, str], tuple[float, str]]:
    """Return the largest measured rate, and the peak's field, by GPU and constant."""
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for rate in catalog.matmul_rates.values():
        field, constant = _PEAKS[rate.precision]
        best = found.get((rate.gpu, constant), (0.0, field))[0]
        found[rate.gpu, constant] = (max(best, rate.max_tflops), field)
    return found


def check_collective_rates(catalog: Catalog) -> Iterator[Issue]:
    """Yield measured collectives of unknown tiers and GPUs, or faster than the link."""
    tiers = catalog.intra_node.keys() | catalog.networks.keys()
    for rate in catalog.collective_rates.values():
        if rate.tier not in tiers:
            where = catalog.where("collective_rates", rate.id, "tier")
            message = f"no tier is called {shown(rate.tier)}"
            hint = nearest(rate.tier, sorted(tiers))
            yield Issue("unknown-reference", message, where, f"{rate.id}.tier", hint)
        if rate.gpu:
            yield from missing(
                catalog, "collective_rates", rate.id, "gpu", rate.gpu, "gpus"
            )
        for message in _collective_faults(catalog, rate):
            where = catalog.where("collective_rates", rate.id, "bus_gb_per_s")
            yield Issue("impossible-value", message, where, rate.id)


def _collective_faults(catalog: Catalog, rate: CollectiveRate) -> Iterator[str]:
    """Yield what is impossible about a measured collective."""
    if rate.bus_gb_per_s is None and rate.latency_us is None:
        yield "neither a bus rate nor a latency"
    tier = catalog.intra_node.get(rate.tier)
    if tier is None or rate.bus_gb_per_s is None:
        return
    most = tier.gb_per_s * (_IN_SWITCH if rate.collective == "all_reduce" else 1.0)
    if rate.bus_gb_per_s > most:
        yield f"faster than {tier.id} can be ({most:g} GB/s)"


def check_measured_tiers(catalog: Catalog) -> Iterator[Issue]:
    """Yield bus rates of tiers inside a node above the largest that was measured."""
    best: dict[tuple[str, int], float] = {}
    for rate in catalog.collective_rates.values():
        if rate.collective == "all_reduce" and rate.nodes == 1:
            size = (rate.tier, rate.gpus)
            best[size] = max(best.get(size, 0.0), rate.bus_gb_per_s or 0.0)
    for (tier_id, gpus), most in sorted(best.items()):
        tier = catalog.intra_node.get(tier_id)
        used = getattr(tier, f"bus_{gpus}_gb_per_s", None)
        if used is not None and used > most * _ROUNDING:
            field = f"bus_{gpus}_gb_per_s"
            message = f"{used:g} GB/s, but the largest measured is {most:g}"
            where = catalog.where("intra_node", tier_id, field)
            yield Issue("above-measured", message, where, f"{tier_id}.{field}")


def check_region_sources(catalog: Catalog) -> Iterator[Issue]:
    """Yield figures of regions without a source of their own, and half a place."""
    pairs = (
        ("grid_gco2_per_kwh", "grid_source"),
        ("pue", "pue_source"),
        ("lat", "coordinate_source"),
    )
    for region in catalog.regions.values():
        for field, source in pairs:
            if getattr(region, field) is not None and not getattr(region, source):
                where = catalog.where("regions", region.id, field)
                message = f"say in {source} where it comes from"
                yield Issue("missing-source", message, where, f"{region.id}.{source}")
        if (region.lat is None) != (region.lon is None):
            where = catalog.where("regions", region.id, "lat")
            message = "a place needs both lat and lon"
            yield Issue("impossible-value", message, where, region.id)


def check_field_sources(catalog: Catalog) -> Iterator[Issue]:
    """Yield sources of fields that the record does not have, or that are empty."""
    for kind in ("gpus", "storage"):
        for entry_id, entry in catalog.entries(kind).items():
            known = type(entry).model_fields
            for field, source in getattr(entry, "sources", {}).items():
                where = catalog.where(kind, entry_id, "sources")
                path = f"{entry_id}.sources.{field}"
                if field not in known:
                    hint = nearest(field, known)
                    message = f"there is no figure {shown(field)}"
                    yield Issue("unknown-key", message, where, path, hint)
                elif not source.strip():
                    message = "every figure says where it comes from"
                    yield Issue("missing-source", message, where, path)

"""The values that a catalog's numbers may have, with their units.

The limits are wide: they hold for any hardware and any price of the next decade, and
keep out slips of the keyboard, wrong units and what arithmetic cannot bear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

__all__ = ["Bounds", "bounds_of"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Annotation of a number: its smallest and largest value, and the unit of both."""

    low: float
    high: float
    unit: str = ""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of a number within the limits."""
        kind = int if source is int else float
        limits: Any = {"ge": kind(self.low), "le": kind(self.high)}
        number: Any = {**handler(source), **limits}
        return core_schema.no_info_before_validator_function(_no_boolean, number)

    def __str__(self) -> str:
        """Return what is expected: ``0.1 to 1,000,000 TFLOP/s``."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{_plain(self.low)} to {_plain(self.high)}{unit}"

    def allows(self, value: float) -> bool:
        """Return whether a number lies within."""
        return self.low <= value <= self.high


def _no_boolean(value: Any) -> Any:
    """Return a value that is not true or false, which Python takes for 1 and 0."""
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", "Input should be a number")
    return value


_MAX_PLAIN = 1e16


def _plain(number: float) -> str:
    """Return a limit as people write it."""
    plain = number == int(number) and number < _MAX_PLAIN
    return f"{number:,.0f}" if plain else f"{number:g}"


def bounds_of(model: type[BaseModel], field: str) -> Bounds | None:
    """Return the limits of a field's number, or of the numbers in it, if it has any."""
    hints = get_type_hints(model, include_extras=True)
    return _first_bounds(hints.get(field))


def _first_bounds(annotation: Any) -> Bounds | None:
    """Return the first limits that an annotation mentions."""
    for part in getattr(annotation, "__metadata__", ()):
        if isinstance(part, Bounds):
            return part
    for part in get_args(annotation):
        found = _first_bounds(part)
        if found is not None:
            return found
    return None


Tflops = Annotated[float, Bounds(0.1, 1e6, "TFLOP/s")]
Tops = Annotated[float, Bounds(0.1, 1e6, "TOP/s")]
MemoryGb = Annotated[float, Bounds(1, 1e5, "GB")]
MemoryGib = Annotated[float, Bounds(0.5, 1e5, "GiB")]
MemoryRate = Annotated[float, Bounds(1, 1e6, "GB/s")]
LinkRate = Annotated[float, Bounds(0, 1e5, "GB/s")]
"""Of a GPU and direction, or of a bus."""
Gbps = Annotated[float, Bounds(0, 1e6, "Gb/s")]
NicRate = Annotated[float, Bounds(0.1, 1e5, "Gb/s")]
Watts = Annotated[float, Bounds(0, 1e5, "W")]
Efficiency = Annotated[float, Bounds(1e-3, 1, "(a share)")]
Microseconds = Annotated[float, Bounds(0, 1e6, "µs")]
Milliseconds = Annotated[float, Bounds(0, 1e6, "ms")]
NodeRate = Annotated[float, Bounds(1e-6, 1e6, "GB/s")]
"""Storage, of one node."""
TotalRate = Annotated[float, Bounds(1e-6, 1e9, "GB/s")]
"""Storage, of all nodes together."""
UsdPerNodeHour = Annotated[float, Bounds(0, 1e6, "USD per node-hour")]
UsdPerNodeMonth = Annotated[float, Bounds(0, 1e8, "USD per node and month")]
UsdPerNode = Annotated[float, Bounds(1, 1e8, "USD per node")]
UsdPerKwh = Annotated[float, Bounds(0, 10, "USD per kWh")]
Years = Annotated[float, Bounds(0.1, 10, "years")]
Resale = Annotated[float, Bounds(0, 0.99, "(a share)")]
Pue = Annotated[float, Bounds(1, 10)]
Kilowatts = Annotated[float, Bounds(0.01, 1e3, "kW")]
UsdPerGbMonth = Annotated[float, Bounds(0, 1e4, "USD per GB and month")]
UsdPerRateMonth = Annotated[float, Bounds(0, 1e6, "USD per MB/s and month")]
UsdPerGb = Annotated[float, Bounds(0, 1e4, "USD per GB")]
FailuresPerHour = Annotated[float, Bounds(0, 1, "per hour")]
ParameterBytes = Annotated[float, Bounds(0, 64, "bytes a parameter")]
Factor = Annotated[float, Bounds(0, 100, "")]
Nodes = Annotated[int, Bounds(0, 1e6, "nodes")]
NodesOrMore = Annotated[int, Bounds(1, 1e6, "nodes")]
LeadDays = Annotated[int, Bounds(0, 3650, "days")]
TermHours = Annotated[float, Bounds(0, 1e5, "hours")]
GpusPerNode = Annotated[int, Bounds(1, 1024, "GPUs")]
Gigabytes = Annotated[float, Bounds(0, 1e12, "GB")]
HostGb = Annotated[float, Bounds(0.1, 1e6, "GB")]
Terabytes = Annotated[float, Bounds(0, 1e6, "TB")]

_SECONDS = Bounds(0, 10, "seconds")
_PASSES = Bounds(0, 1000)
_SHARE = Bounds(0, 1, "(a share)")
FRAMEWORK_CONSTANTS = {
    "tuned": Bounds(0, 1),
    "host_layer_s": _SECONDS,
    "host_rank_s": _SECONDS,
    "host_pipeline_rank_s": _SECONDS,
    "launch_blocking": Bounds(0, 1),
    "host_moe_layer_s": _SECONDS,
    "host_expert_s": _SECONDS,
    "host_step_s": _SECONDS,
    "lora_host": _PASSES,
    "collective_s": _SECONDS,
    "gaps_s": _SECONDS,
    "moe_gaps_s": _SECONDS,
    "elementwise": _PASSES,
    "residual_passes": _PASSES,
    "backward_rate": Bounds(0.1, 1, "(a share)"),
    "accumulate_bytes": _PASSES,
    "loss_bytes": _PASSES,
    "cast_passes": _PASSES,
    "permute_passes": _PASSES,
    "expert_casts": _PASSES,
    "expert_rows": Bounds(0, 1e6, "rows"),
    "fused_attention": Bounds(0, 1),
    "unfused_passes": _PASSES,
    "nf4_passes": _PASSES,
    "tp_exposed": _SHARE,
    "cp_exposed": _SHARE,
    "ep_factor": Bounds(0.1, 1000),
    "pp_exposed": _SHARE,
    "dp_exposed": _SHARE,
    "fsdp_exposed": _SHARE,
    "reduce_bytes": _PASSES,
    "straggler": Bounds(0, 1),
}
"""Constants of a framework by name; what they mean stands at
`solver.performance.stack.Stack`."""

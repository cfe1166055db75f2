"""Whether a plan that was read from a file can be acted on as it stands.

Files are edited, merged and cut. Figures that no plan can have are refused at their
place; and where version and catalog are those that the plan was made with, all of it
has to follow from its decisions again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from solver import dates
from solver.errors import shown
from solver.plan import Plan
from solver.yaml_source import DataPath

if TYPE_CHECKING:
    from solver.verify import Violation

__all__ = ["Unfit", "told", "unfit_parts"]

_COUNTS = ("nodes", "gpus", "gpus_per_node", "steps")
_DEGREES = (
    *("tp", "pp", "cp", "ep", "etp", "dp", "virtual_stages", "micro_batch"),
    *("accumulation", "global_batch_size", "shard_degree"),
)
_ABOVE_ZERO = (
    *("step_time_s", "tokens_per_s", "mfu", "training_days", "duration_days"),
    *("gpu_hours", "checkpoint_gb"),
)
_PARTS = ("step_time_parts_s", "cost_parts_usd", "duration_parts_days")
_MEMORY = ("weights", "gradients", "optimizer", "activations", "other")
_MOST = 10**15
"""No count of a plan is larger."""


class Unfit(NamedTuple):
    """A part of a plan that no plan can have."""

    code: str
    message: str
    path: DataPath


def unfit_parts(plan: Plan) -> Iterator[Unfit]:
    """The parts of a plan that none can have, whatever it was made from."""
    for name in _COUNTS:
        yield from _count(getattr(plan, name), (name,))
    for name in _DEGREES:
        yield from _count(getattr(plan.layout, name), ("layout", name))
    for number, layers in enumerate(plan.layout.layers_per_stage):
        yield from _count(layers, ("layout", "layers_per_stage", number), least=0)
    for name in _ABOVE_ZERO:
        yield from _figure(getattr(plan, name), (name,), positive=True)
    yield from _figure(plan.cost_usd, ("cost_usd",))
    for name in _PARTS:
        yield from _shares(getattr(plan, name), name)
    yield from _memory(plan.memory_gib)
    day = dates.first_day(plan.order_date)
    if day is None or day != dates.last_day(plan.order_date):
        message = f"expected a date such as 2027-03-31, not {shown(plan.order_date)}"
        yield Unfit("wrong-value", message, ("order_date",))


def told(violation: Violation) -> str:
    """A promise that a plan does not keep, in words."""
    values = f"is {shown(violation.got)}"
    if violation.expected is not None:
        values = f"{values}, and {shown(violation.expected)} follows"
    return f"the plan was changed: {violation.message} ({values})"


def _count(value: int, path: DataPath, least: int = 1) -> Iterator[Unfit]:
    """The fault of a count that is too small or absurd."""
    if not least <= value <= _MOST:
        message = f"expected a whole number from {least}, not {shown(value)}"
        yield Unfit("out-of-range", message, path)


def _figure(value: float, path: DataPath, *, positive: bool = False) -> Iterator[Unfit]:
    """The fault of a figure that is not finite, or too small."""
    fine = math.isfinite(value) and (value > 0 if positive else value >= 0)
    if not fine:
        wanted = "above 0" if positive else "from 0"
        message = f"expected a finite number {wanted}, not {shown(value)}"
        yield Unfit("out-of-range", message, path)


def _shares(parts: Mapping[str, float], name: str) -> Iterator[Unfit]:
    """The faults of the parts of a whole."""
    if not parts:
        yield Unfit("missing-key", "this has to have its parts", (name,))
    for key, value in parts.items():
        yield from _figure(value, (name, key))


def _memory(parts: Mapping[str, Any]) -> Iterator[Unfit]:
    """The faults of memory by part."""
    for name in (*_MEMORY, "total", "capacity"):
        path = ("memory_gib", name)
        if name not in parts:
            yield Unfit("missing-key", "this has to be stated", path)
        else:
            whole = name in ("total", "capacity")
            yield from _figure(parts[name], path, positive=whole)

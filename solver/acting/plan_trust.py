"""Whether a plan that was read from a file can be acted on as it stands.

Files are edited, merged and cut. Figures that no plan can have are refused at their
place; and where version and catalog are those that the plan was made with, all of it
has to follow from its decisions again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from solver import dates
from solver.acting.plan_parts import faults_of_parts, other_words
from solver.errors import nearest, shown
from solver.plan import LayoutPlan, Plan
from solver.yaml_source import DataPath

if TYPE_CHECKING:
    from solver.verify import Violation

__all__ = ["Unfit", "in_our_words", "told", "unfit_parts"]

_POSITIVE = frozenset(
    (
        *("nodes", "gpus", "gpus_per_node", "steps", "step_time_s", "tokens_per_s"),
        *("mfu", "training_days", "duration_days", "gpu_hours", "checkpoint_gb"),
        *("tp", "pp", "cp", "ep", "etp", "dp", "virtual_stages", "micro_batch"),
        *("accumulation", "global_batch_size", "shard_degree"),
    )
)
"""Numbers of a plan and its layout that are above zero; others may be zero."""

_PARTS = ("step_time_parts_s", "cost_parts_usd", "duration_parts_days")
_MEMORY = ("weights", "gradients", "optimizer", "activations", "other")
_MOST = 1e15
"""No number of a plan is larger."""


class Unfit(NamedTuple):
    """A part of a plan that no plan can have."""

    code: str
    message: str
    path: DataPath
    hint: str | None = None


def unfit_parts(plan: Plan) -> Iterator[Unfit]:
    """The parts of a plan that none can have, whatever it was made from."""
    yield from _numbers(plan, ())
    yield from _numbers(plan.layout, ("layout",))
    for number, layers in enumerate(plan.layout.layers_per_stage):
        path = ("layout", "layers_per_stage", number)
        yield from _figure(layers, path, whole=True)
    for name in _PARTS:
        yield from _shares(getattr(plan, name), name)
    yield from _memory(plan.memory_gib)
    for fault, place in faults_of_parts(plan):
        yield in_our_words(fault, place)
    for place, word, known in other_words(plan):
        message = f"expected {', '.join(known)}, not {shown(word)}"
        yield Unfit("wrong-value", message, place, nearest(word, known))
    day = dates.first_day(plan.order_date)
    if day is None or day != dates.last_day(plan.order_date):
        message = f"expected a date such as 2027-03-31, not {shown(plan.order_date)}"
        yield Unfit("wrong-value", message, ("order_date",))


def in_our_words(fault: Any, path: DataPath) -> Unfit:
    """What pydantic found wrong below a path."""
    full: DataPath = (*path, *fault["loc"])
    if fault["type"] == "missing":
        return Unfit("missing-key", "this has to be stated", full)
    wanted = str(fault["msg"]).replace("Input should be", "expected", 1)
    return Unfit("wrong-type", f"{wanted}, not {shown(fault['input'])}", full)


def told(violation: Violation) -> str:
    """A promise that a plan does not keep, in words."""
    values = f"is {shown(violation.got)}"
    if violation.expected is not None:
        values = f"{values}, and {shown(violation.expected)} follows"
    return f"the plan was changed: {violation.message} ({values})"


def _numbers(record: Plan | LayoutPlan, above: DataPath) -> Iterator[Unfit]:
    """The faults of the numbers that stand in a record itself."""
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            positive = field.name in _POSITIVE
            whole = isinstance(value, int)
            path = (*above, field.name)
            yield from _figure(value, path, positive=positive, whole=whole)


def _figure(
    value: float, path: DataPath, *, positive: bool = False, whole: bool = False
) -> Iterator[Unfit]:
    """The fault of a number that is negative, endless or absurd."""
    if (value > 0 if positive else value >= 0) and value <= _MOST:
        return
    kind = "whole number" if whole else "finite number"
    wanted = f"above 0 and up to {_MOST:.0e}" if positive else f"from 0 to {_MOST:.0e}"
    yield Unfit("out-of-range", f"expected a {kind} {wanted}, not {shown(value)}", path)


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

"""When nothing fits and more data-parallel GPUs cannot help: what the limit is.

Data parallelism divides a batch and, sharded, the state of the model. It divides
neither the activations of one sequence nor a base that every rank keeps whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from solver.catalog.slices import is_slice
from solver.layout_space import OutOfTimeError
from solver.messages import sentence
from solver.performance.adapters import base_of, quantised_bytes
from solver.physics_inputs import framework_of
from solver.planning.memory_miss import MemoryMiss, least_need_gib
from solver.wording import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solver.performance.inputs import Framework
    from solver.planning.opening import Opening
    from solver.setting import Setting

LENGTH_STEP = 128
"""Sequence lengths are sought in multiples of this, which context parallelism of up to
64 ranks divides."""


@dataclass(frozen=True, slots=True)
class DataParallelLimit:
    """What one GPU has to hold however many data-parallel ranks there are."""

    kind: Literal["sequence", "replicated"]
    fixed_gib: float


def data_parallel_limit(setting: Setting, miss: MemoryMiss) -> DataParallelLimit | None:
    """What more data-parallel GPUs would leave as it is; None if they could help.

    It is the layout's need with all that its ZeRO stage shards over endless ranks.
    """
    parts, zero = miss.memory_gib, miss.layout["zero_stage"]
    framework = setting.framework
    whole_gradients = zero < framework.gradients_sharded_from
    fixed = parts["activations"] + parts["other"]
    fixed += parts["weights"] if zero < 3 else 0.0
    fixed += parts["gradients"] if whole_gradients else 0.0
    fixed += parts["optimizer"] if zero == 0 else 0.0
    if fixed <= miss.allowed_gib:
        return None
    base = parts["weights"] if zero < 3 and miss.group.job.method != "full" else 0.0
    if base > parts["activations"]:
        return DataParallelLimit("replicated", fixed)
    if miss.layout["micro_batch"] == 1 and parts["activations"] > fixed / 2:
        return DataParallelLimit("sequence", fixed)
    return None


def longest_sequence(setting: Setting, miss: MemoryMiss) -> int | None:
    """The longest sequence that fits where the miss is, a multiple of 128 tokens.

    None where none does, or no time is left to tell.
    """
    limits = setting.space.limits(miss.group.node_kind)

    def fits(steps: int) -> bool:
        job = replace(miss.group.job, sequence_length=steps * LENGTH_STEP)
        other = replace(setting, job=job, others=())
        other.space.end = setting.space.end
        need = least_need_gib(other, limits, miss.group)
        return need is not None and need <= miss.allowed_gib

    low, high = 0, -(-miss.group.job.sequence_length // LENGTH_STEP)
    try:
        while high - low > max(1, low // 256):
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
    except OutOfTimeError:
        return None
    return low * LENGTH_STEP or None


def limit_text(
    setting: Setting, miss: MemoryMiss, limit: DataParallelLimit, longest: int | None
) -> str:
    """Why more data-parallel GPUs do not help, and what does."""
    if limit.kind == "replicated":
        return _replicated(setting, miss)
    told = sentence(
        "why.memory.sequence",
        tokens=miss.group.job.sequence_length,
        need=limit.fixed_gib,
    )
    fits = "why.memory.longest" if longest else "why.memory.longest.none"
    alone = is_slice(miss.gpu)
    cure = sentence("why.memory.larger-slice") if alone else _dividing(setting)
    found = [told, sentence(fits, tokens=longest or 0), cure]
    return sentences(found)


def via_text(miss: MemoryMiss, found: Sequence[Opening]) -> str:
    """How the plans that more GPUs open divide the sequence; empty where none does."""
    for opening in found:
        layouts, row = opening.table.layouts, opening.row
        degrees = {
            axis: int(getattr(layouts, axis)[row]) for axis in ("tp", "pp", "cp")
        }
        more = int(layouts.gpus[row]) > miss.nodes * miss.group.node_kind[0]
        if more and any(degrees[axis] > miss.layout[axis] for axis in degrees):
            ways = " ".join(
                f"{sentence(f'axis.{axis}')} {degree}"
                for axis, degree in degrees.items()
                if degree > 1
            )
            gpus = int(layouts.gpus[row])
            return sentence("why.memory.via", gpus=gpus, ways=ways)
    return ""


def _replicated(setting: Setting, miss: MemoryMiss) -> str:
    job, framework = miss.group.job, setting.framework
    weights = miss.memory_gib["weights"]
    told = sentence("why.memory.replicated", need=weights, base=base_of(job))
    shards = 3 in framework.zero_stages
    if is_slice(miss.gpu):
        cure = sentence("why.memory.larger-slice")
    elif quantised_bytes(job) and base_of(job) not in framework.sharded_bases:
        names = ", ".join(framework.sharded_bases)
        cure = sentence("why.memory.unshardable", base=base_of(job), others=names)
    elif shards:
        cure = sentence("why.memory.shard", framework=framework.name)
    else:
        cure = sentence("why.memory.larger-card")
    return sentences((told, cure))


def divides_sequences(framework: Framework) -> bool:
    """Whether GPUs can share the activations of one sequence."""
    rings = framework.context_parallel and not framework.context_on_request
    return rings or framework.tensor_parallel


def _dividing(setting: Setting) -> str:
    """Which parallelism divides a sequence, of this framework or of others."""
    framework = setting.framework
    if framework.context_on_request and not quantised_bytes(setting.job):
        named = "cp" in setting.scenario.constraints.parallelism
        told = "why.memory.asked" if named else "why.memory.on-request"
        return sentence(told, framework=framework.name)
    if divides_sequences(framework):
        ways = [
            sentence(f"axis.{axis}")
            for axis, offered in (
                ("cp", framework.context_parallel),
                ("tp", framework.tensor_parallel),
                ("pp", framework.pipeline_parallel),
            )
            if offered
        ]
        names = ", ".join(ways)
        return sentence("why.memory.divides", framework=framework.name, ways=names)
    method = setting.scenario.workload.method
    able = sorted(
        entry.id
        for entry in setting.catalog.frameworks.values()
        if method in entry.methods
        and divides_sequences(framework_of(setting.catalog, entry.id))
    )
    others = ", ".join(able) or sentence("why.memory.no-framework")
    return sentence("why.memory.undivided", framework=framework.name, others=others)

"""The values that each axis of a layout may take, and the limits a user can set.

An axis by itself: what divides heads, layers, experts, the sequence and the batch.
How axes combine is `solver.performance.parallelism`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from solver.performance.adapters import base_of, quantised_bytes
from solver.performance.inputs import Framework, TrainingJob, TransformerShape
from solver.performance.stages import is_clean_split
from solver.ranges import Range

MAX_MICRO_BATCH = 64
MAX_CONTEXT_PARALLEL = 64
MIN_TOKENS_PER_CONTEXT_RANK = 1024
"""Context parallelism below this many tokens a rank is not offered."""

ADAPTER_ZERO_STAGES = (0, 3)
"""LoRA: the frozen base is replicated (0) or sharded (3); nothing lies between."""


DRIVE_ZERO_STAGES = (3,)
"""States go to drives where everything is sharded (ZeRO-Infinity)."""


@dataclass(frozen=True)
class LatticeLimits:
    """Where the lattice ends: the nodes there are and what the user pinned.

    ``pins`` may hold tp, pp, cp, ep, dp, virtual_stages, micro_batch, zero_stage
    and nodes. A pin never widens the lattice but where an explicit list names
    values that are left out by size, not by law: micro-batches that are no powers of
    two or beyond 64, and context parallelism beyond its usual range.
    """

    max_nodes: int
    gpus_per_node: int
    nvlink_domain_gpus: int = 0
    """0: the node."""
    min_nodes: int = 1
    gpus: Range | None = None
    """GPUs in use; None: as many as the nodes hold."""
    pins: Mapping[str, Range] = field(default_factory=dict)
    recompute: tuple[str, ...] | None = None
    """Allowed recomputation by name; None: all that the framework can do."""

    @property
    def domain(self) -> int:
        """GPUs that reach each other over NVLink."""
        return max(self.nvlink_domain_gpus, self.gpus_per_node)

    def allows(self, axis: str, value: float) -> bool:
        """Whether the user's pin on the axis lets the value through."""
        pin = self.pin(axis)
        return pin is None or pin.allows(value)

    def pin(self, axis: str) -> Range | None:
        """The user's bound on the axis, or on the GPUs in use."""
        return self.gpus if axis == "gpus" else self.pins.get(axis)

    def listed(self, axis: str) -> tuple[int, ...]:
        """Values that the user named one by one, a pin of one value included."""
        pin = self.pins.get(axis)
        if pin is None:
            return ()
        least = 0 if axis == "zero_stage" else 1
        if pin.values is not None:
            return tuple(v for v in pin.values if v >= least and pin.allows(v))
        if pin.min is not None and pin.min == pin.max and pin.min == int(pin.min):
            return (int(pin.min),) if pin.min >= least else ()
        return ()

    def keep(self, axis: str, values: Iterable[int]) -> list[int]:
        """The values that the pin lets through, ascending and once each."""
        return sorted({v for v in values if self.allows(axis, v)})


def divisors(n: int) -> list[int]:
    """Divisors of n, ascending."""
    small = [d for d in range(1, int(n**0.5) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def divides_heads(shape: TransformerShape, tp: int) -> bool:
    """Whether TP divides heads and MLP, and KV heads divide or are replicated.

    With fewer KV heads than ranks each rank keeps a copy of its group's head, which
    needs TP to be a multiple of the KV heads. Latent attention has no KV heads.
    """
    if shape.heads % tp or (shape.ffn and shape.ffn % tp):
        return False
    if shape.is_mla:
        return True
    return shape.kv_heads % tp == 0 or tp % shape.kv_heads == 0


def tensor_parallel_by_shape(shape: TransformerShape) -> list[int]:
    """TP degrees that divide the model, whatever the node."""
    return [t for t in divisors(shape.heads) if divides_heads(shape, t)]


def fits_domain(group: int, limits: LatticeLimits) -> bool:
    """Whether groups of this many neighbouring ranks never straddle a domain."""
    return group <= limits.domain and limits.domain % group == 0


def tensor_parallel_values(
    shape: TransformerShape, framework: Framework, limits: LatticeLimits
) -> list[int]:
    """TP degrees of the lattice."""
    if not framework.tensor_parallel:
        return limits.keep("tp", [1])
    legal = [t for t in tensor_parallel_by_shape(shape) if fits_domain(t, limits)]
    return limits.keep("tp", legal)


def pipeline_values(
    shape: TransformerShape, framework: Framework, limits: LatticeLimits
) -> list[int]:
    """PP degrees over which the layers divide."""
    if not framework.pipeline_parallel:
        return limits.keep("pp", [1])
    layers = shape.layers
    return limits.keep(
        "pp", [p for p in range(1, layers + 1) if is_clean_split(layers, p)]
    )


def context_parallel_values(
    job: TrainingJob, framework: Framework, limits: LatticeLimits
) -> list[int]:
    """CP degrees: powers of two that leave enough tokens a rank, or listed ones.

    Where only some programs of a framework have it, listed ones alone. A rank takes
    one slice from either end of the sequence, so 2 CP divides it.
    """
    asked = bool(limits.listed("cp"))
    if not framework.context_parallel or (framework.context_on_request and not asked):
        return limits.keep("cp", [1])
    s = job.sequence_length
    usual = [
        c
        for c in (2**k for k in range(MAX_CONTEXT_PARALLEL.bit_length()))
        if c == 1 or (s // c >= MIN_TOKENS_PER_CONTEXT_RANK)
    ]
    legal = {c for c in (*usual, *limits.listed("cp")) if c == 1 or s % (2 * c) == 0}
    return limits.keep("cp", legal)


def expert_parallel_values(
    shape: TransformerShape, framework: Framework, limits: LatticeLimits
) -> list[int]:
    """EP degrees: divisors of the number of experts."""
    if not (shape.is_moe and framework.expert_parallel):
        return limits.keep("ep", [1])
    return limits.keep("ep", divisors(shape.n_experts))


def virtual_stage_values(
    shape: TransformerShape, framework: Framework, limits: LatticeLimits
) -> list[int]:
    """Virtual stages that divide the layers of some pipeline, ends counted or not."""
    if not (framework.virtual_stages and framework.pipeline_parallel):
        return limits.keep("virtual_stages", [1])
    either = (*divisors(shape.layers), *divisors(shape.layers + 2))
    return limits.keep("virtual_stages", either)


def micro_batch_values(limits: LatticeLimits) -> list[int]:
    """Micro-batches: powers of two up to 64, or listed ones."""
    usual = [2**k for k in range(MAX_MICRO_BATCH.bit_length())]
    return limits.keep("micro_batch", (*usual, *limits.listed("micro_batch")))


def zero_stage_values(
    job: TrainingJob, framework: Framework, limits: LatticeLimits, pipelined: bool
) -> list[int]:
    """ZeRO stages that the framework runs, with or without a pipeline."""
    stages = framework.zero_stages_with_pp if pipelined else framework.zero_stages
    if job.method != "full":
        stages = tuple(z for z in stages if z in ADAPTER_ZERO_STAGES) or stages
        if quantised_bytes(job) and base_of(job) not in framework.sharded_bases:
            stages = tuple(z for z in stages if z < 3)
    able = offload_zero_stages(job, framework)
    if able is not None:
        stages = tuple(z for z in stages if z in able)
    return limits.keep("zero_stage", stages)


def offload_zero_stages(
    job: TrainingJob, framework: Framework
) -> tuple[int, ...] | None:
    """ZeRO stages under which the job's states can leave the GPU; None: they stay."""
    if not job.offload.states:
        return None
    able = framework.offload_optimizer
    if job.offload.parameters:
        able = framework.offload_parameters
    if job.offload.nvme:
        able = tuple(z for z in able if z in DRIVE_ZERO_STAGES)
    return able


def recompute_values(
    job: TrainingJob, framework: Framework, limits: LatticeLimits
) -> list[str]:
    """Recomputation choices by name: inputs can leave that full recomputation keeps."""
    return [
        name
        for name in framework.recompute
        if (limits.recompute is None or name in limits.recompute)
        and (name == "full" or not job.offload.activations)
    ]

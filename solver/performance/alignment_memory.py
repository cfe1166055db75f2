"""Peak memory of a GPU that aligns a policy: training, its models, and generation.

Placed together, all models stay in memory all the time, each divided as the framework
divides the policy: the states of policy and critic, and frozen models in 16 bits. The
engine's copy of the weights, its keys and values and its workspace exist only while it
generates (vLLM's sleep mode frees them), when gradients that are not kept and
activations are gone. Placed apart, the rollout nodes hold the engine alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np

from solver.performance.alignment_inputs import Alignment
from solver.performance.generation import (
    Replica,
    replica_sizes,
    sequence_bytes,
    weight_bytes,
)
from solver.performance.inputs import (
    FloatArray,
    Framework,
    Layouts,
    Memory,
    TrainingJob,
    TransformerShape,
)
from solver.performance.state_memory import expert_shard_degree
from solver.performance.transformer import parameters

TrainMemory = Callable[[TransformerShape, TrainingJob, Layouts], Memory]
"""Peak memory of plain training of a shape."""

FROZEN_BYTES = 2.0
"""Bytes a parameter of a frozen model."""


def frozen_bytes(shape: TransformerShape, layouts: Layouts) -> FloatArray:
    """Bytes a GPU of a frozen model in 16 bits, divided as the policy is, (n,).

    TP and PP divide it, ZeRO-3 (FSDP) its shards too; below that each rank has all.
    """
    count = parameters(shape)
    stage3 = layouts.zero_stage == 3
    dense = (count.total - count.routed_experts) / (layouts.tp * layouts.pp)
    dense = dense / np.where(stage3, layouts.shard_degree, 1)
    experts = count.routed_experts / (layouts.ep * layouts.etp * layouts.pp)
    experts = experts / np.where(stage3, expert_shard_degree(layouts), 1.0)
    return np.asarray(FROZEN_BYTES * (dense + experts))


def frozen_models(
    shape: TransformerShape, how: Alignment
) -> dict[str, TransformerShape]:
    """Frozen models that take memory of their own, by role."""
    found: dict[str, TransformerShape] = {}
    if how.has_reference and not how.reference_shared:
        found["reference"] = shape
    if how.reward is not None:
        found["reward"] = how.reward
    return found


def critic_shape(shape: TransformerShape) -> TransformerShape:
    """The critic's shape for its memory: one number a token, so no head of its own."""
    return replace(shape, tied_embeddings=True)


def train_memory_of(
    peak: Callable[..., Memory], framework: Framework, *, fused: bool
) -> TrainMemory:
    """`peak_memory` of plain training as a function of shape, job and layouts."""

    def memory(shape: TransformerShape, job: TrainingJob, layouts: Layouts) -> Memory:
        return peak(shape, job, framework, layouts, fused_attention=fused)

    return memory


def aligned_memory(
    train: TrainMemory,
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
) -> Memory:
    """Peak bytes a GPU of the nodes that train, by part, (n,) each.

    Activations are those of the longest sequence. Generation counts with one sequence
    on the widest replica: what is left beyond that goes to more of them.
    """
    moments = moments_of(train, shape, job, framework, layouts)
    first, *others = moments.values()
    for other in others:
        first = _larger(first, other)
    return first


def moments_of(
    train: TrainMemory,
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
) -> dict[str, Memory]:
    """Memory while the policy trains, while the critic does, and while all generate.

    Scoring needs less than training: the same states, and activations of one layer.
    """
    how, alone = known(job), _longest(job)
    policy = train(shape, alone, layouts)
    resident = idle_memory(train, shape, job, framework, layouts)
    frozen = frozen_total(shape, how, layouts)
    found = {"policy": replace(policy, weights=policy.weights + frozen)}
    if how.critic is not None:
        critic = train(critic_shape(how.critic), alone, layouts)
        found["policy"] = _beside(found["policy"], critic, framework)
        other = _beside(critic, policy, framework)
        found["critic"] = replace(other, weights=other.weights + frozen)
    if how.generates and not how.apart:
        copy, cache = least_engine_bytes(shape, how, layouts)
        found["generation"] = replace(
            resident,
            weights=resident.weights + copy,
            activations=cache,
            other=resident.other + how.engine.workspace_bytes,
        )
    return found


def known(job: TrainingJob) -> Alignment:
    """The alignment of a job that has one."""
    if job.alignment is None:
        raise ValueError("the job aligns nothing")
    return job.alignment


def _longest(job: TrainingJob) -> TrainingJob:
    """Plain training on sequences of the longest response."""
    how, alone = known(job), replace(job, alignment=None)
    if not how.generates:
        return alone
    return replace(alone, sequence_length=how.longest_sequence)


def frozen_total(
    shape: TransformerShape, how: Alignment, layouts: Layouts
) -> FloatArray:
    """Bytes a GPU of all frozen models, (n,)."""
    each = (frozen_bytes(m, layouts) for m in frozen_models(shape, how).values())
    return np.asarray(sum(each, np.zeros(len(layouts))))


def idle_memory(
    train: TrainMemory,
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
) -> Memory:
    """What stays of all models while none of them computes, by part, (n,) each."""
    how, alone, nothing = known(job), _longest(job), np.zeros(len(layouts))
    kept = _kept(train(shape, alone, layouts), framework)
    if how.critic is not None:
        kept = _beside(kept, train(critic_shape(how.critic), alone, layouts), framework)
    return replace(
        kept,
        weights=kept.weights + frozen_total(shape, how, layouts),
        other=nothing + framework.base_bytes,
    )


def _kept(memory: Memory, framework: Framework) -> Memory:
    """The state that outlives a training step, (n,) each."""
    nothing = np.zeros_like(memory.weights)
    return replace(
        memory,
        gradients=memory.gradients if framework.persistent_gradients else nothing,
        activations=nothing,
        other=nothing,
        fragmentation=nothing,
    )


def _beside(memory: Memory, other: Memory, framework: Framework) -> Memory:
    """A model's memory while another trained one keeps its state, (n,) each."""
    kept = _kept(other, framework)
    return replace(
        memory,
        weights=memory.weights + kept.weights,
        gradients=memory.gradients + kept.gradients,
        optimizer=memory.optimizer + kept.optimizer,
    )


def _larger(one: Memory, other: Memory) -> Memory:
    """The parts of the larger of two moments, (n,) each."""
    first = one.total >= other.total
    return Memory(
        **{
            f.name: np.where(first, getattr(one, f.name), getattr(other, f.name))
            for f in fields(Memory)
        }
    )


def least_engine_bytes(
    shape: TransformerShape, how: Alignment, layouts: Layouts
) -> tuple[FloatArray, FloatArray]:
    """Bytes a GPU of the engine's weights and of one sequence, at least, (n,) each.

    Those of the widest replica that the layout's GPUs hold.
    """
    gpus, inside = layouts.gpus, int(layouts.gpus_per_node.max(initial=1))
    copy = np.full(len(gpus), np.inf)
    cache = np.zeros(len(gpus))
    for tp, stages in replica_sizes(shape, inside, int(gpus.max(initial=1))):
        replica = Replica(np.full(len(gpus), tp), np.full(len(gpus), stages))
        size = weight_bytes(shape, replica.gpus)
        one = sequence_bytes(shape, how.engine, how.lengths, replica)
        better = (replica.gpus <= gpus) & (size + one < copy + cache)
        copy, cache = np.where(better, size, copy), np.where(better, one, cache)
    return copy, cache

"""Synchronising gradients and weights over data-parallel ranks, and the optimizer.

Dense parameters are shared by the dp x cp ranks that lie TP apart. Experts have
their own group: the ranks left over by ETP x EP. Bytes a parameter: gradients in
``Stack.reduce_bytes``, gathered weights in 2 (fewer where the base is quantised).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.performance import compute
from solver.performance.adapters import adapter_counts, quantised_bytes
from solver.performance.communication import (
    all_gather_s,
    all_reduce_s,
    link,
)
from solver.performance.inputs import (
    FloatArray,
    Framework,
    Hardware,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.stack import Stack
from solver.performance.state_memory import GRADIENT_BYTES
from solver.performance.transformer import expert_width

BUCKET_ELEMENTS = 1.0e8
"""Parameters that are synchronised by one collective; sharded stacks: one layer."""

BUCKET_ELEMENTS_A_RANK = 1.0e6
"""Large groups take larger buckets, so that latency stays small: Megatron Core's
default is a million parameters for each data-parallel rank."""

STEP_HIDDEN = 0.8
"""Share of one micro-batch behind which a step's collectives can hide."""

MICRO_BATCH_HIDDEN = 0.9
"""Share of each micro-batch behind which its own collectives can hide."""


@dataclass(frozen=True)
class Parameters:
    """Matrix elements of one GPU in one layer and in the embedding, each (n,)."""

    dense: FloatArray
    """All of the average layer, without experts."""
    dense_trained: FloatArray
    expert: FloatArray
    expert_trained: FloatArray
    embedding: FloatArray
    """Embedding or output head."""

    def take(self, rows: Any) -> Parameters:
        """The values gathered at ``rows``."""
        return Parameters(
            self.dense[rows],
            self.dense_trained[rows],
            self.expert[rows],
            self.expert_trained[rows],
            self.embedding[rows],
        )


def parameters(shape: TransformerShape, job: TrainingJob, cells: Layouts) -> Parameters:
    """Elements that one GPU holds of the average layer, before ZeRO, (n,) each."""
    tp = cells.tp * 1.0
    moe = shape.moe_layers / shape.layers
    width = expert_width(shape)
    attention = compute.attention_matrices(shape, tp)
    dense = [
        (attention, 1.0),
        (compute.mlp_matrices(shape, shape.ffn, tp), 1.0 - moe),
        (compute.mlp_matrices(shape, shape.shared_experts * width, tp), moe),
    ]
    local = shape.n_experts / cells.ep * moe
    experts = compute.mlp_matrices(shape, width, cells.etp * 1.0)
    count = sum(w * compute.matrix_elements(m) for m, w in dense)
    expert = local * compute.matrix_elements(experts)
    trained, trained_expert = count, expert
    if job.method != "full":
        outside, within = adapter_counts(shape, job)
        trained = outside / (shape.layers * tp)
        trained_expert = moe * within / (cells.ep * cells.etp)
    zero = np.zeros(len(cells))
    return Parameters(
        zero + count,
        zero + trained,
        zero + expert,
        zero + trained_expert,
        zero + compute.padded_vocab(shape, tp) / tp * shape.hidden,
    )


@dataclass(frozen=True)
class Group:
    """Ranks that hold the same parameters, and how ZeRO divides among them."""

    size: Any
    stride: Any
    shard: Any


def dense_group(layouts: Layouts) -> Group:
    """The dp x cp ranks of dense parameters, TP apart."""
    size = layouts.dp * layouts.cp
    return Group(size, layouts.tp, np.clip(layouts.shard_degree, 1, size))


def expert_group(layouts: Layouts, framework: Framework) -> Group:
    """The ranks that hold the same experts."""
    block = layouts.etp * layouts.ep
    size = np.maximum(layouts.tp * layouts.cp * layouts.dp // block, 1)
    stride = block
    if not framework.expert_parallel_spans_tp:
        stride = layouts.tp * layouts.cp * layouts.ep
    return Group(size, stride, np.clip(layouts.shard_degree, 1, size))


def collectives_s(
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    layouts: Layouts,
    domain: Any,
    group: Group,
    held: FloatArray,
    trained: FloatArray,
    layers: Any,
) -> tuple[FloatArray, FloatArray]:
    """Seconds of collectives once a step, and once a micro-batch, (n,) each.

    Parameters
    ----------
    held, trained
        Elements a GPU of the stage, and those of them with gradients, (n,).
    layers
        Layers of the stage, which ZeRO-3 gathers one by one, (n,).

    Notes
    -----
    ZeRO-0: one all-reduce. ZeRO-1: reduce-scatter and all-gather once a step.
    ZeRO-2: the reduce-scatter with every micro-batch. ZeRO-3 and FSDP: two gathers
    and a reduce-scatter with every micro-batch. Where the shards are smaller than the
    group, the replicas add an all-reduce of a shard.
    """
    zero = layouts.zero_stage
    sharded = np.where(zero > 0, group.shard, group.size)
    near = link(hardware, domain, sharded, group.stride)
    gather_bytes = quantised_bytes(job) or 2.0
    bucket = np.maximum(BUCKET_ELEMENTS, BUCKET_ELEMENTS_A_RANK * group.size)
    buckets = np.ceil(trained / bucket)
    units = np.where(zero == 3, layers, buckets)
    latency = np.where(sharded > 1, near.hops_s + stack.collective_s, 0.0) * units
    reduced = GRADIENT_BYTES.get(job.gradient_precision, stack.reduce_bytes)
    weight_bytes = 1.0 if job.fp8_weights else 2.0
    reduce = all_gather_s(near, reduced * trained, 0.0) + latency
    weights = all_gather_s(near, weight_bytes * trained, 0.0) + latency
    fetch = all_gather_s(near, gather_bytes * held, 0.0) + latency
    whole = all_reduce_s(near, reduced * trained, stack.collective_s)
    whole = whole + np.where(sharded > 1, (buckets - 1) * stack.collective_s, 0.0)
    once = np.where(zero == 0, whole, np.where(zero == 1, reduce + weights, 0.0))
    once = np.where(zero == 2, weights, once)
    each = np.where(zero == 3, 2 * fetch + reduce, np.where(zero == 2, reduce, 0.0))
    replicas = np.maximum(group.size // sharded, 1)
    if np.any(replicas > 1):
        far = link(hardware, domain, replicas, group.stride * sharded)
        size = reduced * trained / sharded
        once = once + all_reduce_s(far, size, stack.collective_s)
    return once, each


def exposed_s(
    once_s: FloatArray,
    each_s: FloatArray,
    micro_batch_s: FloatArray,
    layouts: Layouts,
    stack: Stack,
) -> FloatArray:
    """Seconds of collectives that compute does not hide, of one step, (n,).

    A stage with several model chunks finishes the gradients of all but one while the
    pipeline still runs: ``pp`` micro-batches of each. A second of compute hides one
    collective at most: what is sent once a step and what each micro-batch sends share
    the same compute.
    """
    dp, fsdp = stack.dp_exposed, stack.fsdp_exposed
    accumulation = layouts.accumulation
    chunks = 1.0 - 1.0 / layouts.virtual_stages
    behind = np.minimum(1.0 + (layouts.pp - 1) * chunks, accumulation)
    once = (1.0 - dp) * np.minimum(once_s, STEP_HIDDEN * behind * micro_batch_s)
    each = np.minimum((1.0 - fsdp) * each_s, MICRO_BATCH_HIDDEN * micro_batch_s)
    most = MICRO_BATCH_HIDDEN * accumulation * micro_batch_s
    hidden = np.minimum(once + accumulation * each, most)
    return np.asarray(once_s + accumulation * each_s - hidden)


def optimizer_s(
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    elements: FloatArray,
    tables: Any = 0.0,
    spilled: Any = 0.0,
) -> FloatArray:
    """Seconds of the optimizer step on ``elements`` parameters a GPU, (n,).

    Gradient read, master and moments read and written, weight written; what an
    optimizer computes on matrices, ``tables`` of embedding and head left out (Muon).
    ``spilled`` bytes of paged moments cross to the host and back, both ways at once.
    """
    optimizer = job.optimizer
    master = optimizer.master_bytes
    if master is None:
        master = framework.master_bytes
    gradient = GRADIENT_BYTES.get(job.gradient_precision, framework.gradient_bytes)
    moved = gradient + 2.0 * (master + optimizer.state_bytes) + 2.0
    moved = moved * elements + 2.0 * optimizer.beside * tables
    rate = np.asarray(hardware.peak_16bit * hardware.gemm_efficiency_16bit)
    work = optimizer.matrix_flops * (elements - tables) / rate
    late = spilled / np.asarray(hardware.host_bytes_per_s)
    return np.asarray(compute.memory_s(hardware, moved) + work + late)

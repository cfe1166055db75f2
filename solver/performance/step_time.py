"""Seconds of one optimizer step of every layout, part by part, and bounds on them.

The time of a micro-batch in a layer depends on few columns of a layout, so it is
evaluated once for each combination of those and gathered; what remains is cheap
arithmetic by row: stages, bubble, data-parallel collectives, optimizer.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from solver.performance import compute, data_parallel, pipeline
from solver.performance.alignment_time import aligned_step, least_aligned_s
from solver.performance.communication import domain_gpus, point_to_point_s
from solver.performance.efficiency import at_efficiency, attained
from solver.performance.inputs import (
    RECOMPUTE,
    FloatArray,
    Framework,
    Hardware,
    IntArray,
    Layouts,
    StepTime,
    TrainingJob,
    TransformerShape,
)
from solver.performance.layer_time import LayerTime, layer_time
from solver.performance.memory import peak_memory
from solver.performance.offload import offload_s, optimizer_leaves
from solver.performance.stack import Stack, stack_of
from solver.performance.stages import StageLayers, stage_layers
from solver.performance.transformer import forward_flops, model_flops_per_token

CELL_COLUMNS = (
    "tp",
    "cp",
    "ep",
    "etp",
    "micro_batch",
    "sequence_parallel",
    "recompute",
    "gpus_per_node",
)
"""Columns of a layout on which the time of a micro-batch in a layer depends."""

TINY_RATE = 1.0
"""Bytes/s of a link that does not exist; its rows end as infinite."""


def step_time(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
) -> StepTime:
    """Seconds of one step by exposed part; the parts add up to the step, (n,) each.

    Layouts of more GPUs than reach each other, where there is no network between
    nodes, take infinitely long. A step of alignment has more parts.
    """
    model = (shape, job, framework, hardware, layouts)
    step = (
        training_step if job.alignment is None else partial(aligned_step, training_step)
    )
    return at_efficiency(step(*model), attained(job, hardware))


def training_step(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
) -> StepTime:
    """Seconds of one training step of a well-tuned framework by part, (n,) each."""
    stack = stack_of(framework.constants)
    reachable = np.asarray(hardware.inter_bytes_per_s) > 0
    hardware = replace(
        as_run_by(stack, hardware),
        inter_bytes_per_s=np.maximum(hardware.inter_bytes_per_s, TINY_RATE),
    )
    by_pipeline = stack.host_pipeline_rank_s > stack.host_rank_s
    first, inverse = unique_cells(hardware, layouts, by_pipeline=by_pipeline)
    cells, cell_hardware = layouts.take(first), hardware.take(first)
    per_layer = layer_time(shape, job, framework, stack, cell_hardware, cells)
    held = data_parallel.parameters(shape, job, cells)
    parts = _rows(
        shape,
        job,
        framework,
        stack,
        hardware,
        layouts,
        per_layer.take(inverse),
        held.take(inverse),
    )
    lost = ~reachable & (layouts.gpus > domain_gpus(hardware, layouts))
    if np.any(lost):
        none = np.where(lost, np.inf, parts.data_parallel)
        parts = replace(parts, data_parallel=none)
    return parts


def as_run_by(stack: Stack, hardware: Hardware) -> Hardware:
    """The hardware with the matmul rates that this software reaches on it."""
    if stack.tuned >= 1.0:
        return hardware
    share = stack.tuned + (1.0 - stack.tuned) * hardware.plain_rate
    return replace(
        hardware,
        gemm_efficiency=hardware.gemm_efficiency * share,
        gemm_efficiency_16bit=hardware.gemm_efficiency_16bit * share,
        attention_efficiency=hardware.attention_efficiency * share,
    )


def unique_cells(
    hardware: Hardware, layouts: Layouts, *, by_pipeline: bool = False
) -> tuple[IntArray, IntArray]:
    """First row of each distinct combination of ``CELL_COLUMNS`` and hardware.

    Parameters
    ----------
    by_pipeline
        Whether a layer takes another time where there is a pipeline.

    Returns
    -------
    first, inverse
        Rows of the combinations, (c,), and each row's combination, (n,).
    """
    columns = [np.asarray(getattr(layouts, c), dtype=np.int64) for c in CELL_COLUMNS]
    if by_pipeline:
        columns.append(np.asarray(layouts.pp > 1, dtype=np.int64))
    values = (getattr(hardware, f.name) for f in fields(hardware))
    arrays = [np.asarray(v, dtype=float) for v in values if np.ndim(v)]
    if arrays:
        _, kinds = np.unique(np.stack(arrays), axis=1, return_inverse=True)
        columns.append(np.asarray(kinds, dtype=np.int64).reshape(-1))
    key = np.zeros(len(layouts), dtype=np.int64)
    size = 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        size *= width
        if size >= 2**62:
            _, key = np.unique(key, return_inverse=True)
            size = (int(key.max(initial=0)) + 1) * width
        key = key * width + column
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse


def _rows(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    stack: Stack,
    hardware: Hardware,
    layouts: Layouts,
    layer: LayerTime,
    held: data_parallel.Parameters,
) -> StepTime:
    """Parts of a step from the time of a micro-batch in a layer, by row."""
    split = stage_layers(shape.layers, layouts.pp, layouts.virtual_stages)
    slow = pipeline.slowest_stage(shape.layers, split, layer.total, layer.head)
    count = layouts.accumulation * slow.layers
    domain = domain_gpus(hardware, layouts)
    sync, optimizer, away = _parameter_step(
        shape,
        job,
        framework,
        stack,
        hardware,
        layouts,
        domain,
        held,
        split,
        slow.seconds,
    )
    waiting = _pipeline_s(shape, job, stack, hardware, layouts, domain, slow)
    heads = layouts.accumulation * slow.has_head * layer.head
    parts = {
        "compute": count * layer.compute + heads,
        "recompute": count * layer.recompute,
        "tensor_parallel": count * layer.tensor_parallel,
        "context_parallel": count * layer.context_parallel,
        "expert_parallel": count * layer.expert_parallel,
        "pipeline": waiting,
        "data_parallel": sync,
        "optimizer": optimizer,
        "offload": away,
        "overhead": count * layer.overhead + stack.host_step_s,
    }
    doublings = np.log2(np.maximum(layouts.gpus / 8.0, 1.0))
    late = stack.straggler * doublings * sum(parts.values())
    parts["overhead"] = parts["overhead"] + late
    return StepTime(**parts)


def _pipeline_s(
    shape: TransformerShape,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    layouts: Layouts,
    domain: Any,
    slow: pipeline.SlowestStage,
) -> FloatArray:
    """Seconds of bubble and exposed sends between stages, (n,)."""
    bubble = pipeline.bubble_s(slow.others_s, layouts.virtual_stages)
    if not np.any(layouts.pp > 1):
        return bubble
    width = compute.ELEMENT_BYTES.get(job.precision, 2.0) * shape.hidden
    size = width * compute.tokens_of(job, layouts)
    size = size / np.where(layouts.sequence_parallel, layouts.tp, 1)
    send = point_to_point_s(hardware, domain, layouts.gpus, size, stack.collective_s)
    return bubble + pipeline.sends_s(
        layouts.pp,
        layouts.virtual_stages,
        layouts.accumulation,
        send,
        stack.pp_exposed,
    )


def _parameter_step(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    stack: Stack,
    hardware: Hardware,
    layouts: Layouts,
    domain: Any,
    held: data_parallel.Parameters,
    split: StageLayers,
    micro_batch_s: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Exposed seconds of synchronising parameters, the optimizer, and offload, (n,)."""
    layers = split.largest
    tables = np.where((layouts.pp == 1) & (not shape.tied_embeddings), 2.0, 1.0) * (
        held.embedding
    )
    trained_tables = tables if job.method == "full" else 0.0
    group = data_parallel.dense_group(layouts)
    dense = layers * held.dense_trained + trained_tables
    once, each = data_parallel.collectives_s(
        job,
        stack,
        hardware,
        layouts,
        domain,
        group,
        layers * held.dense + tables,
        dense,
        layers,
    )
    stepped = dense / np.where(layouts.zero_stage > 0, group.shard, 1)
    ends = trained_tables / np.where(layouts.zero_stage > 0, group.shard, 1)
    whole = (layers * held.dense + tables) / group.shard
    if shape.is_moe:
        group = data_parallel.expert_group(layouts, framework)
        trained = layers * held.expert_trained
        more, more_each = data_parallel.collectives_s(
            job,
            stack,
            hardware,
            layouts,
            domain,
            group,
            layers * held.expert,
            trained,
            layers,
        )
        once, each = once + more, each + more_each
        stepped = stepped + trained / np.where(layouts.zero_stage > 0, group.shard, 1)
        whole = whole + layers * held.expert / group.shard
    sync = data_parallel.exposed_s(once, each, micro_batch_s, layouts, stack)
    spilled = _spilled_bytes(shape, job, framework, hardware, layouts, stepped)
    optimizer = data_parallel.optimizer_s(
        job, framework, hardware, stepped, ends, spilled
    )
    if not job.offload:
        return sync, optimizer, np.zeros(len(layouts))
    away = offload_s(
        shape, job, framework, hardware, layouts, micro_batch_s, stepped, whole
    )
    optimizer = np.where(optimizer_leaves(job, layouts), 0.0, optimizer)
    return sync, optimizer, away


def _spilled_bytes(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
    elements: FloatArray,
) -> Any:
    """Bytes of a GPU's paged moments that find no room beside all else, (n,)."""
    if not job.optimizer.paged:
        return 0.0
    moments = job.optimizer.state_bytes * elements
    fused = bool(np.all(hardware.fused_attention))
    need = peak_memory(shape, job, framework, layouts, fused_attention=fused).total
    return np.clip(need + moments - hardware.memory_bytes, 0.0, moments)


def lower_bound(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
) -> FloatArray:
    """Seconds that ``step_time`` can't undercut, cheaply, (n,).

    All linears at the sustained rate of large matmuls, attention at its best rate,
    element-wise passes (but those of experts), the slowest stage and the bubble; no
    collective, no other memory traffic, no host.
    """
    stack, given = stack_of(framework.constants), hardware
    hardware = as_run_by(stack, hardware)
    flops = forward_flops(shape, job.sequence_length, job.attention_span)
    trained = 3.0 if job.method == "full" else 2.0
    full = np.where(layouts.recompute == RECOMPUTE.index("full"), 1.0, 0.0)
    again = np.where(layouts.recompute > 0, 1.0, 0.0)
    tokens = layouts.micro_batch * job.sequence_length / (layouts.tp * layouts.cp)
    linear = flops.linear / shape.layers / compute.linear_rate(hardware)
    core_rate, backward = _attention_bound(shape, job, stack, hardware)
    core = flops.attention * (1.0 + backward + again) / core_rate
    width = 0.0 if shape.is_moe else shape.ffn / layouts.tp
    other = compute.elementwise_s(shape, job, stack, hardware, layouts, width)
    linear = linear * (1.0 + full + (trained - 1.0) / stack.backward_rate)
    layer_s = tokens * (linear + core)
    layer_s = layer_s + other * (1.0 + compute.ELEMENTWISE_BACKWARD + full)
    head_rate = hardware.peak_16bit * hardware.gemm_efficiency_16bit
    head_s = tokens * flops.head * trained / head_rate
    split = stage_layers(shape.layers, layouts.pp, layouts.virtual_stages)
    slow = pipeline.slowest_stage(shape.layers, split, layer_s, head_s)
    bubble = pipeline.bubble_s(slow.others_s, layouts.virtual_stages)
    seconds = layouts.accumulation * slow.seconds + bubble
    if job.alignment is not None:
        seconds = least_aligned_s(seconds, shape, job, framework, given, layouts)
    return np.asarray(seconds / attained(job, hardware))


def _attention_bound(
    shape: TransformerShape, job: TrainingJob, stack: Stack, hardware: Hardware
) -> tuple[Any, Any]:
    """Best rate of the attention core in causal FLOP/s, and backward over forward."""
    head = shape.qk_nope_dim + shape.qk_rope_dim if shape.is_mla else shape.head_dim
    flash = hardware.peak_16bit * hardware.attention_efficiency
    flash = flash * min(1.0, (head + 32) / 160)
    skipped = compute.attended(shape, job) / job.sequence_length
    plain = compute.UNFUSED_RATE * hardware.peak_16bit * skipped
    fused = np.asarray(hardware.fused_attention) & (stack.fused_attention > 0)
    return np.where(fused, flash, plain), np.where(fused, compute.FUSED_BACKWARD, 2.0)


def mfu(
    shape: TransformerShape,
    job: TrainingJob,
    hardware: Hardware,
    layouts: Layouts,
    step_s: FloatArray,
) -> FloatArray:
    """Model FLOPs of a step over what the GPUs could do in the job's precision, (n,).

    Model FLOPs are the matmuls that the job needs: forward, backward for inputs, and
    backward for those weights that train (so 6 FLOPs a parameter and token in full
    training, 4 with LoRA); causal attention counts half, recomputation not at all.
    The peak is the dense one of the precision, though attention runs in 16 bits. Of
    alignment the work is the policy's training, once a batch; GPUs that only generate
    count with those that train, since they are busy for it too.
    """
    work = model_flops_per_token(shape, job) * job.sequence_length
    busy = layouts.gpus + job.rollout_nodes * np.asarray(layouts.gpus_per_node)
    peak = busy * hardware.peak_precision
    return np.asarray(work * layouts.global_batch / (peak * step_s))

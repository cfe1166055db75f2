"""What leaves the GPU between its uses: bytes on hosts and drives, and seconds.

Optimizer states: the CPU updates what a rank owns (ZeRO-Offload, arXiv 2101.06840).
Parameters: the ZeRO-3 shards of weights come from the host for every forward and
backward pass (ZeRO-Infinity, arXiv 2104.07857; FSDP's CPUOffload). Activations: the
inputs that full recomputation keeps. Copies in both directions run beside compute; what
one micro-batch can't hide, the CPU's step and the copies of once a step are exposed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.performance.activation_memory import activation_bytes_per_layer
from solver.performance.inputs import (
    BoolArray,
    FloatArray,
    Framework,
    Hardware,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.state_memory import StateBytes, state_bytes
from solver.performance.transformer import (
    parameters,
    trained_parameter_count,
    trained_shapes,
)

MASTER_BYTES = 4.0
"""Bytes of a gradient beside fp32 weights on the host, which are updated in fp32."""

HIDDEN = 0.8
"""Share of a micro-batch behind which its copies can hide: as collectives do, less the
first layer of each pass, which nothing precedes."""

ADAM_PER_CORE = 2.0e8
"""Parameters a second that a core updates at most: torchao's fused AdamW in fp32 took
0.91 s more for 1.1e9 on the six cores of a Ryzen 5600 (torchao/optim/README.md), which
memory may have bounded."""

SUB_GROUP = 1.0e9
"""Parameters of a rank whose states are in host memory at once on their way between
drives and the CPU (DeepSpeed's default sub_group_size)."""

NEVER_S = 1.0e12
"""Stands for the time of what lies on drives that a node does not have; such plans are
left out by their need of drives."""


def gradients_leave(
    job: TrainingJob, framework: Framework, layouts: Layouts
) -> BoolArray:
    """Whether gradients go to the host as they are made, (n,).

    Under an offloaded optimizer those do that ZeRO divides; whole ones stay until they
    are reduced.
    """
    sharded = layouts.zero_stage >= max(framework.gradients_sharded_from, 1)
    return np.asarray(sharded & job.offload.states)


def parameters_leave(job: TrainingJob, layouts: Layouts) -> BoolArray:
    """Whether a rank's weights lie on the host, (n,): ZeRO-3's shards alone can."""
    return np.asarray((layouts.zero_stage == 3) & job.offload.parameters)


def optimizer_leaves(job: TrainingJob, layouts: Layouts) -> BoolArray:
    """Whether a rank's optimizer states lie on the host, (n,)."""
    return np.full(len(layouts), job.offload.states)


def away_bytes(
    shape: TransformerShape, job: TrainingJob, framework: Framework, layouts: Layouts
) -> FloatArray:
    """Bytes a node of the states that left its GPUs, in host memory or drives, (n,).

    DeepSpeed's own estimate is 16 bytes a parameter with Adam, 18 with the weights
    (estimate_zero3_model_states_mem_needs, before its factor of 1.5 for buffers):
    master copy, moments and an fp32 gradient. Replicas each bring a copy.
    """
    moved = np.zeros(len(layouts))
    if not job.offload.states:
        return moved
    for model in trained_shapes(shape, job):
        moved = moved + _moved_bytes(model, job, framework, layouts)
    copies = layouts.dp * layouts.cp / np.maximum(layouts.shard_degree, 1)
    return np.asarray(moved * copies / layouts.nodes)


def _moved_bytes(
    shape: TransformerShape, job: TrainingJob, framework: Framework, layouts: Layouts
) -> FloatArray:
    """Bytes of all states of one model that leave the GPUs, (n,)."""
    state = state_bytes(job, framework)
    count, trained = parameters(shape), trained_parameter_count(shape, job)
    copied = state.weight if state.copy else 0.0  # fp32 weights are the master copy
    whole = state.optimizer + host_gradient(job, state)
    weights = state.weight * trained
    ends = count.outside_layers
    frozen = state.frozen_linear * (count.total - ends) + state.frozen_other * ends
    return np.where(
        parameters_leave(job, layouts),
        whole * trained + weights + frozen,
        (whole + copied) * trained,
    )


def host_gradient(job: TrainingJob, state: StateBytes) -> float:
    """Bytes of a gradient on the host: fp32 where fp32 weights are updated."""
    master = state.optimizer - job.optimizer.state_bytes > 0
    wide = state.weight > state.element or master
    return MASTER_BYTES if wide else state.gradient


def away_in_host(
    shape: TransformerShape, job: TrainingJob, framework: Framework, layouts: Layouts
) -> FloatArray:
    """Bytes of a node's host memory that what left its GPUs takes, (n,).

    Of states on drives those on their way: two sub-groups of a rank, one being read or
    written while the other is updated.
    """
    held = away_bytes(shape, job, framework, layouts)
    if job.offload.nvme:
        each = held / layouts.gpus_per_node
        state = state_bytes(job, framework)
        window = 2 * SUB_GROUP * (state.optimizer + host_gradient(job, state))
        held = np.minimum(each, window) * layouts.gpus_per_node
    if job.offload.activations:
        held = held + layouts.gpus_per_node * input_bytes(shape, job, layouts) * (
            layers_of(shape, layouts) * _in_flight(layouts)
        )
    return np.asarray(held)


def away_on_drives(
    shape: TransformerShape, job: TrainingJob, framework: Framework, layouts: Layouts
) -> FloatArray:
    """Bytes of a node's own drives that states take, (n,)."""
    if not job.offload.nvme:
        return np.zeros(len(layouts))
    return away_bytes(shape, job, framework, layouts)


def input_bytes(shape: TransformerShape, job: TrainingJob, layouts: Layouts) -> Any:
    """Bytes of one layer's input of one micro-batch, (n,)."""
    return activation_bytes_per_layer(
        shape,
        job.sequence_length,
        layouts.micro_batch,
        tp=layouts.tp,
        cp=layouts.cp,
        sequence_parallel=layouts.sequence_parallel,
        recompute="full",
        element_bytes=4.0 if job.precision == "fp32" else 2.0,
    )


def layers_of(shape: TransformerShape, layouts: Layouts) -> FloatArray:
    """Layers of the largest stage, (n,)."""
    return np.asarray(np.ceil(shape.layers / layouts.pp))


def _in_flight(layouts: Layouts) -> FloatArray:
    """Micro-batches that the first stage holds, (n,)."""
    return np.asarray(np.minimum(layouts.pp, layouts.accumulation), dtype=float)


def host_link(hardware: Hardware, layouts: Layouts) -> Any:
    """Bytes/s of one GPU's copies in one direction while all GPUs of a node copy."""
    shared = hardware.host_memory_bytes_per_s / layouts.gpus_per_node
    return np.minimum(hardware.host_bytes_per_s, shared)


def offload_s(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
    micro_batch_s: FloatArray,
    trained: FloatArray,
    held: FloatArray,
) -> FloatArray:
    """Exposed seconds of one step, (n,).

    Parameters
    ----------
    micro_batch_s
        Forward and backward of one micro-batch, (n,).
    trained, held
        Elements that a GPU updates, and those of its share of all weights, (n,).
    """
    if not job.offload:
        return np.zeros(len(layouts))
    state = state_bytes(job, framework)
    link = host_link(hardware, layouts)
    leaves = parameters_leave(job, layouts)
    often = gradients_leave(job, framework, layouts)
    weight = state.weight if job.method == "full" else state.frozen_linear
    into = np.where(leaves, 2.0 * weight * held, 0.0)  # forward, then backward
    out = np.where(often, state.gradient * trained, 0.0)
    if job.offload.activations:
        moved = layers_of(shape, layouts) * input_bytes(shape, job, layouts)
        into, out = into + moved, out + moved
    each = np.maximum(into, out) / link
    if job.offload.nvme:
        read = 2.0 * weight * held * layouts.gpus_per_node
        each = np.maximum(each, np.where(leaves, drives_s(hardware, read, 0.0), 0.0))
    late = layouts.accumulation * np.maximum(each - HIDDEN * micro_batch_s, 0.0)
    once = np.where(often, 0.0, state.gradient * trained / link)
    updated = once + _update_s(state, job, hardware, layouts, trained, link, leaves)
    return np.asarray(late + np.where(optimizer_leaves(job, layouts), updated, 0.0))


def _update_s(
    state: StateBytes,
    job: TrainingJob,
    hardware: Hardware,
    layouts: Layouts,
    trained: FloatArray,
    link: Any,
    leaves: BoolArray,
) -> Any:
    """Seconds of the CPU's step, beside which states and weights are copied, (n,).

    Host memory is read and written for every state, and read for the gradient.
    """
    gradient = host_gradient(job, state)
    wide = state.weight if state.copy else 0.0
    states = state.optimizer + wide
    moved = gradient + 2.0 * states + (0.0 if wide else state.element)
    on_node = trained * layouts.gpus_per_node
    cores = np.asarray(hardware.host_cores) * ADAM_PER_CORE
    seconds = on_node * np.maximum(moved / hardware.host_memory_bytes_per_s, 1 / cores)
    back = np.where(leaves, 0.0, state.element * trained / link)
    if job.offload.nvme:
        written = (states + np.where(leaves, state.element, 0.0)) * on_node
        read = (states + gradient) * on_node
        seconds = np.maximum(seconds, drives_s(hardware, read, written))
    return np.maximum(seconds, back)


def drives_s(hardware: Hardware, read: Any, written: Any) -> Any:
    """Seconds in which a node's drives read and write so many bytes."""
    rates = (hardware.nvme_read_bytes_per_s, hardware.nvme_write_bytes_per_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        seconds = sum(
            np.where(np.asarray(size) > 0, size / np.asarray(rate, dtype=float), 0.0)
            for size, rate in zip((read, written), rates, strict=True)
        )
    return np.minimum(seconds, NEVER_S)

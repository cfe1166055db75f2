"""Checkpoints: how large, written by whom, and what they and paging ask of hosts."""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.performance.inputs import (
    FloatArray,
    Framework,
    IntArray,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.offload import (
    away_in_host,
    optimizer_leaves,
    parameters_leave,
)
from solver.performance.state_memory import (
    StateBytes,
    model_optimizer_bytes,
    state_bytes,
)
from solver.performance.transformer import trained_parameter_count, trained_shapes

PROCESS_BYTES = 4e9
"""Host memory of one training process and its data loaders: an assumption."""


def checkpoint_bytes(
    shape: TransformerShape, job: TrainingJob, framework: Framework
) -> float:
    """Bytes of one checkpoint: weights, master copy and moments of what trains.

    With 16-bit weights and Adam 14 bytes a parameter; of LoRA the adapters alone. Of
    PPO the critic is saved, too.
    """
    state = state_bytes(job, framework)
    each = state.weight + state.paged
    return sum(
        each * trained_parameter_count(model, job)
        + model_optimizer_bytes(model, job, state)
        for model in trained_shapes(shape, job)
    )


def checkpoint_writer_nodes(layouts: Layouts) -> IntArray:
    """Nodes that hold a distinct part of the checkpoint, (n,).

    Distinct shards lie on the first ``shard_degree`` data-parallel ranks of each
    pipeline stage (one with ZeRO-0), and experts on all of their EP group.
    """
    ranks = layouts.tp * np.maximum(layouts.shard_degree, 1)
    ranks = np.maximum(ranks, layouts.etp * layouts.ep)
    nodes_a_stage = -(-ranks // layouts.gpus_per_node)
    return np.asarray(np.minimum(layouts.nodes, layouts.pp * nodes_a_stage))


def host_bytes_needed(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
) -> FloatArray:
    """Host memory a node: processes, a staged checkpoint, what left the GPUs, (n,).

    A checkpoint's shards are gathered and copied before they are written. States that
    left the GPUs are not: those in host memory are written from there, and of those on
    drives DeepSpeed copies the files (``save_checkpoint`` copies the swap folder but
    its gradients, since deepspeedai/DeepSpeed pull request 4707), which needs a buffer.
    """
    state = state_bytes(job, framework)
    trained = sum(
        trained_parameter_count(model, job) for model in trained_shapes(shape, job)
    )
    staged: Any = checkpoint_bytes(shape, job, framework)
    for model in trained_shapes(shape, job):
        staged = staged - _left_the_gpus(model, job, state, layouts)
    staged = staged / checkpoint_writer_nodes(layouts)
    copies = layouts.dp * layouts.cp / np.maximum(layouts.shard_degree, 1)
    paged = state.paged * trained * copies / layouts.nodes
    away = away_in_host(shape, job, framework, layouts)
    return np.asarray(layouts.gpus_per_node * PROCESS_BYTES + staged + paged + away)


def _left_the_gpus(
    shape: TransformerShape, job: TrainingJob, state: StateBytes, layouts: Layouts
) -> Any:
    """Bytes of a checkpoint that lie in host memory or on drives, and stay there."""
    if not job.offload:
        return 0.0
    moments = model_optimizer_bytes(shape, job, state)
    weights = state.weight * trained_parameter_count(shape, job)
    found = np.where(optimizer_leaves(job, layouts), moments, 0.0)
    return found + np.where(parameters_leave(job, layouts), weights, 0.0)

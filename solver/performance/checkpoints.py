"""Checkpoints: how large, written by whom, and what they and paging ask of hosts."""

from __future__ import annotations

import numpy as np

from solver.performance.inputs import (
    FloatArray,
    Framework,
    IntArray,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.state_memory import state_bytes
from solver.performance.transformer import trained_parameter_count

PROCESS_BYTES = 4e9
"""Host memory of one training process and its data loaders: an assumption."""


def checkpoint_bytes(
    shape: TransformerShape, job: TrainingJob, framework: Framework
) -> float:
    """Bytes of one checkpoint: weights, master copy and moments of what trains.

    With 16-bit weights and Adam 14 bytes a parameter; of LoRA the adapters alone.
    """
    state = state_bytes(job, framework)
    each = state.weight + state.optimizer + state.paged
    return each * trained_parameter_count(shape, job)


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
    """Host memory a node: processes, one staged checkpoint, paged moments, (n,)."""
    state = state_bytes(job, framework)
    trained = trained_parameter_count(shape, job)
    staged = checkpoint_bytes(shape, job, framework) / checkpoint_writer_nodes(layouts)
    copies = np.where(layouts.zero_stage > 0, 1.0, layouts.dp * layouts.cp)
    paged = state.paged * trained * copies / layouts.nodes
    return np.asarray(layouts.gpus_per_node * PROCESS_BYTES + staged + paged)

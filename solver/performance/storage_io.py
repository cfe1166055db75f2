"""Reading training data and writing checkpoints: rates of a storage tier.

A tier gives each node a rate and all of them together an aggregate; reads that do
not land in GPU memory directly pass a bounce buffer in the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.performance.inputs import FloatArray

THREADS_PER_CORE = 2
"""Host threads of a core; what a core decodes is measured with both at work."""

BOUNCE_COPIES = 2
"""Times that data crosses host memory without GPUDirect Storage: in and out again."""


def tier_rate(
    nodes: Any, per_node_bytes_per_s: Any, aggregate_bytes_per_s: Any = np.inf
) -> FloatArray:
    """Bytes/s of ``nodes`` nodes together: each has its rate, all share one, (n,)."""
    return np.asarray(
        np.minimum(nodes * per_node_bytes_per_s, aggregate_bytes_per_s), dtype=float
    )


def node_read_rate(
    per_node_bytes_per_s: Any,
    gpus_per_node: Any,
    host_bytes_per_s: Any,
    gpudirect: Any,
) -> FloatArray:
    """Bytes/s that reach the GPUs of one node, (n,).

    With GPUDirect Storage the tier's rate; else at most what the links between host
    and GPUs carry when every byte crosses the bounce buffer twice.
    """
    cap = gpus_per_node * np.asarray(host_bytes_per_s) / BOUNCE_COPIES
    bounced = np.minimum(per_node_bytes_per_s, cap)
    return np.asarray(np.where(gpudirect, per_node_bytes_per_s, bounced), dtype=float)


def decoding_rate(
    nodes: Any,
    gpus_per_node: Any,
    threads: Any,
    rate: float,
    workers: int | None,
    *,
    on_gpu: bool,
) -> FloatArray:
    """Samples/s that all nodes decode, (n,).

    Parameters
    ----------
    threads
        Host threads of a node, two a core; inf where they are not known.
    rate
        Samples/s of one worker, or of one GPU.
    workers
        Loader workers for each GPU; None: as many as there are cores.
    on_gpu
        Whether the GPUs decode.
    """
    units = np.asarray(gpus_per_node, dtype=float)
    if not on_gpu:
        cores = np.asarray(threads) / THREADS_PER_CORE
        units = cores if workers is None else np.minimum(units * workers, cores)
    return np.asarray(nodes * units * rate, dtype=float)


def data_stall_s(step_bytes: Any, read_bytes_per_s: Any, step_s: Any) -> FloatArray:
    """Seconds a step that GPUs wait for input, (n,).

    Loaders read ahead while the GPUs compute: what is not there by then is missing.
    """
    return np.asarray(
        np.maximum(0.0, transfer_s(step_bytes, read_bytes_per_s) - step_s)
    )


def transfer_s(size_bytes: Any, rate_bytes_per_s: Any) -> FloatArray:
    """Seconds to move ``size_bytes``; 0 for nothing, inf without a rate, (n,)."""
    size, rate = np.broadcast_arrays(
        np.asarray(size_bytes, dtype=float), np.asarray(rate_bytes_per_s, dtype=float)
    )
    time = size / np.where(rate > 0, rate, 1.0)
    return np.where(size <= 0, 0.0, np.where(rate > 0, time, np.inf))

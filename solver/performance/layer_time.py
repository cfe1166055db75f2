"""One micro-batch through the average layer: kernels, collectives, host floor.

This is the part of a step that depends on few columns of a layout (tp, cp, ep, etp,
micro_batch, sequence_parallel, recompute, gpus_per_node), so it is evaluated once for
each combination of them, and gathered.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from solver.performance import compute
from solver.performance.communication import (
    Link,
    all_gather_s,
    all_to_all_s,
    domain_gpus,
    link,
)
from solver.performance.context import heads_s, key_value_width, ring_s
from solver.performance.inputs import (
    RECOMPUTE,
    FloatArray,
    Framework,
    Hardware,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.stack import Stack

FULL = RECOMPUTE.index("full")
SELECTIVE = RECOMPUTE.index("selective")

HOST_NORM = 4
"""Power of the smooth maximum of GPU time and host time."""


@dataclass(frozen=True)
class LayerTime:
    """Seconds of one micro-batch in the average layer by exposed part, each (n,)."""

    compute: FloatArray
    recompute: FloatArray
    tensor_parallel: FloatArray
    context_parallel: FloatArray
    expert_parallel: FloatArray
    overhead: FloatArray
    """What the host adds because it launches kernels later than the GPU could run."""
    head: FloatArray
    """Output layer and loss of one micro-batch (not a layer's)."""

    def take(self, rows: Any) -> LayerTime:
        """The values gathered at ``rows``."""
        return LayerTime(*(getattr(self, f.name)[rows] for f in fields(self)))

    @property
    def total(self) -> FloatArray:
        """Seconds of the average layer, (n,), the head left out."""
        parts = [getattr(self, f.name) for f in fields(self) if f.name != "head"]
        return np.asarray(sum(parts))


def layer_time(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
) -> LayerTime:
    """Seconds of the average layer: dense and expert layers in their proportion."""
    domain = domain_gpus(hardware, cells)
    kinds = [
        (shape.layers - shape.moe_layers, False),
        (shape.moe_layers, True),
    ]
    names = [f.name for f in fields(LayerTime) if f.name != "head"]
    total = np.zeros((len(names), len(cells)))
    for count, moe in kinds:
        if count:
            parts = _one_kind(
                shape, job, framework, stack, hardware, cells, domain, moe
            )
            total += count / shape.layers * np.stack(parts)
    head = compute.head(shape, job, stack, hardware, cells)
    return LayerTime(
        **dict(zip(names, total, strict=True)),
        head=np.broadcast_to(head, (len(cells),)),
    )


def _one_kind(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
    domain: Any,
    moe: bool,
) -> list[FloatArray]:
    """The six parts of one layer, dense or with experts, (n,) each."""
    kernels = (compute.moe_layer if moe else compute.dense_layer)(
        shape, job, stack, hardware, cells
    )
    full = cells.recompute == FULL
    selective = cells.recompute == SELECTIVE
    again = np.where(full, kernels.forward, np.where(selective, kernels.attention, 0.0))
    tp = _tensor_parallel(shape, job, stack, hardware, cells, domain, moe)
    cp = _context_parallel(
        shape, job, framework, stack, hardware, cells, domain, kernels
    )
    ep = np.zeros(len(cells))
    if moe:
        ep = _expert_parallel(shape, job, framework, stack, hardware, cells, domain)
    passes = np.where(full, 3.0, 2.0)
    exposed = [tp * passes, cp, ep * passes]
    gpu_forward = kernels.forward + tp + cp / 3.0 + ep
    gpu_backward = kernels.backward + again + cp / 1.5 + (tp + ep) * (passes - 1.0)
    host = _host_s(shape, job, stack, cells, moe)
    waiting = _floor(gpu_forward, host) + _floor(gpu_backward, host * passes)
    if stack.launch_blocking:
        waiting = np.broadcast_to(host * (1.0 + passes), waiting.shape)
    return [kernels.forward + kernels.backward, again, *exposed, waiting]


def forward_time(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    stack: Stack,
    hardware: Hardware,
    layouts: Layouts,
) -> FloatArray:
    """Seconds of one micro-batch's forward pass alone in the average layer, (n,)."""
    domain = domain_gpus(hardware, layouts)
    total = np.zeros(len(layouts))
    kinds = [(shape.layers - shape.moe_layers, False), (shape.moe_layers, True)]
    for count, moe in kinds:
        if not count:
            continue
        model = (shape, job, stack, hardware, layouts)
        kernels = (compute.moe_layer if moe else compute.dense_layer)(*model)
        seconds = kernels.forward + _tensor_parallel(*model, domain, moe)
        exchange = _context_parallel(
            shape, job, framework, stack, hardware, layouts, domain, kernels
        )
        seconds = seconds + exchange / 3.0
        if moe:
            seconds = seconds + _expert_parallel(
                shape, job, framework, stack, hardware, layouts, domain
            )
        host = _host_s(shape, job, stack, layouts, moe)
        total += count / shape.layers * (seconds + _floor(seconds, host))
    return total


def _floor(gpu_s: FloatArray, host_s: Any) -> FloatArray:
    """What the host adds to GPU time: smooth maximum of both, less the GPU's."""
    ratio = host_s / gpu_s
    return np.asarray(gpu_s * ((1.0 + ratio**HOST_NORM) ** (1.0 / HOST_NORM) - 1.0))


def _host_s(
    shape: TransformerShape, job: TrainingJob, stack: Stack, cells: Layouts, moe: bool
) -> Any:
    """Seconds in which the host launches the forward pass of one layer."""
    host: Any = stack.host_layer_s * (1.0 if job.method == "full" else stack.lora_host)
    if stack.host_rank_s or stack.host_pipeline_rank_s:
        under = max(stack.host_rank_s, stack.host_pipeline_rank_s)
        host = host + cells.tp * np.where(cells.pp > 1, under, stack.host_rank_s)
    if moe:
        host = host + stack.host_moe_layer_s
        host = host + stack.host_expert_s * shape.n_experts / cells.ep
    return host


def _tensor_parallel(
    shape: TransformerShape,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
    domain: Any,
    moe: bool,
) -> FloatArray:
    """Exposed seconds of the tensor-parallel collectives of one forward pass, (n,).

    Two all-reduces a layer, or as many bytes in all-gather and reduce-scatter pairs
    under sequence parallelism; an expert layer needs them around attention and the
    shared experts only, as its tokens are routed from the sharded stream.
    """
    group = link(hardware, domain, cells.tp, 1)
    width = compute.ELEMENT_BYTES.get(job.precision, 2.0) * shape.hidden
    size = width * compute.tokens_of(job, cells)
    launches = np.where(cells.sequence_parallel, 1.0, 0.5) * stack.collective_s
    one = all_gather_s(group, size, 0.0)
    pairs = 1 if moe and not shape.shared_experts else 2
    seconds = 2 * pairs * (stack.tp_exposed * one + launches)
    return np.asarray(np.where(cells.tp > 1, seconds, 0.0))


def _context_parallel(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
    domain: Any,
    kernels: compute.Kernels,
) -> FloatArray:
    """Exposed seconds of exchanging keys and values, both passes, (n,).

    By heads (Ulysses) all-to-alls stand before and behind attention in either pass.
    In a ring each rank sends its keys and values around, in backward their gradients
    too: three times the forward bytes, hidden while attention computes.
    """
    group = link(hardware, domain, cells.cp, cells.tp)
    tokens = compute.tokens_of(job, cells)
    if framework.context_by_heads:
        exchange = heads_s(shape, job, group, tokens, cells.cp)
        seconds = 2.0 * (exchange + 2.0 * stack.collective_s)
        return np.asarray(np.where(cells.cp > 1, seconds, 0.0))
    width = key_value_width(shape, cells.tp)
    ring = ring_s(job, group, tokens, width, cells.cp)
    late = np.maximum(0.0, ring - kernels.attention)
    one = stack.cp_exposed * ring + (1.0 - stack.cp_exposed) * late
    seconds = 3.0 * (one + stack.collective_s)
    return np.asarray(np.where(cells.cp > 1, seconds, 0.0))


def _expert_parallel(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
    domain: Any,
) -> FloatArray:
    """Exposed seconds of dispatch and combine of one forward pass, (n,).

    Two all-to-alls over the expert group; with expert tensor parallelism also an
    all-gather and a reduce-scatter of the routed tokens over its group.
    """
    group = expert_link(framework, hardware, domain, cells)
    size = 2.0 * shape.hidden * compute.expert_tokens(shape, job, cells)
    send = all_to_all_s(group, size, 0.0, copies=max(shape.experts_topk, 1))
    busiest = compute.imbalance_of(job, cells)
    seconds = 2.0 * (stack.ep_factor * busiest * send + stack.collective_s)
    seconds = np.where(cells.ep > 1, seconds, 0.0)
    sharded = link(hardware, domain, cells.etp, 1)
    gather = all_gather_s(sharded, size * cells.etp, stack.collective_s)
    return np.asarray(seconds + 2.0 * gather)


def expert_link(
    framework: Framework, hardware: Hardware, domain: Any, cells: Layouts
) -> Link:
    """The link of the expert-parallel group.

    Megatron orders ranks ETP, EP, so that the stride of EP is ETP; elsewhere EP
    divides the data-parallel ranks, which are TP x CP apart.
    """
    stride = cells.etp if framework.expert_parallel_spans_tp else cells.tp * cells.cp
    return link(hardware, domain, cells.ep, stride)

"""Time of the kernels of one layer and of the output head, one micro-batch, one GPU.

Matmuls by roofline: FLOPs at the sustained rate of the GPU's generation, slowed for
short inner dimensions and for few tiles, or bytes over memory bandwidth where that
takes longer. Attention at its own rate, everything else by bytes. Backward of a
linear is two matmuls, of which a frozen weight skips one.

``cells`` are layouts of which only the columns tp, cp, ep, etp, micro_batch and
sequence_parallel are read; results are seconds, (n,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.performance.adapters import (
    Matrix,
    adapted_attention,
    adapted_mlp,
    adapter_bytes,
    quantised_bytes,
)
from solver.performance.inputs import (
    FloatArray,
    Hardware,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.stack import Stack
from solver.performance.transformer import (
    VOCABULARY_MULTIPLE,
    attended_tokens,
    attention_kinds,
    expert_width,
    query_width,
    value_width,
)

UNFUSED_RATE = 0.7
"""Fraction of the 16-bit peak of unfused attention's two batched matmuls."""

MISALIGNED_RATE = 0.055
"""Their speed where head_dim is no multiple of 8, over where it is (BigScience)."""

FUSED_BACKWARD = 2.5
"""Backward over forward of flash attention: 5 matmuls instead of 2."""

ELEMENTWISE_BACKWARD = 1.6
"""Backward over forward memory traffic of element-wise kernels."""

ELEMENT_BYTES = {"fp32": 4.0}
"""Bytes of an activation by precision; 2 for all others."""

LOW_PRECISION_BYTES = {"fp8": 1.0, "mxfp8": 1.0, "nvfp4": 0.5}
"""Bytes of a linear's operands in precisions below 16 bits."""


@dataclass(frozen=True)
class Kernels:
    """Seconds of one layer and micro-batch, each (n,)."""

    forward: FloatArray
    backward: FloatArray
    attention: FloatArray
    """The attention core within ``forward``."""


def tokens_of(job: TrainingJob, cells: Layouts) -> FloatArray:
    """Rows of a matmul: tokens of a micro-batch on one context-parallel rank, (n,)."""
    return np.asarray(cells.micro_batch * (job.sequence_length / cells.cp))


def attended(shape: TransformerShape, job: TrainingJob) -> float:
    """Mean number of keys of a token under the causal mask of its document."""
    return attended_tokens(shape, job.sequence_length, job.attention_span)


def attention_matrices(shape: TransformerShape, tp: Any) -> list[Matrix]:
    """Linears of attention on one GPU; KV heads fewer than TP are replicated."""
    heads = shape.heads / tp
    if shape.is_mla:
        query = shape.qk_nope_dim + shape.qk_rope_dim
        inner = shape.kv_lora_rank
        queries = (
            [(shape.q_lora_rank, shape.hidden), (heads * query, shape.q_lora_rank)]
            if shape.q_lora_rank
            else [(heads * query, shape.hidden)]
        )
        return [
            *queries,
            (inner + shape.qk_rope_dim, shape.hidden),
            (heads * (shape.qk_nope_dim + shape.v_head_dim), inner),
            (shape.hidden, heads * shape.v_head_dim),
        ]
    keys = kv_heads_of(shape, tp)
    return [
        ((heads + 2 * keys) * shape.head_dim, shape.hidden),
        (shape.hidden, heads * shape.head_dim),
    ]


def kv_heads_of(shape: TransformerShape, tp: Any) -> Any:
    """Heads of keys and values on one GPU: at least one."""
    return np.maximum(shape.kv_heads / tp, 1.0)


def mlp_matrices(shape: TransformerShape, width: float, tp: Any) -> list[Matrix]:
    """Linears of a feed-forward block of ``width``, sharded over ``tp``."""
    up = 2 if shape.gated else 1
    return [(up * width / tp, shape.hidden), (shape.hidden, width / tp)]


def padded_vocab(shape: TransformerShape, tp: Any) -> Any:
    """Rows of the embedding, padded so that TP divides it."""
    multiple = VOCABULARY_MULTIPLE * tp
    return np.ceil(shape.vocab / multiple) * multiple


def matrix_elements(matrices: Sequence[Matrix]) -> Any:
    """Weights in ``matrices`` on one GPU."""
    return sum(out * inp for out, inp in matrices)


def matmul_s(
    rows: Any,
    outs: Any,
    inner: Any,
    hardware: Hardware,
    rate: Any,
    operand_bytes: float = 2.0,
    groups: Any = 1,
) -> FloatArray:
    """Seconds of ``groups`` matmuls of (rows, inner) by (inner, outs).

    Notes
    -----
    ``2MNK / rate x (1 + K0/K) x (1 + c/waves)``, at least bytes over bandwidth; K0 is
    the inner length that takes as long as filling a tile's pipeline, a wave is one
    128 x 128 tile on every SM. ``rate`` is the sustained FLOP/s, at most the peak.
    """
    product = rows * outs * groups
    tiles = product / (16384.0 * hardware.sm_count)
    fill = hardware.tile_fill_s * rate / (32768.0 * hardware.sm_count)
    busy = 2.0 * product * inner / rate
    busy = busy * (1.0 + fill / inner) * (1.0 + hardware.wave_tail / tiles)
    moved = operand_bytes * (rows + outs) * inner * groups + 2.0 * product
    return np.asarray(
        np.maximum(busy, moved / (hardware.hbm_efficiency * hardware.hbm_bytes_per_s))
    )


def memory_s(hardware: Hardware, size_bytes: Any) -> FloatArray:
    """Seconds to move ``size_bytes`` through device memory."""
    return np.asarray(size_bytes / (hardware.hbm_efficiency * hardware.hbm_bytes_per_s))


def linear_rate(hardware: Hardware) -> Any:
    """Sustained FLOP/s of large matmuls in the job's precision."""
    return hardware.peak_precision * hardware.gemm_efficiency


def linears(
    matrices: Sequence[Matrix],
    rows: Any,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    groups: Any = 1,
    share: Any = 1.0,
    casts: float = 1.0,
    adapted: Sequence[Matrix] = (),
) -> tuple[FloatArray, FloatArray]:
    """Forward and backward seconds of linears, casts and dequantisation included.

    ``share`` is what they reach of the rate of large matmuls, ``adapted`` are those of
    them with adapters.
    """
    low = LOW_PRECISION_BYTES.get(job.precision)
    operand = low if low else ELEMENT_BYTES.get(job.precision, 2.0)
    rate = linear_rate(hardware) * share
    forward: Any = 0.0
    backward: Any = 0.0
    extra: Any = groups * adapter_bytes(rows, adapted, job.lora_rank)
    quantised = quantised_bytes(job)
    for outs, inner in matrices:
        args = (hardware, rate, operand, groups)
        forward = forward + matmul_s(rows, outs, inner, *args)
        backward = backward + matmul_s(rows, inner, outs, *args) / stack.backward_rate
        if job.method == "full":
            weights = matmul_s(inner, outs, rows, *args)
            backward = backward + weights / stack.backward_rate
            accumulate = stack.accumulate_bytes * outs * inner * groups
            backward = backward + memory_s(hardware, accumulate)
        if low:
            extra = extra + casts * stack.cast_passes * rows * (outs + inner) * groups
        if quantised is not None:
            dequantise = (quantised + 2.0) * stack.nf4_passes
            extra = extra + dequantise * outs * inner * groups
    moved = memory_s(hardware, extra)
    return np.asarray(forward + moved), np.asarray(backward + moved)


def attention_core(
    shape: TransformerShape,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
) -> tuple[FloatArray, FloatArray]:
    """Forward and backward seconds of softmax(QK)V, (n,).

    Fused: ``2 tokens x attended x heads x (d_qk + d_v)`` FLOPs, causal blocks skipped,
    at the rate of the flash kernel, which falls for small heads and short spans.
    Unfused: the whole score matrix, and its passes through memory.
    """
    rows = tokens_of(job, cells)
    head = shape.qk_nope_dim + shape.qk_rope_dim if shape.is_mla else shape.head_dim
    rate = hardware.peak_16bit * hardware.attention_efficiency
    rate = rate * min(1.0, (head + 32) / 160)
    width = (query_width(shape) + value_width(shape)) / cells.tp
    flash: Any = 0.0
    kinds = attention_kinds(shape, job.sequence_length, job.attention_span)
    for share, keys in kinds:
        ramp = 2 * keys / (2 * keys + hardware.attention_ramp_tokens)
        flash = flash + share * 2.0 * rows * keys * width / (rate * ramp)
    aligned = 1.0 if head % 8 == 0 else MISALIGNED_RATE
    scores = rows * job.sequence_length * shape.heads / cells.tp
    whole = 2.0 * rows * job.sequence_length * width
    plain = whole / (UNFUSED_RATE * aligned * hardware.peak_16bit)
    plain = plain + memory_s(hardware, 4.0 * stack.unfused_passes * scores)
    fused = np.asarray(hardware.fused_attention) & (stack.fused_attention > 0)
    forward = np.where(fused, flash, plain)
    return forward, forward * np.where(fused, FUSED_BACKWARD, 2.0)


def elementwise_s(
    shape: TransformerShape,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
    width: Any,
) -> FloatArray:
    """Forward seconds of norms, residuals, rotary embedding and activation, (n,).

    Fourteen passes over the residual stream (divided by TP under sequence
    parallelism), two over queries, keys and values, two over each feed-forward
    tensor of ``width`` a GPU.
    """
    rows = tokens_of(job, cells)
    split = np.where(cells.sequence_parallel, cells.tp, 1)
    attention = sum(out for out, _ in attention_matrices(shape, cells.tp)[:-1])
    tensors = 3 if shape.gated else 2
    passes = (
        stack.residual_passes * shape.hidden / split
        + 2.0 * attention
        + 2.0 * tensors * width
    )
    size = ELEMENT_BYTES.get(job.precision, 2.0)
    return memory_s(hardware, stack.elementwise * size * rows * passes)


def dense_layer(
    shape: TransformerShape,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
) -> Kernels:
    """Kernels of a layer with a dense feed-forward block, (n,) seconds each."""
    tp = cells.tp
    matrices = [*attention_matrices(shape, tp), *mlp_matrices(shape, shape.ffn, tp)]
    adapted = adapted_attention(shape, job, tp, kv_heads_of(shape, tp))
    adapted += adapted_mlp(shape, job, shape.ffn, tp)
    forward, backward = linears(
        matrices, tokens_of(job, cells), job, stack, hardware, adapted=adapted
    )
    core, core_backward = attention_core(shape, job, stack, hardware, cells)
    other = elementwise_s(shape, job, stack, hardware, cells, shape.ffn / tp)
    return Kernels(
        forward + core + other + stack.gaps_s,
        backward + core_backward + ELEMENTWISE_BACKWARD * other + 2.0 * stack.gaps_s,
        core,
    )


def expert_tokens(
    shape: TransformerShape, job: TrainingJob, cells: Layouts
) -> FloatArray:
    """Token copies that one rank's own tokens send to experts, (n,)."""
    return np.asarray(tokens_of(job, cells) / cells.tp * shape.experts_topk)


def imbalance_of(job: TrainingJob, cells: Layouts) -> FloatArray:
    """Work of the busiest expert rank over the mean; 1 where no rank has its own."""
    return np.where(cells.ep > 1, max(job.moe_imbalance, 1.0), 1.0)


def moe_layer(
    shape: TransformerShape,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
) -> Kernels:
    """Kernels of a layer with experts, (n,) seconds each.

    An expert rank serves the tokens of its ``etp x ep`` neighbours: rows an expert =
    ``etp ep x tokens/tp x topk / experts``, its matrices divided by ``etp``. Rows that
    padding and tails add cost FLOPs, not the weights that are read once anyway.
    """
    rows = tokens_of(job, cells)
    routed = expert_tokens(shape, job, cells)
    shared = shape.shared_experts * expert_width(shape)
    dense = [*attention_matrices(shape, cells.tp), (shape.n_experts, shape.hidden)]
    adapted = adapted_attention(shape, job, cells.tp, kv_heads_of(shape, cells.tp))
    if shared:
        dense += mlp_matrices(shape, shared, cells.tp)
        adapted += adapted_mlp(shape, job, shared, cells.tp)
    forward, backward = linears(dense, rows, job, stack, hardware, adapted=adapted)
    local = shape.n_experts / cells.ep
    each = np.maximum(routed * cells.etp / local, 1.0)
    experts = mlp_matrices(shape, expert_width(shape), cells.etp)
    grouped = hardware.grouped_rate
    up, down = linears(
        experts,
        each + stack.expert_rows,
        job,
        stack,
        hardware,
        local,
        grouped,
        stack.expert_casts,
        adapted_mlp(shape, job, expert_width(shape), cells.etp),
    )
    busiest = imbalance_of(job, cells)
    core, core_backward = attention_core(shape, job, stack, hardware, cells)
    width = shared / cells.tp + expert_width(shape) * routed / rows
    other = elementwise_s(shape, job, stack, hardware, cells, width)
    other = other + memory_s(
        hardware, 2.0 * stack.permute_passes * routed * shape.hidden
    )
    gaps = stack.gaps_s + stack.moe_gaps_s
    return Kernels(
        forward + busiest * up + core + other + gaps,
        backward
        + busiest * down
        + core_backward
        + ELEMENTWISE_BACKWARD * other
        + 2.0 * gaps,
        core,
    )


def head(
    shape: TransformerShape,
    job: TrainingJob,
    stack: Stack,
    hardware: Hardware,
    cells: Layouts,
) -> FloatArray:
    """Forward and backward seconds of the output layer and the loss, (n,).

    Always in 16 bits; a frozen head needs no gradient of its weights.
    """
    rows = tokens_of(job, cells)
    vocab = padded_vocab(shape, cells.tp) / cells.tp
    rate = hardware.peak_16bit * hardware.gemm_efficiency_16bit
    time = matmul_s(rows, vocab, shape.hidden, hardware, rate)
    time = time + matmul_s(rows, shape.hidden, vocab, hardware, rate)
    if job.method == "full":
        time = time + matmul_s(shape.hidden, vocab, rows, hardware, rate)
        elements = stack.accumulate_bytes * vocab * shape.hidden
        time = time + memory_s(hardware, elements)
    return np.asarray(time + memory_s(hardware, stack.loss_bytes * rows * vocab))

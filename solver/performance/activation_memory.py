"""Bytes that one layer keeps for its backward pass, counted tensor by tensor.

Source: Korthikanti et al. 2022 (arXiv 2205.05198), whose plain transformer layer
needs s b h (34 + 5 a s / h) bytes in 16-bit without parallelism; extended here to
gated MLPs, grouped and latent attention, fused attention kernels and mixtures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.performance.inputs import TransformerShape
from solver.performance.transformer import expert_width, query_width, value_width

UNGATED_TENSORS = 2
"""ffn-wide tensors that a plain MLP keeps: before and after its activation."""


def activation_bytes_per_layer(
    shape: TransformerShape,
    sequence: int,
    micro_batch: Any,
    *,
    tp: Any = 1,
    cp: Any = 1,
    etp: Any = None,
    sequence_parallel: Any = False,
    recompute: str = "none",
    fused_attention: bool = True,
    gated_tensors: float = 4,
    whole_tensors: float = 4,
    element_bytes: float = 2,
    moe_layer: bool = False,
    moe_imbalance: float = 1.0,
) -> Any:
    """Bytes that one layer of one rank keeps for one micro-batch; arrays or scalars.

    Parameters
    ----------
    recompute
        'selective' drops the attention scores, 'full' all but the layer's input;
        'gradients' counts the gradients that are alive at once in backward instead.
    fused_attention
        A flash-attention kernel keeps no scores.
    gated_tensors
        ffn-wide tensors of a gated MLP: 4 eager, 3 with a fused kernel.
    whole_tensors
        Hidden-wide tensors that stay whole without sequence parallelism, of 4.
    etp
        Expert TP (default: TP); only for a mixture layer.
    moe_imbalance
        Tokens of the busiest expert rank over the mean.

    Notes
    -----
    Without sequence parallelism h-wide inputs of norms and blocks are kept whole on
    every tensor-parallel rank, all four of them in Megatron; all else is divided.
    """
    tokens = micro_batch * (sequence / cp)
    whole = np.where(sequence_parallel, tp, 1) if np.ndim(tp) or tp != 1 else 1
    if recompute == "full":
        return tokens * (element_bytes * shape.hidden) / whole
    if recompute == "gradients":
        width = _wide_gradients(shape, moe_layer=moe_layer, imbalance=moe_imbalance)
        return tokens * (element_bytes * width) / tp
    h, e = shape.hidden, element_bytes
    outer = whole_tensors * e * h + (2 * h if shape.dropout else 0)
    inner = e * ((4 - whole_tensors) * h + _attention_elements(shape, tp))
    if recompute == "none" and not fused_attention:
        # softmax's result; with dropout its mask and what is left of it too
        scores = e + (1 + e if shape.dropout else 0)
        inner = inner + scores * shape.heads * sequence
    mlp_tensors = gated_tensors if shape.gated else UNGATED_TENSORS
    if not moe_layer:
        inner = inner + e * mlp_tensors * shape.ffn
        return tokens * (outer / whole + inner / tp)
    inner = inner + e * mlp_tensors * expert_width(shape) * shape.shared_experts
    copies = shape.experts_topk * moe_imbalance
    experts = e * copies * mlp_tensors * expert_width(shape)
    dispatched = 2 * e * copies * h
    gathered = tp / (tp if etp is None else etp)
    return tokens * (outer / whole + (inner + experts) / tp + dispatched / gathered)


def _wide_gradients(
    shape: TransformerShape, *, moe_layer: bool, imbalance: float
) -> float:
    """ffn-wide elements a token by which backward of an MLP exceeds its activations.

    Behind a gated activation the gradients of both factors exist beside them, while
    that of their product has taken the product's place; of a plain MLP one does.
    """
    width: float = shape.ffn
    if moe_layer:
        copies = shape.experts_topk * imbalance + shape.shared_experts
        width = copies * expert_width(shape)
    return (2 if shape.gated else 1) * width


def _attention_elements(shape: TransformerShape, tp: Any) -> Any:
    """Elements a token of attention's inner tensors, before division by TP."""
    queries, values = query_width(shape), value_width(shape)
    if shape.is_mla:
        latent = shape.q_lora_rank + shape.kv_lora_rank + shape.qk_rope_dim
        return latent + 2 * queries + 2 * values
    copies = np.maximum(tp / shape.kv_heads, 1)
    keys_and_values = 2 * shape.kv_heads * shape.head_dim
    return queries + values + keys_and_values * copies

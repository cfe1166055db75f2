"""Context parallelism: one sequence divided over ranks, by a ring or by heads.

Sources: Ring Attention (arXiv 2310.01889) and Transformer Engine for the ring, Llama 3
(arXiv 2407.21783, section 3.3.2) for the all-gather of keys and values, DeepSpeed
Ulysses (arXiv 2309.14509) for the division by heads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.performance.communication import Link, all_gather_s, all_to_all_s
from solver.performance.inputs import (
    BoolArray,
    FloatArray,
    Framework,
    IntArray,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.transformer import query_width, value_width


def element_bytes(job: TrainingJob) -> float:
    """Bytes of an element that ranks send."""
    return 4.0 if job.precision == "fp32" else 2.0


def key_value_width(shape: TransformerShape, ranks: Any) -> Any:
    """Elements a token of keys and values on one of the ranks that share the heads."""
    if shape.is_mla:
        latent = shape.qk_nope_dim + shape.qk_rope_dim + shape.v_head_dim
        return shape.heads / ranks * latent
    return 2 * np.maximum(shape.kv_heads / ranks, 1.0) * shape.head_dim


def buffer_bytes(
    shape: TransformerShape, job: TrainingJob, framework: Framework, layouts: Layouts
) -> FloatArray:
    """Bytes that a rank holds of what others sent, in the attention of a layer, (n,).

    A ring leaves what each step received until its attention is finished (Transformer
    Engine), and an all-gather has all at once: either way keys and values of the whole
    sequence. By heads it is a second copy of queries, keys, values and the result.
    """
    size = element_bytes(job) * layouts.micro_batch * job.sequence_length
    if framework.context_by_heads:
        width = _exchanged(shape, layouts.cp) / layouts.cp
        return np.asarray(np.where(layouts.cp > 1, size * width, 0.0))
    others = 1.0 - 1.0 / layouts.cp
    return np.asarray(size * others * key_value_width(shape, layouts.tp))


def ring_s(
    job: TrainingJob, group: Link, tokens: FloatArray, width: Any, cp: IntArray
) -> FloatArray:
    """Seconds in which the keys and values of all ranks pass each of them, (n,)."""
    return all_gather_s(group, element_bytes(job) * width * tokens * cp, 0.0)


def heads_s(
    shape: TransformerShape,
    job: TrainingJob,
    group: Link,
    tokens: FloatArray,
    cp: IntArray,
) -> FloatArray:
    """Seconds of the all-to-alls of one forward pass of Ulysses, (n,).

    Each rank sends queries, keys and values of its tokens away for those of its heads,
    and the results back; nothing computes meanwhile.
    """
    size = element_bytes(job) * _exchanged(shape, cp) * tokens
    return all_to_all_s(group, size, 0.0)


def _exchanged(shape: TransformerShape, cp: Any) -> Any:
    """Elements a token that Ulysses exchanges; few heads of keys are copied."""
    copies = 1.0 if shape.is_mla else np.maximum(cp / shape.kv_heads, 1.0)
    keys_and_values = key_value_width(shape, 1) * copies
    return query_width(shape) + value_width(shape) + keys_and_values


def divides_by_heads(
    shape: TransformerShape, tp: IntArray, pp: IntArray, cp: IntArray
) -> BoolArray:
    """Where Ulysses can divide a sequence: its degree divides the heads, (n,).

    It goes beside ZeRO alone, not beside tensor or pipeline parallelism.
    """
    heads = shape.heads % cp == 0
    if not shape.is_mla:
        heads &= (shape.kv_heads % cp == 0) | (cp % shape.kv_heads == 0)
    return np.asarray((cp == 1) | ((tp == 1) & (pp == 1) & heads))

"""Adapters (LoRA): what the frozen base weighs, and what adapters add to a layer.

Sources: Hu et al. 2021 (arXiv 2106.09685) for adapters; QLoRA (arXiv 2305.14314) for
NF4 and its double quantisation; LLM.int8() (arXiv 2208.07339) and bitsandbytes for an
int8 base, whose rows have one fp32 scale each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from solver.performance.inputs import TrainingJob, TransformerShape
from solver.performance.transformer import LORA_TARGETS, adapter_parameters, parameters

BASE_BYTES: Mapping[str, float] = {
    "int8": 1.0,
    "nf4": 4.127 / 8,
    "nf4_plain": 4.5 / 8,
}
"""Bytes a weight of a quantised base: NF4 has 4 bits, and 0.127 of constants with
double quantisation or 0.5 (an fp32 scale for every 64 weights) without. The scale of a
row of int8 is below a thousandth of a byte a weight."""

DEFAULT_BASE: Mapping[str, str] = {"full": "bf16", "lora": "bf16", "qlora": "nf4"}
"""Format of the frozen base where none is stated, by method."""

Matrix = tuple[Any, Any]
"""Outputs and inputs of a linear on one GPU."""


def base_of(job: TrainingJob) -> str:
    """Format of the base's linears: bf16 (any 16 bits), int8, nf4 or nf4_plain."""
    return job.base or DEFAULT_BASE[job.method]


def quantised_bytes(job: TrainingJob) -> float | None:
    """Bytes a weight of the base's linears; None where they are not quantised."""
    return BASE_BYTES.get(base_of(job)) if job.method != "full" else None


def adapter_counts(shape: TransformerShape, job: TrainingJob) -> tuple[int, float]:
    """Adapter parameters outside of routed experts, and in one layer's experts."""
    outside = adapter_parameters(shape, job.lora_rank, job.lora_targets, experts=0)
    everything = adapter_parameters(shape, job.lora_rank, job.lora_targets)
    moe_layers = parameters(shape).moe_layers
    return outside, (everything - outside) / max(moe_layers, 1)


def adapted_attention(
    shape: TransformerShape, job: TrainingJob, tp: Any, kv_heads: Any
) -> list[Matrix]:
    """Linears of attention with adapters on one GPU, those of one input as one.

    Parameters
    ----------
    kv_heads
        Heads of keys and values on one GPU.
    """
    heads = shape.heads / tp
    if shape.is_mla:
        widths = {
            "q": (heads * (shape.qk_nope_dim + shape.qk_rope_dim), shape.hidden),
            "k": (heads * shape.qk_nope_dim, shape.kv_lora_rank),
            "v": (heads * shape.v_head_dim, shape.kv_lora_rank),
        }
        if shape.q_lora_rank:
            widths["q"] = (widths["q"][0], shape.q_lora_rank)
        output = (shape.hidden, heads * shape.v_head_dim)
        inputs = [("q",), ("k", "v")]
    else:
        each = {"q": heads, "k": kv_heads, "v": kv_heads}
        widths = {n: (c * shape.head_dim, shape.hidden) for n, c in each.items()}
        output = (shape.hidden, heads * shape.head_dim)
        inputs = [("q", "k", "v")]
    widths["o"] = output
    return _joined(widths, [*inputs, ("o",)], job)


def adapted_mlp(
    shape: TransformerShape, job: TrainingJob, width: Any, tp: Any
) -> list[Matrix]:
    """Linears with adapters of a feed-forward block of ``width`` on one GPU."""
    widths: dict[str, Matrix] = {
        "gate": (width / tp, shape.hidden),
        "up": (width / tp, shape.hidden),
        "down": (shape.hidden, width / tp),
    }
    first = ("gate", "up") if shape.gated else ("up",)
    return _joined(widths, [first, ("down",)], job)


def _joined(
    widths: Mapping[str, Matrix], inputs: list[tuple[str, ...]], job: TrainingJob
) -> list[Matrix]:
    """Of linears with the same input those with adapters, as one linear each."""
    if job.method == "full":
        return []
    targets = job.lora_targets or LORA_TARGETS
    found = []
    for names in inputs:
        chosen = [widths[name] for name in names if name in targets]
        if chosen:
            found.append((sum(outs for outs, _ in chosen), chosen[0][1]))
    return found


def adapter_bytes(rows: Any, matrices: Sequence[Matrix], rank: int) -> Any:
    """Memory traffic of the adapters of linears in one pass over ``rows``.

    The input is read, the low-rank product written and read, the output updated; the
    FLOPs of a small rank are far below the memory roofline.
    """
    return sum(
        2.0 * rows * (inner + 2.0 * outs + 2.0 * rank) for outs, inner in matrices
    )

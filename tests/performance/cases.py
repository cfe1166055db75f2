"""Shapes, jobs and layouts that the tests of the performance model share."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from solver.catalog.load import load_catalog
from solver.performance.inputs import (
    RECOMPUTE,
    Framework,
    Layouts,
    Optimizer,
    TrainingJob,
    TransformerShape,
)
from solver.performance.memory import peak_memory
from solver.physics_inputs import framework_of

GIB = 2**30

ADAM = Optimizer("adamw", state_bytes=8.0)
ADAM_BF16 = Optimizer("adamw-bf16", state_bytes=4.0, master_bytes=0.0)
PAGED_8BIT = Optimizer("paged-8bit", state_bytes=2.0, master_bytes=0.0, paged=True)

USABLE_GIB = {
    "a10g": 22.1,
    "rtx-3090": 23.7,
    "a100-40": 39.4,
    "a40": 44.4,
    "l40s": 44.4,
    "a100-80": 79.2,
    "h100-80": 79.1,
    "h200": 139.8,
}
"""What a process sees of each card, GiB."""


def llama(
    layers: int, hidden: int, ffn: int, heads: int, kv: int, vocab: int
) -> TransformerShape:
    return TransformerShape(layers, hidden, ffn, heads, kv, hidden // heads, vocab)


LLAMA2_7B = llama(32, 4096, 11008, 32, 32, 32000)
LLAMA2_13B = llama(40, 5120, 13824, 40, 40, 32000)
LLAMA1_33B = llama(60, 6656, 17920, 52, 52, 32000)
CODELLAMA_34B = llama(48, 8192, 22016, 64, 8, 32000)
LLAMA1_65B = llama(80, 8192, 22016, 64, 64, 32000)
LLAMA2_70B = llama(80, 8192, 28672, 64, 8, 32000)
LLAMA3_8B = llama(32, 4096, 14336, 32, 8, 128256)
LLAMA3_70B = llama(80, 8192, 28672, 64, 8, 128256)
LLAMA31_405B = llama(126, 16384, 53248, 128, 8, 128256)


def plain(layers: int, hidden: int, heads: int, vocab: int, s: int) -> TransformerShape:
    """The transformer of the early papers: GELU, LayerNorm, biases, dropout."""
    return TransformerShape(
        layers,
        hidden,
        4 * hidden,
        heads,
        heads,
        hidden // heads,
        vocab,
        gated=False,
        tied_embeddings=True,
        linear_bias=True,
        layer_norm=True,
        learned_positions=s,
        dropout=True,
    )


GPT3 = plain(96, 12288, 96, 51200, 2048)
BLOOM = replace(plain(70, 14336, 112, 250880, 0), dropout=False)
PYTHIA_1B = replace(plain(16, 2048, 8, 50304, 0), tied_embeddings=False, dropout=False)
STARCODER = replace(
    plain(40, 6144, 48, 49152, 8192), kv_heads=1, head_dim=128, dropout=False
)
MIXTRAL = TransformerShape(
    32, 4096, 14336, 32, 8, 128, 32000, n_experts=8, experts_topk=2, moe_ffn=14336
)
DEEPSEEK_V3 = TransformerShape(
    61,
    7168,
    18432,
    128,
    128,
    192,
    129280,
    n_experts=256,
    experts_topk=8,
    shared_experts=1,
    moe_ffn=2048,
    first_dense_layers=3,
    q_lora_rank=1536,
    kv_lora_rank=512,
    qk_nope_dim=128,
    qk_rope_dim=64,
    v_head_dim=128,
)


@cache
def framework(name: str) -> Framework:
    """A framework class as the catalog ships it."""
    return framework_of(load_catalog(), name)


FRAMEWORK_NAMES = (
    "deepspeed",
    "hf-trainer",
    "megatron",
    "nanotron",
    "pytorch-fsdp",
    "torchtitan",
)


def job(
    sequence: int = 4096,
    method: str = "full",
    batch: int | tuple[int, int, int] = 1024,
    optimizer: Optimizer = ADAM,
    rank: int = 0,
    **more: Any,
) -> TrainingJob:
    low, target, high = (batch,) * 3 if isinstance(batch, int) else batch
    return TrainingJob(
        sequence_length=sequence,
        tokens=1e12,
        batch_min=low,
        batch_target=target,
        batch_max=high,
        method=method,
        precision="bf16",
        optimizer=optimizer,
        lora_rank=rank,
        **more,
    )


def layout(
    gpus: int = 1,
    recompute: str = "none",
    gpus_per_node: int = 8,
    **values: int,
) -> dict[str, int]:
    """One layout as plain integers; DP is what the other axes leave."""
    axes = {"tp": 1, "pp": 1, "cp": 1, "ep": 1, **values}
    dp = gpus // (axes["tp"] * axes["pp"] * axes["cp"])
    zero = values.get("zero_stage", 0)
    base = {
        "nodes": max(1, gpus // gpus_per_node),
        "gpus_per_node": min(gpus, gpus_per_node),
        "etp": axes["tp"],
        "dp": dp,
        "virtual_stages": 1,
        "micro_batch": 1,
        "accumulation": 1,
        "zero_stage": 0,
        "shard_degree": dp * axes["cp"] if zero else 1,
        "sequence_parallel": 0,
        "recompute": RECOMPUTE.index(recompute),
    }
    return {**base, **axes}


def layouts(*rows: dict[str, int]) -> Layouts:
    return Layouts.from_rows(list(rows))


def peak_gib(
    shape: TransformerShape,
    work: TrainingJob,
    name: str,
    row: dict[str, int],
    **changes: Any,
) -> float:
    """Peak memory of one layout, GiB."""
    traits = replace(framework(name), **changes)
    return float(peak_memory(shape, work, traits, layouts(row)).total[0]) / GIB

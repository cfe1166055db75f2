"""Peak memory against the papers' formulas, public threads and the starter tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.performance.activation_memory import activation_bytes_per_layer
from solver.performance.inputs import (
    Framework,
    Layouts,
    Offload,
    Optimizer,
    TrainingJob,
    TransformerShape,
)
from solver.performance.lattice_axes import LatticeLimits
from solver.performance.memory import micro_batches_in_flight, peak_memory
from solver.performance.parallelism import enumerate_layouts
from solver.performance.transformer import parameter_count
from tests.performance.cases import (
    ADAM,
    ADAM_BF16,
    BLOOM,
    CODELLAMA_34B,
    DEEPSEEK_V3,
    FRAMEWORK_NAMES,
    GIB,
    GPT3,
    LLAMA1_33B,
    LLAMA1_65B,
    LLAMA2_7B,
    LLAMA2_13B,
    LLAMA2_70B,
    LLAMA3_8B,
    LLAMA3_70B,
    MIXTRAL,
    PAGED_8BIT,
    PYTHIA_1B,
    STARCODER,
    USABLE_GIB,
    framework,
    job,
    layout,
    layouts,
    llama,
    peak_gib,
)

STATE_ONLY = {
    "activation_factor": 0.0,
    "logit_bytes": 0.0,
    "base_bytes": 0.0,
    "gathered_layers": 0.0,
    "step_temporary_bytes": 0.0,
}
"""Changes to a framework that leave weights, gradients and optimizer alone."""

QV = {"rank": 8, "lora_targets": ("q", "v")}
LITGPT = ("pytorch-fsdp", 1034)
"""Class and longest sequence of litgpt's tables on Alpaca."""


def state_gb(
    shape: TransformerShape,
    name: str,
    row: dict[str, int],
    optimizer: Optimizer = ADAM,
) -> float:
    """Weights, gradients and optimizer a GPU, 1e9 bytes."""
    traits = replace(framework(name), **STATE_ONLY)
    memory = peak_memory(shape, job(1, optimizer=optimizer), traits, layouts(row))
    parts = memory.weights + memory.gradients + memory.optimizer
    return float(parts[0]) / 1e9


# --- weights, gradients, optimizer

SEVEN_AND_A_HALF = llama(36, 4096, 11488, 32, 32, 128)
"""7.5e9 parameters, nearly all of them in layers."""


@pytest.mark.parametrize(
    ("zero", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)]
)
def test_zero_stages(zero: int, gigabytes: float) -> None:
    """Tests figure 1 of the ZeRO paper: 7.5e9 parameters on 64 ranks."""
    scale = 7.5e9 / parameter_count(SEVEN_AND_A_HALF)
    assert scale == pytest.approx(1.0, abs=0.03)
    row = layout(64, zero_stage=zero)
    got = state_gb(SEVEN_AND_A_HALF, "deepspeed", row) * scale
    assert got == pytest.approx(gigabytes, abs=0.1)


@pytest.mark.parametrize(
    ("shape", "gigabytes"),
    [(LLAMA2_7B, 126), (LLAMA2_13B, 234), (CODELLAMA_34B, 600), (LLAMA2_70B, 1260)],
)
def test_eighteen_bytes_a_parameter(shape: TransformerShape, gigabytes: float) -> None:
    """Tests the starter table's 18 bytes a parameter, to its round sizes."""
    got = state_gb(shape, "megatron", layout(1))
    assert got == pytest.approx(18 * parameter_count(shape) / 1e9, rel=0.003)
    assert got == pytest.approx(gigabytes, rel=0.05)


def test_pure_16bit_training() -> None:
    """Tests that bf16 moments without an fp32 copy leave 8 bytes a parameter."""
    got = state_gb(LLAMA3_8B, "pytorch-fsdp", layout(1), ADAM_BF16)
    assert got == pytest.approx(8 * 8.03, rel=0.01)


def test_llm_foundry_rule() -> None:
    """Tests that Lion under full sharding needs 12 GB a billion parameters."""
    lion = Optimizer("lion", 4.0)
    row = layout(8, zero_stage=3)
    total = 8 * state_gb(LLAMA2_7B, "pytorch-fsdp", row, lion)
    assert total == pytest.approx(12 * 6.74, rel=0.01)


def test_distributed_optimizer() -> None:
    """Tests Megatron's 6 + 12/d bytes a parameter."""
    row = layout(32, tp=2, zero_stage=1)
    got = state_gb(LLAMA2_7B, "megatron", row)
    assert got == pytest.approx((6 + 12 / 16) * 6.74 / 2, rel=0.01)


def test_experts_are_sharded_over_their_own_ranks() -> None:
    """Tests that Mixtral's experts divide by EP, their optimizer by expert-DP."""
    row = layout(8, ep=8, etp=1, zero_stage=1)
    got = state_gb(MIXTRAL, "megatron", row)
    experts = 32 * 8 * 3 * 4096 * 14336 / 1e9
    rest = parameter_count(MIXTRAL) / 1e9 - experts
    by_hand = rest * (6 + 12 / 8) + experts / 8 * 18
    assert got == pytest.approx(by_hand, rel=0.001)


def test_stages_add_up_to_the_model() -> None:
    """Tests that without ZeRO all stages together hold every parameter once."""
    shape = llama(12, 1024, 4096, 8, 8, 128)
    row = layout(4, pp=4)
    one = state_gb(shape, "megatron", row)
    whole = state_gb(shape, "megatron", layout(1))
    ends = 18 * 128 * 1024 / 1e9
    assert 4 * one == pytest.approx(whole, abs=4 * ends)


def test_tied_embeddings_are_copied_to_the_last_stage() -> None:
    """Tests that both end stages of a pipeline hold the tied matrix."""
    shape = replace(llama(8, 1024, 4096, 8, 8, 65536), tied_embeddings=True)
    untied = replace(shape, tied_embeddings=False)
    single = state_gb(untied, "megatron", layout(1)) - state_gb(
        shape, "megatron", layout(1)
    )
    assert single == pytest.approx(18 * 65536 * 1024 / 1e9)
    pipelined = layout(2, pp=2)
    assert state_gb(shape, "megatron", pipelined) == pytest.approx(
        state_gb(untied, "megatron", pipelined), rel=1e-4
    )


def test_kv_heads_are_copied() -> None:
    """Tests that TP beyond the KV heads keeps whole heads on every rank."""
    shape = llama(8, 1024, 4096, 8, 2, 1024)
    eight = state_gb(shape, "megatron", layout(8, tp=8))
    many = state_gb(replace(shape, kv_heads=8), "megatron", layout(8, tp=8))
    assert eight == pytest.approx(many, rel=1e-6)


# --- activations

PLAIN = {"recompute": "none", "fused_attention": False}


def korthikanti(s: int, b: int, h: int, a: int) -> float:
    return s * b * h * (34 + 5 * a * s / h)


@pytest.mark.parametrize("batch", [1, 4])
def test_plain_layer(batch: int) -> None:
    """Tests s b h (34 + 5 a s / h) bytes (Korthikanti et al. 2022, equation 1)."""
    got = activation_bytes_per_layer(GPT3, 2048, batch, **PLAIN)
    assert float(got) == korthikanti(2048, batch, 12288, 96)


def test_tensor_parallel_layer() -> None:
    """Tests equations 2 and 4: TP keeps 10 s b h whole, sequence parallel nothing."""
    s, h, a, t = 2048, 12288, 96, 8
    whole = s * h * (10 + 24 / t + 5 * a * s / (h * t))
    got = activation_bytes_per_layer(GPT3, s, 1, tp=t, **PLAIN)
    assert float(got) == pytest.approx(whole)
    got = activation_bytes_per_layer(GPT3, s, 1, tp=t, sequence_parallel=True, **PLAIN)
    assert float(got) == pytest.approx(korthikanti(s, 1, h, a) / t)


def test_recompute() -> None:
    """Tests that selective keeps 34 s b h and full 2 s b h, /t where it is sharded."""
    s, h = 2048, 12288
    selective = activation_bytes_per_layer(
        GPT3, s, 1, recompute="selective", fused_attention=False
    )
    assert float(selective) == 34 * s * h
    full = activation_bytes_per_layer(GPT3, s, 1, tp=8, recompute="full")
    assert float(full) == 2 * s * h
    full = activation_bytes_per_layer(
        GPT3, s, 1, tp=8, sequence_parallel=True, recompute="full"
    )
    assert float(full) == 2 * s * h / 8


def test_fused_attention_keeps_no_scores() -> None:
    """Tests that a fused kernel's layer equals the selective one."""
    fused = activation_bytes_per_layer(GPT3, 2048, 1)
    assert float(fused) == 34 * 2048 * 12288


def test_gated_grouped_layer_by_hand() -> None:
    """Tests the tensors of one Llama-3-8B layer, counted by hand."""
    got = activation_bytes_per_layer(LLAMA3_8B, 1, 1)
    inputs, queries_and_output, keys_and_values = 4 * 4096, 2 * 4096, 2 * 1024
    mlp = 4 * 14336
    assert float(got) == 2 * (inputs + queries_and_output + keys_and_values + mlp)


def test_latent_attention_layer() -> None:
    """Tests that latent attention counts its ranks and its own head sizes."""
    shape = replace(DEEPSEEK_V3, n_experts=0, first_dense_layers=0)
    got = activation_bytes_per_layer(shape, 1, 1)
    latent = 1536 + 512 + 64
    heads = 2 * 128 * 192 + 2 * 128 * 128
    assert float(got) == 2 * (4 * 7168 + latent + heads + 4 * 18432)


def test_expert_tp_of_one_divides_what_is_dispatched() -> None:
    """Tests that dispatched tokens stay whole on TP ranks that share an expert."""
    arguments: dict[str, Any] = {
        "tp": 8,
        "sequence_parallel": True,
        "moe_layer": True,
    }
    one = activation_bytes_per_layer(MIXTRAL, 4096, 1, etp=1, **arguments)
    all_ranks = activation_bytes_per_layer(MIXTRAL, 4096, 1, etp=8, **arguments)
    dispatched = 2 * 2 * 2 * 4096 * 4096
    assert float(all_ranks - one) == pytest.approx(dispatched * 7 / 8)


@pytest.mark.parametrize(
    ("pp", "v", "m", "first", "last"),
    [
        (1, 1, 8, 1, 1),
        (4, 1, 8, 4, 1),
        (4, 1, 2, 2, 1),
        (4, 2, 8, 4 * (1 + 3 / 8), 2.5),
        (8, 4, 64, 8 * (1 + 7 / 32), 6.25),
    ],
)
def test_micro_batches_in_flight(
    pp: int, v: int, m: int, first: float, last: float
) -> None:
    """Tests 1F1B's min(pp, m), and 1 + (pp - 1)/(pp v) times it when interleaved."""
    row = layouts(layout(pp, pp=pp, virtual_stages=v, accumulation=m))
    assert micro_batches_in_flight(row, 0)[0] == pytest.approx(first)
    assert micro_batches_in_flight(row, -1)[0] == pytest.approx(last)


# --- what fits: public threads

LITGPT_LORA = [
    (LLAMA2_7B, 1, 21.3),
    (LLAMA2_7B, 2, 29.1),
    (LLAMA2_13B, 1, 38.1),
]


@pytest.mark.parametrize(("shape", "micro_batch", "gigabytes"), LITGPT_LORA)
def test_litgpt_lora(
    shape: TransformerShape, micro_batch: int, gigabytes: float
) -> None:
    """Tests litgpt's table of LoRA on one A100-40, in 1e9 bytes, within 5 %."""
    name, s = LITGPT
    row = layout(micro_batch=micro_batch, accumulation=128 // micro_batch)
    got = peak_gib(shape, job(s, "lora", **QV), name, row)
    assert got * GIB / 1e9 == pytest.approx(gigabytes, rel=0.05)
    assert got <= USABLE_GIB["a100-40"]


@pytest.mark.parametrize(("shape", "micro_batch"), [(LLAMA2_7B, 4), (LLAMA2_13B, 2)])
def test_litgpt_lora_out_of_memory(shape: TransformerShape, micro_batch: int) -> None:
    """Tests the rows of that table that ran out of memory."""
    name, s = LITGPT
    row = layout(micro_batch=micro_batch, accumulation=128 // micro_batch)
    got = peak_gib(shape, job(s, "lora", **QV), name, row)
    assert got > 0.9 * USABLE_GIB["a100-40"]


@pytest.mark.parametrize(
    ("shape", "gigabytes"), [(LLAMA2_7B, 13.8), (LLAMA2_13B, 22.6)]
)
def test_litgpt_qlora(shape: TransformerShape, gigabytes: float) -> None:
    """Tests litgpt's NF4 rows within 15 %."""
    name, s = LITGPT
    got = peak_gib(shape, job(s, "qlora", **QV), name, layout(accumulation=128))
    assert got * GIB / 1e9 == pytest.approx(gigabytes, rel=0.15)


QLORA_65B = {"recompute": "full", "accumulation": 16}


@pytest.mark.parametrize(
    ("shape", "card"), [(LLAMA1_65B, "a40"), (LLAMA1_33B, "rtx-3090")]
)
def test_qlora_paper(shape: TransformerShape, card: str) -> None:
    """Tests that 65B fits one 48 GB card and 33B one of 24 GB (QLoRA)."""
    work = job(512, "qlora", optimizer=PAGED_8BIT, rank=64)
    got = peak_gib(shape, work, "hf-trainer", layout(**QLORA_65B))
    assert got <= USABLE_GIB[card]


@pytest.mark.parametrize(
    ("optimizer", "gib"),
    [(PAGED_8BIT, 37), (Optimizer("adamw-8bit", 2.0), 39), (ADAM, 43)],
)
def test_qlora_65b_state(optimizer: Optimizer, gib: float) -> None:
    """Tests 65B's bytes before activations with paged, 8-bit and fp32 moments."""
    work = job(1, "qlora", optimizer=optimizer, rank=64)
    changes = {**STATE_ONLY, "gathered_layers": 1.0}
    got = peak_gib(LLAMA1_65B, work, "hf-trainer", layout(**QLORA_65B), **changes)
    assert got == pytest.approx(gib, abs=1.0)


LONG = {"method": "lora", "rank": 8}

THREADS: list[tuple[str, Any, ...]] = [
    (
        "epfLLM/Megatron-LLM#52: 70B full on 8 cards",
        (LLAMA2_70B, job(4096), "megatron"),
        layout(8, "full", tp=8, sequence_parallel=1, accumulation=8),
        "a100-80",
        False,
    ),
    (
        "the same: TP 8 x PP 4 works",
        (LLAMA2_70B, job(4096), "megatron"),
        layout(32, "none", tp=8, pp=4, sequence_parallel=1, accumulation=32),
        "a100-80",
        True,
    ),
    (
        "meta-pytorch/torchtune#987: 70B with a paged 8-bit optimizer",
        (LLAMA3_70B, job(4096, optimizer=PAGED_8BIT), "pytorch-fsdp"),
        layout(8, "full", zero_stage=3),
        "a100-80",
        True,
    ),
    (
        "hiyouga/LlamaFactory#4559: a replicated 4-bit 70B on 24 GB cards",
        (LLAMA2_70B, job(512, "qlora", rank=8, optimizer=PAGED_8BIT), "hf-trainer"),
        layout(4, "full"),
        "a10g",
        False,
    ),
    (
        "the same on a 48 GB card",
        (LLAMA2_70B, job(512, "qlora", rank=8, optimizer=PAGED_8BIT), "hf-trainer"),
        layout(1, "full"),
        "a40",
        True,
    ),
    (
        "meta-llama/llama-cookbook#785: 50k tokens on 8 cards",
        (LLAMA3_8B, job(50000, **LONG), "pytorch-fsdp"),
        layout(8, "full", zero_stage=3),
        "a40",
        False,
    ),
    (
        "the same: 5,000 tokens on 8 cards",
        (LLAMA3_8B, job(5000, **LONG), "pytorch-fsdp"),
        layout(8, "full", zero_stage=3),
        "a40",
        True,
    ),
    (
        "the same: 5,000 tokens on one",
        (LLAMA3_8B, job(5000, **LONG), "pytorch-fsdp"),
        layout(1, "full"),
        "a40",
        True,
    ),
    (
        "tatsu-lab/stanford_alpaca#280: 7B full on 8 x A100-40",
        (LLAMA2_7B, job(512), "pytorch-fsdp"),
        layout(8, "none", zero_stage=3, accumulation=16),
        "a100-40",
        True,
    ),
    (
        "meta-llama/llama-cookbook#25: 13B full, micro-batch 4",
        (LLAMA2_13B, job(4096), "pytorch-fsdp"),
        layout(8, "full", zero_stage=3, micro_batch=4),
        "a100-80",
        True,
    ),
    (
        "bigcode-project/starcoder#103: 15B LoRA at 8192",
        (STARCODER, job(8192, "lora", rank=16), "hf-trainer"),
        layout(1, "none"),
        "a100-80",
        False,
    ),
    (
        "h2oai/h2o-llmstudio PR#288: Pythia-1B under DDP",
        (PYTHIA_1B, job(512), "hf-trainer"),
        layout(3, "none", micro_batch=2),
        "rtx-3090",
        True,
    ),
    (
        "the same under ZeRO-3",
        (PYTHIA_1B, job(512), "deepspeed"),
        layout(3, "none", zero_stage=3, micro_batch=2),
        "rtx-3090",
        True,
    ),
]


@pytest.mark.parametrize(
    ("case", "what", "row", "card", "ran"), THREADS, ids=[t[0] for t in THREADS]
)
def test_public_threads(
    case: str, what: tuple[Any, ...], row: dict[str, int], card: str, ran: bool
) -> None:
    """Tests that what ran fits, and what ran out of memory has no tenth to spare."""
    got = peak_gib(*what, row)
    usable = USABLE_GIB[card]
    assert (got <= usable) if ran else (got > 0.9 * usable), (case, got)


def test_torchtune_70b_size() -> None:
    """Tests the 51 GB a GPU that torchtune#987 reports, within 15 %."""
    work = job(4096, optimizer=PAGED_8BIT)
    row = layout(8, "full", zero_stage=3)
    got = peak_gib(LLAMA3_70B, work, "pytorch-fsdp", row)
    assert got == pytest.approx(51e9 / GIB, rel=0.15)


def test_data_parallelism_does_not_shard_one_sequence() -> None:
    """Tests that 1 and 8 GPUs hold the same activations of one long sequence."""
    traits = framework("pytorch-fsdp")
    both = layouts(
        layout(1, "full"), layout(8, "full", zero_stage=3), layout(64, "full")
    )
    memory = peak_memory(LLAMA3_8B, job(5000, **LONG), traits, both)
    assert memory.activations[0] == memory.activations[1] == memory.activations[2]


# --- the starter tables

FSDP = "pytorch-fsdp"
HEADROOM = 0.9

STARTER: list[tuple[str, Any, ...]] = [
    ("7B full, 4 x 80 GB", (LLAMA2_7B, job(4096), FSDP), 4, "h100-80", True),
    ("7B full, 6 x 48 GB", (LLAMA2_7B, job(4096), FSDP), 6, "l40s", True),
    ("7B full, 4 x 48 GB", (LLAMA2_7B, job(4096), FSDP), 4, "l40s", True),
    ("7B full, 2 x 80 GB", (LLAMA2_7B, job(4096), FSDP), 2, "h100-80", True),
    ("7B full, 1 x 80 GB", (LLAMA2_7B, job(4096), FSDP), 1, "h100-80", False),
    (
        "7B pure bf16, 1 x 80 GB",
        (LLAMA2_7B, job(4096, optimizer=ADAM_BF16), FSDP),
        1,
        "h100-80",
        True,
    ),
    ("13B full, 6 x 80 GB", (LLAMA2_13B, job(4096), FSDP), 6, "h100-80", True),
    ("13B full, 8 x 48 GB", (LLAMA2_13B, job(4096), FSDP), 8, "l40s", True),
    ("13B full, 4 x 48 GB", (LLAMA2_13B, job(4096), FSDP), 4, "l40s", False),
    ("34B full, 8 x 80 GB", (CODELLAMA_34B, job(4096), FSDP), 8, "h100-80", False),
    ("70B full, 8 x 141 GB", (LLAMA2_70B, job(4096), FSDP), 8, "h200", False),
    ("70B full, 8 x 80 GB", (LLAMA2_70B, job(4096), FSDP), 8, "h100-80", False),
    (
        "70B full paged, 8 x 80 GB",
        (LLAMA2_70B, job(4096, optimizer=PAGED_8BIT), FSDP),
        8,
        "h100-80",
        True,
    ),
    ("7B LoRA, 48 GB", (LLAMA2_7B, job(2048, **LONG), "hf-trainer"), 1, "l40s", True),
    ("13B LoRA, 48 GB", (LLAMA2_13B, job(2048, **LONG), "hf-trainer"), 1, "l40s", True),
    (
        "70B QLoRA, 48 GB",
        (LLAMA2_70B, job(512, "qlora", rank=8, optimizer=PAGED_8BIT), "hf-trainer"),
        1,
        "l40s",
        True,
    ),
    (
        "33B QLoRA, 48 GB",
        (LLAMA1_33B, job(2048, "qlora", rank=64), "hf-trainer"),
        1,
        "l40s",
        True,
    ),
    (
        "33B LoRA, 80 GB",
        (LLAMA1_33B, job(512, **LONG), "hf-trainer"),
        1,
        "h100-80",
        True,
    ),
    (
        "7B fine-tune, 2 x 48 GB",
        (LLAMA2_7B, job(2048, **LONG), "hf-trainer"),
        2,
        "l40s",
        True,
    ),
]


@pytest.mark.parametrize(
    ("case", "what", "gpus", "card", "fits"), STARTER, ids=[s[0] for s in STARTER]
)
def test_starter_tables(
    case: str, what: tuple[Any, ...], gpus: int, card: str, fits: bool
) -> None:
    """Tests the user's rows with full recomputation, at the default headroom."""
    full = what[1].method == "full" and gpus > 1
    row = layout(gpus, "full", accumulation=8, **({"zero_stage": 3} if full else {}))
    got = peak_gib(*what, row)
    assert (got <= HEADROOM * USABLE_GIB[card]) is fits, (case, got)


@pytest.mark.parametrize(
    ("shape", "gpus", "gib"),
    [
        (LLAMA2_70B, 8, 147.9),
        (CODELLAMA_34B, 8, 71.2),
        (LLAMA2_7B, 1, 113.0),
        (LLAMA2_13B, 4, 54.5),
        (LLAMA2_7B, 4, 28.2),
    ],
)
def test_expected_static_bytes(shape: TransformerShape, gpus: int, gib: float) -> None:
    """Tests the starter tables' 18 bytes a parameter, divided over the cards."""
    got = state_gb(shape, "megatron", layout(gpus)) * 1e9 / GIB / gpus
    assert got == pytest.approx(gib, rel=0.025)


# --- guard rails


@st.composite
def lattices(
    draw: st.DrawFn,
) -> tuple[TransformerShape, TrainingJob, Framework, Layouts]:
    """A small lattice of any framework and method."""
    shape = draw(st.sampled_from([LLAMA2_7B, PYTHIA_1B, MIXTRAL, DEEPSEEK_V3, BLOOM]))
    method = draw(st.sampled_from(["full", "lora", "qlora"]))
    optimizer = draw(st.sampled_from([ADAM, ADAM_BF16, PAGED_8BIT]))
    work = job(
        draw(st.sampled_from([512, 2048, 8192])),
        method,
        draw(st.sampled_from([8, 24, 64])),
        optimizer,
        rank=16,
    )
    traits = framework(draw(st.sampled_from(FRAMEWORK_NAMES)))
    limits = LatticeLimits(draw(st.sampled_from([1, 3])), 8)
    return shape, work, traits, enumerate_layouts(shape, work, traits, limits)


@given(lattices())
def test_memory_is_positive_and_adds_up(lattice: tuple[Any, ...]) -> None:
    """Tests that no part is negative and that weights are never without bytes."""
    shape, work, traits, found = lattice
    memory = peak_memory(shape, work, traits, found)
    for part in ("weights", "gradients", "optimizer", "activations", "other"):
        assert (getattr(memory, part) >= 0).all()
    assert (memory.weights > 0).all()
    assert (memory.total >= memory.weights + traits.base_bytes).all()


@given(lattices())
def test_more_tokens_need_more_memory(lattice: tuple[Any, ...]) -> None:
    """Tests that memory never falls with the micro-batch or the sequence."""
    shape, work, traits, found = lattice
    before = peak_memory(shape, work, traits, found).total
    bigger = found.with_columns(micro_batch=2 * found.micro_batch)
    assert (peak_memory(shape, work, traits, bigger).total >= before).all()
    longer = replace(work, sequence_length=2 * work.sequence_length)
    assert (peak_memory(shape, longer, traits, found).total >= before).all()


@given(lattices())
def test_recomputation_saves_memory(lattice: tuple[Any, ...]) -> None:
    """Tests that full recomputation never needs more than none."""
    shape, work, traits, found = lattice
    none = found.with_columns(recompute=np.zeros(len(found), dtype=np.int64))
    full = found.with_columns(recompute=np.full(len(found), 2))
    saved = peak_memory(shape, work, traits, none).total
    saved = saved - peak_memory(shape, work, traits, full).total
    assert (saved >= -1e-6 * saved.max(initial=1.0)).all()


@given(lattices())
def test_sharding_saves_state(lattice: tuple[Any, ...]) -> None:
    """Tests that a larger shard group never holds more state."""
    shape, work, traits, found = lattice
    memory = peak_memory(shape, work, replace(traits, **STATE_ONLY), found)
    doubled = found.with_columns(
        shard_degree=np.where(found.zero_stage > 0, 2 * found.shard_degree, 1)
    )
    less = peak_memory(shape, work, replace(traits, **STATE_ONLY), doubled)
    state = memory.weights + memory.gradients + memory.optimizer
    assert (less.weights + less.gradients + less.optimizer <= state + 1).all()


@given(lattices(), st.randoms(use_true_random=False))
def test_arrays_equal_rows(lattice: tuple[Any, ...], random: Any) -> None:
    """Tests that a layout among others gets the bytes that it gets alone."""
    shape, work, traits, found = lattice
    memory = peak_memory(shape, work, traits, found)
    if not len(found):
        assert len(memory.total) == 0
        return
    for index in {random.randrange(len(found)) for _ in range(8)}:
        alone = peak_memory(shape, work, traits, Layouts.from_rows([found.row(index)]))
        for part in ("weights", "gradients", "optimizer", "activations", "other"):
            assert getattr(alone, part)[0] == getattr(memory, part)[index]


def test_unfused_attention_needs_more() -> None:
    """Tests that hardware without a fused kernel keeps the scores."""
    row = layouts(layout(1))
    traits = framework("megatron")
    fused = peak_memory(LLAMA2_7B, job(4096), traits, row)
    plain = peak_memory(LLAMA2_7B, job(4096), traits, row, fused_attention=False)
    scores = 32 * 2 * 32 * 4096 * 4096 * traits.activation_factor
    assert plain.allocated[0] - fused.allocated[0] == pytest.approx(scores)


def test_selective_recomputation_redoes_the_scores_of_a_layer() -> None:
    """Tests that unfused scores of one layer stand there while it is redone.

    Both ways redo one layer's scores, 5 a s^2 / t; beside them full recomputation keeps
    less of the other layers.
    """
    length, few = 65_536, replace(GPT3, layers=8)
    scores = 5 * GPT3.heads * length**2 / 8
    rows = [layout(8, recompute=kind, tp=8) for kind in ("selective", "full")]
    selective, full = peak_memory(
        few, job(length), framework("megatron"), layouts(*rows), fused_attention=False
    ).activations
    assert scores < full < selective


def test_logits_are_gone_before_the_first_layer_is_redone() -> None:
    """Tests that of logits and a recomputed layer only the larger one counts."""
    row = layouts(layout(1, "full"))

    def peak(size: float) -> float:
        traits = replace(framework("hf-trainer"), logit_bytes=size)
        work = job(4096, "lora", rank=8)
        return float(peak_memory(LLAMA3_8B, work, traits, row).allocated[0])

    layer = LLAMA3_8B.ffn * 4096 * 2
    assert peak(0.0) == peak(1.0)
    logits = 4096 * 128256
    assert peak(20.0) - peak(16.0) == pytest.approx(4 * logits)
    assert peak(16.0) - peak(0.0) < 16 * logits - 4 * layer


def test_gradients_stand_beside_the_last_layer() -> None:
    """Tests that a layer's own backward holds two ffn-wide gradients more."""
    got = activation_bytes_per_layer(LLAMA3_8B, 1, 1, recompute="gradients")
    assert float(got) == 2 * 2 * 14336
    plain = activation_bytes_per_layer(GPT3, 1, 1, recompute="gradients", tp=8)
    assert float(plain) == 2 * 4 * 12288 / 8
    mixture = activation_bytes_per_layer(
        MIXTRAL, 1, 1, recompute="gradients", moe_layer=True
    )
    assert float(mixture) == 2 * 2 * 2 * 14336


def inputs_of(shape: TransformerShape, tokens: int) -> float:
    """Bytes of the inputs of all layers in 16 bits."""
    return 2.0 * shape.layers * shape.hidden * tokens


@pytest.mark.parametrize(("method", "copies"), [("lora", 1), ("qlora", 1), ("full", 0)])
def test_fsdp_holds_inputs_of_frozen_layers(method: str, copies: int) -> None:
    """Tests the second copy of checkpoints that FSDP keeps with frozen weights."""
    row = layouts(layout(8, "full", zero_stage=3, micro_batch=16))
    changes = {"logit_bytes": 0.0, "step_temporary_bytes": 0.0}
    traits = replace(framework("pytorch-fsdp"), **changes)
    work = job(4096, method, rank=8)
    held = peak_memory(LLAMA3_8B, work, traits, row).activations[0]
    once = replace(traits, residual_bytes=2.0)
    kept = peak_memory(LLAMA3_8B, work, once, row).activations[0]
    assert held - kept == pytest.approx(copies * inputs_of(LLAMA3_8B, 16 * 4096))


def test_ends_in_fp32_beside_a_4_bit_base() -> None:
    """Tests that embedding, head and residual stream double where PEFT casts them."""
    row = layouts(layout(1, "full"))
    work = job(4096, "qlora", rank=8)
    wide = replace(framework("hf-trainer"), logit_bytes=0.0)
    assert wide.qlora_ends_bytes == 4.0
    narrow = replace(wide, qlora_ends_bytes=2.0)
    four, two = (peak_memory(LLAMA3_8B, work, t, row) for t in (wide, narrow))
    ends = 2 * 128256 * 4096 + 2 * 32 * 4096
    assert four.weights[0] - two.weights[0] == pytest.approx(2 * ends)
    more = four.activations[0] - two.activations[0]
    assert more == pytest.approx(inputs_of(LLAMA3_8B, 4096))


def test_ends_that_train_beside_adapters() -> None:
    """Tests that whole embedding and head add 12 bytes a parameter, 20 with fp32's."""
    row = layouts(layout(1, "full"))
    traits = replace(framework("hf-trainer"), **STATE_ONLY)
    work = job(1, "lora", rank=8)
    both = (work, replace(work, trains_ends=True))
    without, whole = (peak_memory(LLAMA3_8B, w, traits, row) for w in both)
    ends = 2 * 128256 * 4096
    assert whole.weights[0] - without.weights[0] == 2 * ends
    assert whole.optimizer[0] - without.optimizer[0] == 8 * ends


def test_tensors_that_tp_keeps_whole() -> None:
    """Tests that a class that keeps two of the four wide tensors whole needs less."""
    arguments: dict[str, Any] = {"tp": 8, "recompute": "none"}
    four = activation_bytes_per_layer(LLAMA3_8B, 1, 1, **arguments)
    two = activation_bytes_per_layer(LLAMA3_8B, 1, 1, whole_tensors=2, **arguments)
    assert float(four - two) == pytest.approx(2 * 2 * 4096 * 7 / 8)
    arguments["sequence_parallel"] = True
    even = activation_bytes_per_layer(LLAMA3_8B, 1, 1, **arguments)
    same = activation_bytes_per_layer(LLAMA3_8B, 1, 1, whole_tensors=2, **arguments)
    assert float(even) == pytest.approx(float(same))


def test_offloading() -> None:
    """Tests that host memory takes what FSDP shards, or what recomputation keeps."""
    row = layouts(layout(8, "full", zero_stage=3))
    traits = framework("pytorch-fsdp")
    work = replace(job(4096), offload=Offload(parameters=True))
    away = peak_memory(LLAMA3_8B, work, traits, row)
    assert away.weights[0] == away.gradients[0] == away.optimizer[0] == 0.0
    here = peak_memory(LLAMA3_8B, job(4096), traits, row)
    assert away.total[0] < here.total[0]
    one = layouts(layout(1, "full"))
    work = job(4096, "qlora", rank=8)
    moved = replace(work, offload=Offload(activations=True))
    kept = replace(traits, logit_bytes=0.0)
    less = peak_memory(LLAMA3_8B, work, kept, one).activations[0]
    less -= peak_memory(LLAMA3_8B, moved, kept, one).activations[0]
    assert less == pytest.approx(31 / 32 * inputs_of(LLAMA3_8B, 4096))


def test_fragmentation_is_of_what_comes_and_goes() -> None:
    """Tests that what the allocator reserves besides is a share of transient bytes."""
    memory = peak_memory(
        LLAMA3_8B, job(4096), framework("megatron"), layouts(layout(1))
    )
    lasting = memory.weights + memory.gradients + memory.optimizer
    share = memory.fragmentation / (memory.allocated - lasting)
    assert share[0] == pytest.approx(0.08)
    assert memory.total[0] == pytest.approx(
        memory.allocated[0] + memory.fragmentation[0]
    )


def test_first_stage_alone() -> None:
    """Tests that what a first rank prints leaves later stages out."""
    shape = replace(LLAMA2_7B, vocab=512_000)
    row = layouts(layout(4, pp=4, accumulation=1), layout(1))
    traits = replace(framework("megatron"), logit_bytes=40.0)
    fullest = peak_memory(shape, job(4096), traits, row).total
    first = peak_memory(shape, job(4096), traits, row, first_stage_only=True).total
    assert first[0] < fullest[0]
    assert first[1] == fullest[1]


def test_uneven_stages_find_the_fullest() -> None:
    """Tests that a light first stage does not hide the second."""
    shape = replace(LLAMA2_7B, layers=10, vocab=128)
    traits = replace(framework("megatron"), logit_bytes=0.0)
    memory = peak_memory(
        shape, job(256), traits, layouts(layout(4, pp=4, accumulation=8))
    )
    layer = (4 * 4096**2 + 3 * 4096 * 11008 + 2 * 4096) * 18
    assert memory.weights[0] + memory.gradients[0] + memory.optimizer[
        0
    ] == pytest.approx(3 * layer, rel=0.01)

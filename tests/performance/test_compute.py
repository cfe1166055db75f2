"""Kernel times against arithmetic by hand, and what they must never do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.performance import compute
from solver.performance.stack import Stack
from tests.performance.cases import (
    DEEPSEEK_V3,
    GPT3,
    LLAMA2_7B,
    LLAMA2_70B,
    MIXTRAL,
    job,
    layout,
    layouts,
)
from tests.performance.machines import A100, H100

IDEAL = replace(A100, tile_fill_s=0.0, wave_tail=0.0, attention_ramp_tokens=0.0)
BARE = Stack(elementwise=0.0, accumulate_bytes=0.0, permute_passes=0.0, expert_rows=0.0)


def test_large_matmul_runs_at_the_sustained_rate() -> None:
    """Tests that a large matmul takes 2MNK over the sustained rate."""
    time = compute.matmul_s(8192, 8192, 8192, IDEAL, 250e12)
    assert time == pytest.approx(2 * 8192**3 / 250e12)


def test_thin_matmul_is_bound_by_memory() -> None:
    """Tests that one row reads the whole matrix through memory."""
    time = compute.matmul_s(1, 8192, 8192, IDEAL, 250e12)
    moved = 2 * (1 + 8192) * 8192 + 2 * 8192
    assert time == pytest.approx(moved / (0.85 * 2.039e12))


def test_short_inner_dimension_and_few_tiles_are_slower() -> None:
    """Tests that the fill of a tile and the tail of the waves slow small matmuls."""
    real = replace(IDEAL, tile_fill_s=5e-7, wave_tail=0.35)
    for shape in ((8192, 8192, 128), (256, 256, 8192)):
        slow = compute.matmul_s(*shape, real, 250e12)
        assert slow > compute.matmul_s(*shape, IDEAL, 250e12)


def test_layer_takes_its_flops() -> None:
    """Tests that a layer without overheads takes 2 FLOPs a weight and token, thrice."""
    work = job(4096)
    cells = layouts(layout(1, micro_batch=2))
    kernels = compute.dense_layer(LLAMA2_7B, work, BARE, IDEAL, cells)
    linear = 2 * 2 * 4096 * (4 * 4096**2 + 3 * 4096 * 11008) / (0.8 * 312e12)
    core = 4 * 2 * 4096 * 2048 * 4096 / (0.5 * 312e12)
    assert kernels.forward[0] == pytest.approx(linear + core)
    assert kernels.backward[0] == pytest.approx(2 * linear + 2.5 * core)


def test_lora_skips_gradients_of_frozen_weights() -> None:
    """Tests that LoRA's backward is one forward of the linears, not two."""
    cells = layouts(layout(1, micro_batch=4))
    full = compute.dense_layer(LLAMA2_70B, job(4096), BARE, IDEAL, cells)
    lora = compute.dense_layer(
        LLAMA2_70B, job(4096, "lora", rank=16), BARE, IDEAL, cells
    )
    frozen = full.backward - full.forward  # one forward of linears, 1.5 of attention
    assert lora.backward[0] < full.backward[0] - 0.8 * frozen[0] + 1e-12
    assert lora.forward[0] > full.forward[0]


@pytest.mark.parametrize(("shape", "gap_s"), [(LLAMA2_7B, 1e-3), (MIXTRAL, 3e-3)])
def test_gaps_between_kernels_add_to_a_layer(shape, gap_s: float) -> None:
    """Tests that starting kernels costs a layer once, and twice in backward."""
    cells = layouts(layout(1, micro_batch=2, etp=1))
    layer = compute.moe_layer if shape.is_moe else compute.dense_layer
    slow = replace(BARE, gaps_s=1e-3, moe_gaps_s=2e-3)
    without = layer(shape, job(4096), BARE, IDEAL, cells)
    kernels = layer(shape, job(4096), slow, IDEAL, cells)
    assert kernels.forward - without.forward == pytest.approx(gap_s)
    assert kernels.backward - without.backward == pytest.approx(2 * gap_s)


def test_backward_matmuls_run_at_their_own_rate() -> None:
    """Tests that both matmuls of a linear's backward pass take 1 / rate longer."""
    cells = layouts(layout(1, micro_batch=2))
    slow = replace(BARE, backward_rate=0.8)
    even = compute.dense_layer(GPT3, job(2048), BARE, IDEAL, cells)
    kernels = compute.dense_layer(GPT3, job(2048), slow, IDEAL, cells)
    assert kernels.forward == pytest.approx(even.forward)
    linears = even.backward - 2.5 * even.attention
    assert kernels.backward == pytest.approx(even.backward + 0.25 * linears)


def test_experts_cast_more_often() -> None:
    """Tests that 8-bit experts pay for their casts, and 16-bit ones do not."""
    cells = layouts(layout(1, micro_batch=2, etp=1))
    often = replace(BARE, expert_casts=2.0)

    def extra(precision: str) -> float:
        work = replace(job(4096), precision=precision)
        args = (IDEAL, cells)
        more = compute.moe_layer(MIXTRAL, work, often, *args).forward
        return float((more - compute.moe_layer(MIXTRAL, work, BARE, *args).forward)[0])

    routed = 2 * 4096 * MIXTRAL.experts_topk
    elements = routed * (2 * MIXTRAL.hidden + 3 * MIXTRAL.ffn)
    moved = BARE.cast_passes * elements / (0.85 * 2.039e12)
    assert extra("fp8") == pytest.approx(moved)
    assert extra("bf16") == 0.0


def test_qlora_pays_for_dequantising() -> None:
    """Tests that NF4 weights cost time that grows with the weights, not the tokens."""
    extra = []
    for micro_batch in (1, 8):
        cells = layouts(layout(1, micro_batch=micro_batch))
        times = [
            compute.dense_layer(
                LLAMA2_70B, job(512, method, rank=16), BARE, IDEAL, cells
            ).forward[0]
            for method in ("lora", "qlora")
        ]
        extra.append(times[1] - times[0])
    weights = 2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672
    wanted = 1.5 * (2 + 4.127 / 8) * weights / (0.85 * 2.039e12)
    assert extra == pytest.approx([wanted, wanted])


def test_unfused_attention_is_slower_and_misaligned_heads_far_slower() -> None:
    """Tests that head sizes that 8 does not divide are penalised without a kernel."""
    old = replace(A100, fused_attention=False)
    cells = layouts(layout(8, tp=8))
    odd = replace(GPT3, heads=80, kv_heads=80, head_dim=145, hidden=11600)
    even = replace(odd, head_dim=144, hidden=11520)
    fused, _ = compute.attention_core(even, job(2048), BARE, A100, cells)
    plain, _ = compute.attention_core(even, job(2048), BARE, old, cells)
    slow, _ = compute.attention_core(odd, job(2048), BARE, old, cells)
    assert fused[0] < plain[0] < slow[0] / 2


def test_documents_and_windows_shorten_attention() -> None:
    """Tests that attention's time follows what a token attends to."""
    cells = layouts(layout(1))
    whole, _ = compute.attention_core(LLAMA2_7B, job(32768), BARE, IDEAL, cells)
    packed, _ = compute.attention_core(
        LLAMA2_7B, job(32768, attention_span=2048.0), BARE, IDEAL, cells
    )
    window, _ = compute.attention_core(
        replace(LLAMA2_7B, sliding_window=2048), job(32768), BARE, IDEAL, cells
    )
    assert whole[0] / packed[0] == pytest.approx(16)
    assert packed[0] < window[0] < whole[0]


@pytest.mark.parametrize("ep", [1, 2, 4, 8])
def test_expert_work_does_not_depend_on_expert_parallelism(ep: int) -> None:
    """Tests that a rank computes as many token copies however experts are spread."""
    work = job(4096, moe_imbalance=1.0)
    cells = layouts(layout(8, ep=ep, etp=1))
    base = layouts(layout(8, ep=1, etp=1))
    times = [
        compute.moe_layer(MIXTRAL, work, BARE, IDEAL, c).forward[0]
        for c in (cells, base)
    ]
    assert times[0] == pytest.approx(times[1])


def test_imbalance_slows_expert_ranks_only() -> None:
    """Tests that the busiest expert rank paces the layer where experts are spread."""
    even, uneven = job(4096, moe_imbalance=1.0), job(4096, moe_imbalance=1.5)

    def forward(work, ep: int) -> float:
        cells = layouts(layout(8, ep=ep, etp=1))
        return float(compute.moe_layer(MIXTRAL, work, BARE, IDEAL, cells).forward[0])

    assert forward(uneven, 8) > 1.2 * forward(even, 8)
    assert forward(uneven, 1) == pytest.approx(forward(even, 1))


def test_eight_bit_casts_and_rate() -> None:
    """Tests that FP8 speeds linears up by less than its peak, for the casts."""
    eight = replace(H100, peak_precision=1979e12)
    cells = layouts(layout(1))
    work = job(8192)
    wide = compute.dense_layer(LLAMA2_70B, work, Stack(), H100, cells)
    low = compute.dense_layer(
        LLAMA2_70B, replace(work, precision="fp8"), Stack(), eight, cells
    )
    speedup = wide.forward[0] / low.forward[0]
    assert 1.2 < speedup < 2.0


def test_head_grows_with_the_vocabulary_and_is_padded() -> None:
    """Tests that the head works on the padded vocabulary."""
    cells = layouts(layout(8, tp=8))
    args = (job(4096), Stack(), IDEAL, cells)
    exact = compute.head(replace(LLAMA2_7B, vocab=32768), *args)
    padded = compute.head(replace(LLAMA2_7B, vocab=32700), *args)
    assert padded == pytest.approx(exact)
    smaller = compute.head(replace(LLAMA2_7B, vocab=31000), *args)
    assert smaller[0] < exact[0]


def test_latent_attention_counts_its_own_head_sizes() -> None:
    """Tests that scores of size 192 and values of 128 set latent attention's FLOPs."""
    cells = layouts(layout(1))
    core, _ = compute.attention_core(DEEPSEEK_V3, job(4096), BARE, IDEAL, cells)
    flops = 2 * 4096 * 2048 * 128 * (192 + 128)
    assert core[0] == pytest.approx(flops / (0.5 * 312e12))


def test_cells_are_evaluated_side_by_side() -> None:
    """Tests that a row's kernels do not depend on its neighbours."""
    rows = [layout(8, tp=t, micro_batch=m) for t in (1, 2, 8) for m in (1, 4)]
    together = compute.dense_layer(
        LLAMA2_7B, job(4096), Stack(), A100, layouts(*rows)
    ).forward
    alone = [
        compute.dense_layer(LLAMA2_7B, job(4096), Stack(), A100, layouts(r)).forward[0]
        for r in rows
    ]
    np.testing.assert_allclose(together, alone)


def test_experts_of_fewer_tokens_never_take_longer() -> None:
    """Tests that a layer of experts is monotone in tokens, down to a single one."""
    stack = Stack()
    cell = layouts(layout(8, zero_stage=3))
    lengths = [2**power for power in range(13)]
    times = []
    for length in lengths:
        work = replace(job(), sequence_length=length)
        kernels = compute.moe_layer(MIXTRAL, work, stack, A100, cell)
        times.append(float(kernels.forward[0] + kernels.backward[0]))
    assert times == sorted(times)

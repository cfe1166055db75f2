"""Tests of dividing one sequence over ranks, and of the loss of a part of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.performance.communication import link
from solver.performance.context import buffer_bytes, divides_by_heads, heads_s
from solver.performance.inputs import Framework
from solver.performance.lattice_axes import LatticeLimits, context_parallel_values
from solver.performance.memory import loss_chunks, peak_memory
from solver.performance.parallelism import enumerate_layouts
from solver.performance.step_time import step_time
from solver.ranges import Range
from tests.performance.cases import (
    GIB,
    LLAMA3_8B,
    LLAMA31_405B,
    framework,
    job,
    layout,
    layouts,
)
from tests.performance.machines import H100

MILLION = 2**20
RING, HEADS = framework("megatron"), framework("deepspeed")
ASKED = framework("pytorch-fsdp")


def test_a_ring_holds_the_keys_of_the_whole_sequence() -> None:
    """Tests 8 KV heads of 128 at a million tokens: 4 GiB, less the rank's own."""
    row = layouts(layout(8, cp=8), layout(8, cp=4, tp=2), layout(8))
    found = buffer_bytes(LLAMA3_8B, job(MILLION), RING, row) / GIB
    assert found == pytest.approx([4 * 7 / 8, 2 * 3 / 4, 0.0])


def test_by_heads_a_rank_holds_its_share_twice() -> None:
    """Tests Ulysses' copy of queries, keys, values and results of a rank's tokens."""
    row = layouts(layout(8, cp=8), layout(32, cp=32))
    found = buffer_bytes(LLAMA3_8B, job(MILLION), HEADS, row) / GIB
    tokens = MILLION / np.array([8, 32])
    copies = np.array([1, 4])  # 8 heads of keys and values over 32 ranks
    assert found == pytest.approx(2 * tokens * (8192 + 2048 * copies) / GIB)


def test_ulysses_is_limited_by_heads() -> None:
    """Tests 32 heads with 8 of keys: up to 32 ranks, beside ZeRO alone."""
    cp = np.array([1, 2, 8, 32, 64, 3])
    ones = np.ones_like(cp)
    found = divides_by_heads(LLAMA3_8B, ones, ones, cp)
    assert found.tolist() == [True, True, True, True, False, False]
    assert not divides_by_heads(LLAMA3_8B, 2 * ones, ones, cp)[1:].any()
    assert not divides_by_heads(LLAMA3_8B, ones, 2 * ones, cp)[1:].any()


def test_all_to_alls_shrink_with_the_degree() -> None:
    """Tests what a rank sends away: (cp - 1) / cp of its 1 / cp of the sequence."""
    work = job(MILLION)
    seconds = []
    for cp in (2, 8):
        group = link(H100, 8, np.array([cp]), 1)
        tokens = np.array([MILLION / cp])
        seconds.append(heads_s(LLAMA3_8B, work, group, tokens, np.array([cp]))[0])
    assert seconds[0] / seconds[1] == pytest.approx((1 / 2 / 2) / (7 / 8 / 8), rel=0.01)


def test_context_parallelism_on_request() -> None:
    """Tests that FSDP divides sequences only at degrees that are named."""
    work, limits = job(65536, batch=8), LatticeLimits(2, 8)
    assert context_parallel_values(work, ASKED, limits) == [1]
    asked = replace(limits, pins={"cp": Range(values=(1, 4))})
    assert context_parallel_values(work, ASKED, asked) == [1, 4]
    found = enumerate_layouts(LLAMA3_8B, work, ASKED, asked)
    assert set(found.cp.tolist()) == {1, 4}
    assert set(found.zero_stage[found.cp > 1].tolist()) == {3}
    small = replace(work, method="qlora", lora_rank=8)
    assert set(enumerate_layouts(LLAMA3_8B, small, ASKED, asked).cp.tolist()) == {1}


@pytest.mark.parametrize("traits", [RING, HEADS], ids=["ring", "heads"])
def test_twice_the_ranks_divide_activations_and_attention(traits: Framework) -> None:
    """Tests that CP 8 has about half of CP 4's activations and of its time."""
    work = job(2**17, batch=1)
    zero = {"zero_stage": traits.zero_stages[-1]}
    rows = layouts(layout(4, "full", cp=4, **zero), layout(8, "full", cp=8, **zero))
    kept = peak_memory(LLAMA3_8B, work, traits, rows).activations
    assert kept[1] < 0.6 * kept[0]
    seconds = step_time(LLAMA3_8B, work, traits, H100, rows).total
    assert 0.45 < seconds[1] / seconds[0] < 0.65


def test_attention_dominates_long_sequences() -> None:
    """Tests that time a token grows with attention's share of the FLOPs by hand."""
    row = layouts(layout(8, "full", cp=8, zero_stage=1))
    short, long = (
        float(step_time(LLAMA3_8B, job(s, batch=1), RING, H100, row).compute[0]) / s
        for s in (2**17, 2**20)
    )
    linear = 2 * 3 * 8.0e9
    attention = 2 * 3.5 * 32 * 4096  # FLOPs a token and key: 2 of each, 2.5 backward
    rate = 0.45 / 0.75  # of the attention kernel over that of matmuls
    growth = (linear + attention * 2**20 / rate) / (linear + attention * 2**17 / rate)
    assert long / short == pytest.approx(growth, rel=0.2)


# --- loss


def test_chunks() -> None:
    """Tests Liger's rule (32 for 128k over 4,096), and a stated number."""
    assert loss_chunks(LLAMA3_8B, framework("hf-trainer")) == 32
    assert loss_chunks(LLAMA3_8B, framework("torchtitan")) == 8
    assert loss_chunks(LLAMA31_405B, framework("hf-trainer")) == 8


@pytest.mark.parametrize("name", ["hf-trainer", "torchtitan", "pytorch-fsdp"])
def test_a_chunked_loss_saves_nearly_all_logits(name: str) -> None:
    """Tests by hand what is left: a chunk's logits, gradients of inputs and head."""
    traits = framework(name)
    row = layouts(layout(8, "full", zero_stage=3))
    whole, chunked = (
        float(peak_memory(LLAMA3_8B, job(65536, loss=loss), traits, row).activations[0])
        for loss in ("whole", "chunked")
    )
    logits = traits.logit_bytes * 65536 * 128256
    left = logits / loss_chunks(LLAMA3_8B, traits) + 4 * 4096 * (65536 + 128256)
    assert left < 0.25 * logits
    assert whole - chunked == pytest.approx(logits - left, rel=0.1)


def test_a_chunked_loss_of_few_tokens_is_no_gain() -> None:
    """Tests that the head's gradients, kept apart, outweigh logits of 128 tokens."""
    row = layouts(layout(8, "full", zero_stage=3))
    whole, chunked = (
        peak_memory(LLAMA3_8B, job(128, loss=loss), framework("torchtitan"), row).total
        for loss in ("whole", "chunked")
    )
    assert chunked[0] >= whole[0]


def test_a_chunked_loss_computes_as_much() -> None:
    """Tests that it saves memory only."""
    row = layouts(layout(8, "full", zero_stage=3))
    args = (framework("torchtitan"), H100, row)
    whole = step_time(LLAMA3_8B, job(8192), *args).total
    assert step_time(LLAMA3_8B, job(8192, loss="chunked"), *args).total == whole

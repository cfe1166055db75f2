"""Checkpoint sizes, who writes them, and what hosts must hold."""

import math

import pytest

from solver.performance.checkpoints import (
    PROCESS_BYTES,
    checkpoint_bytes,
    checkpoint_writer_nodes,
    host_bytes_needed,
)
from solver.performance.transformer import adapter_parameters, parameter_count
from tests.performance.cases import (
    BLOOM,
    LLAMA2_7B,
    LLAMA2_70B,
    MIXTRAL,
    PAGED_8BIT,
    framework,
    job,
    layout,
    layouts,
)


def test_bloom_checkpoint() -> None:
    """Tests BLOOM's 2.3 TB and 329 GB, binary units rounded up as du -h prints them."""
    size = checkpoint_bytes(BLOOM, job(), framework("megatron"))
    assert math.ceil(size / 2**40 * 10) / 10 == 2.3
    assert math.ceil(2 * parameter_count(BLOOM) / 2**30) == pytest.approx(329, abs=1)


def test_fp32_shards_need_twelve_bytes() -> None:
    """Tests that fp32 weights are their own master copy."""
    size = checkpoint_bytes(LLAMA2_7B, job(), framework("pytorch-fsdp"))
    assert size == 12 * parameter_count(LLAMA2_7B)


def test_lora_saves_adapters_alone() -> None:
    """Tests that a LoRA checkpoint holds no frozen weight."""
    size = checkpoint_bytes(
        LLAMA2_7B, job(512, "lora", rank=8), framework("hf-trainer")
    )
    assert size == 12 * adapter_parameters(LLAMA2_7B, 8)


def test_paged_moments_are_saved() -> None:
    """Tests that moments in host memory belong to the checkpoint."""
    size = checkpoint_bytes(
        LLAMA2_7B, job(optimizer=PAGED_8BIT), framework("pytorch-fsdp")
    )
    assert size == (2 + 2) * parameter_count(LLAMA2_7B)


@pytest.mark.parametrize(
    ("row", "nodes"),
    [
        (layout(64), 1),
        (layout(64, zero_stage=3), 8),
        (layout(64, zero_stage=1), 8),
        (layout(64, zero_stage=3, shard_degree=8), 1),
        (layout(64, tp=8), 1),
        (layout(64, tp=8, pp=4), 4),
        (layout(64, tp=2, pp=4), 4),
        (layout(16, tp=1, pp=16), 2),
        (layout(64, ep=8, etp=1), 1),
        (layout(64, ep=16, etp=1), 2),
    ],
)
def test_writer_nodes(row: dict[str, int], nodes: int) -> None:
    """Tests that only nodes with a distinct shard write."""
    assert checkpoint_writer_nodes(layouts(row)).tolist() == [nodes]


def test_host_memory() -> None:
    """Tests that hosts hold processes, a staged share and paged moments."""
    traits = framework("pytorch-fsdp")
    row = layouts(layout(16, zero_stage=3))
    resident = host_bytes_needed(LLAMA2_70B, job(), traits, row)
    size = checkpoint_bytes(LLAMA2_70B, job(), traits)
    assert resident[0] == 8 * PROCESS_BYTES + size / 2
    paged = job(optimizer=PAGED_8BIT)
    moved = host_bytes_needed(LLAMA2_70B, paged, traits, row)
    staged = checkpoint_bytes(LLAMA2_70B, paged, traits) / 2
    count = parameter_count(LLAMA2_70B)
    assert moved[0] == pytest.approx(8 * PROCESS_BYTES + staged + 2 * count / 2)


def test_mixture_checkpoint() -> None:
    """Tests that all experts are in the checkpoint."""
    size = checkpoint_bytes(MIXTRAL, job(), framework("megatron"))
    assert size == 14 * parameter_count(MIXTRAL)

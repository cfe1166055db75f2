"""Synchronisation of parameters against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.performance import data_parallel
from solver.performance.communication import domain_gpus
from solver.performance.inputs import Layouts
from solver.performance.stack import Stack
from solver.performance.transformer import adapter_parameters, parameters
from tests.performance.cases import (
    ADAM,
    DEEPSEEK_V3,
    LLAMA2_7B,
    MIXTRAL,
    PAGED_8BIT,
    framework,
    job,
    layout,
    layouts,
)
from tests.performance.machines import A100

QUICK = replace(A100, inter_latency_s=0.0, intra_latency_s=0.0)
STACK = Stack(collective_s=0.0, reduce_bytes=4.0, dp_exposed=0.25, fsdp_exposed=0.25)
BUS = 8 * 23e9
"""Bus rate of all ranks of a node across nodes, bytes/s."""


def collectives(rows: Layouts, elements: float = 1e9) -> tuple[float, float]:
    values = np.full(len(rows), elements)
    once, each = data_parallel.collectives_s(
        job(2048),
        STACK,
        QUICK,
        rows,
        domain_gpus(QUICK, rows),
        data_parallel.dense_group(rows),
        values,
        values,
        32,
    )
    return float(once[0]), float(each[0])


@pytest.mark.parametrize(
    ("zero", "once_bytes", "each_bytes"),
    [(0, 8, 0), (1, 6, 0), (2, 2, 4), (3, 0, 8)],
)
def test_bytes_a_parameter_by_zero_stage(
    zero: int, once_bytes: float, each_bytes: float
) -> None:
    """Tests the bytes that each ZeRO stage moves a step and a micro-batch.

    fp32 gradients: all-reduce 2 x 4; reduce-scatter 4 + gather 2; ZeRO-3 two gathers
    of 2 and a reduce-scatter of 4 with every micro-batch.
    """
    once, each = collectives(layouts(layout(64, zero_stage=zero)))
    unit = 63 / 64 * 1e9 / BUS
    assert once == pytest.approx(once_bytes * unit)
    assert each == pytest.approx(each_bytes * unit)


def test_hybrid_sharding_reduces_shards_over_replicas() -> None:
    """Tests that 8 nodes that shard inside all-reduce an eighth across them."""
    once, each = collectives(layouts(layout(64, zero_stage=3, shard_degree=8)))
    assert each == pytest.approx(8 * 7 / 8 * 1e9 / 210e9)
    assert once == pytest.approx(2 * 7 / 8 * 4 * 1e9 / 8 / 23e9)


def test_exposed_part() -> None:
    """Tests that a quarter is exposed and the rest hides behind a micro-batch."""
    exposed = data_parallel.exposed_s(
        np.array([1.0, 1.0]),
        np.array([0.0, 0.4]),
        np.array([2.0, 0.5]),
        layouts(layout(1, accumulation=3), layout(1, accumulation=3)),
        STACK,
    )
    late = 0.75 * (1.0 - 0.8 * 0.5)
    assert exposed[0] == pytest.approx(0.25)
    assert exposed[1] == pytest.approx(0.25 + late + 3 * 0.25 * 0.4)


@pytest.mark.parametrize(
    ("accumulation", "hidden"), [(64, 1 + 7 * 0.75), (4, 4.0), (1, 1.0)]
)
def test_model_chunks_hide_more(accumulation: int, hidden: float) -> None:
    """Tests that gradients of finished chunks hide behind the last rounds."""
    rows = layouts(layout(8, pp=8, virtual_stages=4, accumulation=accumulation))
    once, micro_batch_s = np.array([9.0]), np.array([0.5])
    exposed = data_parallel.exposed_s(once, 0.0 * once, micro_batch_s, rows, STACK)
    assert exposed[0] == pytest.approx(0.25 * 9.0 + 0.75 * (9.0 - 0.8 * hidden * 0.5))


def test_experts_have_their_own_group() -> None:
    """Tests that experts are replicated over tp x cp x dp / (etp x ep) ranks."""
    rows = layouts(layout(64, tp=2, ep=8, etp=1, pp=2))
    group = data_parallel.expert_group(rows, framework("megatron"))
    assert (group.size[0], group.stride[0]) == (4, 8)


@pytest.mark.parametrize("shape", [LLAMA2_7B, MIXTRAL, DEEPSEEK_V3])
def test_elements_add_up_to_the_model(shape) -> None:
    """Tests that all layers and both tables hold the model's matrices."""
    held = data_parallel.parameters(shape, job(2048), layouts(layout(1, etp=1)))
    total = shape.layers * (held.dense + held.expert)[0] + 2 * held.embedding[0]
    assert total == pytest.approx(parameters(shape).total, rel=2e-3)


def test_adapters_are_what_lora_synchronises() -> None:
    """Tests that LoRA trains the adapters' parameters alone."""
    work = job(2048, "lora", rank=16)
    held = data_parallel.parameters(LLAMA2_7B, work, layouts(layout(1)))
    wanted = adapter_parameters(LLAMA2_7B, 16)
    assert 32 * held.dense_trained[0] == pytest.approx(wanted, rel=0.4)
    assert held.dense_trained[0] < 0.02 * held.dense[0]


def test_optimizer_moves_its_states_through_memory() -> None:
    """Tests that Adam reads and writes 30 bytes a parameter; what spilled crosses PCIe.

    Paged moments that find room cost what resident ones do.
    """
    args = (framework("megatron"), A100, np.array([1e9]))
    time = data_parallel.optimizer_s(job(2048, optimizer=ADAM), *args)
    assert time[0] == pytest.approx(30e9 / (0.85 * 2.039e12))
    work = job(2048, optimizer=PAGED_8BIT)
    fits = data_parallel.optimizer_s(work, *args)
    assert fits[0] == pytest.approx(10e9 / (0.85 * 2.039e12))
    paged = data_parallel.optimizer_s(work, *args, spilled=2e9)
    assert paged[0] == pytest.approx(fits[0] + 2e9 / 20e9)

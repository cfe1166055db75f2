"""Tests of what optimizers keep of a model, by its shapes and by published values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solver.optimizer_states import (
    factored_bytes,
    layer_matrices,
    newton_schulz_flops,
)
from solver.performance.checkpoints import checkpoint_bytes, host_bytes_needed
from solver.performance.data_parallel import optimizer_s
from solver.performance.inputs import TrainingJob
from solver.performance.memory import peak_memory
from solver.performance.numerics import Optimizer
from solver.performance.step_time import step_time
from solver.performance.transformer import Matrix, parameter_count, parameters
from solver.physics_inputs import jobs_of, optimizer_of
from tests.performance.cases import (
    DEEPSEEK_V3,
    LLAMA2_7B,
    LLAMA2_13B,
    LLAMA2_70B,
    MIXTRAL,
    framework,
    job,
    layout,
    layouts,
)
from tests.performance.machines import A100
from tests.planning.jobs import catalog
from tests.planning.jobs import job as scenario_of

GB = 1e9


def optimizer(name: str, shape: Any = LLAMA2_7B, rank: int = 0) -> Optimizer:
    """An optimizer of the catalog on a model."""
    return optimizer_of(catalog(), name, shape, rank)


def states(work: TrainingJob, name: str, row: dict[str, int], shape: Any) -> float:
    """Bytes of weights, gradients and optimizer on a GPU."""
    memory = peak_memory(shape, work, framework(name), layouts(row))
    return float((memory.weights + memory.gradients + memory.optimizer)[0])


@pytest.mark.parametrize(
    ("stage", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)]
)
def test_zero_paper_figure_1(stage: int, gigabytes: float) -> None:
    """Tests 7.5e9 parameters on 64 ranks, 16 bytes each (arXiv 1910.02054, fig. 1)."""
    count = parameter_count(LLAMA2_7B)
    row = layout(64, zero_stage=stage)
    found = states(job(), "deepspeed", row, LLAMA2_7B) * 7.5e9 / count
    assert found / GB == pytest.approx(gigabytes, rel=0.015)


@pytest.mark.parametrize(
    ("model", "gigabytes"),
    [(LLAMA2_7B, 126), (LLAMA2_13B, 234), (LLAMA2_70B, 1260)],
)
def test_18_bytes_a_parameter(model: Any, gigabytes: float) -> None:
    """Tests the starter table: fp32 gradients beside 16-bit weights are 18 bytes."""
    nominal = round(parameter_count(model) / 1e9) * 1e9
    work = job(gradient_precision="fp32")
    found = states(work, "deepspeed", layout(1), model)
    assert found / parameter_count(model) == pytest.approx(18, rel=1e-3)
    if model is LLAMA2_70B:
        nominal = 70e9
    assert 18 * nominal / GB == pytest.approx(gigabytes)
    assert states(job(), "megatron", layout(1), model) == pytest.approx(found)


@pytest.mark.parametrize(
    ("name", "framework_name", "gradient", "each"),
    [
        ("adamw", "deepspeed", "", 16),
        ("adamw", "deepspeed", "fp32", 18),
        ("adamw", "megatron", "", 18),
        ("adamw", "megatron", "bf16", 16),
        ("adamw", "pytorch-fsdp", "", 16),
        ("adamw-bf16", "pytorch-fsdp", "", 8),
        ("adamw-8bit", "deepspeed", "", 10.03),
        ("paged-adamw", "deepspeed", "", 8),
        ("lion", "pytorch-fsdp", "", 12),
        ("sgd", "pytorch-fsdp", "", 8),
        ("sgd-momentum", "pytorch-fsdp", "", 12),
    ],
)
def test_bytes_of_every_parameter(
    name: str, framework_name: str, gradient: str, each: float
) -> None:
    """Tests weights, gradients and states that stay on the GPU; 12 are Lion's rule.

    llm-foundry: full sharding with Lion needs 12 GB for each billion parameters
    (scripts/train/README.md).
    """
    work = job(optimizer=optimizer(name), gradient_precision=gradient)
    stage = 3 if framework_name == "pytorch-fsdp" else 0
    whole = layout(8, zero_stage=stage, accumulation=2)
    found = states(work, framework_name, whole, LLAMA2_7B)
    ranks = 8 if framework_name == "pytorch-fsdp" else 1
    count = parameter_count(LLAMA2_7B)
    assert found * ranks / count == pytest.approx(each, rel=2e-3)


def test_muon_keeps_one_momentum_of_matrices_and_adam_of_the_rest() -> None:
    """Tests bytes against a count by hand, whole and over stages."""
    muon = job(optimizer=optimizer("muon"))
    memory = peak_memory(LLAMA2_7B, muon, framework("deepspeed"), layouts(layout(1)))
    matrices = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    rest = 2 * 32000 * 4096 + 65 * 4096
    assert memory.optimizer[0] == pytest.approx(
        8 * matrices + 12 * rest, rel=1e-4
    )  # with the master copy's 4
    adam = checkpoint_bytes(LLAMA2_7B, job(), framework("deepspeed"))
    saved = adam - checkpoint_bytes(LLAMA2_7B, muon, framework("deepspeed"))
    assert saved == pytest.approx(4 * matrices, rel=1e-4)


@pytest.mark.parametrize("shape", [LLAMA2_7B, MIXTRAL, DEEPSEEK_V3])
def test_matrices_of_the_layers_are_all_but_ends_and_vectors(shape: Any) -> None:
    """Tests the count of matrices against that of parameters."""
    count = parameters(shape)
    listed = sum(m.size * times for m, times in layer_matrices(shape))
    rest = count.outside_layers + shape.layers * count.norms
    rest += count.moe_layers * count.router
    assert listed + rest == pytest.approx(count.total, rel=1e-5)


def test_adafactor_keeps_rows_and_columns() -> None:
    """Tests 4 (m + n) bytes of m x n, and of a model a thousandth of Adam's 8."""
    matrix = Matrix("m", 1000, 4000)
    assert factored_bytes([(matrix, 3.0)]) == 4 * 5000 / 4e6
    found = optimizer("adafactor")
    assert 0.001 < found.state_bytes < 0.003
    sums = 32 * (4 * 8192 + 3 * (4096 + 11008)) * 4
    matrices = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    assert found.state_bytes == pytest.approx(sums / matrices)
    rest = 2 * 32000 * 4096 + 65 * 4096
    outside = 4 * (2 * (32000 + 4096) + 65 * 4096)
    assert found.other_state_bytes == pytest.approx(outside / rest, rel=1e-3)
    adapters = optimizer("adafactor", rank=16)
    assert adapters.state_bytes == pytest.approx(4 / 16 + 4 / 4096)


def test_newton_schulz_by_hand() -> None:
    """Tests five iterations of 6 m^3 FLOPs on a square matrix, less on a long one."""
    square = newton_schulz_flops([(Matrix("m", 100, 100), 1.0)])
    assert square == 5 * 6 * 100
    long = newton_schulz_flops([(Matrix("m", 100, 400), 1.0)])
    assert long == 5 * (4 * 100 + 2 * 100 * 100 / 400)


def test_muon_pays_for_its_flops() -> None:
    """Tests that a step of Muon takes its matmuls beside its bytes."""
    work = job(2048, optimizer=optimizer("muon"))
    plain = job(2048, optimizer=optimizer("lion"))
    args = (framework("megatron"), A100, np.array([1e9]))
    flops = work.optimizer.matrix_flops * 1e9
    extra = optimizer_s(work, *args) - optimizer_s(plain, *args)
    assert extra[0] == pytest.approx(flops / (312e12 * 0.8))
    tables = optimizer_s(work, *args, tables=np.array([1e9]))
    assert tables[0] == pytest.approx(optimizer_s(job(2048), *args)[0])
    row = layouts(layout(8, zero_stage=1, accumulation=4))
    share = step_time(LLAMA2_7B, work, framework("megatron"), A100, row).optimizer
    adam = step_time(LLAMA2_7B, job(2048), framework("megatron"), A100, row).optimizer
    assert share[0] > adam[0]


def test_a_paged_optimizer_that_fits_costs_nothing_more() -> None:
    """Tests that pages move only as far as the GPU is full, at its link's rate."""
    paged, plain = (optimizer(n) for n in ("paged-adamw", "adamw"))
    row = layouts(layout(8, "full", zero_stage=3))

    def step(which: Optimizer, shape: Any) -> float:
        work = job(2048, optimizer=which)
        time = step_time(shape, work, framework("deepspeed"), A100, row)
        return float(time.optimizer[0])

    assert step(paged, LLAMA2_13B) == step(plain, LLAMA2_13B)
    moments = 8 * parameter_count(LLAMA2_70B) / 8
    late = step(paged, LLAMA2_70B) - step(plain, LLAMA2_70B)
    assert 0 < late <= moments / 20e9
    traits, work = framework("deepspeed"), job(2048, optimizer=paged)
    host = host_bytes_needed(LLAMA2_70B, work, traits, row)
    assert host[0] > moments * 8


def test_gradients_in_16_bits_halve_their_reduction() -> None:
    """Tests that what is kept in bf16 is reduced in bf16."""
    row = layouts(layout(16, zero_stage=1))
    wide, narrow = (
        step_time(
            LLAMA2_7B,
            job(2048, gradient_precision=g),
            framework("megatron"),
            A100,
            row,
        ).data_parallel[0]
        for g in ("fp32", "bf16")
    )
    assert narrow < 0.8 * wide


def test_weights_in_8_bits_are_gathered_in_8_bits() -> None:
    """Tests that they are no smaller, in two orientations, but travel at half size."""
    traits, row = framework("megatron"), layouts(layout(16, zero_stage=1))
    plain, eight = (job(2048, fp8_weights=on) for on in (False, True))
    times = [
        step_time(LLAMA2_7B, work, traits, A100, row).data_parallel[0]
        for work in (plain, eight)
    ]
    assert times[1] < times[0]
    before, after = (peak_memory(LLAMA2_7B, w, traits, row) for w in (plain, eight))
    assert before.total[0] == after.total[0]


def test_a_scenario_brings_shapes_and_numerics() -> None:
    """Tests the job of a workload that states them."""
    work = {
        "optimizer": ["muon", "adafactor"],
        "precision": ["bf16", "fp8"],
        "gradient_precision": "bf16",
        "fp8_weights": True,
    }
    scenario = scenario_of(workload=work)
    jobs = jobs_of(scenario, catalog())
    assert [(j.precision, j.fp8_weights) for j in jobs] == [
        ("bf16", False),
        ("bf16", False),
        ("fp8", True),
        ("fp8", True),
    ]
    assert {j.gradient_precision for j in jobs} == {"bf16"}
    assert jobs[0].optimizer.matrix_flops > 0
    assert jobs[1].optimizer.state_bytes < 0.02

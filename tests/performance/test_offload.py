"""Tests of what leaves the GPU: bytes on hosts and drives, and seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver.performance.checkpoints import PROCESS_BYTES, host_bytes_needed
from solver.performance.inputs import Layouts, Offload, TrainingJob
from solver.performance.lattice_axes import LatticeLimits
from solver.performance.memory import peak_memory
from solver.performance.offload import (
    ADAM_PER_CORE,
    HIDDEN,
    away_bytes,
    away_in_host,
    away_on_drives,
    host_link,
)
from solver.performance.parallelism import enumerate_layouts
from solver.performance.step_time import lower_bound, step_time
from solver.performance.transformer import parameter_count
from tests.performance.cases import (
    ADAM_BF16,
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

OPTIMIZER = Offload(optimizer=True)
PARAMETERS = Offload(parameters=True)
ACTIVATIONS = Offload(activations=True)
NVME = Offload(parameters=True, nvme=True)
DRIVEN = replace(A100, nvme_read_bytes_per_s=50e9, nvme_write_bytes_per_s=25e9)

COUNT = parameter_count(LLAMA2_7B)


def moved(offload: Offload, **more: Any) -> TrainingJob:
    """A job with an offload."""
    return job(2048, offload=offload, **more)


def sharded(stage: int = 3, gpus: int = 8, **values: int) -> Layouts:
    """Eight GPUs of a node under a ZeRO stage."""
    return layouts(layout(gpus, "full", zero_stage=stage, **values))


def test_what_is_offloaded_has_a_name() -> None:
    """Tests the words of a plan."""
    assert str(Offload()) == "none"
    assert str(OPTIMIZER) == "optimizer to host"
    assert str(Offload(parameters=True, activations=True)) == (
        "parameters+activations to host"
    )
    assert str(replace(NVME, activations=True)) == "parameters+activations to nvme"
    assert not Offload()
    assert ACTIVATIONS
    assert not ACTIVATIONS.states
    assert PARAMETERS.states


@pytest.mark.parametrize(
    ("stage", "offload", "weight", "gradient", "optimizer"),
    [
        (1, OPTIMIZER, 2, 2, 0),
        (2, OPTIMIZER, 2, 0, 0),
        (3, OPTIMIZER, 2 / 8, 0, 0),
        (3, PARAMETERS, 0, 0, 0),
        (3, ACTIVATIONS, 2 / 8, 2 / 8, 12 / 8),
    ],
)
def test_bytes_that_stay(
    stage: int, offload: Offload, weight: float, gradient: float, optimizer: float
) -> None:
    """Tests bytes a parameter on the GPU under DeepSpeed (ZeRO-Offload, section 4)."""
    memory = peak_memory(
        LLAMA2_7B, moved(offload), framework("deepspeed"), sharded(stage)
    )
    assert memory.weights[0] == pytest.approx(weight * COUNT, rel=1e-3)
    assert memory.gradients[0] == pytest.approx(gradient * COUNT, rel=1e-3)
    assert memory.optimizer[0] == pytest.approx(optimizer * COUNT, rel=1e-3)


def test_one_gpu_holds_the_layers_that_come_from_the_host() -> None:
    """Tests that a layer is on the GPU while it computes, though nobody else has it."""
    traits, one = framework("deepspeed"), sharded(gpus=1)
    alone = peak_memory(LLAMA2_7B, moved(PARAMETERS), traits, one)
    eight = peak_memory(LLAMA2_7B, moved(PARAMETERS), traits, sharded())
    assert alone.total[0] == pytest.approx(eight.total[0])
    assert alone.other[0] > traits.base_bytes + 2 * 2 * COUNT / 33


def test_host_states_are_deepspeeds_16_and_18_bytes() -> None:
    """Tests host bytes a parameter against DeepSpeed's own memory estimate."""
    traits, row = framework("deepspeed"), sharded()
    states = away_bytes(LLAMA2_7B, moved(OPTIMIZER), traits, row)
    assert states[0] == pytest.approx(16 * COUNT)
    everything = away_bytes(LLAMA2_7B, moved(PARAMETERS), traits, row)
    assert everything[0] == pytest.approx(18 * COUNT)


def test_host_states_of_fsdp_are_16_bytes() -> None:
    """Tests that fp32 shards are weights and master copy at once; pure bf16 has 8."""
    traits, row = framework("pytorch-fsdp"), sharded()
    wide = away_bytes(LLAMA2_7B, moved(PARAMETERS), traits, row)
    assert wide[0] == pytest.approx(16 * COUNT)
    narrow = moved(PARAMETERS, optimizer=ADAM_BF16)
    assert away_bytes(LLAMA2_7B, narrow, traits, row)[0] == pytest.approx(8 * COUNT)


def test_replicas_each_bring_a_copy() -> None:
    """Tests that hybrid sharding keeps the states once a node."""
    traits = framework("pytorch-fsdp")
    whole = sharded(gpus=16)
    hybrid = whole.with_columns(shard_degree=np.array([8]))
    once = away_bytes(LLAMA2_7B, moved(PARAMETERS), traits, whole)
    assert away_bytes(LLAMA2_7B, moved(PARAMETERS), traits, hybrid) == 2 * once


def test_a_checkpoint_in_host_memory_is_not_staged() -> None:
    """Tests host memory: processes, states, and a copy of what lies on GPUs only."""
    traits, row = framework("deepspeed"), sharded(2)
    base = 8 * PROCESS_BYTES
    here = host_bytes_needed(LLAMA2_7B, moved(Offload()), traits, row)
    assert here[0] == pytest.approx(base + 14 * COUNT)
    away = host_bytes_needed(LLAMA2_7B, moved(OPTIMIZER), traits, row)
    assert away[0] == pytest.approx(base + (16 + 2) * COUNT)
    everything = host_bytes_needed(LLAMA2_7B, moved(PARAMETERS), traits, sharded())
    assert everything[0] == pytest.approx(base + 18 * COUNT)


def test_drives_hold_states_and_hosts_a_window() -> None:
    """Tests that states on drives take host memory on their way alone, saved or not."""
    traits, row = framework("deepspeed"), sharded()
    work, count = moved(NVME), parameter_count(LLAMA2_70B)
    assert away_on_drives(LLAMA2_70B, work, traits, row)[0] == pytest.approx(18 * count)
    window = away_in_host(LLAMA2_70B, work, traits, row)
    assert window[0] == pytest.approx(8 * min(2e9 * 16, 18 * count / 8))
    need = host_bytes_needed(LLAMA2_70B, work, traits, row)
    assert need[0] == pytest.approx(8 * PROCESS_BYTES + 8 * 2e9 * 16)
    host = host_bytes_needed(LLAMA2_70B, moved(PARAMETERS), traits, row)
    assert host[0] == pytest.approx(8 * PROCESS_BYTES + 18 * count)
    assert need[0] < host[0] / 4


def test_weights_on_gpus_are_staged_though_the_optimizer_is_on_drives() -> None:
    """Tests that of a checkpoint the drives' files are copied, and weights are not."""
    traits, row = framework("deepspeed"), sharded()
    work, count = moved(replace(OPTIMIZER, nvme=True)), parameter_count(LLAMA2_70B)
    need = host_bytes_needed(LLAMA2_70B, work, traits, row)
    window = 8 * 2e9 * 16
    assert need[0] == pytest.approx(8 * PROCESS_BYTES + window + 2 * count)
    assert away_on_drives(LLAMA2_70B, moved(PARAMETERS), traits, row)[0] == 0


def test_activations_in_host_memory() -> None:
    """Tests 2 s b h bytes a layer and GPU, of every micro-batch in flight."""
    row = layouts(layout(8, "full", micro_batch=4, zero_stage=3))
    held = away_in_host(LLAMA2_7B, moved(ACTIVATIONS), framework("deepspeed"), row)
    assert held[0] == 8 * 32 * 2 * 2048 * 4 * 4096


def seconds(offload: Offload, row: Layouts, hardware: Any = A100, **more: Any) -> Any:
    """Step time of a 7B job on DeepSpeed."""
    traits = framework("deepspeed")
    return step_time(LLAMA2_7B, moved(offload, **more), traits, hardware, row)


def test_the_update_takes_host_memory_or_cores() -> None:
    """Tests the CPU's step: 30 bytes a parameter over memory, or 2e8 a core."""
    row = sharded(2, accumulation=64)
    plain = replace(A100, host_memory_bytes_per_s=1e11, host_bytes_per_s=1e15)
    slow = replace(plain, host_cores=8)
    matrices = COUNT  # norms are left out of the time, which is nothing
    time = seconds(OPTIMIZER, row, plain)
    assert time.offload[0] == pytest.approx(30 * matrices / 1e11, rel=0.02)
    assert time.optimizer[0] == 0
    cores = seconds(OPTIMIZER, row, slow).offload[0]
    assert cores == pytest.approx(matrices / (8 * ADAM_PER_CORE), rel=0.02)


def test_copies_hide_behind_compute() -> None:
    """Tests that parameters cost what a micro-batch does not hide, each time."""
    free = replace(A100, host_memory_bytes_per_s=1e15, host_cores=1e6)
    slow = replace(free, host_bytes_per_s=4e8)
    row = sharded(micro_batch=8)
    hidden = seconds(PARAMETERS, row, free)
    assert hidden.offload[0] < 0.01 * hidden.total[0]
    one = seconds(PARAMETERS, row, slow).offload[0]
    late = 2 * 2 * COUNT / 8 / 4e8
    assert one < late
    micro_batch = hidden.compute[0] + hidden.recompute[0] + hidden.overhead[0]
    assert one == pytest.approx(late - HIDDEN * micro_batch, rel=0.05)
    four = seconds(PARAMETERS, sharded(micro_batch=8, accumulation=4), slow).offload[0]
    assert four == pytest.approx(4 * one, rel=1e-3)


def test_gpus_of_a_node_share_its_memory() -> None:
    """Tests that eight copies at once have the host's memory between them."""
    narrow = replace(A100, host_memory_bytes_per_s=8e9)
    assert host_link(narrow, sharded()) == 1e9
    assert host_link(A100, sharded()) == A100.host_bytes_per_s


def test_drives_are_slower_than_memory() -> None:
    """Tests states read and written each step, and weights read twice."""
    row = sharded(micro_batch=1)
    host = seconds(PARAMETERS, row, DRIVEN).offload[0]
    drives = seconds(NVME, row, DRIVEN).offload[0]
    least = 16 * COUNT / 50e9 + 14 * COUNT / 25e9
    assert drives > least > host
    assert drives == pytest.approx(least + 2 * 2 * COUNT / 50e9, rel=0.2)
    none = seconds(NVME, row).offload[0]
    assert none >= 1e12


def test_activations_cost_little_behind_long_layers() -> None:
    """Tests that compute hides the way of inputs, but over slow links."""
    row = sharded(micro_batch=8)
    assert seconds(ACTIVATIONS, row).offload[0] == 0
    slow = replace(A100, host_bytes_per_s=2e8)
    size = 32 * 2 * 2048 * 8 * 4096
    assert 0 < seconds(ACTIVATIONS, row, slow).offload[0] < size / 2e8


@pytest.mark.parametrize("shape", [LLAMA2_13B, MIXTRAL])
@pytest.mark.parametrize("offload", [OPTIMIZER, PARAMETERS, NVME, ACTIVATIONS])
def test_the_lattice_holds_what_can_be_run(shape: Any, offload: Offload) -> None:
    """Tests stages and recomputation of every layout, and bounds on their time."""
    traits, work = framework("deepspeed"), moved(offload, batch=64)
    found = enumerate_layouts(shape, work, traits, LatticeLimits(2, 8))
    assert len(found)
    if offload.parameters:
        assert set(found.zero_stage) == {3}
    elif offload.optimizer:
        assert set(found.zero_stage) == {1, 2, 3}
    if offload.activations:
        assert set(found.recompute) == {2}
    least = lower_bound(shape, work, traits, DRIVEN, found)
    total = step_time(shape, work, traits, DRIVEN, found).total
    assert (least <= total * (1 + 1e-9)).all()
    stays = step_time(shape, job(2048, batch=64), traits, DRIVEN, found)
    assert (total >= stays.total - stays.optimizer - 1e-9).all()


def test_states_of_one_gpu_leave_unsharded() -> None:
    """Tests torchao's optimizer, which is for one GPU (torchao/optim/README.md)."""
    traits, work = framework("pytorch-fsdp"), moved(OPTIMIZER, batch=8)
    alone = enumerate_layouts(LLAMA2_7B, work, traits, LatticeLimits(1, 1))
    assert set(alone.zero_stage) == {0}
    assert not len(enumerate_layouts(LLAMA2_7B, work, traits, LatticeLimits(2, 8)))

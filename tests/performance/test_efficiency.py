"""A team's own efficiency: it divides a step, and no hardware passes its data sheet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.catalog.load import load_catalog
from solver.hardware import hardware_of, precision_supported
from solver.performance.efficiency import attained
from solver.performance.inputs import StepTime
from solver.performance.step_time import lower_bound, mfu, step_time
from tests.performance.cases import LLAMA2_7B, framework, job, layout, layouts
from tests.performance.machines import A100, H100
from tests.performance.test_step_time import any_model, any_rows

ROW = layout(64, tp=2, micro_batch=1, accumulation=4)
ROOMY = 1.15
"""Headroom of the machine in these tests."""


def timed(efficiency: float, headroom: float = ROOMY) -> StepTime:
    """One layout's step at an efficiency."""
    work = replace(job(4096), efficiency=efficiency)
    machine = replace(H100, speed_headroom=headroom)
    return step_time(LLAMA2_7B, work, framework("megatron"), machine, layouts(ROW))


@pytest.mark.parametrize("efficiency", [0.05, 0.7, 0.99, 1.1])
def test_every_part_is_divided(efficiency: float) -> None:
    """Tests that the step and each of its parts are those of a tuned framework, over
    the efficiency.
    """
    tuned, own = timed(1.0), timed(efficiency)
    assert own.total == pytest.approx(tuned.total / efficiency)
    for name, seconds in own.parts().items():
        assert seconds == pytest.approx(tuned.parts()[name] / efficiency), name


def test_more_efficient_is_faster() -> None:
    """Tests that the step falls with the efficiency, up to the headroom."""
    steps = [float(timed(e).total[0]) for e in (0.3, 0.6, 0.9, 1.0, 1.1, ROOMY)]
    assert steps == sorted(steps, reverse=True)
    assert len(set(steps)) == len(steps)
    assert timed(1.2).total == timed(ROOMY).total


def test_hardware_of_unknown_headroom_is_never_faster() -> None:
    """Tests that where nothing is said of nominal rates the prediction is the limit."""
    assert timed(1.2, A100.speed_headroom).total == timed(1.0).total


@given(any_model, any_rows(), st.sampled_from([0.2, 0.7, 1.0, 1.1, 1.2]))
def test_the_bound_holds_at_any_efficiency(
    model: tuple[Any, ...], rows: list[dict[str, int]], efficiency: float
) -> None:
    """Tests that the lower bound moves with the step."""
    shape, work, name, machine = model
    table = layouts(*rows)
    work = replace(work, efficiency=efficiency)
    machine = replace(machine, speed_headroom=ROOMY)
    one = (shape, work, framework(name), machine, table)
    assert np.all(lower_bound(*one) <= step_time(*one).total * (1 + 1e-12))


@given(any_rows(), st.sampled_from(["full", "lora"]))
def test_no_efficiency_passes_the_peak(rows: list[dict[str, int]], method: str) -> None:
    """Tests that the model FLOPs of every server stay below its peak at 120 %."""
    catalog = load_catalog()
    work = replace(job(4096, method, rank=16), efficiency=1.2)
    table = layouts(*rows)
    for name in ("8x-h100-sxm-80gb", "8x-l40s", "8x-mi300x"):
        hardware = hardware_of(catalog, catalog.servers[name], "bf16")
        step = step_time(LLAMA2_7B, work, framework("megatron"), hardware, table)
        assert np.all(mfu(LLAMA2_7B, work, hardware, table, step.total) < 1.0)


def test_headroom_ends_where_a_data_sheet_does() -> None:
    """Tests on every server that all rates times the headroom stay nominal, and that
    there is some.
    """
    catalog = load_catalog()
    for server in catalog.servers.values():
        gpu = catalog.gpus[server.gpu]
        precision = "bf16" if precision_supported(gpu, "bf16") else "fp16"
        made = hardware_of(catalog, server, precision)
        nic = server.network_gbps / 8 * 1e9 / server.gpus_per_node
        shares = [
            made.gemm_efficiency,
            made.gemm_efficiency_16bit,
            made.attention_efficiency,
            made.hbm_efficiency,
        ]
        if nic > 0:
            shares.append(made.inter_bytes_per_s / nic)
        if server.intra_node_gb_per_s > 0:
            nominal = server.intra_node_gb_per_s * 1e9
            shares.append(made.intra_bytes_per_s / nominal)
        assert max(shares) * made.speed_headroom <= 1 + 1e-9, server.id
        assert 1.0 < made.speed_headroom < 1.3, server.id


def test_the_share_taken_is_the_smaller() -> None:
    """Tests what is planned with: what was asked, or what the hardware allows."""
    work = replace(job(4096), efficiency=1.1)
    assert attained(work, replace(H100, speed_headroom=1.05)) == 1.05
    assert attained(work, replace(H100, speed_headroom=1.15)) == 1.1

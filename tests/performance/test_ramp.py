"""Batch ramps: Megatron's schedule, the time of every step, and what divides them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.performance.inputs import BatchRamp, Layouts, Offload, TrainingJob
from solver.performance.lattice_axes import LatticeLimits
from solver.performance.parallelism import enumerate_layouts
from solver.performance.ramp import divides_ramp, ramp_s, run_steps, rungs
from solver.performance.step_time import step_time
from tests.performance.cases import (
    LLAMA2_7B,
    MIXTRAL,
    framework,
    job,
    layout,
    layouts,
)
from tests.performance.machines import A100, H100, L40S

RAMP = BatchRamp(start=16, step=16, samples=10_000)


def schedule(ramp: BatchRamp, batch: int, sequences: float) -> list[int]:
    """The batch of every step, by the rule of Megatron-LM's calculator, one by one."""
    increments = (batch - ramp.start) // ramp.step
    each = ramp.samples / increments
    found, consumed = [], 0
    while consumed < sequences:
        size = batch
        if consumed <= ramp.samples:
            size = ramp.start + int(consumed / each) * ramp.step
        found.append(size)
        consumed += size
    return found


@given(
    start=st.integers(1, 40),
    step=st.integers(1, 40),
    increments=st.integers(1, 30),
    samples=st.integers(1, 5_000),
    extra=st.integers(0, 5_000),
)
def test_steps_are_those_of_megatron(
    start: int, step: int, increments: int, samples: int, extra: int
) -> None:
    """Tests rungs and steps against the rule applied step by step."""
    ramp, batch = BatchRamp(start, step, samples), start + increments * step
    sequences = samples + extra
    wanted = schedule(ramp, batch, sequences)
    found = [r.batch for r in rungs(ramp, batch, sequences) for _ in range(r.steps)]
    below = [size for size in wanted if size < batch]
    assert found == below
    work = replace(job(), batch_ramp=ramp, tokens=sequences * 4096)
    steps, ramp_steps, whole = run_steps(work, np.array([batch]))
    assert (steps[0], ramp_steps[0]) == (len(wanted), len(below))
    assert sequences / batch - 1e-9 <= whole[0] <= steps[0]


def test_no_ramp_is_as_before() -> None:
    """Tests that steps, work and divisors are those of a constant batch."""
    steps, ramp_steps, work = run_steps(job(), np.array([1024, 100]))
    assert list(steps) == [238_419, 2_441_407]
    assert (list(ramp_steps), list(work)) == ([0, 0], list(steps))
    assert divides_ramp(None, np.array([1, 7, 1024])).all()


def climb_s(work: TrainingJob, rows: Layouts, timed: Any) -> np.ndarray:
    """Seconds of the ramp with every batch timed by itself."""
    assert work.batch_ramp is not None
    seconds = np.zeros(len(rows))
    for place in range(len(rows)):
        one = rows.take(np.array([place]))
        for rung in rungs(work.batch_ramp, int(one.global_batch[0]), work.sequences):
            count = rung.batch // (one.dp * one.micro_batch)
            seconds[place] += rung.steps * timed(replace(one, accumulation=count))[0]
    return seconds


@pytest.mark.parametrize("name", ["megatron", "deepspeed", "pytorch-fsdp", "nanotron"])
@pytest.mark.parametrize("hardware", [A100, H100, L40S])
@pytest.mark.parametrize("shape", [LLAMA2_7B, MIXTRAL])
def test_the_time_of_a_ramp_is_that_of_its_steps(
    name: str, hardware: Any, shape: Any
) -> None:
    """Tests the four timed batches against all of them, for every legal layout."""
    work = job(batch=256, batch_ramp=RAMP)
    model = (shape, work, framework(name), hardware)

    def timed(some: Layouts) -> np.ndarray:
        return step_time(*model, some).total

    found = enumerate_layouts(*model[:3], LatticeLimits(8, 8))
    assert len(found)
    some = np.linspace(0, len(found) - 1, 25).astype(int)
    rows = found.take(some)
    reached = np.isfinite(timed(rows))
    rows = rows.take(np.flatnonzero(reached))
    assert len(rows)
    np.testing.assert_allclose(
        ramp_s(work, rows, timed), climb_s(work, rows, timed), rtol=1e-9
    )


@pytest.mark.parametrize(
    "offload",
    [
        Offload(optimizer=True),
        Offload(parameters=True),
        Offload(parameters=True, activations=True, nvme=True),
    ],
    ids=str,
)
def test_the_time_of_a_ramp_counts_what_is_offloaded(offload: Offload) -> None:
    """Tests that copies to the host, too, are timed for every batch."""
    work = job(batch=256, batch_ramp=RAMP, offload=offload)
    model = (LLAMA2_7B, work, framework("deepspeed"), H100)

    def timed(some: Layouts) -> np.ndarray:
        return step_time(*model, some).total

    found = enumerate_layouts(*model[:3], LatticeLimits(2, 8))
    rows = found.take(np.linspace(0, len(found) - 1, 25).astype(int))
    np.testing.assert_allclose(
        ramp_s(work, rows, timed), climb_s(work, rows, timed), rtol=1e-9
    )


def test_a_short_ramp_has_one_rung() -> None:
    """Tests a ramp of a single increment."""
    work = job(batch=32, batch_ramp=BatchRamp(16, 16, 1_000))
    rows = layouts({**layout(8, dp=8), "accumulation": 4})

    def timed(some: Layouts) -> np.ndarray:
        return step_time(LLAMA2_7B, work, framework("megatron"), H100, some).total

    np.testing.assert_allclose(ramp_s(work, rows, timed), climb_s(work, rows, timed))


def unit_of(found: Layouts) -> np.ndarray:
    """What every batch has to be a multiple of, (n,)."""
    chunks = np.where(found.virtual_stages > 1, found.pp, 1)
    return np.asarray(found.dp * found.micro_batch * chunks)


def test_the_lattice_divides_every_batch_on_the_way() -> None:
    """Tests bigscience's rule: from 16 in steps of 16, DP is at most 16."""
    work, limits = job(batch=256, batch_ramp=RAMP), LatticeLimits(16, 8)
    model = (LLAMA2_7B, work, framework("megatron"))
    found = enumerate_layouts(*model, limits)
    assert (16 % unit_of(found) == 0).all()
    assert found.dp.max() == 16
    assert (found.global_batch == 256).all()
    free = enumerate_layouts(LLAMA2_7B, job(batch=256), model[2], limits)
    assert free.dp.max() == 128
    assert len(found) == (16 % unit_of(free) == 0).sum(), "nothing else is left out"


def test_a_range_of_batches_keeps_those_that_the_ramp_reaches() -> None:
    """Tests that only batches on the grid of the ramp are offered."""
    work = job(batch=(900, 1000, 1100), batch_ramp=BatchRamp(16, 48, 10_000))
    found = enumerate_layouts(
        LLAMA2_7B, work, framework("megatron"), LatticeLimits(4, 8)
    )
    batches = set(found.global_batch.tolist())
    assert batches
    assert all((b - 16) % 48 == 0 and 900 <= b <= 1100 for b in batches)


@settings(max_examples=25)
@given(st.lists(st.integers(1, 2_000), min_size=2, max_size=6, unique=True))
def test_longer_ramps_never_take_less_time(lengths: list[int]) -> None:
    """Tests that more steps at small batches cost time, at the same tokens."""
    rows = layouts({**layout(16, tp=2, pp=4), "accumulation": 128, "dp": 2})

    def whole_s(samples: int) -> float:
        work = job(batch=256, batch_ramp=BatchRamp(16, 16, samples))
        work = replace(work, tokens=100_000 * 4096)
        model = (LLAMA2_7B, work, framework("megatron"), H100)
        steps, small, _ = run_steps(work, rows.global_batch)
        whole = step_time(*model, rows).total * (steps - small)
        climb = ramp_s(work, rows, lambda some: step_time(*model, some).total)
        return float((whole + climb)[0])

    times = [whole_s(samples) for samples in sorted(lengths)]
    step = whole_s(1) / 390
    assert all(later >= earlier - step for earlier, later in pairwise(times))
    assert times[-1] >= times[0] - step

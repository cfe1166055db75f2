"""Tests of what the host adds to a step: launches, blocking, ranks under a pipeline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.performance.data_parallel import BUCKET_ELEMENTS, BUCKET_ELEMENTS_A_RANK
from solver.performance.inputs import Framework, StepTime
from solver.performance.step_time import step_time
from tests.performance.cases import LLAMA2_7B, framework, job, layout, layouts
from tests.performance.machines import A100, H100


def with_constants(name: str, **constants: float) -> Framework:
    """Return a framework class with some constants changed."""
    base = framework(name)
    return replace(base, constants={**base.constants, **constants})


def step(stack: Framework, *rows: dict[str, int]) -> StepTime:
    """Return the parts of the steps of some layouts of Llama-2 7B on H100."""
    return step_time(LLAMA2_7B, job(4096), stack, H100, layouts(*rows))


def test_ranks_wait_for_each_other() -> None:
    """Tests that host time counts once a rank, layer and pass where it is most."""
    plain = with_constants("megatron", host_layer_s=0.0, host_step_s=0.0, straggler=0.0)
    slow = replace(plain, constants={**plain.constants, "host_rank_s": 1.0})
    row = layout(tp=4, dp=2)
    total = float(step(slow, row).total[0])
    others = step(plain, row)
    outside = float(others.data_parallel[0] + others.optimizer[0])
    # forward once, backward twice; the head runs besides
    floor = LLAMA2_7B.layers * 4 * 1.0 * 3
    assert total == pytest.approx(floor + outside, rel=0.01)


def test_a_pipeline_has_its_own_host_time() -> None:
    """Tests that host time under a pipeline touches only layouts with one."""
    base = with_constants("nanotron", host_pipeline_rank_s=0.0, host_rank_s=0.0)
    slow = replace(base, constants={**base.constants, "host_pipeline_rank_s": 0.01})
    rows = (layout(tp=2, dp=4), layout(tp=2, pp=2, dp=2, accumulation=8))
    before, after = step(base, *rows).total, step(slow, *rows).total
    assert after[0] == before[0]
    assert after[1] > before[1]
    alone = step(slow, rows[1]).total
    assert alone[0] == pytest.approx(after[1])


def test_blocking_launches_are_added() -> None:
    """Tests that a host that waits for each kernel adds its time to the GPU's."""
    host_s = 1e-4
    calm = {"host_step_s": 0.0, "straggler": 0.0}
    free = with_constants("megatron", host_layer_s=0.0, **calm)
    blocked = with_constants(
        "megatron", host_layer_s=host_s, launch_blocking=1.0, **calm
    )
    row = layout(dp=1, accumulation=3)
    added = step(blocked, row).total - step(free, row).total
    assert added[0] == pytest.approx(3 * LLAMA2_7B.layers * 3 * host_s)


def test_large_groups_take_larger_buckets() -> None:
    """Tests that latency grows with the group no faster than bandwidth allows."""
    assert BUCKET_ELEMENTS_A_RANK * 100 == BUCKET_ELEMENTS
    stack = with_constants("megatron", dp_exposed=1.0)
    rows = [layout(dp=dp, zero_stage=1, shard_degree=dp) for dp in (128, 1024)]
    slow = replace(A100, inter_latency_s=1e-3, inter_bytes_per_s=1e15)
    parts = step_time(LLAMA2_7B, job(4096), stack, slow, layouts(*rows))
    few, many = parts.data_parallel
    # eight times the hops, in an eighth of the buckets
    assert many / few == pytest.approx(1.0, rel=0.35)
    assert np.all(np.isfinite(parts.total))

"""A whole step: its parts, its bounds, and published runs of known time."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.performance.inputs import (
    Hardware,
    Layouts,
    StepTime,
    TrainingJob,
    TransformerShape,
)
from solver.performance.stack import at_year
from solver.performance.step_time import lower_bound, mfu, step_time, unique_cells
from solver.performance.transformer import iteration_flops, model_flops_per_token
from tests.performance.cases import (
    DEEPSEEK_V3,
    FRAMEWORK_NAMES,
    GPT3,
    LLAMA2_7B,
    LLAMA3_8B,
    LLAMA3_70B,
    MIXTRAL,
    framework,
    job,
    layout,
    layouts,
)
from tests.performance.machines import A100, H100, L40S, ONE_NODE

SHAPES = (LLAMA2_7B, LLAMA3_70B, GPT3, MIXTRAL, DEEPSEEK_V3)
MACHINES = (A100, H100, L40S, replace(H100, nvlink_domain_gpus=72))


def seconds(
    shape: TransformerShape,
    work: TrainingJob,
    row: dict[str, int],
    hardware: Hardware = H100,
    name: str = "megatron",
) -> float:
    return float(
        step_time(shape, work, framework(name), hardware, layouts(row)).total[0]
    )


@st.composite
def any_rows(draw: Any) -> list[dict[str, int]]:
    """Rows whose degrees are any powers of two; legal or not."""
    power = st.sampled_from((1, 2, 4, 8))
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        tp, pp, cp = draw(power), draw(power), draw(st.sampled_from((1, 2)))
        dp = draw(st.sampled_from((8, 16, 64, 512)))
        zero = draw(st.integers(0, 3))
        rows.append(
            layout(
                tp * pp * cp * dp,
                draw(st.sampled_from(("none", "selective", "full"))),
                tp=tp,
                pp=pp,
                cp=cp,
                ep=draw(power),
                etp=1,
                zero_stage=zero,
                shard_degree=draw(st.sampled_from((8, dp * cp))) if zero else 1,
                micro_batch=draw(st.sampled_from((1, 2, 4))),
                accumulation=draw(st.sampled_from((1, 3, 16))),
                sequence_parallel=int(tp > 1 and draw(st.booleans())),
            )
        )
    return rows


any_model = st.tuples(
    st.sampled_from(SHAPES),
    st.builds(
        job,
        st.sampled_from((512, 4096, 32768)),
        st.sampled_from(("full", "lora", "qlora")),
        rank=st.just(16),
        attention_span=st.sampled_from((0.0, 1000.0)),
    ),
    st.sampled_from(FRAMEWORK_NAMES),
    st.sampled_from(MACHINES),
)


def parts_of(model: tuple[Any, ...], rows: Layouts) -> StepTime:
    shape, work, name, machine = model
    return step_time(shape, work, framework(name), machine, rows)


@given(any_model, any_rows())
def test_guard_rails(model: tuple[Any, ...], rows: list[dict[str, int]]) -> None:
    """Tests that no step is faster than its FLOPs at peak, and every part is sound."""
    shape, work, _, machine = model
    table = layouts(*rows)
    time = parts_of(model, table)
    for name, part in time.parts().items():
        assert np.all(np.isfinite(part)), name
        assert np.all(part >= -1e-12), name
    tokens = table.global_batch * work.sequence_length
    flops = model_flops_per_token(shape, work) * tokens
    if work.method != "full":  # adapters are timed by memory, not by FLOPs
        flops = flops * 0.9
    assert np.all(time.total > flops / (table.gpus * machine.peak_precision))
    assert np.all(mfu(shape, work, machine, table, time.total) < 1.2)


@given(any_model, any_rows())
def test_lower_bound_holds(model: tuple[Any, ...], rows: list[dict[str, int]]) -> None:
    """Tests that the bound never passes the step time."""
    shape, work, name, machine = model
    table = layouts(*rows)
    bound = lower_bound(shape, work, framework(name), machine, table)
    assert np.all(bound > 0)
    assert np.all(bound <= parts_of(model, table).total * (1 + 1e-12))


@given(any_model, any_rows())
def test_rows_do_not_depend_on_their_neighbours(
    model: tuple[Any, ...], rows: list[dict[str, int]]
) -> None:
    """Tests that a table gives what its rows give alone, in any order."""
    together = parts_of(model, layouts(*rows)).total
    reversed_ = parts_of(model, layouts(*rows[::-1])).total
    alone = [parts_of(model, layouts(row)).total[0] for row in rows]
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    np.testing.assert_allclose(reversed_[::-1], alone, rtol=1e-12)


@given(any_model, any_rows(), st.floats(1.0, 10.0))
def test_more_bandwidth_is_never_slower(
    model: tuple[Any, ...], rows: list[dict[str, int]], factor: float
) -> None:
    """Tests that faster links, memory and matmuls never slow a step."""
    shape, work, name, machine = model
    before = parts_of(model, layouts(*rows)).total
    for field in ("inter_bytes_per_s", "intra_bytes_per_s", "hbm_bytes_per_s"):
        faster = replace(machine, **{field: getattr(machine, field) * factor})
        after = parts_of((shape, work, name, faster), layouts(*rows)).total
        assert np.all(after <= before * (1 + 1e-9)), field


def test_compute_hides_one_collective_at_a_time() -> None:
    """Tests a step that faster memory made slower: its compute hid two collectives."""
    row = layout(8, zero_stage=2, shard_degree=8, micro_batch=1, accumulation=1)
    works = MIXTRAL, job(512), row
    slow = seconds(*works, A100, "hf-trainer")
    machine = replace(A100, hbm_bytes_per_s=2 * A100.hbm_bytes_per_s)
    assert seconds(*works, machine, "hf-trainer") < slow


def test_hardware_may_be_an_array() -> None:
    """Tests that one call over several kinds of hardware equals a call for each."""
    rows = [layout(64, tp=4, accumulation=4), layout(64, tp=8), layout(64, tp=8)]
    values = {
        f.name: np.array([getattr(m, f.name) for m in (A100, H100, L40S)])
        for f in fields(Hardware)
    }
    mixed = step_time(
        LLAMA3_8B, job(4096), framework("megatron"), Hardware(**values), layouts(*rows)
    ).total
    alone = [
        seconds(LLAMA3_8B, job(4096), row, machine)
        for row, machine in zip(rows, (A100, H100, L40S), strict=True)
    ]
    np.testing.assert_allclose(mixed, alone, rtol=1e-12)


def test_cells_are_the_distinct_combinations() -> None:
    """Tests that rows that differ in other columns share a cell."""
    rows = layouts(
        layout(8, tp=2), layout(64, tp=2, accumulation=8), layout(8, tp=2, pp=2)
    )
    first, inverse = unique_cells(A100, rows)
    assert len(first) == 1
    assert inverse.tolist() == [0, 0, 0]


def test_nodes_without_a_network_never_finish() -> None:
    """Tests that two nodes without a network take forever, one node does not."""
    two, one = layout(16), layout(8)
    assert np.isinf(seconds(LLAMA2_7B, job(4096), two, ONE_NODE))
    assert np.isfinite(seconds(LLAMA2_7B, job(4096), one, ONE_NODE))


def test_empty_table() -> None:
    """Tests that no rows give no times."""
    rows = layouts(layout(8)).take(np.zeros(0, dtype=np.int64))
    assert (
        len(step_time(MIXTRAL, job(4096), framework("megatron"), H100, rows).total) == 0
    )


def test_recompute_adds_one_forward() -> None:
    """Tests that full recomputation costs about a third, selective far less."""
    base = {"tp": 8, "sequence_parallel": 1, "accumulation": 8}
    none, some, full = (
        seconds(LLAMA3_70B, job(4096), layout(8, r, **base))
        for r in ("none", "selective", "full")
    )
    assert 1.2 < full / none < 1.4
    assert 1.0 < some / none < 1.1


def test_gathers_of_zero_3_come_with_every_micro_batch() -> None:
    """Tests that accumulation does not help ZeRO-3 over slow links, but ZeRO-1."""
    slow = replace(A100, inter_bytes_per_s=1e9)
    work = job(2048)

    def exposed(zero: int, accumulation: int) -> float:
        row = layout(16, zero_stage=zero, accumulation=accumulation)
        time = step_time(LLAMA2_7B, work, framework("pytorch-fsdp"), slow, layouts(row))
        return float(time.data_parallel[0])

    assert exposed(3, 8) == pytest.approx(8 * exposed(3, 1), rel=0.01)
    assert exposed(1, 8) == pytest.approx(exposed(1, 1), rel=0.2)


def test_hybrid_sharding_spares_the_network() -> None:
    """Tests that gathers inside the node beat gathers over slow links."""
    slow = replace(H100, inter_bytes_per_s=3e9)
    rows = layouts(layout(64, zero_stage=3), layout(64, zero_stage=3, shard_degree=8))
    time = step_time(LLAMA2_7B, job(4096), framework("pytorch-fsdp"), slow, rows)
    assert time.data_parallel[1] < time.data_parallel[0]


def test_small_layers_wait_for_the_host() -> None:
    """Tests that a tiny model is paced by the launch of kernels."""
    tiny = TransformerShape(24, 512, 2048, 8, 8, 64, 32000)
    time = step_time(
        tiny, job(512), framework("nanotron"), H100, layouts(layout(8, accumulation=4))
    )
    assert time.overhead[0] > 0.5 * time.total[0]


def test_moe_pays_for_all_to_all() -> None:
    """Tests that experts spread over nodes cost more than inside one."""
    rows = layouts(
        layout(64, ep=1, etp=1), layout(64, ep=8, etp=1), layout(64, ep=64, etp=1)
    )
    time = step_time(
        DEEPSEEK_V3, job(4096), framework("megatron"), H100, rows
    ).expert_parallel
    assert time[0] == 0
    assert 0 < time[1] < time[2]


def test_mfu_counts_causal_attention_half_and_no_recompute() -> None:
    """Tests the convention of the model FLOPs by hand."""
    work = job(2048, batch=8)
    row = layouts(layout(8))
    per_token = (
        6 * (32 * (4 * 4096**2 + 3 * 4096 * 11008) + 32000 * 4096)
        + 6 * 32 * 4096 * 2048
    )
    wanted = per_token * 8 * 2048 / (8 * 989e12 * 2.0)
    assert mfu(LLAMA2_7B, work, H100, row, np.array([2.0]))[0] == pytest.approx(wanted)


def test_gpt3_on_1024_a100_takes_34_days() -> None:
    """Tests GPT-3 on 300e9 tokens at the layout and software of its publication.

    34 days at 140 TFLOP/s, full recomputation, 1,024 A100, TP 8 x PP 8, batch 1,536
    (Narayanan et al. 2021, arXiv 2104.04473, section 5 and table 1).
    """
    megatron = framework("megatron")
    old = replace(megatron, constants=at_year(megatron.constants, 2021))
    row = layouts(layout(1024, "full", tp=8, pp=8, micro_batch=1, accumulation=96))
    step = step_time(GPT3, job(2048, batch=1536), old, A100, row).total[0]
    days = step * 300e9 / (1536 * 2048) / 86400
    assert days == pytest.approx(34, rel=0.15)
    flops = iteration_flops(GPT3, job(2048), 1536, "full", "full")
    assert flops / step / 1024 == pytest.approx(140e12, rel=0.15)


def test_small_model_without_infiniband_is_many_times_slower() -> None:
    """Tests that 1B parameters over two nodes without InfiniBand crawl.

    MPT-1B on 16 GPUs took about 8 times as long a step over 2 nodes as on one
    (mosaicml/llm-foundry#336).
    """
    mpt = TransformerShape(24, 2048, 8192, 16, 16, 128, 50432, gated=False)
    ethernet = replace(A100, inter_bytes_per_s=10e9 / 8 / 8 * 0.8)
    work = job(2048)
    one = seconds(
        mpt, work, layout(8, zero_stage=3, micro_batch=8), ethernet, "pytorch-fsdp"
    )
    two = seconds(
        mpt, work, layout(16, zero_stage=3, micro_batch=8), ethernet, "pytorch-fsdp"
    )
    assert two / one > 5


def test_order_of_layouts_on_v100() -> None:
    """Tests 1.3B on 2 nodes of 4 V100: DP 8 29 s, PP 2 29-30, PP 4 32, TP 2 53 s.

    BigScience's tune-up (experiments/tr3m-1B3.md); batch 512, sequence 2,048.
    """
    v100 = replace(
        A100,
        gpus_per_node=4,
        nvlink_domain_gpus=4,
        hbm_bytes_per_s=0.9e12,
        peak_16bit=125e12,
        peak_precision=125e12,
        sm_count=80,
        gemm_efficiency=0.69,
        gemm_efficiency_16bit=0.69,
        fused_attention=False,
        intra_bytes_per_s=97e9,
        intra_mesh=True,
        inter_bytes_per_s=6e9,
    )
    shape = replace(GPT3, layers=24, hidden=2048, ffn=8192, heads=16, kv_heads=16)
    megatron = framework("megatron")
    old = replace(megatron, constants=at_year(megatron.constants, 2021))

    def step(tp: int, pp: int) -> float:
        dp = 8 // tp // pp
        row = layout(
            8,
            "full",
            4,
            tp=tp,
            pp=pp,
            micro_batch=4,
            accumulation=512 // dp // 4,
        )
        return float(step_time(shape, job(2048), old, v100, layouts(row)).total[0])

    dp8, pp2, pp4, tp2 = step(1, 1), step(1, 2), step(1, 4), step(2, 1)
    assert dp8 == pytest.approx(29, rel=0.25)
    assert pp2 == pytest.approx(dp8, rel=0.1)
    assert pp2 < pp4 < tp2

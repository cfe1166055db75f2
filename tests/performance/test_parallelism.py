"""The lattice of layouts: what it holds, what it leaves out, and what it repairs."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.performance.divisibility import explain_divisibility
from solver.performance.inputs import (
    RECOMPUTE,
    Framework,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.lattice_axes import LatticeLimits
from solver.performance.memory import peak_memory
from solver.performance.parallelism import (
    describe_lattice,
    enumerate_layouts,
    expand_groups,
    layout_groups,
)
from solver.performance.stages import (
    clean_split_mask,
    is_clean_split,
    layers_per_stage,
    layers_per_stage_by_cost,
    stage_layers,
)
from solver.ranges import Range
from tests.performance.cases import (
    BLOOM,
    FRAMEWORK_NAMES,
    LLAMA2_7B,
    LLAMA3_70B,
    LLAMA31_405B,
    MIXTRAL,
    framework,
    job,
    llama,
)

SMALL = llama(12, 512, 2048, 8, 4, 1000)
SMALL_MIXTURE = replace(SMALL, n_experts=8, experts_topk=2, moe_ffn=1024)


def pinned(**values: int | tuple[int, ...]) -> dict[str, Range]:
    """Pins of single values or lists."""
    return {
        axis: Range(values=(value,) if isinstance(value, int) else value)
        for axis, value in values.items()
    }


def rows_of(layouts: Layouts) -> set[tuple[int, ...]]:
    columns = [getattr(layouts, f.name).astype(np.int64) for f in fields(Layouts)]
    return set(map(tuple, np.stack(columns, axis=1).tolist()))


@st.composite
def questions(
    draw: st.DrawFn,
) -> tuple[TransformerShape, TrainingJob, Framework, LatticeLimits]:
    """A small shape, job, framework and limits."""
    shape = draw(st.sampled_from([SMALL, SMALL_MIXTURE, replace(SMALL, layers=10)]))
    low = draw(st.integers(1, 40))
    high = low + draw(st.integers(0, 12))
    target = draw(st.integers(low, high))
    work = job(
        draw(st.sampled_from([512, 2048, 8192])),
        draw(st.sampled_from(["full", "lora", "qlora"])),
        (low, target, high),
        rank=8,
    )
    gpus_per_node = draw(st.sampled_from([1, 2, 4, 8]))
    limits = LatticeLimits(
        max_nodes=draw(st.integers(1, 6)),
        gpus_per_node=gpus_per_node,
        nvlink_domain_gpus=draw(st.sampled_from([0, gpus_per_node, 8])),
    )
    name = draw(st.sampled_from(FRAMEWORK_NAMES))
    return shape, work, framework(name), limits


def check_row(
    row: dict[str, int],
    shape: TransformerShape,
    work: TrainingJob,
    traits: Framework,
    limits: LatticeLimits,
) -> None:
    """Check one layout by plain arithmetic."""
    tp, pp, cp, dp = (row[axis] for axis in ("tp", "pp", "cp", "dp"))
    gpus = tp * pp * cp * dp
    assert gpus == row["nodes"] * limits.gpus_per_node
    assert limits.min_nodes <= row["nodes"] <= limits.max_nodes
    batch = dp * row["micro_batch"] * row["accumulation"]
    assert work.batch_min <= batch <= work.batch_max
    assert shape.heads % tp == 0
    assert shape.kv_heads % tp == 0 or tp % shape.kv_heads == 0
    assert tp == 1 or limits.domain % tp == 0
    v = row["virtual_stages"]
    assert is_clean_split(shape.layers, pp, v)
    split = layers_per_stage(shape.layers, pp, v)
    assert sum(split) == shape.layers
    assert min(split) >= 1
    if v > 1:
        assert traits.virtual_stages
        assert row["accumulation"] % pp == 0
    assert cp == 1 or work.sequence_length % (2 * cp) == 0
    check_experts(row, shape, traits, limits)
    check_framework(row, work, traits)


def check_experts(
    row: dict[str, int],
    shape: TransformerShape,
    traits: Framework,
    limits: LatticeLimits,
) -> None:
    """Check that experts are conserved: etp x ep x expert-dp = tp x cp x dp."""
    tp, cp, dp, ep, etp = (row[a] for a in ("tp", "cp", "dp", "ep", "etp"))
    if not shape.is_moe:
        assert (ep, etp) == (1, tp)
        return
    assert shape.n_experts % ep == 0
    assert etp in (1, tp)
    assert tp * cp * dp % (etp * ep) == 0
    if not traits.expert_parallel_spans_tp:
        assert etp == tp
        assert dp % ep == 0
    if ep > 1:
        assert traits.expert_parallel
        span = etp * ep if traits.expert_parallel_spans_tp else tp * cp * ep
        inside = limits.domain % span == 0
        assert inside or (etp == 1 and span % limits.domain == 0)


def check_framework(row: dict[str, int], work: TrainingJob, traits: Framework) -> None:
    """Check that the framework can run the layout."""
    assert row["tp"] == 1 or traits.tensor_parallel
    assert row["pp"] == 1 or traits.pipeline_parallel
    assert row["cp"] == 1 or traits.context_parallel
    assert row["cp"] == 1 or not traits.context_on_request
    if row["cp"] > 1 and traits.context_by_heads:
        assert (row["tp"], row["pp"], row["ep"]) == (1, 1, 1)
    zero = row["zero_stage"]
    assert zero in (traits.zero_stages_with_pp if row["pp"] > 1 else traits.zero_stages)
    group = row["dp"] * row["cp"]
    if zero == 0:
        assert row["shard_degree"] == 1
    else:
        assert group % row["shard_degree"] == 0
        assert row["shard_degree"] == group or (zero == 3 and traits.hybrid_sharding)
    if work.method != "full" and {0, 3} & set(traits.zero_stages):
        assert zero in (0, 3) or row["pp"] > 1
    assert RECOMPUTE[row["recompute"]] in traits.recompute
    assert row["sequence_parallel"] == (row["tp"] > 1 and traits.sequence_parallel)
    if traits.pipeline_fill:
        assert row["accumulation"] >= row["pp"] - 1


@given(questions())
def test_every_layout_is_legal(question: tuple[Any, ...]) -> None:
    """Tests GPUs, batch, layers, experts and framework of every layout."""
    layouts = enumerate_layouts(*question)
    assert len(rows_of(layouts)) == len(layouts)
    for index in range(0, len(layouts), max(1, len(layouts) // 200)):
        check_row(layouts.row(index), *question)


@given(questions(), st.data())
def test_more_freedom_never_removes_layouts(
    question: tuple[Any, ...], data: st.DataObject
) -> None:
    """Tests that wider pins, batches and stock keep every layout there was."""
    shape, work, traits, limits = question
    axis = data.draw(
        st.sampled_from(["tp", "pp", "cp", "dp", "micro_batch", "zero_stage"])
    )
    values = data.draw(st.lists(st.integers(0, 8), min_size=1, max_size=3))
    narrow = replace(limits, pins=pinned(**{axis: tuple(values)}))
    wider_values = (*values, data.draw(st.integers(0, 8)))
    wider = replace(limits, pins=pinned(**{axis: wider_values}))
    before = rows_of(enumerate_layouts(shape, work, traits, narrow))
    after = rows_of(enumerate_layouts(shape, work, traits, wider))
    assert before <= after
    free = rows_of(enumerate_layouts(shape, work, traits, limits))
    if axis not in ("micro_batch", "cp"):
        assert after <= free
    more = replace(limits, max_nodes=limits.max_nodes + 2)
    assert free <= rows_of(enumerate_layouts(shape, work, traits, more))
    looser = replace(
        work, batch_min=max(1, work.batch_min - 3), batch_max=work.batch_max + 5
    )
    assert free <= rows_of(enumerate_layouts(shape, looser, traits, limits))


@given(questions())
def test_brute_force(question: tuple[Any, ...]) -> None:
    """Tests that a fixed batch gives the very layouts that nested loops find."""
    shape, work, traits, limits = question
    work = replace(
        work, batch_min=work.batch_target, batch_max=work.batch_target, method="full"
    )
    layouts = enumerate_layouts(shape, work, traits, limits)
    keys = ("tp", "pp", "cp", "dp", "micro_batch", "virtual_stages")
    got = set(zip(*(getattr(layouts, k).tolist() for k in keys), strict=True))
    assert got == set(brute_force(shape, work, traits, limits))


def by_heads(shape: TransformerShape, tp: int, pp: int, cp: int) -> bool:
    """Whether Ulysses of this degree divides the heads, beside ZeRO alone."""
    kv_heads = shape.kv_heads
    shared = kv_heads % cp == 0 or cp % kv_heads == 0
    return tp == 1 and pp == 1 and shape.heads % cp == 0 and (shape.is_mla or shared)


def brute_force(
    shape: TransformerShape,
    work: TrainingJob,
    traits: Framework,
    limits: LatticeLimits,
) -> list[tuple[int, ...]]:
    """Dense axes of all layouts, by loops."""
    found = []
    s, batch = work.sequence_length, work.batch_target
    most = limits.max_nodes * limits.gpus_per_node
    for tp in range(1, limits.domain + 1) if traits.tensor_parallel else (1,):
        if shape.heads % tp or limits.domain % tp:
            continue
        if shape.kv_heads % tp and tp % shape.kv_heads:
            continue
        for pp in range(1, shape.layers + 1) if traits.pipeline_parallel else (1,):
            if not is_clean_split(shape.layers, pp):
                continue
            if pp > 1 and not traits.zero_stages_with_pp:
                continue
            rings = traits.context_parallel and not traits.context_on_request
            for cp in (1, 2, 4, 8) if rings else (1,):
                if cp > 1 and s / cp < 1024:
                    continue
                if (
                    cp > 1
                    and traits.context_by_heads
                    and not by_heads(shape, tp, pp, cp)
                ):
                    continue
                for dp in range(1, most + 1):
                    gpus = tp * pp * cp * dp
                    if gpus > most or gpus % limits.gpus_per_node or batch % dp:
                        continue
                    for mb in (1, 2, 4, 8, 16, 32):
                        if batch % (dp * mb):
                            continue
                        m = batch // (dp * mb)
                        if traits.pipeline_fill and m < pp - 1:
                            continue
                        stages = [1]
                        if pp > 1 and traits.virtual_stages and m % pp == 0:
                            stages += [
                                v
                                for v in range(2, shape.layers + 1)
                                if is_clean_split(shape.layers, pp, v)
                            ]
                        found += [(tp, pp, cp, dp, mb, v) for v in stages]
    return found


def test_405b_is_enumerated_fast() -> None:
    """Tests that some 100,000 layouts on up to 2,048 nodes take no time to speak of."""
    limits = LatticeLimits(2048, 8)
    start = time.perf_counter()
    layouts = enumerate_layouts(LLAMA31_405B, job(8192, batch=2048), META, limits)
    assert time.perf_counter() - start < 1.0
    assert len(layouts) > 100_000
    assert (layouts.gpus == 8 * layouts.nodes).all()
    assert (layouts.global_batch == 2048).all()


META = framework("megatron")


def test_nodes_are_not_only_powers_of_two() -> None:
    """Tests that a batch of 960 runs on 3, 5, 6 and 15 nodes as well."""
    layouts = enumerate_layouts(
        LLAMA2_7B, job(batch=960), framework("pytorch-fsdp"), LatticeLimits(16, 8)
    )
    assert {3, 5, 6, 15} <= set(layouts.nodes.tolist())
    assert 7 not in layouts.nodes


def test_groups_are_the_leanest() -> None:
    """Tests that expanding keeps the group's ranks and only adds to its choices."""
    limits = LatticeLimits(8, 8)
    work = job(batch=64)
    groups = layout_groups(MIXTRAL, work, META, limits)
    layouts = expand_groups(MIXTRAL, work, META, limits, groups.take(slice(3, 4)))
    assert len(layouts) > 0
    for axis in ("nodes", "tp", "pp", "cp", "ep", "etp", "dp", "zero_stage"):
        assert set(getattr(layouts, axis).tolist()) == {int(getattr(groups, axis)[3])}
    assert groups.micro_batch.max() == 1
    assert (groups.recompute == RECOMPUTE.index("full")).all()


@given(questions())
def test_groups_bound_memory(question: tuple[Any, ...]) -> None:
    """Tests that no layout needs less memory than its group's own row."""
    shape, work, traits, limits = question
    groups = layout_groups(shape, work, traits, limits)
    bound = peak_memory(shape, work, traits, groups).total
    for index in range(0, len(groups), max(1, len(groups) // 12)):
        group = groups.take(slice(index, index + 1))
        layouts = expand_groups(shape, work, traits, limits, group)
        total = peak_memory(shape, work, traits, layouts).total
        assert (total >= bound[index] * (1 - 1e-9)).all()


def test_hybrid_sharding() -> None:
    """Tests that FSDP on several nodes may shard inside the node and replicate."""
    layouts = enumerate_layouts(
        LLAMA2_7B, job(batch=64), framework("pytorch-fsdp"), LatticeLimits(4, 8)
    )
    degrees = {
        (int(n), int(d))
        for n, d, z in zip(
            layouts.nodes, layouts.shard_degree, layouts.zero_stage, strict=True
        )
        if z == 3
    }
    assert {(1, 8), (2, 8), (2, 16), (4, 8), (4, 32)} <= degrees


def test_domain_of_72_lets_experts_cross_nodes() -> None:
    """Tests that nodes of 4 GPUs in one NVLink domain of 72 take EP and TP of 8."""
    limits = LatticeLimits(18, 4, nvlink_domain_gpus=72)
    layouts = enumerate_layouts(MIXTRAL, job(batch=64), META, limits)
    assert layouts.ep.max() == 8
    assert layouts.tp.max() == 8
    narrow = enumerate_layouts(MIXTRAL, job(batch=64), META, LatticeLimits(18, 4))
    assert narrow.tp.max() == 4
    assert (narrow.etp * narrow.ep)[narrow.etp > 1].max() == 4


def test_experts_fill_whole_domains() -> None:
    """Tests that EP leaves a domain only to fill whole ones, its experts undivided."""
    layouts = enumerate_layouts(MIXTRAL, job(batch=64), META, LatticeLimits(8, 4))
    across = layouts.take(layouts.ep * layouts.etp > 4)
    assert set(across.ep.tolist()) == {8}
    assert set(across.etp.tolist()) == {1}
    odd = enumerate_layouts(MIXTRAL, job(batch=96), META, LatticeLimits(8, 6))
    assert odd.ep.max() == 2  # neither 4 nor 8 ranks fill domains of 6


def test_describe_lattice() -> None:
    """Tests that the axes are told with their values."""
    told = describe_lattice(
        LLAMA3_70B, job(8192), META, LatticeLimits(64, 8, pins=pinned(tp=8))
    )
    assert told["tp"] == [8]
    assert told["pp"][:5] == [1, 2, 4, 5, 8]
    assert told["nodes"] == [1, 64]
    assert told["recompute"] == ["none", "selective", "full"]


@pytest.mark.parametrize(
    ("layers", "pp", "split"),
    [
        (30, 4, [7, 8, 8, 7]),
        (70, 12, [5, *[6] * 10, 5]),
        (80, 4, [20] * 4),
        (126, 16, [7, *[8] * 14, 7]),
        (61, 4, [15, 15, 16, 15]),
    ],
)
def test_layers_per_stage(layers: int, pp: int, split: list[int]) -> None:
    """Tests even stages, lighter ends, and the fallback of measured runs."""
    assert layers_per_stage(layers, pp) == split


@given(st.integers(1, 130), st.integers(1, 40))
def test_layers_are_conserved(layers: int, pp: int) -> None:
    """Tests that no division of layers loses or invents one."""
    assert sum(layers_per_stage(layers, pp)) == layers
    shape = replace(SMALL, layers=layers)
    assert sum(layers_per_stage_by_cost(shape, pp)) == layers


def test_stages_by_cost() -> None:
    """Tests that a wide head leaves 11 of 16 layers on the first of two stages."""
    shape = TransformerShape(16, 2048, 8192, 32, 32, 64, 131072)
    assert layers_per_stage_by_cost(shape, 2) == [11, 5]


def test_stage_arrays_equal_lists() -> None:
    """Tests the arrays of first, second, largest and last stage, row by row."""
    pp = np.array([1, 2, 3, 4, 12, 16, 4])
    v = np.array([1, 1, 1, 1, 1, 1, 2])
    got = stage_layers(70, pp, v)
    for i, (stages, virtual) in enumerate(zip(pp.tolist(), v.tolist(), strict=True)):
        split = layers_per_stage(70, stages, virtual)
        assert got.first[i] == split[0]
        assert got.second[i] == split[min(1, stages - 1)]
        assert got.largest[i] == max(split)
        assert got.last[i] == split[-1]
    clean = clean_split_mask(70, pp, v)
    assert clean.tolist() == [
        is_clean_split(70, p, w) for p, w in zip(pp.tolist(), v.tolist(), strict=True)
    ]


def faults(
    shape: TransformerShape,
    name: str = "megatron",
    batch: int | tuple[int, int, int] = 1024,
    sequence: int = 4096,
    gpus_per_node: int = 8,
    method: str = "full",
    **pins: int,
) -> list[Any]:
    limits = LatticeLimits(
        64,
        gpus_per_node,
        gpus=Range(values=(pins.pop("gpus"),)) if "gpus" in pins else None,
        pins=pinned(**pins),
    )
    return explain_divisibility(
        shape, job(sequence, method, batch, rank=8), framework(name), limits
    )


def test_recomputation_that_a_framework_has_not_is_named() -> None:
    """Tests that PyTorch FSDP, which recomputes a layer or nothing, is told so."""
    limits = LatticeLimits(64, 8, recompute=("selective",))
    model = (LLAMA2_7B, job(4096, "full", 1024), framework("pytorch-fsdp"))
    (fault,) = explain_divisibility(*model, limits)
    assert (fault.axis, fault.wanted) == ("recompute", "selective")
    some = replace(limits, recompute=("selective", "full"))
    assert explain_divisibility(*model, some) == []


def test_gpus_beyond_all_nodes_are_told_the_most() -> None:
    """Tests that a huge number of GPUs is answered without counting up to it."""
    limits = LatticeLimits(10**9, 8, gpus=Range(values=(7 + 8 * 10**12,)))
    model = (LLAMA2_7B, job(4096, "full", 1024), framework("megatron"))
    assert explain_divisibility(*model, limits)[-1].nearest == (8 * 10**9,)


HEADS_52 = llama(60, 6656, 17920 - 17920 % 52, 52, 52, 32000)
HEADS_12 = llama(12, 768, 3072, 12, 12, 50304)


@pytest.mark.parametrize(
    ("shape", "arguments", "code", "nearest"),
    [
        (replace(LLAMA2_7B, layers=31), {"pp": 4}, "layers-not-divisible", (3, 11)),
        (
            LLAMA3_70B,
            {"pp": 16, "virtual_stages": 2},
            "virtual-stages-not-divisible",
            (1, 5),
        ),
        (HEADS_52, {"tp": 8}, "heads-not-divisible", (4,)),
        (HEADS_12, {"tp": 8}, "heads-not-divisible", (4,)),
        (LLAMA2_7B, {"tp": 16}, "tensor-parallel-straddles", (8,)),
        (LLAMA2_7B, {"cp": 3, "sequence": 4096}, "sequence-not-divisible", (2, 4)),
        (MIXTRAL, {"ep": 6}, "experts-not-divisible", (4, 8)),
        (
            MIXTRAL,
            {"name": "deepspeed", "ep": 8, "dp": 4},
            "expert-parallel-outside-data-parallel",
            (4,),
        ),
        (LLAMA2_7B, {"batch": 16, "dp": 32}, "batch-not-divisible", (16,)),
        (LLAMA2_7B, {"batch": 1024, "dp": 24}, "batch-not-divisible", (16, 32)),
        (LLAMA2_7B, {"name": "pytorch-fsdp", "tp": 2}, "axis-not-in-framework", (1,)),
        (
            LLAMA2_7B,
            {"name": "deepspeed", "pp": 4, "zero_stage": 3},
            "zero-stage-not-in-framework",
            (1,),
        ),
        (LLAMA2_7B, {"gpus": 12}, "gpus-not-whole-nodes", (8, 16)),
        (LLAMA2_7B, {"gpus": 64, "tp": 8, "pp": 3}, "gpus-not-divisible", (48, 72)),
    ],
)
def test_refused_with_the_nearest(
    shape: TransformerShape,
    arguments: dict[str, Any],
    code: str,
    nearest: tuple[int, ...],
) -> None:
    """Tests that what does not divide is refused, with the nearest that does."""
    (fault,) = [f for f in faults(shape, **arguments) if f.code == code]
    assert not fault.repaired
    assert fault.nearest == nearest
    assert str(fault.wanted) in fault.why


def test_allowed_tp_of_52_heads() -> None:
    """Tests that all TP degrees of 52 heads are named: 1, 2, 4, 13, 26, 52."""
    (fault,) = faults(HEADS_52, tp=8)
    assert "TP 1, 2, 4, 13, 26, 52 only" in fault.why


def test_uneven_stages_are_told() -> None:
    """Tests that 30 layers on 4 stages run as 7 + 8 + 8 + 7, openly."""
    (fault,) = faults(replace(LLAMA2_7B, layers=30), pp=4)
    assert fault.repaired
    assert fault.split == (7, 8, 8, 7)
    (fault,) = faults(BLOOM, pp=12)
    assert fault.split == (5, *[6] * 10, 5)
    assert faults(LLAMA3_70B, pp=16) == []


def test_copied_heads_and_padded_vocabulary_are_told() -> None:
    """Tests the two repairs of tensor parallelism."""
    shape = replace(LLAMA2_7B, kv_heads=4)
    codes = {f.code: f.why for f in faults(shape, tp=8)}
    assert "4 KV heads are copied to 8" in codes["kv-heads-copied"]
    assert "32000 is padded to 32768" in codes["vocabulary-padded"]


def test_one_legal_value_of_a_list_is_enough() -> None:
    """Tests that a list with a legal value is no fault."""
    limits = LatticeLimits(64, 8, pins=pinned(pp=(3, 4)))
    assert explain_divisibility(LLAMA2_7B, job(), META, limits) == []


def test_refused_pins_leave_an_empty_lattice() -> None:
    """Tests that a refused pin and the lattice agree."""
    limits = LatticeLimits(8, 8, pins=pinned(tp=3))
    assert len(enumerate_layouts(LLAMA2_7B, job(), META, limits)) == 0
    assert explain_divisibility(LLAMA2_7B, job(), META, limits) != []


def test_batch_ranges_add_batches() -> None:
    """Tests that a tolerance lets DP degrees in that the target alone does not."""
    limits = LatticeLimits(16, 8)
    fsdp = framework("pytorch-fsdp")
    fixed = enumerate_layouts(LLAMA2_7B, job(batch=1024), fsdp, limits)
    loose = enumerate_layouts(LLAMA2_7B, job(batch=(973, 1024, 1075)), fsdp, limits)
    assert set(fixed.dp.tolist()) < set(loose.dp.tolist())
    assert loose.global_batch.min() >= 973
    assert loose.global_batch.max() <= 1075

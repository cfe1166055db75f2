"""The lattice of layouts: every way to lay one job over whole nodes that is legal.

Built in two steps, both without a Python loop a layout. A *group* fixes how many
ranks there are and what they share (nodes, TP, PP, CP, EP, expert TP, DP, ZeRO and
its shard group); expanding a group adds micro-batch, accumulation, virtual stages
and recomputation. Its own row is the leanest of its layouts, so that one bound on
memory can drop a group before it is expanded.

Rank order, from the inside out: TP, CP, DP, PP; experts: expert TP, EP, expert DP,
PP (Megatron Core).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from solver.performance.adapters import quantised_bytes
from solver.performance.context import divides_by_heads
from solver.performance.divisibility import (
    DivisibilityFault,
    explain_divisibility,
)
from solver.performance.inputs import (
    RECOMPUTE,
    BoolArray,
    Framework,
    IntArray,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.lattice_axes import (
    MAX_MICRO_BATCH,
    MIN_TOKENS_PER_CONTEXT_RANK,
    LatticeLimits,
    context_parallel_values,
    expert_parallel_values,
    micro_batch_values,
    offload_zero_stages,
    pipeline_values,
    recompute_values,
    tensor_parallel_values,
    virtual_stage_values,
    zero_stage_values,
)
from solver.performance.ramp import divides_ramp
from solver.performance.stages import clean_split_mask
from solver.performance.transformer import expert_width

__all__ = [
    "DivisibilityFault",
    "LatticeLimits",
    "describe_lattice",
    "enumerate_layouts",
    "expand_groups",
    "explain_divisibility",
    "layout_groups",
]

BATCH_ANCHORS_PER_TARGET = 8
"""Batches of a range are sought next to every eighth of the wanted batch."""

_Columns = dict[str, Any]


def enumerate_layouts(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Layouts:
    """Every legal layout within the limits.

    gpus = nodes x gpus_per_node = tp x pp x cp x dp, and the batch is
    dp x micro_batch x accumulation, within the job's range.
    """
    groups = layout_groups(shape, job, framework, limits)
    return expand_groups(shape, job, framework, limits, groups)


def layout_groups(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Layouts:
    """One row for each way to divide the ranks, as its leanest layout.

    The leanest layout has the smallest micro-batch, no virtual stages and the
    strongest recomputation allowed; no layout of the group needs less memory.
    """
    rows = _rank_grid(shape, job, framework, limits)
    rows = _with_experts(shape, framework, limits, rows)
    rows = _with_sharding(job, framework, limits, rows)
    n = len(rows["tp"])
    micro_batches = micro_batch_values(limits) or [1]
    recompute = [RECOMPUTE.index(r) for r in recompute_values(job, framework, limits)]
    ones = np.ones(n, dtype=np.int64)
    return Layouts(
        **rows,
        nodes=rows["tp"] * rows["pp"] * rows["cp"] * rows["dp"] // limits.gpus_per_node,
        gpus_per_node=ones * limits.gpus_per_node,
        virtual_stages=ones,
        micro_batch=ones * micro_batches[0],
        accumulation=ones,
        sequence_parallel=(rows["tp"] > 1) & framework.sequence_parallel,
        recompute=ones * max(recompute, default=0),
    )


def _rank_grid(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> _Columns:
    """All (tp, pp, cp, dp) that fill whole nodes within the limits."""
    dp = data_parallel_values(job, limits)
    grid = np.meshgrid(
        np.array(tensor_parallel_values(shape, framework, limits), dtype=np.int64),
        np.array(pipeline_values(shape, framework, limits), dtype=np.int64),
        np.array(context_parallel_values(job, framework, limits), dtype=np.int64),
        dp,
        indexing="ij",
    )
    tp, pp, cp, dp = (axis.ravel() for axis in grid)
    gpus = tp * pp * cp * dp
    ok = gpus % limits.gpus_per_node == 0
    ok &= gpus >= limits.min_nodes * limits.gpus_per_node
    ok &= gpus <= limits.max_nodes * limits.gpus_per_node
    if framework.context_by_heads:
        ok &= divides_by_heads(shape, tp, pp, cp)
    ok &= _pinned(limits, "gpus", gpus)
    ok &= _pinned(limits, "nodes", gpus // limits.gpus_per_node)
    return {"tp": tp[ok], "pp": pp[ok], "cp": cp[ok], "dp": dp[ok]}


def data_parallel_values(job: TrainingJob, limits: LatticeLimits) -> IntArray:
    """DP degrees that some batch of the job's range can be divided over."""
    most = min(job.batch_max, limits.max_nodes * limits.gpus_per_node)
    dp = np.arange(1, most + 1, dtype=np.int64)
    dp = dp[job.batch_max // dp >= -(-job.batch_min // dp)]
    ok = divides_ramp(job.batch_ramp, dp) & _pinned(limits, "dp", dp)
    return dp[ok]


def _pinned(limits: LatticeLimits, axis: str, values: IntArray) -> BoolArray:
    """Whether the user's pin lets each value through, (n,)."""
    pin = limits.pin(axis)
    ok = np.ones(len(values), dtype=bool)
    if pin is None:
        return ok
    if pin.values is not None:
        ok &= np.isin(values, np.array(pin.values, dtype=np.int64))
    if pin.min is not None:
        ok &= values >= pin.min
    if pin.max is not None:
        ok &= values <= pin.max
    return ok


def expert_group_mask(
    framework: Framework,
    limits: LatticeLimits,
    ep: int,
    rows: _Columns,
    etp: IntArray,
) -> BoolArray:
    """Whether expert groups of ``ep`` x ``etp`` can be formed of the ranks, (n,).

    Where experts have their own rank order they divide TP x CP x DP and an EP group
    spans ETP x EP neighbours; elsewhere EP divides DP and the group spans
    TP x CP x EP. An EP group lies inside an NVLink domain or fills whole ones.
    """
    if framework.expert_parallel_spans_tp:
        ok = rows["tp"] * rows["cp"] * rows["dp"] % (etp * ep) == 0
        span = etp * ep
    else:
        ok = (rows["dp"] % ep == 0) & (etp == rows["tp"])
        span = rows["tp"] * rows["cp"] * ep
    if ep == 1:
        return np.asarray(ok)
    if framework.context_by_heads:
        ok &= rows["cp"] == 1
    inside = (span <= limits.domain) & (limits.domain % np.maximum(span, 1) == 0)
    across = (span % limits.domain == 0) & (etp == 1)
    return np.asarray(ok & (inside | across))


def _with_experts(
    shape: TransformerShape,
    framework: Framework,
    limits: LatticeLimits,
    rows: _Columns,
) -> _Columns:
    """The rank grid with every (ep, etp) of a mixture; (1, tp) of a dense model."""
    parts = []
    for ep in expert_parallel_values(shape, framework, limits):
        for whole in (False, True):
            etp = rows["tp"] if whole else np.ones_like(rows["tp"])
            ok = expert_group_mask(framework, limits, ep, rows, etp)
            if whole:
                ok &= not shape.is_moe or expert_width(shape) % etp == 0
            else:  # TP 1 has only one expert TP
                ok &= (rows["tp"] > 1) & shape.is_moe
            part = {name: column[ok] for name, column in rows.items()}
            parts.append({**part, "etp": etp[ok], "ep": np.full(int(ok.sum()), ep)})
    return _stack(parts, ("tp", "pp", "cp", "dp", "etp", "ep"))


def _with_sharding(
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
    rows: _Columns,
) -> _Columns:
    """The rows with every ZeRO stage and shard group that the framework offers."""
    names = (*rows, "zero_stage", "shard_degree")
    parts = []
    for pipelined in (False, True):
        mask = (rows["pp"] > 1) == pipelined
        base = {name: column[mask] for name, column in rows.items()}
        group = base["dp"] * base["cp"]
        for stage in zero_stage_values(job, framework, limits, pipelined):
            degree = group if stage else np.ones_like(group)
            zero = np.full(len(group), stage, dtype=np.int64)
            parts.append({**base, "zero_stage": zero, "shard_degree": degree})
            if stage == 0 and offload_zero_stages(job, framework) is not None:
                parts[-1] = {k: column[group == 1] for k, column in parts[-1].items()}
            if stage == 3 and framework.hybrid_sharding and not pipelined:
                inner = limits.gpus_per_node // base["tp"]
                ok = _hybrid_mask(base, inner, group)
                part = {name: column[ok] for name, column in base.items()}
                parts.append(
                    {**part, "zero_stage": zero[ok], "shard_degree": inner[ok]}
                )
    stacked = _stack(parts, names)
    if not framework.context_on_request:
        return stacked
    able = (stacked["cp"] == 1) | shards_sequences(job, stacked["zero_stage"])
    return {name: column[able] for name, column in stacked.items()}


def shards_sequences(job: TrainingJob, zero_stage: IntArray) -> BoolArray:
    """Where FSDP divides sequences on request: all sharded, of no quantised base."""
    return np.asarray((zero_stage == 3) & (quantised_bytes(job) is None))


def _hybrid_mask(rows: _Columns, inner: IntArray, group: IntArray) -> BoolArray:
    """Where sharding inside the node and replicating across nodes is possible."""
    safe = np.maximum(inner, 1)
    return np.asarray(
        (inner > 1) & (group > inner) & (group % safe == 0) & (safe % rows["cp"] == 0)
    )


def _stack(parts: list[_Columns], names: tuple[str, ...]) -> _Columns:
    """Columns of all parts, one after the other."""
    if not parts:
        return {name: np.zeros(0, dtype=np.int64) for name in names}
    return {name: np.concatenate([p[name] for p in parts]) for name in names}


def batch_anchors(job: TrainingJob) -> list[int]:
    """Batches next to which multiples of dp x micro_batch are sought.

    The wanted batch and every eighth of it within the range. Anchors depend on the
    target only, so that a wider range adds layouts and never removes one.
    """
    step = job.batch_target / BATCH_ANCHORS_PER_TARGET
    low = max(1, int(job.batch_min // step))
    high = max(low, int(-(-job.batch_max // step)))
    eighths = range(low, min(high, 16 * BATCH_ANCHORS_PER_TARGET) + 1)
    wanted = {job.batch_target}
    if job.batch_min < job.batch_max:
        wanted |= {round(k * step) for k in eighths}
    return sorted(wanted)


def accumulations(
    job: TrainingJob, unit: IntArray, multiple: IntArray
) -> list[IntArray]:
    """Choices of accumulation for each ``unit`` = dp x micro_batch; 0 is none, (n,).

    Batches are multiples of unit x ``multiple`` (PP under virtual stages) and of what
    the job asks: the next below and the next above each anchor, within the job's range.
    """
    step = np.lcm(unit * multiple, job.batch_multiple)
    choices: list[IntArray] = []
    for anchor in batch_anchors(job):
        for batch in _batches_near(job, anchor, step):
            ok = (batch > 0) & (batch >= job.batch_min) & (batch <= job.batch_max)
            choice = np.where(ok, batch // unit, 0)
            for earlier in choices:
                choice = np.where(choice == earlier, 0, choice)
            if choice.any():
                choices.append(choice)
    return choices


def _batches_near(job: TrainingJob, anchor: int, unit: IntArray) -> list[IntArray]:
    """Batches next below and above ``anchor`` that ``unit`` divides, or 0, (n,) each.

    At the end of a ramp they are those that its steps reach, where ``unit`` divides
    all of its batches.
    """
    ramp = job.batch_ramp
    if ramp is None:
        below = anchor // unit * unit
        return [below, below + np.where(anchor % unit, unit, 0)]
    grown = (anchor - ramp.start) // ramp.step
    ends = (ramp.start + n * ramp.step for n in (grown, grown + 1) if n > 0)
    divides = divides_ramp(ramp, unit)
    return [np.where(divides, end, 0) for end in ends]


def expand_groups(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
    groups: Layouts,
) -> Layouts:
    """All layouts of the groups: micro-batch, accumulation, virtual stages, recompute.

    Virtual stages need PP > 1 and an accumulation that PP divides.
    """
    found: list[tuple[IntArray, int, IntArray, int]] = []
    for virtual in virtual_stage_values(shape, framework, limits):
        split = clean_split_mask(shape.layers, groups.pp, groups.pp * 0 + virtual)
        if virtual > 1:
            split &= groups.pp > 1
        rows = np.flatnonzero(split)
        multiple = groups.pp[rows] if virtual > 1 else np.ones_like(rows)
        for micro_batch in micro_batch_values(limits):
            unit = groups.dp[rows] * micro_batch
            for choice in accumulations(job, unit, multiple):
                ok = choice > 0
                if framework.pipeline_fill:
                    ok &= least_accumulation(job, unit, choice) >= groups.pp[rows] - 1
                found.append((rows[ok], micro_batch, choice[ok], virtual))
    index, columns = _gather(found)
    recompute = [RECOMPUTE.index(r) for r in recompute_values(job, framework, limits)]
    codes = np.array(recompute, dtype=np.int64)
    repeated = np.repeat(index, len(codes))
    base = {
        f.name: getattr(groups, f.name)[repeated]
        for f in fields(Layouts)
        if f.name not in columns and f.name != "recompute"
    }
    return Layouts(
        **base,
        **{name: np.repeat(column, len(codes)) for name, column in columns.items()},
        recompute=np.tile(codes, len(index)),
    )


def least_accumulation(
    job: TrainingJob, unit: IntArray, accumulation: IntArray
) -> IntArray:
    """Fewest micro-batches of a step: those of the whole batch, or a ramp's first."""
    ramp = job.batch_ramp
    return accumulation if ramp is None else ramp.start // unit


def _gather(
    found: list[tuple[IntArray, int, IntArray, int]],
) -> tuple[IntArray, _Columns]:
    """Group index and the expanded columns of all choices found."""
    if not found:
        empty = np.zeros(0, dtype=np.int64)
        names = ("micro_batch", "accumulation", "virtual_stages")
        return empty, dict.fromkeys(names, empty)
    sizes = [len(rows) for rows, *_ in found]
    return np.concatenate([rows for rows, *_ in found]), {
        "micro_batch": np.repeat(np.array([m for _, m, _, _ in found]), sizes),
        "accumulation": np.concatenate([a for _, _, a, _ in found]),
        "virtual_stages": np.repeat(np.array([v for *_, v in found]), sizes),
    }


def describe_lattice(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> dict[str, Any]:
    """The axes of the lattice with their values and limits, for the proof line."""
    pipelined = framework.pipeline_parallel
    stages = {
        z
        for with_pp in ({False, True} if pipelined else {False})
        for z in zero_stage_values(job, framework, limits, with_pp)
    }
    return {
        "nodes": [limits.min_nodes, limits.max_nodes],
        "gpus_per_node": limits.gpus_per_node,
        "tp": tensor_parallel_values(shape, framework, limits),
        "pp": pipeline_values(shape, framework, limits),
        "cp": context_parallel_values(job, framework, limits),
        "ep": expert_parallel_values(shape, framework, limits),
        "expert_tp": "1 or tp" if shape.is_moe else "tp",
        "dp": "every degree that divides a batch of the range",
        "batch": [job.batch_min, job.batch_target, job.batch_max],
        "batch_choice": (
            "multiples of dp x micro-batch next to the target"
            if job.batch_min == job.batch_max
            else "multiples of dp x micro-batch next to each eighth of the target"
        ),
        "micro_batch": micro_batch_values(limits),
        "virtual_stages": virtual_stage_values(shape, framework, limits),
        "zero_stage": sorted(stages),
        "shard_group": (
            "dp x cp, or the node" if framework.hybrid_sharding else "dp x cp"
        ),
        "recompute": recompute_values(job, framework, limits),
        "max_micro_batch": MAX_MICRO_BATCH,
        "min_tokens_per_context_rank": MIN_TOKENS_PER_CONTEXT_RANK,
        "whole_nodes_only": True,
        "tp_inside_domain_of": limits.domain,
        "ep_group": "inside an NVLink domain, or whole domains",
    }

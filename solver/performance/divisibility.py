"""Why a pinned layout does not divide, what was repaired, and the nearest that does.

Each axis is judged by itself first, then with the other pins. A refusal names the
nearest legal values; a repair (uneven end stages, copied KV heads, a padded
vocabulary) says what is done instead. Nothing is rounded silently.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from solver.performance.adapters import base_of, quantised_bytes
from solver.performance.inputs import Framework, TrainingJob, TransformerShape
from solver.performance.lattice_axes import (
    LatticeLimits,
    divides_heads,
    divisors,
    fits_domain,
    tensor_parallel_by_shape,
    zero_stage_values,
)
from solver.performance.ramp import divides_ramp
from solver.performance.stages import (
    divides_evenly,
    is_clean_split,
    layers_per_stage,
)
from solver.performance.transformer import padded_vocab

AXIS_FLAGS = {
    "tp": "tensor_parallel",
    "pp": "pipeline_parallel",
    "cp": "context_parallel",
    "ep": "expert_parallel",
    "virtual_stages": "virtual_stages",
}
"""What a framework must be able to do for an axis to exceed 1."""


@dataclass(frozen=True, slots=True)
class DivisibilityFault:
    """One pin that does not divide, or does after an open repair."""

    code: str
    """Kebab-case name of the rule: ``heads-not-divisible``."""
    axis: str
    wanted: int | str
    why: str
    nearest: tuple[int, ...] = ()
    """Legal values of the axis next below and above, where there are any."""
    repaired: bool = False
    """The layout is used all the same, in the way that ``why`` says."""
    split: tuple[int, ...] = ()
    """Layers of each stage after a repair."""


def neighbours(wanted: int, legal: Iterable[int]) -> tuple[int, ...]:
    """Legal values next below and next above the wanted one."""
    values = sorted(set(legal))
    below = [v for v in values if v < wanted][-1:]
    return (*below, *[v for v in values if v > wanted][:1])


def explain_divisibility(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> list[DivisibilityFault]:
    """Faults and repairs of the values that the user pinned, in the order of axes.

    Only values named one by one are judged; a range simply keeps what is legal in it.
    Of a list with a legal value nothing is refused: the others are left out.
    """
    found: list[DivisibilityFault] = []
    for judge in (
        _framework,
        _recompute,
        _tp,
        _pp,
        _virtual_stages,
        _cp,
        _ep,
        _zero_stage,
        _batch,
    ):
        found.extend(judge(shape, job, framework, limits))
    found.extend(_whole_nodes(limits))
    return found


def _refused(
    axis: str, limits: LatticeLimits, faults: dict[int, DivisibilityFault]
) -> Iterator[DivisibilityFault]:
    """Yield the faults of an axis when none of its listed values is legal."""
    listed = limits.listed(axis)
    if listed and all(value in faults for value in listed):
        yield from (faults[value] for value in listed)


def _framework(
    _shape: TransformerShape,
    _job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """Axes that the framework does not have."""
    for axis, flag in AXIS_FLAGS.items():
        if getattr(framework, flag):
            continue
        yield from _refused(
            axis,
            limits,
            {
                value: DivisibilityFault(
                    "axis-not-in-framework",
                    axis,
                    value,
                    f"{framework.name} has no {flag.replace('_', ' ')} axis: "
                    f"{value} is not possible",
                    (1,),
                )
                for value in limits.listed(axis)
                if value > 1
            },
        )


def _recompute(
    _shape: TransformerShape,
    _job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """Recomputation that the framework does not have."""
    if limits.recompute is None or set(limits.recompute) & set(framework.recompute):
        return
    known = " or ".join(framework.recompute)
    for name in limits.recompute:
        yield DivisibilityFault(
            "recompute-not-in-framework",
            "recompute",
            name,
            f"{framework.name} recomputes {known}, not {name}",
        )


def _tp(
    shape: TransformerShape,
    _job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """Heads, NVLink domain, KV heads and vocabulary under TP."""
    if not framework.tensor_parallel:
        return
    by_shape = tensor_parallel_by_shape(shape)
    usable = [t for t in by_shape if fits_domain(t, limits)]
    faults = {}
    for tp in limits.listed("tp"):
        if not divides_heads(shape, tp):
            allowed = ", ".join(map(str, by_shape))
            why = (
                f"TP {tp} does not divide {shape.heads} heads, {shape.kv_heads} KV "
                f"heads and an MLP of {shape.ffn}: TP {allowed} only"
            )
            faults[tp] = DivisibilityFault(
                "heads-not-divisible", "tp", tp, why, neighbours(tp, usable)
            )
        elif not fits_domain(tp, limits):
            why = (
                f"TP groups of {tp} do not stay inside an NVLink domain "
                f"of {limits.domain} GPUs"
            )
            faults[tp] = DivisibilityFault(
                "tensor-parallel-straddles", "tp", tp, why, neighbours(tp, usable)
            )
    yield from _refused("tp", limits, faults)
    for tp in limits.listed("tp"):
        if tp not in faults:
            yield from _tp_repairs(shape, tp)


def _tp_repairs(shape: TransformerShape, tp: int) -> Iterator[DivisibilityFault]:
    """What a legal TP asks of KV heads and vocabulary."""
    if not shape.is_mla and tp > shape.kv_heads:
        why = f"{shape.kv_heads} KV heads are copied to {tp} tensor-parallel ranks"
        yield DivisibilityFault("kv-heads-copied", "tp", tp, why, repaired=True)
    padded = padded_vocab(shape, tp)
    if padded != shape.vocab:
        why = f"the vocabulary of {shape.vocab} is padded to {padded}"
        yield DivisibilityFault("vocabulary-padded", "tp", tp, why, repaired=True)


def _pp(
    shape: TransformerShape,
    _job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """Layers over pipeline stages."""
    if not framework.pipeline_parallel:
        return
    layers = shape.layers
    legal = [p for p in range(1, layers + 1) if is_clean_split(layers, p)]
    faults = {
        pp: DivisibilityFault(
            "layers-not-divisible",
            "pp",
            pp,
            f"{layers} layers do not divide over {pp} stages, "
            "nor with embedding and head counted as a layer each",
            neighbours(pp, legal),
        )
        for pp in limits.listed("pp")
        if pp not in legal
    }
    yield from _refused("pp", limits, faults)
    for pp in limits.listed("pp"):
        if pp in legal and not divides_evenly(layers, pp):
            split = tuple(layers_per_stage(layers, pp))
            why = (
                f"{layers} layers on {pp} stages run as "
                f"{' + '.join(map(str, split))}: embedding and head count as a layer"
            )
            yield DivisibilityFault(
                "layers-uneven", "pp", pp, why, repaired=True, split=split
            )


def _virtual_stages(
    shape: TransformerShape,
    _job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """Virtual stages on the pinned pipeline."""
    if not framework.virtual_stages:
        return
    layers = shape.layers
    stages = [p for p in limits.listed("pp") if is_clean_split(layers, p)]
    for pp in stages if len(stages) == 1 else []:
        either = {*divisors(layers), *divisors(layers + 2)}
        legal = [v for v in either if is_clean_split(layers, pp, v)]
        legal = [v for v in legal if v == 1 or pp > 1] or [1]
        pipelines = [p for p in range(2, layers + 1) if is_clean_split(layers, p)]
        faults = {}
        for v in limits.listed("virtual_stages"):
            if v in legal:
                continue
            other = neighbours(
                pp, [p for p in pipelines if is_clean_split(layers, p, v)]
            )
            why = f"{layers} layers do not divide over {pp} stages x {v} virtual stages"
            if other:
                why += f" (with {v}: PP {' or '.join(map(str, other))})"
            faults[v] = DivisibilityFault(
                "virtual-stages-not-divisible",
                "virtual_stages",
                v,
                why,
                neighbours(v, legal),
            )
        yield from _refused("virtual_stages", limits, faults)


def _cp(
    _shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """The sequence over context-parallel ranks."""
    if not framework.context_parallel:
        return
    s = job.sequence_length
    legal = [1, *(c for c in range(2, min(s // 2, 1024) + 1) if s % (2 * c) == 0)]
    yield from _refused(
        "cp",
        limits,
        {
            cp: DivisibilityFault(
                "sequence-not-divisible",
                "cp",
                cp,
                f"CP {cp} needs {2 * cp} equal slices of a sequence of {s}",
                neighbours(cp, legal),
            )
            for cp in limits.listed("cp")
            if cp not in legal
        },
    )


def _ep(
    shape: TransformerShape,
    _job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """Experts over ranks, and EP within data parallelism where it must divide it."""
    if not framework.expert_parallel:
        return
    legal = divisors(shape.n_experts) if shape.is_moe else [1]
    world = None if framework.expert_parallel_spans_tp else _data_parallel_world(limits)
    faults = {}
    for ep in limits.listed("ep"):
        if ep not in legal:
            why = f"{shape.n_experts} experts do not divide over EP {ep}"
            faults[ep] = DivisibilityFault(
                "experts-not-divisible", "ep", ep, why, neighbours(ep, legal)
            )
        elif world is not None and world % ep:
            why = f"EP {ep} does not divide DP {world}, as {framework.name} asks"
            inside = [e for e in legal if world % e == 0]
            faults[ep] = DivisibilityFault(
                "expert-parallel-outside-data-parallel",
                "ep",
                ep,
                why,
                neighbours(ep, inside),
            )
    yield from _refused("ep", limits, faults)


def _data_parallel_world(limits: LatticeLimits) -> int | None:
    """The pinned DP, or the most that pinned GPUs leave to it; None: nothing is."""
    if dp := limits.listed("dp"):
        return dp[-1]
    gpus = limits.gpus.values if limits.gpus is not None else None
    if gpus is None or len(gpus) != 1:
        return None
    pinned = (limits.listed(axis) for axis in ("tp", "pp", "cp"))
    ranks = math.prod(values[0] for values in pinned if len(values) == 1)
    return int(gpus[0]) // ranks if gpus[0] % ranks == 0 else None


def _zero_stage(
    _shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """ZeRO stages that the framework does not run, alone or with a pipeline."""
    free = LatticeLimits(limits.max_nodes, limits.gpus_per_node)
    pipelines = limits.listed("pp")
    kinds = {p > 1 for p in pipelines} or {False, framework.pipeline_parallel}
    legal = {z for k in kinds for z in zero_stage_values(job, framework, free, k)}
    with_pipeline = " with a pipeline" if kinds == {True} else ""
    yield from _refused(
        "zero_stage",
        limits,
        {
            zero: DivisibilityFault(
                "zero-stage-not-in-framework",
                "zero_stage",
                zero,
                f"{framework.name} has no ZeRO-{zero}{with_pipeline} for "
                f"{_barring(zero, job, framework, legal)}",
                neighbours(zero, legal),
            )
            for zero in limits.listed("zero_stage")
            if zero not in legal
        },
    )


def _barring(zero: int, job: TrainingJob, framework: Framework, legal: set[int]) -> str:
    """What bars a stage, the method or the format of the base, and what remains."""
    stages = ", ".join(map(str, sorted(legal)))
    base, able = base_of(job), framework.sharded_bases
    if zero < 3 or not quantised_bytes(job) or base in able:
        return f"method {job.method}, only {stages}"
    others = f"; {' and '.join(able)} bases have it" if able else ""
    return f"{'an' if base == 'int8' else 'a'} {base} base, only {stages}{others}"


def _batch(
    _shape: TransformerShape,
    job: TrainingJob,
    _framework: Framework,
    limits: LatticeLimits,
) -> Iterator[DivisibilityFault]:
    """The batch over data-parallel ranks and micro-batches."""

    def divides(unit: int) -> bool:
        on_the_way = bool(divides_ramp(job.batch_ramp, unit))
        return on_the_way and job.batch_max // unit >= -(-job.batch_min // unit)

    micro = limits.listed("micro_batch") or (1,)
    least = min(micro)
    batch, verb = _batch_words(job)
    legal = [d for d in range(1, job.batch_max + 1) if divides(d * least)]
    yield from _refused(
        "dp",
        limits,
        {
            dp: DivisibilityFault(
                "batch-not-divisible",
                "dp",
                dp,
                f"{batch} {verb} over DP {dp} x micro-batch {least}",
                neighbours(dp, legal),
            )
            for dp in limits.listed("dp")
            if not any(divides(dp * m) for m in micro)
        },
    )
    sizes = [m for m in range(1, job.batch_max + 1) if divides(m)]
    yield from _refused(
        "micro_batch",
        limits,
        {
            m: DivisibilityFault(
                "batch-not-divisible",
                "micro_batch",
                m,
                f"{batch} {verb} into micro-batches of {m}",
                neighbours(m, sizes),
            )
            for m in limits.listed("micro_batch")
            if not divides(m)
        },
    )


def _batch_words(job: TrainingJob) -> tuple[str, str]:
    """Subject and verb of a sentence about a batch that does not divide."""
    ramp = job.batch_ramp
    if ramp is not None:
        name = f"a batch ramp from {ramp.start} in steps of {ramp.step}"
        return name, "does not divide"
    if job.batch_min == job.batch_max:
        return f"a batch of {job.batch_max}", "does not divide"
    return f"no batch from {job.batch_min} to {job.batch_max}", "divides"


def _whole_nodes(limits: LatticeLimits) -> Iterator[DivisibilityFault]:
    """GPUs in whole nodes, and all pinned axes together over them."""
    if limits.gpus is None:
        return
    listed = LatticeLimits(
        limits.max_nodes, limits.gpus_per_node, pins={"gpus": limits.gpus}
    ).listed("gpus")
    node = limits.gpus_per_node
    product = 1
    for axis in ("tp", "pp", "cp", "dp"):
        values = limits.listed(axis)
        product *= values[0] if len(values) == 1 else 1
    unit, most = math.lcm(node, product), limits.max_nodes * node
    faults = []
    for gpus in listed:
        if gpus % node:
            why = f"{gpus} GPUs are no whole nodes of {node}"
            code = "gpus-not-whole-nodes"
        elif gpus % product:
            why = f"{gpus} GPUs do not divide over the pinned axes' {product} ranks"
            code = "gpus-not-divisible"
        else:
            return
        below = min(gpus, most) // unit * unit
        legal = [g for g in (below, below + unit) if unit <= g <= most]
        faults.append(
            DivisibilityFault(code, "gpus", gpus, why, neighbours(gpus, legal))
        )
    yield from faults

"""Whether a layout divides: integers and remainders, no lattice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from solver.performance.adapters import quantised_bytes
from solver.performance.stages import layers_per_stage_by_cost
from solver.verify.evidence import Evidence
from solver.verify.ramp_checks import check_ramp
from solver.verify.violation import Violation, facts

if TYPE_CHECKING:
    from solver.plan import LayoutPlan

RULE = "divisibility"

ALL_SHARDED = 3
"""ZeRO stage that divides everything."""

DEGREES = (
    "tp",
    "pp",
    "cp",
    "ep",
    "etp",
    "dp",
    "virtual_stages",
    "micro_batch",
    "accumulation",
    "shard_degree",
)


def check_divisibility(evidence: Evidence) -> Iterator[Violation]:
    """GPUs, layers, batch, heads, sequence, experts and shards divide without rest."""
    layout = evidence.plan.layout
    for name in DEGREES:
        degree = getattr(layout, name)
        if type(degree) is not int or degree < 1:
            yield Violation(RULE, f"{name} is no degree", "1 or more", degree)
            return
    yield from _ranks(evidence, layout)
    yield from _batch(evidence, layout)
    yield from check_ramp(evidence)
    yield from _layers(evidence, layout)
    yield from _tensor(evidence, layout)
    yield from _sequence(evidence, layout)
    yield from _experts(evidence, layout)
    yield from _shards(evidence, layout)
    yield from _framework(evidence, layout)


def _multiple(name: str, whole: int, part: int) -> Iterator[Violation]:
    """A violation unless ``part`` divides ``whole``."""
    if whole % part:
        yield Violation(RULE, f"{name} does not divide", f"a divisor of {whole}", part)


def _ranks(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """``gpus == tp x pp x cp x dp == nodes x gpus_per_node``."""
    plan = evidence.plan
    ranks = layout.tp * layout.pp * layout.cp * layout.dp
    whole = plan.nodes * evidence.server.gpus_per_node
    if not ranks == whole == plan.gpus:
        message = "GPUs, ranks and nodes are not the same number"
        yield Violation(RULE, message, whole, (plan.gpus, ranks))


def _batch(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """``batch == dp x micro_batch x accumulation``, within the job's range."""
    batch = layout.dp * layout.micro_batch * layout.accumulation
    if batch != layout.global_batch_size:
        message = "the batch is not conserved"
        yield Violation(RULE, message, batch, layout.global_batch_size)
    work = evidence.scenario.workload
    if not work.batch_min <= batch <= work.batch_max:
        message = "the batch is not the one asked for"
        yield Violation(RULE, message, (work.batch_min, work.batch_max), batch)


def _layers(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """Layers are conserved, and every stage and virtual stage has its share.

    Stages are equal, but that embedding and head may count as a layer each: then the
    two end stages hold one layer less. A framework may also place layers by cost.
    """
    layers, pp, split = evidence.shape.layers, layout.pp, layout.layers_per_stage
    by_cost = evidence.framework.stages_by_cost
    least = 0 if by_cost else 1
    if len(split) != pp or sum(split) != layers or min(split, default=0) < least:
        yield Violation(RULE, "layers are not conserved", (layers, pp), split)
        return
    most = max(split)
    with_ends = [n + (i in (0, pp - 1)) for i, n in enumerate(split)]
    if by_cost:
        wanted = tuple(layers_per_stage_by_cost(evidence.shape, pp))
        if tuple(split) != wanted:
            yield Violation(RULE, "layers do not lie by their cost", wanted, split)
    elif len(set(split)) > 1 and set(with_ends) != {most}:
        yield Violation(RULE, "layers are not divided evenly", most, split)
    virtual = layout.virtual_stages
    if virtual > 1:
        chunks = pp * virtual
        ends = (layers + 2) % chunks == 0 and layers + 2 >= 2 * chunks
        if layers % chunks and not ends:
            message = "layers do not divide over virtual stages"
            yield Violation(RULE, message, layers, chunks)
        yield from _multiple("PP, under virtual stages,", layout.accumulation, pp)
        if pp == 1:
            yield Violation(RULE, "virtual stages need a pipeline", 1, virtual)


def _tensor(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """TP divides heads and MLP, KV heads or copies of them, and the NVLink domain."""
    shape, tp = evidence.shape, layout.tp
    yield from _multiple("TP over heads", shape.heads, tp)
    if shape.ffn:
        yield from _multiple("TP over the MLP", shape.ffn, tp)
    if not shape.is_mla and shape.kv_heads % tp and tp % shape.kv_heads:
        yield Violation(RULE, "TP over KV heads", shape.kv_heads, tp)
    yield from _multiple("TP in the NVLink domain", _domain(evidence), tp)


def _domain(evidence: Evidence) -> int:
    """GPUs that reach each other without a NIC."""
    return max(evidence.server.nvlink_domain_gpus, evidence.server.gpus_per_node)


def _sequence(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """Two slices of the sequence a context-parallel rank."""
    if layout.cp > 1:
        length = evidence.scenario.workload.sequence_length
        yield from _multiple("2 x CP over the sequence", length, 2 * layout.cp)
        yield from _sequence_ways(evidence, layout)


def _sequence_ways(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """How the framework divides a sequence: by heads, or only where it is asked."""
    framework, shape = evidence.framework, evidence.shape
    if framework.context_by_heads:
        yield from _multiple("CP over heads", shape.heads, layout.cp)
        beside = (layout.tp, layout.pp, layout.ep)
        if beside != (1, 1, 1):
            message = "attention by heads goes beside ZeRO alone"
            yield Violation(RULE, message, (1, 1, 1), beside)
    if framework.context_on_request:
        stated = "cp" in evidence.scenario.constraints.parallelism
        plain = quantised_bytes(evidence.job) is None
        if not (stated and plain and layout.zero_stage == 3):
            message = "CP needs to be named, FSDP, and no quantised base"
            found = (stated, plain, layout.zero_stage)
            yield Violation(RULE, message, (True, True, 3), found)


def _experts(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """EP divides experts and the ranks that it is laid over; a dense model has none."""
    shape, ep, etp = evidence.shape, layout.ep, layout.etp
    if not shape.is_moe:
        if (ep, etp) != (1, layout.tp):
            message = "a dense model has no expert parallelism"
            yield Violation(RULE, message, (1, layout.tp), (ep, etp))
        return
    yield from _multiple("EP over experts", shape.n_experts, ep)
    yield from _multiple("expert TP over the experts' MLP", _expert_ffn(evidence), etp)
    if etp not in (1, layout.tp):
        yield Violation(RULE, "expert TP is neither 1 nor TP", (1, layout.tp), etp)
    if evidence.framework.expert_parallel_spans_tp:
        ranks = layout.tp * layout.cp * layout.dp
        yield from _multiple("expert TP x EP over ranks", ranks, etp * ep)
        span = etp * ep
    else:
        yield from _multiple("EP over DP", layout.dp, ep)
        span = layout.tp * layout.cp * ep
    whole_domains = etp == 1 and span % _domain(evidence) == 0
    if ep > 1 and not whole_domains:
        yield from _multiple("EP groups in the NVLink domain", _domain(evidence), span)


def _expert_ffn(evidence: Evidence) -> int:
    """Width of one expert's MLP."""
    return evidence.shape.moe_ffn or evidence.shape.ffn


def _shards(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """ZeRO divides over DP x CP, or over the node where sharding is hybrid."""
    group, degree = layout.dp * layout.cp, layout.shard_degree
    framework = evidence.framework
    stages = framework.zero_stages_with_pp if layout.pp > 1 else framework.zero_stages
    if type(layout.zero_stage) is not int or layout.zero_stage not in stages:
        message = f"{framework.name} does not run this ZeRO stage"
        yield Violation(RULE, message, stages, layout.zero_stage)
    elif layout.zero_stage == 0:
        if degree != 1:
            yield Violation(RULE, "ZeRO-0 shards nothing", 1, degree)
    elif degree != group:
        yield from _multiple("the shard group", group, degree)
        inner = evidence.server.gpus_per_node // layout.tp
        hybrid = framework.hybrid_sharding and layout.zero_stage == 3
        if not hybrid or degree != inner:
            yield Violation(
                RULE,
                "the shard group is neither all nor a node",
                (group, inner),
                degree,
            )


def _framework(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """The framework of the scenario runs what the layout asks of it."""
    plan, framework, work = (
        evidence.plan,
        evidence.framework,
        evidence.scenario.workload,
    )
    wanted = {"framework": work.framework}
    yield from facts(RULE, wanted, plan)
    axes = {
        "tp": framework.tensor_parallel,
        "pp": framework.pipeline_parallel,
        "cp": framework.context_parallel,
        "ep": framework.expert_parallel,
        "virtual_stages": framework.virtual_stages,
    }
    for name, able in axes.items():
        if getattr(layout, name) > 1 and not able:
            message = f"{framework.name} has no such axis: {name}"
            yield Violation(RULE, message, 1, getattr(layout, name))
    if layout.recompute not in framework.recompute:
        message = f"{framework.name} does not recompute so"
        yield Violation(RULE, message, framework.recompute, layout.recompute)
    sequence_parallel = layout.tp > 1 and framework.sequence_parallel
    if layout.sequence_parallel is not sequence_parallel:
        message = "sequence parallelism goes with TP"
        yield Violation(RULE, message, sequence_parallel, layout.sequence_parallel)
    if framework.pipeline_fill and layout.accumulation < layout.pp - 1:
        message = f"{framework.name} has to fill the pipeline"
        yield Violation(RULE, message, layout.pp - 1, layout.accumulation)
    yield from _offload(evidence, layout)


def _offload(evidence: Evidence, layout: LayoutPlan) -> Iterator[Violation]:
    """What leaves the GPU is allowed, and the framework moves it in this layout."""
    framework, what = evidence.framework, layout.offload
    allowed = [
        name if name == "none" else f"{name} to {place}"
        for name, place in evidence.scenario.workload.offloads
    ]
    if what not in allowed:
        yield Violation(RULE, "nobody asked to offload this", allowed, what)
        return
    names, _, place = what.partition(" to ")
    parts = names.split("+")
    stages = None
    if "parameters" in parts:
        stages = framework.offload_parameters
    elif "optimizer" in parts:
        stages = framework.offload_optimizer
    if place == "nvme" and stages is not None:
        able = framework.offload_nvme
        stages = tuple(z for z in stages if z == ALL_SHARDED) if able else ()
    if stages is not None and layout.zero_stage not in stages:
        message = "states do not leave under this ZeRO stage"
        yield Violation(RULE, message, stages, layout.zero_stage)
    if stages is not None and not layout.zero_stage and layout.dp * layout.cp > 1:
        yield Violation(RULE, "states leave one GPU alone unsharded", 1, layout.dp)
    if "activations" in parts and layout.recompute != "full":
        message = "activations leave under full recomputation"
        yield Violation(RULE, message, "full", layout.recompute)

"""Whether what a plan says of alignment follows from its decisions.

Shared with the planner are the physics' forward passes and rollout; states, shares,
counts and memory are added up here a second time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from solver.performance.alignment_time import job_rollout, scoring_by_model_s
from solver.performance.inputs import TransformerShape
from solver.performance.transformer import parameters
from solver.units import GIB
from solver.verify.evidence import Evidence
from solver.verify.figures import Figures
from solver.verify.violation import Violation, at_most, close, figures

RULE = "memory"
SIXTEEN_BITS = 2.0
ROLES = ("policy", "reference", "reward", "critic")


def check_alignment(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The section is there where a policy is aligned, and all its figures follow."""
    how, stated = evidence.job.alignment, evidence.plan.alignment
    if how is None:
        if stated is not None:
            yield Violation(RULE, "nothing is aligned", None, stated)
        return
    if not isinstance(stated, dict):
        yield Violation(RULE, "alignment is missing", how.kind, stated)
        return
    yield from _decisions(evidence, stated)
    yield from _shares(evidence, known, stated)
    yield from _frozen(evidence, stated)
    if how.generates:
        yield from _generation(evidence, known, stated)


def _decisions(evidence: Evidence, stated: Mapping[str, Any]) -> Iterator[Violation]:
    """Kind, placement and counts are the scenario's and the layout's."""
    how, work, layout = (
        evidence.job.alignment,
        evidence.scenario.workload.alignment,
        evidence.plan.layout,
    )
    if how is None or work is None:
        return
    batch = layout.dp * layout.micro_batch * layout.accumulation
    if batch % work.group:
        message = "the batch is not whole groups of responses"
        yield Violation(RULE, message, work.group, batch)
    wanted = {
        "kind": work.kind,
        "placement": "apart" if evidence.job.rollout_nodes else "together",
        "rollout_nodes": evidence.job.rollout_nodes,
        "one_step_behind": work.one_step_behind and evidence.job.rollout_nodes > 0,
        "reference": work.reference,
        "update_epochs": work.update_epochs,
        "samples_per_step": batch // work.group,
        "sequences_per_step": 2 * batch if work.kind == "dpo" else batch,
    }
    for name, value in wanted.items():
        if stated.get(name) != value:
            yield Violation(RULE, f"{name} does not follow", value, stated.get(name))
    if evidence.job.rollout_nodes not in work.rollout_nodes:
        message = "so many rollout nodes are not allowed"
        yield Violation(RULE, message, work.rollout_nodes, evidence.job.rollout_nodes)


def _shares(
    evidence: Evidence, known: Figures, stated: Mapping[str, Any]
) -> Iterator[Violation]:
    """Shares of models, generation and moved weights follow and add up to a step."""
    how = evidence.job.alignment
    if how is None:
        return
    parts, whole = known.step_time_parts_s, known.step_time_s
    model = (evidence.shape, evidence.job, evidence.framework)
    slower = known.efficiency * how.loop_rate
    forward = scoring_by_model_s(*model, evidence.hardware, evidence.layouts)
    seconds = {
        role: float(forward[role][0]) / slower if role in forward else 0.0
        for role in ROLES
    }
    beside = ("generation", "scoring", "critic", "weight_sync")
    seconds["policy"] += math.fsum(s for n, s in parts.items() if n not in beside)
    seconds["critic"] += parts["critic"]
    rows = {row["role"]: row for row in stated.get("models", ())}
    shares = {role: row["time_share"] for role, row in rows.items()}
    shares["generation"] = stated.get("generation_share")
    shares["weight_sync"] = stated.get("weight_sync_share")
    wanted = {role: s / whole for role, s in seconds.items() if role in rows or s}
    wanted["generation"] = parts["generation"] / whole
    wanted["weight_sync"] = parts["weight_sync"] / whole
    yield from figures(RULE, wanted, shares)
    total = math.fsum(wanted.values())
    if not close(1.0, total):
        yield Violation(RULE, "shares of a step do not add up", 1.0, total)


def _frozen(evidence: Evidence, stated: Mapping[str, Any]) -> Iterator[Violation]:
    """Frozen models take their 16 bits, divided as the policy's weights are."""
    how = evidence.job.alignment
    if how is None:
        return
    frozen: dict[str, TransformerShape] = {}
    if how.has_reference and not how.reference_shared:
        frozen["reference"] = evidence.shape
    if how.reward is not None:
        frozen["reward"] = how.reward
    rows = {row["role"]: row for row in stated.get("models", ())}
    for role, shape in frozen.items():
        size = _divided(evidence, shape) * SIXTEEN_BITS / GIB
        got = rows.get(role, {}).get("memory_gib")
        if not close(size, got):
            yield Violation(RULE, f"memory of the {role} does not follow", size, got)


def _divided(evidence: Evidence, shape: TransformerShape) -> float:
    """Parameters of a model on one GPU of the plan."""
    layout, count = evidence.plan.layout, parameters(shape)
    dense = (count.total - count.routed_experts) / (layout.tp * layout.pp)
    experts = count.routed_experts / (layout.ep * layout.etp * layout.pp)
    if layout.zero_stage == 3:
        dense /= layout.shard_degree
        ranks = layout.shard_degree * layout.tp / (layout.etp * layout.ep)
        experts /= max(ranks, 1.0)
    return float(dense + experts)


def _generation(
    evidence: Evidence, known: Figures, stated: Mapping[str, Any]
) -> Iterator[Violation]:
    """Tokens, engine and memory of what generates follow, and it fits the card."""
    how, layout, plan = evidence.job.alignment, evidence.plan.layout, evidence.plan
    if how is None:
        return
    made = job_rollout(
        evidence.shape,
        evidence.job,
        evidence.framework,
        evidence.hardware,
        evidence.layouts,
    )
    batch = layout.dp * layout.micro_batch * layout.accumulation
    tokens = batch * how.lengths.response
    nodes = evidence.job.rollout_nodes or plan.nodes
    prefill, decode = (
        float(s[0]) / known.efficiency / how.loop_rate
        for s in (made.prefill_s, made.decode_s)
    )
    wanted = {
        "tp": float(made.tp[0]),
        "stages": float(made.stages[0]),
        "replicas": float(made.replicas[0]),
        "gpus": float(nodes * evidence.server.gpus_per_node),
        "concurrent": float(made.concurrent[0]),
        "prefill_s": prefill,
        "decode_s": decode,
        "tokens_per_s": tokens / (prefill + decode),
        "weights_gib": float(made.weights_bytes[0]) / GIB,
        "kv_cache_gib": float(made.cache_bytes[0]) / GIB,
    }
    yield from figures(RULE, wanted, stated.get("generation") or {})
    generated = stated.get("tokens_generated")
    if not close(tokens * known.steps, generated):
        message = "tokens_generated does not follow"
        yield Violation(RULE, message, tokens * known.steps, generated)
    used = wanted["tp"] * wanted["stages"] * wanted["replicas"]
    if not at_most(used, wanted["gpus"]):
        message = "replicas have more GPUs than generate"
        yield Violation(RULE, message, wanted["gpus"], used)
    engine = wanted["weights_gib"] + wanted["kv_cache_gib"]
    engine += how.engine.workspace_bytes / GIB
    share = 1.0 - evidence.scenario.constraints.memory_headroom
    allowed = share * evidence.gpu.usable_memory_gib
    if not evidence.job.rollout_nodes:
        engine = (stated.get("memory_gib") or {}).get("generation", math.inf)
    if not at_most(engine, allowed):
        message = "generation does not fit the card, GiB"
        yield Violation(RULE, message, allowed, engine)

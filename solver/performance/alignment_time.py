"""Seconds of a step of DPO, PPO or GRPO: training, generation, scoring, weights moved.

On policy the phases follow each other: the batch is generated, scored by each model's
forward pass, trained on, and the new weights are brought to the engine that generates.
Rollout nodes one step behind generate while the others train: the longer counts.

Sources: Ouyang et al. 2022 (arXiv 2203.02155) for PPO's four models; Rafailov et al.
2023 (arXiv 2305.18290) for DPO; Shao et al. 2024 (arXiv 2402.03300) for GRPO; Sheng et
al. 2024 (arXiv 2409.19256, HybridFlow) for placement and the moving of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from solver.performance import compute
from solver.performance.alignment_inputs import Alignment
from solver.performance.alignment_memory import (
    idle_memory,
    known,
    train_memory_of,
)
from solver.performance.communication import all_gather_s, domain_gpus, link
from solver.performance.generation import Rollout, best_rollout, weight_bytes
from solver.performance.inputs import (
    AlignedStepTime,
    FloatArray,
    Framework,
    Hardware,
    Layouts,
    StepTime,
    TrainingJob,
    TransformerShape,
)
from solver.performance.layer_time import forward_time
from solver.performance.memory import peak_memory
from solver.performance.stack import stack_of
from solver.performance.transformer import parameters

Train = Callable[
    [TransformerShape, TrainingJob, Framework, Hardware, Layouts], StepTime
]
"""`training_step` of solver.performance.step_time."""

SCALAR_HEAD_ROWS = 128
"""Rows of the padded head of a model that gives one number a token."""


def plain(job: TrainingJob) -> TrainingJob:
    """The training of the policy alone."""
    return replace(job, alignment=None)


def scalar_head(shape: TransformerShape) -> TransformerShape:
    """The shape with the head of a reward model or critic, for its time."""
    return replace(shape, vocab=SCALAR_HEAD_ROWS, tied_embeddings=True)


def aligned_step(
    train: Train,
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
) -> AlignedStepTime:
    """Seconds of one step by exposed part, (n,) each; they add up to the step.

    ``train`` gives the time of a plain training step.

    Notes
    -----
    All parts are divided by the loop's rate: published whole steps of PPO and GRPO take
    about twice the sum of their parts, each at its own speed (docs/alignment.md).
    """
    how, alone = known(job), plain(job)
    step = train(shape, alone, framework, hardware, layouts)
    epochs = how.update_epochs
    trained = {f.name: epochs * getattr(step, f.name) for f in fields(StepTime)}
    scoring = scoring_s(shape, job, framework, hardware, layouts)
    critic = np.zeros(len(layouts))
    if how.critic is not None:
        value = scalar_head(how.critic)
        critic = epochs * train(value, alone, framework, hardware, layouts).total
    generation = sync = np.zeros(len(layouts))
    if how.generates:
        sync = weight_sync_s(shape, job, hardware, layouts)
        generation = job_rollout(shape, job, framework, hardware, layouts).total_s
        if how.apart and how.one_step_behind:
            busy = sum(trained.values()) + scoring + critic
            generation = np.maximum(generation - busy, 0.0)
    parts = {
        **trained,
        "generation": generation,
        "scoring": scoring,
        "critic": critic,
        "weight_sync": sync,
    }
    return AlignedStepTime(**{name: s / how.loop_rate for name, s in parts.items()})


def rollout_gpus(how: Alignment, hardware: Hardware, layouts: Layouts) -> Any:
    """GPUs that generate: those of the rollout nodes, else all that train, (n,)."""
    if how.apart:
        each = np.asarray(layouts.gpus_per_node)
        return how.rollout_nodes * each
    return layouts.gpus


def job_rollout(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
    *,
    resident: bool = True,
) -> Rollout:
    """The batch of each layout generated in the fastest way, (n,).

    Parameters
    ----------
    resident
        Whether the states of training fill part of the memory of nodes that generate
        and train; without them no way is faster than what is found.
    """
    how = known(job)
    usable = np.asarray(hardware.memory_bytes) * how.memory_share
    if resident and not how.apart:
        train = train_memory_of(peak_memory, framework, fused=True)
        kept = idle_memory(train, shape, job, framework, layouts)
        usable = usable - kept.total
    gpus = rollout_gpus(how, hardware, layouts)
    return best_rollout(
        shape,
        how.engine,
        hardware,
        how.lengths,
        gpus,
        layouts.global_batch,
        usable,
    )


def forward_s(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
    *,
    scalar: bool,
) -> FloatArray:
    """Seconds of one forward pass over the batch under the training's layout, (n,).

    ZeRO-3 gathers a layer while the one before computes; of a pipeline the first
    micro-batch waits for every stage.
    """
    stack = stack_of(framework.constants)
    layer = forward_time(shape, job, framework, stack, hardware, layouts)
    domain = domain_gpus(hardware, layouts)
    group = link(hardware, domain, layouts.shard_degree, layouts.tp)
    count = parameters(shape)
    layers = shape.layers / layouts.pp
    held = (count.total - count.routed_experts) / (layouts.tp * layouts.pp)
    held = held + count.routed_experts / (layouts.ep * layouts.etp * layouts.pp)
    gather = all_gather_s(group, 2.0 * held, 0.0)
    gather = np.where(layouts.zero_stage == 3, gather, 0.0)
    micro_batch = np.maximum(layers * layer, gather)
    if not scalar:
        micro_batch = micro_batch + _head_s(shape, job, hardware, layouts)
    waits = (layouts.pp - 1) / layouts.accumulation
    return np.asarray(layouts.accumulation * micro_batch * (1.0 + waits))


def _head_s(
    shape: TransformerShape, job: TrainingJob, hardware: Hardware, layouts: Layouts
) -> FloatArray:
    """Seconds of the logits of one micro-batch, (n,)."""
    rows = compute.tokens_of(job, layouts)
    vocab = compute.padded_vocab(shape, layouts.tp) / layouts.tp
    rate = hardware.peak_16bit * hardware.gemm_efficiency_16bit
    return compute.matmul_s(rows, vocab, shape.hidden, hardware, rate)


def scored_models(
    shape: TransformerShape, how: Alignment
) -> dict[str, tuple[TransformerShape, bool]]:
    """Models that pass once over each batch: role to (shape, scalar head).

    What the policy gave each token when it generated is computed again by the training
    software, since the engine's numbers differ.
    """
    found: dict[str, tuple[TransformerShape, bool]] = {}
    if how.generates:
        found["policy"] = (shape, False)
    if how.has_reference:
        found["reference"] = (shape, False)
    if how.reward is not None:
        found["reward"] = (how.reward, True)
    if how.critic is not None:
        found["critic"] = (how.critic, True)
    return found


def scoring_by_model_s(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
) -> dict[str, FloatArray]:
    """Seconds of each model's forward pass over the batch, (n,), by role."""
    alone, how = plain(job), known(job)
    frozen = replace(alone, method="full")
    return {
        role: forward_s(
            model,
            alone if role in ("policy", "critic") else frozen,
            framework,
            hardware,
            layouts,
            scalar=scalar,
        )
        for role, (model, scalar) in scored_models(shape, how).items()
    }


def scoring_s(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
) -> FloatArray:
    """Seconds of all forward passes over the batch, (n,)."""
    each = scoring_by_model_s(shape, job, framework, hardware, layouts)
    return np.asarray(sum(each.values(), np.zeros(len(layouts))))


def weight_sync_s(
    shape: TransformerShape, job: TrainingJob, hardware: Hardware, layouts: Layouts
) -> FloatArray:
    """Seconds of bringing the trained weights to the engine that generates, (n,).

    Together every GPU gathers a copy of the weights over the ranks that train. Apart
    they are sent to all rollout GPUs at the rate of one GPU's share of the NICs, as a
    broadcast of whole weights to every rank does.
    """
    whole = weight_bytes(shape, np.ones(len(layouts)))
    if known(job).apart:
        rate = np.asarray(hardware.inter_bytes_per_s, dtype=float)
        return np.where(rate > 0, whole / np.maximum(rate, 1.0), np.inf)
    domain = domain_gpus(hardware, layouts)
    group = link(hardware, domain, layouts.gpus, 1)
    return all_gather_s(group, whole, 0.0)


def least_aligned_s(
    least_training_s: FloatArray,
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    hardware: Hardware,
    layouts: Layouts,
) -> FloatArray:
    """Seconds that `aligned_step` can't undercut, (n,), from those of a plain step.

    Generation has all memory to itself; of the passes of other models and of the
    critic's training nothing is counted.
    """
    how = known(job)
    seconds = how.update_epochs * least_training_s / how.loop_rate
    if not how.generates:
        return np.asarray(seconds)
    least = job_rollout(shape, job, framework, hardware, layouts, resident=False)
    generating = least.total_s / how.loop_rate
    if how.apart and how.one_step_behind:
        return np.asarray(np.maximum(seconds, generating))
    return np.asarray(seconds + generating)

"""What a plan says of alignment: its models, what they take, and what generates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from solver.performance.alignment_memory import (
    critic_shape,
    frozen_bytes,
    frozen_models,
    idle_memory,
    known,
    moments_of,
    train_memory_of,
)
from solver.performance.alignment_time import (
    job_rollout,
    rollout_gpus,
    scoring_by_model_s,
)
from solver.performance.efficiency import attained
from solver.performance.inputs import (
    FloatArray,
    Hardware,
    IntArray,
    Layouts,
    Memory,
    StepTime,
    TrainingJob,
)
from solver.performance.memory import peak_memory
from solver.performance.step_time import step_time
from solver.setting import HardwareClass, Setting
from solver.units import GIB

BESIDE = ("generation", "scoring", "critic", "weight_sync")
"""Parts of a step that are not the policy's training."""


def alignment_plan(
    setting: Setting,
    group: HardwareClass,
    layouts: Layouts,
    parts: StepTime,
    steps: IntArray,
) -> dict[str, Any] | None:
    """`alignment_of` of the hardware class and variant of a candidate."""
    model = (setting, group.job, group.hardware)
    return alignment_of(*model, layouts, parts, int(steps[0]))


def alignment_of(
    setting: Setting,
    job: TrainingJob,
    hardware: Hardware,
    layouts: Layouts,
    parts: StepTime,
    steps: int,
) -> dict[str, Any] | None:
    """The section of a plan about alignment, of the first of ``layouts``; or None.

    ``generation_share`` is the part of a step in which training waits for responses;
    the shares of the models, of generation and of moving weights add up to one.
    """
    how, work = job.alignment, setting.scenario.workload.alignment
    if how is None or work is None:
        return None
    batch = int(layouts.global_batch[0])
    found: dict[str, Any] = {
        "kind": how.kind,
        "placement": "apart" if how.apart else "together",
        "rollout_nodes": how.rollout_nodes,
        "one_step_behind": how.one_step_behind,
        "reference": work.reference,
        "update_epochs": how.update_epochs,
        "samples_per_step": batch // work.group,
        "sequences_per_step": batch * (2 if how.kind == "dpo" else 1),
        "models": _models(setting, job, hardware, layouts, parts),
        "generation_share": 0.0,
        "weight_sync_share": 0.0,
        "tokens_generated": 0.0,
        "generation": None,
        "memory_gib": _moments(setting, job, hardware, layouts),
    }
    if how.generates:
        found |= _generation(setting, job, hardware, layouts, parts, steps)
    return found


def as_if_held(
    setting: Setting, hardware: Hardware, layouts: Layouts
) -> tuple[Hardware, StepTime]:
    """Cards without limit of memory, and the step of ``layouts`` on them.

    For an estimate of what holds no response: it is timed all the same.
    """
    roomy = replace(hardware, memory_bytes=np.inf)
    model = (setting.shape, setting.job, setting.framework, roomy)
    return roomy, step_time(*model, layouts)


def _share(parts: StepTime, seconds: Any) -> float:
    return float(np.asarray(seconds)[0] / parts.total[0])


def _generation(
    setting: Setting,
    job: TrainingJob,
    hardware: Hardware,
    layouts: Layouts,
    parts: StepTime,
    steps: int,
) -> dict[str, Any]:
    """How responses are generated, and how fast."""
    how = known(job)
    model = (setting.shape, job, setting.framework, hardware, layouts)
    made = job_rollout(*model)
    seconds = float(made.total_s[0] / _slower(job, hardware))
    tokens = float(layouts.global_batch[0]) * how.lengths.response
    gpus = int(np.asarray(rollout_gpus(how, hardware, layouts))[0])
    share = {
        "tp": int(made.tp[0]),
        "stages": int(made.stages[0]),
        "replicas": int(made.replicas[0]),
        "gpus": gpus,
        "concurrent": float(made.concurrent[0]),
        "prefill_s": float(made.prefill_s[0] / _slower(job, hardware)),
        "decode_s": float(made.decode_s[0] / _slower(job, hardware)),
        "tokens_per_s": tokens / seconds,
        "weights_gib": float(made.weights_bytes[0] / GIB),
        "kv_cache_gib": float(made.cache_bytes[0] / GIB),
    }
    return {
        "generation_share": _share(parts, parts.parts()["generation"]),
        "weight_sync_share": _share(parts, parts.parts()["weight_sync"]),
        "tokens_generated": tokens * steps,
        "generation": share,
    }


def _slower(job: TrainingJob, hardware: Hardware) -> float:
    """Share of the speed of its parts that a step is timed at."""
    return float(attained(job, hardware)) * known(job).loop_rate


def _models(
    setting: Setting,
    job: TrainingJob,
    hardware: Hardware,
    layouts: Layouts,
    parts: StepTime,
) -> list[dict[str, Any]]:
    """Each model: its state on a GPU that trains, and its share of a step.

    The policy's share is its training and, where it is scored, its forward pass.
    """
    how, work = known(job), setting.scenario.workload.alignment
    model = (setting.shape, job, setting.framework, hardware, layouts)
    forward = scoring_by_model_s(*model)
    slower = _slower(job, hardware)
    step = parts.parts()
    training = sum(step[name] for name in step if name not in BESIDE)
    train = train_memory_of(
        peak_memory, setting.framework, fused=bool(hardware.fused_attention)
    )
    reward, critic = (work.reward, work.critic) if work else (None, None)
    ids = {
        "policy": setting.scenario.architecture.id,
        "reference": setting.scenario.architecture.id,
        "reward": reward.id if reward else None,
        "critic": critic.id if critic else None,
    }
    alone = replace(job, alignment=None)
    state: dict[str, FloatArray] = {
        "policy": _state(train(setting.shape, alone, layouts))
    }
    for role, shape in frozen_models(setting.shape, how).items():
        state[role] = frozen_bytes(shape, layouts)
    if how.critic is not None:
        state["critic"] = _state(train(critic_shape(how.critic), alone, layouts))
    found = []
    for role in ("policy", "reference", "reward", "critic"):
        if role not in state and role not in forward:
            continue
        seconds = forward.get(role, np.zeros(1)) / slower
        seconds = seconds + (training if role == "policy" else 0.0)
        seconds = seconds + (step["critic"] if role == "critic" else 0.0)
        found.append(
            {
                "role": role,
                "model": ids[role],
                "trained": role in ("policy", "critic"),
                "memory_gib": float(state.get(role, np.zeros(1))[0] / GIB),
                "time_share": _share(parts, seconds),
            }
        )
    return found


def _state(memory: Memory) -> FloatArray:
    """Weights, gradients and optimizer state of a trained model, bytes a GPU."""
    return memory.weights + memory.gradients + memory.optimizer


def _moments(
    setting: Setting, job: TrainingJob, hardware: Hardware, layouts: Layouts
) -> dict[str, float]:
    """Peak of a GPU that trains while each part runs, GiB.

    While it generates, keys and values count as they are used, not the least of them.
    """
    how = known(job)
    train = train_memory_of(
        peak_memory, setting.framework, fused=bool(hardware.fused_attention)
    )
    model = (setting.shape, job, setting.framework)
    moments = moments_of(train, *model, layouts)
    found = {name: float(m.total[0] / GIB) for name, m in moments.items()}
    if "generation" in moments:
        made = job_rollout(*model, hardware, layouts)
        kept = idle_memory(train, *model, layouts).total
        engine = made.weights_bytes + made.cache_bytes + how.engine.workspace_bytes
        found["generation"] = float((kept + engine)[0] / GIB)
    return found

"""Peak memory of a GPU on the fullest pipeline stage at its fullest moment.

Three moments of a step are compared on each stage that can be the fullest: when the
last forward pass ends (activations and logits), when the last backward pass ends
(all gradients) and the optimizer's step. Bytes throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.performance.activation_memory import activation_bytes_per_layer
from solver.performance.alignment_memory import aligned_memory, train_memory_of
from solver.performance.checkpoints import (
    checkpoint_bytes,
    checkpoint_writer_nodes,
    host_bytes_needed,
)
from solver.performance.context import buffer_bytes
from solver.performance.inputs import (
    RECOMPUTE,
    FloatArray,
    Framework,
    IntArray,
    Layouts,
    Memory,
    TrainingJob,
    TransformerShape,
)
from solver.performance.offload import (
    gradients_leave,
    optimizer_leaves,
    parameters_leave,
)
from solver.performance.stages import framework_stage_layers
from solver.performance.state_memory import (
    TRAINED_END_BYTES,
    StageParameters,
    StateBytes,
    expert_shard_degree,
    frozen_end_bytes,
    stage_parameters,
    state_bytes,
)
from solver.performance.transformer import padded_vocab_array

__all__ = [
    "activation_bytes_per_layer",
    "checkpoint_bytes",
    "checkpoint_writer_nodes",
    "host_bytes_needed",
    "peak_memory",
]

HALF, SINGLE = 2.0, 4.0
"""Bytes of a number in 16 bits and in fp32."""

FRAGMENTATION = 0.08
"""What the allocator reserves beyond what comes and goes within a step, over the
latter: runs that print reserved memory (torchtitan, fsdp_qlora) come out best with it.
State is allocated in the same pieces again and again, and packs tightly."""

NONE, SELECTIVE, FULL = (RECOMPUTE.index(r) for r in ("none", "selective", "full"))


@dataclass(frozen=True)
class _Stage:
    """One stage's rank: its share of the model and of the micro-batches, (n,)."""

    weights: FloatArray
    gradients: FloatArray
    optimizer: FloatArray
    """Master copy and moments."""
    gathered: FloatArray
    """Held while computing, not at the step: layers and ends gathered or dequantised,
    and the whole 16-bit copy of fp32 weights below ZeRO-3."""
    temporary: FloatArray
    """Of the optimizer's step."""
    kept: FloatArray
    """Activations kept when the last forward pass ends, logits apart."""
    logits: FloatArray
    redone: FloatArray
    """What the first layer in backward needs besides ``kept``, logits being gone."""
    working: FloatArray
    """Activations and their gradients of the one layer that is last in backward."""


def peak_memory(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    *,
    fused_attention: bool = True,
    first_stage_only: bool = False,
) -> Memory:
    """Peak bytes a GPU by part, (n,) each, of every layout.

    Parts are those of the peak's moment: activations hold logits and loss; other
    holds the allowance for context and workspaces, gathered or dequantised layers,
    the optimizer's temporaries and fragmentation. Of a pipeline it is the fullest
    stage, or the first, which is what many programs print. A job of alignment counts
    all models that lie on the GPUs that train.
    """
    if job.alignment is not None:
        train = train_memory_of(peak_memory, framework, fused=fused_attention)
        return aligned_memory(train, shape, job, framework, layouts)
    split = framework_stage_layers(shape, framework, layouts.pp, layouts.virtual_stages)
    peak = _evaluate(
        shape, job, framework, layouts, split.first, 0, fused=fused_attention
    )
    stages = np.where(first_stage_only, 1, layouts.pp)
    pipelined = np.flatnonzero(stages > 1)
    uneven = np.flatnonzero((stages > 2) & (split.second > split.first))
    for rows, layers, position in (
        (pipelined, split.last, -1),
        (uneven, split.second, 1),
    ):
        if len(rows):
            stage = _evaluate(
                shape,
                job,
                framework,
                layouts.take(rows),
                layers[rows],
                position,
                fused=fused_attention,
            )
            _keep_larger(peak, stage, rows)
    fragmentation = FRAGMENTATION * (peak["activations"] + peak["other"])
    peak["other"] = peak["other"] + fragmentation
    return Memory(**peak, fragmentation=fragmentation)


def _keep_larger(
    peak: dict[str, FloatArray], stage: dict[str, FloatArray], rows: IntArray
) -> None:
    """Put the stage's parts in place where their sum is larger."""
    before = sum(column[rows] for column in peak.values())
    larger = np.asarray(sum(stage.values()) > before)
    where = rows[larger]
    for name, column in stage.items():
        peak[name][where] = column[larger]


def _evaluate(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    layers: IntArray,
    position: int,
    *,
    fused: bool,
) -> dict[str, FloatArray]:
    """Parts of memory at the fullest moment of the stage at ``position``."""
    dense, moe = stage_layer_kinds(shape, layouts, layers, position)
    stage = _stage(shape, job, framework, layouts, dense, moe, position, fused=fused)
    early = stage.gradients
    if not framework.persistent_gradients:
        early = np.where(layouts.accumulation > 1, early, 0.0)
    turning = stage.kept + np.maximum(stage.logits, stage.redone)
    forward = early + turning + stage.gathered
    backward = stage.gradients + stage.working + stage.gathered
    step = stage.gradients + stage.temporary
    at_forward = (forward >= backward) & (forward >= step)
    at_step = ~at_forward & (step > backward)
    other = np.where(at_step, stage.temporary, stage.gathered)
    activations = np.where(at_forward, turning, stage.working)
    return {
        "weights": stage.weights,
        "gradients": np.where(at_forward, early, stage.gradients),
        "optimizer": stage.optimizer,
        "activations": np.where(at_step, 0.0, activations),
        "other": other + framework.base_bytes,
    }


def stage_layer_kinds(
    shape: TransformerShape, layouts: Layouts, layers: IntArray, position: int
) -> tuple[FloatArray, FloatArray]:
    """Dense and mixture layers among the layers of a stage, (n,) each.

    Leading dense layers lie on the first stages; where only every k-th of the others
    is a mixture, a stage holds its mean share.
    """
    if not shape.is_moe:
        return layers.astype(np.float64), np.zeros(len(layers))
    leading = shape.first_dense_layers
    if position == 0:
        plain = np.minimum(leading, layers)
    elif position == 1:
        plain = np.clip(leading - layers, 0, layers)
    else:
        plain = np.zeros_like(layers)
    rest = max(shape.layers - leading, 1)
    share = shape.moe_layers / rest
    moe = (layers - plain).astype(np.float64) * share
    return np.asarray(layers - moe), moe


def _stage(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    dense: FloatArray,
    moe: FloatArray,
    position: int,
    *,
    fused: bool,
) -> _Stage:
    """All terms of one stage."""
    first, last = position == 0, position == -1
    held = stage_parameters(
        shape, job, framework, layouts, dense, moe, first=first, last=last
    )
    state = state_bytes(job, framework)
    weights, gradients, optimizer, temporary = _sharded_state(
        state, job, framework, layouts, held
    )
    copy = state.copy * (held.layers + held.other + held.experts)
    gathered = _gathered(state, job, framework, layouts, held)
    kept, redone, working = _activations(
        shape, job, framework, layouts, dense, moe, position, fused=fused
    )
    ends_here = (layouts.pp == 1) if first else np.full(len(dense), last)
    logits = _logit_bytes(shape, job, framework, layouts)
    return _Stage(
        weights=weights,
        gradients=gradients,
        optimizer=optimizer,
        gathered=gathered + np.where(layouts.zero_stage == 3, 0.0, copy),
        temporary=temporary,
        kept=kept,
        logits=np.where(ends_here, logits, 0.0),
        redone=redone,
        working=working,
    )


def _sharded_state(
    state: StateBytes,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    held: StageParameters,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Bytes of weights, gradients, optimizer and the step's temporaries, (n,) each."""
    zero, degree = layouts.zero_stage, layouts.shard_degree.astype(np.float64)
    expert_degree = expert_shard_degree(layouts)
    trained, experts = held.layers + held.other, held.experts
    frozen = np.zeros(len(degree))
    if state.frozen_other:
        trained, experts = held.adapters, held.expert_adapters
        sharded = zero == 3
        linear = held.layers / np.where(sharded, degree, 1.0)
        linear = linear + held.experts / np.where(sharded, expert_degree, 1.0)
        other = held.other / np.where(sharded, degree, 1.0)
        ends = frozen_end_bytes(state, layouts)
        frozen = state.frozen_linear * linear + ends * other
    total = trained + experts
    sharded = trained / degree + experts / expert_degree
    weights = state.weight * np.where(zero == 3, sharded, total)
    if state.copy:  # fp32 weights hold the master copy: shards from ZeRO-1 on
        weights = state.weight * np.where(zero > 0, sharded, total)
    gradients = state.gradient * np.where(
        zero >= framework.gradients_sharded_from, sharded, total
    )
    if framework.bucket_bytes:
        replicated = layouts.dp * layouts.cp > 1
        gradients = gradients + np.where(
            replicated, framework.bucket_bytes * total, 0.0
        )
    own = np.where(zero > 0, sharded, total)
    if state.frozen_other:
        ends = held.trained_ends / np.where(zero > 0, degree, 1.0)
        own = own + ends
        weights = weights + TRAINED_END_BYTES[0] * held.trained_ends
        gradients = gradients + TRAINED_END_BYTES[1] * held.trained_ends
    weights, optimizer = weights + frozen, state.optimizer * own
    temporary = state.step_temporary * own
    if job.offload:
        updated = optimizer_leaves(job, layouts)
        weights = np.where(parameters_leave(job, layouts), 0.0, weights)
        gradients = np.where(gradients_leave(job, framework, layouts), 0.0, gradients)
        optimizer = np.where(updated, 0.0, optimizer)
        temporary = np.where(updated, 0.0, temporary)
    return weights, gradients, optimizer, temporary


def _gathered(
    state: StateBytes,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    held: StageParameters,
) -> FloatArray:
    """Bytes of gathered layers and ends (ZeRO-3) and of one dequantised layer, (n,).

    Gathered is what other ranks hold or the host does.
    """
    one = held.token_layer * state.element
    quantised = 0 < state.frozen_linear < state.element
    dequantised = one if quantised else np.zeros(len(one))
    layer = held.layer * (state.frozen_linear or state.element)
    size = framework.gathered_layers * layer + state.element * held.ends
    gathered = (layouts.zero_stage == 3) & (layouts.shard_degree > 1)
    gathered = gathered | parameters_leave(job, layouts)
    return dequantised + np.where(gathered, size, 0.0)


def _logit_bytes(
    shape: TransformerShape, job: TrainingJob, framework: Framework, layouts: Layouts
) -> FloatArray:
    """Bytes of logits and loss of one micro-batch on the stage with the head, (n,).

    A head in fp32 needs neither 16-bit logits nor their conversion. A chunked loss
    has the logits of one chunk of tokens at a time; it adds up the gradient of the
    head's inputs, and of a head that trains, in fp32 (torchtitan, Liger).
    """
    tokens = layouts.micro_batch * (job.sequence_length / layouts.cp)
    vocab = padded_vocab_array(shape, layouts.tp) / layouts.tp
    if job.loss == "chunked":
        inputs = SINGLE * shape.hidden * tokens
        weights = SINGLE * shape.hidden * vocab if job.method == "full" else 0.0
        chunks = loss_chunks(shape, framework)
        return _whole_logit_bytes(job, framework) * tokens * vocab / chunks + (
            inputs + weights
        )
    return _whole_logit_bytes(job, framework) * tokens * vocab


def loss_chunks(shape: TransformerShape, framework: Framework) -> int:
    """Chunks of tokens of a chunked loss."""
    wider = math.ceil(shape.vocab / shape.hidden)
    return framework.loss_chunks or 1 << max(wider - 1, 0).bit_length()


def _whole_logit_bytes(job: TrainingJob, framework: Framework) -> float:
    """Bytes a logit."""
    size = framework.logit_bytes
    if state_bytes(job, framework).frozen_other > HALF:
        size = max(size - HALF - SINGLE, 0.0)
    return size


def micro_batches_in_flight(layouts: Layouts, position: int) -> FloatArray:
    """Micro-batches whose activations a stage holds at once, (n,).

    1F1B keeps pp - r of them on stage r; with v virtual stages the warm-up is
    2 (pp - r - 1) + (v - 1) pp chunks of 1/v, so that the first stage keeps
    pp (1 + (pp - 1) / (pp v)) (Korthikanti et al. 2022; Megatron Core's schedule).
    """
    pp, v = layouts.pp, layouts.virtual_stages
    behind = np.zeros_like(pp) if position == -1 else pp - 1 - position
    chunks = np.where(v > 1, 2 * behind + (v - 1) * pp + 1, behind + 1)
    return np.minimum(chunks / v, layouts.accumulation)


def _activations(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    dense: FloatArray,
    moe: FloatArray,
    position: int,
    *,
    fused: bool,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bytes of `_Stage`'s kept, redone and working, (n,) each."""

    def layers(recompute: str) -> tuple[Any, Any]:
        """Bytes of all layers of the stage, and of its largest one."""
        one = _layer_bytes(shape, job, framework, layouts, recompute, fused=fused)
        if not shape.is_moe:
            return dense * one, one
        mixture = _layer_bytes(
            shape, job, framework, layouts, recompute, fused=fused, mixture=True
        )
        return dense * one + moe * mixture, np.where(moe > 0, mixture, one)

    factor = framework.activation_factor
    shared = buffer_bytes(shape, job, framework, layouts)
    in_flight = micro_batches_in_flight(layouts, position)
    every, largest = (factor * size for size in layers("none"))
    gradients = factor * layers("gradients")[1] + shared
    kept, redone = in_flight * every, gradients
    working = largest + gradients
    selective = layouts.recompute == SELECTIVE
    if selective.any():
        share = framework.selective_factor
        part, one = (factor * size for size in layers("selective"))
        kept = np.where(selective, share * in_flight * part, kept)
        redone = np.where(selective, working - share * one, redone)
    full = layouts.recompute == FULL
    if full.any():
        one = _layer_bytes(shape, job, framework, layouts, "full", fused=fused)
        inputs, second = _inputs(
            job, framework, layouts, in_flight * (dense + moe) * one
        )
        kept = np.where(full, inputs, kept)
        redone = np.where(full, working - one + second, redone)
    return kept, redone, working


def _layer_bytes(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    recompute: str,
    *,
    fused: bool,
    mixture: bool = False,
) -> Any:
    """`activation_bytes_per_layer` of each layout, (n,)."""
    return activation_bytes_per_layer(
        shape,
        job.sequence_length,
        layouts.micro_batch,
        tp=layouts.tp,
        cp=layouts.cp,
        etp=layouts.etp,
        sequence_parallel=layouts.sequence_parallel,
        recompute=recompute,
        fused_attention=fused,
        gated_tensors=framework.gated_tensors,
        whole_tensors=framework.whole_tensors,
        element_bytes=SINGLE if job.precision == "fp32" else HALF,
        moe_layer=mixture,
        moe_imbalance=job.moe_imbalance,
    )


def _inputs(
    job: TrainingJob, framework: Framework, layouts: Layouts, inputs: FloatArray
) -> tuple[FloatArray, Any]:
    """Bytes of the inputs that full recomputation keeps, and of a second copy, (n,).

    Where the ends are in fp32, the residual stream is so too, but for ZeRO-3, which
    casts what it gathers. FSDP holds the inputs of layers whose weights are frozen
    until backward ends, as its hooks on them keep a reference.
    """
    state = state_bytes(job, framework)
    second: Any = 0.0
    if state.frozen_other:
        sharded = layouts.zero_stage == 3
        held = framework.residual_bytes / state.element - 1
        second = np.where(sharded, held * inputs, 0.0)
        inputs = inputs * np.where(sharded, 1.0, state.frozen_other / state.element)
    if job.offload.activations:
        inputs = 0.0 * inputs
    return inputs, second

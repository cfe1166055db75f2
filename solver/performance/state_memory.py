"""Weights, gradients and optimizer state: bytes a parameter, and whose they are.

Sources: ZeRO (arXiv 1910.02054) for what each stage divides; Megatron Core's
distributed optimizer; PyTorch FSDP with mixed precision (fp32 shards, of which a
16-bit copy is gathered); QLoRA (arXiv 2305.14314) for the 4-bit base.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.performance.adapters import adapter_counts, quantised_bytes
from solver.performance.inputs import (
    FloatArray,
    Framework,
    IntArray,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.transformer import (
    padded_vocab_array,
    parameters,
    trained_parameter_count,
)

TRAINED_END_BYTES = (2.0, 2.0)
"""Bytes of weight and gradient of an embedding or head that trains whole beside
adapters: a second copy in the base's 16 bits."""

HALF_BYTES = 2.0
GRADIENT_BYTES = {"bf16": 2.0, "fp32": 4.0}
"""Bytes of a gradient as a job may state it."""

SMALL_STATE_BYTES = 2.5
"""Optimizers with moments this small (8-bit) update in place, without temporaries."""


@dataclass(frozen=True, slots=True)
class StateBytes:
    """Bytes a trained parameter, and a frozen one where there are any."""

    weight: float
    copy: float
    """16-bit copy of fp32 weights, whole wherever weights are not sharded by ZeRO-3."""
    gradient: float
    optimizer: float
    """Master copy and moments held on the GPU, of the layers' matrices."""
    beside: float
    """What a parameter outside of them keeps more."""
    paged: float
    """Moments held in host memory."""
    step_temporary: float
    frozen_linear: float
    """Weights of the layers' matrices that do not train; 0 in full training."""
    frozen_other: float
    element: float
    """Bytes an element of activations and gathered weights."""


def state_bytes(job: TrainingJob, framework: Framework) -> StateBytes:
    """Bytes a parameter under the job's method, precision and optimizer.

    The optimizer's moments count as the job says; its master copy too, where it says
    so: 0 means training in pure 16-bit, without an fp32 copy anywhere. Adapters train
    in fp32 on a 16-bit base (LoRA: 16 bytes with Adam) and in 16-bit on a 4-bit base
    (QLoRA: 12 bytes).
    """
    optimizer = job.optimizer
    moments = 0.0 if optimizer.paged else optimizer.state_bytes
    temporary = framework.step_temporary_bytes
    if optimizer.paged or optimizer.state_bytes <= SMALL_STATE_BYTES:
        temporary = 0.0
    element = 4.0 if job.precision == "fp32" else 2.0
    weight, gradient = framework.weight_bytes, framework.gradient_bytes
    master = framework.master_bytes
    if job.method == "lora":
        weight, gradient, master = 4.0, 4.0, 0.0
    elif job.method == "qlora":
        weight, gradient, master = 2.0, 2.0, 0.0
    elif element == 4.0:
        weight, gradient, master = 4.0, 4.0, 0.0
    elif optimizer.master_bytes is not None:
        if weight > element and optimizer.master_bytes == 0:
            weight, gradient, temporary = element, element, temporary / 2
        elif weight <= element:
            master = optimizer.master_bytes
    adapters = job.method != "full"
    if job.gradient_precision and element == HALF_BYTES and not adapters:
        gradient = GRADIENT_BYTES[job.gradient_precision]
    quantised = quantised_bytes(job)
    ends = element if quantised is None else framework.qlora_ends_bytes
    return StateBytes(
        weight=weight,
        copy=element if weight > element and not adapters else 0.0,
        gradient=gradient,
        optimizer=master + moments,
        beside=0.0 if optimizer.paged or job.method != "full" else optimizer.beside,
        paged=optimizer.state_bytes if optimizer.paged else 0.0,
        step_temporary=temporary,
        frozen_linear=element * adapters if quantised is None else quantised,
        frozen_other=ends * adapters,
        element=element,
    )


def model_optimizer_bytes(
    shape: TransformerShape, job: TrainingJob, state: StateBytes
) -> float:
    """Bytes of master copy and moments of all that trains, but paged ones."""
    each = state.optimizer * trained_parameter_count(shape, job)
    count = parameters(shape)
    outside = count.outside_layers + shape.layers * count.norms
    outside += count.moe_layers * count.router
    return each + state.beside * outside


def frozen_end_bytes(state: StateBytes, layouts: Layouts) -> FloatArray:
    """Bytes of a frozen parameter outside of the layers' matrices, (n,).

    ZeRO-3 and FSDP divide tensors of one type only, so that beside a quantised base
    they stay in 16 bits where they are otherwise turned into fp32 (TRL leaves PEFT's
    preparation out where a quantised base is sharded).
    """
    sharded = (layouts.zero_stage == 3) & (layouts.shard_degree > 1)
    return np.where(sharded, min(state.element, state.frozen_other), state.frozen_other)


@dataclass(frozen=True)
class StageParameters:
    """Parameters that a rank of one stage holds before ZeRO, each (n,)."""

    layers: FloatArray
    """Matrices of its layers, routed experts apart."""
    experts: FloatArray
    other: FloatArray
    """Norms, router, embedding and head."""
    ends: FloatArray
    """Embedding and head, which are within ``other`` too."""
    layer: FloatArray
    """The matrices of its largest layer, all its experts included."""
    token_layer: FloatArray
    """The same with one expert only."""
    adapters: FloatArray
    """Adapters outside of experts (LoRA)."""
    trained_ends: FloatArray
    """Embedding and head that train whole beside the adapters."""
    expert_adapters: FloatArray


def stage_parameters(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    layouts: Layouts,
    dense_layers: FloatArray,
    moe_layers: FloatArray,
    *,
    first: bool,
    last: bool,
) -> StageParameters:
    """Parameters a rank of a stage that holds that many layers, (n,).

    Matrices are divided over TP (KV heads are copied where TP has more ranks),
    routed experts over EP and expert TP; norms and router are copied.
    """
    count = parameters(shape)
    tp = layouts.tp
    attention = count.attention + _kv_copies(shape, tp)
    one_layer = token_layer = (attention + count.mlp) / tp
    matrices = dense_layers * one_layer
    layers = dense_layers + moe_layers
    matrix = padded_vocab_array(shape, tp) * shape.hidden / tp
    ends = matrix * _end_matrices(shape, framework, layouts, first=first, last=last)
    other = layers * count.norms + ends + (count.positions if first else 0)
    nothing = np.zeros(len(tp))
    experts = adapters = expert_adapters = trained_ends = nothing
    expert_ranks = layouts.ep * layouts.etp
    if shape.is_moe:
        shared = (attention + count.shared_experts) / tp
        own_experts = count.n_experts * count.expert / expert_ranks
        matrices = matrices + moe_layers * shared
        experts = moe_layers * own_experts
        other = other + moe_layers * count.router
        one_layer = np.where(moe_layers > 0, shared + own_experts, one_layer)
        one_expert = shared + count.expert / layouts.etp
        token_layer = np.where(moe_layers > 0, one_expert, token_layer)
    if job.method != "full":
        outside, within = adapter_counts(shape, job)
        adapters = outside * layers / (shape.layers * tp)
        expert_adapters = within * moe_layers / expert_ranks
        trained_ends = ends if job.trains_ends else nothing
    return StageParameters(
        layers=matrices,
        experts=experts,
        other=other,
        ends=ends,
        layer=one_layer,
        token_layer=token_layer,
        adapters=adapters,
        trained_ends=trained_ends,
        expert_adapters=expert_adapters,
    )


def _kv_copies(shape: TransformerShape, tp: IntArray) -> FloatArray:
    """Extra parameters, over all ranks, of KV heads copied to more ranks, (n,)."""
    if shape.is_mla:
        return np.zeros(len(tp))
    keys_and_values = 2 * shape.hidden * shape.kv_heads * shape.head_dim
    return keys_and_values * np.maximum(tp / shape.kv_heads - 1, 0)


def _end_matrices(
    shape: TransformerShape,
    framework: Framework,
    layouts: Layouts,
    *,
    first: bool,
    last: bool,
) -> FloatArray:
    """Vocabulary matrices on the stage: embedding, head; tied ones once, (n,)."""
    single = layouts.pp == 1
    tied = shape.tied_embeddings and framework.shares_tied_embeddings
    embedding = np.ones(len(single)) if first else np.zeros(len(single))
    head = np.ones(len(single)) if last else np.where(single & first, 1.0, 0.0)
    if tied:
        head = np.where(single, 0.0, head)
    return embedding + head


def expert_shard_degree(layouts: Layouts) -> FloatArray:
    """Ranks over which ZeRO divides expert state: expert DP's share, (n,)."""
    degree = layouts.shard_degree * layouts.tp / (layouts.etp * layouts.ep)
    return np.where(layouts.zero_stage > 0, np.maximum(degree, 1.0), 1.0)

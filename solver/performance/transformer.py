"""Parameters and FLOPs of one decoder-only transformer, from its shape alone.

Counts are exact integers; FLOPs are floats (2MNK for a matmul of M x K by K x N).
Nothing here knows how the model is divided over GPUs, except the padding of the
vocabulary that tensor parallelism asks for.

Sources: Narayanan et al. 2021 (arXiv 2104.04473) for the plain transformer's
parameters (eq. 2) and FLOPs (eq. 3); DeepSeek-V2 (arXiv 2405.04434) for latent
attention; Hu et al. 2021 (arXiv 2106.09685) for adapters; Hoffmann et al. 2022
(arXiv 2203.15556) for compute-optimal tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from solver.performance.inputs import IntArray, TrainingJob, TransformerShape

Causal = Literal["half", "full"]
"""How attention is counted: 'half' where kernels skip the masked half, else 'full'."""

VOCABULARY_MULTIPLE = 128
"""The vocabulary is padded to a multiple of this times TP."""

LORA_TARGETS = ("q", "k", "v", "o", "gate", "up", "down")
"""Linear layers that can carry an adapter, in the order of a layer."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One weight matrix of a layer: inputs and outputs of its matmul."""

    name: str
    inputs: int
    outputs: int

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.inputs * self.outputs


@dataclass(frozen=True, slots=True)
class ParameterCount:
    """Parameters of a transformer by part; 'layer' parts are those of one layer."""

    attention: int
    """Attention's matrices and biases, and latent attention's inner norms."""
    mlp: int
    """MLP of one dense layer; 0 where every layer is a mixture."""
    expert: int
    """One routed expert."""
    shared_experts: int
    """All shared experts of one mixture layer together."""
    router: int
    norms: int
    """The two norms of one layer."""
    embedding: int
    positions: int
    head: int
    """0 where the head is the embedding."""
    final_norm: int
    dense_layers: int
    moe_layers: int
    n_experts: int
    experts_topk: int

    @property
    def dense_layer(self) -> int:
        """One dense layer."""
        return self.attention + self.mlp + self.norms

    @property
    def moe_layer_shared(self) -> int:
        """What every token uses of a mixture layer: all but the routed experts."""
        return self.attention + self.norms + self.router + self.shared_experts

    @property
    def moe_layer(self) -> int:
        """One mixture layer with all its experts."""
        return self.moe_layer_shared + self.n_experts * self.expert

    @property
    def outside_layers(self) -> int:
        """Embedding, positions, head and final norm."""
        return self.embedding + self.positions + self.head + self.final_norm

    @property
    def routed_experts(self) -> int:
        """All routed experts of all layers."""
        return self.moe_layers * self.n_experts * self.expert

    @property
    def total(self) -> int:
        """The whole model."""
        return (
            self.dense_layers * self.dense_layer
            + self.moe_layers * self.moe_layer
            + self.outside_layers
        )

    @property
    def active(self) -> int:
        """Parameters that one token uses (its top-k experts, all the rest)."""
        idle = self.n_experts - self.experts_topk
        return self.total - self.moe_layers * idle * self.expert


def padded_vocab(shape: TransformerShape, tp: int = 1) -> int:
    """Vocabulary rows that are stored when it is divided over ``tp`` ranks."""
    multiple = VOCABULARY_MULTIPLE * tp
    return -(-shape.vocab // multiple) * multiple


def padded_vocab_array(shape: TransformerShape, tp: IntArray) -> IntArray:
    """`padded_vocab` of an array of tensor-parallel degrees, (n,)."""
    multiple = VOCABULARY_MULTIPLE * tp
    return np.asarray(-(-shape.vocab // multiple) * multiple, dtype=np.int64)


def query_width(shape: TransformerShape) -> int:
    """Outputs of the query projection: heads x the size in which scores are taken."""
    if shape.is_mla:
        return shape.heads * (shape.qk_nope_dim + shape.qk_rope_dim)
    return shape.heads * shape.head_dim


def value_width(shape: TransformerShape) -> int:
    """Inputs of the output projection: heads x the size of a value."""
    if shape.is_mla:
        return shape.heads * shape.v_head_dim
    return shape.heads * shape.head_dim


def attention_matrices(shape: TransformerShape) -> tuple[Matrix, ...]:
    """Weight matrices of one layer's attention."""
    h, queries, values = shape.hidden, query_width(shape), value_width(shape)
    output = Matrix("o", values, h)
    if not shape.is_mla:
        keys = shape.kv_heads * shape.head_dim
        return (
            Matrix("q", h, queries),
            Matrix("k", h, keys),
            Matrix("v", h, keys),
            output,
        )
    rank = shape.kv_lora_rank
    if shape.q_lora_rank:
        query: tuple[Matrix, ...] = (
            Matrix("q_down", h, shape.q_lora_rank),
            Matrix("q", shape.q_lora_rank, queries),
        )
    else:
        query = (Matrix("q", h, queries),)
    return (
        *query,
        Matrix("kv_down", h, rank + shape.qk_rope_dim),
        Matrix("k", rank, shape.heads * shape.qk_nope_dim),
        Matrix("v", rank, values),
        output,
    )


def mlp_matrices(shape: TransformerShape, width: int) -> tuple[Matrix, ...]:
    """Weight matrices of an MLP (or expert) of inner size ``width``."""
    h = shape.hidden
    up = (Matrix("up", h, width), Matrix("down", width, h))
    return (Matrix("gate", h, width), *up) if shape.gated else up


def _weights(shape: TransformerShape, matrices: Iterable[Matrix]) -> int:
    """Weights of the matrices, with their biases where the model has biases."""
    bias = shape.linear_bias
    return sum(m.size + (m.outputs if bias else 0) for m in matrices)


def _attention_weights(shape: TransformerShape) -> int:
    """Weights and biases of one layer's attention."""
    matrices = attention_matrices(shape)
    weights = _weights(shape, matrices)
    if shape.qkv_bias and not shape.linear_bias:
        weights += sum(m.outputs for m in matrices if m.name in ("q", "k", "v"))
    return weights


def expert_width(shape: TransformerShape) -> int:
    """Inner size of one expert."""
    return shape.moe_ffn or shape.ffn


def parameters(shape: TransformerShape) -> ParameterCount:
    """Parameters by part, the vocabulary unpadded.

    Notes
    -----
    With LayerNorm, biases and learned positions this is 12 L h^2 (1 + 13/(12 h) +
    (V + s)/(12 L h)) plus the final norm (Narayanan et al. 2021, eq. 2).
    """
    norm = shape.hidden * (2 if shape.layer_norm else 1)
    inner_norms = shape.q_lora_rank + shape.kv_lora_rank if shape.is_mla else 0
    width = expert_width(shape)
    moe_layers = shape.moe_layers
    dense_layers = shape.layers - moe_layers
    expert = _weights(shape, mlp_matrices(shape, width)) if moe_layers else 0
    shared = mlp_matrices(shape, width * shape.shared_experts)
    return ParameterCount(
        attention=_attention_weights(shape) + inner_norms,
        mlp=_weights(shape, mlp_matrices(shape, shape.ffn)) if dense_layers else 0,
        expert=expert,
        shared_experts=(
            _weights(shape, shared) if moe_layers and shape.shared_experts else 0
        ),
        router=shape.hidden * shape.n_experts if moe_layers else 0,
        norms=2 * norm,
        embedding=shape.vocab * shape.hidden,
        positions=shape.learned_positions * shape.hidden,
        head=0 if shape.tied_embeddings else shape.vocab * shape.hidden,
        final_norm=norm,
        dense_layers=dense_layers,
        moe_layers=moe_layers,
        n_experts=shape.n_experts if moe_layers else 0,
        experts_topk=shape.experts_topk if moe_layers else 0,
    )


def parameter_count(shape: TransformerShape) -> int:
    """All parameters of the model."""
    return parameters(shape).total


def active_parameter_count(shape: TransformerShape) -> int:
    """Parameters that one token uses."""
    return parameters(shape).active


def adapter_parameters(
    shape: TransformerShape,
    rank: int,
    targets: tuple[str, ...] = (),
    experts: int | None = None,
) -> int:
    """Parameters of LoRA adapters of the given rank over all layers.

    A matrix of n inputs and m outputs gets r (n + m) parameters (Hu et al. 2021).
    No targets means all linear layers. In a mixture layer every routed and shared
    expert carries its own; ``experts`` counts fewer of the routed ones.
    """
    wanted = set(targets or LORA_TARGETS)

    def of(matrices: Iterable[Matrix]) -> int:
        return sum(rank * (m.inputs + m.outputs) for m in matrices if m.name in wanted)

    moe_layers = shape.moe_layers
    total = shape.layers * of(attention_matrices(shape))
    total += (shape.layers - moe_layers) * of(mlp_matrices(shape, shape.ffn))
    if moe_layers:
        width = expert_width(shape)
        routed = shape.n_experts if experts is None else experts
        total += moe_layers * routed * of(mlp_matrices(shape, width))
        if shape.shared_experts:
            shared = mlp_matrices(shape, width * shape.shared_experts)
            total += moe_layers * of(shared)
    return total


def trained_parameter_count(shape: TransformerShape, job: TrainingJob) -> int:
    """Parameters with gradients: all of them, or the adapters alone."""
    if job.method == "full":
        return parameter_count(shape)
    return adapter_parameters(shape, job.lora_rank, job.lora_targets)


def trained_shapes(
    shape: TransformerShape, job: TrainingJob
) -> tuple[TransformerShape, ...]:
    """All models that train: the one itself, and the critic of PPO."""
    critic = job.alignment.critic if job.alignment else None
    return (shape,) if critic is None else (shape, critic)


def attended_tokens(
    shape: TransformerShape, sequence: int, span: float = 0.0, causal: Causal = "half"
) -> float:
    """Mean number of keys that one query is multiplied with.

    Parameters
    ----------
    span
        Mean document length where kernels mask documents; 0: the whole sequence.
    causal
        'half' counts the lower triangle only; 'full' all of it, as PaLM's MFU does.

    Notes
    -----
    The mean of all layers, of which some may look back at everything and others
    through a window.
    """
    kinds = attention_kinds(shape, sequence, span, causal)
    return sum(share * keys for share, keys in kinds)


def attention_kinds(
    shape: TransformerShape, sequence: int, span: float = 0.0, causal: Causal = "half"
) -> tuple[tuple[float, float], ...]:
    """Kinds of layers by what attention covers: their share, and mean keys of a query.

    Notes
    -----
    Under a window of w < s tokens the causal mean is w - w^2 / (2 s).
    """
    length = float(min(span, sequence) if span > 0 else sequence)
    window = float(shape.sliding_window)
    everything = length / 2 if causal == "half" else length
    share = shape.windowed_share if window < length else 0.0
    if share == 0.0:
        return ((1.0, everything),)
    near = window - window**2 / (2 * length) if causal == "half" else window
    if share == 1.0:
        return ((1.0, near),)
    return ((share, near), (1.0 - share, everything))


@dataclass(frozen=True, slots=True)
class ForwardFlops:
    """Forward FLOPs of one token by part; 'layer' parts are those of one layer."""

    dense_linear: float
    """Matmuls with weights of one dense layer."""
    moe_linear: float
    """The same of one mixture layer: attention, router, shared and top-k experts."""
    attention: float
    """Scores and their product with the values in one layer; no weights."""
    head: float
    """Logits."""
    dense_layers: int
    moe_layers: int

    @property
    def linear(self) -> float:
        """All layers' matmuls with weights, without the head."""
        return self.dense_layers * self.dense_linear + self.moe_layers * self.moe_linear

    @property
    def attention_total(self) -> float:
        """All layers' attention core."""
        return (self.dense_layers + self.moe_layers) * self.attention

    @property
    def layers(self) -> float:
        """Everything but the head."""
        return self.linear + self.attention_total

    @property
    def total(self) -> float:
        """The whole forward pass."""
        return self.layers + self.head


def forward_flops(
    shape: TransformerShape,
    sequence: int,
    span: float = 0.0,
    causal: Causal = "half",
    vocab: int | None = None,
) -> ForwardFlops:
    """Forward FLOPs of one token.

    Attention costs 2 FLOP for each (query, key) pair and element of the score's and
    of the value's size: 4 s d a a token and layer where both are d wide.
    """
    attention_weights = sum(m.size for m in attention_matrices(shape))
    mlp = sum(m.size for m in mlp_matrices(shape, shape.ffn))
    moe_layers = shape.moe_layers
    moe = 0
    if moe_layers:
        expert = sum(m.size for m in mlp_matrices(shape, expert_width(shape)))
        copies = shape.experts_topk + shape.shared_experts
        moe = expert * copies + shape.hidden * shape.n_experts
    keys = attended_tokens(shape, sequence, span, causal)
    return ForwardFlops(
        dense_linear=2.0 * (attention_weights + mlp),
        moe_linear=2.0 * (attention_weights + moe) if moe_layers else 0.0,
        attention=2.0 * keys * (query_width(shape) + value_width(shape)),
        head=2.0 * shape.hidden * (shape.vocab if vocab is None else vocab),
        dense_layers=shape.layers - moe_layers,
        moe_layers=moe_layers,
    )


def adapter_forward_flops(shape: TransformerShape, job: TrainingJob) -> float:
    """Forward FLOPs that LoRA adapters add to one token (top-k experts only)."""
    if job.method == "full":
        return 0.0
    return 2.0 * adapter_parameters(
        shape, job.lora_rank, job.lora_targets, experts=shape.experts_topk
    )


def model_flops_per_token(
    shape: TransformerShape, job: TrainingJob, causal: Causal = "half"
) -> float:
    """FLOPs that training one token needs, without recomputation: the base of MFU.

    Backward is twice forward where weights train. LoRA and QLoRA skip the weight
    gradient of frozen matrices, so their matmuls count twice instead of thrice;
    attention and the adapters themselves count thrice.
    """
    flops = forward_flops(shape, job.sequence_length, job.attention_span, causal)
    if job.method == "full":
        return 3.0 * flops.total
    return (
        2.0 * (flops.linear + flops.head)
        + 3.0 * flops.attention_total
        + 3.0 * adapter_forward_flops(shape, job)
    )


def recompute_flops_per_token(
    shape: TransformerShape,
    job: TrainingJob,
    recompute: str,
    causal: Causal = "half",
) -> float:
    """FLOPs that recomputation adds to one token.

    Full recomputation repeats every layer's forward (not the head's); selective
    repeats the attention core (Korthikanti et al. 2022, arXiv 2205.05198).
    """
    if recompute == "none":
        return 0.0
    flops = forward_flops(shape, job.sequence_length, job.attention_span, causal)
    if recompute == "selective":
        return flops.attention_total
    return flops.layers + adapter_forward_flops(shape, job)


def iteration_flops(
    shape: TransformerShape,
    job: TrainingJob,
    global_batch: int,
    recompute: str = "none",
    causal: Causal = "half",
) -> float:
    """FLOPs of one optimizer step on ``global_batch`` sequences.

    With full recomputation and 'full' attention a plain transformer needs
    96 B s L h^2 (1 + s/(6 h) + V/(16 L h)) (Narayanan et al. 2021, eq. 3).
    """
    per_token = model_flops_per_token(shape, job, causal)
    per_token += recompute_flops_per_token(shape, job, recompute, causal)
    return per_token * global_batch * job.sequence_length

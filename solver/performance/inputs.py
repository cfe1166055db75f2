"""What the performance model is fed: plain numbers and numpy arrays, no files.

Every class is frozen. Arrays are one-dimensional with one element a layout; the
classes that describe hardware may hold scalars or arrays of the same length, so
that one call can evaluate layouts on many kinds of hardware at once.

Units are bytes, seconds, FLOP and byte/s throughout, whatever the catalog prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.performance.alignment_inputs import Alignment
from solver.performance.numerics import NOTHING_LEAVES, Offload, Optimizer

__all__ = [
    "RECOMPUTE",
    "BatchRamp",
    "BoolArray",
    "FloatArray",
    "Framework",
    "Hardware",
    "IntArray",
    "Layouts",
    "Memory",
    "Offload",
    "Optimizer",
    "StepTime",
    "TrainingJob",
    "TransformerShape",
]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

RECOMPUTE = ("none", "selective", "full")
"""Activation recomputation by its code in ``Layouts.recompute``."""


@dataclass(frozen=True, slots=True)
class TransformerShape:
    """Sizes of one decoder-only transformer; zero means 'has none of it'."""

    layers: int
    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    gated: bool = True
    tied_embeddings: bool = False
    linear_bias: bool = False
    qkv_bias: bool = False
    """Biases on query, key and value alone; ``linear_bias`` has them anyway."""
    layer_norm: bool = False
    """LayerNorm (weight and bias) instead of RMSNorm (weight)."""
    learned_positions: int = 0
    """Rows of a learned position embedding."""
    sliding_window: int = 0
    """Tokens that attention looks back; 0: all of the sequence."""
    full_attention_every: int = 0
    """Every how many layers one looks back at everything all the same; 0: none."""
    dropout: bool = False
    n_experts: int = 0
    experts_topk: int = 0
    shared_experts: int = 0
    moe_ffn: int = 0
    first_dense_layers: int = 0
    moe_layer_freq: int = 1
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    qk_nope_dim: int = 0
    qk_rope_dim: int = 0
    v_head_dim: int = 0

    @property
    def is_moe(self) -> bool:
        """Whether some layers are mixtures of experts."""
        return self.n_experts > 1

    @property
    def is_mla(self) -> bool:
        """Whether attention is latent (DeepSeek's MLA)."""
        return self.kv_lora_rank > 0

    @property
    def windowed_share(self) -> float:
        """Share of the layers whose attention has the sliding window."""
        if not self.sliding_window:
            return 0.0
        every = self.full_attention_every
        return 1.0 - (self.layers // every / self.layers if every else 0.0)

    @property
    def moe_layers(self) -> int:
        """Number of layers that hold experts."""
        if not self.is_moe:
            return 0
        rest = self.layers - self.first_dense_layers
        return rest // max(self.moe_layer_freq, 1)


@dataclass(frozen=True, slots=True)
class BatchRamp:
    """Batches that grow in equal steps while the first samples are seen."""

    start: int
    """Sequences of the first step."""
    step: int
    """Sequences by which the batch grows."""
    samples: float
    """Sequences seen until the batch is whole."""


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """What is trained, for how long and with which numerics."""

    sequence_length: int
    tokens: float
    batch_min: int
    batch_target: int
    batch_max: int
    """Allowed and wanted global batch, in sequences."""
    method: str
    """full | lora | qlora."""
    precision: str
    """bf16 | fp16 | fp8 | mxfp8 | nvfp4 | fp32."""
    optimizer: Optimizer
    lora_rank: int = 0
    lora_targets: tuple[str, ...] = ()
    """Linear layers with adapters: q k v o gate up down (all when empty)."""
    trains_ends: bool = False
    """Whether embedding and head train whole beside the adapters."""
    loss: str = "whole"
    """whole | chunked: logits of all tokens of a micro-batch at once, or of a chunk."""
    base: str = ""
    """Format of the frozen base's linears: bf16 | int8 | nf4 | nf4_plain; empty: the
    method's."""
    attention_span: float = 0.0
    """Mean tokens that attention covers (mean document length); 0: the sequence."""
    moe_imbalance: float = 1.1
    """Work of the busiest expert rank over the mean."""
    efficiency: float = 1.0
    """Speed of a step over that of a well-tuned framework, which is predicted."""
    batch_ramp: BatchRamp | None = None
    """How the batch grows to its size; None: it has it from the first step."""
    offload: Offload = NOTHING_LEAVES
    gradient_precision: str = ""
    """bf16 | fp32: how gradients are kept and reduced; empty: as the framework does."""
    fp8_weights: bool = False
    """Whether the linears' weights are kept in 8 bits, beside the master copy alone."""
    batch_multiple: int = 1
    """Every batch is a multiple of this: the responses to one prompt stay together."""
    alignment: Alignment | None = None
    """What DPO, PPO or GRPO adds to the training; None: nothing."""

    @property
    def master_weights(self) -> str:
        """fp32 or none: whether an fp32 copy of the weights that train is kept.

        Of adapters none; weights in fp32 are their own copy.
        """
        pure = self.optimizer.master_bytes == 0 and self.precision != "fp32"
        return "none" if pure or self.method != "full" else "fp32"

    @property
    def sequences(self) -> float:
        """Sequences of the run."""
        return self.tokens / self.sequence_length

    @property
    def rollout_nodes(self) -> int:
        """Nodes that only generate, beside those of the layout."""
        return self.alignment.rollout_nodes if self.alignment else 0


@dataclass(frozen=True, slots=True)
class Framework:
    """What one framework class can run and what it costs (catalog/frameworks)."""

    name: str
    # which layouts it can run
    tensor_parallel: bool
    pipeline_parallel: bool
    context_parallel: bool
    expert_parallel: bool
    virtual_stages: bool
    zero_stages: tuple[int, ...]
    zero_stages_with_pp: tuple[int, ...]
    hybrid_sharding: bool
    sequence_parallel: bool
    expert_parallel_spans_tp: bool
    """Megatron: ep divides tp*cp*dp; elsewhere it divides dp."""
    recompute: tuple[str, ...]
    # bytes a trained parameter, full training
    weight_bytes: float
    gradient_bytes: float
    master_bytes: float
    bucket_bytes: float
    """Extra bytes a parameter of data-parallel buckets when dp > 1."""
    gradients_sharded_from: int
    """Lowest ZeRO stage at which gradients are divided over the shard group."""
    step_temporary_bytes: float
    """Extra bytes a (sharded) parameter during the optimizer step."""
    # activations and the rest
    activation_factor: float
    selective_factor: float
    gated_tensors: float
    """ffn-wide tensors kept for backward by a gated MLP (3 fused, 4 eager)."""
    residual_bytes: float
    """Bytes an element of the layers' inputs under full recomputation while backward
    runs through frozen layers that ZeRO-3 shards (FSDP holds on to a second copy)."""
    logit_bytes: float
    gathered_layers: float
    """Layers gathered at once under ZeRO-3 / FSDP."""
    base_bytes: float
    """CUDA context, workspaces and fragmentation."""
    # time
    constants: Mapping[str, float] = field(default_factory=dict)
    """Named time constants: overlap fractions, host seconds a layer, ..."""
    # what is unlike the usual
    persistent_gradients: bool = True
    """Gradient buffers exist from the start, not only from the first backward."""
    pipeline_fill: bool = False
    """Refuses fewer than PP - 1 micro-batches a step."""
    shares_tied_embeddings: bool = True
    """Keeps one copy of tied embeddings where one rank holds both ends."""
    stages_by_cost: bool = False
    """Divides layers over stages by compute, the head included (`stages`)."""
    whole_tensors: float = 4.0
    """Hidden-wide tensors of a layer that every TP rank keeps whole without sequence
    parallelism; counted are the inputs of both norms and of both blocks."""
    qlora_ends_bytes: float = 2.0
    """Bytes a parameter of embedding, head and norms beside a 4-bit base: 4 where they
    are turned into fp32, and with them the residual stream."""
    sharded_bases: tuple[str, ...] = ("nf4", "nf4_plain")
    """Formats of a quantised base that ZeRO-3 or FSDP can divide over ranks."""
    offload_optimizer: tuple[int, ...] = ()
    """ZeRO stages under which the optimizer's states can leave the GPU; 0: of one GPU
    alone, as every rank would bring a copy of its own."""
    offload_parameters: tuple[int, ...] = ()
    """ZeRO stages under which weights and gradients can leave as well."""
    offload_activations: bool = False
    """Whether the inputs that full recomputation keeps can leave."""
    offload_nvme: bool = False
    """Whether states can go to drives, too."""
    context_by_heads: bool = False
    """Divides attention by heads (Ulysses), beside ZeRO alone; else by a ring."""
    context_on_request: bool = False
    """Only some programs of the class have context parallelism, which needs FSDP:
    degrees count where the user names them."""
    losses: tuple[str, ...] = ("whole",)
    """How it can take the loss; the first is what it does unless asked."""
    loss_chunks: int = 0
    """Chunks of tokens of a chunked loss; 0: as many as the vocabulary is wider than
    the hidden size, to the next power of two (Liger)."""


@dataclass(frozen=True)
class Hardware:
    """One kind of node and its fabric, as numbers; scalars or (n,) arrays.

    Efficiency fractions come from catalog/calibration.yaml by GPU generation, so
    that the formulas hold no table of GPU names.
    """

    gpus_per_node: Any
    nvlink_domain_gpus: Any
    """GPUs that reach each other without the NICs: the node, 72 in NVL72."""
    memory_bytes: Any
    """Usable device memory."""
    hbm_bytes_per_s: Any
    peak_16bit: Any
    """Dense tensor FLOP/s in bf16/fp16 with fp32 accumulation (fp32 in fp32 jobs)."""
    peak_precision: Any
    """Dense FLOP/s of the job's precision for linear layers (= peak_16bit in bf16)."""
    sm_count: Any
    gemm_efficiency: Any
    """Sustained fraction of ``peak_precision`` for large matmuls."""
    gemm_efficiency_16bit: Any
    attention_efficiency: Any
    """Sustained fraction of ``peak_16bit`` of the attention kernel."""
    fused_attention: Any
    """Whether a flash-attention kernel exists for the GPU (bool)."""
    intra_bytes_per_s: Any
    """Achieved NVLink bytes/s a GPU and direction in the domain, 0 without NVLink."""
    intra_pair_only: Any
    """NVLink joins only pairs (bridges); larger groups fall to PCIe (bool)."""
    pcie_bus_2: Any
    pcie_bus_4: Any
    pcie_bus_8: Any
    """All-reduce bus rate over PCIe of groups of 2, 4 and 8 GPUs, bytes/s."""
    inter_bytes_per_s: Any
    """Achieved bytes/s a GPU and direction across nodes; 0: one node only."""
    inter_latency_s: Any
    intra_latency_s: Any
    mfu_tuned: Any = 0.0
    """Reserved for hardware whose efficiency is only known as a whole; 0: unused."""
    intra_mesh: Any = False
    """Links join pairs directly: a group of g of d GPUs has (g-1)/(d-1) of the rate."""
    host_bytes_per_s: Any = 2.0e10
    """Bytes/s a GPU and direction between device and host memory."""
    host_memory_bytes_per_s: Any = 2.0e11
    """Achieved bytes/s of a node's host memory, for optimizers that run there."""
    host_cores: Any = 64
    """Cores of a node."""
    nvme_read_bytes_per_s: Any = 0.0
    """Bytes/s at which a node reads its own drives; 0: it has none."""
    nvme_write_bytes_per_s: Any = 0.0
    hbm_efficiency: Any = 0.85
    """Achieved fraction of ``hbm_bytes_per_s`` of memory-bound kernels."""
    tile_fill_s: Any = 5.0e-7
    """Time to fill and drain the pipeline of one 128 x 128 matmul tile, seconds."""
    wave_tail: Any = 0.35
    """Waves of tiles that a matmul loses to its tail."""
    plain_rate: Any = 1.0
    """Share of the sustained matmul rate that a stack without tuned kernels reaches."""
    grouped_rate: Any = 1.0
    """Share of the sustained matmul rate that grouped matmuls of experts reach."""
    attention_ramp_tokens: Any = 300.0
    """Span at which the attention kernel reaches half of its rate, tokens."""
    speed_headroom: Any = 1.0
    """How many times faster everything could be until something passes its nominal
    rate."""

    def take(self, rows: IntArray) -> Hardware:
        """Same hardware with array fields indexed by ``rows``."""
        return Hardware(
            **{
                f.name: (v[rows] if isinstance(v, np.ndarray) and v.ndim else v)
                for f in fields(self)
                for v in (getattr(self, f.name),)
            }
        )


@dataclass(frozen=True)
class Layouts:
    """Parallel layouts as a struct of arrays, each (n,).

    ``gpus == tp * pp * cp * dp`` and
    ``global_batch == dp * micro_batch * accumulation`` hold for every row.
    """

    nodes: IntArray
    gpus_per_node: IntArray
    tp: IntArray
    pp: IntArray
    cp: IntArray
    ep: IntArray
    etp: IntArray
    dp: IntArray
    virtual_stages: IntArray
    micro_batch: IntArray
    accumulation: IntArray
    zero_stage: IntArray
    shard_degree: IntArray
    """Ranks over which ZeRO divides what its stage divides (1 with ZeRO-0)."""
    sequence_parallel: BoolArray
    recompute: IntArray
    """Code into ``RECOMPUTE``."""

    def __len__(self) -> int:
        """Number of layouts."""
        return len(self.tp)

    @property
    def gpus(self) -> IntArray:
        """GPUs in use, (n,)."""
        return self.tp * self.pp * self.cp * self.dp

    @property
    def global_batch(self) -> IntArray:
        """Sequences a step, (n,)."""
        return self.dp * self.micro_batch * self.accumulation

    def take(self, rows: Any) -> Layouts:
        """The layouts at ``rows`` (indices, slice or mask)."""
        return Layouts(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def row(self, index: int) -> dict[str, int]:
        """One layout as plain integers."""
        return {f.name: int(getattr(self, f.name)[index]) for f in fields(self)}

    @staticmethod
    def from_rows(rows: list[dict[str, int]]) -> Layouts:
        """Layouts from plain dictionaries, the inverse of ``row``."""
        columns = {
            f.name: np.array(
                [r[f.name] for r in rows],
                dtype=bool if f.name == "sequence_parallel" else np.int64,
            )
            for f in fields(Layouts)
        }
        return Layouts(**columns)

    @staticmethod
    def concatenate(parts: list[Layouts]) -> Layouts:
        """All layouts of ``parts`` in order."""
        return Layouts(
            **{
                f.name: np.concatenate([getattr(p, f.name) for p in parts])
                for f in fields(Layouts)
            }
        )

    def with_columns(self, **columns: Any) -> Layouts:
        """A copy with some columns replaced."""
        return replace(self, **columns)


@dataclass(frozen=True)
class Memory:
    """Bytes a GPU on the fullest stage at its fullest moment, each (n,)."""

    weights: FloatArray
    gradients: FloatArray
    optimizer: FloatArray
    activations: FloatArray
    other: FloatArray
    """Context, workspaces, gathered layers, temporaries and fragmentation."""
    fragmentation: FloatArray
    """Part of ``other``: what the allocator reserves beyond what is allocated."""

    @property
    def total(self) -> FloatArray:
        """Peak bytes, (n,): the sum of the parts."""
        return (
            self.weights
            + self.gradients
            + self.optimizer
            + self.activations
            + self.other
        )

    @property
    def allocated(self) -> FloatArray:
        """Peak bytes without fragmentation, as frameworks count what they allocate."""
        return self.total - self.fragmentation


@dataclass(frozen=True)
class StepTime:
    """Seconds of one optimizer step by exposed part, each (n,); they add up."""

    compute: FloatArray
    """Forward and backward kernels of the slowest stage, all micro-batches."""
    recompute: FloatArray
    tensor_parallel: FloatArray
    context_parallel: FloatArray
    expert_parallel: FloatArray
    pipeline: FloatArray
    """Bubble and exposed point-to-point."""
    data_parallel: FloatArray
    optimizer: FloatArray
    offload: FloatArray
    """Exposed transfers to host or drives, and the optimizer's step on the CPU."""
    overhead: FloatArray
    """Host-bound time, fixed time a step and stragglers."""

    @property
    def total(self) -> FloatArray:
        """Seconds a step, (n,)."""
        parts = [getattr(self, f.name) for f in fields(self)]
        return np.asarray(np.sum(parts, axis=0))

    def parts(self) -> dict[str, FloatArray]:
        """Name to seconds, (n,) each, in printing order."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class AlignedStepTime(StepTime):
    """Seconds of one step of alignment; the policy's training is in the parts above."""

    generation: FloatArray
    """Responses of the batch, as far as training does not hide them."""
    scoring: FloatArray
    """Forward passes of policy, reference, reward model and critic."""
    critic: FloatArray
    """Training of the critic."""
    weight_sync: FloatArray
    """Bringing the new weights to where they generate."""

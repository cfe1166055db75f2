"""The scenario file as people write it, key by key.

Every key but ``model`` and ``workload`` may be left out, and a key without a value is
as good as left out. Names are still as written here; `solver.scenario.load` resolves
them. The docstring under a field is its help in editors
(``gpuplan scenarios schema``) and in ``docs/scenario-fields.md``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    Tag,
)

from solver.catalog.schema import (
    IntraNodeKind,
    NetworkKind,
    PurchaseKind,
    StorageKind,
)
from solver.scenario.alignment_schema import AlignmentSpec
from solver.scenario.data_schema import (
    BatchRampSpec,
    DataFileSpec,
    Packing,
    TokensWritten,
)
from solver.scenario.failures_schema import FailuresSpec
from solver.scenario.model_schema import ModelSpec
from solver.scenario.quantities import (
    Bandwidth,
    BatchSequences,
    BatchTokens,
    Confidence,
    Efficiency,
    Epochs,
    Fraction,
    Gbps,
    GigabytesPerSecond,
    Hours,
    Megawatthours,
    NodeCount,
    PositiveDays,
    PositiveSeconds,
    PositiveWhole,
    Rate,
    Samples,
    Seed,
    Sequences,
    SequenceTokens,
    Share,
    Text,
    Tonnes,
    Usd,
    Weight,
    When,
    Workers,
)
from solver.scenario.range_schema import Degrees, Stages
from solver.scenario.scenario import Aim
from solver.scenario.spec import AnyOf, Form, Names, Spec, Spelled, SpelledModule
from solver.scenario.supply_schema import OfferSpec, PriceSpec, QuotaSpec
from solver.units import DAY

Method = Literal["full", "lora", "qlora", "sft", "dpo", "ppo", "grpo"]
Train = Literal["full", "lora", "qlora"]
Start = Literal["scratch", "checkpoint"]
Precision = Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"]
Recompute = Literal["none", "selective", "full"]
Offload = Literal[
    "none",
    "any",
    "optimizer",
    "parameters",
    "activations",
    "optimizer+activations",
    "parameters+activations",
]
LoraTarget = Literal["q", "k", "v", "o", "gate", "up", "down"]
Loss = Literal["whole", "chunked"]
Base = Literal["bf16", "int8", "nf4", "nf4_plain"]


class BatchSpec(Spec):
    """The global batch, in tokens or sequences, exactly or within limits."""

    tokens: BatchTokens | None = None
    """Tokens a step; rounded to whole sequences, which the plan says."""
    sequences: BatchSequences | None = None
    """Sequences a step."""
    tolerance: Share | None = None
    """How far the batch may be from `tokens` or `sequences`. Default: not at all."""
    min: Sequences | None = None
    """Fewest sequences a step."""
    max: Sequences | None = None
    """Most sequences a step."""


class LoraSpec(Spec):
    """The adapters of lora and qlora."""

    rank: PositiveWhole = 16
    """Rank of the adapters. Default: 16."""
    targets: Annotated[tuple[Annotated[LoraTarget, SpelledModule], ...], AnyOf] = ()
    """Linear layers with adapters: q or q_proj, and so on. Default: all of q, k, v, o,
    gate, up, down."""
    base: Annotated[Base, Spelled] | None = None
    """How the frozen linears are kept: bf16 (the 16 bits of the precision), int8, nf4
    (4 bits, double quantisation) or nf4_plain (without). Default: bf16 for lora, nf4
    for qlora."""


class WorkloadSpec(Spec):
    """What is trained, on how much, and how."""

    method: Annotated[Method, Spelled] = "full"
    """full (all weights), lora (adapters) or qlora (adapters on a quantised base: 4
    bits unless `lora.base` says int8); or a method of alignment: sft, dpo, ppo or grpo
    (docs/alignment.md)."""
    train: Annotated[Train, Spelled] | None = None
    """What sft, dpo, ppo and grpo train: full, lora or qlora. Default: full."""
    alignment: AlignmentSpec | None = None
    """The models and the work of dpo, ppo and grpo."""
    start: Annotated[Start, Spelled] | None = None
    """scratch, or checkpoint for fine-tuning. Default: scratch for full, else
    checkpoint."""
    tokens: TokensWritten | None = None
    """Tokens to train on; or compute-optimal (20 for each parameter that a token
    passes, Chinchilla); or {text: 2 TB}. This or `samples` is needed."""
    samples: Samples | None = None
    """Samples of the data set, instead of `tokens`."""
    epochs: Epochs | None = None
    """Passes over the samples, or the text. Default: 1."""
    packing: Annotated[Packing, Spelled] | None = None
    """packed (documents share sequences) or padded (each sample fills a sequence of its
    own, and the padding is computed too). Default: packed; samples without
    `data.mean_document_tokens` are taken as whole sequences."""
    sequence_length: SequenceTokens | None = None
    """Tokens a sequence; of dpo each of the two sequences of a pair, of ppo and grpo
    what a prompt and its longest response stay within. Default: 4096, or what the model
    allows if that is less; dpo 2048, ppo and grpo what their lengths add up to."""
    global_batch_size: (
        Annotated[
            Annotated[Sequences, Tag("<value>")]
            | Annotated[BatchSpec, Tag("<mapping>")],
            Form,
        ]
        | None
    ) = None
    """Sequences a step; or {tokens: 4M}, {sequences: 1024, tolerance: 5%} or
    {min: 900, max: 1200}. Default: 128 sequences; from scratch the power of two
    nearest to 4M tokens, which is 1,024 sequences of 4,096."""
    batch_ramp: BatchRampSpec | None = None
    """The batch grows to its size, as {from: 16, step: 16, samples: 6M}: DP x
    micro-batch has to divide every batch on the way. Default: it does not."""
    precision: Annotated[tuple[Annotated[Precision, Spelled], ...], AnyOf] = ()
    """bf16, fp16, fp8, mxfp8, nvfp4 or fp32, or a list of which the best is taken; a
    GPU that lacks it is not used. Default: bf16."""
    optimizer: Names = ()
    """adamw, paged-adamw-8bit ...; the ids of catalog/optimizers.yaml, or a list of
    which the best is taken. Default: the framework's."""
    gradient_precision: Annotated[Literal["bf16", "fp32"], Spelled] | None = None
    """bf16 or fp32: how gradients are kept and reduced, where the framework leaves the
    choice. Default: the framework's."""
    master_weights: Annotated[
        tuple[Annotated[Literal["fp32", "none"], Spelled], ...], AnyOf
    ] = ()
    """fp32 or none: whether an fp32 copy of 16-bit weights is kept, or a list of which
    the best is taken. none is pure 16-bit training, in which updates far smaller than a
    weight are lost unless rounding is stochastic. Default: the optimizer's, which is
    fp32 but for adamw-bf16."""
    fp8_weights: bool = False
    """Whether the weights of linears are kept in 8 bits under fp8 or mxfp8, as
    Megatron's --fp8-param-gather does."""
    offload: Annotated[tuple[Annotated[Offload, Spelled], ...], AnyOf] = ()
    """What may leave the GPU: none, optimizer (its states), parameters (and optimizer
    states), activations (the inputs that full recomputation keeps), optimizer+
    activations or parameters+activations; or a list of which the best is taken, or any:
    all that the framework can. Default: none."""
    offload_to: Annotated[
        tuple[Annotated[Literal["host", "nvme"], Spelled], ...], AnyOf
    ] = ()
    """Where states go: host (memory), nvme (the node's own drives), or a list of which
    the best is taken; activations go to the host. Default: host."""
    framework: Text | None = None
    """megatron, deepspeed, pytorch-fsdp, torchtitan, nanotron or hf-trainer. Default:
    megatron from scratch, pytorch-fsdp for full fine-tuning, hf-trainer for LoRA."""
    loss: Annotated[tuple[Annotated[Loss, Spelled], ...], AnyOf] = ()
    """whole (logits of all tokens at once) or chunked (of a part of them at a time), or
    a list of which the best is taken. Default: the framework's."""
    lora: LoraSpec | None = None
    """The adapters; only with the methods lora and qlora."""
    efficiency: Efficiency = 1.0
    """Share of the predicted speed that your software reaches, 1% to 120%; it divides
    the whole step time. Default: 1, a well-tuned framework. docs/accuracy.md has what
    labs reached."""


class ServingSpec(Spec):
    """Where the finished weights go."""

    regions: Names = ()
    """Regions that they are copied to, in 16 bits: provider/region. The job is
    finished when they are there."""


class ObjectiveSpec(Spec):
    """A weighted sum of money, time and carbon, in USD."""

    cost: Weight = 1.0
    """Weight of the cost. Default: 1."""
    usd_per_day: Usd = 0.0
    """What a day less is worth, USD."""
    usd_per_tonne_co2: Usd = 0.0
    """What a tonne of CO2 less is worth, USD; offers whose grid is not known are left
    out then."""


class GpusSpec(Spec):
    """Which GPUs, and how many."""

    types: Names = ()
    """GPUs allowed; a family such as A100 means all its members."""
    exclude: Names = ()
    """GPUs not allowed; a family means all its members."""
    min: PositiveWhole | None = None
    """Fewest GPUs."""
    max: PositiveWhole | None = None
    """Most GPUs."""
    per_node: Annotated[tuple[PositiveWhole, ...], AnyOf] = ()
    """GPUs a node, any of these."""


class IntraNodeSpec(Spec):
    """How the GPUs of a node are joined."""

    min_gb_per_s: GigabytesPerSecond | None = None
    """Least bandwidth, GB/s per GPU and direction."""
    kinds: Annotated[tuple[Annotated[IntraNodeKind, Spelled], ...], AnyOf] = ()
    """nvswitch, nvlink, pcie or none, any of these."""


class NetworkSpec(Spec):
    """How nodes are joined."""

    min_gbps_per_gpu: Gbps | None = None
    """Least bandwidth, Gb/s for each GPU of a node."""
    kinds: Annotated[tuple[Annotated[NetworkKind, Spelled], ...], AnyOf] = ()
    """infiniband, roce, efa, tcpx or ethernet, any of these."""


class StorageConstraintSpec(Spec):
    """Where data and checkpoints may lie."""

    kinds: Annotated[tuple[Annotated[StorageKind, Spelled], ...], AnyOf] = ()
    """local_nvme, nvme_raid, parallel_fs, network_fs, block or object_store."""
    min_read: Bandwidth | None = None
    """Least reading rate of the job, as `10 GB/s`; a bare number is GB/s."""


class ParallelismSpec(Spec):
    """Limits of the parallel layout; each is 8, or [4, 8], or {min: 1, max: 8}."""

    tp: Degrees | None = None
    """Tensor-parallel degree."""
    pp: Degrees | None = None
    """Pipeline stages."""
    cp: Degrees | None = None
    """Context-parallel degree."""
    ep: Degrees | None = None
    """Expert-parallel degree."""
    dp: Degrees | None = None
    """Data-parallel replicas."""
    virtual_stages: Degrees | None = None
    """Model chunks of each pipeline stage (interleaving)."""
    micro_batch: Degrees | None = None
    """Sequences of a micro-batch."""
    zero_stage: Stages | None = None
    """0 to 3: what is sharded over data-parallel ranks (FSDP is 3)."""
    recompute: Annotated[tuple[Annotated[Recompute, Spelled], ...], AnyOf] = ()
    """none, selective or full: activations computed again in the backward pass."""


class ConstraintsSpec(Spec):
    """Limits that the plan has to keep; what is left out is not limited."""

    deadline: When | None = None
    """Duration from the start of the plan, everything included, as `30 days` (a bare
    number is days); or the date on whose first hour training has to be finished."""
    budget: Usd | None = None
    """Most that everything may cost, USD."""
    max_energy: Megawatthours | None = None
    """Most energy of nodes and cooling, as `100 MWh`; a bare number is MWh."""
    max_carbon: Tonnes | None = None
    """Most CO2 of that energy, as `20 t`; a bare number is tonnes. An offer whose grid
    is not known cannot keep it."""
    min_tokens_per_s: Rate | None = None
    """Least training speed, tokens/s."""
    regions: Names = ()
    """Regions allowed: provider/region, or a bare region name of any provider."""
    countries: Names = ()
    """Countries allowed: two-letter codes, names, or EU or EEA for all members."""
    providers: Names = ()
    """Providers allowed."""
    gpus: GpusSpec = GpusSpec()
    """Which GPUs, and how many."""
    intra_node: IntraNodeSpec = IntraNodeSpec()
    """How the GPUs of a node are joined."""
    network: NetworkSpec = NetworkSpec()
    """How nodes are joined."""
    storage: StorageConstraintSpec = StorageConstraintSpec()
    """Where data and checkpoints may lie."""
    purchase: Annotated[tuple[Annotated[PurchaseKind, Spelled], ...], AnyOf] = ()
    """on_demand, spot, reserved, monthly, owned or bought, any of these; a mix of two
    needs both. Default: on_demand, and what the offers of your own are."""
    parallelism: ParallelismSpec = ParallelismSpec()
    """Limits of the parallel layout."""
    memory_headroom: Share = 0.10
    """Part of the card's usable memory that stays free. Default: 10%."""
    confidence: Confidence = 0.5
    """Probability at which limits have to hold. Default: 0.5, the expectation."""


class PhaseSpec(Spec):
    """A phase of a training: what it states, the rest is as at the top."""

    name: Text
    """What to call it, such as `extend to 32k`."""
    workload: WorkloadSpec = WorkloadSpec()
    """Keys of `workload` that differ in this phase. A later phase starts from the
    checkpoint of the one before, of the same model."""
    constraints: ConstraintsSpec = ConstraintsSpec()
    """Limits of this phase alone; deadline, budget and confidence are shared and stand
    at the top."""


class StockSpec(Spec):
    """What is assumed where stock is not known, and what an account may have of it."""

    unknown_nodes: NodeCount = 64
    """Nodes of an offer whose stock is not known. Default: 64."""
    quota: tuple[QuotaSpec, ...] = ()
    """Quotas of your account: [{provider: aws, region: us-east-1, max_vcpus: 768}]."""


class OverheadsSpec(Spec):
    """Time around training."""

    setup: Hours = 4 * 3600.0
    """From the first paid hour to the first step; a bare number is hours. Default: 4
    hours."""
    queue: Hours = 0.0
    """Waiting for the servers, unpaid; a bare number is hours. Default: 0."""
    evaluation: Fraction = 0.0
    """Extra time as a fraction of training. Default: 0."""


class LimitsSpec(Spec):
    """How long and how hard to search, and how old prices may be."""

    time: PositiveSeconds = 60.0
    """Time limit of the search; a bare number is seconds. Default: 60 s."""
    gap: Share = 0.0
    """Relative gap to the bound at which to stop. Default: 0, a proof."""
    workers: Workers = 1
    """Threads of the solver. Default: 1, which is reproducible."""
    seed: Seed = 0
    """Seed of the solver. Default: 0."""
    price_age: PositiveDays = 180.0 * DAY
    """Age from which a plan warns of its prices; a bare number is days. Default: 180
    days."""


class ScenarioFile(Spec):
    """A question to gpuplan: which GPU servers train this model best."""

    name: Text | None = None
    """What to call the scenario. Default: the file's name."""
    model: Annotated[
        Annotated[Text, Tag("<value>")] | Annotated[ModelSpec, Tag("<mapping>")],
        Form,
    ]
    """A model of the catalog, a path to a Hugging Face config.json, or the sizes
    {layers, hidden, ffn, heads, vocab ...}."""
    workload: WorkloadSpec
    """What is trained, on how much, and how."""
    data: DataFileSpec = DataFileSpec()
    """The training data."""
    serving: ServingSpec = ServingSpec()
    """Where the finished weights go."""
    objective: Annotated[
        Annotated[Annotated[Aim, Spelled], Tag("<value>")]
        | Annotated[tuple[Annotated[Aim, Spelled], ...], Tag("<list>")]
        | Annotated[ObjectiveSpec, Tag("<mapping>")],
        Form,
    ] = "cost"
    """cost, time, carbon or energy; a list of them, of which each decides among equals
    of those before it, as [carbon, cost]; or {cost: 1, usd_per_day: 500,
    usd_per_tonne_co2: 80}. Default: cost. Ties are broken by cost, then time."""
    constraints: ConstraintsSpec = ConstraintsSpec()
    """Limits that the plan has to keep."""
    phases: tuple[PhaseSpec, ...] = ()
    """Phases run one after the other, each on its own best hardware, sharing one
    deadline and one budget: [{name: pre-train}, {name: extend, workload: {...}}]."""
    stock: StockSpec = StockSpec()
    """What is assumed where stock is not known, and quotas."""
    overheads: OverheadsSpec = OverheadsSpec()
    """Time around training."""
    failures: FailuresSpec = FailuresSpec()
    """How often GPUs fail, and what that costs: checkpoints, restarts, spare nodes."""
    prices: tuple[PriceSpec, ...] = ()
    """Negotiated discounts on list prices; the last that matches an offer applies."""
    offers: Annotated[
        Annotated[Text, Tag("<value>")]
        | Annotated[tuple[OfferSpec, ...], Tag("<list>")],
        Form,
    ] = ()
    """Offers of your own, or a CSV file of them (path relative to the scenario)."""
    catalog: Annotated[Literal["include"], Spelled] | None = None
    """include: use the catalog's offers beside your own. Default: your own alone."""
    limits: LimitsSpec = LimitsSpec()
    """How long and how hard to search."""

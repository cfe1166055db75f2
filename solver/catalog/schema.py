"""What a catalog holds: frozen records, each with its source and date.

Structured facts (GPUs, network and storage tiers, frameworks, architectures) are
YAML, one entry a file whose name is the id; tables (servers, regions, offers) are
CSV. Units stand in the names.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

PurchaseKind = Literal["on_demand", "spot", "reserved", "monthly", "owned"]
NetworkKind = Literal["infiniband", "roce", "efa", "tcpx", "ethernet"]
IntraNodeKind = Literal["nvswitch", "nvlink", "pcie", "none"]
StorageKind = Literal[
    "local_nvme", "nvme_raid", "parallel_fs", "network_fs", "block", "object_store"
]


class Entry(BaseModel):
    """A catalog record: it knows where its figures come from and how old they are."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=False,
        strict=False,
        allow_inf_nan=False,
    )

    id: str
    source: str
    """Where the figures were read; 'memory' means general knowledge, an estimate."""
    as_of: str = ""
    """Date of the figures, as precise as the source gives it."""
    note: str = ""


class Gpu(Entry):
    """One GPU model. Peak rates are dense, with fp32 accumulation."""

    aliases: tuple[str, ...] = ()
    vendor: str
    family: str
    """Marketing family, such as A100; a constraint may name it for all its members."""
    generation: str
    """Key into calibration.yaml: volta, turing, ampere, ada, hopper, blackwell ..."""
    compute_capability: str = ""
    """As the vendor's compiler names it: 9.0, 12.0, gfx942."""
    memory_gb: float = Field(gt=0)
    """Marketed memory, GB."""
    usable_memory_gib: float = Field(gt=0)
    """What a process sees on the device, GiB."""
    usable_memory_source: str
    memory_type: str = ""
    memory_bandwidth_gb_per_s: float = Field(gt=0)
    fp32_tflops: float | None = None
    tf32_tflops: float | None = None
    fp16_tflops: float | None = None
    bf16_tflops: float | None = None
    fp8_tflops: float | None = None
    fp4_tflops: float | None = None
    int8_tops: float | None = None
    nvlink_generation: str = ""
    nvlink_gb_per_s: float = 0.0
    """Per GPU and direction, GB/s; 0 without NVLink (or the vendor's own links)."""
    nvlink_note: str = ""
    pcie_generation: int = 4
    pcie_lanes: int = 16
    tdp_w: float = 0.0
    ecc: bool = True
    mig_profiles: dict[str, int] = {}
    sm_count: int = 100
    """Streaming multiprocessors (compute units); assumed where the source has none."""
    release: str = ""


class Server(Entry):
    """One kind of node: its GPUs, how they are wired, its host and its NICs."""

    provider: str = ""
    """Empty for a generic reference server."""
    gpu: str
    gpus_per_node: int = Field(ge=1)
    intra_node: str
    """Tier id: nvswitch-nvlink4, nvlink2, pcie4, none ..."""
    intra_node_kind: IntraNodeKind
    intra_node_gb_per_s: float = 0.0
    """Per GPU and direction inside the node, GB/s (NVLink, or the PCIe link)."""
    nvlink_pair_only: bool = False
    nvlink_domain_gpus: int = Field(ge=1)
    network: str | None = None
    """Network tier id; None: no fabric between nodes is known, one node only."""
    network_gbps: float = 0.0
    """Sum of the node's NICs, Gb/s."""
    vcpus: float | None = None
    ram_gb: float | None = None
    local_nvme_tb: float | None = None
    standard: bool = False
    """The usual server of its GPU and count: what an inline offer takes by default."""


class IntraNodeTier(Entry):
    """How the GPUs of one node reach each other."""

    name: str
    aliases: tuple[str, ...] = ()
    kind: IntraNodeKind
    gb_per_s: float = Field(ge=0)
    """Nominal rate per GPU and direction, GB/s; a server may have less of it."""
    efficiency: float = Field(gt=0, le=1)
    """Achieved share of the nominal rate in large ring collectives (mean of all-gather
    and reduce-scatter over the largest measured group)."""
    latency_us: float = Field(ge=0)
    """Time of one small all-reduce (32 KiB at most) over 8 GPUs, microseconds."""
    pair_only: bool = False
    """Bridges join two GPUs; larger groups fall back to PCIe."""
    point_to_point_gb_per_s: float | None = None
    """Rate between two GPUs where a mesh gives each pair only a share of the links."""
    bus_2_gb_per_s: float | None = None
    """All-reduce bus rate of a group of 2 GPUs, GB/s (NCCL's busbw, large messages)."""
    bus_4_gb_per_s: float | None = None
    """The same for a group of 4."""
    bus_8_gb_per_s: float | None = None
    """The same for a group of 8."""
    efficiency_source: str = ""
    """Where the achieved rates and the latency come from."""


class NetworkTier(Entry):
    """A fabric between nodes."""

    name: str
    aliases: tuple[str, ...] = ()
    kind: NetworkKind
    gbps_per_nic: float = Field(gt=0)
    efficiency: float = Field(gt=0, le=1)
    """Achieved share of the NIC rate in large collectives."""
    latency_us: float = Field(ge=0)
    """Added to each hop of a collective across nodes, microseconds."""
    efficiency_source: str = ""


class StorageTier(Entry):
    """Where data and checkpoints lie."""

    name: str
    provider: str = ""
    """Empty: a generic tier, offered where a provider's own tiers are not known."""
    kind: StorageKind
    usd_per_gb_month: float | None = None
    """None: the price is not known; 0: comes with the node."""
    usd_per_mb_per_s_month: float | None = None
    """Price of provisioned throughput on top, where the provider sells it apart."""
    read_gb_per_s_per_node: float = Field(gt=0)
    write_gb_per_s_per_node: float = Field(gt=0)
    aggregate_read_gb_per_s: float | None = None
    aggregate_write_gb_per_s: float | None = None
    throughput_mb_per_s_per_tib: float | None = None
    min_tib: float = 0.0
    capacity_tb: float | None = None
    """Per node for local tiers; None: as much as is bought."""
    outlives_node: bool = True
    """False: what lies there is lost with the node, so that a failure costs the whole
    run. An owner's 'free and enough' is taken to be safe."""
    gpudirect: bool = False
    """GPUDirect Storage: reads land in GPU memory without the host's bounce buffer."""
    latency_ms: float | None = None


class Region(Entry):
    """A provider's region; the id is ``provider/region``."""

    provider: str
    region: str
    name: str = ""
    city: str = ""
    country: str | None = None
    """ISO 3166-1 alpha-2 code; None: not stated."""
    metro: str = ""
    """Name in round_trips.csv of the place whose network distances it shares."""
    grid_gco2_per_kwh: float | None = None
    grid_source: str = ""
    pue: float | None = None
    pue_source: str = ""


class Country(Entry):
    """A country's names; the id is its ISO 3166-1 alpha-2 code in upper case."""

    name: str
    name_zh: str = ""
    aliases: tuple[str, ...] = ()


class EgressPrice(Entry):
    """One step of a price of moving data out, US dollars per GB (1e9 bytes)."""

    origin: str
    """Where the data leaves: a pattern over region ids (``aws/us-*``)."""
    destination: str
    """``internet``, ``availability-zone``, or a pattern over region ids."""
    from_gb: float = Field(default=0.0, ge=0)
    to_gb: float | None = None
    """This step covers the month's gigabytes from_gb to to_gb (None: the rest)."""
    usd_per_gb: float | None = None
    """None: set by the host, not known."""
    free_gb_per_month: float = 0.0


class RoundTrip(Entry):
    """Network round trip between two metros; holds both ways."""

    metro_a: str
    metro_b: str
    rtt_ms: float = Field(ge=0)


class Delivery(BaseModel):
    """Nodes that become available on a date (None: now)."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    start: date | None = Field(default=None, alias="from")
    nodes: int = Field(ge=0)


class Offer(Entry):
    """A price for a server in a region, of one purchase kind; id is unique."""

    provider: str
    region: str
    """Region id ``provider/region``."""
    server: str
    purchase: PurchaseKind
    usd_per_node_hour: float = Field(ge=0)
    billing_unit: Literal["second", "hour", "month"] = "second"
    """Whole units are paid (clouds bill GPU nodes by the second or minute); a month is
    730 hours and costs 730 x usd_per_node_hour."""
    max_nodes: int | None = None
    """Known stock, nodes; None: not known."""
    min_nodes: int = 1
    available: tuple[Delivery, ...] = ()
    marketplace: bool = False
    """A marketplace's or broker's quote: one node unless stock is known."""
    storage: tuple[str, ...] | None = None
    """Storage tier ids; None: the provider's (else generic) tiers; (): free local."""


class Architecture(Entry):
    """A transformer's sizes; names as in performance.inputs.TransformerShape."""

    name: str
    family: str = ""
    hf_id: str = ""
    aliases: tuple[str, ...] = ()
    reported_params_b: float | None = None
    active_params_b: float | None = None
    max_seq: int | None = None
    layers: int = Field(ge=1)
    hidden: int = Field(ge=1)
    ffn: int = Field(ge=0)
    heads: int = Field(ge=1)
    kv_heads: int = Field(ge=1)
    head_dim: int = Field(ge=1)
    vocab: int = Field(ge=1)
    gated: bool = True
    tied_embeddings: bool = False
    linear_bias: bool = False
    layer_norm: bool = False
    learned_positions: int = 0
    sliding_window: int = 0
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


class FrameworkEntry(Entry):
    """A framework class; fields as in performance.inputs.Framework, plus matching."""

    name: str
    patterns: tuple[str, ...] = ()
    """Regular expressions that map a measurement's framework text to this class."""
    methods: tuple[Literal["full", "lora", "qlora"], ...] = ("full", "lora", "qlora")
    """What it can train."""
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
    recompute: tuple[Literal["none", "selective", "full"], ...]
    weight_bytes: float
    gradient_bytes: float
    master_bytes: float
    bucket_bytes: float
    gradients_sharded_from: int
    step_temporary_bytes: float
    activation_factor: float
    selective_factor: float
    gated_tensors: float
    residual_bytes: float
    logit_bytes: float
    gathered_layers: float
    base_gib: float
    persistent_gradients: bool = True
    pipeline_fill: bool = False
    shares_tied_embeddings: bool = True
    stages_by_cost: bool = False
    default_optimizer: str = "adamw"
    constants: dict[str, float] = {}


class OptimizerEntry(Entry):
    """Bytes a trained parameter that an optimizer keeps."""

    name: str = ""
    state_bytes: float
    """Moments, bytes a trained parameter."""
    master_bytes: float | None = None
    """fp32 copy of the weights; None: whatever the framework keeps."""
    paged: bool = False
    frameworks: tuple[str, ...] = ()
    """Ids of the framework classes that can run it; empty: all."""
    vendors: tuple[str, ...] = ()
    """Makers of the GPUs that it runs on, as in Gpu.vendor; empty: all."""
    aliases: tuple[str, ...] = ()


class FailureRate(Entry):
    """How often something interrupts a job: a rate per GPU-hour or node-hour."""

    applies_to: str
    """GPU generation, 'default', or 'spot:<provider>'."""
    per_gpu_hour: float | None = None
    per_node_hour: float | None = None
    low: float | None = None
    high: float | None = None

"""What a catalog holds: frozen records, each with its source and date.

Structured facts (GPUs, network and storage tiers, frameworks, architectures) are
YAML, one entry a file whose name is the id; tables (servers, regions, offers) are
CSV. Units stand in the names.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from solver.catalog import bounds
from solver.catalog.bounds import Bounds
from solver.catalog.entry import Entry as Entry
from solver.catalog.offers import Delivery as Delivery
from solver.catalog.offers import Offer as Offer
from solver.catalog.offers import PurchaseKind as PurchaseKind

NetworkKind = Literal["infiniband", "roce", "efa", "tcpx", "ethernet"]
IntraNodeKind = Literal["nvswitch", "nvlink", "pcie", "none"]
Continent = Literal["AF", "AS", "EU", "NA", "OC", "SA"]
StorageKind = Literal[
    "local_nvme", "nvme_raid", "parallel_fs", "network_fs", "block", "object_store"
]


class SourcedByField(Entry):
    """A record whose figures come from several places."""

    sources: dict[str, str] = Field(default_factory=dict)
    """Where single fields were read, by their names; the others are of `source`."""

    def __hash__(self) -> int:
        # what is equal has the same id; a mapping has no hash
        return hash(self.id)

    @property
    def all_sources(self) -> str:
        """Every source, those of single fields after their names."""
        fields: dict[str, list[str]] = {}
        for field, source in self.sources.items():
            fields.setdefault(source, []).append(field)
        parts = (f"{', '.join(names)}: {text}" for text, names in fields.items())
        return "; ".join((self.source, *parts))


class Gpu(SourcedByField):
    """One GPU model. Peak rates are dense, with fp32 accumulation."""

    aliases: tuple[str, ...] = ()
    """Other names of it."""
    vendor: str
    """Who makes it: NVIDIA, AMD, Intel."""
    family: str
    """Marketing family, such as A100; a constraint may name it for all its members."""
    generation: str
    """Key into calibration.yaml: volta, turing, ampere, ada, hopper, blackwell ..."""
    compute_capability: str = ""
    """As the vendor's compiler names it: 9.0, 12.0, gfx942."""
    memory_gb: bounds.MemoryGb
    """Marketed memory, GB."""
    usable_memory_gib: bounds.MemoryGib
    """What a process sees on the device, GiB."""
    usable_memory_source: str
    """Where that figure was read."""
    memory_type: str = ""
    """HBM3, GDDR6 ..."""
    memory_bandwidth_gb_per_s: bounds.MemoryRate
    """Peak rate of its memory, GB/s."""
    fp32_tflops: bounds.Tflops | None = None
    """Peak of fp32 outside the tensor cores."""
    tf32_tflops: bounds.Tflops | None = None
    """Peak of TF32; none: the GPU lacks it, as with all below."""
    fp16_tflops: bounds.Tflops | None = None
    """Peak of fp16."""
    bf16_tflops: bounds.Tflops | None = None
    """Peak of bf16."""
    fp8_tflops: bounds.Tflops | None = None
    """Peak of fp8."""
    fp4_tflops: bounds.Tflops | None = None
    """Peak of 4-bit floating point."""
    int8_tops: bounds.Tops | None = None
    """Peak of int8."""
    nvlink_generation: str = ""
    """1 to 5; empty without NVLink."""
    nvlink_gb_per_s: bounds.LinkRate = 0.0
    """Per GPU and direction, GB/s; 0 without NVLink (or the vendor's own links)."""
    nvlink_note: str = ""
    """Links and switches, in words."""
    pcie_generation: Annotated[int, Bounds(1, 12)] = 4
    """Generation of its slot."""
    pcie_lanes: Annotated[int, Bounds(1, 64)] = 16
    """Lanes of its slot."""
    tdp_w: bounds.Watts = 0.0
    """Power limit, watts."""
    ecc: bool = True
    """Whether its memory corrects errors, as it comes."""
    ecc_option: bool = False
    """Whether error correction can be turned on where it is off by default."""
    peer_to_peer: bool = True
    """Whether its driver lets cards copy to one another over PCIe."""
    mig_profiles: dict[str, Annotated[int, Bounds(0, 100)]] = Field(
        default_factory=dict
    )
    """Instances of each MIG profile that fit on it."""
    mig_sm_counts: dict[str, Annotated[int, Bounds(1, 1e5)]] = Field(
        default_factory=dict
    )
    """Multiprocessors of a slice of each profile; where they are not known they are
    estimated."""
    mig_memory_gib: dict[str, bounds.MemoryGib] = Field(default_factory=dict)
    """What a process sees of a slice of each profile, GiB; estimated where not
    known."""
    sm_count: Annotated[int, Bounds(1, 1e5)] = 100
    """Streaming multiprocessors (compute units); assumed where the source has none."""
    release: str = ""
    """Year and month of its release."""


class Server(Entry):
    """One kind of node: its GPUs, how they are wired, its host and its NICs."""

    provider: str = ""
    """Empty for a generic reference server."""
    gpu: str
    """Id of its GPUs."""
    gpus_per_node: bounds.GpusPerNode
    """How many it has."""
    intra_node: str
    """Tier id: nvswitch-nvlink4, nvlink2, pcie4, none ..."""
    intra_node_kind: IntraNodeKind
    """nvswitch, nvlink, pcie or none."""
    intra_node_gb_per_s: bounds.LinkRate = 0.0
    """Per GPU and direction inside the node, GB/s (NVLink, or the PCIe link)."""
    nvlink_pair_only: bool = False
    """Whether bridges join only two GPUs each."""
    nvlink_domain_gpus: Annotated[int, Bounds(1, 1e5, "GPUs")]
    """GPUs that reach each other over NVLink, 72 in a rack; else those of the node."""
    network: str | None = None
    """Network tier id; None: no fabric between nodes is known, one node only."""
    network_gbps: bounds.Gbps = 0.0
    """Sum of the node's NICs, Gb/s."""
    vcpus: Annotated[float, Bounds(1, 1e5, "threads")] | None = None
    """Host threads."""
    ram_gb: bounds.HostGb | None = None
    """Host memory, GB."""
    local_nvme_tb: bounds.Terabytes | None = None
    """Local NVMe, TB."""
    standard: bool = False
    """The usual server of its GPU and count: what an inline offer takes by default."""


class IntraNodeTier(Entry):
    """How the GPUs of one node reach each other."""

    name: str
    aliases: tuple[str, ...] = ()
    kind: IntraNodeKind
    gb_per_s: bounds.LinkRate
    """Nominal rate per GPU and direction, GB/s; a server may have less of it."""
    efficiency: bounds.Efficiency
    """Achieved share of the nominal rate in large ring collectives (mean of all-gather
    and reduce-scatter over the largest measured group)."""
    latency_us: bounds.Microseconds
    """Time of one small all-reduce (32 KiB at most) over 8 GPUs, microseconds."""
    pair_only: bool = False
    """Bridges join two GPUs; larger groups fall back to PCIe."""
    point_to_point_gb_per_s: bounds.LinkRate | None = None
    """Rate between two GPUs where a mesh gives each pair only a share of the links."""
    bus_2_gb_per_s: bounds.LinkRate | None = None
    """All-reduce bus rate of a group of 2 GPUs, GB/s (NCCL's busbw, large messages)."""
    bus_4_gb_per_s: bounds.LinkRate | None = None
    """The same for a group of 4."""
    bus_8_gb_per_s: bounds.LinkRate | None = None
    """The same for a group of 8."""
    efficiency_source: str = ""
    """Where the achieved rates and the latency come from."""


class NetworkTier(Entry):
    """A fabric between nodes."""

    name: str
    """What people call it."""
    aliases: tuple[str, ...] = ()
    """Other names of it."""
    kind: NetworkKind
    """infiniband, roce, efa, tcpx or ethernet."""
    gbps_per_nic: bounds.NicRate
    """Rate of one NIC, Gb/s."""
    efficiency: bounds.Efficiency
    """Achieved share of the NIC rate in large collectives."""
    latency_us: bounds.Microseconds
    """Added to each hop of a collective across nodes, microseconds."""
    efficiency_source: str = ""
    """Where share and latency were read."""


class StorageTier(SourcedByField):
    """Where data and checkpoints lie."""

    name: str
    """What people call it."""
    provider: str = ""
    """Empty: a generic tier, offered where a provider's own tiers are not known."""
    kind: StorageKind
    """local_nvme, nvme_raid, parallel_fs, network_fs, block or object_store."""
    usd_per_gb_month: bounds.UsdPerGbMonth | None = None
    """None: the price is not known; 0: comes with the node."""
    usd_per_mb_per_s_month: bounds.UsdPerRateMonth | None = None
    """Price of provisioned throughput on top, where the provider sells it apart."""
    usd_per_iops_month: Annotated[float, Bounds(0, 1e4, "USD per IOPS")] | None = None
    """Price of provisioned operations on top."""
    usd_per_1000_reads: Annotated[float, Bounds(0, 1e3, "USD per 1,000")] | None = None
    """Price of requests that read; plans do not count it."""
    usd_per_1000_writes: Annotated[float, Bounds(0, 1e3, "USD per 1,000")] | None = None
    """The same of requests that write."""
    usd_per_gb_retrieved: bounds.UsdPerGb | None = None
    """Price of reading from a class for rare access: in a plan for each byte of
    training data, and for the data set where it lies in such a class."""
    max_iops: Annotated[float, Bounds(1, 1e9, "operations a second")] | None = None
    """Most operations a second of a volume or drive."""
    read_gb_per_s_per_node: bounds.NodeRate
    """Reading rate of one node, GB/s."""
    write_gb_per_s_per_node: bounds.NodeRate
    """Writing rate of one node, GB/s."""
    aggregate_read_gb_per_s: bounds.TotalRate | None = None
    """Reading rate of all nodes together, GB/s; none: no limit of its own."""
    aggregate_write_gb_per_s: bounds.TotalRate | None = None
    """The same of writing."""
    throughput_mb_per_s_per_tib: (
        Annotated[float, Bounds(1e-3, 1e6, "MB/s per TiB")] | None
    ) = None
    """Rate that comes with each TiB that is rented."""
    min_tib: Annotated[float, Bounds(0, 1e6, "TiB")] = 0.0
    """Least that can be rented, TiB."""
    capacity_tb: Annotated[float, Bounds(0, 1e12, "TB")] | None = None
    """Per node for local tiers; None: as much as is bought."""
    outlives_node: bool = True
    """False: what lies there is lost with the node, so that a failure costs the whole
    run. An owner's 'free and enough' is taken to be safe."""
    gpudirect: bool = False
    """GPUDirect Storage: reads land in GPU memory without the host's bounce buffer."""
    latency_ms: bounds.Milliseconds | None = None
    """Time to the first byte, milliseconds."""


class Region(Entry):
    """A provider's region; the id is ``provider/region``."""

    provider: str
    """Who runs it; read from the id where it is left out."""
    region: str
    """The provider's name of it; read from the id, too."""
    name: str = ""
    """Its name in words."""
    city: str = ""
    """Where it is, or near to."""
    country: str | None = None
    """ISO 3166-1 alpha-2 code; None: not stated."""
    metro: str = ""
    """Name in round_trips.csv of the place whose network distances it shares."""
    lat: Annotated[float, Bounds(-90, 90, "degrees north")] | None = None
    """Of the city, not of the data centre; None: no city is known."""
    lon: Annotated[float, Bounds(-180, 180, "degrees east")] | None = None
    """The same, to the east."""
    coordinate_source: str = ""
    """Gazetteer and its number of the city."""
    grid_gco2_per_kwh: Annotated[float, Bounds(0, 1e4, "g/kWh")] | None = None
    """Carbon intensity of its grid, g CO2 per kWh."""
    grid_source: str = ""
    """Where that figure was read."""
    renewable_claim: bool | None = None
    """Whether the provider claims renewable energy; its certificates are not in
    `grid_gco2_per_kwh`. None: not stated."""
    pue: Annotated[float, Bounds(1, 10)] | None = None
    """Power of the site over that of its computers."""
    pue_source: str = ""
    """Where that figure was read."""


class Country(Entry):
    """A country's names; the id is its ISO 3166-1 alpha-2 code in upper case."""

    name: str
    name_zh: str = ""
    aliases: tuple[str, ...] = ()
    continent: Continent | Literal[""] = ""
    """By which some prices of moving data go."""


class EgressPrice(Entry):
    """One step of a price of moving data out, US dollars per GB (1e9 bytes)."""

    origin: str
    """Where the data leaves: a pattern over region ids (``aws/us-*``)."""
    destination: str
    """``internet``, ``availability-zone``, or a pattern over region ids."""
    continents: tuple[Continent, ...] = ()
    """Continents of the origin that the price is for; empty: all."""
    reach: Literal["any", "same-continent", "other-continent"] = "any"
    """Which destinations it is for, seen from the origin."""
    from_gb: bounds.Gigabytes = 0.0
    """Start of this step of the month's gigabytes."""
    to_gb: bounds.Gigabytes | None = None
    """This step covers the month's gigabytes from_gb to to_gb (None: the rest)."""
    usd_per_gb: bounds.UsdPerGb | None = None
    """None: set by the host, not known."""
    free_gb_per_month: bounds.Gigabytes = 0.0
    """Free of charge each month, GB."""


class RoundTrip(Entry):
    """Network round trip between two metros; holds both ways."""

    metro_a: str
    metro_b: str
    rtt_ms: bounds.Milliseconds


Billions = Annotated[float, Bounds(1e-6, 1e6, "billion parameters")]
ZeroStage = Annotated[int, Bounds(0, 3)]
QuantisedBase = Literal["int8", "nf4", "nf4_plain"]


class Architecture(Entry):
    """A transformer's sizes; names as in performance.inputs.TransformerShape."""

    name: str
    """What people call it."""
    family: str = ""
    """What it belongs to."""
    hf_id: str = ""
    """Its name at Hugging Face."""
    aliases: tuple[str, ...] = ()
    """Other names of it."""
    reported_params_b: Billions | None = None
    """Parameters as published, billions."""
    active_params_b: Billions | None = None
    """Those that one token uses, as published, billions."""
    max_seq: Annotated[int, Bounds(1, 1e9, "tokens")] | None = None
    layers: Annotated[int, Bounds(1, 10_000)]
    hidden: Annotated[int, Bounds(1, 1e6)]
    ffn: Annotated[int, Bounds(0, 1e7)]
    heads: Annotated[int, Bounds(1, 1e5)]
    kv_heads: Annotated[int, Bounds(1, 1e5)]
    head_dim: Annotated[int, Bounds(1, 1e5)]
    vocab: Annotated[int, Bounds(1, 1e8)]
    gated: bool = True
    tied_embeddings: bool = False
    linear_bias: bool = False
    qkv_bias: bool = False
    """Biases on the query, key and value projections, where no other has them."""
    layer_norm: bool = False
    learned_positions: Annotated[int, Bounds(0, 1e9)] = 0
    sliding_window: Annotated[int, Bounds(0, 1e9)] = 0
    full_attention_every: Annotated[int, Bounds(0, 10_000)] = 0
    """Every how many layers one looks back at everything all the same; 0: none."""
    dropout: bool = False
    n_experts: Annotated[int, Bounds(0, 1e5)] = 0
    experts_topk: Annotated[int, Bounds(0, 1e5)] = 0
    shared_experts: Annotated[int, Bounds(0, 1e4)] = 0
    moe_ffn: Annotated[int, Bounds(0, 1e7)] = 0
    first_dense_layers: Annotated[int, Bounds(0, 10_000)] = 0
    moe_layer_freq: Annotated[int, Bounds(1, 10_000)] = 1
    q_lora_rank: Annotated[int, Bounds(0, 1e6)] = 0
    kv_lora_rank: Annotated[int, Bounds(0, 1e6)] = 0
    qk_nope_dim: Annotated[int, Bounds(0, 1e5)] = 0
    qk_rope_dim: Annotated[int, Bounds(0, 1e5)] = 0
    v_head_dim: Annotated[int, Bounds(0, 1e5)] = 0


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
    zero_stages: tuple[ZeroStage, ...]
    zero_stages_with_pp: tuple[ZeroStage, ...]
    hybrid_sharding: bool
    sequence_parallel: bool
    expert_parallel_spans_tp: bool
    recompute: tuple[Literal["none", "selective", "full"], ...]
    weight_bytes: bounds.ParameterBytes
    gradient_bytes: bounds.ParameterBytes
    master_bytes: bounds.ParameterBytes
    bucket_bytes: bounds.ParameterBytes
    gradients_sharded_from: Annotated[int, Bounds(0, 4)]
    step_temporary_bytes: bounds.ParameterBytes
    activation_factor: bounds.Factor
    selective_factor: bounds.Factor
    gated_tensors: bounds.Factor
    residual_bytes: bounds.Factor
    logit_bytes: bounds.Factor
    gathered_layers: bounds.Factor
    base_gib: Annotated[float, Bounds(0, 1000, "GiB")]
    persistent_gradients: bool = True
    pipeline_fill: bool = False
    shares_tied_embeddings: bool = True
    stages_by_cost: bool = False
    whole_tensors: bounds.Factor = 4.0
    qlora_ends_bytes: bounds.ParameterBytes = 2.0
    sharded_bases: tuple[QuantisedBase, ...] = ("nf4", "nf4_plain")
    """Formats of a quantised base that ZeRO-3 or FSDP can divide over ranks."""
    context_by_heads: bool = False
    """Divides attention by heads (Ulysses), beside ZeRO alone; else by a ring."""
    context_on_request: bool = False
    """Only some programs of the class have context parallelism, which needs FSDP:
    degrees count where the user names them."""
    losses: tuple[Literal["whole", "chunked"], ...] = ("whole",)
    """How it can take the loss; the first is what it does unless asked."""
    loss_chunks: Annotated[int, Bounds(0, 1e6)] = 0
    """Chunks of tokens of a chunked loss; 0: as many as the vocabulary is wider than
    the hidden size, to the next power of two (Liger)."""
    default_optimizer: str = "adamw"
    gradient_precisions: tuple[Literal["bf16", "fp32"], ...] = ()
    """How gradients can be kept where it is a choice."""
    fp8_weights: bool = False
    """Whether the linears' weights can be kept in 8 bits."""
    pure_16bit: bool = False
    """Whether it can train 16-bit weights without an fp32 copy of them."""
    numerics_source: str = ""
    """Where those are documented."""
    offload_optimizer: tuple[ZeroStage, ...] = ()
    """ZeRO stages under which optimizer states can go to the host; 0: of one GPU."""
    offload_parameters: tuple[ZeroStage, ...] = ()
    """The same of weights and gradients."""
    offload_activations: bool = False
    """Whether the inputs that full recomputation keeps can go to the host."""
    offload_nvme: bool = False
    """Whether states can go to drives."""
    offload_source: str = ""
    """Where that is documented."""
    constants: dict[str, Annotated[float, Bounds(0, 1e6)]] = Field(default_factory=dict)


class OptimizerEntry(Entry):
    """Bytes a trained parameter that an optimizer keeps."""

    name: str = ""
    state_bytes: bounds.ParameterBytes
    """Moments, bytes a trained parameter; of matrices alone where others differ."""
    other_state_bytes: bounds.ParameterBytes | None = None
    """Moments of embeddings, head, norms and routers, where they are others'."""
    factored: bool = False
    """Whether a matrix keeps sums of its rows and columns (Adafactor); counted from the
    model's shapes, in place of ``state_bytes``."""
    orthogonalised: bool = False
    """Whether a step orthogonalises the matrices of the layers (Muon)."""
    master_bytes: bounds.ParameterBytes | None = None
    """fp32 copy of the weights; None: whatever the framework keeps."""
    paged: bool = False
    on_host: bool = False
    """Whether the CPU can update with it, for an offloaded optimizer."""
    frameworks: tuple[str, ...] = ()
    """Ids of the framework classes that can run it; empty: all."""
    vendors: tuple[str, ...] = ()
    """Makers of the GPUs that it runs on, as in Gpu.vendor; empty: all."""
    aliases: tuple[str, ...] = ()


class FailureRate(Entry):
    """How often something interrupts a job: a rate per GPU-hour or node-hour."""

    applies_to: str
    """GPU generation, 'default', or 'spot:<provider>'."""
    per_gpu_hour: bounds.FailuresPerHour | None = None
    per_node_hour: bounds.FailuresPerHour | None = None
    low: bounds.FailuresPerHour | None = None
    high: bounds.FailuresPerHour | None = None
    gpus: Annotated[int, Bounds(1, 1e7, "GPUs")] | None = None
    """GPUs that were watched, for how many days, and what happened how often."""
    days: Annotated[float, Bounds(0.01, 1e5, "days")] | None = None
    events: Annotated[float, Bounds(0, 1e7, "events")] | None = None

"""A scenario after reading, checking and resolving names: what the planner works on.

Everything is in canonical units and every name is a catalog id, so that nothing
downstream parses text or knows defaults.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, NamedTuple

from solver.catalog.schema import Architecture, Offer, Server, StorageTier
from solver.plan import Message
from solver.ranges import Range


class Ramp(NamedTuple):
    """A batch that grows in equal steps, in sequences."""

    start: int
    step: int
    samples: float


@dataclass(frozen=True, slots=True)
class AlignmentWork:
    """The models and the work of one step of DPO, PPO or GRPO."""

    kind: Literal["dpo", "ppo", "grpo"]
    prompt_tokens: int
    response_tokens: int
    longest_response: int
    group: int
    update_epochs: int
    reference: Literal["own", "shared", "none"]
    reward: Architecture | None
    """None: a rule or verifier."""
    critic: Architecture | None
    rollout_nodes: tuple[int, ...]
    """Numbers of nodes that only generate, any of these; 0: placed together."""
    one_step_behind: bool = False

    @property
    def sequences(self) -> int:
        """Sequences of a sample: two of a pair, the group of a prompt."""
        return 2 if self.kind == "dpo" else self.group


@dataclass(frozen=True, slots=True)
class Workload:
    """What is trained and how."""

    method: Literal["full", "lora", "qlora"]
    start: Literal["scratch", "checkpoint"]
    tokens: float
    sequence_length: int
    batch_min: int
    batch_target: int
    batch_max: int
    precisions: tuple[str, ...]
    """Any of these; what is named first decides where all are equal."""
    optimizers: tuple[str, ...]
    """Ids in the catalog's optimizers, any of these."""
    framework: str
    losses: tuple[str, ...] = ("whole",)
    """Any of these: whole or chunked."""
    lora_rank: int = 16
    lora_targets: tuple[str, ...] = ()
    lora_base: str = ""
    """int8, nf4 or nf4_plain; empty: what the method usually has."""
    efficiency: float = 1.0
    """Speed of a step over that of a well-tuned framework."""
    packing: Literal["packed", "padded"] = "packed"
    """Whether documents share sequences, or each sample pays a whole one."""
    batch_ramp: Ramp | None = None
    offloads: tuple[tuple[str, str], ...] = (("none", "host"),)
    """What may leave the GPU and where to, any of these."""
    gradient_precision: str = ""
    """bf16 or fp32; empty: as the framework keeps gradients."""
    fp8_weights: bool = False
    master_weights: tuple[str, ...] = ("",)
    """fp32 or none, any of these; empty: as the optimizer says."""
    kind: Literal["train", "sft", "dpo", "ppo", "grpo"] = "train"
    """What the training is for; ``method`` is which weights train."""
    alignment: AlignmentWork | None = None

    @property
    def precision(self) -> str:
        """The precision named first."""
        return self.precisions[0]

    @property
    def optimizer(self) -> str:
        """The optimizer named first."""
        return self.optimizers[0]


DEFAULT_TRANSFER = 10e9 / 8
"""Assumed rate of a copy between regions, bytes/s: 10 Gb/s."""


@dataclass(frozen=True, slots=True)
class Loading:
    """How samples become input of a GPU."""

    kind: Literal["text", "image", "audio", "video"] = "text"
    decode: Literal["none", "cpu", "gpu"] = "none"
    rate: float = math.inf
    """Samples/s that a worker (cpu) or a GPU (gpu) decodes."""
    samples_per_token: float = 0.0
    """Samples for each token that is computed, padding included."""
    workers: int | None = None
    """Loader workers for each GPU; None: as many as there are cores."""


@dataclass(frozen=True, slots=True)
class DataSpec:
    """The training data."""

    size_bytes: float
    size_is_assumed: bool
    """Derived from tokens x bytes_per_token, not stated."""
    bytes_per_token: float
    """Bytes read for each token that is computed, padding included."""
    mean_document_tokens: float | None = None
    useful_share: float | None = 1.0
    """Part of the computed tokens that is data, not padding; None: not known."""
    location: str | None = None
    storage: str | None = None
    """Id of the tier that it lies in there, where reading has a price."""
    residency: tuple[str, ...] | None = None
    """Codes of the countries in which it may lie."""
    transfer_bytes_per_s: float = DEFAULT_TRANSFER
    """Rate of a copy between regions."""
    transfer_is_assumed: bool = True
    loading: Loading = Loading()


Aim = Literal["cost", "time", "carbon", "energy"]
"""What can be minimised by itself."""


@dataclass(frozen=True, slots=True)
class Objective:
    """Aims in their order, or the weighted sum of cost, time and carbon in dollars."""

    kind: Aim | Literal["weighted"]
    """The first level."""
    cost_weight: float = 1.0
    usd_per_day: float = 0.0
    usd_per_tonne_co2: float = 0.0
    then: tuple[Aim, ...] = ()
    """What decides among equals of the first level, in turn."""
    known_carbon: bool = False
    """Whether carbon has to be known, though it is no aim."""

    @property
    def levels(self) -> tuple[str, ...]:
        """What is minimised in turn: what is stated, then cost, then time."""
        return tuple(dict.fromkeys((self.kind, *self.then, "cost", "time")))

    @property
    def needs_carbon(self) -> bool:
        """Whether offers whose carbon is not known cannot be compared."""
        priced = self.usd_per_tonne_co2 > 0
        return self.kind == "carbon" or priced or self.known_carbon

    def instead(self, kind: Aim) -> Objective:
        """Another aim among the same offers: what had to be known still has to be."""
        return Objective(kind, known_carbon=self.needs_carbon)


@dataclass(frozen=True, slots=True)
class Constraints:
    """The user's limits; None and empty mean 'no limit'. Sets hold catalog ids."""

    deadline_s: float | None = None
    budget_usd: float | None = None
    max_energy_mwh: float | None = None
    max_carbon_t: float | None = None
    min_tokens_per_s: float | None = None
    regions: tuple[str, ...] | None = None
    """Region ids ``provider/region``."""
    countries: tuple[str, ...] | None = None
    providers: tuple[str, ...] | None = None
    gpu_types: tuple[str, ...] | None = None
    gpu_exclude: tuple[str, ...] = ()
    gpus: Range = field(default_factory=Range)
    gpus_per_node: Range = field(default_factory=Range)
    intra_node_min_gb_per_s: float | None = None
    intra_node_kinds: tuple[str, ...] | None = None
    network_min_gbps_per_gpu: float | None = None
    network_kinds: tuple[str, ...] | None = None
    storage_kinds: tuple[str, ...] | None = None
    storage_min_read_bytes_per_s: float | None = None
    purchase: tuple[str, ...] = ("on_demand",)
    parallelism: dict[str, Range] = field(default_factory=dict)
    """tp, pp, cp, ep, dp, virtual_stages, micro_batch, zero_stage -> Range."""
    recompute: tuple[str, ...] | None = None
    memory_headroom: float = 0.10
    confidence: float = 0.5
    stated: frozenset[str] = frozenset()
    """Rule ids that the user wrote something for (others are defaults)."""


@dataclass(frozen=True, slots=True)
class Overheads:
    """Time around training."""

    setup_s: float = 4 * 3600.0
    queue_s: float = 0.0
    evaluation_fraction: float = 0.0
    """Extra time as a fraction of training."""


MOST_SPARES_TRIED = 8
"""Spare nodes that are tried at most where the scenario names no number of them."""


@dataclass(frozen=True, slots=True)
class Failures:
    """How nodes fail, are saved from it and replaced; None is the catalog's figure."""

    gpu_mtbf_s: float | None = None
    """Mean time of one GPU between failures."""
    checkpoint_interval_s: float | None = None
    """Work between two checkpoints; None: the best."""
    restart_s: float | None = None
    """From a failure until the saved state is read."""
    replacement_s: float = 0.0
    """Until a failed node is there again where no spare is ready."""
    spares: tuple[int, ...] | None = None
    """Numbers of spare nodes that are allowed; None: not stated."""


@dataclass(frozen=True, slots=True)
class PriceRule:
    """A negotiated discount; None fields match everything."""

    discount: float
    provider: str | None = None
    region: str | None = None
    gpu: str | None = None
    purchase: str | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """Most that one account may have at once; None fields match everything.

    ``limit`` counts ``unit``: nodes, gpus or vcpus. ``written`` is the quota as typed.
    """

    limit: int
    unit: Literal["nodes", "gpus", "vcpus"]
    providers: tuple[str, ...] | None = None
    regions: tuple[str, ...] | None = None
    gpus: tuple[str, ...] | None = None
    purchase: str | None = None
    written: dict[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how hard to search."""

    time_s: float = 60.0
    gap: float = 0.0
    workers: int = 1
    seed: int = 0
    price_age_s: float = 180 * 86_400.0
    """Age from which a plan warns of its prices."""


@dataclass(frozen=True, slots=True)
class InlineSupply:
    """A user's own offers as catalog records, to be used alone or on top."""

    offers: tuple[Offer, ...] = ()
    servers: tuple[Server, ...] = ()
    storage: tuple[StorageTier, ...] = ()
    countries: dict[str, str] = field(default_factory=dict)
    """Region id -> country code of regions that the catalog does not know."""
    with_catalog: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """One question, ready to be answered."""

    name: str
    file: str
    architecture: Architecture
    workload: Workload
    data: DataSpec
    objective: Objective
    constraints: Constraints
    stock_unknown_nodes: int
    stock_stated: bool
    overheads: Overheads
    prices: tuple[PriceRule, ...]
    supply: InlineSupply
    limits: Limits
    start_date: date
    """The plan's day 0 (a deadline that is a date is counted from it)."""
    quotas: tuple[Quota, ...] = ()
    failures: Failures = Failures()
    stock_at_least: int = 0
    """Nodes that every connected offer is taken to have; only to explain a 'no'."""
    lifted: frozenset[str] = frozenset()
    """Other rules that are left out; only to explain a 'no'."""
    serving: tuple[str, ...] = ()
    """Regions that the finished weights are copied to."""
    notices: tuple[Message, ...] = ()
    """Repairs made openly while reading (a batch rounded to whole sequences ...)."""
    phases: tuple[Phase, ...] = ()
    """Phases run one after the other; empty: the scenario is one job by itself.

    With phases, ``workload`` and ``data`` are the first one's and ``constraints`` hold
    only what all share.
    """
    document: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The scenario as a file that needs no other: overrides set, tables of offers and
    sizes of models in place."""

    @property
    def spare_choices(self) -> tuple[int, ...]:
        """Numbers of spare nodes to try, in order."""
        failures, tried = self.failures, range(MOST_SPARES_TRIED + 1)
        if failures.spares is not None:
            if "spares" in self.lifted:
                return tuple(range(max(*failures.spares, *tried) + 1))
            return failures.spares
        return tuple(tried) if failures.replacement_s else (0,)

    @property
    def counts_carbon(self) -> bool:
        """Whether a limit or the objective asks for a known carbon figure."""
        limited = self.constraints.max_carbon_t is not None
        return limited or self.objective.needs_carbon


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a training, as a scenario without deadline and budget."""

    name: str
    scenario: Scenario

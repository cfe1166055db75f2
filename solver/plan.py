"""What a plan is: frozen records that round-trip through JSON.

The keys are the public JSON contract (docs/json.md); they may grow, never change.
No figure here comes from the solver: all are recomputed for the chosen candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from typing import Any, Literal

from solver.messages import sentence
from solver.wording import told_again

Status = Literal["optimal", "feasible", "infeasible", "unknown"]

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class LayoutPlan:
    """The parallel layout of a plan."""

    tp: int
    pp: int
    cp: int
    ep: int
    etp: int
    dp: int
    virtual_stages: int
    layers_per_stage: tuple[int, ...]
    micro_batch: int
    accumulation: int
    global_batch_size: int
    zero_stage: int
    shard_degree: int
    sequence_parallel: bool
    recompute: str
    precision: str
    optimizer: str
    master_weights: str = "fp32"
    """fp32 or none: whether an fp32 copy of what trains in 16 bits is kept."""
    offload: str = "none"
    loss: str = "whole"
    rollout_nodes: int = 0
    """Nodes that only generate, rented beside those that train (PPO, GRPO)."""
    base: str = "none"
    """How the frozen base beside adapters is kept; none: all weights train."""


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence by its id and its figures, so that a translation only adds a file."""

    id: str
    values: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    """The sentence, in the language that was spoken when it was made."""

    @staticmethod
    def of(message_id: str, /, **values: Any) -> Message:
        """The message of that id in `solver.messages`, with its sentence."""
        return Message(message_id, values, sentence(message_id, **values))

    @staticmethod
    def kept(data: Mapping[str, Any]) -> Message:
        """The message that `as_dict` was of, in the language that is spoken now."""
        message_id, values = data["id"], dict(data["values"])
        return Message(message_id, values, told_again(message_id, values, data["text"]))

    def as_dict(self) -> dict[str, Any]:
        """The message as the JSON contract has it."""
        return {"id": self.id, "text": self.text, "values": self.values}


@dataclass(frozen=True, slots=True)
class Plan:
    """One complete answer: what to rent, how to run it, how long, how much."""

    provider: str
    region: str
    country: str | None
    offer: str
    purchase: str
    gpu: str
    server: str
    start: str | None
    nodes: int
    gpus: int
    gpus_per_node: int
    intra_node: str
    network: str | None
    storage: str | None
    framework: str
    layout: LayoutPlan
    step_time_s: float
    step_time_parts_s: dict[str, float]
    steps: int
    mfu: float
    tokens_per_s: float
    memory_gib: dict[str, float]
    training_days: float
    duration_days: float
    duration_p90_days: float | None
    gpu_hours: float
    cost_usd: float
    cost_parts_usd: dict[str, float]
    checkpoint_gb: float
    usd_per_gpu_hour: float
    duration_parts_days: dict[str, float]
    """training, failures, replacement, checkpoints, data_stall, setup, queue,
    delivery, evaluation; they add up to ``duration_days``."""
    checkpoint_interval_s: float | None
    stock_nodes: int
    stock_known: bool
    host: dict[str, float | None]
    """vcpus, ram_gb, local_nvme_tb, nic_gbps of a node and ram_needed_gb."""
    provenance: dict[str, str]
    warnings: tuple[Message, ...]
    billing_unit: str = "second"
    """second, hour or month: whole units are paid."""
    confidence: float = 0.5
    """Probability with which deadline, budget and floors are to hold."""
    duration_at_confidence_days: float | None = None
    """What the deadline is held against; the expected duration at 0.5."""
    cost_at_confidence_usd: float | None = None
    """What the budget is held against; the expected cost at 0.5."""
    order_date: str = ""
    """Day 0: what deadline and waits are counted from."""
    lead_time_days: int = 0
    """Days from the order until nodes can be used, unpaid."""
    min_term_hours: float = 0.0
    """Hours of each node that are paid for at least."""
    unused_term_usd: float = 0.0
    """Part of the rent that is paid for time beyond the expected run."""
    cluster_nodes: int | None = None
    """Most nodes on one fabric of the offer; None: no limit is known."""
    cost_p90_usd: float | None = None
    """Bill of the finish that nine of ten runs keep."""
    step_time_p10_s: float | None = None
    step_time_p90_s: float | None = None
    """Between these lie eight of ten measured steps."""
    efficiency: float = 1.0
    """Share of the predicted speed that steps are planned at."""
    quota_nodes: int | None = None
    """Most nodes of the offer that quotas allow; None: no limit. Of a mix the quotas
    count under which both its offers fall."""
    spare_nodes: int = 0
    """Nodes rented beside ``nodes``, to take the place of one that fails."""
    goodput: float | None = None
    """Training over the time that nodes are held: the duration without the waits
    before they are there."""
    mix: tuple[dict[str, Any], ...] | None = None
    """Base and on-demand rest of a mix: offer, purchase, nodes (spares included),
    usd_per_node_hour, billing_unit, min_term_hours, compute_usd of each; None: all is
    of one offer."""
    lost_share: float = 0.0
    """Part of the run, checkpoints included, that failures and what follows them take:
    work done again, restarts, waits for a node."""
    purchase_plan: dict[str, Any] | None = None
    """What buying the nodes means, where they are bought: outlay_usd, years,
    resale_usd, usd_per_year, usd_per_gpu_hour and break_even."""
    alignment: dict[str, Any] | None = None
    """What DPO, PPO or GRPO adds: kind, placement, models (role, model, trained,
    memory_gib, time_share), generation_share, generation, tokens_generated and
    memory_gib by moment."""
    energy_mwh: float | None = None
    """What nodes and cooling draw from set-up to finish, an estimate."""
    carbon_t: float | None = None
    """CO2 of that energy, tonnes; None: the grid is not known."""
    node_power_kw: float | None = None
    """Power of a node in training, without cooling."""
    pue: float | None = None
    """Power of the site over that of its computers."""
    grid_gco2_per_kwh: float | None = None
    """CO2 of the grid, g/kWh; None: not known."""
    batch_ramp: dict[str, Any] | None = None
    """How the batch grows to its size: from, step, samples, increments, and the steps,
    sequences and days that it takes on the way; None: it has it from the start."""
    input: dict[str, Any] = field(default_factory=dict)
    """How data reaches the GPUs: kind, decode, path (gpudirect or bounce), rates of
    reading, writing and decoding beside what is needed, seconds of a checkpoint, the
    bottleneck (storage, decoding or None) and the wait of a step for it."""
    useful_token_share: float | None = 1.0
    """Part of the computed tokens that is data, not padding; None: not known."""
    slice: dict[str, Any] | None = None
    """What a MIG slice is of its card: card, profile, slices_per_card, compute_slices,
    memory_slices, sm_count; None: whole cards."""

    @property
    def rented_nodes(self) -> int:
        """Nodes that are rented: those that train or generate, and spares."""
        return self.nodes + self.layout.rollout_nodes + self.spare_nodes

    @property
    def memory_headroom(self) -> float:
        """Share of the card's usable memory that stays free on the fullest GPU."""
        return 1.0 - self.memory_gib["total"] / self.memory_gib["capacity"]

    @property
    def finish(self) -> date:
        """The day of the expected finish."""
        days = timedelta(days=self.duration_days)
        return date.fromisoformat(self.order_date) + days

    def as_dict(self) -> dict[str, Any]:
        """The plan as the JSON contract has it; warnings become sentences."""
        data = asdict(self)
        data["layout"]["layers_per_stage"] = list(self.layout.layers_per_stage)
        if isinstance(self.mix, tuple):
            data["mix"] = list(data["mix"])
        data["warnings"] = [message.as_dict() for message in self.warnings]
        return data

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Plan:
        """The inverse of ``as_dict``."""
        layout = dict(data["layout"])
        layout["layers_per_stage"] = tuple(layout["layers_per_stage"])
        rest = {k: v for k, v in data.items() if k not in ("layout", "warnings")}
        warnings = tuple(Message.kept(w) for w in data["warnings"])
        if isinstance(rest.get("mix"), list):
            rest["mix"] = tuple(rest["mix"])
        return Plan(layout=LayoutPlan(**layout), warnings=warnings, **rest)


@dataclass(frozen=True, slots=True)
class Alternative:
    """A runner-up: the plan, its kind and what it would change."""

    plan: Plan
    kind: str
    """gpu | provider | region | purchase | size | spares | start | batch: what
    differs."""
    cost_change_usd: float
    duration_change_days: float


@dataclass(frozen=True, slots=True)
class Proof:
    """How the answer is known to be best."""

    bound: float | None
    gap: float | None
    candidates: int
    pruned: int
    wall_time_s: float
    lattice: dict[str, Any] = field(default_factory=dict)
    """The axes and limits that were searched, as printed in the proof line."""
    layouts: int = 0
    """Layouts in the lattice, and of them by what became of them."""
    layouts_out_of_memory: int = 0
    layouts_bounded: int = 0
    """Skipped because a lower bound already passed the best plan."""
    within_error: int = 0
    """Candidates within the prediction error of the best: ties in practice."""
    unit: str = "USD"
    """Of the bound, which is one of the objective's first level."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why there is no plan, and what would open one."""

    kind: Literal["memory", "layout", "catalog", "constraints"]
    summary: str
    conflict: tuple[str, ...]
    relaxations: tuple[dict[str, Any], ...]
    nearest_miss: dict[str, Any] | None
    counts: dict[str, int] = field(default_factory=dict)
    """Rule id to the number of offers or layouts that it alone or first removed."""
    joint: tuple[dict[str, Any], ...] = ()
    """Where no requirement opens a plan alone: the smallest sets that do together."""


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """One phase of a chain: how it is run, and when."""

    name: str
    plan: Plan
    """The phase as though it ran alone, ordered on day 0; what it costs and takes
    together with the others stands in ``leases`` and ``total``."""
    lease: int
    """Position of its lease."""
    start_day: float
    """Expected days from day 0 until its work begins, set-up included."""
    end_day: float


@dataclass(frozen=True, slots=True)
class Lease:
    """Nodes rented once for one phase or several consecutive ones."""

    phases: tuple[str, ...]
    offer: str
    start: str | None
    """Day on which the nodes are there; None: today."""
    nodes: int
    """Spares included."""
    storage: str | None
    wait_days: float
    """Days waited for the nodes after the phase before has ended, or from day 0."""
    start_day: float
    end_day: float
    billed_hours: float
    """Expected hours of each node that are paid for."""
    compute_usd: float
    storage_usd: float
    data_usd: float
    """Price of bringing training data there that was elsewhere."""
    cost_at_confidence_usd: float


@dataclass(frozen=True, slots=True)
class Move:
    """A change of region between two leases."""

    after: str
    """The phase whose checkpoint is moved."""
    origin: str
    destination: str
    checkpoint_gb: float
    checkpoint_usd: float
    data_usd: float
    """Price of bringing the data set of all phases to the new region."""
    days: float
    price_known: bool
    """Whether the catalog knows the price; else it counts as 0."""


@dataclass(frozen=True, slots=True)
class Total:
    """What all phases come to together."""

    cost_usd: float
    cost_parts_usd: dict[str, float]
    """compute, storage, data, moves; they add up to ``cost_usd``."""
    duration_days: float
    duration_parts_days: dict[str, float]
    """Those of a plan, and moves and waiting; they add up to ``duration_days``."""
    confidence: float
    cost_at_confidence_usd: float
    duration_at_confidence_days: float
    cost_p90_usd: float
    duration_p90_days: float
    gpu_hours: float


@dataclass(frozen=True, slots=True)
class PlanResult:
    """The answer to one scenario."""

    status: Status
    objective: str
    plan: Plan | None
    alternatives: tuple[Alternative, ...]
    proof: Proof
    explanation: Explanation | None
    versions: dict[str, str]
    scenario: str = ""
    objective_levels: tuple[str, ...] = ()
    """What was minimised in turn, ``objective`` first."""
    phases: tuple[PhasePlan, ...] = ()
    """The phases of a chain, in order; empty for a single job."""
    leases: tuple[Lease, ...] = ()
    moves: tuple[Move, ...] = ()
    total: Total | None = None
    warnings: tuple[Message, ...] = ()
    """What is to be known of a chain, beside the warnings of its plans."""
    request: dict[str, Any] | None = None
    """What was asked: the scenario as one document, the catalog and the day."""
    route: dict[str, Any] | None = None
    """The steps from the plan to a finished run, as the JSON contract has them."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON contract's object."""
        return {
            "ok": True,
            "schema_version": SCHEMA_VERSION,
            "scenario": self.scenario,
            "status": self.status,
            "objective": self.objective,
            "objective_levels": list(self.objective_levels),
            "plan": self.plan.as_dict() if self.plan else None,
            "alternatives": [
                {
                    "kind": a.kind,
                    "cost_change_usd": a.cost_change_usd,
                    "duration_change_days": a.duration_change_days,
                    "plan": a.plan.as_dict(),
                }
                for a in self.alternatives
            ],
            "proof": asdict(self.proof),
            "explanation": asdict(self.explanation) if self.explanation else None,
            "versions": self.versions,
            "phases": [
                asdict(phase) | {"plan": phase.plan.as_dict()} for phase in self.phases
            ],
            "leases": [asdict(lease) for lease in self.leases],
            "moves": [asdict(move) for move in self.moves],
            "total": asdict(self.total) if self.total else None,
            "warnings": [message.as_dict() for message in self.warnings],
            "request": self.request,
            "route": self.route,
        }

"""What a plan names, looked up again, and the physics of its one layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from solver.catalog.supply import merged_catalog, storage_options
from solver.hardware import hardware_of, precision_supported
from solver.performance.inputs import (
    RECOMPUTE,
    Framework,
    Hardware,
    Layouts,
    Memory,
    StepTime,
    TrainingJob,
    TransformerShape,
)
from solver.performance.memory import peak_memory
from solver.performance.step_time import step_time
from solver.physics_inputs import framework_of, jobs_of, numerics_of, shape_of
from solver.verify.violation import Violation

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, NetworkTier, Offer, Server, StorageTier
    from solver.plan import Plan
    from solver.scenario.scenario import Scenario


LOCAL_KINDS = ("local_nvme", "nvme_raid")

BASE_AND_REST = 2
"""Parts of a mix."""


@dataclass(frozen=True)
class Part:
    """Nodes of one offer in a plan."""

    offer: Offer
    server: Server
    nodes: int


@dataclass(frozen=True)
class Evidence:
    """A plan with the catalog's records of what it chose.

    Everything derives from ``plan``'s decisions: offer, storage, nodes and layout. Its
    figures are only ever compared, never used.
    """

    plan: Plan
    scenario: Scenario
    catalog: Catalog
    """With the scenario's own offers in it."""
    offer: Offer
    server: Server
    gpu: Gpu
    network: NetworkTier | None
    tier: StorageTier
    country: str | None
    parts: tuple[Part, ...]
    """All nodes, or those of the base and of the rest of a mix; spares are in them."""

    @cached_property
    def shape(self) -> TransformerShape:
        """Sizes of the transformer."""
        return shape_of(self.scenario.architecture)

    @cached_property
    def job(self) -> TrainingJob:
        """The way to train that the plan names, of those that the scenario allows."""
        jobs = jobs_of(self.scenario, self.catalog)
        return next((job for job in jobs if self._runs(job)), jobs[0])

    def _runs(self, job: TrainingJob) -> bool:
        """Whether the plan's layout names what tells this way to train apart."""
        named = numerics_of(job)
        return all(getattr(self.plan.layout, key) == named[key] for key in named)

    @cached_property
    def framework(self) -> Framework:
        """The framework of the scenario, not that of the plan."""
        return framework_of(self.catalog, self.scenario.workload.framework)

    @cached_property
    def hardware(self) -> Hardware:
        """The node as the physics sees it."""
        return hardware_of(self.catalog, self.server, self.job.precision)

    @cached_property
    def layouts(self) -> Layouts:
        """The plan's layout as an array of one row."""
        layout = self.plan.layout
        return Layouts.from_rows(
            [
                {
                    "nodes": self.plan.nodes,
                    "gpus_per_node": self.server.gpus_per_node,
                    "tp": layout.tp,
                    "pp": layout.pp,
                    "cp": layout.cp,
                    "ep": layout.ep,
                    "etp": layout.etp,
                    "dp": layout.dp,
                    "virtual_stages": layout.virtual_stages,
                    "micro_batch": layout.micro_batch,
                    "accumulation": layout.accumulation,
                    "zero_stage": layout.zero_stage,
                    "shard_degree": layout.shard_degree,
                    "sequence_parallel": layout.sequence_parallel,
                    "recompute": RECOMPUTE.index(layout.recompute),
                }
            ]
        )

    @cached_property
    def step(self) -> StepTime:
        """Step time by part, one row."""
        return step_time(
            self.shape, self.job, self.framework, self.hardware, self.layouts
        )

    @cached_property
    def memory(self) -> Memory:
        """Peak memory by part, one row; attention scores count where they are kept."""
        return peak_memory(
            self.shape,
            self.job,
            self.framework,
            self.layouts,
            fused_attention=bool(self.hardware.fused_attention),
        )


def gather(
    plan: Plan, scenario: Scenario, catalog: Catalog
) -> Evidence | list[Violation]:
    """Look up what the plan names; violations where there is no such thing."""
    supply = merged_catalog(catalog, scenario.supply)
    offer = supply.offers.get(plan.offer)
    if offer is None:
        return [Violation("stock", "there is no such offer", None, plan.offer)]
    server = supply.servers[offer.server]
    gpu = supply.gpu(server.gpu)
    region = supply.regions.get(offer.region)
    parts = parts_of_mix(plan, supply)
    if not isinstance(parts, tuple):
        return parts
    tier = _tier(plan.storage, _storage(supply, parts))
    if tier is None:
        return [Violation("storage", "the offer has no such tier", None, plan.storage)]
    evidence = Evidence(
        plan=plan,
        scenario=scenario,
        catalog=supply,
        offer=offer,
        server=server,
        gpu=gpu,
        network=supply.networks[server.network] if server.network else None,
        tier=tier,
        country=region.country if region else None,
        parts=parts,
    )
    return list(_unfit(evidence)) or evidence


def parts_of_mix(plan: Plan, supply: Catalog) -> tuple[Part, ...] | list[Violation]:
    """All nodes by offer, with spares; violations where a mix is none."""
    spares: Any = plan.spare_nodes
    rented = plan.nodes + (spares if type(spares) is int and spares > 0 else 0)
    beside: Any = plan.layout.rollout_nodes
    rented += beside if type(beside) is int and beside > 0 else 0
    if plan.mix is None:
        offer = supply.offers[plan.offer]
        return (Part(offer, supply.servers[offer.server], rented),)
    parts: list[Part] = []
    written: Any = plan.mix
    if type(written) is not tuple or not all(type(part) is dict for part in written):
        return [Violation("purchase", "the mix is no list of parts", None, written)]
    for stated in written:
        mixed, nodes = supply.offers.get(stated.get("offer", "")), stated.get("nodes")
        if mixed is None or type(nodes) is not int or nodes < 1:
            return [Violation("purchase", "no such part of a mix", None, stated)]
        parts.append(Part(mixed, supply.servers[mixed.server], nodes))
    counted = sum(part.nodes for part in parts)
    if len(parts) != BASE_AND_REST or counted != rented:
        message = "the mix is not all nodes, of two offers"
        return [Violation("purchase", message, rented, counted)]
    return tuple(parts)


def _storage(supply: Catalog, parts: tuple[Part, ...]) -> tuple[StorageTier, ...]:
    """Tiers that all nodes can use: what is shared, and drives that all have."""
    every = [storage_options(supply, part.offer, part.server) for part in parts]
    if len(every) == 1:
        return every[0]
    base, rest = every
    named = {"id", "name", "source", "as_of", "provider", "note", "sources"}
    drives = [t.model_dump(exclude=named) for t in base if t.kind in LOCAL_KINDS]
    return (
        *(tier for tier in base if tier.kind not in LOCAL_KINDS),
        *(tier for tier in rest if tier.kind not in LOCAL_KINDS),
        *(
            tier
            for tier in rest
            if tier.kind in LOCAL_KINDS and tier.model_dump(exclude=named) in drives
        ),
    )


def _tier(name: str | None, choices: tuple[StorageTier, ...]) -> StorageTier | None:
    """The offer's storage tier of that name."""
    return next((tier for tier in choices if tier.id == name), None)


def _unfit(evidence: Evidence) -> Iterator[Violation]:
    """Choices that the physics could not even be asked about."""
    plan = evidence.plan
    order, days = evidence.scenario.start_date, []
    for offer in (part.offer for part in evidence.parts):
        days += [d.start.isoformat() for d in offer.available if d.start]
        if offer.lead_time_days:
            days.append((order + timedelta(days=offer.lead_time_days)).isoformat())
    if plan.start is not None and plan.start not in days:
        yield Violation("stock", "nothing is delivered that day", days, plan.start)
    if plan.layout.recompute not in RECOMPUTE:
        yield Violation(
            "parallelism", "no such recomputation", RECOMPUTE, plan.layout.recompute
        )
    precision = evidence.job.precision
    if not precision_supported(evidence.gpu, precision):
        yield Violation(
            "precision", f"{evidence.gpu.id} lacks it", precision, evidence.gpu.id
        )

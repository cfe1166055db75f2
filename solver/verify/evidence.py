"""What a plan names, looked up again, and the physics of its one layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

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
from solver.physics_inputs import framework_of, job_of, shape_of
from solver.verify.violation import Violation

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, NetworkTier, Offer, Server, StorageTier
    from solver.plan import Plan
    from solver.scenario.scenario import Scenario


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

    @cached_property
    def shape(self) -> TransformerShape:
        """Sizes of the transformer."""
        return shape_of(self.scenario.architecture)

    @cached_property
    def job(self) -> TrainingJob:
        """The training job."""
        return job_of(self.scenario, self.catalog)

    @cached_property
    def framework(self) -> Framework:
        """The framework of the scenario, not that of the plan."""
        return framework_of(self.catalog, self.scenario.workload.framework)

    @cached_property
    def hardware(self) -> Hardware:
        """The node as the physics sees it."""
        return hardware_of(self.catalog, self.server, self.scenario.workload.precision)

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
    gpu = supply.gpus[server.gpu]
    region = supply.regions.get(offer.region)
    tier = _tier(plan.storage, storage_options(supply, offer, server))
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
    )
    return list(_unfit(evidence)) or evidence


def _tier(name: str | None, choices: tuple[StorageTier, ...]) -> StorageTier | None:
    """The offer's storage tier of that name."""
    return next((tier for tier in choices if tier.id == name), None)


def _unfit(evidence: Evidence) -> Iterator[Violation]:
    """Choices that the physics could not even be asked about."""
    plan = evidence.plan
    offer, order = evidence.offer, evidence.scenario.start_date
    days = [d.start.isoformat() for d in offer.available if d.start]
    if offer.lead_time_days:
        days.append((order + timedelta(days=offer.lead_time_days)).isoformat())
    if plan.start is not None and plan.start not in days:
        yield Violation("stock", "nothing is delivered that day", days, plan.start)
    if plan.layout.recompute not in RECOMPUTE:
        yield Violation(
            "parallelism", "no such recomputation", RECOMPUTE, plan.layout.recompute
        )
    precision = evidence.scenario.workload.precision
    if not precision_supported(evidence.gpu, precision):
        yield Violation(
            "precision", f"{evidence.gpu.id} lacks it", precision, evidence.gpu.id
        )

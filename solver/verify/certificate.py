"""One check for each rule, each from the plan's decisions alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from solver.physics_inputs import numerics_of
from solver.units import DAY, GB, GIB
from solver.verify.alignment_checks import check_alignment
from solver.verify.energy_checks import check_carbon, check_energy
from solver.verify.evidence import Evidence, gather
from solver.verify.failure_checks import FAILURE_PARTS, check_goodput
from solver.verify.figures import Figures
from solver.verify.geography_checks import check_residency
from solver.verify.layout_checks import check_divisibility
from solver.verify.purchase_checks import (
    check_purchase,
    mix_figures,
    purchase_figures,
)
from solver.verify.slice_checks import check_slice
from solver.verify.supply_checks import (
    check_cluster,
    check_lead_time,
    check_quota,
    check_spares,
    check_stock,
    check_term,
)
from solver.verify.violation import (
    Violation,
    at_most,
    close,
    facts,
    figures,
    parts_of,
)

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.plan import Plan
    from solver.ranges import Range
    from solver.scenario.scenario import Scenario

Check: TypeAlias = Callable[[Evidence, Figures], Iterator[Violation]]

MEMORY_PARTS = ("weights", "gradients", "optimizer", "activations", "other")


def verify(plan: Plan, scenario: Scenario, catalog: Catalog) -> list[Violation]:
    """Every promise of ``plan`` that its decisions do not keep; none if it is right.

    Parameters
    ----------
    plan
        The plan. Of it only the decisions are believed.
    scenario
        The question that it answers.
    catalog
        What is on offer, with or without the scenario's own offers.

    Notes
    -----
    A plan whose layout does not divide is not evaluated any further: it has no figures.
    """
    evidence = gather(plan, scenario, catalog)
    if not isinstance(evidence, Evidence):
        return evidence
    known = Figures(evidence)
    broken = list(CHECKS["divisibility"](evidence, known))
    if broken:
        return broken
    return [
        violation for check in CHECKS.values() for violation in check(evidence, known)
    ]


def check_memory(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Peak memory by part as evaluated, none negative, within the card's headroom."""
    memory = evidence.memory
    parts = {name: float(getattr(memory, name)[0]) / GIB for name in MEMORY_PARTS}
    total = math.fsum(parts.values())
    capacity = evidence.gpu.usable_memory_gib
    expected = {**parts, "total": total, "capacity": capacity}
    yield from figures("memory", expected, evidence.plan.memory_gib)
    yield from parts_of("memory", "memory", total, parts)
    allowed = (1.0 - evidence.scenario.constraints.memory_headroom) * capacity
    if not at_most(total, allowed):
        yield Violation("memory", "it does not fit the card, GiB", allowed, total)
    size = known.checkpoint_bytes / GB
    if not close(size, evidence.plan.checkpoint_gb):
        message = "checkpoint_gb does not follow"
        yield Violation("memory", message, size, evidence.plan.checkpoint_gb)
    yield from check_alignment(evidence, known)


def check_layout(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """GPUs, layers, batch, heads, sequence, experts and shards divide without rest."""
    yield from check_divisibility(evidence)


def check_parallelism(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """Degrees and recomputation are among those that the user allows."""
    user, layout = evidence.scenario.constraints, evidence.plan.layout
    for name, wanted in user.parallelism.items():
        holder = evidence.plan if name in ("nodes", "gpus") else layout
        yield from _within("parallelism", name, wanted, getattr(holder, name))
    yield from _one_of("parallelism", "recompute", user.recompute, layout.recompute)


def check_host(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The host is that of the server, and holds what its GPUs need."""
    server, hosts = evidence.server, [part.server for part in evidence.parts]
    expected = {
        "vcpus": server.vcpus,
        "ram_gb": server.ram_gb,
        "local_nvme_tb": server.local_nvme_tb,
        "nic_gbps": server.network_gbps if server.network else None,
        "ram_needed_gb": known.host_bytes / GB,
        "nvme_needed_gb": known.drive_bytes / GB,
    }
    yield from figures("host", expected, evidence.plan.host)
    for ram_gb in (host.ram_gb for host in hosts if host.ram_gb is not None):
        if not at_most(known.host_bytes, ram_gb * GB):
            message = "the host's memory is too small, bytes"
            yield Violation("host", message, ram_gb * GB, known.host_bytes)


def check_drives(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The nodes' own drives hold what is offloaded, beside what is stored there."""
    if not known.drive_bytes:
        return
    for part in evidence.parts:
        have = (part.server.local_nvme_tb or 0.0) * 1e12
        if not at_most(known.drive_bytes, have):
            message = "the node's drives are too small, bytes"
            yield Violation("drives", message, have, known.drive_bytes)


def check_precision(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """Precision and optimizer are among those asked for (`gather` asks the GPU)."""
    yield from facts("precision", numerics_of(evidence.job), evidence.plan.layout)


def check_regions(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The region is the offer's and allowed."""
    region = evidence.offer.region
    bare = region.partition("/")[2] or region
    yield from facts("regions", {"region": bare}, evidence.plan)
    allowed = evidence.scenario.constraints.regions
    yield from _one_of("regions", "region", allowed, region)


def check_countries(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The country is the region's and allowed; one not known is not allowed."""
    yield from facts("countries", {"country": evidence.country}, evidence.plan)
    allowed = evidence.scenario.constraints.countries
    yield from _one_of("countries", "country", allowed, evidence.country)


def check_providers(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The provider is the offer's and allowed."""
    provider = evidence.offer.provider
    yield from facts("providers", {"provider": provider}, evidence.plan)
    allowed = evidence.scenario.constraints.providers
    yield from _one_of("providers", "provider", allowed, provider)


def check_gpu_types(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """GPU and server are the offer's, the GPU allowed and not excluded."""
    wanted = {"gpu": evidence.gpu.id, "server": evidence.server.id}
    yield from facts("gpu_types", wanted, evidence.plan)
    user = evidence.scenario.constraints
    yield from _one_of("gpu_types", "gpu", user.gpu_types, evidence.gpu.id)
    if evidence.gpu.id in user.gpu_exclude:
        message = "the GPU is excluded"
        yield Violation("gpu_types", message, user.gpu_exclude, evidence.gpu.id)


def check_gpus(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """GPUs and GPUs a node are the server's and within bounds; a slice is one."""
    size, user = evidence.server.gpus_per_node, evidence.scenario.constraints
    wanted = {"gpus_per_node": size, "gpus": evidence.plan.nodes * size}
    yield from facts("gpus", wanted, evidence.plan)
    busy = (evidence.plan.nodes + evidence.job.rollout_nodes) * size
    yield from _within("gpus", "gpus", user.gpus, busy)
    yield from _within("gpus", "gpus_per_node", user.gpus_per_node, size)
    yield from check_slice(evidence)


def check_intra_node(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The links inside the node are the server's, of an allowed kind, fast enough."""
    server, user = evidence.server, evidence.scenario.constraints
    yield from facts("intra_node", {"intra_node": server.intra_node}, evidence.plan)
    kind, rate = server.intra_node_kind, server.intra_node_gb_per_s
    yield from _one_of("intra_node", "kind", user.intra_node_kinds, kind)
    floor = user.intra_node_min_gb_per_s
    if floor is not None and not at_most(floor, rate):
        yield Violation("intra_node", "too slow, GB/s a GPU", floor, rate)


def check_network(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The fabric is the server's, of an allowed kind, wide enough, there if needed."""
    server, user = evidence.server, evidence.scenario.constraints
    yield from facts("network", {"network": server.network}, evidence.plan)
    kind = evidence.network.kind if evidence.network else None
    yield from _one_of("network", "kind", user.network_kinds, kind)
    gbps = server.network_gbps / server.gpus_per_node if evidence.network else 0.0
    floor = user.network_min_gbps_per_gpu
    if floor is not None and not at_most(floor, gbps):
        yield Violation("network", "too narrow, Gb/s a GPU", floor, gbps)
    if evidence.network is None and evidence.plan.nodes > 1:
        message = "no network joins the nodes"
        yield Violation("network", message, 1, evidence.plan.nodes)


def check_storage(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The tier is of an allowed kind and reads as fast as the user wants.

    That the offer has the tier is `gather`'s question.
    """
    user, tier = evidence.scenario.constraints, evidence.tier
    yield from _one_of("storage", "kind", user.storage_kinds or None, tier.kind)
    floor = user.storage_min_read_bytes_per_s
    if floor is not None and not at_most(floor, known.read_rate):
        message = "it reads too slowly, bytes/s"
        yield Violation("storage", message, floor, known.read_rate)


def check_storage_capacity(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Data and two checkpoints find room on the tier."""
    if not at_most(known.stored_bytes, known.capacity_bytes):
        yield Violation(
            "storage_capacity",
            "data and checkpoints do not fit, bytes",
            known.capacity_bytes,
            known.stored_bytes,
        )


def check_throughput(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Steps, step time and tokens a second; no GPU passes its peak; the floor holds."""
    plan, user = evidence.plan, evidence.scenario.constraints
    rate = known.tokens_per_step / known.step_time_s
    expected = {
        "step_time_s": known.step_time_s,
        "tokens_per_s": rate,
        "mfu": known.mfu,
        "steps": known.steps,
        "useful_token_share": known.useful_token_share,
        "efficiency": known.efficiency,
        "step_time_p10_s": known.step_time_s * known.late_factor(0.1),
        "step_time_p90_s": known.step_time_s * known.late_factor(0.9),
    }
    got = {name: getattr(plan, name) for name in expected}
    yield from figures("throughput", expected, got)
    yield from figures("throughput", known.step_time_parts_s, plan.step_time_parts_s)
    yield from parts_of(
        "throughput", "step_time_s", known.step_time_s, plan.step_time_parts_s
    )
    if not (0.0 < known.mfu <= 1.0):
        yield Violation("throughput", "more FLOP/s than the GPUs have", 1, known.mfu)
    floor = user.min_tokens_per_s
    late = rate / known.late_factor(user.confidence)
    if floor is not None and not at_most(floor, late):
        yield Violation("throughput", "below the floor, tokens/s", floor, late)


def check_deadline(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """All time adds up to the duration, which keeps the deadline as surely as asked."""
    plan, user = evidence.plan, evidence.scenario.constraints
    days = {
        "training_days": known.training_s / DAY,
        "duration_days": known.duration_s / DAY,
        "duration_p90_days": known.duration_at(0.9) / DAY,
        "duration_at_confidence_days": known.duration_at(user.confidence) / DAY,
    }
    yield from figures("deadline", days, {name: getattr(plan, name) for name in days})
    overheads, got = evidence.scenario.overheads, plan.duration_parts_days
    parts = {
        "training": known.training_s / DAY,
        "data_stall": known.stall_s / DAY,
        "evaluation": known.evaluation_s / DAY,
        "setup": overheads.setup_s / DAY,
        "queue": overheads.queue_s / DAY,
        "delivery": known.wait_s / DAY,
        "transfer": known.transfer_shown_s / DAY,
        "serving": known.moving.serving_s / DAY,
    }
    stated = {k: v for k, v in got.items() if k not in FAILURE_PARTS}
    yield from figures("deadline", parts, stated)
    yield from parts_of("deadline", "duration_days", known.duration_s / DAY, got)
    if known.training_s + known.stall_s < known.bytes_read / known.read_rate * 0.999999:
        message = "shorter than reading the data takes, s"
        yield Violation(
            "deadline", message, known.bytes_read / known.read_rate, known.training_s
        )
    late = known.duration_at(user.confidence)
    if user.deadline_s is not None and not at_most(late, user.deadline_s):
        yield Violation("deadline", "it ends too late, s", user.deadline_s, late)


def check_budget(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The bill by part follows from price and time and keeps the budget."""
    plan, user = evidence.plan, evidence.scenario.constraints
    parts = {
        "compute": known.compute_usd,
        "energy": known.energy_usd,
        "hosting": known.hosting_usd,
        "storage": known.storage_usd(known.duration_s),
        "egress": known.moving.egress_usd,
        "serving": known.moving.serving_usd,
    }
    yield from figures("budget", parts, plan.cost_parts_usd)
    yield from parts_of("budget", "cost_usd", known.cost_usd, plan.cost_parts_usd)
    stated = {
        "billing_unit": evidence.offer.billing_unit,
        "confidence": user.confidence,
    }
    yield from facts("budget", stated, plan)
    yield from mix_figures(evidence, known)
    yield from purchase_figures(evidence, known)
    size = evidence.server.gpus_per_node
    expected = {
        "cost_usd": known.cost_usd,
        "cost_at_confidence_usd": known.cost_at(user.confidence),
        "cost_p90_usd": known.cost_at(0.9),
        "gpu_hours": known.rented_nodes * size * known.expected_hours,
        "usd_per_gpu_hour": known.usd_per_node_hour / size,
    }
    got = {name: getattr(plan, name) for name in expected}
    yield from figures("budget", expected, got)
    limit, bill = user.budget_usd, known.cost_at(user.confidence)
    if limit is not None and not at_most(bill, limit):
        yield Violation("budget", "it costs too much, USD", limit, bill)


def _within(rule: str, name: str, wanted: Range, value: float) -> Iterator[Violation]:
    """A violation unless the user's range or list allows ``value``."""
    listed = wanted.values is None or value in wanted.values
    above = wanted.min is None or value >= wanted.min
    below = wanted.max is None or value <= wanted.max
    if not (listed and above and below):
        yield Violation(rule, f"{name} is not allowed", wanted, value)


def _one_of(
    rule: str, name: str, allowed: tuple[str, ...] | None, value: str | None
) -> Iterator[Violation]:
    """A violation unless ``value`` is allowed; None allows everything."""
    if allowed is not None and value not in allowed:
        yield Violation(rule, f"{name} is not allowed", allowed, value)


CHECKS: Mapping[str, Check] = {
    "memory": check_memory,
    "divisibility": check_layout,
    "parallelism": check_parallelism,
    "host": check_host,
    "drives": check_drives,
    "precision": check_precision,
    "regions": check_regions,
    "countries": check_countries,
    "residency": check_residency,
    "providers": check_providers,
    "gpu_types": check_gpu_types,
    "gpus": check_gpus,
    "intra_node": check_intra_node,
    "network": check_network,
    "storage": check_storage,
    "storage_capacity": check_storage_capacity,
    "purchase": check_purchase,
    "stock": check_stock,
    "cluster": check_cluster,
    "quota": check_quota,
    "spares": check_spares,
    "lead_time": check_lead_time,
    "term": check_term,
    "throughput": check_throughput,
    "deadline": check_deadline,
    "budget": check_budget,
    "energy": check_energy,
    "carbon": check_carbon,
    "goodput": check_goodput,
}
"""Rule id to its check, in the order of `solver.rules.RULES`."""

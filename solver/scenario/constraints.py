"""The user's limits: names to ids, ranges to `Range`, and what was stated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date

from solver.ranges import Range
from solver.scenario import lookup
from solver.scenario.range_schema import RangeSpec
from solver.scenario.reading import Reading
from solver.scenario.scenario import Constraints, InlineSupply
from solver.scenario.schema import (
    ConstraintsSpec,
    ParallelismSpec,
    ScenarioFile,
)
from solver.units import DAY
from solver.yaml_source import DataPath

CONSTRAINTS: DataPath = ("constraints",)

DEGREES = (
    "tp", "pp", "cp", "ep", "dp", "virtual_stages", "micro_batch", "zero_stage",
)  # fmt: skip

RULE_OF_FIELD: dict[tuple[str, ...], str] = {
    ("constraints", "deadline"): "deadline",
    ("constraints", "budget"): "budget",
    ("constraints", "max_energy"): "energy",
    ("constraints", "max_carbon"): "carbon",
    ("constraints", "min_tokens_per_s"): "throughput",
    ("constraints", "regions"): "regions",
    ("constraints", "countries"): "countries",
    ("constraints", "providers"): "providers",
    ("constraints", "gpus", "types"): "gpu_types",
    ("constraints", "gpus", "exclude"): "gpu_types",
    ("constraints", "gpus", "min"): "gpus",
    ("constraints", "gpus", "max"): "gpus",
    ("constraints", "gpus", "per_node"): "gpus",
    ("constraints", "intra_node"): "intra_node",
    ("constraints", "network"): "network",
    ("constraints", "storage"): "storage",
    ("constraints", "purchase"): "purchase",
    ("constraints", "parallelism"): "parallelism",
    ("constraints", "memory_headroom"): "memory",
    ("stock", "unknown_nodes"): "stock",
    ("stock", "quota"): "quota",
    ("failures", "spares"): "spares",
    ("workload", "precision"): "precision",
    ("data", "size"): "storage_capacity",
    ("data", "residency"): "residency",
}
"""Scenario key to the rule of `solver.rules` that it states something for."""


def resolve_constraints(
    file: ScenarioFile, supply: InlineSupply, reading: Reading
) -> Constraints:
    """Return the limits in canonical units, every name a catalog id.

    Parameters
    ----------
    file
        The scenario as written.
    supply
        The user's own offers, whose regions and providers may be named as well.
    reading
        Takes faults.
    """
    spec = file.constraints
    network, storage = spec.network, spec.storage
    return Constraints(
        deadline_s=_deadline_s(spec.deadline, reading),
        budget_usd=spec.budget,
        max_energy_mwh=spec.max_energy,
        max_carbon_t=spec.max_carbon,
        min_tokens_per_s=spec.min_tokens_per_s or None,
        regions=_each(spec.regions, "regions", reading, lookup.regions),
        countries=_each(spec.countries, "countries", reading, lookup.countries),
        providers=_each(spec.providers, "providers", reading, lookup.providers),
        gpu_types=_gpus(spec.gpus.types, "types", reading),
        gpu_exclude=_gpus(spec.gpus.exclude, "exclude", reading) or (),
        gpus=Range(min=spec.gpus.min, max=spec.gpus.max),
        gpus_per_node=Range(values=_set(spec.gpus.per_node)),
        intra_node_min_gb_per_s=spec.intra_node.min_gb_per_s or None,
        intra_node_kinds=_words(spec.intra_node.kinds),
        network_min_gbps_per_gpu=network.min_gbps_per_gpu or None,
        network_kinds=_words(network.kinds),
        storage_kinds=_words(storage.kinds),
        storage_min_read_bytes_per_s=storage.min_read or None,
        purchase=_purchase(spec, supply, reading),
        parallelism=_parallelism(spec.parallelism),
        recompute=_words(spec.parallelism.recompute),
        memory_headroom=spec.memory_headroom,
        confidence=spec.confidence,
        stated=stated_rules(reading.source.data),
    )


def stated_rules(data: object) -> frozenset[str]:
    """Return the ids of the rules that a scenario's data says something for."""
    stated = set()
    for path, rule_id in RULE_OF_FIELD.items():
        value = data
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if value not in (None, [], {}):
            stated.add(rule_id)
    return frozenset(stated)


def _deadline_s(written: date | float | None, reading: Reading) -> float | None:
    """Return the seconds from the start of the plan to the deadline."""
    if not isinstance(written, date):
        return written
    days = (written - reading.today).days
    if days <= 0:
        message = f"the deadline {written} is not after today, {reading.today}"
        reading.fault("deadline-in-past", message, (*CONSTRAINTS, "deadline"))
    return float(max(days, 1) * DAY)


def _each(
    written: Iterable[str],
    key: str,
    reading: Reading,
    find: Callable[[Reading, str, DataPath], tuple[str, ...]],
) -> tuple[str, ...] | None:
    """Return the ids that a list of names stands for; None if the list is empty."""
    found: list[str] = []
    for path, name in reading.items((*CONSTRAINTS, key), written):
        found.extend(find(reading, name, path))
    return tuple(dict.fromkeys(found)) or None


def _gpus(written: Iterable[str], key: str, reading: Reading) -> tuple[str, ...] | None:
    """Return the GPUs that a list of names and families stands for."""
    found: list[str] = []
    for path, name in reading.items((*CONSTRAINTS, "gpus", key), written):
        found.extend(lookup.gpus(reading, name, path))
    return tuple(dict.fromkeys(found)) or None


def _words(written: Iterable[str]) -> tuple[str, ...] | None:
    """Return a set of words; None, no limit, if it is empty."""
    return tuple(dict.fromkeys(written)) or None


def _set(written: Iterable[int]) -> tuple[int, ...] | None:
    """Return a set of numbers in order; None, no limit, if it is empty."""
    return tuple(sorted(set(written))) or None


def _purchase(
    spec: ConstraintsSpec, supply: InlineSupply, reading: Reading
) -> tuple[str, ...]:
    """Return the purchase kinds; by default on demand and what own offers are."""
    if spec.purchase:
        return tuple(dict.fromkeys(spec.purchase))
    own = {offer.purchase for offer in supply.offers} - {"on_demand", "spot"}
    if own and not reading.is_broken((*CONSTRAINTS, "purchase")):
        reading.notice("notice.purchase.own", kinds=", ".join(sorted(own)))
    return ("on_demand", *sorted(own))


def _parallelism(spec: ParallelismSpec) -> dict[str, Range]:
    """Return the limits of the layout by axis."""
    limits = {}
    for axis in DEGREES:
        written = getattr(spec, axis)
        if isinstance(written, RangeSpec):
            if written.min is not None or written.max is not None:
                limits[axis] = Range(min=written.min, max=written.max)
        elif isinstance(written, int):
            limits[axis] = Range(values=(written,))
        elif written:
            limits[axis] = Range(values=_set(written))
    return limits

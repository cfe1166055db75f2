"""From candidates with units to the integer table that CP-SAT is fed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solver.candidates import CandidateTable, objective_values
from solver.cpsat.scaling import scale_down, scale_up, unit_for
from solver.cpsat.table import (
    MAX_SCALED,
    AllowedSet,
    AllowedValues,
    Bound,
    IntArray,
    JobTable,
    Level,
    Requirement,
    Term,
)
from solver.objective import Spent
from solver.objective import objective_values as objective_of
from solver.options import Option, allowed_purchase
from solver.performance.inputs import RECOMPUTE, FloatArray, Layouts
from solver.planning.node_parts import quota_count
from solver.ranges import Range
from solver.scenario.scenario import Scenario
from solver.search import limits_of
from solver.setting import Setting

NO_TIER = "none"
"""Label of a node without a fabric."""

LAYOUT_QUANTITIES = (
    "nodes",
    "gpus_per_node",
    "tp",
    "pp",
    "cp",
    "ep",
    "etp",
    "dp",
    "virtual_stages",
    "micro_batch",
    "zero_stage",
)

STEP_UNIT_S = 1e-6
MEMORY_UNIT_BYTES = 2**20
READ_UNIT = 1e6
TOKEN_UNIT = 1e-3


@dataclass(frozen=True, slots=True)
class Scale:
    """Units of the integers; they follow from catalog and job, never from limits."""

    usd: float
    seconds: float
    kwh: float
    kg: float
    objective: float

    def of(self, level: str) -> float:
        """Unit of a level of the objective."""
        units = {
            "cost": self.usd,
            "time": self.seconds,
            "energy": self.kwh,
            "carbon": self.kg,
        }
        return units.get(level, self.objective)


def scale_of(setting: Setting, floor: Spent, table: CandidateTable) -> Scale:
    """Units at most 1e-9 of what the least candidate spends.

    ``floor`` bounds what every candidate spends from below, by catalog and job alone.
    """

    def unit(least: FloatArray, most: FloatArray) -> float:
        return unit_for(float(least[0]), float(most.max(initial=0.0)))

    lowest = objective_of(setting.scenario.objective, floor)
    return Scale(
        usd=unit(floor.cost_usd, table.cost_limit_usd),
        seconds=unit(floor.duration_s, table.duration_limit_s),
        kwh=unit(floor.energy_kwh, table.energy_limit_kwh),
        kg=unit(_known(floor.carbon_kg), _ranked(table.carbon_limit_kg)),
        objective=unit(_known(lowest), _ranked(objective_values(setting, table))),
    )


def _known(values: FloatArray) -> FloatArray:
    """``values``, 0 where they are not known, (n,)."""
    return np.where(np.isfinite(values), values, 0.0)


def _ranked(values: FloatArray) -> FloatArray:
    """``values`` with those not known above all others, (n,).

    Only a later level of the objective sees them: where carbon is limited, or comes
    first, candidates whose carbon is not known are not formed.
    """
    beyond = 2.0 * float(_known(values).max(initial=0.0)) + 1.0
    return np.where(np.isfinite(values), values, beyond)


def canonical_order(setting: Setting, table: CandidateTable) -> IntArray:
    """Rank of each candidate by what it decides, a permutation, (n,).

    Fewer nodes first, of those that train and that generate, fewer spares, then offers
    and tiers by id, then the layout's degrees; the order of files and rows of the
    catalog plays no part.
    """
    layouts = table.layouts
    keys: list[IntArray] = [
        layouts.nodes,
        table.rollout_nodes,
        table.spares,
        table.option,
        table.tier,
        layouts.pp,
        layouts.tp,
        layouts.cp,
        layouts.ep,
        layouts.etp,
        layouts.virtual_stages,
        layouts.recompute,
        layouts.zero_stage,
        layouts.shard_degree,
        layouts.micro_batch,
        layouts.accumulation,
    ]
    order = np.lexsort(tuple(reversed(keys)))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order), dtype=np.int64)
    return rank


def job_table(setting: Setting, table: CandidateTable, scale: Scale) -> JobTable:
    """The candidates as integers: spent is rounded up, delivered down."""
    layouts, options = table.layouts, setting.arrays.take(table.option)
    rented = table.rented_nodes
    quantities = {n: np.asarray(getattr(layouts, n)) for n in LAYOUT_QUANTITIES}
    quantities |= {
        "gpus": table.busy_gpus,
        "spares": table.spares,
        "step_time": scale_up(table.step_time_s, STEP_UNIT_S),
        "duration": scale_up(table.duration_s, scale.seconds),
        "duration_at_confidence": scale_up(table.duration_limit_s, scale.seconds),
        "cost": scale_up(table.cost_usd, scale.usd),
        "cost_at_confidence": scale_up(table.cost_limit_usd, scale.usd),
        "energy": scale_up(table.energy_kwh, scale.kwh),
        "energy_at_confidence": scale_up(table.energy_limit_kwh, scale.kwh),
        "carbon": scale_up(_ranked(table.carbon_kg), scale.kg),
        "carbon_at_confidence": scale_up(_ranked(table.carbon_limit_kg), scale.kg),
        "memory": scale_up(table.memory_bytes, MEMORY_UNIT_BYTES),
        "memory_excess": _memory_excess(setting, table),
        "stock_excess": np.maximum(0, rented - options.stock_nodes),
        "cluster_excess": np.maximum(0, rented - options.cluster_nodes),
        "tokens_per_s": scale_down(_pace(setting, table), TOKEN_UNIT),
        "storage_read": scale_down(np.minimum(table.read_bytes_per_s, 1e15), READ_UNIT),
        "objective": scale_up(objective_values(setting, table), scale.objective),
    }
    quantities |= _quota_use(setting, table)
    return JobTable(
        name="job",
        quantities={k: v.astype(np.int64) for k, v in quantities.items()},
        units=_units(scale),
        categories=_categories(setting, table, layouts),
        rank=canonical_order(setting, table),
    )


def _units(scale: Scale) -> dict[str, str]:
    seconds, usd = f"{scale.seconds:g} s", f"{scale.usd:g} USD"
    kwh, kg = f"{scale.kwh:g} kWh", f"{scale.kg:g} kg"
    return {
        "step_time": f"{STEP_UNIT_S:g} s",
        "duration": seconds,
        "duration_at_confidence": seconds,
        "cost": usd,
        "cost_at_confidence": usd,
        "energy": kwh,
        "energy_at_confidence": kwh,
        "carbon": kg,
        "carbon_at_confidence": kg,
        "memory": "1 MiB",
        "memory_excess": "1 MiB",
        "tokens_per_s": f"{TOKEN_UNIT:g} tokens/s",
        "storage_read": "1 MB/s",
        "objective": f"{scale.objective:g}",
    }


def _quota_use(setting: Setting, table: CandidateTable) -> dict[str, IntArray]:
    """What each candidate counts towards each quota, by ``quota_0``, (n,) each."""
    places = range(len(setting.scenario.quotas))
    return {f"quota_{place}": quota_count(setting, table, place) for place in places}


def _pace(setting: Setting, table: CandidateTable) -> np.ndarray:
    """Tokens a second at the confidence asked, (n,)."""
    return np.asarray(table.tokens_per_s / np.exp(setting.z * table.sigma))


def _memory_excess(setting: Setting, table: CandidateTable) -> IntArray:
    capacity = np.array([g.capacity_bytes for g in setting.classes])[table.group]
    return scale_up(np.maximum(0.0, table.memory_bytes - capacity), MEMORY_UNIT_BYTES)


def _categories(
    setting: Setting, table: CandidateTable, layouts: Layouts
) -> dict[str, tuple[IntArray, tuple[str, ...]]]:
    options = setting.options
    order_date = setting.scenario.start_date

    def labelled(label: Callable[[Option], str]) -> tuple[IntArray, tuple[str, ...]]:
        every = [label(o) for o in options]
        labels = tuple(sorted({every[i] for i in np.unique(table.option)}))
        index = {text: i for i, text in enumerate(labels)}
        codes = np.array([index.get(text, -1) for text in every], dtype=np.int64)
        return codes[table.option], labels

    tiers = [t.id for t in setting.tiers]
    tier_labels = tuple(sorted({tiers[i] for i in np.unique(table.tier)}))
    tier_codes = np.array([_index(tier_labels, t) for t in tiers], dtype=np.int64)
    return {
        "gpu_type": labelled(lambda o: o.gpu.id),
        "intra_node_tier": labelled(lambda o: o.server.intra_node),
        "network_tier": labelled(lambda o: o.server.network or NO_TIER),
        "storage_tier": (tier_codes[table.tier], tier_labels),
        "region": labelled(lambda o: o.offer.region),
        "country": labelled(lambda o: o.country or NO_TIER),
        "provider": labelled(lambda o: o.offer.provider),
        "purchase": labelled(lambda o: o.purchase),
        "offer": labelled(lambda o: o.name),
        "start": labelled(lambda o: (o.start or order_date).isoformat()),
        "recompute": (layouts.recompute, RECOMPUTE),
    }


def _index(labels: tuple[str, ...], label: str) -> int:
    return labels.index(label) if label in labels else -1


def _at_most(limit: float, unit: float, column: IntArray) -> int:
    """The limit in units, down; never below a candidate that meets it exactly.

    The search compares true figures and keeps what meets the limit; rounding spent
    amounts up and the limit down must not refuse a plan that is right at it.
    """
    return max(int(min(limit / unit, MAX_SCALED)), int(column.max(initial=0)))


def _at_least(limit: float, unit: float, column: IntArray) -> int:
    """The floor in units, up; never above a candidate that meets it exactly."""
    floor = int(min(np.ceil(limit / unit), MAX_SCALED))
    return min(floor, int(column.min(initial=floor)))


def requirements_of(
    scenario: Scenario, setting: Setting, scale: Scale, table: JobTable
) -> tuple[Requirement, ...]:
    """The scenario's limits as rows on the integers of ``table``.

    Every candidate of the table meets deadline, budget and floors in true figures.
    """
    user = scenario.constraints
    uncertain = user.confidence != 0.5
    found: list[Requirement] = [
        Bound("memory", "memory_excess", upper=0),
        Bound("stock", "stock_excess", upper=0),
    ]
    if "cluster" in setting.option_set.supply_rules:
        found.append(Bound("cluster", "cluster_excess", upper=0))
    for place, quota in enumerate(scenario.quotas):
        found.append(Bound("quota", f"quota_{place}", upper=quota.limit))
    limits = limits_of(scenario)
    for rule, name, limit, unit in (
        ("deadline", "duration", limits.deadline_s, scale.seconds),
        ("budget", "cost", limits.budget_usd, scale.usd),
        ("energy", "energy", limits.max_energy_kwh, scale.kwh),
        ("carbon", "carbon", limits.max_carbon_kg, scale.kg),
    ):
        if limit is not None:
            column = f"{name}_at_confidence" if uncertain else name
            upper = _at_most(limit, unit, table.quantity(column))
            found.append(Bound(rule, column, upper=upper))
    if user.min_tokens_per_s is not None:
        pace = table.quantity("tokens_per_s")
        lower = _at_least(user.min_tokens_per_s, TOKEN_UNIT, pace)
        found.append(Bound("throughput", "tokens_per_s", lower=lower))
    if user.storage_min_read_bytes_per_s is not None:
        reads = table.quantity("storage_read")
        lower = _at_least(user.storage_min_read_bytes_per_s, READ_UNIT, reads)
        found.append(Bound("storage", "storage_read", lower=lower))
    if "spares" in setting.option_set.supply_rules:
        spares = frozenset(scenario.spare_choices)
        found.append(AllowedValues("spares", "spares", spares))
    found += _ranges("gpus", "gpus", user.gpus)
    found += _ranges("gpus", "gpus_per_node", user.gpus_per_node)
    for axis, wanted in sorted(user.parallelism.items()):
        found += _ranges("parallelism", axis, wanted)
    return (*found, *_sets(scenario, setting))


def _ranges(rule: str, quantity: str, wanted: Range) -> list[Requirement]:
    found: list[Requirement] = []
    if wanted.values is not None:
        found.append(AllowedValues(rule, quantity, frozenset(wanted.values)))
    if wanted.min is not None or wanted.max is not None:
        lower = None if wanted.min is None else int(np.ceil(wanted.min))
        upper = None if wanted.max is None else int(np.floor(wanted.max))
        found.append(Bound(rule, quantity, lower=lower, upper=upper))
    return found


def _sets(scenario: Scenario, setting: Setting) -> list[Requirement]:
    """Allowed labels of what the user restricted, by the options that are left."""
    user = scenario.constraints
    found: list[Requirement] = []
    stated: dict[str, tuple[str, tuple[str, ...] | None]] = {
        "regions": ("region", user.regions),
        "countries": ("country", user.countries),
        "residency": ("country", scenario.data.residency),
        "providers": ("provider", user.providers),
        "gpu_types": ("gpu_type", user.gpu_types),
    }
    for rule, (category, labels) in stated.items():
        if labels is not None:
            found.append(AllowedSet(rule, category, frozenset(labels)))
    if "purchase" in user.stated:
        found.append(AllowedSet("purchase", "purchase", _purchase_labels(setting)))
    if user.recompute is not None:
        found.append(AllowedSet("parallelism", "recompute", frozenset(user.recompute)))
    options = setting.options
    if user.intra_node_kinds or user.intra_node_min_gb_per_s:
        tiers = frozenset(o.server.intra_node for o in options)
        found.append(AllowedSet("intra_node", "intra_node_tier", tiers))
    if user.network_kinds or user.network_min_gbps_per_gpu:
        tiers = frozenset(o.server.network or NO_TIER for o in options)
        found.append(AllowedSet("network", "network_tier", tiers))
    if user.storage_kinds:
        tiers = frozenset(t.id for o in options for t in o.storage)
        found.append(AllowedSet("storage", "storage_tier", tiers))
    return found


def _purchase_labels(setting: Setting) -> frozenset[str]:
    """Allowed purchase kinds, and the mixes of which every part is allowed."""
    allowed = allowed_purchase(setting.scenario)
    mixes = {
        option.purchase
        for option in setting.options
        if option.mix and all(p.offer.purchase in allowed for p in option.parts)
    }
    return allowed | mixes


def objective_levels(scenario: Scenario) -> tuple[Level, ...]:
    """The objective's levels, ties broken by cost, then time."""
    names = {"time": "duration", "weighted": "objective"}
    levels = scenario.objective.levels
    return tuple((Term(names.get(level, level)),) for level in levels)

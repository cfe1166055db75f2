"""A scenario with one requirement left out: the building block of explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from solver.planning.energy_relaxations import without_carbon
from solver.ranges import Range
from solver.scenario.scenario import Constraints, Scenario
from solver.setting import Setting, setting_of

ALL_PURCHASE = ("on_demand", "spot", "reserved", "monthly", "owned", "bought")

STOCK_WITHOUT_LIMIT = 4_096
"""Nodes that every offer is taken to have when stock is what is relaxed."""


def _drop(**fields: object) -> Callable[[Constraints], Constraints]:
    return lambda user: replace(user, **fields)  # type: ignore[arg-type]


_DROP: Mapping[str, Callable[[Constraints], Constraints]] = {
    "memory": _drop(memory_headroom=0.0),
    "parallelism": _drop(parallelism={}, recompute=None),
    "regions": _drop(regions=None),
    "countries": _drop(countries=None),
    "providers": _drop(providers=None),
    "gpu_types": _drop(gpu_types=None, gpu_exclude=()),
    "gpus": _drop(gpus=Range(), gpus_per_node=Range()),
    "intra_node": _drop(intra_node_min_gb_per_s=None, intra_node_kinds=None),
    "network": _drop(network_min_gbps_per_gpu=None, network_kinds=None),
    "storage": _drop(storage_kinds=None, storage_min_read_bytes_per_s=None),
    "purchase": _drop(purchase=ALL_PURCHASE),
    "throughput": _drop(min_tokens_per_s=None),
    "deadline": _drop(deadline_s=None),
    "budget": _drop(budget_usd=None),
    "energy": _drop(max_energy_mwh=None),
}

LIFTED = ("cluster", "quota", "spares", "lead_time", "term")
"""Rules of what offers, quotas and failures state, left out all at once."""

RELAXABLE: tuple[str, ...] = (
    *_DROP,
    "precision",
    "carbon",
    "residency",
    "stock",
    *LIFTED,
)
"""Rule ids that a user can give up, in the order of RULES; physics is no such rule."""


def without(scenario: Scenario, rule_id: str) -> Scenario:
    """``scenario`` with one requirement left out, all others kept."""
    if rule_id == "stock":
        return replace(scenario, stock_at_least=STOCK_WITHOUT_LIMIT)
    if rule_id in LIFTED:
        return replace(scenario, lifted=scenario.lifted | {rule_id})
    if rule_id == "carbon":
        return without_carbon(scenario)
    if rule_id == "precision":
        other = usual_precision(scenario)
        return replace(
            scenario, workload=replace(scenario.workload, precisions=(other,))
        )
    if rule_id == "residency":
        return replace(scenario, data=replace(scenario.data, residency=None))
    user = _DROP[rule_id](scenario.constraints)
    stated = user.stated | {"purchase"} if rule_id == "purchase" else user.stated
    return replace(scenario, constraints=replace(user, stated=stated))


def usual_precision(scenario: Scenario) -> str:
    """The precision that most GPUs compute in, other than the one asked."""
    return "fp16" if "bf16" in scenario.workload.precisions else "bf16"


def in_force(setting: Setting) -> tuple[str, ...]:
    """Relaxable rules that limit a scenario at all."""
    user, supply = setting.scenario.constraints, setting.option_set.supply_rules
    limits: Mapping[str, bool] = {
        "memory": "memory" in user.stated and user.memory_headroom > 0,
        "precision": _lacking(setting),
        "parallelism": bool(user.parallelism) or user.recompute is not None,
        "regions": user.regions is not None,
        "countries": user.countries is not None,
        "providers": user.providers is not None,
        "gpu_types": user.gpu_types is not None or bool(user.gpu_exclude),
        "gpus": user.gpus != Range() or user.gpus_per_node != Range(),
        "intra_node": bool(user.intra_node_kinds or user.intra_node_min_gb_per_s),
        "network": bool(user.network_kinds or user.network_min_gbps_per_gpu),
        "storage": bool(user.storage_kinds or user.storage_min_read_bytes_per_s),
        "purchase": set(user.purchase) != set(ALL_PURCHASE),
        "throughput": user.min_tokens_per_s is not None,
        "deadline": user.deadline_s is not None,
        "budget": user.budget_usd is not None,
        "energy": user.max_energy_mwh is not None,
        "carbon": setting.scenario.counts_carbon,
        "residency": setting.scenario.data.residency is not None,
        "stock": True,
        **{rule: rule in supply for rule in LIFTED},
    }
    return tuple(rule for rule in RELAXABLE if limits[rule])


def rejoined(setting: Setting, scenario: Scenario) -> Setting:
    """The setting of another scenario on the same catalog, physics shared."""
    # the catalog of a setting already holds the scenario's own offers
    own = replace(scenario, supply=replace(scenario.supply, with_catalog=True))
    joined = setting_of(own, setting.catalog, setting.store)
    return replace(joined, scenario=scenario)


def _lacking(setting: Setting) -> bool:
    """Whether the precision, asked or not, is what removed offers."""
    if "precision" not in setting.option_set.removed:
        return False
    stated = "precision" in setting.scenario.constraints.stated
    return stated or not setting.options

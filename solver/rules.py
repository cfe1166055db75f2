"""The named requirements of a plan: one id each, used everywhere.

A requirement has four faces: a filter on candidates, a CP-SAT constraint, a check
of the verifier and a sentence for the user. All four are keyed by the ids below, so
that they can't drift apart. This module holds no logic.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One requirement.

    ``field`` is the scenario key that states it; ``kind`` is ``physics`` (can't be
    relaxed), ``set`` (an allowed set), ``bound`` (a linear limit on a decision) or
    ``supply`` (what the catalog has).
    """

    id: str
    title: str
    field: str
    kind: str


RULES: tuple[Rule, ...] = (
    Rule("memory", "peak memory fits the card", "constraints.memory_headroom", "bound"),
    Rule(
        "divisibility",
        "the layout divides evenly",
        "constraints.parallelism",
        "physics",
    ),
    Rule("parallelism", "pinned parallel degrees", "constraints.parallelism", "set"),
    Rule("host", "host memory is enough", "constraints", "physics"),
    Rule(
        "drives",
        "a node's drives hold what is offloaded",
        "workload.offload_to",
        "physics",
    ),
    Rule(
        "precision",
        "the GPU computes in this precision",
        "workload.precision",
        "set",
    ),
    Rule("regions", "allowed regions", "constraints.regions", "set"),
    Rule("countries", "allowed countries", "constraints.countries", "set"),
    Rule("residency", "where the data may lie", "data.residency", "set"),
    Rule("providers", "allowed providers", "constraints.providers", "set"),
    Rule("gpu_types", "allowed GPU types", "constraints.gpus", "set"),
    Rule("gpus", "number of GPUs", "constraints.gpus", "bound"),
    Rule("intra_node", "NVLink tier inside a node", "constraints.intra_node", "set"),
    Rule("network", "network tier between nodes", "constraints.network", "set"),
    Rule("storage", "storage tier", "constraints.storage", "set"),
    Rule("storage_capacity", "storage capacity", "data.size", "supply"),
    Rule("purchase", "allowed purchase kinds", "constraints.purchase", "set"),
    Rule("stock", "nodes in stock", "stock.unknown_nodes", "supply"),
    Rule("cluster", "nodes on one fabric", "offers", "supply"),
    Rule("quota", "quota of the account", "stock.quota", "supply"),
    Rule("spares", "number of spare nodes", "failures.spares", "bound"),
    Rule("lead_time", "time from order to nodes", "offers", "supply"),
    Rule("term", "minimum rental term", "offers", "supply"),
    Rule("throughput", "throughput floor", "constraints.min_tokens_per_s", "bound"),
    Rule("deadline", "deadline", "constraints.deadline", "bound"),
    Rule("budget", "budget", "constraints.budget", "bound"),
    Rule("energy", "energy of the run", "constraints.max_energy", "bound"),
    Rule("carbon", "carbon of the run", "constraints.max_carbon", "bound"),
    Rule("goodput", "failures leave time to finish", "constraints", "physics"),
)

RULE_IDS: tuple[str, ...] = tuple(rule.id for rule in RULES)


def rule(rule_id: str) -> Rule:
    """The rule called ``rule_id``; raises KeyError for an unknown id."""
    return next(r for r in RULES if r.id == rule_id)

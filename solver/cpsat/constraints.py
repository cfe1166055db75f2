"""The rules of a plan as linear rows of the model, one function a rule.

Every function takes the variables, the job's index and one requirement, adds its rows
and returns them. The rows bound named variables, so that the exported model can be
read and changed by a person. No row is guarded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ortools.sat.python import cp_model

from solver.cpsat.table import AllowedSet, AllowedValues, Bound, Requirement
from solver.cpsat.variables import Variables
from solver.errors import InternalError

_QUOTA = re.compile(r"quota_[0-9]+")

Rows: TypeAlias = list[cp_model.Constraint]
AddRule: TypeAlias = Callable[[Variables, int, Requirement], Rows]


def add_exactly_one_candidate(variables: Variables, job: int) -> Rows:
    """``sum(choose[k] for all k) == 1``: the job runs one candidate."""
    row = variables.model.add_exactly_one(variables.choose[job])
    row.with_name("exactly one candidate")
    return [row]


def add_memory_fit(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``memory_excess <= 0``, the excess being ``max(0, memory - capacity)``.

    Capacity is the candidate's own: usable memory less the headroom. Where only fitting
    candidates are given the row holds by construction.
    """
    return _add(variables, job, requirement, ("memory_excess", "memory"))


def add_parallel_degrees(
    variables: Variables, job: int, requirement: Requirement
) -> Rows:
    """``lower <= degree <= upper`` or ``degree in values`` for a pinned degree.

    Degrees are tp, pp, cp, ep, etp, dp, virtual_stages, micro_batch and zero_stage;
    recomputation is a category of the same rule.
    """
    if isinstance(requirement, AllowedSet):
        return add_recompute(variables, job, requirement)
    return _add(variables, job, requirement, PARALLEL_DEGREES)


def add_recompute(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(recompute=v for allowed v) == 1``."""
    return _add(variables, job, requirement, ("recompute",))


def add_regions(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(region=v for allowed v) == 1``."""
    return _add(variables, job, requirement, ("region",))


def add_countries(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(country=v for allowed v) == 1``."""
    return _add(variables, job, requirement, ("country",))


def add_residency(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(country=v for v in which the data may lie) == 1``."""
    return _add(variables, job, requirement, ("country",))


def add_providers(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(provider=v for allowed v) == 1``."""
    return _add(variables, job, requirement, ("provider",))


def add_gpu_types(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(gpu_type=v for allowed v) == 1``."""
    return _add(variables, job, requirement, ("gpu_type",))


def add_gpu_count(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``lower <= gpus <= upper``, or gpus in a set of values."""
    return _add(variables, job, requirement, ("gpus",))


def add_node_count(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``lower <= nodes <= upper``, or nodes in a set of values."""
    return _add(variables, job, requirement, ("nodes",))


def add_gpus_per_node(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``gpus_per_node in values``, or within bounds."""
    return _add(variables, job, requirement, ("gpus_per_node",))


def add_gpu_numbers(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """The one of ``gpus``, ``nodes`` and ``gpus_per_node`` that is limited."""
    name = _subject(requirement)
    counted = {"nodes": add_node_count, "gpus_per_node": add_gpus_per_node}
    return counted.get(name, add_gpu_count)(variables, job, requirement)


def add_intra_node_tier(
    variables: Variables, job: int, requirement: Requirement
) -> Rows:
    """``sum(intra_node_tier=v for allowed v) == 1``, or a floor on its bandwidth.

    ``intra_node_kind`` is a category and ``intra_node_bandwidth`` a quantity that a
    table may have beside the tier.
    """
    names = ("intra_node_tier", "intra_node_kind", "intra_node_bandwidth")
    return _add(variables, job, requirement, names)


def add_network_tier(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(network_tier=v for allowed v) == 1``, or a floor on its bandwidth.

    Kinds are a category of their own (``network_kind``): NDR 400, RoCE 400 and EFA
    3200 have no order but the ``network_bandwidth`` that a GPU achieves.
    """
    names = ("network_tier", "network_kind", "network_bandwidth")
    return _add(variables, job, requirement, names)


def add_storage_tier(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``sum(storage_tier=v for allowed v) == 1``; ``storage_kind`` likewise."""
    if not isinstance(requirement, AllowedSet):
        return add_storage_read_floor(variables, job, requirement)
    return _add(variables, job, requirement, ("storage_tier", "storage_kind"))


def add_storage_read_floor(
    variables: Variables, job: int, requirement: Requirement
) -> Rows:
    """``storage_read >= lower``: the user's ``min_read``, rounded up."""
    return _add(variables, job, requirement, ("storage_read",))


def add_storage_capacity(
    variables: Variables, job: int, requirement: Requirement
) -> Rows:
    """``storage_excess <= 0``, the excess being ``max(0, needed - capacity)``."""
    return _add(variables, job, requirement, ("storage_excess",))


def add_purchase_kinds(
    variables: Variables, job: int, requirement: Requirement
) -> Rows:
    """``sum(purchase=v for allowed v) == 1``."""
    return _add(variables, job, requirement, ("purchase",))


def add_stock_limit(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``stock_excess <= 0``, the excess being ``max(0, nodes - nodes in stock)``."""
    return _add(variables, job, requirement, ("stock_excess", "nodes"))


def add_cluster_limit(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``cluster_excess <= 0``: ``max(0, nodes - most nodes on one fabric)``."""
    return _add(variables, job, requirement, ("cluster_excess", "nodes"))


def add_quota(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``quota_0 <= limit``: what the nodes count towards a quota, in its own unit.

    Where several jobs run at once, what they count adds up in one row a quota.
    """
    name = _subject(requirement)
    return _add(variables, job, requirement, [name] if _QUOTA.fullmatch(name) else [])


def add_spares(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``spares in values``: the numbers of spare nodes that the user allows."""
    return _add(variables, job, requirement, ("spares",))


def add_throughput_floor(
    variables: Variables, job: int, requirement: Requirement
) -> Rows:
    """``tokens_per_s >= lower``: throughput rounded down, its floor rounded up."""
    return _add(variables, job, requirement, ("tokens_per_s",))


def add_deadline(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``duration <= upper``: duration rounded up, the deadline rounded down.

    At a confidence other than one half the limit is on ``duration_at_confidence``.
    """
    return _add(variables, job, requirement, ("duration", "duration_at_confidence"))


def add_budget_limit(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``cost <= upper``: cost rounded up, the budget rounded down.

    At a confidence other than one half the limit is on ``cost_at_confidence``.
    """
    return _add(variables, job, requirement, ("cost", "cost_at_confidence"))


def add_energy_limit(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``energy <= upper``: energy rounded up, its limit rounded down.

    At a confidence other than one half the limit is on ``energy_at_confidence``.
    """
    return _add(variables, job, requirement, ("energy", "energy_at_confidence"))


def add_carbon_limit(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """``carbon <= upper``: carbon rounded up, its limit rounded down.

    At a confidence other than one half the limit is on ``carbon_at_confidence``.
    Candidates whose grid is not known are not formed under such a limit.
    """
    return _add(variables, job, requirement, ("carbon", "carbon_at_confidence"))


PARALLEL_DEGREES = (
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

ADD_RULE: dict[str, AddRule] = {
    "memory": add_memory_fit,
    "parallelism": add_parallel_degrees,
    "regions": add_regions,
    "countries": add_countries,
    "residency": add_residency,
    "providers": add_providers,
    "gpu_types": add_gpu_types,
    "gpus": add_gpu_numbers,
    "intra_node": add_intra_node_tier,
    "network": add_network_tier,
    "storage": add_storage_tier,
    "storage_capacity": add_storage_capacity,
    "purchase": add_purchase_kinds,
    "stock": add_stock_limit,
    "cluster": add_cluster_limit,
    "quota": add_quota,
    "spares": add_spares,
    "throughput": add_throughput_floor,
    "deadline": add_deadline,
    "budget": add_budget_limit,
    "energy": add_energy_limit,
    "carbon": add_carbon_limit,
}
"""Rule id to the function that adds its rows, in the order of `solver.rules.RULES`."""

BY_CONSTRUCTION: dict[str, str] = {
    "divisibility": "the lattice holds only layouts that divide evenly",
    "host": "offers whose hosts are too small for a layout form no candidate",
    "drives": "offers whose drives are too small for what is offloaded form none",
    "precision": "offers whose GPU lacks the precision form no candidate",
    "lead_time": "a candidate's duration counts from the order of its nodes",
    "term": "a candidate's cost holds the whole term",
    "goodput": "candidates that failures keep from finishing are not formed",
}
"""Rule id to why no row is needed; the verifier checks these rules all the same."""


def add_requirement(variables: Variables, job: int, requirement: Requirement) -> Rows:
    """Add the rows of a requirement by its rule.

    Raises
    ------
    InternalError
        If no function adds that rule.
    """
    if requirement.rule not in ADD_RULE:
        raise InternalError(f"no constraint adds the rule '{requirement.rule}'")
    return ADD_RULE[requirement.rule](variables, job, requirement)


def _subject(requirement: Requirement) -> str:
    """The quantity or category that a requirement limits."""
    if isinstance(requirement, AllowedSet):
        return requirement.category
    return requirement.quantity


def _add(
    variables: Variables, job: int, requirement: Requirement, known: Sequence[str]
) -> Rows:
    """Add the rows of a requirement on one of the ``known`` names."""
    name = _subject(requirement)
    if name not in known:
        raise InternalError(f"rule '{requirement.rule}' does not limit '{name}'")
    if isinstance(requirement, AllowedSet):
        return _add_allowed_labels(variables, job, requirement)
    if isinstance(requirement, AllowedValues):
        return _add_allowed_values(variables, job, requirement)
    return _add_bound(variables, job, requirement)


def _add_bound(variables: Variables, job: int, bound: Bound) -> Rows:
    """``quantity >= lower`` and ``quantity <= upper``, as far as they are given."""
    variable = variables.quantity(job, bound.quantity)
    rows = []
    if bound.lower is not None:
        rows.append(variables.model.add(variable >= bound.lower))
    if bound.upper is not None:
        rows.append(variables.model.add(variable <= bound.upper))
    return _named(rows, bound.rule)


def _add_allowed_values(variables: Variables, job: int, allowed: AllowedValues) -> Rows:
    """``quantity in values``: one linear row with a domain of several intervals."""
    variable = variables.quantity(job, allowed.quantity)
    domain = cp_model.Domain.from_values(sorted(allowed.values))
    row = variables.model.add_linear_expression_in_domain(variable, domain)
    return _named([row], allowed.rule)


def _add_allowed_labels(variables: Variables, job: int, allowed: AllowedSet) -> Rows:
    """``sum(name=v for allowed v) == 1``, over the values that candidates have."""
    booleans = variables.category(job, allowed.category).any_of(allowed.labels)
    row = variables.model.add_exactly_one(booleans)
    return _named([row], allowed.rule)


def _named(rows: Rows, rule: str) -> Rows:
    """``rows``, named after their rule in the exported model."""
    for row in rows:
        row.with_name(rule)
    return rows

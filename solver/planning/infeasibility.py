"""Why there is no plan: what left nothing, and what each change alone would open.

Three levels, in this order: nothing on offer matches (catalog), no layout divides
(layout), nothing fits in memory (memory), or no candidate keeps all limits
(constraints). Every figure shown comes from a solve with one requirement left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from solver.candidates import CandidateTable
from solver.catalog.schema import Offer
from solver.layout_space import OutOfTimeError
from solver.messages import sentence
from solver.performance.divisibility import DivisibilityFault
from solver.performance.parallelism import explain_divisibility
from solver.performance.reliability import HOPELESS
from solver.plan import Explanation
from solver.planning.by_name import SET_LABELS, best_first, best_of_each_name
from solver.planning.clock import Clock
from solver.planning.conflict import joint_relaxations, minimal_conflict
from solver.planning.energy_relaxations import relaxed_limits
from solver.planning.host_relaxations import host_relaxations
from solver.planning.least_change import Solve, least_change
from solver.planning.memory_limits import (
    data_parallel_limit,
    limit_text,
    longest_sequence,
    via_text,
)
from solver.planning.memory_miss import MemoryMiss, levers, nearest_memory_miss
from solver.planning.opening import Opening, round_up
from solver.planning.relaxation_text import (
    budget_needed_usd,
    deadline_needed_s,
    describe,
    pace_needed,
)
from solver.planning.relaxing import LIFTED, RELAXABLE, in_force, rejoined, without
from solver.planning.supply_relaxations import (
    changed_offer,
    changed_supply,
    is_possible,
    lead_left,
    quota_use,
    spares_over,
    term_left,
)
from solver.scenario.scenario import Aim, Objective, Scenario
from solver.search import SearchResult, limits_of, search
from solver.setting import Setting
from solver.units import DAY, GB, HOUR, format_usd
from solver.wording import clauses, sentences

BOUNDS = ("deadline", "budget", "throughput", "energy", "carbon")


def explain(setting: Setting) -> Explanation:
    """The explanation of an infeasible scenario.

    It takes about as long again as the time limit at most; what it has no time to try
    is left out, never guessed.
    """
    clock = Clock(setting.scenario.limits.time_s)
    setting.space.end = clock.end
    try:
        return _explained(setting, clock)
    except OutOfTimeError:
        summary = f"{sentence('why.constraints')} {sentence('why.no-time')}"
        counts = dict(setting.option_set.removed)
        return Explanation("constraints", summary, (), (), None, counts)


def _explained(setting: Setting, clock: Clock) -> Explanation:
    if not setting.options:
        return _catalog(setting, clock)
    miss = nearest_memory_miss(setting)
    if miss is None:
        return _layout(setting, clock)
    if miss.ratio > 1.0:
        return _memory(setting, miss, clock)
    return _constraints(setting, clock)


def openings(setting: Setting, clock: Clock) -> list[Opening]:
    """For each requirement in force the best plan without it, where there is one."""
    found: list[Opening] = []
    for rule_id in in_force(setting):
        if clock.is_over:
            break
        opening = _open(setting, rule_id, clock)
        if opening is not None:
            found += _each_name(setting, opening, clock)
    return found


def _each_name(setting: Setting, opening: Opening, clock: Clock) -> list[Opening]:
    """Of a set of names the best additions, each with its plan; else the opening."""
    if opening.rule not in SET_LABELS:
        return [opening]
    found = [
        Opening(opening.rule, part, table, row)
        for table, row, part in best_of_each_name(
            opening.rule, setting, opening.setting, clock
        )
    ]
    return found or [opening]


def _open(setting: Setting, rule_id: str, clock: Clock) -> Opening | None:
    scenario = without(setting.scenario, rule_id)
    if rule_id in ("deadline", "throughput", "lead_time"):
        scenario = replace(scenario, objective=scenario.objective.instead("time"))
    elif rule_id in ("budget", "term"):
        scenario = replace(scenario, objective=scenario.objective.instead("cost"))
    elif rule_id == "energy":
        scenario = replace(scenario, objective=scenario.objective.instead("energy"))
    relaxed, table = None, None
    if rule_id == "carbon":  # the least of what is known, if anything is
        least_carbon = replace(scenario, objective=Objective("carbon"))
        relaxed = rejoined(setting, least_carbon)
        table = _solved(relaxed, clock).table
    if relaxed is None or table is None:
        relaxed = rejoined(setting, scenario)
        slack = np.inf if rule_id in LIFTED else 0.0
        table = _solved(relaxed, clock, slack).table
    if table is None:
        return None
    row = _least(rule_id, relaxed, table)
    known = Opening(rule_id, relaxed, table, row, stated=setting.scenario)
    least = least_change(known, _solver(setting, clock))
    if not is_possible(least):
        return None
    opened = _opened(setting, least, clock)
    if opened is None and rule_id in LIFTED and least.option.mix is not None:
        return None  # both offers of the mix would have to change
    return replace(least, opened=opened)


def _solver(setting: Setting, clock: Clock) -> Solve:
    """Solves scenarios with the catalog of a setting; None: no plan, or no time."""

    def solve(
        scenario: Scenario, slack: float
    ) -> tuple[Setting, CandidateTable] | None:
        joined = rejoined(setting, scenario)
        answer = _solved(joined, clock, slack)
        if answer.table is None or not answer.complete:
            return None
        return joined, answer.table

    return solve


def _opened(
    setting: Setting, least: Opening, clock: Clock
) -> tuple[Setting, CandidateTable, int] | None:
    """The plan that the printed figure gives, by the user's objective."""
    user = setting.scenario.constraints
    offer = changed_offer(least)
    if least.rule == "deadline":
        user = replace(user, deadline_s=deadline_needed_s(least))
    elif least.rule == "budget":
        user = replace(user, budget_usd=budget_needed_usd(least))
    elif least.rule == "throughput":
        user = replace(user, min_tokens_per_s=pace_needed(least))
    user = relaxed_limits(least, user)
    scenario = changed_supply(least, replace(setting.scenario, constraints=user))
    if offer is None and scenario == setting.scenario:
        return None
    relaxed = rejoined(*_with_offer(setting, scenario, offer))
    table = _solved(relaxed, clock).table
    if table is None:
        return None
    return relaxed, table, int(best_first(relaxed, table)[0])


def _with_offer(
    setting: Setting, scenario: Scenario, offer: Offer | None
) -> tuple[Setting, Scenario]:
    """Both with one offer as given, wherever it comes from."""
    if offer is None:
        return setting, scenario
    own = tuple(offer if o.id == offer.id else o for o in scenario.supply.offers)
    catalog = setting.catalog.with_entries(offers=[offer])
    return (
        replace(setting, catalog=catalog),
        replace(scenario, supply=replace(scenario.supply, offers=own)),
    )


def _solved(setting: Setting, clock: Clock, slack: float = 0.0) -> SearchResult:
    return search(setting, limits_of(setting.scenario), slack, time_s=clock.left_s)


def _least(rule_id: str, setting: Setting, table: CandidateTable) -> int:
    """The candidate that needs least of what was left out."""
    if rule_id == "lead_time":
        return int(np.argmax(lead_left(setting, table)))
    if rule_id == "quota":
        passed, use = quota_use(setting, table)
        return int(np.lexsort((table.cost_usd, use, passed))[0])
    if rule_id == "spares":
        away = spares_over(setting, table)
        return int(np.lexsort((table.cost_usd, table.spares, away))[0])
    if rule_id == "term":
        return int(np.argmax(term_left(setting, table)))
    if rule_id == "throughput":
        return int(np.argmax(table.tokens_per_s))
    if rule_id == "deadline":
        return int(np.lexsort((table.cost_usd, table.duration_limit_s))[0])
    if rule_id == "budget":
        return int(np.lexsort((table.duration_s, table.cost_limit_usd))[0])
    if rule_id == "energy":
        return int(np.lexsort((table.cost_usd, table.energy_limit_kwh))[0])
    if rule_id == "carbon" and np.isfinite(table.carbon_limit_kg).any():
        return int(np.lexsort((table.cost_usd, table.carbon_limit_kg))[0])
    if rule_id in ("stock", "cluster"):
        return int(np.lexsort((table.cost_usd, table.rented_nodes))[0])
    return int(best_first(setting, table)[0])


def _explanation(
    setting: Setting,
    clock: Clock,
    kind: Any,
    summary: str,
    found: list[Opening],
    nearest_miss: dict[str, Any] | None = None,
    extra: tuple[dict[str, Any], ...] = (),
) -> Explanation:
    described = tuple(describe(o, setting.scenario) for o in found)
    alone_rules = {o.rule for o in found}
    rules = tuple(r for r in RELAXABLE if r in {*in_force(setting), *alone_rules})
    conflict = minimal_conflict(setting, rules, alone_rules, clock)
    alone = bool(found) or any(lever.get("fits", True) for lever in extra)
    return Explanation(
        kind=kind,
        summary=summary,
        conflict=_with_cause(_PHYSICS.get(kind), conflict),
        joint=() if alone else joint_relaxations(setting, rules, conflict, clock),
        relaxations=described + extra,
        nearest_miss=nearest_miss,
        counts=dict(setting.option_set.removed),
    )


_PHYSICS = {"memory": "memory", "layout": "divisibility"}
"""Kind of explanation to the physical rule that belongs to its conflict."""


def _with_cause(cause: str | None, conflict: tuple[str, ...]) -> tuple[str, ...]:
    """A conflict with its physical cause, which no one can give up."""
    if cause is None or cause in conflict:
        return conflict
    return (cause, *conflict)


def _catalog(setting: Setting, clock: Clock) -> Explanation:
    removed = setting.option_set.removed
    total = setting.option_set.total
    worst = max(removed, key=lambda r: removed[r]) if removed else "stock"
    summary = sentence("why.catalog", total=total, rule=sentence(f"rule.{worst}"))
    return _explanation(setting, clock, "catalog", summary, openings(setting, clock))


def _layout(setting: Setting, clock: Clock) -> Explanation:
    kind = min(setting.space.kinds)
    faults = explain_divisibility(
        setting.shape, setting.job, setting.framework, setting.space.limits(kind)
    )
    reasons = clauses(_told(f) for f in faults if not f.repaired)
    miss = {
        "faults": [
            {"axis": f.axis, "wanted": f.wanted, "why": _told(f), "nearest": f.nearest}
            for f in faults
        ]
    }
    reasons = reasons or _no_number(setting)
    summary = sentence("why.layout", reasons=reasons)
    found = openings(setting, clock)
    return _explanation(setting, clock, "layout", summary, found, miss)


def _told(fault: DivisibilityFault) -> str:
    """What does not divide; beside the kind of fault its figures, in English."""
    return sentence(f"divides.{fault.code}", why=fault.why)


def _no_number(setting: Setting) -> str:
    """Why no number of GPUs has a layout: nodes come in other numbers, or else none."""
    asked, kinds = setting.scenario.constraints.gpus, setting.space.kinds
    some = any(
        asked.allows(nodes * kind[0])
        for kind, limits in kinds.items()
        for nodes in range(1, limits.max_nodes + 1)
    )
    if some:
        return sentence("why.layout.none")
    sizes = sorted({kind[0] for kind in kinds})
    return sentence("why.layout.nodes", sizes=", ".join(str(size) for size in sizes))


def _memory(setting: Setting, miss: MemoryMiss, clock: Clock) -> Explanation:
    summary = sentence(
        "why.memory", need=miss.need_gib, usable=miss.allowed_gib, gpu=miss.gpu
    )
    limit = data_parallel_limit(setting, miss)
    shown = miss.as_dict()
    if limit is not None:
        longest = None
        if limit.kind == "sequence":
            shown["longest_sequence"] = longest = longest_sequence(setting, miss)
        summary = f"{summary}. {limit_text(setting, miss, limit, longest)}"
    found = openings(setting, clock)
    if "memory" not in in_force(setting) and miss.need_gib <= miss.usable_gib:
        opening = _open(setting, "memory", clock)  # the headroom that is usual
        found += [] if opening is None else [opening]
    if limit is not None and limit.kind == "sequence":
        summary = sentences([summary, *filter(None, [via_text(miss, found)])])
    return _explanation(
        setting,
        clock,
        "memory",
        summary,
        found,
        shown,
        tuple(levers(setting, miss)),
    )


def _constraints(setting: Setting, clock: Clock) -> Explanation:
    found = openings(setting, clock)
    texts = []
    for opening in found:
        if opening.rule in BOUNDS:
            told = describe(opening, setting.scenario)
            if "needed_value" not in told:
                continue
            shown = {"now": told["now"], "needed": told["needed"]}
            texts.append(sentence(f"why.{opening.rule}", **shown))
    miss = None if found else _without_bounds(setting, clock)
    cause = None
    if miss is not None:
        texts.append(_reachable(miss))
    elif not texts:  # no deadline, budget or floor is what stands in the way
        cause, why = _physical(setting, clock)
        texts += [why] if cause or not found else []
    summary = sentences([sentence("why.constraints"), *texts])
    extra: tuple[dict[str, Any], ...] = ()
    if cause == "host":
        extra = host_relaxations(setting, _solver(setting, clock))
    answer = _explanation(setting, clock, "constraints", summary, found, miss, extra)
    return replace(answer, conflict=_with_cause(cause, answer.conflict))


def _unbounded(scenario: Scenario) -> Scenario:
    for rule_id in BOUNDS:
        scenario = without(scenario, rule_id)
    return scenario


def _without_bounds(setting: Setting, clock: Clock) -> dict[str, Any] | None:
    """Soonest and cheapest plan with deadline, budget and floor all left out."""
    found = {}
    unbounded = _unbounded(setting.scenario)
    aims: Mapping[str, Aim] = {"soonest": "time", "cheapest": "cost"}
    for kind, aim in aims.items():
        free = replace(unbounded, objective=unbounded.objective.instead(aim))
        table = _solved(rejoined(setting, free), clock).table
        if table is None:
            return None
        keys = (table.cost_usd, table.duration_limit_s)
        row = int(np.lexsort(keys if kind == "soonest" else keys[::-1])[0])
        found[f"{kind}_days"] = round_up(float(table.duration_limit_s[row]) / DAY, 1)
        found[f"{kind}_usd"] = round_up(float(table.cost_limit_usd[row]), 0)
    return found


def _reachable(miss: dict[str, Any]) -> str:
    return sentence(
        "why.reachable",
        soonest=sentence("relax.days", days=miss["soonest_days"]),
        soonest_cost=format_usd(miss["soonest_usd"]),
        cheapest=format_usd(miss["cheapest_usd"]),
        cheapest_days=sentence("relax.days", days=miss["cheapest_days"]),
    )


def _physical(setting: Setting, clock: Clock) -> tuple[str | None, str]:
    """What besides the user's limits leaves no candidate, and the sentence for it.

    Hosts, drives or failures; None where it is none of these.
    """
    free = rejoined(setting, _unbounded(setting.scenario))
    answer = _solved(free, clock)
    if not answer.complete:
        return None, sentence("why.no-time")
    dropped = answer.stats.dropped
    if answer.table is not None or not dropped:
        return None, sentence("why.sets")
    worst = max(dropped, key=lambda rule_id: dropped[rule_id])
    return worst, sentence(f"why.{worst}", **_PHYSICAL[worst](setting))


def _host(setting: Setting) -> dict[str, float]:
    return _least_of_nodes(setting, "host_bytes")


def _drives(setting: Setting) -> dict[str, float]:
    return _least_of_nodes(setting, "drive_bytes")


def _least_of_nodes(setting: Setting, name: str) -> dict[str, float]:
    """What a node needs at least of one thing, and has at most, GB."""
    space = setting.space
    needs = [
        float(getattr(lattice, name)[within].min())
        for (kind, job), lattice in space.lattices.items()
        if (
            within := lattice.layouts.nodes + job.rollout_nodes
            <= space.kinds[kind].max_nodes
        ).any()
    ]
    return {
        "need": min(needs) / GB,
        "have": float(getattr(setting.arrays, name).max()) / GB,
    }


def _capacity(setting: Setting) -> dict[str, float]:
    need = setting.scenario.data.size_bytes + 2 * setting.least_checkpoint_bytes
    return {"need": need / GB}


def _goodput(setting: Setting) -> dict[str, float]:
    """Hours between two failures of the steadiest run that is allowed."""
    rates = []
    for group in setting.classes:
        lattice = setting.space.lattice(group.node_kind, group.job)
        arrays = group.arrays
        fits = lattice.memory_bytes <= group.capacity_bytes
        fewest = int(lattice.layouts.nodes[fits].min(initial=group.max_nodes))
        each = group.node_kind[0] * arrays.gpu_rate + arrays.node_rate
        rates.append(float((np.maximum(fewest, arrays.min_nodes) * each).min()))
    return {"hours": 1.0 / min(rates) / HOUR, "times": HOPELESS}


_PHYSICAL: Mapping[str, Callable[[Setting], dict[str, float]]] = {
    "host": _host,
    "drives": _drives,
    "storage_capacity": _capacity,
    "goodput": _goodput,
}
"""Rule id to the figures of its sentence."""

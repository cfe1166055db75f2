"""Why no chain of phases keeps all limits, and what each change alone would open.

A phase that has no plan by itself is explained like a single job. Else the limits that
all share and the sets of each phase are in conflict: every figure shown comes from
solving the whole again with one requirement left out. What offers state (stock, terms,
lead times, quotas) is taken as it is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from solver.messages import sentence
from solver.plan import Explanation
from solver.planning.infeasibility import explain
from solver.planning.opening import flow, round_up
from solver.planning.phase_answer import Chosen
from solver.planning.phase_paths import joined
from solver.planning.phase_search import PhaseSearch
from solver.planning.phase_solve import searched, solve_chain
from solver.planning.relaxation_text import (
    budget_rounded_up,
    budget_text,
    deadline_rounded_up,
    deadline_text,
)
from solver.planning.relaxing import ALL_PURCHASE, in_force, without
from solver.planning.stopwatch import Stopwatch
from solver.rules import rule
from solver.scenario.scenario import Objective, Scenario
from solver.search import SearchLimits, search
from solver.units import DAY, format_usd
from solver.wording import sentences

SHARED = ("deadline", "budget")

LIFTED_BY: Mapping[str, tuple[str, Any]] = {
    "regions": ("regions", []),
    "countries": ("countries", []),
    "providers": ("providers", []),
    "gpu_types": ("gpus.types", []),
    "intra_node": ("intra_node", {}),
    "network": ("network", {}),
    "storage": ("storage", {}),
    "parallelism": ("parallelism", {}),
    "purchase": ("purchase", list(ALL_PURCHASE)),
    "throughput": ("min_tokens_per_s", 0),
}
"""Rule id to the key of constraints, and the value, that leaves it out."""


@dataclass(frozen=True)
class Member:
    """A requirement that can be given up, in one phase or in all that have it."""

    rule: str
    phases: tuple[int, ...] = ()
    """Phases in which it is in force; empty: shared by all."""


@dataclass
class _Work:
    """What all solves of one explanation share."""

    found: PhaseSearch
    end: float

    def solve(
        self, scenario: Scenario, *, held: bool = False
    ) -> tuple[Chosen | None, bool]:
        """The best chain of a scenario, and whether the answer is proved."""
        stores = [setting.store for setting in self.found.settings]
        again = searched(
            scenario, self.found.catalog, stores=stores, held=held, end=self.end
        )
        bounds = again.run() if again.lost is None else None
        if bounds is None:
            return None, again.complete
        solved = solve_chain(again, bounds, Stopwatch())
        proved = again.complete and (
            solved.outcome is None or solved.outcome.status in ("optimal", "infeasible")
        )
        return solved.chosen, proved


def explain_phases(found: PhaseSearch) -> Explanation:
    """The explanation of phases that have no chain.

    It takes about as long again as the time limit at most; what it has no time to try
    is left out, never guessed.
    """
    end = time.monotonic() + found.scenario.limits.time_s
    for position in range(found.phases):
        alone = _alone(found, position)
        if alone is not None:
            return alone
    return _together(_Work(found, end))


def _alone(found: PhaseSearch, position: int) -> Explanation | None:
    """Why a phase has no plan by itself; None if it has one."""
    setting = found.settings[position]
    limits = SearchLimits(
        min_tokens_per_s=setting.scenario.constraints.min_tokens_per_s,
        min_read_bytes_per_s=setting.scenario.constraints.storage_min_read_bytes_per_s,
    )
    if setting.options:
        result = search(setting, limits, time_s=found.scenario.limits.time_s)
        if result.table is not None or not result.complete:
            return None
    why, name = explain(setting), found.scenario.phases[position].name
    return replace(
        why,
        summary=sentence("why.phase", phase=name, why=why.summary),
        relaxations=tuple(
            {**r, "phase": name, "set": _of_phase(r.get("set"), position)}
            for r in why.relaxations
        ),
    )


def _of_phase(override: str | None, position: int) -> str | None:
    """An override of a constraint as one of a phase."""
    if override is not None and override.startswith(("constraints.", "workload.")):
        return f"phases[{position}].{override}"
    return override


def _together(work: _Work) -> Explanation:
    """Which limits and sets are in conflict, and what would open a chain."""
    scenario = work.found.scenario
    described: list[dict[str, Any]] = []
    opening: set[Member] = set()
    members = _members(work.found)
    for member in members:
        told = _opened(work, member)
        if told is not None:
            described.append(told)
            opening.add(member)
    texts = [sentence("why.phases")]
    texts += [
        sentence(f"why.phases.{told['constraint']}", **_shown(told))
        for told in described
        if told["constraint"] in SHARED
    ]
    if not opening & {Member(name) for name in SHARED}:
        texts += _extremes(work)
    return Explanation(
        kind="constraints",
        summary=sentences(texts),
        conflict=_conflict(work, members, opening),
        relaxations=tuple(described),
        nearest_miss=None,
        counts=_removed(scenario, work.found),
    )


def _shown(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"now": told["now"], "needed": told["needed"]}


def _removed(scenario: Scenario, found: PhaseSearch) -> dict[str, int]:
    """Offers that each rule removed, of the phase where it removed most."""
    counts: dict[str, int] = {}
    for setting in found.settings:
        for name, count in setting.option_set.removed.items():
            counts[name] = max(count, counts.get(name, 0))
    return counts


def _members(found: PhaseSearch) -> list[Member]:
    """What the user can give up: shared limits, and sets by the phases they are in."""
    user = found.scenario.constraints
    shared = {"deadline": user.deadline_s, "budget": user.budget_usd}
    members = [Member(name) for name, limit in shared.items() if limit is not None]
    where: dict[str, list[int]] = {}
    for position, setting in enumerate(found.settings):
        for name in in_force(setting):
            if rule(name).kind in ("set", "bound") and name not in SHARED:
                where.setdefault(name, []).append(position)
    return members + [Member(name, tuple(at)) for name, at in where.items()]


def _without(scenario: Scenario, member: Member) -> Scenario:
    """The scenario with one requirement left out, where it is in force."""
    if not member.phases:
        return without(scenario, member.rule)
    phases = tuple(
        replace(phase, scenario=without(phase.scenario, member.rule))
        if position in member.phases
        else phase
        for position, phase in enumerate(scenario.phases)
    )
    return replace(scenario, phases=phases)


def _opened(work: _Work, member: Member) -> dict[str, Any] | None:
    """What leaving one requirement out opens, described; None: nothing, or no time."""
    scenario = _without(work.found.scenario, member)
    if member.rule == "deadline":
        soonest = replace(scenario, objective=Objective("time"))
        chosen, proved = work.solve(soonest, held=True)
        return _least(work, member, chosen) if proved else None
    if member.rule == "budget":
        cheapest = replace(scenario, objective=Objective("cost"))
        chosen, proved = work.solve(cheapest, held=True)
        return _least(work, member, chosen) if proved else None
    chosen, _ = work.solve(scenario)
    if chosen is None:
        return None
    names = [work.found.scenario.phases[p].name for p in member.phases]
    return {
        "constraint": member.rule,
        "phases": names,
        "now": ", ".join(names),
        "needed": sentence("relax.phase"),
        "now_value": None,
        "needed_value": None,
        "unit": None,
        "set": _lifted(work.found, member),
        "opens": _plan(chosen),
    }


def _least(work: _Work, member: Member, chosen: Chosen | None) -> dict[str, Any] | None:
    """The least deadline or budget, rounded outward, and the chain at that figure."""
    if chosen is None:
        return None
    total = joined(chosen.leases, chosen.chain, chosen.found.moves)
    user = work.found.scenario.constraints
    if member.rule == "deadline":
        needed = deadline_rounded_up(total.finish_limit_s)
        told = deadline_text(user.deadline_s or 0.0, needed)
        user = replace(user, deadline_s=needed)
    else:
        needed = budget_rounded_up(total.cost_limit_usd)
        told = budget_text(user.budget_usd or 0.0, needed)
        user = replace(user, budget_usd=needed)
    opened, _ = work.solve(replace(work.found.scenario, constraints=user))
    return {"constraint": member.rule, **told, "opens": _plan(opened or chosen)}


def _plan(chosen: Chosen) -> dict[str, Any]:
    """A chain in short: offers, most GPUs at once, cost and duration as limits are."""
    leases, found = chosen.leases, chosen.found
    total = joined(leases, chosen.chain, found.moves)
    offers = [found.places.options[int(leases.option[k])][0] for k in chosen.chain]
    gpus = [
        int(pool.table.rented_nodes[row] * pool.table.layouts.gpus_per_node[row])
        for pool, row in zip(chosen.pools, chosen.rows, strict=True)
    ]
    return {
        "offer": ", ".join(dict.fromkeys(offers)),
        "gpus": max(gpus),
        "cost_usd": round(total.cost_limit_usd, 2),
        "duration_days": round_up(total.finish_limit_s / DAY, 4),
    }


def _lifted(found: PhaseSearch, member: Member) -> str | None:
    """The one override that leaves a set out, where there is one."""
    if member.rule not in LIFTED_BY:
        return None
    key, value = LIFTED_BY[member.rule]
    users = [found.settings[p].scenario.constraints for p in member.phases]
    if member.rule == "gpu_types" and any(user.gpu_exclude for user in users):
        return None
    text = f"constraints.{key}={flow(value)}"
    if len(member.phases) == 1:
        return f"phases[{member.phases[0]}].{text}"
    return text if len(member.phases) == found.phases else None


def _extremes(work: _Work) -> list[str]:
    """The soonest and the cheapest chain with neither deadline nor budget."""
    scenario = work.found.scenario
    for name in SHARED:
        scenario = without(scenario, name)
    ends = []
    for kind in ("time", "cost"):
        goal = replace(scenario, objective=Objective(kind))
        chosen, proved = work.solve(goal, held=True)
        if chosen is None or not proved:
            return []
        ends.append(joined(chosen.leases, chosen.chain, chosen.found.moves))
    soonest, cheapest = ends
    return [
        sentence(
            "why.phases.neither",
            soonest=sentence(
                "relax.days", days=round_up(soonest.finish_limit_s / DAY, 1)
            ),
            soonest_cost=format_usd(round_up(soonest.cost_limit_usd, 0)),
            cheapest=format_usd(round_up(cheapest.cost_limit_usd, 0)),
            cheapest_days=sentence(
                "relax.days", days=round_up(cheapest.finish_limit_s / DAY, 1)
            ),
        )
    ]


def _conflict(
    work: _Work, members: list[Member], opening: set[Member]
) -> tuple[str, ...]:
    """Requirements that together allow no chain, minimal by deletion.

    One that opens a chain when left out alone belongs to every such set. Sets are
    tried before the shared limits, so that these stay where either would do.
    """
    scenario, kept = work.found.scenario, list(members)
    for member in reversed(members):
        if member in opening:
            continue
        fewer = _without(scenario, member)
        chosen, proved = work.solve(fewer)
        if chosen is None and proved:
            scenario = fewer
            kept.remove(member)
    return tuple(_named(work.found, member) for member in kept)


def _named(found: PhaseSearch, member: Member) -> str:
    """A member's rule, with the phases that have it unless all do."""
    if not member.phases or len(member.phases) == found.phases:
        return member.rule
    names = ", ".join(found.scenario.phases[p].name for p in member.phases)
    return f"{member.rule} ({names})"

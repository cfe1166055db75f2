"""Why there is no plan: what left nothing, and what each change alone would open.

Three levels, in this order: nothing on offer matches (catalog), no layout divides
(layout), nothing fits in memory (memory), or no candidate keeps all limits
(constraints). Every figure shown comes from a solve with one requirement left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solver.candidates import CandidateTable
from solver.messages import sentence
from solver.performance.parallelism import explain_divisibility
from solver.plan import Explanation
from solver.planning.memory_miss import MemoryMiss, levers, nearest_memory_miss
from solver.planning.relaxing import in_force, without
from solver.ranges import Range
from solver.rules import rule
from solver.scenario.scenario import Objective, Scenario
from solver.search import limits_of, search
from solver.setting import Setting, setting_of
from solver.units import DAY, format_count, format_duration_s, format_usd

FEASIBILITY_SLACK = 0.0


@dataclass(frozen=True)
class Opening:
    """What leaving one requirement out opens: the best plan there."""

    rule: str
    setting: Setting
    table: CandidateTable
    row: int


def explain(setting: Setting) -> Explanation:
    """The explanation of an infeasible scenario."""
    if not setting.options:
        return _catalog(setting)
    lattices = [setting.space.lattice(kind) for kind in setting.space.kinds]
    if not any(len(lattice.groups) for lattice in lattices):
        return _layout(setting)
    miss = nearest_memory_miss(setting)
    if miss.ratio > 1.0:
        return _memory(setting, miss)
    return _constraints(setting)


def openings(setting: Setting) -> list[Opening]:
    """For each requirement in force the best plan without it, where there is one."""
    found = []
    for rule_id in in_force(setting.scenario):
        opening = _open(setting, rule_id)
        if opening is not None:
            found.append(opening)
    return found


def _open(setting: Setting, rule: str) -> Opening | None:
    scenario = without(setting.scenario, rule)
    if rule in ("deadline", "throughput"):
        scenario = replace(scenario, objective=Objective("time"))
    elif rule == "budget":
        scenario = replace(scenario, objective=Objective("cost"))
    relaxed = _joined(setting, scenario)
    if not relaxed.options:
        return None
    table = search(relaxed, limits_of(scenario), FEASIBILITY_SLACK).table
    if table is None:
        return None
    return Opening(rule, relaxed, table, _least(rule, scenario, table))


def _joined(setting: Setting, scenario: Scenario) -> Setting:
    # the catalog of a setting already holds the scenario's own offers
    own = replace(scenario, supply=replace(scenario.supply, with_catalog=True))
    return replace(setting_of(own, setting.catalog), scenario=scenario)


def _least(rule: str, scenario: Scenario, table: CandidateTable) -> int:
    """The candidate that needs least of what was left out."""
    if rule == "throughput":
        return int(np.argmax(table.tokens_per_s))
    if rule == "deadline":
        return int(np.lexsort((table.cost_usd, table.duration_limit_s))[0])
    if rule == "budget":
        return int(np.lexsort((table.duration_s, table.cost_limit_usd))[0])
    if rule == "stock":
        return int(np.lexsort((table.cost_usd, table.layouts.nodes))[0])
    key = table.duration_s if scenario.objective.kind == "time" else table.cost_usd
    return int(np.argmin(key))


Described = dict[str, Any]


def _deadline(opening: Opening, user: Any) -> Described:
    needed = float(opening.table.duration_limit_s[opening.row])
    return {
        "now": format_duration_s(user.deadline_s),
        "needed": _days_up(needed),
        "now_value": user.deadline_s / DAY,
        "needed_value": _round_up(needed / DAY, 1),
        "unit": "days",
    }


def _round_up(value: float, digits: int) -> float:
    scale = 10.0**digits
    return float(np.ceil(value * scale - 1e-9) / scale)


def _round_down(value: float, digits: int) -> float:
    scale = 10.0**digits
    return float(np.floor(value * scale + 1e-9) / scale)


def _days_up(seconds: float) -> str:
    return sentence("relax.days", days=_round_up(seconds / DAY, 1))


def _budget(opening: Opening, user: Any) -> Described:
    needed = _round_up(float(opening.table.cost_limit_usd[opening.row]), 0)
    return {
        "now": format_usd(user.budget_usd),
        "needed": format_usd(needed),
        "now_value": user.budget_usd,
        "needed_value": needed,
        "unit": "USD",
    }


def _throughput(opening: Opening, user: Any) -> Described:
    sigma = opening.setting.arrays.sigma[opening.table.option[opening.row]]
    pace = opening.table.tokens_per_s[opening.row] / np.exp(opening.setting.z * sigma)
    needed = _round_down(float(pace), 0)
    return {
        "now": format_count(user.min_tokens_per_s),
        "needed": format_count(needed),
        "now_value": user.min_tokens_per_s,
        "needed_value": needed,
        "unit": "tokens/s",
    }


def _set(field: str, label: Callable[[Opening], str]) -> Callable[..., Described]:
    def described(opening: Opening, user: Any) -> Described:
        now = getattr(user, field, None)
        values = ", ".join(str(v) for v in now) if isinstance(now, tuple) else None
        return {"now": values, "needed": label(opening), "unit": field}

    return described


def _option(opening: Opening) -> Any:
    return opening.setting.options[int(opening.table.option[opening.row])]


def _pins(opening: Opening, user: Any) -> Described:
    layouts, row = opening.table.layouts, opening.row
    degrees = ("tp", "pp", "cp", "ep", "dp")
    now = [f"{axis} {_range(r)}" for axis, r in sorted(user.parallelism.items())]
    if user.recompute is not None:
        now.append(f"recompute {' or '.join(user.recompute)}")
    needed = " ".join(f"{d} {int(getattr(layouts, d)[row])}" for d in degrees)
    return {"now": ", ".join(now) or None, "needed": needed, "unit": "layout"}


def _range(limit: Range) -> str:
    """A limit in words: 'at most 8', '4 or 8'."""
    if limit.values is not None:
        return " or ".join(f"{value:,}" for value in limit.values)
    if limit.min is None:
        return sentence("range.most", most=limit.max)
    if limit.max is None:
        return sentence("range.least", least=limit.min)
    if limit.min == limit.max:
        return f"{limit.min:,.0f}"
    return sentence("range.between", least=limit.min, most=limit.max)


def _gpus(opening: Opening, user: Any) -> Described:
    limits = [_range(user.gpus)] if user.gpus != Range() else []
    if user.gpus_per_node != Range():
        limits.append(sentence("range.per-node", limit=_range(user.gpus_per_node)))
    now = ", ".join(limits)
    needed = int(opening.table.layouts.gpus[opening.row])
    return {"now": now, "needed": f"{needed}", "needed_value": needed, "unit": "GPUs"}


def _stock(opening: Opening, _user: Any) -> Described:
    needed = int(opening.table.layouts.nodes[opening.row])
    option = _option(opening)
    return {
        "now": sentence("relax.stock.now"),
        "needed": sentence("relax.stock", nodes=needed, offer=option.offer.id),
        "needed_value": needed,
        "unit": "nodes",
    }


_DESCRIBE: dict[str, Callable[[Opening, Any], Described]] = {
    "deadline": _deadline,
    "budget": _budget,
    "throughput": _throughput,
    "gpus": _gpus,
    "stock": _stock,
    "parallelism": _pins,
    "regions": _set("regions", lambda o: _option(o).offer.region),
    "countries": _set("countries", lambda o: str(_option(o).country)),
    "providers": _set("providers", lambda o: _option(o).offer.provider),
    "gpu_types": _set("gpu_types", lambda o: _option(o).gpu.id),
    "intra_node": _set("intra_node_kinds", lambda o: _option(o).server.intra_node),
    "network": _set("network_kinds", lambda o: str(_option(o).server.network)),
    "storage": _set("storage_kinds", lambda o: _tier(o)),
    "purchase": _set("purchase", lambda o: _option(o).offer.purchase),
}


def _tier(opening: Opening) -> str:
    return opening.setting.tiers[int(opening.table.tier[opening.row])].id


def describe(opening: Opening, scenario: Scenario) -> Described:
    """One relaxation as the JSON contract has it, with the plan that it opens."""
    table, row = opening.table, opening.row
    return {
        "constraint": opening.rule,
        **_DESCRIBE[opening.rule](opening, scenario.constraints),
        "opens": {
            "offer": _option(opening).offer.id,
            "gpus": int(table.layouts.gpus[row]),
            "cost_usd": round(float(table.cost_usd[row]), 2),
            "duration_days": round(float(table.duration_s[row]) / DAY, 2),
        },
    }


def _explanation(
    setting: Setting,
    kind: Any,
    summary: str,
    found: list[Opening],
    nearest_miss: dict[str, Any] | None = None,
    extra: tuple[dict[str, Any], ...] = (),
) -> Explanation:
    described = tuple(describe(o, setting.scenario) for o in found)
    return Explanation(
        kind=kind,
        summary=summary,
        conflict=tuple(o.rule for o in found) or _conflict(setting),
        relaxations=described + extra,
        nearest_miss=nearest_miss,
        counts=dict(setting.option_set.removed),
    )


def _conflict(setting: Setting) -> tuple[str, ...]:
    """A set of requirements that together allow nothing, minimal by deletion.

    Used where no single requirement opens a plan when left out. Of several such sets
    the one shown keeps what the user wrote: defaults are left out first.
    """
    scenario = setting.scenario
    stated = scenario.constraints.stated
    kept = sorted(in_force(scenario), key=lambda rule_id: rule_id in stated)
    for rule_id in tuple(kept):
        relaxed = _joined(setting, without(scenario, rule_id))
        opened = bool(relaxed.options) and (
            search(relaxed, limits_of(relaxed.scenario)).table is not None
        )
        if not opened:
            scenario = without(scenario, rule_id)
            kept.remove(rule_id)
    return tuple(kept)


def _catalog(setting: Setting) -> Explanation:
    found = openings(setting)
    removed = setting.option_set.removed
    total = setting.option_set.total
    worst = max(removed, key=lambda r: removed[r]) if removed else "stock"
    summary = sentence("why.catalog", total=total, rule=rule(worst).title)
    return _explanation(setting, "catalog", summary, found)


def _layout(setting: Setting) -> Explanation:
    kind = min(setting.space.kinds)
    faults = explain_divisibility(
        setting.shape, setting.job, setting.framework, setting.space.limits(kind)
    )
    reasons = "; ".join(f.why for f in faults if not f.repaired)
    miss = {
        "faults": [
            {"axis": f.axis, "wanted": f.wanted, "why": f.why, "nearest": f.nearest}
            for f in faults
        ]
    }
    summary = sentence("why.layout", reasons=reasons or sentence("why.layout.none"))
    return _explanation(setting, "layout", summary, openings(setting), miss)


def _memory(setting: Setting, miss: MemoryMiss) -> Explanation:
    summary = sentence(
        "why.memory", need=miss.need_gib, usable=miss.allowed_gib, gpu=miss.gpu
    )
    return _explanation(
        setting,
        "memory",
        summary,
        openings(setting),
        miss.as_dict(),
        tuple(levers(setting, miss)),
    )


def _constraints(setting: Setting) -> Explanation:
    found = openings(setting)
    texts = []
    for opening in found:
        described = describe(opening, setting.scenario)
        if opening.rule in BOUNDS:
            texts.append(sentence(f"why.{opening.rule}", **_shown(described)))
    miss = None
    if not found:
        miss = _without_bounds(setting)
        texts.append(_reachable(miss))
    summary = sentence("why.constraints") + " " + " ".join(texts)
    return _explanation(setting, "constraints", summary.strip(), found, miss)


BOUNDS = ("deadline", "budget", "throughput")


def _without_bounds(setting: Setting) -> dict[str, Any] | None:
    """Soonest and cheapest plan with deadline, budget and floor all left out."""
    scenario = setting.scenario
    for rule_id in BOUNDS:
        scenario = without(scenario, rule_id)
    found = {}
    wanted = {"soonest": Objective("time"), "cheapest": Objective("cost")}
    for kind, objective in wanted.items():
        free = replace(scenario, objective=objective)
        relaxed = _joined(setting, free)
        table = search(relaxed, limits_of(free)).table
        if table is None:
            return None
        keys = (table.cost_usd, table.duration_limit_s)
        row = int(np.lexsort(keys if kind == "soonest" else keys[::-1])[0])
        found[f"{kind}_days"] = _round_up(float(table.duration_limit_s[row]) / DAY, 1)
        found[f"{kind}_usd"] = _round_up(float(table.cost_limit_usd[row]), 0)
    return found


def _reachable(miss: dict[str, Any] | None) -> str:
    if miss is None:
        return sentence("why.sets")
    return sentence(
        "why.reachable",
        soonest=sentence("relax.days", days=miss["soonest_days"]),
        soonest_cost=format_usd(miss["soonest_usd"]),
        cheapest=format_usd(miss["cheapest_usd"]),
        cheapest_days=sentence("relax.days", days=miss["cheapest_days"]),
    )


def _shown(described: Described) -> dict[str, Any]:
    return {"now": described["now"], "needed": described["needed"]}

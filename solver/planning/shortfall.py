"""Why one choice alone gives no plan: short, and proved by solves of its own.

An explanation tells what would open a plan; this tells in a line how far a region, a
GPU or a purchase kind is from one.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from solver.candidates import CandidateTable
from solver.layout_space import OutOfTimeError
from solver.messages import has_text, sentence
from solver.options import Option
from solver.plan import Message
from solver.planning.memory_miss import nearest_memory_miss
from solver.planning.opening import Opening
from solver.planning.relaxation_text import describe
from solver.planning.relaxing import without
from solver.relimited import remembered, under
from solver.scenario.scenario import Aim, Objective, Scenario
from solver.search import LENIENCY, SearchResult, ideal_bounds, limits_of, search
from solver.setting import HardwareClass, Setting

Dropped = Iterable[tuple[Option, tuple[str, ...]]]

BOUNDS: Mapping[str, Aim] = {
    "deadline": "time",
    "throughput": "time",
    "budget": "cost",
    "energy": "energy",
    "carbon": "carbon",
}
"""Limits on what a plan takes, in the order of telling, and what each is least of."""


def not_offered(dropped: Dropped) -> tuple[Message, ...]:
    """Which rules remove the offers of a choice of which none is left.

    ``dropped`` are its offers, each with the rules that it breaks.
    """
    counted = Counter(rules[0] if rules else "stock" for _, rules in dropped)
    if not counted:
        return (Message.of("short.no-offer"),)
    return tuple(
        Message.of(
            "short.removed", rule=name, title=sentence(f"rule.{name}"), count=count
        )
        for name, count in counted.most_common()
    )


def shortfall(setting: Setting, time_s: float) -> tuple[Message, ...]:
    """Why no candidate of ``setting`` is a plan.

    Parameters
    ----------
    setting
        A question, or a part of one, that was proved to have no plan.
    time_s
        Seconds that finding out may take.
    """
    end = time.monotonic() + time_s
    try:
        return _limits(setting, end)
    except OutOfTimeError:
        return (Message.of("short.no-time"),)


def _physical(setting: Setting, end: float) -> tuple[Message, ...]:
    """What no limit on time or money has a part in: layouts and memory."""
    setting.space.end = end
    try:
        miss = nearest_memory_miss(setting)
    finally:
        setting.space.end = None
    if miss is None:
        return (Message.of("short.layout"),)
    if miss.ratio > 1.0:
        figures = {"need": miss.need_gib, "usable": miss.allowed_gib, "gpu": miss.gpu}
        return (Message.of("short.memory", **figures),)
    return ()


def _limits(setting: Setting, end: float) -> tuple[Message, ...]:
    """How far the soonest and the cheapest plan are from the limits."""
    user = setting.scenario.constraints
    limits = {
        "deadline": user.deadline_s,
        "throughput": user.min_tokens_per_s,
        "budget": user.budget_usd,
        "energy": user.max_energy_mwh,
        "carbon": user.max_carbon_t,
    }
    stated = [name for name in BOUNDS if limits[name] is not None]
    least = {
        BOUNDS[limit]: _solved(setting, limit, BOUNDS, end)
        for limit in stated or ["deadline"]
    }
    free = next(iter(least.values()))
    if free.table is None:
        return _physical(setting, end) or _hindered(free)
    found: list[Message] = []
    for limit in stated:
        table = least[BOUNDS[limit]].table
        if table is not None and not _is_kept(setting, limit, table, stated, end):
            found.append(_told(f"short.{limit}", setting, limit, table))
    if not found:
        found = _together(setting, stated, end)
    if any(message.id == "short.deadline" for message in found):
        found += _stock(setting)
    return tuple(found) or (Message.of("short.none"),)


def _hindered(free: SearchResult) -> tuple[Message, ...]:
    """What rules all out that no limit does: hosts, drives, failures."""
    dropped = free.stats.dropped
    if not dropped:
        return (Message.of("short.none"),)
    worst = max(dropped, key=lambda name: dropped[name])
    message_id = f"short.dropped.{worst}"
    if not has_text(message_id):
        message_id = "short.dropped"
    return (_by_rule(message_id, worst),)


def _by_rule(message_id: str, name: str, **values: int) -> Message:
    """What a rule does, with the rule's title."""
    return Message.of(message_id, rule=name, title=sentence(f"rule.{name}"), **values)


def _is_kept(
    setting: Setting, limit: str, free: CandidateTable, stated: list[str], end: float
) -> bool:
    """Whether a plan keeps one limit where all others are left out.

    ``free`` are the candidates that are best in what is limited, without any limit.
    """
    others = [other for other in stated if other != limit]
    if not others:
        return False
    user = setting.scenario.constraints
    most, figures = None, free.duration_limit_s
    if limit == "deadline":
        most = user.deadline_s
    elif limit == "budget":
        most, figures = user.budget_usd, free.cost_limit_usd
    if most is not None and (figures <= most).any():
        return True  # seen without another search
    return _solved(setting, limit, others, end).table is not None


def _together(setting: Setting, stated: list[str], end: float) -> list[Message]:
    """How far from a limit all is that keeps the others; the first that opens."""
    for limit in reversed(stated):
        table = _solved(setting, limit, [limit], end).table
        if table is not None:
            return [_told(f"short.{limit}.within", setting, limit, table)]
    return []


def _solved(
    setting: Setting, limit: str, left_out: Iterable[str], end: float
) -> SearchResult:
    """Candidates that are best in what is limited, with some limits left out."""
    left_s = end - time.monotonic()
    if left_s <= 0:
        raise OutOfTimeError
    scenario: Scenario = setting.scenario
    for name in left_out:
        scenario = without(scenario, name)
    scenario = replace(scenario, objective=Objective(BOUNDS[limit]))
    limits = limits_of(scenario)

    def find() -> SearchResult:
        found = search(under(setting, scenario), limits, 0.0, time_s=left_s)
        if not found.complete:
            raise OutOfTimeError
        return found

    return remembered(setting, ("least", BOUNDS[limit], limits), find)


def _told(
    message_id: str, setting: Setting, limit: str, table: CandidateTable
) -> Message:
    """How far the nearest candidate is from a limit."""
    figures = {
        "cost": table.cost_limit_usd,
        "time": table.duration_limit_s,
        "energy": table.energy_limit_kwh,
        "carbon": table.carbon_limit_kg,
    }
    least = int(np.argmin(figures[BOUNDS[limit]]))
    nearest = Opening(limit, setting, table, least)
    told = describe(nearest, setting.scenario)
    return Message.of(message_id, now=told["now"], needed=told["needed"])


def _stock(setting: Setting) -> list[Message]:
    """Nodes without which no layout could keep the deadline, where more are in stock.

    By model FLOPs alone: fewer are never enough, so many may be too few.
    """
    needed = [
        (nodes * group.node_kind[0], nodes, group)
        for group in setting.classes
        if (nodes := _least_nodes(setting, group)) is not None
    ]
    if len(needed) < len(setting.classes) or not needed:
        return []
    _, nodes, group = min(needed, key=lambda each: each[:2])
    if nodes <= group.max_nodes:
        return []
    gpu = setting.options[int(group.options[0])].gpu.id
    figures = {"nodes": nodes, "gpu": gpu, "stock": group.max_nodes}
    return [Message.of("short.stock", **figures)]


def _least_nodes(setting: Setting, group: HardwareClass) -> int | None:
    """Fewest nodes with which any layout could keep the deadline; None: no number."""
    deadline_s = (setting.scenario.constraints.deadline_s or math.inf) * LENIENCY
    overheads = setting.scenario.overheads
    wait_s = float(group.arrays.around_s.min())
    left_s = deadline_s - overheads.setup_s - overheads.queue_s - wait_s
    if left_s <= 0:
        return None
    _, ideal_s = ideal_bounds(setting, group)
    return math.ceil(ideal_s * group.max_nodes * group.spread_factor / left_s)

"""What holds a plan back: each requirement left out, or given one step, solved again.

No dual value is read: every gain is the difference between two proved optima, the
plan's and that of the scenario with one change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solver.candidates import CandidateTable, objective_values
from solver.messages import sentence
from solver.mixes import with_mixes
from solver.options import Option
from solver.planning.by_name import SET_LABELS, best_of_each_name
from solver.planning.clock import Clock
from solver.planning.opening import Described, Opening, round_up
from solver.planning.relaxation_text import SHORT_DAYS, describe
from solver.planning.relaxing import in_force, rejoined, without
from solver.planning.single_job import best_of
from solver.ranges import Range
from solver.scenario.scenario import Objective, Scenario
from solver.search import limits_of, search
from solver.setting import Setting
from solver.units import DAY, HOUR, format_duration_s, format_usd

MORE_NODES = 8
"""Nodes by which a step enlarges the stock of every pool."""

BUDGET_STEP = 0.10
"""Share by which a step raises the budget."""

HEADROOM_STEP = 0.05
"""Memory headroom that a step gives up, of the card's usable memory."""

LEAST_GAIN = 1e-3
"""Relative gain of the objective below which a change is said to save nothing."""

EXPECTED = 0.5
"""Confidence at which limits hold in expectation."""


@dataclass(frozen=True)
class Reached:
    """A plan, as the row of a table of candidates."""

    setting: Setting
    table: CandidateTable
    row: int

    @property
    def value(self) -> float:
        """What the scenario minimises first: USD, seconds, kWh or kg of CO2."""
        one = self.table.take(np.array([self.row]))
        return float(objective_values(self.setting, one)[0])

    @property
    def option(self) -> Option:
        """Its offer."""
        return self.setting.options[int(self.table.option[self.row])]

    @property
    def cost_usd(self) -> float:
        """Its expected bill, dollars."""
        return float(self.table.cost_usd[self.row])

    @property
    def duration_s(self) -> float:
        """Its expected finish, seconds."""
        return float(self.table.duration_s[self.row])

    def spent(self, column: str) -> float:
        """A figure of its row, as kWh or kg of CO2."""
        return float(getattr(self.table, column)[self.row])


@dataclass(frozen=True)
class Step:
    """One requirement moved by one step."""

    rule: str
    now: str
    then: str
    setting: Setting
    override: str | None = None
    """What to type; None where no key of the scenario says it."""


def solved(setting: Setting, clock: Clock) -> Reached | None:
    """The proved best plan of a setting; None: there is none, or no time for it.

    Ctrl-C leaves a solve without its proof: then the clock stops too.
    """
    best = best_of(setting, 0.0, clock.left_s)
    if best.status in ("feasible", "unknown"):
        clock.stop()
    if best.status != "optimal" or best.row is None:
        return None
    return Reached(setting, best.table, best.row)


def lifted(
    reached: Reached, clock: Clock, tell: Callable[[float], None]
) -> Iterator[Described]:
    """Each requirement in force, and what leaving it out would gain.

    Parameters
    ----------
    reached
        The best plan that keeps all of them.
    clock
        Requirements that there is no time for are left out.
    tell
        Called with the share that is done.

    Yields
    ------
    dict
        ``constraint``, ``binds`` and, where it binds, what the better plan would need.
    """
    setting = reached.setting
    rules = in_force(setting)
    for number, rule_id in enumerate(rules):
        if clock.is_over:
            return
        tell(number / len(rules))
        scenario = without(setting.scenario, rule_id)
        if scenario.objective != setting.scenario.objective:
            continue  # what is minimised would be something else: no gain to tell
        freed = rejoined(setting, scenario)
        better = solved(freed, clock)
        if better is None:
            continue
        if not gains(reached, better):
            yield {"constraint": rule_id, "binds": False}
            continue
        for found in _each_name(reached, better, rule_id, clock):
            opening = _opening(setting.scenario, found, rule_id)
            told = describe(opening, setting.scenario)
            yield {**_changed(told, rule_id), "binds": True, **saved(reached, found)}


def _opening(asked: Scenario, found: Reached, rule_id: str) -> Opening:
    return Opening(rule_id, found.setting, found.table, found.row, stated=asked)


def _changed(told: Described, rule_id: str) -> Described:
    """What a plan needs, where that is not the least that opens one."""
    if rule_id not in ("lead_time", "term"):
        return told
    none = {"needed": sentence("explain.none"), "needed_value": 0, "set": None}
    return {**told, **none}


def gains(reached: Reached, better: Reached) -> bool:
    """Whether the objective is better by more than a thousandth."""
    return better.value < reached.value * (1.0 - LEAST_GAIN)


def saved(reached: Reached, better: Reached) -> dict[str, float | None]:
    """What another plan saves; negative: what it costs more; None: not known."""
    kwh = reached.spent("energy_kwh") - better.spent("energy_kwh")
    kg = reached.spent("carbon_kg") - better.spent("carbon_kg")
    return {
        "saves_usd": round(reached.cost_usd - better.cost_usd, 2),
        "saves_days": round((reached.duration_s - better.duration_s) / DAY, 4),
        "saves_energy_mwh": round(kwh / 1000.0, 4),
        "saves_carbon_t": round(kg / 1000.0, 4) if np.isfinite(kg) else None,
    }


def _each_name(
    reached: Reached, better: Reached, rule_id: str, clock: Clock
) -> list[Reached]:
    """The best plan of each name that a set would have to allow, best first."""
    if rule_id not in SET_LABELS:
        return [better]
    names = best_of_each_name(rule_id, reached.setting, better.setting, clock)
    found = [Reached(part, table, row) for table, row, part in names]
    return [one for one in found if gains(reached, one)] or [better]


def stepped(
    reached: Reached, clock: Clock, tell: Callable[[float], None]
) -> Iterator[Described]:
    """What one step more of each number that binds or may bind would gain.

    Parameters and limits are those of `lifted`; only steps that gain are told.
    """
    steps = [step for make in STEPS for step in make(reached)]
    for number, step in enumerate(steps):
        if clock.is_over:
            return
        tell(number / len(steps))
        better = solved(step.setting, clock)
        if better is None or not gains(reached, better):
            continue
        asked = reached.setting.scenario
        opened = describe(_opening(asked, better, "stock"), asked)["opens"]
        yield {
            "constraint": step.rule,
            "now": step.now,
            "needed": step.then,
            "set": step.override,
            "opens": opened,
            **saved(reached, better),
        }


def _with(setting: Setting, **changes: Any) -> Setting:
    """The setting with other constraints."""
    user = replace(setting.scenario.constraints, **changes)
    return rejoined(setting, replace(setting.scenario, constraints=user))


def _deadline_steps(reached: Reached) -> Iterator[Step]:
    """A day more, or an hour where the deadline is short."""
    setting = reached.setting
    deadline = setting.scenario.constraints.deadline_s
    if deadline is None:
        return
    unit, word = (DAY, "days") if deadline >= SHORT_DAYS * DAY else (HOUR, "hours")
    later = deadline + unit
    yield Step(
        "deadline",
        format_duration_s(deadline),
        sentence(f"relax.{word}", **{word: later / unit}),
        _with(setting, deadline_s=later),
        f"constraints.deadline={later / unit:.10g} {word}",
    )


def _next_deadline(reached: Reached) -> Iterator[Step]:
    """The soonest finish from which the plan is cheaper at all."""
    setting = reached.setting
    scenario = setting.scenario
    if scenario.constraints.deadline_s is None or scenario.objective.kind != "cost":
        return
    budget = reached.cost_usd * (1.0 - 2.0 * LEAST_GAIN)
    cheaper = replace(scenario.constraints, deadline_s=None, budget_usd=budget)
    question = replace(scenario, constraints=cheaper, objective=Objective("time"))
    freed, time_s = rejoined(setting, question), scenario.limits.time_s
    found = search(freed, limits_of(question), time_s=time_s).table
    if found is None:
        return
    needed = round_up(float(found.duration_limit_s.min()) / DAY, 1)
    if needed * DAY <= scenario.constraints.deadline_s + DAY:
        return
    yield Step(
        "deadline",
        format_duration_s(scenario.constraints.deadline_s),
        sentence("relax.days", days=needed),
        _with(setting, deadline_s=needed * DAY),
        f"constraints.deadline={needed:.1f} days",
    )


def _budget_steps(reached: Reached) -> Iterator[Step]:
    setting = reached.setting
    budget = setting.scenario.constraints.budget_usd
    if budget is None:
        return
    higher = round_up(budget * (1.0 + BUDGET_STEP), 0)
    yield Step(
        "budget",
        format_usd(budget),
        format_usd(higher),
        _with(setting, budget_usd=higher),
        f"constraints.budget={higher:.0f}",
    )


def _gpus_steps(reached: Reached) -> Iterator[Step]:
    """One node more than the most GPUs."""
    setting, wanted = reached.setting, reached.setting.scenario.constraints.gpus
    if wanted.max is None or wanted.values is not None:
        return
    most = int(wanted.max) + reached.option.server.gpus_per_node
    yield Step(
        "gpus",
        sentence("range.most", most=wanted.max),
        sentence("range.most", most=most),
        _with(setting, gpus=Range(min=wanted.min, max=most)),
        f"constraints.gpus.max={most}",
    )


def _stock_steps(reached: Reached) -> Iterator[Step]:
    """So many nodes more in every pool that a fabric joins."""
    setting = reached.setting
    more = tuple(
        replace(option, stock_nodes=option.stock_nodes + MORE_NODES)
        if option.network is not None
        else option
        for option in setting.options
        if option.mix is None
    )
    pools = with_mixes(replace(setting.option_set, options=more), setting.scenario)
    larger = replace(setting, option_set=pools)
    yield Step(
        "stock",
        sentence("relax.stock.now"),
        sentence("explain.more-nodes", nodes=MORE_NODES),
        larger,
    )


def _headroom_steps(reached: Reached) -> Iterator[Step]:
    setting = reached.setting
    headroom = setting.scenario.constraints.memory_headroom
    less = round(max(0.0, headroom - HEADROOM_STEP), 4)
    if less == headroom:
        return
    yield Step(
        "memory",
        sentence("explain.headroom", share=headroom),
        sentence("explain.headroom", share=less),
        _with(setting, memory_headroom=less),
        f"constraints.memory_headroom={less * 100:g}%",
    )


def _confidence_steps(reached: Reached) -> Iterator[Step]:
    setting = reached.setting
    confidence = setting.scenario.constraints.confidence
    if confidence <= EXPECTED:
        return
    yield Step(
        "confidence",
        sentence("explain.confidence", share=confidence),
        sentence("explain.confidence", share=EXPECTED),
        _with(setting, confidence=EXPECTED),
        f"constraints.confidence={EXPECTED:g}",
    )


STEPS: tuple[Callable[[Reached], Iterator[Step]], ...] = (
    _deadline_steps,
    _next_deadline,
    _budget_steps,
    _gpus_steps,
    _stock_steps,
    _headroom_steps,
    _confidence_steps,
)
"""What makes the steps of each number, in printing order."""

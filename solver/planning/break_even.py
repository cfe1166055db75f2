"""The price at which each losing offer would win, all else as it is.

A candidate's bill is linear in its offer's price a node-hour: `other + price x
node-hours`. An offer wins below the largest price at which one of its candidates
equals the plan's objective and keeps the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solver.candidates import CandidateTable, at_quantile
from solver.objective import objective_values as value_of
from solver.options import Option
from solver.performance.inputs import FloatArray
from solver.planning.clock import Clock
from solver.planning.gains import Reached
from solver.scenario.scenario import Objective
from solver.search import limits_of, search
from solver.setting import Setting, narrowed
from solver.units import DAY

PRICED_OBJECTIVES = ("cost", "time", "weighted")
"""Objectives in which a lower price can make an offer win."""

RENTED = ("on_demand", "spot", "reserved", "monthly")
"""Purchase kinds that have a price an hour."""

LEAST_RENT = 1e-6
"""Share of a bill below which rent is rounding: then only a free offer would tie."""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The price below which an offer wins, and what it would run."""

    offer: str
    provider: str
    region: str
    gpu: str
    purchase: str
    usd_per_gpu_hour: float
    """The price that it loses at, after discounts."""
    break_even_usd_per_gpu_hour: float | None
    """None: no price makes it win, as nothing on it keeps the other limits."""
    change: float | None
    """From the price to the break-even, as a share of the price."""
    nodes: int | None = None
    gpus: int | None = None
    duration_days: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row as the JSON contract has it."""
        return {name: getattr(self, name) for name in self.__slots__}


def break_even(
    reached: Reached, clock: Clock, tell: Callable[[float], None]
) -> list[BreakEven]:
    """The break-even price of each losing offer that is rented, nearest first.

    Parameters
    ----------
    reached
        The plan that wins, proved best.
    clock
        Kinds of node that there is no time for are left out.
    tell
        Called with the share that is done.
    """
    setting = reached.setting
    scenario = setting.scenario
    if scenario.objective.kind not in PRICED_OBJECTIVES:
        return []
    if not _weighs_cost(scenario.objective) and scenario.constraints.budget_usd is None:
        return []
    best: dict[str, BreakEven] = {}
    for number, group in enumerate(setting.classes):
        tell(number / len(setting.classes))
        losing = [i for i in group.options.tolist() if _loses(reached, i)]
        if not losing:
            continue
        if clock.is_over:
            break
        part = narrowed(setting, losing)
        for found in _of_class(reached, part, clock):
            old = best.get(found.offer)
            if old is None or _price(found) > _price(old):
                best[found.offer] = found
    return sorted(best.values(), key=_nearness)


def _weighs_cost(objective: Objective) -> bool:
    """Whether a dollar less is better, not only within a budget."""
    if objective.kind == "weighted":
        return objective.cost_weight > 0
    return objective.kind == "cost"


def _loses(reached: Reached, index: int) -> bool:
    """Whether an option is rented and is not the offer that wins."""
    option = reached.setting.options[index]
    winners = {part.offer.id for part in reached.option.parts}
    other = option.mix is None and option.offer.id not in winners
    return other and option.offer.purchase in RENTED and option.usd_per_node_hour > 0


def _price(found: BreakEven) -> float:
    price = found.break_even_usd_per_gpu_hour
    return -np.inf if price is None else price


def _nearness(found: BreakEven) -> tuple[float, str]:
    return (np.inf if found.change is None else -found.change, found.offer)


def _of_class(reached: Reached, part: Setting, clock: Clock) -> list[BreakEven]:
    """The break-even of each option of one hardware class."""
    limits = replace(limits_of(part.scenario), budget_usd=None)
    answer = search(_priced(part, 1.0), limits, np.inf, time_s=clock.left_s)
    if not answer.complete:
        clock.stop()
        return []
    table = answer.table
    if table is None:
        return [_row(option, None) for option in part.options]
    price = _break_even_prices(reached, part, table)
    found = []
    for index, option in enumerate(part.options):
        rows = np.flatnonzero((table.option == index) & np.isfinite(price))
        if not len(rows):
            found.append(_row(option, None))
            continue
        best = rows[np.lexsort((table.duration_s[rows], -price[rows]))[0]]
        found.append(_told(option, table, int(best), float(price[best])))
    return found


def _priced(part: Setting, usd_per_node_hour: float) -> Setting:
    """The options at one price."""
    same = tuple(
        replace(option, usd_per_node_hour=usd_per_node_hour) for option in part.options
    )
    return replace(part, option_set=replace(part.option_set, options=same))


def _break_even_prices(
    reached: Reached, part: Setting, table: CandidateTable
) -> FloatArray:
    """Price a node-hour at which each candidate equals the plan, (n,); -inf: none.

    ``table`` is priced at one dollar a node-hour, so that its rent is its node-hours.
    """
    objective, user = part.scenario.objective, part.scenario.constraints
    node_hours = table.compute_usd
    other = table.cost_usd - node_hours
    price = np.full(len(table), np.inf)
    if not _weighs_cost(objective):
        price[value_of(objective, table) >= reached.value] = -np.inf
    elif objective.kind == "cost":
        price = (reached.value - other) / node_hours
    else:
        unpriced = replace(objective, cost_weight=0.0)
        left = reached.value - value_of(unpriced, table)
        price = (left / objective.cost_weight - other) / node_hours
    if user.budget_usd is not None:
        price = np.minimum(price, _within_budget(part, table))
    bill = other + np.maximum(price, 0.0) * node_hours
    worth = price * node_hours > LEAST_RENT * bill
    return np.where(worth, price, -np.inf)


def _within_budget(part: Setting, table: CandidateTable) -> FloatArray:
    """Price a node-hour at which each candidate's bill is the budget, (n,)."""
    other = table.cost_usd - table.compute_usd
    if part.z != 0.0:
        other = at_quantile(_priced(part, 0.0), table, part.z)[1]
    node_hours = table.cost_limit_usd - other
    budget = part.scenario.constraints.budget_usd or 0.0
    return np.asarray((budget - other) / node_hours)


def _told(
    option: Option, table: CandidateTable, row: int, usd_per_node_hour: float
) -> BreakEven:
    return replace(
        _row(option, usd_per_node_hour / option.server.gpus_per_node),
        nodes=int(table.layouts.nodes[row]),
        gpus=int(table.layouts.gpus[row]),
        duration_days=float(table.duration_s[row]) / DAY,
    )


def _row(option: Option, price: float | None) -> BreakEven:
    now = option.usd_per_node_hour / option.server.gpus_per_node
    return BreakEven(
        offer=option.offer.id,
        provider=option.offer.provider,
        region=option.offer.region.partition("/")[2] or option.offer.region,
        gpu=option.gpu.id,
        purchase=option.offer.purchase,
        usd_per_gpu_hour=now,
        break_even_usd_per_gpu_hour=price,
        change=None if price is None else price / now - 1.0,
    )

"""Buying nodes against renting them: outlay, cost a year, and the break-even.

With ``n`` jobs like the one that is planned, one after the other::

    bought: price - resale + n x (cost of the job without depreciation)
    rented: n x (cost of the job on the cheapest rented offer)

Both are equal at the break-even, which is told in months of use of the bought nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from solver.catalog.ownership import OWN_KINDS
from solver.options import allowed_purchase
from solver.plan import Alternative, Plan
from solver.planning.build_plan import build_plan
from solver.planning.relaxing import rejoined
from solver.scenario.scenario import Objective
from solver.search import limits_of, search
from solver.setting import Setting
from solver.units import MONTH_HOURS

__all__ = ["break_even", "cheapest_rented", "with_break_even"]

RENTED = "on_demand"
"""What a purchase is held against where the scenario allows nothing that is rented."""


def with_break_even(
    setting: Setting, plan: Plan, others: tuple[Alternative, ...]
) -> tuple[Plan, tuple[Alternative, ...]]:
    """The plans that buy, each with its break-even against the cheapest rented one."""
    if not any(p.purchase_plan for p in (plan, *(other.plan for other in others))):
        return plan, others
    rented = cheapest_rented(setting)

    def told(one: Plan) -> Plan:
        if one.purchase_plan is None or rented is None:
            return one
        found = {**one.purchase_plan, "break_even": break_even(one, rented)}
        return replace(one, purchase_plan=found)

    return told(plan), tuple(replace(o, plan=told(o.plan)) for o in others)


def break_even(plan: Plan, rented: Plan) -> dict[str, Any]:
    """Months of use from which buying is cheaper; None in them: it never is."""
    bought = plan.purchase_plan or {}
    net = bought["outlay_usd"] - bought["resale_usd"]
    saved = rented.cost_usd - (plan.cost_usd - bought["charged_usd"])
    months = net / saved * bought["used_hours"] / MONTH_HOURS if saved > 0 else None
    return {
        "offer": rented.offer,
        "purchase": rented.purchase,
        "gpu": rented.gpu,
        "cost_usd": rented.cost_usd,
        "months": months,
    }


def cheapest_rented(setting: Setting) -> Plan | None:
    """The cheapest plan of rented nodes alone that keeps the scenario's limits.

    Of the purchase kinds that the scenario allows, else on demand.
    """
    scenario = setting.scenario
    user = scenario.constraints
    kinds = tuple(sorted(allowed_purchase(scenario) - set(OWN_KINDS))) or (RENTED,)
    limits = replace(user, purchase=kinds, stated=user.stated | {"purchase"})
    own = replace(scenario, constraints=limits, objective=Objective("cost"))
    asked = rejoined(setting, own)
    if not asked.options:
        return None
    table = search(asked, limits_of(own), time_s=scenario.limits.time_s).table
    if table is None:
        return None
    row = int(np.lexsort((table.duration_s, table.cost_usd))[0])
    return build_plan(asked, table, row)

"""One solve for all points that differ in the limit on what is minimised alone.

The cheapest plan without a budget is the cheapest for every budget that it keeps: a
tighter limit takes plans away, and this one stays. For budgets below there is no plan.
The same holds of the soonest plan and the deadline.
"""

from __future__ import annotations

from dataclasses import replace

from solver.planning.comparing import SLACK
from solver.planning.single_job import Best, best_of
from solver.relimited import remembered, under
from solver.scenario.scenario import Scenario
from solver.search import limits_of
from solver.setting import Setting

__all__ = ["shared_best"]

NEAR = 1e-6
"""A limit so near to the best plan is solved for itself: CP-SAT rounds both."""


class _CutShortError(Exception):
    """Time was over, or the user wanted to end: not to be remembered."""

    def __init__(self, best: Best) -> None:
        super().__init__()
        self.best = best


def shared_best(setting: Setting) -> Best:
    """The best candidate of a setting, from the solve without its own limit.

    What is remembered follows from the setting without the limit: the answer is the
    same whatever was asked before.
    """
    scenario, user = setting.scenario, setting.scenario.constraints
    kind = scenario.objective.kind
    if kind == "cost":
        limit, free = user.budget_usd, replace(user, budget_usd=None)
    elif kind == "time":
        limit, free = user.deadline_s, replace(user, deadline_s=None)
    else:
        limit, free = None, user
    best = _best(setting, replace(scenario, constraints=free))
    if limit is None:
        return best
    if best.status == "infeasible":
        return best
    if best.status == "optimal" and best.row is not None:
        table = best.table
        held = table.cost_limit_usd if kind == "cost" else table.duration_limit_s
        least = table.cost_usd if kind == "cost" else table.duration_s
        if float(held[best.row]) < limit * (1.0 - NEAR):
            return best
        if float(least[best.row]) > limit * (1.0 + NEAR) and _is_expected(scenario):
            return Best("infeasible", best.found)
    return best_of(setting, SLACK, scenario.limits.time_s)


def _is_expected(scenario: Scenario) -> bool:
    """Whether limits are held against expected figures, those that are minimised."""
    return scenario.constraints.confidence == 0.5


def _best(setting: Setting, scenario: Scenario) -> Best:
    """The best candidate under a scenario, found once."""

    def find() -> Best:
        best = best_of(under(setting, scenario), SLACK, scenario.limits.time_s)
        if best.is_cut_short:
            raise _CutShortError(best)
        return best

    user, limits = scenario.constraints, scenario.limits
    key = ("best", scenario.objective, limits_of(scenario), user.confidence, limits)
    try:
        return remembered(setting, key, find)
    except _CutShortError as cut:
        return cut.best

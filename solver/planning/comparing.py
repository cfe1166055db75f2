"""The same job with one dimension fixed to each of its values, side by side.

Each row is a search and a choice by CP-SAT of its own, on the offers of one value: what
a scenario that allows that value alone would give. Layouts and step times are evaluated
once for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from solver.errors import Issue
from solver.objective import plan_values
from solver.options import Option, broken_rules
from solver.plan import Message, Plan, Status
from solver.planning.build_plan import build_plan
from solver.planning.clock import Clock
from solver.planning.differences import cost_difference, time_difference
from solver.planning.dimensions import DIMENSIONS, Dimension
from solver.planning.relaxing import without
from solver.planning.shortfall import not_offered, shortfall
from solver.planning.single_job import best_of, certify
from solver.setting import Setting, narrowed, setting_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

METHODS = ("full", "lora", "qlora")

BY = (*DIMENSIONS, "method")
"""What can be compared."""

SLACK = 1e-6
"""Candidates kept around the best: all that CP-SAT's units could tie with it."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class ComparedRow:
    """The best plan with one value, or why there is none.

    Parameters
    ----------
    value
        The value that is fixed.
    status
        As of a solve: ``optimal``, ``feasible``, ``infeasible``, ``unknown``; or
        ``refused``, where the scenario cannot be asked with it.
    plan
        The best plan, verified; None where there is none.
    reasons
        Why there is none.
    forbidden_by
        Rule of the scenario that does not allow the value; None: it is allowed.
    """

    value: str
    status: str
    plan: Plan | None = None
    reasons: tuple[Message, ...] = ()
    forbidden_by: str | None = None


@dataclass(frozen=True)
class Comparison:
    """All values of a dimension: those with a plan first, best first.

    ``left_out`` counts values that were not asked for: those whose offers other rules
    remove, or that the scenario forbids.
    """

    scenario: str
    by: str
    objective: str
    rows: tuple[ComparedRow, ...]
    left_out: int = 0

    @property
    def best(self) -> ComparedRow | None:
        """The best row of an allowed value; None: no value has a plan."""
        able = [r for r in self.rows if r.plan and r.forbidden_by is None]
        return next(iter(able), None)

    @property
    def planned(self) -> tuple[ComparedRow, ...]:
        """Rows with a plan."""
        return tuple(row for row in self.rows if row.plan is not None)

    def cost_difference(self, row: ComparedRow) -> dict[str, float] | None:
        """Dollars to the best plan by cause; None where there is no plan."""
        if row.plan is None or self.best is None or self.best.plan is None:
            return None
        return cost_difference(row.plan, self.best.plan)

    def time_difference(self, row: ComparedRow) -> dict[str, float] | None:
        """Days to the best plan by cause; None where there is no plan."""
        if row.plan is None or self.best is None or self.best.plan is None:
            return None
        return time_difference(row.plan, self.best.plan)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as the JSON contract has it."""
        return {
            "scenario": self.scenario,
            "by": self.by,
            "objective": self.objective,
            "left_out": self.left_out,
            "rows": [self._row(row) for row in self.rows],
        }

    def _row(self, row: ComparedRow) -> dict[str, Any]:
        return {
            "value": row.value,
            "status": row.status,
            "best": row is self.best,
            "forbidden_by": row.forbidden_by,
            "finish": row.plan.finish if row.plan else None,
            "plan": row.plan.as_dict() if row.plan else None,
            "reason": "; ".join(m.text for m in row.reasons) or None,
            "reasons": [
                {"id": m.id, "text": m.text, "values": m.values} for m in row.reasons
            ],
            "difference_usd": self.cost_difference(row),
            "difference_days": self.time_difference(row),
        }


def compare(
    scenario: Scenario,
    catalog: Catalog,
    by: str,
    *,
    everything: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Each value of a dimension of offers with its best plan.

    Parameters
    ----------
    scenario, catalog
        The question and what is on offer.
    by
        A key of `DIMENSIONS`.
    everything
        Also values that the scenario forbids, solved as if they were allowed, and
        values whose offers other rules remove.
    progress
        Called with a label and the fraction done.

    Notes
    -----
    By default a restriction of the dimension itself narrows the rows, but for the
    purchase kind, of which all are compared: that is the question.
    """
    dimension = DIMENSIONS[by]
    free = everything or by == "purchase"
    asked = without(scenario, dimension.rule) if free else scenario
    setting = setting_of(asked, catalog)
    groups = _groups(setting, dimension, scenario)
    dead = _dead(setting, dimension, groups)
    named = _named(scenario, dimension)
    shown = {v: d for v, d in dead.items() if everything or v in named}
    clock = Clock(scenario.limits.time_s)
    rows = []
    for number, (value, options) in enumerate(groups.items()):
        if progress is not None:
            progress(value, number / len(groups))
        rows.append(_row(value, narrowed(setting, options), clock))
    if everything and by != "purchase":
        rows = [_marked(row, setting, groups, dimension, scenario) for row in rows]
    rows += [
        ComparedRow(v, "infeasible", None, not_offered(d)) for v, d in shown.items()
    ]
    objective = scenario.objective.kind
    left_out = len(dead) - len(shown)
    return Comparison(scenario.name, by, objective, _sorted(rows, scenario), left_out)


def compare_methods(
    asked: Mapping[str, Scenario | tuple[Issue, ...]],
    catalog: Catalog,
    progress: Progress | None = None,
) -> Comparison:
    """Each training method with its best plan.

    ``asked`` is the scenario of each method, or what is wrong with it; one scenario is
    there at least.
    """
    rows, known = [], [a for a in asked.values() if not isinstance(a, tuple)]
    scenario = known[0]
    clock = Clock(scenario.limits.time_s)
    for number, (method, question) in enumerate(asked.items()):
        if progress is not None:
            progress(method, number / len(asked))
        if isinstance(question, tuple):
            reasons = tuple(Message("issue", {}, str(issue)) for issue in question)
            rows.append(ComparedRow(method, "refused", None, reasons))
        else:
            rows.append(_row(method, setting_of(question, catalog), clock))
    objective = scenario.objective.kind
    return Comparison(scenario.name, "method", objective, _sorted(rows, scenario))


def _groups(
    setting: Setting, dimension: Dimension, scenario: Scenario
) -> dict[str, list[int]]:
    """Indices of the options of each value, by value.

    Of a value of which the scenario itself allows some options, only those.
    """
    groups: dict[str, list[int]] = {}
    for index, option in enumerate(setting.options):
        groups.setdefault(dimension.label(option), []).append(index)
    for value, indices in groups.items():
        allowed = [i for i in indices if _allows(scenario, dimension, setting, i)]
        groups[value] = allowed or indices
    return dict(sorted(groups.items()))


def _allows(
    scenario: Scenario, dimension: Dimension, setting: Setting, index: int
) -> bool:
    return dimension.rule not in broken_rules(setting.options[index], scenario)


def _dead(
    setting: Setting, dimension: Dimension, groups: Iterable[str]
) -> dict[str, list[tuple[Option, tuple[str, ...]]]]:
    """Values of which no offer is left, with their offers and the rules they break."""
    dead: dict[str, list[tuple[Option, tuple[str, ...]]]] = {}
    for option, rules in setting.option_set.dropped:
        value = dimension.label(option)
        if value not in groups:
            dead.setdefault(value, []).append((option, rules))
    return dict(sorted(dead.items()))


def _named(scenario: Scenario, dimension: Dimension) -> frozenset[str]:
    """Values that the scenario names for the dimension, whose absence it should see."""
    user = scenario.constraints
    stated = {
        "regions": user.regions,
        "countries": user.countries,
        "providers": user.providers,
        "gpu_types": user.gpu_types,
        "purchase": user.purchase,
    }
    return frozenset(stated.get(dimension.rule) or ())


def _marked(
    row: ComparedRow,
    setting: Setting,
    groups: Mapping[str, list[int]],
    dimension: Dimension,
    scenario: Scenario,
) -> ComparedRow:
    """The row, with the rule of the scenario that forbids its value."""
    first = groups[row.value][0]
    if _allows(scenario, dimension, setting, first):
        return row
    return replace(row, forbidden_by=dimension.rule)


def _row(value: str, setting: Setting, clock: Clock) -> ComparedRow:
    """The best plan of one part of the question, or why there is none."""
    if not setting.options:
        reasons = not_offered(setting.option_set.dropped)
        return ComparedRow(value, "infeasible", None, reasons)
    best = best_of(setting, SLACK, clock.left_s)
    if best.is_cut_short:
        clock.stop()  # time is over, or the user has seen enough
    status: Status = best.status
    if best.row is not None:
        plan = build_plan(setting, best.table, best.row)
        certify(plan, setting)
        return ComparedRow(value, status, plan)
    if status == "infeasible":
        return ComparedRow(value, status, None, shortfall(setting, clock.left_s))
    return ComparedRow(value, status, None, (Message.of("short.no-time"),))


def _sorted(rows: Iterable[ComparedRow], scenario: Scenario) -> tuple[ComparedRow, ...]:
    """Rows with a plan first, best objective first, ties as a solve breaks them."""

    def key(row: ComparedRow) -> tuple[Any, ...]:
        plan = row.plan
        if plan is None:
            return (1, row.status != "unknown", row.value)
        values = plan_values(scenario.objective, plan)
        return (0, *(float(f"{v:.9g}") for v in values), plan.nodes, plan.offer)

    return tuple(sorted(rows, key=key))

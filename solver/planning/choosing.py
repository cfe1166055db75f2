"""The best plans that differ in kind from the best one: ``gpuplan alternatives``.

Another GPU, provider, region, purchase kind, network, number of nodes: of each the best
within a share of the objective, with what it gains and loses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.candidates import CandidateTable, objective_values
from solver.performance.inputs import IntArray
from solver.plan import PlanResult
from solver.planning.build_plan import build_plan
from solver.planning.clock import Clock
from solver.planning.dimensions import DIMENSIONS
from solver.planning.runners_up import best_first, differences
from solver.planning.single_job import Best, answer_of, best_of, certify
from solver.planning.trade import MONTH_S, Change, Measured, changes
from solver.search import limits_of, search
from solver.setting import Setting, narrowed, setting_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

ASKED = ("gpu", "provider", "region", "purchase", "network")
"""Dimensions in which an alternative may differ."""

TIES = 1e-6
"""Least share that is searched: all that CP-SAT's units could tie with the best."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Choice:
    """One alternative.

    Parameters
    ----------
    kinds
        Kinds of difference of which it is the best: a key of `DIMENSIONS`, ``size``,
        ``spares`` or ``start``.
    differs
        Dimensions in which it differs at all.
    measured
        The plan, verified.
    changes
        What it gains and loses against the best plan.
    """

    kinds: tuple[str, ...]
    differs: tuple[str, ...]
    measured: Measured
    changes: tuple[Change, ...]

    def as_dict(self) -> dict[str, Any]:
        """The alternative as a row of the JSON contract."""
        gains = [change.as_dict() for change in self.changes if change.gain]
        losses = [change.as_dict() for change in self.changes if not change.gain]
        return {
            "kind": self.kinds[0],
            "kinds": self.kinds,
            "differs": self.differs,
            "gains": gains,
            "loses": losses,
            "plan": self.measured.plan.as_dict(),
        }


@dataclass(frozen=True)
class Nearest:
    """The nearest plan of a kind of which none is near enough.

    Parameters
    ----------
    kind
        A key of `DIMENSIONS`.
    found
        Whether there is a plan at all within the constraints.
    by
        How much more of the objective it takes, as a share; None: there is none, or
        the best plan takes nothing.
    """

    kind: str
    found: bool = False
    by: float | None = None


@dataclass(frozen=True)
class Choices:
    """The best plan and what else would do, best objective first.

    ``missing`` has the kinds without an alternative; None: time did not last to ask.
    """

    result: PlanResult
    within: float
    rows: tuple[Choice, ...] = ()
    missing: tuple[Nearest, ...] | None = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON contract's object."""
        missing = None
        if self.missing is not None:
            missing = [asdict(nearest) for nearest in self.missing]
        why = self.result.explanation
        return {
            "scenario": self.result.scenario,
            "status": self.result.status,
            "objective": self.result.objective,
            "within": self.within,
            "best": self.result.plan.as_dict() if self.result.plan else None,
            "reason": why.summary if why else None,
            "rows": [row.as_dict() for row in self.rows],
            "missing": missing,
        }


def alternatives(
    scenario: Scenario,
    catalog: Catalog,
    within: float,
    *,
    per_kind: int = 1,
    progress: Progress | None = None,
) -> Choices:
    """The best plan of each kind that differs from the best plan.

    Parameters
    ----------
    scenario, catalog
        The question and what is on offer. Its constraints hold for all.
    within
        How much more of the objective an alternative may take, as a share.
    per_kind
        Most alternatives of a kind, each with another value: other GPUs, sizes.
    progress
        Called with a label and the fraction done.
    """
    started = time.perf_counter()
    clock = Clock(scenario.limits.time_s)
    setting = setting_of(scenario, catalog)
    best = best_of(setting, max(within, TIES), clock.left_s, progress=progress)
    if best.is_cut_short:
        clock.stop()  # time is over, or the user has seen enough
    result = answer_of(setting, best, started, alternatives=0)
    if best.row is None or result.plan is None:
        return Choices(result, within)
    rows, empty = _chosen(setting, best, within, per_kind)
    chosen = _measured(setting, best.table, best.row)
    choices = tuple(
        _choice(setting, best, chosen, row, kinds) for row, kinds in rows.items()
    )
    return Choices(result, within, choices, _missing(setting, best, empty, clock))


def _chosen(
    setting: Setting, best: Best, within: float, per_kind: int
) -> tuple[dict[int, list[str]], list[str]]:
    """Rows to show with their kinds, best first; and dimensions that have none."""
    table, chosen = best.table, best.row
    if chosen is None:
        return {}, []
    values = objective_values(setting, table)
    near = values <= values[chosen] * (1.0 + max(within, TIES))
    kinds: dict[int, list[str]] = {}
    empty = []
    for kind, differs in differences(setting, table, chosen, ASKED):
        rows = best_first(setting, table, differs & near)
        shown = _distinct(kind, setting, table, rows)[:per_kind]
        for row in shown:
            kinds.setdefault(row, []).append(kind)
        if not shown and kind in DIMENSIONS:
            empty.append(kind)
    ordered = best_first(setting, table, np.isin(np.arange(len(table)), list(kinds)))
    return {int(row): kinds[int(row)] for row in ordered}, empty


def _distinct(
    kind: str, setting: Setting, table: CandidateTable, rows: IntArray
) -> list[int]:
    """The first row of each value of a kind, in order."""
    first: dict[Any, int] = {}
    for row in rows.tolist():
        first.setdefault(_value(kind, setting, table, row), row)
    return list(first.values())


def _value(kind: str, setting: Setting, table: CandidateTable, row: int) -> Any:
    """What a candidate has of a kind of difference."""
    option = setting.options[int(table.option[row])]
    if kind in DIMENSIONS:
        return DIMENSIONS[kind].label(option)
    if kind == "size":
        return int(table.layouts.nodes[row])
    return int(table.spares[row]) if kind == "spares" else option.start


def _measured(setting: Setting, table: CandidateTable, row: int) -> Measured:
    """The verified plan of a row, and what it does not state."""
    plan = build_plan(setting, table, row)
    certify(plan, setting)
    rate = float(setting.arrays.node_rate[int(table.option[row])])
    return Measured(plan, rate * (plan.rented_nodes - plan.spare_nodes) * MONTH_S)


def _choice(
    setting: Setting, best: Best, chosen: Measured, row: int, kinds: Sequence[str]
) -> Choice:
    """One alternative with all in which it differs."""
    table = best.table
    other = _measured(setting, table, row)
    differs = tuple(
        name
        for name in (*DIMENSIONS, "size")
        if _value(name, setting, table, row)
        != _value(name, setting, table, int(best.row or 0))
    )
    return Choice(tuple(kinds), differs, other, changes(other, chosen))


def _missing(
    setting: Setting, best: Best, kinds: Sequence[str], clock: Clock
) -> tuple[Nearest, ...] | None:
    """How far the nearest plan of each kind is that has none near enough."""
    table, row = best.table, int(best.row or 0)
    least = float(objective_values(setting, table)[row])
    found = []
    for kind in kinds:
        label = DIMENSIONS[kind].label
        mine = label(setting.options[int(table.option[row])])
        others = [i for i, o in enumerate(setting.options) if label(o) != mine]
        if not others:
            found.append(Nearest(kind))
            continue
        part = narrowed(setting, others)
        answer = search(part, limits_of(setting.scenario), 0.0, time_s=clock.left_s)
        if not answer.complete:
            return None
        if answer.table is None:
            found.append(Nearest(kind))
            continue
        value = float(objective_values(part, answer.table).min())
        by = value / least - 1.0 if least > 0 else None
        found.append(Nearest(kind, found=True, by=by))
    return tuple(found)

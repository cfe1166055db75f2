"""The exact trade-off of cost and time: plans that no other betters in both.

For every budget the soonest plan, and for every deadline the cheapest one, is a point
of the frontier. A third figure, such as free memory, may count as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.candidates import CandidateTable
from solver.frontier import Third, figures_of, search_frontier
from solver.performance.inputs import FloatArray, IntArray
from solver.plan import Explanation, Plan, Status
from solver.planning.build_plan import build_plan
from solver.planning.single_job import certify, floor_of
from solver.scenario.scenario import Objective
from solver.search import limits_of
from solver.setting import Setting, setting_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

Progress = Callable[[str, float], None]

LEAST_POINTS_FOR_A_KNEE = 3
"""With two points each is the best in something, and neither a compromise."""

SHARE_UNIT = 1e-6
"""Unit in which shares of memory are compared."""


@dataclass(frozen=True)
class Point:
    """One plan of the frontier.

    Parameters
    ----------
    plan
        The plan, verified.
    knee
        Whether it is the knee.
    usd_per_day_saved
        What the days that it saves against the next cheaper point cost each; None for
        the cheapest, and where a third figure counts.
    """

    plan: Plan
    knee: bool = False
    usd_per_day_saved: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The point as a row of the JSON contract."""
        return {
            "cost_usd": self.plan.cost_usd,
            "duration_days": self.plan.duration_days,
            "finish": self.plan.finish,
            "memory_headroom": self.plan.memory_headroom,
            "carbon_t": self.plan.carbon_t,
            "knee": self.knee,
            "usd_per_day_saved": self.usd_per_day_saved,
            "plan": self.plan.as_dict(),
        }


@dataclass(frozen=True)
class Frontier:
    """All points, cheapest first, or why there is none.

    ``status`` is ``optimal`` where all of the frontier was proved, ``feasible`` where
    the time limit came first: the points then are plans, and others may better them.
    """

    scenario: str
    status: Status
    points: tuple[Point, ...]
    third: Third | None
    wall_time_s: float
    explanation: Explanation | None = None
    deadline_days: float | None = None
    budget_usd: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The frontier as the JSON contract has it."""
        why = self.explanation
        return {
            "scenario": self.scenario,
            "status": self.status,
            "third": self.third,
            "wall_time_s": self.wall_time_s,
            "reason": why.summary if why else None,
            "rows": [point.as_dict() for point in self.points],
        }


def pareto(
    scenario: Scenario,
    catalog: Catalog,
    *,
    third: Third | None = None,
    progress: Progress | None = None,
) -> Frontier:
    """The frontier of a scenario, within its constraints.

    Parameters
    ----------
    scenario, catalog
        The question and what is on offer; the objective plays no part.
    third
        What counts beside cost and time; None: nothing.
    progress
        Called with a label and the fraction done.
    """
    started = time.perf_counter()
    # an objective of carbon would leave out offers whose grid is not known
    free = replace(scenario, objective=Objective("cost"))
    setting = setting_of(free, catalog)
    limits = scenario.limits.time_s
    found = search_frontier(setting, limits_of(scenario), third, progress, limits)
    rows = np.empty(0, dtype=np.int64)
    if found.table is not None:
        rows = frontier_rows(setting, found.table, third)
    if found.table is None or not len(rows):
        return _none(setting, third, started, complete=found.complete)
    points = _points(setting, found.table, rows, third, progress)
    return Frontier(
        scenario=scenario.name,
        status="optimal" if found.complete else "feasible",
        points=points,
        third=third,
        wall_time_s=time.perf_counter() - started,
        deadline_days=_days(scenario.constraints.deadline_s),
        budget_usd=scenario.constraints.budget_usd,
    )


def _days(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 86_400


def _none(
    setting: Setting, third: Third | None, started: float, *, complete: bool
) -> Frontier:
    """No point: proved and explained, or for want of time."""
    explanation = None
    if complete:
        from solver.planning.infeasibility import explain

        explanation = explain(setting)
    return Frontier(
        scenario=setting.scenario.name,
        status="infeasible" if complete else "unknown",
        points=(),
        third=third,
        wall_time_s=time.perf_counter() - started,
        explanation=explanation,
    )


def frontier_rows(
    setting: Setting, table: CandidateTable, third: Third | None
) -> IntArray:
    """Rows of the frontier, cheapest first, told apart as CP-SAT tells them.

    The integers of the decision model are compared, so that each point is what the
    model chooses under its cost as budget; of equals the canonical one stays.
    """
    from solver.cpsat.prune import undominated
    from solver.cpsat.reduce import feasible_rows
    from solver.cpsat.scaling import scale_up
    from solver.planning import model_table

    scale = model_table.scale_of(setting, floor_of(setting), table)
    whole = model_table.job_table(setting, table, scale)
    names = ["cost", "duration"] if third is None else ["cost", "duration", third]
    if third == "memory_headroom":  # what is used of the card, as less is better
        used = scale_up(figures_of(setting, table, third)[:, 2], SHARE_UNIT)
        whole = replace(whole, quantities={**whole.quantities, third: used})
    requirements = model_table.requirements_of(setting.scenario, setting, scale, whole)
    allowed = feasible_rows(whole, requirements)
    kept = allowed[undominated(whole.take(allowed), (), names)]
    keys = [whole.quantity(name)[kept] for name in reversed(names)]
    return np.asarray(kept[np.lexsort(keys)], dtype=np.int64)


def _points(
    setting: Setting,
    table: CandidateTable,
    rows: IntArray,
    third: Third | None,
    progress: Progress | None,
) -> tuple[Point, ...]:
    """A verified plan for each row."""
    figures = figures_of(setting, table.take(rows), third)
    knee, saved = knee_of(figures), usd_per_day_saved(figures)
    points = []
    for place, row in enumerate(rows):
        if progress is not None:
            progress("plans", place / len(rows))
        plan = build_plan(setting, table, int(row))
        certify(plan, setting)
        price = None if third is not None or not place else float(saved[place - 1])
        points.append(Point(plan, place == knee, price))
    return tuple(points)


def usd_per_day_saved(figures: FloatArray) -> FloatArray:
    """Dollars for each day saved from each point to the next dearer one, (n - 1,)."""
    change = np.diff(figures[:, :2], axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(change[:, 0] / (-change[:, 1] / 86_400))


def knee_of(figures: FloatArray) -> int | None:
    """The point of the best compromise; None where there is none.

    Parameters
    ----------
    figures
        What counts of each point, less is better, (n, k).

    Notes
    -----
    Each figure is scaled to 0 at its best and 1 at its worst on the frontier. The knee
    has the least sum. Of two figures that is the point farthest below the straight line
    between the two ends, as in V. Satopää et al., "Finding a 'Kneedle' in a Haystack"
    (2011). Only a point better than a mix of the ends counts.
    """
    span = np.ptp(figures, axis=0)
    counts = span > 0
    if len(figures) < LEAST_POINTS_FOR_A_KNEE or int(counts.sum()) < 2:
        return None
    scaled = (figures - figures.min(axis=0))[:, counts] / span[counts]
    total = scaled.sum(axis=1)
    ends = [total[int(np.argmin(column))] for column in scaled.T]
    knee = int(np.argmin(total))
    return knee if total[knee] < min(ends) - 1e-9 else None

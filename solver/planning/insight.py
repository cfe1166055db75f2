"""What stands in a scenario's way, or what holds its plan back: ``gpuplan explain``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solver.interruption import is_asked
from solver.plan import PlanResult
from solver.planning.break_even import BreakEven, break_even
from solver.planning.clock import Clock
from solver.planning.gains import Reached, lifted, stepped
from solver.planning.single_job import SLACK, answer_of, best_of
from solver.setting import setting_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

__all__ = ["Insight", "explain_job"]

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Insight:
    """An answer, and why it is this one.

    ``result`` has the explanation where there is no plan; the rest is then empty.
    """

    result: PlanResult
    requirements: tuple[dict[str, Any], ...] = ()
    """Each requirement in force: whether it binds, and what leaving it out gains."""
    steps: tuple[dict[str, Any], ...] = ()
    """One step more of a number, where it gains."""
    prices: tuple[BreakEven, ...] = ()
    """At which price each losing offer wins, nearest first."""
    complete: bool = True
    """Whether there was time for all of it."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON contract's object: that of a solve, and the reasons."""
        return {
            **self.result.as_dict(),
            "requirements": list(self.requirements),
            "steps": list(self.steps),
            "break_even": [price.as_dict() for price in self.prices],
            "complete": self.complete,
        }


def explain_job(
    scenario: Scenario, catalog: Catalog, *, progress: Progress | None = None
) -> Insight:
    """Why a scenario has no plan, or why its plan is the one it is.

    It takes twice the time limit at most: once for the plan, once for the reasons.

    Parameters
    ----------
    scenario, catalog
        The question and what is on offer.
    progress
        Called with a label and the fraction done.
    """
    started = time.perf_counter()
    setting = setting_of(scenario, catalog)
    best = best_of(setting, SLACK, scenario.limits.time_s, progress=progress)
    result = answer_of(setting, best, started)
    if result.status != "optimal" or best.row is None:
        whole = result.status == "infeasible" and not is_asked()
        return Insight(result, complete=whole)
    tell = progress or (lambda _label, _fraction: None)
    clock = Clock(scenario.limits.time_s)
    reached = Reached(setting, best.table, best.row)
    requirements = lifted(reached, clock, lambda part: tell("requirements", part))
    found = tuple(requirements)
    steps = tuple(stepped(reached, clock, lambda part: tell("steps", part)))
    prices = break_even(reached, clock, lambda part: tell("prices", part))
    return Insight(result, found, steps, tuple(prices), not clock.is_over)

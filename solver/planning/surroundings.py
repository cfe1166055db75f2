"""What surrounds a plan: the trade-off that it lies on, and its GPU elsewhere.

Both are questions of their own, asked after the plan is there and within a time of
their own, so that a page about a plan can show more than the one point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from solver.planning.comparing import Comparison, compare
from solver.planning.pareto import Frontier, pareto

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.plan import Plan
    from solver.scenario.scenario import Scenario

__all__ = ["MOST_SECONDS", "Surroundings", "surroundings"]

MOST_SECONDS = 20.0
"""Time for each of both questions; less where the scenario's limit is less."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The frontier of the scenario, and its plan's GPU in one region at a time."""

    frontier: Frontier
    regions: Comparison


def surroundings(
    scenario: Scenario,
    catalog: Catalog,
    plan: Plan,
    progress: Callable[[str, float], None] | None = None,
) -> Surroundings:
    """Ask for what surrounds the plan of a scenario of one job.

    ``progress`` is called with a label and the fraction done.
    """
    limits = replace(scenario.limits, time_s=min(scenario.limits.time_s, MOST_SECONDS))
    asked = replace(scenario, limits=limits)
    same_gpu = replace(asked.constraints, gpu_types=(plan.gpu,))
    return Surroundings(
        pareto(asked, catalog, progress=progress),
        compare(
            replace(asked, constraints=same_gpu),
            catalog,
            "region",
            progress=progress,
        ),
    )

"""An answer that is about to be acted on: its plans, and every figure behind them.

The figures are the verifier's, in plain arithmetic from the plan's decisions; a plan
that was solved agrees with them, or it would not have been shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from solver.acting.plan_file import PlannedJob
from solver.errors import InputError, Issue
from solver.verify.chain import ChainFigures
from solver.verify.evidence import Evidence, gather
from solver.verify.figures import Figures

if TYPE_CHECKING:
    from solver.acting.plan_file import PlanFile
    from solver.catalog.load import Catalog
    from solver.plan import Lease, Move, Plan, PlanResult
    from solver.scenario.scenario import Scenario

__all__ = ["Acting", "acting_on_file", "acting_on_result", "figures_of"]


@dataclass(frozen=True)
class Acting:
    """A plan, or a chain of them, with what was asked.

    ``leases`` and ``moves`` are empty for a single job; ``file`` is what the plan was
    read from, empty for one just made.
    """

    scenario: Scenario
    catalog: Catalog
    jobs: tuple[PlannedJob, ...]
    leases: tuple[Lease, ...]
    moves: tuple[Move, ...]
    file: str = ""

    @property
    def day(self) -> date:
        """Day 0."""
        return self.scenario.start_date

    def date_of(self, day: float) -> date:
        """The date on which so many days from day 0 have passed."""
        return self.day + timedelta(days=day)

    @cached_property
    def figures(self) -> tuple[Figures, ...]:
        """Figures of each job, from the plan's decisions.

        Raises
        ------
        InputError
            The catalog no longer has what a plan chose.
        """
        return tuple(
            figures_of(job.plan, job.scenario, self.catalog) for job in self.jobs
        )

    @cached_property
    def chain(self) -> ChainFigures | None:
        """Figures of all phases together; None for a single job."""
        if not self.leases:
            return None
        sizes = tuple(len(lease.phases) for lease in self.leases)
        return ChainFigures(self.scenario, self.figures, sizes)

    @property
    def duration_days(self) -> float:
        """Expected days from day 0 to the end of everything."""
        if not self.leases:
            return self.jobs[0].plan.duration_days
        return max(lease.end_day for lease in self.leases)


def acting_on_file(file: PlanFile) -> Acting:
    """The plan of a file."""
    return Acting(
        file.scenario, file.catalog, file.jobs, file.leases, file.moves, file.name
    )


def acting_on_result(
    result: PlanResult, scenario: Scenario, catalog: Catalog
) -> Acting | None:
    """The plan of an answer; None where it has none."""
    if result.plan is not None:
        plan = result.plan
        alone = PlannedJob("", plan, scenario, 0.0, plan.duration_days)
        return Acting(scenario, catalog, (alone,), (), ())
    if not result.phases:
        return None
    jobs = tuple(
        PlannedJob(one.name, one.plan, asked.scenario, one.start_day, one.end_day)
        for one, asked in zip(result.phases, scenario.phases, strict=True)
    )
    return Acting(scenario, catalog, jobs, result.leases, result.moves)


def figures_of(plan: Plan, scenario: Scenario, catalog: Catalog) -> Figures:
    """Every figure of a plan.

    Raises
    ------
    InputError
        The catalog no longer has what the plan chose, or the run would never end.
    """
    evidence = gather(plan, scenario, catalog)
    if isinstance(evidence, Evidence):
        figures = Figures(evidence)
        if math.isfinite(figures.active_s):
            return figures
        message = "at the failure rate that the plan was asked with it would never end"
        raise InputError([Issue("plan-outdated", message)])
    told = "; ".join(f"{v.message}: {v.got}" for v in evidence)
    message = f"the catalog no longer has what the plan chose ({told}): solve again"
    raise InputError([Issue("plan-outdated", message)])

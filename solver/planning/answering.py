"""Answer a scenario, be it of one job or of several phases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from solver.acting.basis import acting_on_result
from solver.acting.request import request_of
from solver.acting.route import route_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.plan import PlanResult
    from solver.scenario.scenario import Scenario


def answer(
    scenario: Scenario,
    catalog: Catalog,
    *,
    export_model: Path | None = None,
    log: Callable[[str], None] | None = None,
    progress: Callable[[str, float], None] | None = None,
    alternatives: int = 5,
) -> PlanResult:
    """The best plan, or the best chain of plans, or why there is none.

    The parameters are those of `solver.planning.single_job.plan_job`; phases have no
    runners-up.
    """
    if not scenario.phases:
        from solver.planning.single_job import plan_job

        result = plan_job(
            scenario,
            catalog,
            export_model=export_model,
            log=log,
            progress=progress,
            alternatives=alternatives,
        )
    else:
        from solver.planning.phases import plan_phases

        result = plan_phases(
            scenario, catalog, export_model=export_model, log=log, progress=progress
        )
    acting = acting_on_result(result, scenario, catalog)
    return replace(
        result,
        request=asdict(request_of(scenario, catalog)),
        route=None if acting is None else route_of(acting).as_dict(),
    )

"""Time the stages of one solve in this process, from the first import to the report."""

import json
import resource
import sys
from importlib import import_module

from solver.planning.stopwatch import Stopwatch

IMPORTS = (
    "solver.cli.app",
    "solver.catalog.load",
    "solver.scenario.load",
    "solver.planning.single_job",
    "solver.report.answer_rows",
    "solver.report.as_table",
)
"""What a solve needs before it looks at anything, without the optimiser."""


def time_stages(scenario_name: str) -> dict[str, object]:
    """Return the seconds of each stage, the peak memory and the answer's status."""
    stopwatch = Stopwatch()
    with stopwatch.measure("import"):
        for name in IMPORTS:
            import_module(name)
    from solver.catalog.load import load_catalog
    from solver.planning.single_job import plan_job
    from solver.report.answer_rows import page
    from solver.report.as_table import render
    from solver.scenario.load import load_scenario

    with stopwatch.measure("catalog load"):
        catalog = load_catalog()
    with stopwatch.measure("scenario load"):
        scenario = load_scenario(scenario_name, catalog)
    result = plan_job(scenario, catalog, stopwatch=stopwatch)
    with stopwatch.measure("report"):
        render(page(result))
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": stopwatch.seconds,
        "megabytes": peak_kib * 1024 / 1e6,
        "status": result.status,
        "cost_usd": result.plan.cost_usd if result.plan else None,
        "duration_days": result.plan.duration_days if result.plan else None,
    }


if __name__ == "__main__":
    print(json.dumps(time_stages(sys.argv[1])))

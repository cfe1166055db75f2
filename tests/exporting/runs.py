"""Runs to write: the plans of all shipped scenarios, and made-up layouts.

The plans were made once and are kept in a file, so that these tests solve nothing; any
plan will do, also one that is no longer the best. ``python -m tests.exporting.runs``
writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from solver.acting.plan_file import PlannedJob
from solver.exporting.run import Run, run_of
from solver.plan import LayoutPlan, Plan
from solver.planning.answering import answer
from solver.scenario.gallery import shipped_names
from solver.scenario.load import load_scenario
from solver.scenario.scenario import Scenario
from tests.planning.jobs import catalog

PLANS = Path(__file__).with_name("data") / "shipped_plans.json"
DAY_0 = date(2026, 12, 1)


@cache
def shipped_plans() -> dict[str, Plan]:
    """Scenario, or scenario and phase with a colon between, to its plan."""
    data = json.loads(PLANS.read_text(encoding="utf-8"))
    return {name: Plan.from_dict(plan) for name, plan in data.items()}


@cache
def shipped_run(name: str) -> Run:
    """The run of a shipped plan."""
    scenario, _, phase = name.partition(":")
    asked = load_scenario(scenario, catalog(), (), DAY_0)
    plan = shipped_plans()[name]
    job = PlannedJob(phase, plan, _phase(asked, phase), 0.0, plan.duration_days)
    return run_of(job, catalog())


def _phase(asked: Scenario, name: str) -> Scenario:
    """A phase of a scenario, or the scenario itself."""
    return next((p.scenario for p in asked.phases if p.name == name), asked)


def laid_out(run: Run, model: dict[str, Any] | None = None, **layout: Any) -> Run:
    """A run with another layout that keeps layers, GPUs and batch, on nodes of one GPU.

    ``model`` changes sizes of the architecture; what of ``layout`` follows from the
    rest need not be given.
    """
    architecture = run.architecture.model_copy(update=model or {})
    new = replace(run.layout, **layout)
    if "layers_per_stage" not in layout:
        new = replace(new, layers_per_stage=(architecture.layers // new.pp,) * new.pp)
    new = replace(new, global_batch_size=new.micro_batch * new.accumulation * new.dp)
    gpus = new.tp * new.pp * new.cp * new.dp
    plan = replace(run.plan, layout=new, nodes=gpus, gpus=gpus, gpus_per_node=1)
    return replace(run, plan=plan, architecture=architecture)


def worked(run: Run, **workload: Any) -> Run:
    """A run with another workload."""
    return replace(run, workload=replace(run.workload, **workload))


def layout_of(run: Run, **changes: Any) -> Run:
    """A run with fields of its layout changed and nothing made to fit."""
    layout: LayoutPlan = replace(run.layout, **changes)
    return replace(run, plan=replace(run.plan, layout=layout))


def _solved() -> Iterator[tuple[str, dict[str, Any]]]:
    """Solve every shipped scenario; yield its plans without sentences and sources."""
    for name in shipped_names():
        result = answer(load_scenario(name, catalog(), (), DAY_0), catalog())
        jobs = {f"{name}:{phase.name}": phase.plan for phase in result.phases}
        if result.plan is not None and not jobs:
            jobs = {name: result.plan}
        for key, plan in jobs.items():
            yield key, replace(plan, warnings=(), provenance={}).as_dict()


if __name__ == "__main__":
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in _solved()]
    PLANS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

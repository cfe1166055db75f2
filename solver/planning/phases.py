"""Answer a scenario of several phases: one chain of leases, proved and verified.

phases -> candidates of each -> leases over ranges of phases -> priced and pruned ->
CP-SAT -> a plan a phase -> verification.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from solver.errors import InternalError
from solver.plan import Explanation, PlanResult, Proof, Status
from solver.planning.phase_answer import Answer, answer_of
from solver.planning.phase_paths import joined
from solver.planning.phase_search import PhaseSearch
from solver.planning.phase_solve import Solved, searched, solve_chain
from solver.planning.single_job import versions
from solver.planning.stopwatch import Stopwatch
from solver.units import DAY

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

Progress = Callable[[str, float], None]


def plan_phases(
    scenario: Scenario,
    catalog: Catalog,
    *,
    export_model: Path | None = None,
    log: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    stopwatch: Stopwatch | None = None,
) -> PlanResult:
    """The best chain of plans for the phases of ``scenario``, or why there is none.

    The parameters are those of `solver.planning.single_job.plan_job`.

    Raises
    ------
    InternalError
        If the answer fails its own verification, or two ways to its bound disagree.
    """
    started = time.perf_counter()
    stopwatch = stopwatch or Stopwatch()
    with stopwatch.measure("options"):
        found = searched(scenario, catalog, progress)
    with stopwatch.measure("candidates"):
        bounds = found.run() if found.lost is None else None
    solved = None
    if bounds is not None:
        solved = solve_chain(found, bounds, stopwatch, export_model, log)
    if solved is None or solved.chosen is None:
        return _without_plan(found, solved, started, stopwatch)
    with stopwatch.measure("plan"):
        answer = answer_of(solved.chosen)
    with stopwatch.measure("verify"):
        certify(answer, found)
    status: Status = "feasible"
    if found.complete and solved.outcome is not None:
        status = solved.outcome.status
    proof = _proof(found, solved, started)
    return _result(scenario, status, proof, answer)


def certify(answer: Answer, found: PhaseSearch) -> None:
    """Verify each phase's plan and the joined figures.

    Raises
    ------
    InternalError
        If anything does not follow from the decisions.
    """
    from solver.verify.chain import verify_chain

    violations = verify_chain(
        answer.phases, answer.leases, answer.moves, answer.total, found.scenario,
        found.settings[0].catalog,
    )  # fmt: skip
    if violations:
        text = "; ".join(
            f"{v.rule}: {v.message} ({v.expected}, {v.got})" for v in violations
        )
        raise InternalError(f"the phases fail their own verification: {text}")


def _proof(found: PhaseSearch, solved: Solved | None, started: float) -> Proof:
    """How the chain is known; layouts are those of each phase's last search."""
    scale = DAY if found.scenario.objective.kind == "time" else 1.0
    bound = gap = None
    if solved is not None and solved.chosen is not None and solved.outcome is not None:
        total = joined(solved.chosen.leases, solved.chosen.chain, found.moves)
        value = total.value(found.goal)
        if found.complete and solved.outcome.bound is not None:
            bound, gap = solved.outcome.bound * solved.unit, solved.outcome.gap
        else:
            bound = max(found.bound, 0.0)
            gap = (value - min(bound, value)) / value if value > 0 else 0.0
        bound = min(bound, value) / scale
    kinds = [
        max(s.space.kinds, key=lambda k: k[0]) for s in found.settings if s.classes
    ]
    lattice = {
        phase.name: setting.space.describe(kind)
        for phase, setting, kind in zip(
            found.scenario.phases, found.settings, kinds, strict=False
        )
    }
    return Proof(
        bound=bound,
        gap=gap,
        candidates=solved.leases if solved else 0,
        pruned=solved.pruned if solved else 0,
        wall_time_s=time.perf_counter() - started,
        lattice=lattice,
        layouts=sum(stats.layouts for stats in found.stats),
        layouts_out_of_memory=sum(stats.out_of_memory for stats in found.stats),
        layouts_bounded=sum(stats.bounded for stats in found.stats),
    )


def _without_plan(
    found: PhaseSearch, solved: Solved | None, started: float, stopwatch: Stopwatch
) -> PlanResult:
    """Why there is no chain, or that the time was over."""
    proof = _proof(found, solved, started)
    infeasible = found.complete and (
        solved is None
        or solved.outcome is None
        or solved.outcome.status == "infeasible"
    )
    if not infeasible:
        return _result(found.scenario, "unknown", proof)
    from solver.planning.phase_explanation import explain_phases

    with stopwatch.measure("explain"):
        explanation = explain_phases(found)
    return _result(found.scenario, "infeasible", proof, None, explanation)


def _result(
    scenario: Scenario,
    status: Status,
    proof: Proof,
    answer: Answer | None = None,
    explanation: Explanation | None = None,
) -> PlanResult:
    return PlanResult(
        status=status,
        objective=scenario.objective.kind,
        plan=None,
        alternatives=(),
        proof=proof,
        explanation=explanation,
        versions=versions(),
        scenario=scenario.name,
        phases=answer.phases if answer else (),
        leases=answer.leases if answer else (),
        moves=answer.moves if answer else (),
        total=answer.total if answer else None,
        warnings=answer.warnings if answer else (),
    )

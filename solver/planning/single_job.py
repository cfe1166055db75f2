"""Answer one scenario: the pipeline from files to a proved, verified plan.

scenario + catalog -> options -> layouts -> memory and time -> candidates -> CP-SAT ->
plan -> verification.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solver import __version__
from solver.candidates import CandidateTable, objective_values
from solver.errors import InternalError
from solver.objective import SHOWN, Spent
from solver.plan import Alternative, Explanation, Plan, PlanResult, Proof, Status
from solver.planning.build_plan import build_plan
from solver.planning.buying import with_break_even
from solver.planning.runners_up import runners_up
from solver.planning.stopwatch import Stopwatch
from solver.search import SearchResult, ideal_bounds, ideal_spent, limits_of, search
from solver.setting import Setting, setting_of
from solver.verify import verify

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.cpsat.outcome import Progress as SolveProgress
    from solver.cpsat.outcome import ProgressCallback, SolveOutcome
    from solver.cpsat.table import JobTable, Objective, Requirement, SolveLimits
    from solver.planning.model_table import Scale
    from solver.scenario.scenario import Scenario

SLACK = 0.25
"""Candidates within 25 % of the best are kept as possible runners-up."""

LEAST_SOLVE_S = 1.0
"""CP-SAT gets this long at least: it takes a hundredth of it, the search the rest."""

PRACTICAL_TIE = 0.05
"""At most this relative difference is never told apart by measurements."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Chosen:
    """What CP-SAT decided about a candidate table."""

    outcome: SolveOutcome
    row: int | None
    scale: Scale
    pruned: int


@dataclass(frozen=True)
class Best:
    """What the search of a setting found, and what CP-SAT chose of it."""

    status: Status
    found: SearchResult
    chosen: Chosen | None = None

    @property
    def row(self) -> int | None:
        """The chosen candidate's row in ``table``; None: there is none."""
        return None if self.chosen is None else self.chosen.row

    @property
    def is_cut_short(self) -> bool:
        """Whether the time limit, or Ctrl-C, came before the end."""
        interrupted = self.chosen is not None and self.chosen.outcome.interrupted
        return interrupted or not self.found.complete

    @property
    def table(self) -> CandidateTable:
        """The candidates, of which there are some where one is chosen."""
        if self.found.table is None:
            raise InternalError("a search that found nothing has no candidates")
        return self.found.table


def plan_job(
    scenario: Scenario,
    catalog: Catalog,
    *,
    export_model: Path | None = None,
    log: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    alternatives: int = 5,
    stopwatch: Stopwatch | None = None,
) -> PlanResult:
    """The best plan for ``scenario``, proved, or why there is none.

    Parameters
    ----------
    scenario, catalog
        The question and what is on offer.
    export_model
        Write the CP-SAT model there, as text.
    log
        Receives lines of CP-SAT's progress.
    progress
        Called with a label and the fraction done.
    alternatives
        Most runners-up to report.
    stopwatch
        Records how long each stage takes.

    Raises
    ------
    InternalError
        If the plan fails its own verification, or two ways to the optimum disagree.
    """
    started = time.perf_counter()
    stopwatch = stopwatch or Stopwatch()
    with stopwatch.measure("options"):
        setting = setting_of(scenario, catalog)
    best = best_of(
        setting,
        SLACK,
        scenario.limits.time_s,
        progress=progress,
        stopwatch=stopwatch,
        export_model=export_model,
        log=log,
    )
    return answer_of(
        setting, best, started, alternatives=alternatives, stopwatch=stopwatch
    )


def answer_of(
    setting: Setting,
    best: Best,
    started: float,
    *,
    alternatives: int = 5,
    stopwatch: Stopwatch | None = None,
) -> PlanResult:
    """The answer to a setting from its best candidate: a verified plan, or why not.

    ``started`` is the clock (time.perf_counter) at which the work began; the rest is as
    for `plan_job`.
    """
    stopwatch = stopwatch or Stopwatch()
    if best.status == "infeasible":
        return _no_plan(setting, best.found, started, stopwatch)
    if best.row is None:
        proof = _proof(setting, best.found, best.chosen, started)
        return _result(setting, best.status, None, (), proof, None)
    with stopwatch.measure("plan"):
        plan = build_plan(setting, best.table, best.row)
        others = runners_up(setting, best.table, best.row, plan, alternatives)
        plan, others = with_break_even(setting, plan, others)
    with stopwatch.measure("verify"):
        certify(plan, setting)
    proof = _proof(setting, best.found, best.chosen, started)
    return _result(setting, best.status, plan, others, proof, None)


def best_of(
    setting: Setting,
    slack: float,
    time_s: float,
    *,
    progress: Progress | None = None,
    stopwatch: Stopwatch | None = None,
    export_model: Path | None = None,
    log: Callable[[str], None] | None = None,
) -> Best:
    """The best candidate of ``setting``: an exact search, then CP-SAT's choice.

    Parameters
    ----------
    setting
        The question joined with its catalog, or a part of it.
    slack
        Candidates within this share of the best objective are kept.
    time_s
        Seconds that both may take.
    progress, stopwatch, export_model, log
        As for `plan_job`.
    """
    started, stopwatch = time.perf_counter(), stopwatch or Stopwatch()
    with stopwatch.measure("candidates"):
        found = search(setting, limits_of(setting.scenario), slack, progress, time_s)
    if found.table is None:
        return Best("infeasible" if found.complete else "unknown", found)
    left_s = time_s - (time.perf_counter() - started)
    chosen = choose(setting, found.table, stopwatch, export_model, log, left_s)
    if chosen.row is None:
        proved = chosen.outcome.status == "infeasible" and found.complete
        return Best("infeasible" if proved else "unknown", found, chosen)
    status = chosen.outcome.status if found.complete else "feasible"
    return Best(status, found, chosen)


def choose(
    setting: Setting,
    table: CandidateTable,
    stopwatch: Stopwatch,
    export_model: Path | None = None,
    log: Callable[[str], None] | None = None,
    left_s: float | None = None,
) -> Chosen:
    """Let CP-SAT choose among the candidates and check it by reduction.

    ``left_s`` are the seconds left for it; None: all of the scenario's time limit.
    """
    with stopwatch.measure("import ortools"):
        from solver.cpsat.problem import PlacementProblem
        from solver.cpsat.prune import undominated
        from solver.cpsat.reduce import best_row_by_reduction
        from solver.planning import model_table
    scenario = setting.scenario
    with stopwatch.measure("model build"):
        scale = model_table.scale_of(setting, floor_of(setting), table)
        whole = model_table.job_table(setting, table, scale)
        requirements = model_table.requirements_of(scenario, setting, scale, whole)
        levels = model_table.objective_levels(scenario)
        spent = [term.quantity for level in levels for term in level]
        kept = undominated(whole, requirements, spent)
        pruned = whole.take(kept)
        best = best_row_by_reduction(pruned, requirements, levels)
        problem = PlacementProblem(
            [pruned], requirements, levels, hint=None if best is None else [best]
        )
    if export_model is not None:
        _export(export_model, whole, requirements, levels, scenario)
    with stopwatch.measure("solve"):
        outcome = problem.solve(solve_limits(scenario, left_s), solver_log(log))
    row = outcome.rows[0] if outcome.rows else best
    if outcome.ties_proved and row != best:
        raise InternalError("CP-SAT and the reduction choose different candidates")
    if outcome.status == "unknown" and best is not None:
        outcome = replace(outcome, status="feasible")
    if outcome.status == "infeasible" and best is not None:
        raise InternalError("CP-SAT finds no plan where the reduction has one")
    chosen = None if row is None else int(kept[row])
    return Chosen(outcome, chosen, scale, len(table) - len(kept))


def floor_of(setting: Setting) -> Spent:
    """What catalog and job allow to spend at least, whatever the limits, (1,) each."""
    bounds = [ideal_spent(setting, group) for group in setting.classes]
    return Spent(
        cost_usd=np.array([min(float(b.cost_usd[0]) for b in bounds)]),
        duration_s=np.array(
            [min(ideal_bounds(setting, g)[1] for g in setting.classes)]
        ),
        energy_kwh=np.array([min(float(b.energy_kwh[0]) for b in bounds)]),
        carbon_kg=np.array([min(float(b.carbon_kg[0]) for b in bounds)]),
    )


def solve_limits(scenario: Scenario, left_s: float | None) -> SolveLimits:
    """The user's limits, with the time that the search left."""
    from solver.cpsat.table import SolveLimits

    limits = scenario.limits
    return SolveLimits(
        time_s=max(limits.time_s if left_s is None else left_s, LEAST_SOLVE_S),
        gap=limits.gap,
        workers=limits.workers,
        seed=limits.seed,
    )


def solver_log(log: Callable[[str], None] | None) -> ProgressCallback | None:
    """CP-SAT's progress as lines of text."""
    if log is None:
        return None

    def show(p: SolveProgress) -> None:
        log(f"level {p.level + 1}: best {p.best}, bound {p.bound}, gap {p.gap:.3%}")

    return show


def _export(
    path: Path,
    whole: JobTable,
    requirements: tuple[Requirement, ...],
    levels: Objective,
    scenario: Scenario,
) -> None:
    """Write the model of all candidates, and what it may be asked."""
    from solver.cpsat.problem import PlacementProblem
    from solver.cpsat.table import DECISION_CATEGORIES, DECISION_QUANTITIES

    header = [
        f"gpuplan model of scenario '{scenario.name}', objective "
        f"{', '.join(scenario.objective.levels)}.",
        "Candidates are not pruned by dominance. Left out are layouts that do not",
        f"fit in memory, those whose lower bound is over {SLACK:.0%} above the best",
        "plan, and those beyond the stated limits: the model may be asked for tighter",
        "limits and smaller sets, not for looser ones.",
    ]
    names = (*DECISION_QUANTITIES, *DECISION_CATEGORIES)
    problem = PlacementProblem([whole], requirements, levels, channels=names)
    problem.export(path, header)


def certify(plan: Plan, setting: Setting) -> None:
    """Verify a plan of ``setting``.

    Raises
    ------
    InternalError
        It breaks a rule, or a figure of it is not what its decisions give.
    """
    violations = verify(plan, setting.scenario, setting.catalog)
    if violations:
        text = "; ".join(f"{v.rule}: {v.message}" for v in violations)
        raise InternalError(f"the plan fails its own verification: {text}")


def _proof(
    setting: Setting, found: SearchResult, chosen: Chosen | None, started: float
) -> Proof:
    stats, bound, gap, ties, kind = found.stats, None, None, 0, None
    if chosen is not None and chosen.row is not None and found.table is not None:
        values = objective_values(setting, found.table)
        best = float(values[chosen.row])
        ties = int(np.sum(values <= best * (1.0 + PRACTICAL_TIE))) - 1
        kind = setting.classes[int(found.table.group[chosen.row])].node_kind
        bound, gap = _bound_and_gap(setting, found, chosen, best)
    return Proof(
        bound=bound,
        gap=gap,
        candidates=stats.candidates,
        pruned=chosen.pruned if chosen else 0,
        wall_time_s=time.perf_counter() - started,
        lattice=setting.space.describe(kind),
        layouts=stats.layouts,
        layouts_out_of_memory=stats.out_of_memory,
        layouts_bounded=stats.bounded,
        within_error=max(ties, 0),
        unit=SHOWN[setting.scenario.objective.kind][0],
    )


def _bound_and_gap(
    setting: Setting, found: SearchResult, chosen: Chosen, best: float
) -> tuple[float | None, float | None]:
    """Proved bound in the unit of the first level, and the gap of the plan to it."""
    kind, outcome = setting.scenario.objective.kind, chosen.outcome
    _, scale = SHOWN[kind]
    if not found.complete:
        bound = min(found.bound, best)
        return bound / scale, (best - bound) / best if best > 0 else 0.0
    if outcome.bound is None:
        return None, outcome.gap
    unit = chosen.scale.of(kind)
    # integers are rounded up: the bound in figures is that of the true value
    return min(best, outcome.bound * unit) / scale, outcome.gap


def _no_plan(
    setting: Setting, found: SearchResult, started: float, stopwatch: Stopwatch
) -> PlanResult:
    from solver.planning.infeasibility import explain

    with stopwatch.measure("explain"):
        explanation = explain(setting)
    proof = _proof(setting, found, None, started)
    return _result(setting, "infeasible", None, (), proof, explanation)


def _result(
    setting: Setting,
    status: Status,
    plan: Plan | None,
    alternatives: tuple[Alternative, ...],
    proof: Proof,
    explanation: Explanation | None,
) -> PlanResult:
    return PlanResult(
        status=status,
        objective=setting.scenario.objective.kind,
        objective_levels=setting.scenario.objective.levels,
        plan=plan,
        alternatives=alternatives,
        proof=proof,
        explanation=explanation,
        versions=versions(),
        scenario=setting.scenario.name,
    )


def versions() -> dict[str, str]:
    """Versions of all that an answer depends on."""
    import pydantic

    from solver.cpsat import ortools_version

    return {
        "python": platform.python_version(),
        "gpuplan": __version__,
        "ortools": ortools_version(),
        "numpy": np.__version__,
        "pydantic": pydantic.VERSION,
    }

"""Let CP-SAT choose a chain of leases, and hold it against the bounds known."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solver.errors import InternalError
from solver.planning.phase_answer import Chosen
from solver.planning.phase_paths import ROUNDING, Bounds, joined
from solver.planning.phase_search import PhaseSearch, goal_of, shared_limits
from solver.planning.single_job import floor_of, solve_limits, solver_log
from solver.planning.stopwatch import Stopwatch
from solver.setting import rented_alone, setting_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.cpsat.outcome import SolveOutcome
    from solver.layout_space import LatticeStore
    from solver.leases import LeaseTable, PhaseRows
    from solver.planning.phase_model import PhaseProblem
    from solver.scenario.scenario import Scenario

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Solved:
    """What CP-SAT made of the leases that were left."""

    chosen: Chosen | None
    outcome: SolveOutcome | None
    unit: float
    """Of the first level's integers, dollars or seconds."""
    pruned: int
    leases: int


def searched(
    scenario: Scenario,
    catalog: Catalog,
    progress: Progress | None = None,
    *,
    stores: Sequence[LatticeStore] | None = None,
    held: bool = False,
    end: float | None = None,
) -> PhaseSearch:
    """The phases joined with the catalog, not searched yet.

    Parameters
    ----------
    scenario, catalog, progress
        As for `plan_phases`.
    stores
        Lattices of each phase to be shared.
    held
        Minimise what limits are held against, not the expectation.
    end
        Clock (time.monotonic) at which the search stops; by default the time limit.
    """
    settings = tuple(
        rented_alone(setting_of(phase.scenario, catalog, stores[p] if stores else None))
        for p, phase in enumerate(scenario.phases)
    )
    goal, limits = goal_of(scenario, held=held), shared_limits(scenario)
    found = PhaseSearch(scenario, catalog, settings, goal, limits, progress, held)
    found.end = time.monotonic() + scenario.limits.time_s if end is None else end
    empty = [p for p, setting in enumerate(settings) if not setting.options]
    found.lost = empty[0] if empty else None
    return found


def solve_chain(
    found: PhaseSearch,
    bounds: Bounds,
    stopwatch: Stopwatch,
    export_model: Path | None = None,
    log: Callable[[str], None] | None = None,
) -> Solved:
    """Let CP-SAT choose the chain, and hold it against the bounds known."""
    with stopwatch.measure("import ortools"):
        from solver.cpsat.problem import PlacementProblem
        from solver.planning import phase_model
    every = bounds.leases
    with stopwatch.measure("model build"):
        pools = tuple(found.pools())
        kept = np.flatnonzero(bounds.kept())
        if not _covers(every, kept, found.phases):
            return Solved(None, None, 1.0, len(every), len(every))
        leases = every.take(kept)
        leases = leases.take(phase_model.canonical_leases(leases))
        scale = phase_model.scale_of(
            _floor(found), leases, found.moves, found.goal, found.phases
        )
        left = phase_model.undominated_leases(leases, scale, found.goal)
        leases = leases.take(left)
        problem = phase_model.phase_problem(
            found.scenario, found.settings, pools, found.places, leases,
            found.moves, found.limits, found.goal, scale, held=found.held,
        )  # fmt: skip
        hint = _hint(found, bounds, problem, leases)
        model = PlacementProblem(
            problem.jobs, problem.requirements, problem.levels, hint=hint,
            links=problem.links, shared=problem.shared,
        )  # fmt: skip
    if export_model is not None:
        model.export(export_model, _header(found.scenario))
    with stopwatch.measure("solve"):
        limits = solve_limits(found.scenario, found.end - time.monotonic())
        outcome = model.solve(limits, solver_log(log))
    chosen = _chosen(found, bounds, outcome, problem, leases, pools)
    units = {"cost": scale.usd, "time": scale.seconds}
    unit = units.get(found.scenario.objective.kind, scale.objective)
    if chosen is None and np.isfinite(bounds.best):
        raise InternalError("CP-SAT finds no chain where shortest paths have one")
    return Solved(chosen, outcome, unit, len(every) - len(leases), len(every))


def _covers(leases: LeaseTable, kept: np.ndarray, phases: int) -> bool:
    """Whether each phase has a lease left."""
    first, last = leases.first[kept], leases.last[kept]
    return all(((first <= p) & (last >= p)).any() for p in range(phases))


def _floor(found: PhaseSearch) -> tuple[float, float]:
    """Least cost (USD) and time (s) of all phases, by catalog and job alone."""
    floors = [floor_of(found.lean(p)) for p in range(found.phases)]
    usd = sum(float(floor.cost_usd[0]) for floor in floors)
    return usd, sum(float(floor.duration_s[0]) for floor in floors)


def _hint(
    found: PhaseSearch, bounds: Bounds, problem: PhaseProblem, leases: LeaseTable
) -> list[int] | None:
    """Rows of the best chain met, if its leases are all left."""
    if not bounds.chain:
        return None
    rows: list[int] = []
    for lease in bounds.chain:
        same = (leases.rows == bounds.leases.rows[lease]).all(axis=1)
        for name in ("first", "last", "option", "tier", "nodes"):
            wanted = getattr(bounds.leases, name)[lease]
            same = same & (getattr(leases, name) == wanted)
        place = np.flatnonzero(same)
        if not len(place):
            return None
        first, last = int(bounds.leases.first[lease]), int(bounds.leases.last[lease])
        rows += [
            int(np.flatnonzero(problem.leases[p] == place[0])[0])
            for p in range(first, last + 1)
        ]
    return rows


def _chosen(
    found: PhaseSearch,
    bounds: Bounds,
    outcome: SolveOutcome,
    problem: PhaseProblem,
    leases: LeaseTable,
    pools: tuple[PhaseRows, ...],
) -> Chosen | None:
    """The chain that CP-SAT chose, or the best met where it has none."""
    if outcome.rows is None:
        if outcome.status == "unknown" and bounds.chain:
            return Chosen(found, pools, bounds.leases, bounds.chain)
        return None
    numbers = [int(problem.leases[p][row]) for p, row in enumerate(outcome.rows)]
    chain = tuple(dict.fromkeys(numbers))
    total = joined(leases, chain, found.moves)
    value = total.value(found.goal)
    room = 10 * ROUNDING * max(abs(value), 1.0)
    if outcome.status == "optimal" and value > bounds.best + room:
        raise InternalError("CP-SAT proves a chain that is worse than one known")
    if value < max(bounds.bound, found.bound if found.complete else -np.inf) - room:
        raise InternalError("CP-SAT finds a chain that is better than its bound")
    return Chosen(found, pools, leases, chain)


def _header(scenario: Scenario) -> list[str]:
    """What the exported model may be asked."""
    return [
        f"gpuplan model of the phases of scenario '{scenario.name}', objective "
        f"{scenario.objective.kind}.",
        "A job is a phase; a Boolean is a lease, over one phase or several. Left out",
        "are leases that no best chain can have, by bounds and by dominance under the",
        "limits stated: the model answers this question, not what another limit does.",
    ]

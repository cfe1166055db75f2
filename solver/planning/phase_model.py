"""From leases with units to the integer tables of phases that CP-SAT is fed.

A phase is a job whose candidates are the leases that cover it: leases over several
phases are one Boolean in several jobs. What a lease costs and takes stands in the row
of its first phase alone, so that sums over phases count it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.cpsat.chain import Finish, FlowSum, Links, aligned
from solver.cpsat.scaling import scale_up, unit_for
from solver.cpsat.table import (
    MAX_SCALED,
    Bound,
    IntArray,
    JobTable,
    Level,
    Requirement,
    SharedBound,
    Term,
)
from solver.leases import LeaseTable, PhaseRows, Places
from solver.planning import model_table
from solver.planning.model_table import job_table, requirements_of
from solver.planning.phase_paths import Limits, Moves, Weights
from solver.planning.single_job import floor_of
from solver.scenario.scenario import Scenario
from solver.setting import Setting

CATEGORY = "region"


@dataclass(frozen=True, slots=True)
class Units:
    """Units of the integers; they follow from catalog and jobs, never from limits."""

    usd: float
    seconds: float
    objective: float


@dataclass(frozen=True)
class PhaseProblem:
    """All that `PlacementProblem` is made from."""

    jobs: tuple[JobTable, ...]
    leases: tuple[IntArray, ...]
    """Lease of each row of each job."""
    requirements: tuple[Requirement, ...]
    levels: tuple[Level, ...]
    links: Links
    shared: tuple[SharedBound, ...]
    scale: Units


def canonical_leases(leases: LeaseTable) -> IntArray:
    """Leases by what they decide: the longest first, then fewer nodes, then by id."""
    keys = [
        leases.first - leases.last,
        leases.first,
        leases.nodes,
        leases.option,
        leases.tier,
        *leases.rows.T,
    ]
    return np.lexsort(tuple(reversed(keys)))


def scale_of(
    floor: tuple[float, float],
    leases: LeaseTable,
    moves: Moves,
    goal: Weights,
    phases: int,
) -> Units:
    """Units at most 1e-9 of what all phases cost and take at least."""
    usd, seconds = floor
    dearest = phases * float(leases.cost_limit_usd.max()) + float(
        moves.usd.sum(0).max()
    )
    longest = phases * float(leases.time_limit_s.max()) + float(leases.wait_s.max())
    longest += float(moves.time_s.sum(0).max())
    low = goal.cost * usd + goal.time * seconds
    high = goal.cost * dearest + goal.time * longest
    return Units(
        unit_for(usd, dearest), unit_for(seconds, longest), unit_for(low, high)
    )


def undominated_leases(leases: LeaseTable, scale: Units, goal: Weights) -> IntArray:
    """Leases that no other over the same phases in the same region drops.

    Parameters
    ----------
    leases
        In canonical order.
    scale
        Units of the integers.
    goal
        What is minimised.
    """
    from solver.cpsat.prune import undominated

    ranges = leases.first * (int(leases.last.max()) + 1) + leases.last
    places = ranges * (int(leases.region.max()) + 1) + leases.region
    table = JobTable(
        name="leases",
        quantities=_lease_columns(leases, scale, goal),
        units={},
        categories={CATEGORY: _labelled(places)},
        rank=np.arange(len(leases), dtype=np.int64),
    )
    held = ("cost_at_confidence", "time_at_confidence", "wait")
    bounds = [Bound("deadline", name, upper=MAX_SCALED) for name in held]
    spent = ("cost", "time", "objective", "objective_time", "objective_wait")
    return undominated(table, bounds, spent, keep_categories=[CATEGORY])


def _labelled(places: IntArray) -> tuple[IntArray, tuple[str, ...]]:
    values, codes = np.unique(places, return_inverse=True)
    return codes.reshape(-1).astype(np.int64), tuple(str(v) for v in values)


def _lease_columns(
    leases: LeaseTable, scale: Units, goal: Weights
) -> dict[str, IntArray]:
    """What a lease adds to the limits and levels, in integers, rounded up."""
    weighted = goal.time / scale.objective
    return {
        "cost": scale_up(leases.cost_usd, scale.usd),
        "cost_at_confidence": scale_up(leases.cost_limit_usd, scale.usd),
        "time": scale_up(leases.time_s, scale.seconds),
        "time_at_confidence": scale_up(leases.time_limit_s, scale.seconds),
        "wait": scale_up(leases.wait_s, scale.seconds),
        "objective": scale_up(goal.cost * leases.cost_usd, scale.objective),
        "objective_time": np.ceil(leases.time_s * weighted).astype(np.int64),
        "objective_wait": np.ceil(leases.wait_s * weighted).astype(np.int64),
    }


def phase_problem(
    scenario: Scenario,
    settings: Sequence[Setting],
    pools: Sequence[PhaseRows],
    places: Places,
    leases: LeaseTable,
    moves: Moves,
    limits: Limits,
    goal: Weights,
    scale: Units,
    *,
    held: bool = False,
) -> PhaseProblem:
    """The model over ``leases``, which are in canonical order."""
    columns = _lease_columns(leases, scale, goal)
    jobs, covering = [], []
    requirements: list[Requirement] = []
    for p, (setting, pool) in enumerate(zip(settings, pools, strict=True)):
        here = np.flatnonzero((leases.first <= p) & (leases.last >= p))
        table = pool.table.take(leases.rows[here, p])
        own = model_table.scale_of(setting, floor_of(setting), table)
        job = _job(job_table(setting, table, own), leases, columns, here, p, scale)
        job = replace(job, name=scenario.phases[p].name)
        jobs.append(job)
        covering.append(here)
        asked = requirements_of(setting.scenario, setting, own, job)
        requirements += [replace(r, job=job.name) for r in asked]
    return PhaseProblem(
        jobs=tuple(jobs),
        leases=tuple(covering),
        requirements=tuple(requirements),
        levels=_levels(scenario, held=held),
        links=_links(jobs, places, moves, scale, goal),
        shared=tuple(_shared(limits, scale, len(jobs))),
        scale=scale,
    )


def _job(
    base: JobTable,
    leases: LeaseTable,
    columns: dict[str, IntArray],
    here: IntArray,
    phase: int,
    scale: Units,
) -> JobTable:
    """The leases that cover a phase as its candidates."""
    begins = leases.first[here] == phase
    own = {name: np.where(begins, column[here], 0) for name, column in columns.items()}
    own["duration"] = own["time"]
    own["duration_at_confidence"] = own["time_at_confidence"]
    units = dict(base.units)
    units |= dict.fromkeys(("time", "time_at_confidence"), f"{scale.seconds:g} s")
    units["wait"] = f"{scale.seconds:g} s"
    return replace(
        base,
        quantities={**base.quantities, **own},
        units=units,
        rank=np.arange(len(here), dtype=np.int64),
        choice=here,
    )


def _links(
    jobs: Sequence[JobTable], places: Places, moves: Moves, scale: Units, goal: Weights
) -> Links:
    """Moves and finish in integers, by the regions of each job's table."""
    number = {region: i for i, region in enumerate(places.regions)}
    codes = [
        np.array([number[label] for label in job.category(CATEGORY)[1]], np.int64)
        for job in jobs
    ]

    def each(values: np.ndarray, unit: float) -> tuple[IntArray, ...]:
        scaled = scale_up(values, unit)
        return tuple(
            aligned(scaled[k], codes[k], codes[k + 1]) for k in range(len(jobs) - 1)
        )

    time = each(moves.time_s, scale.seconds)
    usd = each(moves.usd, scale.usd)
    worth = each(goal.cost * moves.usd, scale.objective)
    delay = each(goal.time * moves.time_s, scale.objective)
    return Links(
        CATEGORY,
        {
            "moves": FlowSum(usd),
            "finish": Finish("time", "wait", time),
            "finish_at_confidence": Finish("time_at_confidence", "wait", time),
            "moves_objective": FlowSum(worth),
            "finish_objective": Finish("objective_time", "objective_wait", delay),
        },
    )


def _shared(limits: Limits, scale: Units, phases: int) -> list[SharedBound]:
    """Deadline and budget over all phases.

    Each figure was rounded up by less than a unit: so many units of room keep a chain
    that is right at its limit.
    """
    found = []
    room = 2 * phases
    if np.isfinite(limits.time_s):
        upper = min(int(limits.time_s / scale.seconds) + room, MAX_SCALED)
        found.append(SharedBound("deadline", None, "finish_at_confidence", upper))
    if np.isfinite(limits.cost_usd):
        upper = min(int(limits.cost_usd / scale.usd) + room, MAX_SCALED)
        found.append(SharedBound("budget", "cost_at_confidence", "moves", upper))
    return found


def _levels(scenario: Scenario, *, held: bool) -> tuple[Level, ...]:
    """The objective, ties broken by the other of cost and finish, then lease time."""
    cost: Level = (Term("cost"), Term("moves"))
    finish: Level = (Term("finish"),)
    time: Level = (Term("time"),)
    kind = scenario.objective.kind
    if held and kind == "time":
        return (Term("finish_at_confidence"),), cost, finish, time
    if held:
        return (Term("cost_at_confidence"), Term("moves")), cost, finish, time
    if kind == "cost":
        return cost, finish, time
    if kind == "time":
        return finish, cost, time
    weighted: Level = (
        Term("objective"),
        Term("moves_objective"),
        Term("finish_objective"),
    )
    return weighted, cost, finish, time

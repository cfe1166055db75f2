"""A chain of leases becomes an answer: a plan a phase, leases, moves and totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.candidates import CandidateTable, Rows, evaluate
from solver.catalog.egress import egress_steps
from solver.leases import LeaseTable, PhaseRows, leases_of
from solver.performance.checkpoints import checkpoint_writer_nodes, host_bytes_needed
from solver.performance.offload import away_on_drives
from solver.plan import Lease, Message, Move, PhasePlan, Plan, Total
from solver.planning.build_plan import build_plan
from solver.planning.phase_paths import joined
from solver.planning.phase_search import PhaseSearch
from solver.setting import Setting
from solver.spread import P90_Z
from solver.units import DAY, GB, HOUR, format_bytes

EXPECTED = 0.5
"""The confidence at which limits are held against expected values."""


@dataclass(frozen=True)
class Chosen:
    """A chain of leases, first to last, out of a table."""

    found: PhaseSearch
    pools: tuple[PhaseRows, ...]
    leases: LeaseTable
    chain: tuple[int, ...]

    @property
    def rows(self) -> list[int]:
        """Row of each phase in its pool."""
        rows = [-1] * self.found.phases
        for lease in self.chain:
            for p in range(
                int(self.leases.first[lease]), int(self.leases.last[lease]) + 1
            ):
                rows[p] = int(self.leases.rows[lease, p])
        return rows


@dataclass(frozen=True)
class Answer:
    """All that is said of a chain."""

    phases: tuple[PhasePlan, ...]
    leases: tuple[Lease, ...]
    moves: tuple[Move, ...]
    total: Total
    warnings: tuple[Message, ...]


def answer_of(chosen: Chosen) -> Answer:
    """The answer that a chain is."""
    plans = phase_plans(chosen)
    spans = _spans(chosen)
    phases = _phases(chosen, plans, spans)
    leases = _leases(chosen, spans)
    moves = _moves(chosen)
    total = _total(chosen, phases, leases, moves)
    return Answer(phases, leases, moves, total, _warnings(chosen, moves))


def _warnings(chosen: Chosen, moves: Sequence[Move]) -> tuple[Message, ...]:
    """What the reader of a chain has to know, beside its plans' warnings."""
    found = []
    if moves:
        rate = chosen.found.settings[0].scenario.data.transfer_bytes_per_s
        found.append(Message.of("phases.moves", gbps=rate * 8 / 1e9))
    unknown = {(m.origin, m.destination) for m in moves if not m.price_known}
    for origin, target in sorted(unknown):
        ends = {"origin": origin, "destination": target}
        found.append(Message.of("phases.price-unknown", **ends))
    confidence = chosen.found.scenario.constraints.confidence
    if confidence != EXPECTED and len(chosen.chain) > 1:
        found.append(Message.of("phases.confidence", confidence=confidence))
    scenario = chosen.found.scenario
    if scenario.data.location is not None and not chosen.found.shared_data:
        size = sum(s.scenario.data.size_bytes for s in chosen.found.settings)
        found.append(Message.of("phases.data", size=format_bytes(size)))
    return tuple(found)


def phase_plans(chosen: Chosen) -> tuple[Plan, ...]:
    """The plan of each phase as though it ran alone."""
    triples = zip(chosen.found.settings, chosen.pools, chosen.rows, strict=True)
    return tuple(
        build_plan(setting, _alone(setting, pool, row), 0)
        for setting, pool, row in triples
    )


def _alone(setting: Setting, pool: PhaseRows, row: int) -> CandidateTable:
    """One row of a pool with set-up, units, terms and waits of its own."""
    one = pool.table.take(np.array([row]))
    model = (setting.shape, setting.classes[int(one.group[0])].job, setting.framework)
    rows = Rows(
        one.layouts,
        one.step_time_s,
        one.training_s,
        one.sigma,
        one.steps,
        one.memory_bytes,
        checkpoint_writer_nodes(one.layouts),
        host_bytes_needed(*model, one.layouts),
        away_on_drives(*model, one.layouts),
    )
    every = evaluate(setting, int(one.group[0]), rows)
    same = (every.option == one.option[0]) & (every.tier == one.tier[0])
    same &= every.spares == one.spares[0]
    return every.take(np.flatnonzero(same)[:1])


@dataclass(frozen=True)
class _Span:
    """When a lease is waited for and runs, seconds from day 0."""

    ready_s: float
    """When the checkpoint is there."""
    start_s: float
    """When its queue begins."""
    end_s: float


def _spans(chosen: Chosen) -> list[_Span]:
    """The expected times of all leases."""
    leases, moves = chosen.leases, chosen.found.moves
    spans: list[_Span] = []
    ready = 0.0
    for place, lease in enumerate(chosen.chain):
        if place:
            before = chosen.chain[place - 1]
            step = (
                int(leases.last[before]),
                int(leases.region[before]),
                int(leases.region[lease]),
            )
            ready = spans[-1].end_s + float(moves.time_s[step])
        start = max(ready, float(leases.wait_s[lease]))
        spans.append(_Span(ready, start, start + float(leases.time_s[lease])))
    return spans


def _phases(
    chosen: Chosen, plans: Sequence[Plan], spans: Sequence[_Span]
) -> tuple[PhasePlan, ...]:
    """Each phase with its dates; the first of a lease begins with its set-up."""
    leases, rows = chosen.leases, chosen.rows
    overheads = chosen.found.scenario.overheads
    found = []
    for number, (lease, span) in enumerate(zip(chosen.chain, spans, strict=True)):
        first, last = int(leases.first[lease]), int(leases.last[lease])
        at = span.start_s + overheads.queue_s
        for p in range(first, last + 1):
            setup = overheads.setup_s if p == first else 0.0
            end = at + setup + float(chosen.pools[p].active_s[rows[p]])
            name = chosen.found.scenario.phases[p].name
            found.append(PhasePlan(name, plans[p], number, at / DAY, end / DAY))
            at = end
    return tuple(found)


def _leases(chosen: Chosen, spans: Sequence[_Span]) -> tuple[Lease, ...]:
    """What is rented, from when to when, and what of it is paid."""
    table, found = chosen.leases, []
    places, phases = chosen.found.places, chosen.found.scenario.phases
    for lease, span in zip(chosen.chain, spans, strict=True):
        offer, start = places.options[int(table.option[lease])]
        first, last = int(table.first[lease]), int(table.last[lease])
        found.append(
            Lease(
                phases=tuple(p.name for p in phases[first : last + 1]),
                offer=offer,
                start=start or None,
                nodes=int(table.nodes[lease]),
                storage=places.tiers[int(table.tier[lease])][0],
                wait_days=(span.start_s - span.ready_s) / DAY,
                start_day=span.start_s / DAY,
                end_day=span.end_s / DAY,
                billed_hours=float(table.billed_s[lease]) / HOUR,
                compute_usd=float(table.compute_usd[lease]),
                storage_usd=float(table.storage_usd[lease]),
                data_usd=float(table.data_usd[lease]),
                cost_at_confidence_usd=float(table.cost_limit_usd[lease]),
            )
        )
    return tuple(found)


def _moves(chosen: Chosen) -> tuple[Move, ...]:
    """The changes of region along the chain."""
    leases, moves, found = chosen.leases, chosen.found.moves, []
    regions, phases = chosen.found.places.regions, chosen.found.scenario.phases
    for lease, after in zip(chosen.chain, chosen.chain[1:], strict=False):
        p, a, b = (
            int(leases.last[lease]),
            int(leases.region[lease]),
            int(leases.region[after]),
        )
        if a == b:
            continue
        steps = egress_steps(chosen.found.settings[0].catalog, regions[a], regions[b])
        found.append(
            Move(
                after=phases[p].name,
                origin=regions[a],
                destination=regions[b],
                checkpoint_gb=moves.checkpoint_bytes[p] / GB,
                checkpoint_usd=float(moves.checkpoint_usd[p, a, b]),
                data_usd=float(moves.data_usd[p, a, b]),
                days=float(moves.time_s[p, a, b]) / DAY,
                price_known=bool(steps),
            )
        )
    return tuple(found)


def _total(
    chosen: Chosen,
    phases: Sequence[PhasePlan],
    leases: Sequence[Lease],
    moves: Sequence[Move],
) -> Total:
    """The joined figures, also nine times out of ten."""
    found = chosen.found
    sums = joined(chosen.leases, chosen.chain, found.moves)
    late = _at_p90(chosen)
    usd = {
        "compute": sum(lease.compute_usd for lease in leases),
        "storage": sum(lease.storage_usd for lease in leases),
        "data": sum(lease.data_usd for lease in leases)
        + sum(move.data_usd for move in moves),
        "moves": sum(move.checkpoint_usd for move in moves),
    }
    plans = [phase.plan for phase in phases]
    each = [plans[_first(chosen, k)].gpus_per_node for k in range(len(leases))]
    return Total(
        cost_usd=sums.cost_usd,
        cost_parts_usd=usd,
        duration_days=sums.finish_s / DAY,
        duration_parts_days=_time_parts(chosen, plans, leases, moves),
        confidence=found.scenario.constraints.confidence,
        cost_at_confidence_usd=sums.cost_limit_usd,
        duration_at_confidence_days=sums.finish_limit_s / DAY,
        cost_p90_usd=late[1],
        duration_p90_days=late[0] / DAY,
        gpu_hours=sum(
            gpus * lease.nodes * lease.billed_hours
            for gpus, lease in zip(each, leases, strict=True)
        ),
    )


def _first(chosen: Chosen, lease: int) -> int:
    """Position of the first phase of the lease at a place of the chain."""
    return int(chosen.leases.first[chosen.chain[lease]])


ONCE_A_LEASE = ("setup", "queue", "delivery", "transfer", "serving")
"""Parts of a plan's duration that a lease has once, or not at all."""


def _time_parts(
    chosen: Chosen,
    plans: Sequence[Plan],
    leases: Sequence[Lease],
    moves: Sequence[Move],
) -> dict[str, float]:
    """Days by part: work adds up over phases, the rest over leases and moves."""
    overheads = chosen.found.scenario.overheads
    parts: dict[str, float] = {}
    for plan in plans:
        for name, days in plan.duration_parts_days.items():
            if name not in ONCE_A_LEASE:
                parts[name] = parts.get(name, 0.0) + days
    return parts | {
        "setup": len(leases) * overheads.setup_s / DAY,
        "queue": len(leases) * overheads.queue_s / DAY,
        "delivery": sum(lease.wait_days for lease in leases),
        "moves": sum(move.days for move in moves),
    }


def _at_p90(chosen: Chosen) -> tuple[float, float]:
    """Finish (s) and bill (USD) that nine of ten runs keep, phases' errors shared."""
    found, rows = chosen.found, chosen.rows
    single = [
        pool.take(np.array([row])) for pool, row in zip(chosen.pools, rows, strict=True)
    ]
    overheads = found.scenario.overheads
    every = leases_of(single, found.terms, overheads.setup_s, overheads.queue_s, P90_Z)
    chain = []
    for lease in chosen.chain:
        same = every.first == chosen.leases.first[lease]
        same &= every.last == chosen.leases.last[lease]
        chain.append(int(np.flatnonzero(same)[0]))
    late = joined(every, chain, replace(found.moves))
    return late.finish_limit_s, late.cost_limit_usd

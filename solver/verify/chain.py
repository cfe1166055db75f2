"""The certificate of phases run one after the other, from their decisions alone.

Each phase's plan is verified as though it ran alone; leases, moves, dates and totals
are computed again in plain Python from the plans' offers, nodes and layouts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

from solver.catalog.egress import egress_steps
from solver.performance.transformer import parameter_count
from solver.units import DAY, GB, HOUR, MONTH_HOURS
from solver.verify.bills import SLICES
from solver.verify.certificate import verify
from solver.verify.evidence import Evidence, gather
from solver.verify.figures import Figures
from solver.verify.moving import moved_usd
from solver.verify.violation import Violation, facts, figures

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.plan import Lease, Move, PhasePlan, Plan, Total
    from solver.scenario.scenario import Scenario

LIMIT_TOLERANCE = 1e-8
"""Relative room of a shared limit: each phase's figures were rounded to integers."""

P90 = 0.9


def verify_chain(
    phases: Sequence[PhasePlan],
    leases: Sequence[Lease],
    moves: Sequence[Move],
    total: Total,
    scenario: Scenario,
    catalog: Catalog,
) -> list[Violation]:
    """Every promise of a chain that its decisions do not keep; none if it is right.

    Parameters
    ----------
    phases, leases, moves, total
        The answer. Of it only the plans' decisions and the leases' phases are believed.
    scenario
        The question, with its phases.
    catalog
        What is on offer, with or without the scenario's own offers.
    """
    names = [phase.name for phase in scenario.phases]
    got = [phase.name for phase in phases]
    if got != names:
        return [Violation("phases", "other phases than asked for", names, got)]
    covered = [name for lease in leases for name in lease.phases]
    if covered != names:
        return [
            Violation("phases", "leases do not cover each phase once", names, covered)
        ]
    known: list[Figures] = []
    broken: list[Violation] = []
    for phase, asked in zip(phases, scenario.phases, strict=True):
        found = verify(phase.plan, asked.scenario, catalog)
        evidence = gather(phase.plan, asked.scenario, catalog)
        broken += found
        if isinstance(evidence, Evidence) and not found:
            known.append(Figures(evidence))
    if len(known) < len(phases):
        return broken
    chain = ChainFigures(
        scenario, tuple(known), tuple(len(lease.phases) for lease in leases)
    )
    return [
        *_check_leases(chain, phases, leases),
        *_check_moves(chain, moves),
        *_check_dates(chain, phases, leases),
        *_check_total(chain, total),
    ]


@dataclass(frozen=True)
class ChainFigures:
    """The figures of all phases, and how many of them each lease runs."""

    scenario: Scenario
    known: tuple[Figures, ...]
    sizes: tuple[int, ...]

    @cached_property
    def leases(self) -> tuple[LeaseFigures, ...]:
        """The leases, first to last."""
        ends = [sum(self.sizes[: k + 1]) for k in range(len(self.sizes))]
        return tuple(
            LeaseFigures(self, end - size, end - 1)
            for end, size in zip(ends, self.sizes, strict=True)
        )

    @cached_property
    def one_data_set(self) -> bool:
        """Whether all phases read the data set whose size the user stated."""
        return not self.known[0].evidence.scenario.data.size_is_assumed

    @property
    def rate(self) -> float:
        """Bytes a second of copies between regions."""
        return self.scenario.phases[0].scenario.data.transfer_bytes_per_s

    def copied_s(self, region: str) -> float:
        """Seconds of copying the largest data set of a phase to a region."""
        data = [phase.scenario.data for phase in self.scenario.phases]
        if data[0].location in (None, region):
            return 0.0
        return max(each.size_bytes for each in data) / self.rate

    def move_s(self, place: int) -> float:
        """Seconds of the move before the lease at ``place``, if it changes region."""
        if place == 0 or not self.leases[place].moved_from:
            return 0.0
        return self.leases[place - 1].moved_gb * GB / self.rate

    def move_usd(self, place: int) -> tuple[float, float]:
        """Dollars of moving the checkpoint and the data set before a lease."""
        lease = self.leases[place]
        origin = lease.moved_from
        if place == 0 or not origin:
            return 0.0, 0.0
        catalog = lease.head.evidence.catalog
        size = self.leases[place - 1].moved_gb
        own = lease.head.moving.egress_usd if self.one_data_set else 0.0
        return moved_usd(egress_steps(catalog, origin, lease.region), size), own

    @cached_property
    def waits_s(self) -> tuple[float, ...]:
        """Expected seconds of waiting for the nodes of each lease."""
        now, waits = 0.0, []
        for place, lease in enumerate(self.leases):
            ready = now + self.move_s(place)
            waits.append(max(0.0, lease.wait_s - ready))
            now = ready + waits[-1] + lease.time_s(0.5)
        return tuple(waits)

    def finish_s(self, confidence: float) -> float:
        """Seconds from day 0 to the end, each lease at a confidence."""
        now = 0.0
        for place, lease in enumerate(self.leases):
            ready = now + self.move_s(place)
            now = max(ready, lease.wait_s) + lease.time_s(confidence)
        return now

    def cost_usd(self, confidence: float) -> float:
        """The bill of all, each lease at a confidence."""
        places = range(len(self.leases))
        moving = math.fsum(math.fsum(self.move_usd(place)) for place in places)
        return moving + math.fsum(lease.cost_usd(confidence) for lease in self.leases)


@dataclass(frozen=True)
class LeaseFigures:
    """Phases ``first`` to ``last`` of a chain on the same nodes, billed once."""

    chain: ChainFigures
    first: int
    last: int

    @property
    def parts(self) -> tuple[Figures, ...]:
        """The figures of its phases."""
        return self.chain.known[self.first : self.last + 1]

    @property
    def head(self) -> Figures:
        """The figures of its first phase, whose offer is that of all."""
        return self.parts[0]

    @cached_property
    def wait_s(self) -> float:
        """Until nodes, and copies of data, that were ordered on day 0 are there."""
        return max(self.head.wait_s, self.chain.copied_s(self.region))

    @property
    def region(self) -> str:
        """Where it runs."""
        return self.head.evidence.offer.region

    @cached_property
    def moved_from(self) -> str:
        """The region of the lease before, where that is another; else empty."""
        if self.first == 0:
            return ""
        before = self.chain.known[self.first - 1].evidence.offer.region
        return before if before != self.region else ""

    @cached_property
    def moved_gb(self) -> float:
        """What moves on after its last phase: adapters with the weights they adapt."""
        last = self.parts[-1]
        size = last.checkpoint_bytes
        if last.evidence.scenario.workload.method != "full":
            size += 2 * parameter_count(last.evidence.shape)
        return size / GB

    @property
    def fixed_s(self) -> float:
        """Queue and set-up."""
        overheads = self.chain.scenario.overheads
        return overheads.setup_s + overheads.queue_s

    @cached_property
    def active_s(self) -> float:
        """Expected work with failures and checkpoints of all phases."""
        return math.fsum(part.active_s for part in self.parts)

    def late_s(self, confidence: float) -> float:
        """Work at a confidence: one error of the model, failures of all together."""
        if confidence == 0.5:
            return self.active_s
        z = NormalDist().inv_cdf(confidence)
        model = math.fsum(
            p.active_s * (p.late_factor(confidence) - 1) for p in self.parts
        )
        if z <= 0:
            return self.active_s + model
        variance = math.fsum(float(p.run.variance_s2[0]) for p in self.parts)
        return self.active_s + math.sqrt(model**2 + z * z * variance)

    def time_s(self, confidence: float) -> float:
        """Queue, set-up and work."""
        return self.fixed_s + self.late_s(confidence)

    def storage_usd(self, confidence: float) -> float:
        """Rent of the storage tier from the queue on."""
        work = math.fsum(part.rent_per_s * part.active_s for part in self.parts)
        rent = work * self.late_s(confidence) / self.active_s
        reading = math.fsum(part.reading_usd for part in self.parts)
        return rent + self.head.rent_per_s * self.fixed_s + reading

    @cached_property
    def data_usd(self) -> float:
        """Egress of what its phases read; a shared data set counts with the moves."""
        if not self.chain.one_data_set:
            return math.fsum(part.moving.egress_usd for part in self.parts)
        return self.head.moving.egress_usd if self.first == 0 else 0.0

    @cached_property
    def rent(self) -> float:
        """Dollars an hour of all nodes."""
        return self.head.rented_nodes * self.head.usd_per_node_hour

    def hours(self, runs_s: Sequence[float]) -> float:
        """Mean hours paid for over equally likely runs of so many seconds of work."""
        offer = self.head.evidence.offer
        size = {"second": 0, "hour": 1, "month": MONTH_HOURS}[offer.billing_unit]
        total = 0.0
        for run in runs_s:
            hours = (self.chain.scenario.overheads.setup_s + run) / HOUR
            if size:
                hours = max(1, math.ceil(hours / size - 1e-9)) * size
            total += max(hours, offer.min_term_hours)
        return total / len(runs_s)

    @cached_property
    def expected_hours(self) -> float:
        """Expected hours paid for: the error of the model is the same in all phases."""
        offer = self.head.evidence.offer
        plain = offer.billing_unit == "second" and not offer.min_term_hours
        if plain or max(part.sigma for part in self.parts) <= 0:
            return self.hours([self.active_s])
        normal = NormalDist()
        scores = [normal.inv_cdf((i + 0.5) / SLICES) for i in range(SLICES)]
        runs = []
        for z in scores:
            run = 0.0
            for part in self.parts:
                mean = math.fsum(math.exp(part.sigma * s) for s in scores) / SLICES
                scale = 1.0 if offer.billing_unit != "second" else mean
                run += part.active_s * math.exp(part.sigma * z) / scale
            runs.append(run)
        return self.hours(runs)

    def cost_usd(self, confidence: float) -> float:
        """Rent, storage and data."""
        hours = self.expected_hours
        if confidence != 0.5:
            hours = self.hours([self.late_s(confidence)])
        return self.rent * hours + self.storage_usd(confidence) + self.data_usd


def _check_leases(
    chain: ChainFigures, phases: Sequence[PhasePlan], leases: Sequence[Lease]
) -> Iterator[Violation]:
    """One offer, day, storage and size a lease; none cut in two; its bill."""
    confidence = chain.scenario.constraints.confidence
    decided = [_place(phase.plan) for phase in phases]
    for number, (mine, lease) in enumerate(zip(chain.leases, leases, strict=True)):
        got = (lease.offer, lease.start, lease.nodes, lease.storage)
        for position in range(mine.first, mine.last + 1):
            if decided[position] != got:
                message = f"{phases[position].name} runs on other nodes than its lease"
                yield Violation("phases", message, decided[position], got)
            if phases[position].lease != number:
                message = f"{phases[position].name} names another lease"
                yield Violation("phases", message, number, phases[position].lease)
        if mine.first and decided[mine.first - 1] == decided[mine.first]:
            message = "the same nodes are rented twice"
            yield Violation("phases", message, 1, 2)
        expected = {
            "billed_hours": mine.expected_hours,
            "compute_usd": mine.rent * mine.expected_hours,
            "storage_usd": mine.storage_usd(0.5),
            "data_usd": mine.data_usd,
            "cost_at_confidence_usd": mine.cost_usd(confidence),
        }
        yield from figures("budget", expected, _numbers(lease, expected))


def _place(plan: Plan) -> tuple[str, str | None, int, str | None]:
    """Offer, day, nodes with spares, and storage: what phases of a lease share."""
    return plan.offer, plan.start, plan.rented_nodes, plan.storage


def _numbers(holder: object, wanted: Mapping[str, float]) -> dict[str, float]:
    """The attributes of ``holder`` that are wanted."""
    return {name: getattr(holder, name) for name in wanted}


def _check_moves(chain: ChainFigures, moves: Sequence[Move]) -> Iterator[Violation]:
    """Each change of region is told, with its bytes, price and time."""
    places = [k for k in range(len(chain.leases)) if chain.leases[k].moved_from]
    if len(moves) != len(places):
        yield Violation("phases", "not the moves made", len(places), len(moves))
        return
    for place, move in zip(places, moves, strict=True):
        lease, before = chain.leases[place], chain.leases[place - 1]
        steps = egress_steps(
            lease.head.evidence.catalog, lease.moved_from, lease.region
        )
        wanted = {
            "after": chain.scenario.phases[before.last].name,
            "origin": lease.moved_from,
            "destination": lease.region,
            "price_known": bool(steps),
        }
        yield from facts("phases", wanted, move)
        checkpoint_usd, data_usd = chain.move_usd(place)
        expected = {
            "checkpoint_gb": before.moved_gb,
            "checkpoint_usd": checkpoint_usd,
            "data_usd": data_usd,
            "days": chain.move_s(place) / DAY,
        }
        yield from figures("budget", expected, _numbers(move, expected))


def _check_dates(
    chain: ChainFigures, phases: Sequence[PhasePlan], leases: Sequence[Lease]
) -> Iterator[Violation]:
    """A lease begins when nodes and checkpoint are there, its phases one by one."""
    overheads, now = chain.scenario.overheads, 0.0
    for place, (mine, lease) in enumerate(zip(chain.leases, leases, strict=True)):
        ready = now + chain.move_s(place)
        start = max(ready, mine.wait_s)
        now = start + mine.time_s(0.5)
        expected = {
            "wait_days": (start - ready) / DAY,
            "start_day": start / DAY,
            "end_day": now / DAY,
        }
        yield from figures("deadline", expected, _numbers(lease, expected))
        begin = start + overheads.queue_s
        for position in range(mine.first, mine.last + 1):
            end = begin + chain.known[position].active_s
            end += overheads.setup_s if position == mine.first else 0.0
            dates = {"start_day": begin / DAY, "end_day": end / DAY}
            yield from figures("deadline", dates, _numbers(phases[position], dates))
            begin = end


def _check_total(chain: ChainFigures, total: Total) -> Iterator[Violation]:
    """Sums of time and money, and the limits that all phases share."""
    user = chain.scenario.constraints
    late, bill = chain.finish_s(user.confidence), chain.cost_usd(user.confidence)
    expected = {
        "cost_usd": chain.cost_usd(0.5),
        "duration_days": chain.finish_s(0.5) / DAY,
        "confidence": user.confidence,
        "cost_at_confidence_usd": bill,
        "duration_at_confidence_days": late / DAY,
        "cost_p90_usd": chain.cost_usd(P90),
        "duration_p90_days": chain.finish_s(P90) / DAY,
        "gpu_hours": math.fsum(
            m.head.rented_nodes
            * m.head.evidence.server.gpus_per_node
            * m.expected_hours
            for m in chain.leases
        ),
    }
    yield from figures("budget", expected, _numbers(total, expected))
    yield from figures("budget", _usd_parts(chain), total.cost_parts_usd)
    yield from figures("deadline", _time_parts(chain), total.duration_parts_days)
    parts = math.fsum(total.cost_parts_usd.values())
    yield from figures("budget", {"parts": expected["cost_usd"]}, {"parts": parts})
    days = math.fsum(total.duration_parts_days.values())
    yield from figures(
        "deadline", {"parts": expected["duration_days"]}, {"parts": days}
    )
    room = 1.0 + LIMIT_TOLERANCE
    if user.deadline_s is not None and late > user.deadline_s * room:
        yield Violation("deadline", "it ends too late, s", user.deadline_s, late)
    if user.budget_usd is not None and bill > user.budget_usd * room:
        yield Violation("budget", "it costs too much, USD", user.budget_usd, bill)


def _usd_parts(chain: ChainFigures) -> dict[str, float]:
    """The expected bill by part."""
    moving = [chain.move_usd(place) for place in range(len(chain.leases))]
    return {
        "compute": math.fsum(m.rent * m.expected_hours for m in chain.leases),
        "storage": math.fsum(m.storage_usd(0.5) for m in chain.leases),
        "data": math.fsum(
            [*(m.data_usd for m in chain.leases), *(d for _, d in moving)]
        ),
        "moves": math.fsum(usd for usd, _ in moving),
    }


def _time_parts(chain: ChainFigures) -> dict[str, float]:
    """The expected duration by part, days."""
    known, overheads = chain.known, chain.scenario.overheads
    count = len(chain.leases)
    moving = [chain.move_s(place) for place in range(count)]
    parts = {
        "training": math.fsum(k.training_s for k in known),
        "data_stall": math.fsum(k.stall_s for k in known),
        "evaluation": math.fsum(k.evaluation_s for k in known),
        **{
            name: math.fsum(float(getattr(k.run, f"{name}_s")[0]) for k in known)
            for name in ("checkpoints", "failures", "replacement")
        },
        "setup": count * overheads.setup_s,
        "queue": count * overheads.queue_s,
        "delivery": math.fsum(chain.waits_s),
        "moves": math.fsum(moving),
    }
    return {name: seconds / DAY for name, seconds in parts.items()}

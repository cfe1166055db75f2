"""The way from a plan to a finished run: dated steps, each with what to check.

Days count from day 0. Of a single job the steps that follow one another add up to the
plan's duration; of a chain those of each lease lie where the plan has the lease.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from solver.acting.basis import Acting
from solver.acting.plan_file import PlannedJob
from solver.acting.progress import Progress
from solver.acting.route_lines import (
    first_hour_lines,
    move_lines,
    order_lines,
    release_lines,
    run_lines,
    serve_lines,
    setup_lines,
    stage_lines,
)
from solver.plan import Lease, Message, Move
from solver.units import DAY
from solver.verify.figures import Figures

__all__ = ["FIRST_HOUR_S", "Milestone", "Route", "RouteStep", "route_of"]

FIRST_HOUR_S = 3600.0
"""Of training, after which the plan is held against what was measured."""

SHARES = (0.25, 0.5, 0.75)
"""Parts of the tokens whose dates are told."""

Lines = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class RouteStep:
    """One step: what is done from when to when, its figures, and what to check."""

    kind: str
    """order, stage, queue, setup, first_hour, run, serve, move or release."""
    phases: tuple[str, ...]
    """Names of the phases that it is for; empty for a single job."""
    start_day: float
    end_day: float
    start: date
    end: date
    facts: dict[str, Any]
    lines: Lines

    def as_dict(self) -> dict[str, Any]:
        """The step as the JSON contract has it."""
        return {
            "kind": self.kind,
            "phases": list(self.phases),
            "start_day": self.start_day,
            "end_day": self.end_day,
            "start": self.start.isoformat(),
            "end": self.end.isoformat(),
            **self.facts,
            "checks": [line.as_dict() for line in self.lines],
        }


@dataclass(frozen=True, slots=True)
class Milestone:
    """A date to look at: how far the run is, its finish, or a limit."""

    kind: str
    """start, ramp_end, progress, end, finish, finish_p90 or deadline."""
    phase: str
    day: float
    date: date
    facts: dict[str, Any] = field(default_factory=dict)
    """``share``, ``step`` and ``tokens`` where the run is that far."""

    def as_dict(self) -> dict[str, Any]:
        """The milestone as the JSON contract has it."""
        day = {"day": self.day, "date": self.date.isoformat()}
        return {"kind": self.kind, "phase": self.phase, **day, **self.facts}


@dataclass(frozen=True, slots=True)
class Route:
    """All steps and milestones, first to last."""

    day: date
    duration_days: float
    steps: tuple[RouteStep, ...]
    milestones: tuple[Milestone, ...]

    def as_dict(self) -> dict[str, Any]:
        """The route as the JSON contract has it."""
        return {
            "day": self.day.isoformat(),
            "duration_days": self.duration_days,
            "steps": [step.as_dict() for step in self.steps],
            "milestones": [one.as_dict() for one in self.milestones],
        }


def route_of(acting: Acting) -> Route:
    """The steps from a plan to the end of what it is for.

    Raises
    ------
    InputError
        The catalog no longer has what the plan chose.
    """
    legs = tuple(_legs(acting))
    steps = tuple(step for leg in legs for step in _steps(leg))
    milestones = sorted(_milestones(acting, legs), key=lambda one: one.day)
    return Route(acting.day, acting.duration_days, steps, tuple(milestones))


@dataclass(frozen=True)
class Leg:
    """Nodes that are rented once, and what runs on them; days from day 0."""

    acting: Acting
    jobs: tuple[PlannedJob, ...]
    figures: tuple[Figures, ...]
    ordered_day: float
    there_day: float
    """On which the nodes, and data that needs none, are there."""
    end_day: float
    """After which the nodes are given back."""
    copied_s: float
    """Of bringing the training data."""
    data_usd: float
    lease: Lease | None = None
    move: Move | None = None
    """What has to arrive before it, from another region."""

    @property
    def head(self) -> Figures:
        """The figures of its first job."""
        return self.figures[0]

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of its phases; empty for a single job."""
        return self.lease.phases if self.lease else ()

    @property
    def queued_day(self) -> float:
        """On which the queue has been waited for."""
        return self.there_day + self.acting.scenario.overheads.queue_s / DAY

    @property
    def set_up_day(self) -> float:
        """On which the nodes are set up."""
        return self.queued_day + self.acting.scenario.overheads.setup_s / DAY

    @property
    def run_days(self) -> tuple[tuple[float, float], ...]:
        """First and last day of each job's run."""
        if self.lease is None:
            copies = self.copied_s / DAY if self.head.local else 0.0
            start = self.set_up_day + copies
            return ((start, start + self.head.active_s / DAY),)
        ends = [job.end_day for job in self.jobs]
        return tuple(zip([self.set_up_day, *ends[:-1]], ends, strict=True))

    def step(
        self,
        kind: str,
        days: tuple[float, float],
        facts: dict[str, Any],
        lines: Lines,
        phases: tuple[str, ...] | None = None,
    ) -> RouteStep:
        """A step of this leg between two days."""
        start, end = days
        names = self.phases if phases is None else phases
        at = self.acting.date_of
        return RouteStep(kind, names, start, end, at(start), at(end), facts, lines)


def _legs(acting: Acting) -> Iterator[Leg]:
    """The nodes of a single job, or those of each lease of a chain."""
    if acting.chain is None:
        only = acting.figures[0]
        hidden = 0.0 if only.local else only.transfer_shown_s
        ready = (only.wait_s + hidden) / DAY
        end = acting.duration_days
        if not only.local:  # weights leave after the nodes are given back
            end -= only.moving.serving_s / DAY
        copied, usd = only.moving.transfer_s, only.moving.egress_usd
        yield Leg(acting, acting.jobs, acting.figures, 0.0, ready, end, copied, usd)
        return
    moves = {move.after: move for move in acting.moves}
    first, before = 0, ""
    for lease in acting.leases:
        last = first + len(lease.phases)
        jobs, figures = acting.jobs[first:last], acting.figures[first:last]
        move = moves.get(before)
        waited = jobs[0].plan.lead_time_days
        yield Leg(
            acting,
            jobs,
            figures,
            max(0.0, lease.start_day - waited),
            lease.start_day,
            lease.end_day,
            acting.chain.copied_s(figures[0].evidence.offer.region),
            lease.data_usd + (move.data_usd if move else 0.0),
            lease,
            move,
        )
        first, before = last, lease.phases[-1]


def _steps(leg: Leg) -> Iterator[RouteStep]:
    """The steps of a leg in their order."""
    plan, head = leg.jobs[0].plan, leg.head
    yield leg.step("order", (leg.ordered_day, leg.there_day), *order_lines(plan))
    if leg.move is not None:
        end = leg.there_day - (leg.lease.wait_days if leg.lease else 0.0)
        days = (end - leg.move.days, end)
        yield leg.step("move", days, *move_lines(leg.move))
    yield _stage(leg)
    overheads = leg.acting.scenario.overheads
    if overheads.queue_s:
        facts = {"hours": overheads.queue_s / 3600.0}
        line = (Message.of("route.queue", **facts),)
        yield leg.step("queue", (leg.there_day, leg.queued_day), facts, line)
    yield leg.step("setup", (leg.queued_day, leg.set_up_day), *setup_lines(head))
    for job, figures, days in zip(leg.jobs, leg.figures, leg.run_days, strict=True):
        yield from _run(leg, job, figures, days)
    yield from _after(leg)


def _stage(leg: Leg) -> RouteStep:
    """Bring the data: before the nodes are there, or onto their own drives."""
    start = leg.set_up_day if leg.head.local else 0.0
    moved = leg.copied_s > 0
    if not moved:  # when it is to be there: before the first step
        start = 0.0 if not leg.head.local else leg.queued_day
    end = start + leg.copied_s / DAY if moved else leg.set_up_day
    return leg.step("stage", (start, end), *stage_lines(leg.head, leg.data_usd))


def _run(
    leg: Leg, job: PlannedJob, figures: Figures, days: tuple[float, float]
) -> Iterator[RouteStep]:
    """The first hour of a job, and all of its run."""
    start, end = days
    names = (job.phase,) if job.phase else ()
    hour = (start, min(end, start + FIRST_HOUR_S / DAY))
    told = first_hour_lines(figures, leg.acting.file, job.phase)
    yield leg.step("first_hour", hour, *told, names)
    yield leg.step("run", days, *run_lines(figures, alone=not names), names)


def _after(leg: Leg) -> Iterator[RouteStep]:
    """Copy the weights to where they serve, and give the nodes back."""
    acting, head = leg.acting, leg.head
    finish = leg.run_days[-1][1]
    last = leg.lease is None or leg.lease is acting.leases[-1]
    serving = head.moving.serving_s / DAY if leg.lease is None else 0.0
    serve = []
    if last:
        told = serve_lines(leg.figures[-1])
        serve.append(leg.step("serve", (finish, finish + serving), *told))
    if head.local:
        yield from serve
    days = (leg.end_day, leg.end_day)
    yield leg.step("release", days, *release_lines(leg.figures[-1], leg.jobs[-1].plan))
    if not head.local:
        yield from serve


def _milestones(acting: Acting, legs: tuple[Leg, ...]) -> Iterator[Milestone]:
    """When each run is a quarter, a half, three quarters through, and the finish."""
    for leg in legs:
        for job, figures, days in zip(leg.jobs, leg.figures, leg.run_days, strict=True):
            yield from _of_run(acting, job.phase, figures, days)
    late, deadline = _p90_days(acting), acting.scenario.constraints.deadline_s
    found = [("finish", acting.duration_days), ("finish_p90", late)]
    if deadline is not None:
        found.append(("deadline", deadline / DAY))
    for kind, day in found:
        yield Milestone(kind, "", day, acting.date_of(day))


def _of_run(
    acting: Acting, phase: str, figures: Figures, days: tuple[float, float]
) -> Iterator[Milestone]:
    """The milestones of one run."""
    start, end = days
    progress = Progress(figures)
    yield Milestone("start", phase, start, acting.date_of(start))
    told = [("progress", progress.of_tokens(s * progress.tokens), s) for s in SHARES]
    if figures.climb.steps:
        climbed = progress.of_steps(figures.climb.steps)
        told.append(("ramp_end", climbed, climbed.tokens / progress.tokens))
    for kind, done, share in told:
        day = start + done.time_share * (end - start)
        facts = {"share": share, "step": done.steps, "tokens": done.tokens}
        yield Milestone(kind, phase, day, acting.date_of(day), facts)
    whole = {"share": 1.0, "step": progress.steps, "tokens": progress.tokens}
    yield Milestone("end", phase, end, acting.date_of(end), whole)


def _p90_days(acting: Acting) -> float:
    """Days that nine of ten runs keep."""
    if acting.chain is not None:
        return acting.chain.finish_s(0.9) / DAY
    return acting.figures[0].duration_at(0.9) / DAY

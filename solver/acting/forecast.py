"""A plan's finish and bill from what was measured, and from how far the run is.

The figures are the plan's own (`solver.verify.figures`) with the measured ones in their
place: failures, checkpoints, billing units and terms hold as they do in the plan. The
spread of the rest of the run is the plan's: hours say little of weeks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from solver.acting.basis import Acting
from solver.units import DAY
from solver.verify.bills import Bill
from solver.verify.chain import ChainFigures
from solver.verify.figures import Figures

__all__ = ["Forecast", "Outlook", "Reality", "forecast_of", "outlook", "stopped_usd"]

P90 = 0.9
MOMENT_S = 1e-3
"""A phase that has just begun has taken so long: shares of nothing are no figures."""


@dataclass(frozen=True, slots=True)
class Reality:
    """What takes the place of predictions; None keeps the prediction."""

    pace: float = 1.0
    """Measured over predicted step time."""
    checkpoint_s: float | None = None
    failures_per_s: float | None = None
    stall_s_a_step: float | None = None
    read_bytes_per_s: float | None = None


@dataclass(frozen=True)
class Forecast(Figures):
    """The figures of a job, some of it done, at the measured speed."""

    reality: Reality = Reality()
    left: float = 1.0
    """Part of the work that is still to be done."""
    spent_s: float = 0.0
    """Seconds from the first step until now, failures and all."""

    @cached_property
    def base(self) -> Figures:
        """The figures as planned."""
        return Figures(self.evidence)

    @cached_property
    def step_time_s(self) -> float:
        """Seconds of one step, as measured."""
        return self.base.step_time_s * self.reality.pace

    @cached_property
    def training_s(self) -> float:
        """All steps of the whole run, those of a ramp as much slower as the others."""
        return self.base.training_s * self.reality.pace

    @cached_property
    def sigma(self) -> float:
        """The plan's spread, as long as something is left."""
        return self.base.sigma if self.left else 0.0

    @cached_property
    def read_rate(self) -> float:
        """Bytes a second that are read, as measured."""
        measured = self.reality.read_bytes_per_s
        return self.base.read_rate if measured is None else measured

    @cached_property
    def stall_s(self) -> float:
        """Waits for data over the whole run."""
        measured = self.reality.stall_s_a_step
        if measured is not None:
            return measured * self.steps
        return Figures.stall_s.func(self)  # type: ignore[attr-defined, no-any-return]

    @cached_property
    def checkpoint_s(self) -> float:
        """Seconds to write one checkpoint, as measured."""
        measured = self.reality.checkpoint_s
        return self.base.checkpoint_s if measured is None else measured

    @cached_property
    def failures_per_s(self) -> float:
        """Failures a second of the whole job, as measured."""
        measured = self.reality.failures_per_s
        return self.base.failures_per_s if measured is None else measured

    @property
    def ahead_s(self) -> float:
        """Work that is left."""
        return self.work_s * self.left

    @cached_property
    def rest_s(self) -> float:
        """Expected seconds from now to the last step."""
        return float(self.run.expected_s[0])

    @cached_property
    def active_s(self) -> float:
        """Seconds from the first step to the last."""
        return self.spent_s + self.rest_s

    def late_factor(self, confidence: float) -> float:
        """Active time at a confidence over its expectation: the rest stretches."""
        late = super().late_factor(confidence) - 1.0
        return 1.0 + (late * self.rest_s / self.active_s if self.active_s else 0.0)

    @cached_property
    def bills(self) -> tuple[Bill, ...]:
        """The bills of the nodes, time behind as sure as set-up is."""
        evidence = self.evidence
        times = (self.paid_fixed_s + self.spent_s, self.rest_s)
        return tuple(
            Bill(evidence, part, *times, self.sigma) for part in evidence.parts
        )

    def cost_at(self, confidence: float) -> float:
        """The bill of the finish that holds at a confidence."""
        if confidence == 0.5:
            return self.cost_usd
        late = self.active_s * self.stretch(confidence)
        stretch = (late - self.spent_s) / self.rest_s if self.rest_s else 1.0
        nodes = math.fsum(bill.at(stretch) for bill in self.bills)
        storage = self.storage_usd(self.duration_at(confidence))
        return nodes + storage + self.moving.usd


@dataclass(frozen=True, slots=True)
class Outlook:
    """When a run ends and what it costs, from day 0 on."""

    duration_days: float
    duration_p90_days: float
    limit_days: float
    """At the confidence that the scenario asks for."""
    cost_usd: float
    cost_p90_usd: float
    limit_usd: float


def forecast_of(
    acting: Acting, place: int, reality: Reality, left: float, spent_s: float
) -> tuple[Figures, ...]:
    """The figures of every job, that at ``place`` measured, and later ones as slow.

    Phases that are over are kept as planned, without any spread.
    """
    found: list[Figures] = []
    for number, figures in enumerate(acting.figures):
        evidence = figures.evidence
        if number < place:
            found.append(Forecast(evidence, left=0.0, spent_s=figures.active_s))
        elif number == place:
            found.append(Forecast(evidence, reality, left, spent_s))
        else:
            found.append(Forecast(evidence, Reality(pace=reality.pace)))
    return tuple(found)


def outlook(acting: Acting, figures: tuple[Figures, ...]) -> Outlook:
    """The finish and the bill that the figures of all jobs come to."""
    confidence = acting.scenario.constraints.confidence
    if acting.chain is None:
        one = figures[0]
        return Outlook(
            one.duration_s / DAY,
            one.duration_at(P90) / DAY,
            one.duration_at(confidence) / DAY,
            one.cost_usd,
            one.cost_at(P90),
            one.cost_at(confidence),
        )
    chain = replace(acting.chain, known=figures)
    return Outlook(
        chain.finish_s(0.5) / DAY,
        chain.finish_s(P90) / DAY,
        chain.finish_s(confidence) / DAY,
        chain.cost_usd(0.5),
        chain.cost_usd(P90),
        chain.cost_usd(confidence),
    )


def stopped_usd(acting: Acting, figures: tuple[Figures, ...], place: int) -> float:
    """The bill if the nodes were given back now: begun units and terms are paid."""
    now = figures[place]
    spent_s = now.spent_s if isinstance(now, Forecast) else 0.0
    spent_s = max(spent_s, MOMENT_S)
    ended = Forecast(now.evidence, left=0.0, spent_s=spent_s)
    if acting.chain is None:
        return ended.cost_usd - ended.moving.serving_usd
    known = (*figures[:place], ended)
    sizes, room = [], place + 1
    for size in acting.chain.sizes:
        sizes.append(min(size, room))
        room -= sizes[-1]
    scenario = replace(acting.scenario, phases=acting.scenario.phases[: place + 1])
    held = tuple(size for size in sizes if size)
    return ChainFigures(scenario, known, held).cost_usd(0.5)

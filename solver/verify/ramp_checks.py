"""The batch ramp of a plan, climbed rung by rung."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from solver.performance.step_time import step_time
from solver.units import DAY
from solver.verify.evidence import Evidence
from solver.verify.violation import Violation, close


@dataclass(frozen=True)
class Climb:
    """The steps of a run whose batch is still growing."""

    evidence: Evidence

    @property
    def sequences_of_run(self) -> float:
        """Sequences of the whole run."""
        work = self.evidence.scenario.workload
        return work.tokens / work.sequence_length

    @cached_property
    def rungs(self) -> list[tuple[int, int]]:
        """Each batch below the whole one and its steps; none without a ramp.

        A batch is held until its share of the ramp's samples has been seen.
        """
        ramp = self.evidence.scenario.workload.batch_ramp
        if ramp is None:
            return []
        batches = range(ramp.start, self.evidence.plan.layout.global_batch_size)
        batches = batches[:: ramp.step]
        found, seen = [], 0
        for position, batch in enumerate(batches, start=1):
            until = min(position * ramp.samples / len(batches), self.sequences_of_run)
            steps = 0
            if until > seen:
                steps = math.ceil((until - seen) / batch)
            seen += steps * batch
            found.append((batch, steps))
        return found

    @property
    def steps(self) -> int:
        """Steps on the ramp."""
        return sum(steps for _, steps in self.rungs)

    @property
    def sequences(self) -> int:
        """Sequences seen on the ramp."""
        return sum(batch * steps for batch, steps in self.rungs)

    @cached_property
    def rung_seconds(self) -> tuple[float, ...]:
        """Time of the steps on each rung, every one timed by itself."""
        if not self.rungs:
            return ()
        evidence = self.evidence
        model = (evidence.shape, evidence.job, evidence.framework, evidence.hardware)
        one = evidence.layouts.take(np.zeros(len(self.rungs), dtype=np.int64))
        batches, steps = np.array(self.rungs).T
        rows = replace(one, accumulation=batches // (one.dp * one.micro_batch))
        return tuple(float(s) for s in step_time(*model, rows).total * steps)

    @property
    def seconds(self) -> float:
        """Time of the steps on the ramp."""
        return math.fsum(self.rung_seconds)

    @property
    def shown(self) -> dict[str, Any] | None:
        """What a plan says of it."""
        ramp = self.evidence.scenario.workload.batch_ramp
        if ramp is None:
            return None
        return {
            "from": ramp.start,
            "step": ramp.step,
            "samples": ramp.samples,
            "increments": len(self.rungs),
            "steps": self.steps,
            "sequences": self.sequences,
            "days": self.seconds / DAY,
        }


def check_ramp(evidence: Evidence) -> Iterator[Violation]:
    """The ramp ends at the batch, every batch of it divides, and its figures follow."""
    plan, climb = evidence.plan, Climb(evidence)
    expected, got = climb.shown, plan.batch_ramp
    if expected is None or got is None:
        if got is not expected:
            yield Violation("divisibility", "not the ramp asked for", expected, got)
        return
    if set(got) != set(expected):
        yield Violation("throughput", "ramp: keys", sorted(expected), sorted(got))
    layout = plan.layout
    if (layout.global_batch_size - expected["from"]) % expected["step"]:
        message = "the ramp passes over the batch"
        yield Violation("divisibility", message, expected, layout.global_batch_size)
    unit = layout.dp * layout.micro_batch
    unit *= layout.pp if layout.virtual_stages > 1 else 1
    rest = [batch for batch, _ in climb.rungs if batch % unit]
    if rest:
        yield Violation("divisibility", "batches of the ramp", f"{unit} x n", rest[0])
    for name, value in expected.items():
        if name not in got or not close(float(value), got[name]):
            yield Violation("throughput", f"ramp: {name}", value, got.get(name))

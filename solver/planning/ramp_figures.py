"""What a plan says of its batch ramp."""

from __future__ import annotations

from typing import Any

from solver.candidates import CandidateTable
from solver.performance.inputs import TrainingJob
from solver.performance.ramp import rungs
from solver.units import DAY


def batch_ramp(job: TrainingJob, one: CandidateTable) -> dict[str, Any] | None:
    """The ramp of a table's only candidate, with its steps and days; None: no ramp."""
    ramp = job.batch_ramp
    if ramp is None:
        return None
    batch = int(one.layouts.global_batch[0])
    below = rungs(ramp, batch, job.sequences)
    steps = sum(rung.steps for rung in below)
    whole_s = float(one.step_time_s[0]) * (int(one.steps[0]) - steps)
    return {
        "from": ramp.start,
        "step": ramp.step,
        "samples": ramp.samples,
        "increments": (batch - ramp.start) // ramp.step,
        "steps": steps,
        "sequences": sum(rung.batch * rung.steps for rung in below),
        "days": (float(one.training_s[0]) - whole_s) / DAY,
    }

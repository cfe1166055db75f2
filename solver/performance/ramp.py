"""Batch ramps: a run that begins with small batches and grows them in equal steps.

Megatron-LM's ``--rampup-batch-size from step samples`` (num_microbatches_calculator):
the batch grows by ``step`` each time that ``samples`` over the number of increments
have been seen, and is whole after ``samples``. One layout runs all of it, so every
batch on the way is a multiple of DP x micro-batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solver.performance.inputs import (
    BatchRamp,
    BoolArray,
    FloatArray,
    IntArray,
    Layouts,
    TrainingJob,
)

__all__ = ["Rung", "divides_ramp", "ramp_s", "ramp_unit", "run_steps", "rungs"]


@dataclass(frozen=True, slots=True)
class Rung:
    """Steps of one batch on the way up."""

    batch: int
    """Sequences a step."""
    steps: int


def ramp_unit(ramp: BatchRamp) -> int:
    """Largest number of sequences that divides every batch of the ramp."""
    return math.gcd(ramp.start, ramp.step)


def divides_ramp(ramp: BatchRamp | None, unit: Any) -> BoolArray:
    """Whether DP x micro-batch (x PP) divides every batch on the way, (n,)."""
    whole = 0 if ramp is None else ramp_unit(ramp)
    return np.asarray(whole % np.asarray(unit) == 0)


def rungs(ramp: BatchRamp, batch: int, sequences: float = math.inf) -> tuple[Rung, ...]:
    """The batches below ``batch`` and how many steps each is held, in order.

    A batch that a long step of the one before passes over is left out. The run may
    end, after ``sequences``, before the ramp does.
    """
    increments = (batch - ramp.start) // ramp.step
    found, seen = [], 0
    for number in range(increments):
        size = ramp.start + number * ramp.step
        until = min(ramp.samples * (number + 1) / increments, sequences)
        steps = max(0, math.ceil((until - seen) / size))
        seen += steps * size
        if steps:
            found.append(Rung(size, steps))
    return tuple(found)


def run_steps(
    job: TrainingJob, batch: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Steps of a run of each global batch, (n,).

    Returns
    -------
    steps, ramp_steps
        Optimizer steps, of which the last, partial one counts whole, and those of them
        on the ramp, (n,) each.
    work
        Steps that the same work takes in whole batches: no run takes less time than
        that many of them, (n,).
    """
    steps = np.asarray(np.ceil(job.tokens / (job.sequence_length * batch)), np.int64)
    small, work = np.zeros(len(batch), dtype=np.int64), steps.astype(float)
    if job.batch_ramp is None:
        return steps, small, work
    for size in np.unique(batch):
        below = rungs(job.batch_ramp, int(size), job.sequences)
        seen = sum(rung.batch * rung.steps for rung in below)
        whole = max(0, math.ceil((job.sequences - seen) / size))
        here = batch == size
        small[here] = sum(rung.steps for rung in below)
        steps[here] = small[here] + whole
        work[here] = whole + seen / size
    return steps, small, work


def ramp_s(
    job: TrainingJob,
    layouts: Layouts,
    step_s: Callable[[Layouts], FloatArray],
) -> FloatArray:
    """Seconds of the steps on the ramp, (n,).

    Parameters
    ----------
    job
        What is trained, with its ramp.
    layouts
        Layouts with the accumulation of the whole batch.
    step_s
        Seconds of one step of each layout.
    """
    seconds = np.zeros(len(layouts))
    if job.batch_ramp is None:
        return seconds
    batch = layouts.global_batch
    for size in np.unique(batch):
        rows = np.flatnonzero(batch == size)
        below = rungs(job.batch_ramp, int(size), job.sequences)
        if below:
            seconds[rows] = _climb_s(below, layouts.take(rows), step_s)
    return seconds


def _climb_s(
    below: tuple[Rung, ...],
    layouts: Layouts,
    step_s: Callable[[Layouts], FloatArray],
) -> FloatArray:
    """Seconds of all rungs of layouts of one batch, (n,).

    Notes
    -----
    With all but the accumulation given, a step time is the larger of two straight
    lines of it (what hides a step's collectives is as much as there is of them, or as
    much as its micro-batches compute). Two neighbouring points at either end give both
    lines, and so every step between them, exactly.
    """

    def at(accumulation: IntArray) -> FloatArray:
        return step_s(replace(layouts, accumulation=accumulation))

    unit = layouts.dp * layouts.micro_batch
    low, high = below[0].batch // unit, below[-1].batch // unit
    first, last = at(low), at(high)
    near_low, near_high = at(low + 1) - first, at(high + 1) - last
    seconds = np.zeros(len(layouts))
    for rung in below:
        count = rung.batch // unit
        near = first + near_low * (count - low)
        far = last + near_high * (count - high)
        seconds += rung.steps * np.maximum(near, far)
    return seconds

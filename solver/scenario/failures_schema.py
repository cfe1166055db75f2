"""Failures as people write them."""

from __future__ import annotations

from solver.scenario.quantities import Hours, PositiveHours
from solver.scenario.range_schema import Spares
from solver.scenario.spec import Spec


class FailuresSpec(Spec):
    """How often GPUs fail, and what that costs: checkpoints, restarts, spare nodes."""

    gpu_mtbf: PositiveHours | None = None
    """Mean time of one GPU between failures, as `50000 hours`; a bare number is hours.
    A job of N GPUs fails N times as often. Default: the catalog's rate of the GPU's
    generation."""
    checkpoint_interval: PositiveHours | None = None
    """Work between two checkpoints, as `30 min`; a bare number is hours. Default: the
    best, by Daly's exact form."""
    restart: Hours | None = None
    """From a failure until the saved state is read: noticing, diagnosis, start-up; a
    bare number is hours. Default: 15 min, an assumption of the catalog."""
    replacement: Hours = 0.0
    """Until a failed node has been replaced where no spare is ready; the run waits for
    it, and every node is paid. A bare number is hours. Default: 0, the provider swaps
    nodes at once."""
    spares: Spares | None = None
    """Spare nodes, rented beside those that train and ready when one fails: 2, or
    [0, 2, 4], or {min: 0, max: 4}; at most 16 numbers. Default: the best of 0 to 8, or
    0 where `replacement` is 0."""

"""What a team's own practice makes of the predicted speed.

The step-time model is that of a well-tuned framework. ``efficiency`` is the share of
its speed that a team reaches; it stretches the whole step, every part alike.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from solver.performance.inputs import FloatArray, Hardware, StepTime, TrainingJob

__all__ = ["at_efficiency", "attained"]


def attained(job: TrainingJob, hardware: Hardware) -> FloatArray:
    """Share of the predicted speed that is planned with; a scalar or (n,).

    The job's efficiency, but never so much that an arithmetic unit, a memory or a link
    would pass its data sheet, even if it worked all the time.
    """
    return np.asarray(np.minimum(job.efficiency, hardware.speed_headroom))


def at_efficiency(parts: StepTime, share: Any) -> StepTime:
    """The same step at a share of its speed: every part is divided by it."""
    if np.all(share == 1.0):
        return parts
    slower = {f.name: getattr(parts, f.name) / share for f in fields(parts)}
    return replace(parts, **slower)

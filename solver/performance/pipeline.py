"""Pipeline parallelism: the slowest stage, the bubble, sends between stages.

The first stage holds the embedding, the last one the output head; how many layers
each has is `stages.layers_per_stage`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.performance.inputs import FloatArray, IntArray
from solver.performance.stages import StageLayers


@dataclass(frozen=True)
class SlowestStage:
    """What the stage that sets the pace holds, each (n,)."""

    layers: IntArray
    has_head: FloatArray
    """1 where it holds the output head, else 0."""
    seconds: FloatArray
    """Forward and backward of one micro-batch."""
    others_s: FloatArray
    """The same of all other stages together."""


def slowest_stage(
    layers: int, stages: StageLayers, layer_s: FloatArray, head_s: FloatArray
) -> SlowestStage:
    """The stage with the longest micro-batch, its time and that of the others.

    Parameters
    ----------
    layers
        Layers of the model.
    layer_s, head_s
        Seconds of one micro-batch in a layer and in the output head, (n,).
    """
    largest_s = stages.largest * layer_s
    last_s = stages.last * layer_s + head_s
    ends = last_s >= largest_s
    slow = np.where(ends, last_s, largest_s)
    others = np.maximum(layers * layer_s + head_s - slow, 0.0)
    count = np.where(ends, stages.last, stages.largest)
    return SlowestStage(count, np.where(ends, 1.0, 0.0), slow, others)


def bubble_s(others_s: Any, virtual_stages: Any) -> FloatArray:
    """Seconds in which the slowest stage waits for the pipeline to fill and drain.

    With equal stages ``(p - 1) / v`` micro-batches, so that over m micro-batches the
    bubble is (p - 1) / (v m) of the work (arXiv 2104.04473, section 2.2).
    """
    return np.asarray(others_s / virtual_stages)


def sends_s(
    pp: Any, virtual_stages: Any, micro_batches: Any, send_s: Any, exposed: float
) -> FloatArray:
    """Exposed seconds of sends between stages, forward and backward, (n,).

    ``exposed`` of those of each micro-batch and virtual stage, and in whole the
    p - 1 that fill and drain the pipeline.
    """
    count = exposed * micro_batches * virtual_stages + (np.asarray(pp) - 1)
    return np.asarray(np.where(np.asarray(pp) > 1, 2.0 * send_s * count, 0.0))

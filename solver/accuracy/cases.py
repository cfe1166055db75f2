"""What a row of measurements says, filled up to what the performance model needs.

A `Case` is one prediction to make: model, job, framework, hardware and layout, what
was measured, and the list of everything that the row did not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solver.accuracy.machines import Machine
from solver.performance.inputs import Framework, Hardware, TrainingJob, TransformerShape

__all__ = ["Case", "Measured"]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured; None where the row does not say."""

    step_time_s: float | None = None
    peak_memory_gib: float | None = None
    reserved: bool = False
    """Whether the peak is of reserved memory, not of what was allocated of it."""
    fits: bool | None = None
    gpu_hours: float | None = None


@dataclass(frozen=True)
class Case:
    """One row as the performance model takes it."""

    id: str
    source: str
    quality: str
    metrics: tuple[str, ...]
    model: str
    gpu: str
    precision: str
    framework_id: str
    stack: str
    """tuned | plain, as `solver.performance.stack` has it."""
    year: float | None
    shape: TransformerShape
    time_shape: TransformerShape
    """The same with what a step runs besides (multi-token prediction)."""
    job: TrainingJob
    framework: Framework
    framework_key: tuple[object, ...]
    """What tells ``framework`` from another."""
    machine: Machine
    hardware: Hardware
    hardware_key: tuple[object, ...]
    capacity_gib: float
    layout: Mapping[str, int]
    batch_scale: float
    """Sequences of the measured step over those of the layout."""
    measured: Measured
    assumed: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Whether dense or moe."""
        return "moe" if self.shape.is_moe else "dense"

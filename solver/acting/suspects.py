"""Which part of a step a gap may come from, and what a measured memory means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from solver.acting.measured import PARTS
from solver.plan import Message

if TYPE_CHECKING:
    from solver.plan import Plan
    from solver.verify.figures import Figures

__all__ = ["SPEEDS", "Suspect", "memory_lines", "suspects_of"]

WORTH_NAMING = 0.02
"""Part of the step below which a part is not named."""

SPEEDS = ("step_time", "tokens_per_s", "mfu")
"""Figures that say how long a step takes."""


class Beside(Protocol):
    """A measured figure beside the predicted one."""

    @property
    def name(self) -> str:
        """Of the figure."""

    @property
    def measured(self) -> float:
        """Its value."""

    @property
    def predicted(self) -> float:
        """What the plan says."""

    @property
    def inside(self) -> bool | None:
        """Whether it lies where most do."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A part of a step that may be what is slow."""

    part: str
    predicted_s: float
    measured_s: float | None
    """None: it was not measured."""
    excess_s: float
    """Measured beyond the prediction, or what would explain all of the gap."""
    factor: float | None
    """Of the prediction, measured or needed; None where nothing was predicted."""
    share: float
    """Of the gap that it explains."""


def suspects_of(
    plan: Plan, compared: Sequence[Beside], pace: float
) -> tuple[Suspect, ...]:
    """The parts that may be slow, the likeliest first.

    ``pace`` is measured over predicted step time.

    Notes
    -----
    Parts that were measured are told by what they take beyond their prediction. Where
    none was, every part that could explain the gap by itself is told with the factor
    that it would have to be off by, the smallest first: nothing more can be known.
    No part is suspect of a step that is inside its interval, or fast.
    """
    gap = plan.step_time_s * (pace - 1.0)
    usual = all(one.inside for one in compared if one.name in SPEEDS)
    parts = [one for one in compared if one.name in PARTS]
    if parts:
        over = [one for one in parts if one.measured > one.predicted]
        whole = gap if gap > 0 else sum(one.measured - one.predicted for one in over)
        found = [
            Suspect(
                one.name,
                one.predicted,
                one.measured,
                one.measured - one.predicted,
                one.measured / one.predicted if one.predicted else None,
                (one.measured - one.predicted) / whole,
            )
            for one in over
        ]
        return tuple(sorted(found, key=lambda one: -one.excess_s))
    if gap <= 0 or usual:
        return ()
    named = {
        name: seconds
        for name, seconds in plan.step_time_parts_s.items()
        if seconds >= WORTH_NAMING * plan.step_time_s
    }
    found = [
        Suspect(name, seconds, None, gap, (seconds + gap) / seconds, 1.0)
        for name, seconds in named.items()
    ]
    return tuple(sorted(found, key=lambda one: one.factor or 0.0))


def memory_lines(figures: Figures, measured_gib: float | None) -> tuple[Message, ...]:
    """What a measured peak of memory means for the rest of the run."""
    if measured_gib is None:
        return ()
    memory = figures.evidence.plan.memory_gib
    capacity, predicted = memory["capacity"], memory["total"]
    headroom = figures.evidence.scenario.constraints.memory_headroom
    free = 1.0 - measured_gib / capacity
    words = {"measured": measured_gib, "capacity": capacity, "free": free}
    if free < 0:
        kind = "beyond"
    elif free < headroom:
        kind = "tight"
    elif measured_gib > predicted:
        kind = "above"
    else:
        kind = "fine"
    return (Message.of(f"check.memory.{kind}", **words, headroom=headroom),)

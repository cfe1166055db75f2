"""What a solve came to, in our own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from solver.errors import InternalError

OutcomeStatus: TypeAlias = Literal["optimal", "feasible", "infeasible", "unknown"]

STATUS: dict[str, OutcomeStatus] = {
    "OPTIMAL": "optimal",
    "FEASIBLE": "feasible",
    "INFEASIBLE": "infeasible",
    "UNKNOWN": "unknown",
}
"""CP-SAT's status to ours. MODEL_INVALID is our bug and has no place here."""


@dataclass(frozen=True, slots=True)
class SolveOutcome:
    """The chosen rows and how well they are proved.

    Parameters
    ----------
    status
        ``optimal`` only where the first level's value equals its bound.
    rows
        Chosen row of each job's table; None without a solution.
    values
        Value of each level of the objective (scaled integers), the canonical order
        left out; empty without a solution.
    bound
        Proved lower bound of the first level, scaled; None where nothing is proved.
    gap
        ``(value - bound) / value`` of the first level, 0 where both are equal.
    ties_proved
        Whether the lower levels and the canonical order were proved too, so that the
        same input gives the same rows.
    interrupted
        Whether Ctrl-C ended the search.
    wall_time_s
        Seconds in all.
    """

    status: OutcomeStatus
    rows: tuple[int, ...] | None
    values: tuple[int, ...]
    bound: int | None
    gap: float | None
    ties_proved: bool
    interrupted: bool
    wall_time_s: float


@dataclass(frozen=True, slots=True)
class Progress:
    """A better solution was found during a solve.

    ``level`` counts the objective's levels from 0, ``best`` and ``bound`` are that
    level's scaled values; ``gap`` as in `SolveOutcome`.
    """

    level: int
    best: int
    bound: int
    gap: float
    wall_time_s: float


ProgressCallback: TypeAlias = Callable[[Progress], None]


def status_of(name: str, diagnosis: str = "") -> OutcomeStatus:
    """Our status for CP-SAT's status called ``name``.

    Raises
    ------
    InternalError
        For MODEL_INVALID, with CP-SAT's ``diagnosis`` of the model, and for a status
        that this version of CP-SAT should not have.
    """
    if name not in STATUS:
        raise InternalError(f"CP-SAT refuses the model ({name}): {diagnosis.strip()}")
    return STATUS[name]


def relative_gap(value: int, bound: int) -> float:
    """``(value - bound) / value``, as CP-SAT counts its relative gap; 0 if equal."""
    if value == bound:
        return 0.0
    return (value - bound) / max(1, abs(value))

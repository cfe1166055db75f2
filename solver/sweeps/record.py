"""What is kept of one solved point: a row of the results."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Record"]


@dataclass(frozen=True, slots=True)
class Record:
    """The answer at a point; None where there is none.

    Parameters
    ----------
    id, number
        Of the point.
    inputs
        Key to value of what varies.
    overlay, draw
        Of the point; None where nothing of the kind varies.
    status
        optimal, feasible, infeasible or unknown, as of a solve; ``error``: the point
        could not be answered.
    reasons
        Why there is no plan, as messages with id, text and values.
    error
        What went wrong.
    plan
        The plan as ``solve --json`` prints it.
    gap, bound
        As the proof has them.
    wall_s
        Seconds that the answer took.
    host
        Computer that solved it.
    version, catalog, sweep
        gpuplan's version, and digests of the catalog and of the sweep.
    solved_at
        When, UTC.
    """

    id: str
    number: int
    inputs: dict[str, Any]
    overlay: str | None
    draw: int | None
    status: str
    version: str
    catalog: str
    sweep: str
    reasons: tuple[dict[str, Any], ...] = ()
    error: str | None = None
    plan: dict[str, Any] | None = None
    gap: float | None = None
    bound: float | None = None
    wall_s: float = 0.0
    host: str = ""
    solved_at: str = ""

    @property
    def reason(self) -> str | None:
        """Why there is no plan, in one sentence; None: there is one."""
        return self.error or "; ".join(m["text"] for m in self.reasons) or None

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

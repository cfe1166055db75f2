"""How long a question that takes many solves may still take."""

from __future__ import annotations

import time

from solver.interruption import is_asked

__all__ = ["Clock"]


class Clock:
    """Counts down from a number of wall-clock seconds."""

    def __init__(self, time_s: float) -> None:
        self.end = time.monotonic() + time_s

    @property
    def left_s(self) -> float:
        """Seconds left, 0 at least; none once the user wants to end."""
        return 0.0 if is_asked() else max(0.0, self.end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return self.left_s <= 0.0

    def stop(self) -> None:
        """End it now: the user has seen enough."""
        self.end = time.monotonic()

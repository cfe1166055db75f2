"""How long a question that takes many solves may still take."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """Counts down from a number of wall-clock seconds."""

    def __init__(self, time_s: float) -> None:
        self.end = time.monotonic() + time_s

    @property
    def left_s(self) -> float:
        """Seconds left, 0 at least."""
        return max(0.0, self.end - time.monotonic())

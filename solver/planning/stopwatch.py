"""How long each stage of making a plan takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

__all__ = ["Stopwatch"]


@dataclass(slots=True)
class Stopwatch:
    """Adds up the wall time of named stages, in the order in which they first start.

    A stage that is measured inside another one counts there too, so that only stages
    side by side add up to the whole.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    """Name of a stage to its wall time so far, seconds."""

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time spent inside the ``with`` block to a stage.

        Parameters
        ----------
        name
            The stage; measured twice, its times add up.
        """
        start = perf_counter()
        self.seconds.setdefault(name, 0.0)
        try:
            yield
        finally:
            self.seconds[name] += perf_counter() - start

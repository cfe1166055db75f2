"""A range or a list of allowed values, as people limit a number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """A bound from below and above, or an explicit set; None means free."""

    min: float | None = None
    max: float | None = None
    values: tuple[int, ...] | None = None

    def allows(self, value: float) -> bool:
        """Whether ``value`` lies within."""
        if self.values is not None and value not in self.values:
            return False
        return (self.min is None or value >= self.min) and (
            self.max is None or value <= self.max
        )

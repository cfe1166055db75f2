"""A range or a list of allowed values, as people limit a number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """A bound from below and above, or an explicit set; None means free."""

    min: float | None = None
    max: float | None = None
    values: tuple[int, ...] | None = None

    def less(self, amount: int) -> Range:
        """The range of what is left when so much is taken off its numbers."""
        if not amount:
            return self
        low = None if self.min is None else self.min - amount
        high = None if self.max is None else self.max - amount
        values = self.values and tuple(v - amount for v in self.values)
        return Range(low, high, values)

    def allows(self, value: float) -> bool:
        """Whether ``value`` lies within."""
        if self.values is not None and value not in self.values:
            return False
        return (self.min is None or value >= self.min) and (
            self.max is None or value <= self.max
        )

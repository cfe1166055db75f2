"""What was taken in place of what a row of measurements does not say."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Assumptions"]


@dataclass
class Assumptions:
    """What a row left blank, by field, and what was taken instead."""

    taken: dict[str, str] = field(default_factory=dict)

    def take(self, name: str, value: object) -> None:
        """Note that ``name`` was taken to be ``value``."""
        self.taken[name] = str(value)

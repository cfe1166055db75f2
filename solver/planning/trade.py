"""What one plan gains and loses against another, measure by measure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from solver.plan import Plan

MONTH_S = 30 * 86_400.0

NEGLIGIBLE = 5e-4
"""Relative change below which nothing is told."""


@dataclass(frozen=True, slots=True)
class Change:
    """One measure in which two plans differ.

    Parameters
    ----------
    measure
        cost_usd, duration_days, gpus, memory_headroom, stock_left_nodes,
        interruptions_per_month or carbon_t.
    value, other
        What this plan has, and what the other one has.
    gain
        Whether the change is for the better.
    """

    measure: str
    value: float
    other: float
    gain: bool

    @property
    def change(self) -> float:
        """How much more this plan has."""
        return self.value - self.other

    def as_dict(self) -> dict[str, Any]:
        """The change as the JSON contract has it."""
        return asdict(self) | {"change": self.change}


@dataclass(frozen=True, slots=True)
class Measured:
    """A plan with what it does not state itself."""

    plan: Plan
    interruptions_per_month: float
    """Servers that are taken back, expected, of all its nodes."""


def changes(one: Measured, other: Measured) -> tuple[Change, ...]:
    """Measures in which ``one`` differs from ``other``, in the order of telling.

    More is better of free memory and of what is left in stock, less of all else.
    """
    found = []
    theirs = _measures(other)
    for measure, value in _measures(one).items():
        against = theirs[measure]
        if value is None or against is None or _same(value, against):
            continue
        gain = (value > against) == (measure in MORE_IS_BETTER)
        found.append(Change(measure, value, against, gain))
    return tuple(found)


MORE_IS_BETTER = ("memory_headroom", "stock_left_nodes")


def _same(value: float, other: float) -> bool:
    return abs(value - other) <= NEGLIGIBLE * max(abs(value), abs(other))


def _measures(measured: Measured) -> dict[str, float | None]:
    plan = measured.plan
    return {
        "cost_usd": plan.cost_usd,
        "duration_days": plan.duration_days,
        "gpus": float(plan.gpus),
        "memory_headroom": plan.memory_headroom,
        "stock_left_nodes": float(plan.stock_nodes - plan.rented_nodes),
        "interruptions_per_month": measured.interruptions_per_month,
        "carbon_t": plan.carbon_t,
    }

"""What a scenario minimises, of candidates and of lower bounds alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from solver.cost import FloatArray, weighted_usd
from solver.units import DAY

if TYPE_CHECKING:
    from solver.plan import Plan
    from solver.scenario.scenario import Objective

__all__ = [
    "SHOWN",
    "Spending",
    "Spent",
    "level_values",
    "objective_values",
    "plan_values",
]

KG_PER_TONNE = 1000.0

SHOWN: Mapping[str, tuple[str, float]] = {
    "cost": ("USD", 1.0),
    "time": ("days", float(DAY)),
    "energy": ("MWh", 1000.0),
    "carbon": ("t CO2", KG_PER_TONNE),
    "weighted": ("USD", 1.0),
}
"""Objective to the unit in which it is shown, and what of its values that is."""


class Spending(Protocol):
    """What candidates, or bounds of them, spend; (n,) each."""

    @property
    def cost_usd(self) -> FloatArray:
        """Dollars."""

    @property
    def duration_s(self) -> FloatArray:
        """Seconds from order to finish."""

    @property
    def energy_kwh(self) -> FloatArray:
        """Energy of nodes and cooling."""

    @property
    def carbon_kg(self) -> FloatArray:
        """CO2 of that energy; inf where the grid is not known."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What is spent at least, (n,) each; fields as in `Spending`."""

    cost_usd: FloatArray
    duration_s: FloatArray
    energy_kwh: FloatArray
    carbon_kg: FloatArray


def plan_values(objective: Objective, plan: Plan) -> tuple[float, ...]:
    """Each level of the objective of a plan, in turn; unknown carbon is infinite."""
    energy, carbon = plan.energy_mwh or 0.0, plan.carbon_t
    spent = Spent(
        np.array([plan.cost_usd]),
        np.array([plan.duration_days * DAY]),
        np.array([energy * KG_PER_TONNE]),
        np.array([np.inf if carbon is None else carbon * KG_PER_TONNE]),
    )
    levels = objective.levels
    return tuple(float(level_values(objective, one, spent)[0]) for one in levels)


def objective_values(objective: Objective, spent: Spending) -> FloatArray:
    """First level of the objective: USD, seconds, kWh or kg CO2, (n,)."""
    return level_values(objective, objective.kind, spent)


def level_values(objective: Objective, level: str, spent: Spending) -> FloatArray:
    """One level of the objective: USD, seconds, kWh or kg CO2, (n,)."""
    if level == "cost":
        return spent.cost_usd
    if level == "time":
        return spent.duration_s
    if level == "energy":
        return spent.energy_kwh
    if level == "carbon":
        return spent.carbon_kg
    weighted: Any = weighted_usd(
        spent.cost_usd, spent.duration_s, objective.cost_weight, objective.usd_per_day
    )
    if objective.usd_per_tonne_co2:
        price = objective.usd_per_tonne_co2 / KG_PER_TONNE
        weighted = weighted + price * spent.carbon_kg
    return np.asarray(weighted)

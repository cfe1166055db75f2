"""What limits of energy and carbon would have to be for a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from solver.messages import sentence
from solver.planning.opening import Described, Opening, round_up
from solver.scenario.scenario import Constraints, Objective, Scenario
from solver.units import format_mwh, format_tonnes

KG = 1000.0
"""In a tonne; as many kWh are in a MWh."""


def energy_needed_mwh(opening: Opening) -> float:
    """The least energy, rounded up to three digits, MWh."""
    return _rounded(float(opening.table.energy_limit_kwh[opening.row]) / KG)


def carbon_needed_t(opening: Opening) -> float | None:
    """The least carbon, rounded up to three digits, t; None: it is not known."""
    least = float(opening.table.carbon_limit_kg[opening.row]) / KG
    return _rounded(least) if np.isfinite(least) else None


def _rounded(value: float) -> float:
    """A figure rounded up to three digits at least, and to a whole from 100 on."""
    if value <= 0:
        return 0.0
    digits = max(0, 2 - int(np.floor(np.log10(value))))
    return round_up(value, digits)


def relaxed_limits(opening: Opening, user: Constraints) -> Constraints:
    """The limits with the one that is relaxed as it is printed."""
    if opening.rule == "energy":
        return replace(user, max_energy_mwh=energy_needed_mwh(opening))
    if opening.rule == "carbon":
        return replace(user, max_carbon_t=carbon_needed_t(opening))
    return user


def without_carbon(scenario: Scenario) -> Scenario:
    """``scenario`` without its limit of carbon, or without carbon as its objective."""
    user = scenario.constraints
    if user.max_carbon_t is not None:
        return replace(scenario, constraints=replace(user, max_carbon_t=None))
    return replace(scenario, objective=Objective("cost"))


def _energy(opening: Opening, asked: Scenario) -> Described:
    user = asked.constraints
    needed = energy_needed_mwh(opening)
    return {
        "now": format_mwh(user.max_energy_mwh or 0.0),
        "needed": format_mwh(needed),
        "now_value": user.max_energy_mwh,
        "needed_value": needed,
        "unit": "MWh",
        "set": f"constraints.max_energy={needed:.15g} MWh",
    }


def _carbon(opening: Opening, asked: Scenario) -> Described:
    needed, limit = carbon_needed_t(opening), asked.constraints.max_carbon_t
    if needed is None or limit is None:
        left_out = "objective=cost" if limit is None else "constraints.max_carbon=null"
        return {
            "now": sentence("relax.carbon.asked"),
            "needed": sentence("relax.carbon.unknown"),
            "unit": "t",
            "set": left_out,
        }
    return {
        "now": format_tonnes(limit),
        "needed": format_tonnes(needed),
        "now_value": limit,
        "needed_value": needed,
        "unit": "t",
        "set": f"constraints.max_carbon={needed:.15g} t",
    }


ENERGY: Mapping[str, Callable[[Opening, Scenario], Described]] = {
    "energy": _energy,
    "carbon": _carbon,
}
"""Rule to what would have to be, as the JSON contract has it."""

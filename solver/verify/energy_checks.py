"""The checks of what a plan draws and emits."""

from __future__ import annotations

from collections.abc import Iterator

from solver.verify.evidence import Evidence
from solver.verify.figures import Figures
from solver.verify.violation import Violation, at_most, figures


def check_energy(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Energy follows from nodes, power, PUE and hours, and keeps its limit."""
    expected = {
        "energy_mwh": known.energy_mwh(),
        "node_power_kw": known.node_power_kw,
        "pue": known.pue,
    }
    got = {name: getattr(evidence.plan, name) for name in expected}
    yield from figures("energy", expected, got)
    user = evidence.scenario.constraints
    drawn = known.energy_mwh(known.stretch(user.confidence))
    limit = user.max_energy_mwh
    if limit is not None and not at_most(drawn, limit):
        yield Violation("energy", "it draws too much, MWh", limit, drawn)


def check_carbon(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Carbon follows from energy and grid, and keeps its limit; unknown keeps none."""
    expected = {
        "carbon_t": known.carbon_t(),
        "grid_gco2_per_kwh": known.grid_gco2_per_kwh,
    }
    got = {name: getattr(evidence.plan, name) for name in expected}
    yield from figures("carbon", expected, got)
    scenario = evidence.scenario
    emitted = known.carbon_t(known.stretch(scenario.constraints.confidence))
    if scenario.counts_carbon and emitted is None:
        yield Violation("carbon", "the grid is not known", "g CO2 per kWh", None)
    limit = scenario.constraints.max_carbon_t
    if None not in (limit, emitted) and not at_most(emitted or 0.0, limit or 0.0):
        yield Violation("carbon", "it emits too much, t", limit, emitted)

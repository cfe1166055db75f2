"""Phases of one training: each a scenario of its own, merged from the top and its part.

A phase inherits every key of the top level; of ``workload`` it changes the keys that it
states, of ``constraints`` the keys of each section. All faults keep the place at which
the user wrote the value, be it in the phase or at the top.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from solver.errors import IssueLog, shown
from solver.scenario.overrides import ScenarioSource
from solver.scenario.reading import Reading
from solver.scenario.scenario import Constraints, Phase, Scenario
from solver.yaml_source import DataPath, dotted

PHASES = "phases"

OF_A_PHASE = ("workload", "constraints")
"""Sections that a phase may state."""

SHARED = ("deadline", "budget", "confidence", "max_carbon", "max_energy")
"""Constraints that hold for all phases together."""

AMOUNT = ("tokens", "samples")
"""Ways to say how much is trained on; a phase that states one drops the other."""

Resolve = Callable[[Reading], Scenario | None]


@dataclass
class PhaseSource(ScenarioSource):
    """The merged data of one phase; places are those of the file."""

    whole: ScenarioSource | None = None
    position: int = 0
    stated: dict[str, Any] = field(default_factory=dict)
    """What the phase itself says."""

    def shown(self, path: DataPath) -> DataPath:
        """Return where the user wrote a value: in the phase, or at the top."""
        if not path or path[0] not in OF_A_PHASE:
            return path
        top = self.whole.data if self.whole is not None else {}
        if not _has(self.stated, path) and _has(top, path):
            return path
        return (PHASES, self.position, *path)

    def where(self, path: DataPath, *, key: bool = False) -> str:
        """Return the place of a value in the scenario's own file."""
        if self.whole is None:
            return super().where(path, key=key)
        return self.whole.where(self.shown(path), key=key)


def has_phases(reading: Reading) -> bool:
    """Return whether a scenario has phases, be they right or wrong."""
    return bool(reading.source.data.get(PHASES))


def resolve_phases(reading: Reading, resolve: Resolve) -> Scenario | None:
    """Return a scenario of several phases; None if a phase is faulty.

    Parameters
    ----------
    reading
        The whole scenario; takes the faults.
    resolve
        Makes a scenario of the reading of one phase; None after logging faults.

    Notes
    -----
    Of the whole, ``workload`` and ``data`` are the first phase's, and ``constraints``
    hold what all phases share: deadline, budget and confidence.
    """
    written = reading.source.data[PHASES]
    if not isinstance(written, list):
        return None  # told already, for it is no list
    _check_names(written, reading)
    phases: list[Phase] = []
    for position, stated in enumerate(written):
        if not isinstance(stated, dict):
            continue  # told already
        _check_shared(stated, position, reading)
        phase = _phase_reading(reading, stated, position)
        scenario = resolve(phase)
        reading.log.extend(phase.log)
        if scenario is not None:
            phases.append(Phase(str(stated.get("name", "")), scenario))
    _check_aims(phases, reading)
    if len(phases) < len(written) or reading.log:
        return None
    return _joined(phases)


def _joined(phases: list[Phase]) -> Scenario:
    """Return the whole: shared limits at the top, none of them in a phase."""
    first = phases[0].scenario
    user = first.constraints
    shared = Constraints(
        deadline_s=user.deadline_s,
        budget_usd=user.budget_usd,
        confidence=user.confidence,
        stated=user.stated & {"deadline", "budget"},
    )
    alone = tuple(
        replace(
            phase,
            scenario=replace(
                phase.scenario,
                constraints=replace(
                    phase.scenario.constraints,
                    deadline_s=None,
                    budget_usd=None,
                    stated=phase.scenario.constraints.stated - {"deadline", "budget"},
                ),
            ),
        )
        for phase in phases
    )
    return replace(first, constraints=shared, phases=alone)


def _phase_reading(reading: Reading, stated: dict[str, Any], position: int) -> Reading:
    """Return the reading of one phase, with a log of its own."""
    data = merged(reading.source.data, stated, first=position == 0)
    whole = reading.source
    source = PhaseSource(whole.source, data, {}, {}, whole, position, stated)
    broken = {path for path in reading.broken if path[:1] == ("offers",)}
    return Reading(source, reading.catalog, reading.today, IssueLog(), broken=broken)


def merged(
    top: dict[str, Any], stated: dict[str, Any], *, first: bool
) -> dict[str, Any]:
    """Return the data of a scenario of one phase: the top's, changed by the phase.

    Parameters
    ----------
    top
        The whole scenario's data.
    stated
        What the phase says.
    first
        Whether it is the first phase; a later one starts from a checkpoint.
    """
    data = copy.deepcopy({k: v for k, v in top.items() if k != PHASES})
    work, own = _section(data, "workload"), _section(stated, "workload")
    for key in AMOUNT:
        other = AMOUNT[1 - AMOUNT.index(key)]
        if own.get(key) is not None and own.get(other) is None:
            work.pop(other, None)
            if key == "tokens" and own.get("epochs") is None:
                work.pop("epochs", None)
    if not first:
        work.pop("batch_ramp", None)
    work |= copy.deepcopy(own)
    if not first:
        work["start"] = "checkpoint"
    limits = _section(data, "constraints")
    for key, value in _section(stated, "constraints").items():
        if key in SHARED:
            continue
        old = limits.get(key)
        limits[key] = copy.deepcopy(value)
        if isinstance(old, dict) and isinstance(value, dict):
            limits[key] = {**old, **value}
    return {**data, "workload": work, "constraints": limits}


def _section(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a copy of a mapping of the data; empty if it is none."""
    value = data.get(name)
    return dict(value) if isinstance(value, dict) else {}


def _check_names(written: list[Any], reading: Reading) -> None:
    """Log names that two phases share."""
    seen: set[str] = set()
    for position, stated in enumerate(written):
        name = stated.get("name") if isinstance(stated, dict) else None
        if isinstance(name, str):
            if name in seen:
                message = f"two phases are called {shown(name)}"
                _log("duplicate-name", message, (PHASES, position, "name"), reading)
            seen.add(name)


def _check_shared(stated: dict[str, Any], position: int, reading: Reading) -> None:
    """Log what a phase cannot state: shared limits, and a start from scratch."""
    for key in _stated_shared(stated):
        message = f"{key} holds for all phases together: say constraints.{key} instead"
        path: DataPath = (PHASES, position, "constraints", key)
        _log("contradiction", message, path, reading)
    start = _section(stated, "workload").get("start")
    if position and isinstance(start, str) and start.strip().lower() == "scratch":
        message = "a later phase starts from the checkpoint of the one before"
        path = (PHASES, position, "workload", "start")
        _log("contradiction", message, path, reading)


def _check_aims(phases: list[Phase], reading: Reading) -> None:
    """Log aims and limits that are not counted over several phases."""
    for phase in phases[:1]:
        objective, user = phase.scenario.objective, phase.scenario.constraints
        aims = {objective.kind, *objective.then}
        wrong = {
            ("objective",): bool(aims & {"carbon", "energy"})
            or objective.usd_per_tonne_co2 > 0,
            ("constraints", "max_carbon"): user.max_carbon_t is not None,
            ("constraints", "max_energy"): user.max_energy_mwh is not None,
        }
        message = "phases are planned by cost and time: they count no energy and carbon"
        for path, found in wrong.items():
            if found:
                _log("contradiction", message, path, reading)
        if phase.scenario.serving:
            message = (
                "phases are planned without moving the weights to where they serve"
            )
            _log("contradiction", message, ("serving",), reading)


def _log(code: str, message: str, path: DataPath, reading: Reading) -> None:
    """Log a fault of a phase, whatever else is wrong with the phases."""
    where = reading.source.where(path, key=code == "contradiction")
    reading.log.add(code, message, where, dotted(path))


def _stated_shared(stated: dict[str, Any]) -> Iterator[str]:
    """Yield the shared limits that a phase states."""
    section = _section(stated, "constraints")
    yield from (key for key in SHARED if section.get(key) is not None)


def _has(data: Any, path: DataPath) -> bool:
    """Return whether something is written at a path."""
    for part in path:
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return False
    return data is not None

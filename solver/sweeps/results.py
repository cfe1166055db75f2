"""The stored results of a sweep, as questions are asked of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from solver.sweeps.definition import OVERLAY, Sweep
from solver.sweeps.record import Record
from solver.sweeps.written import quantity

__all__ = ["Dimension", "Results", "facts_of", "label", "results_of", "short"]

_WHOLE = 10_000
"""Numbers from here on are shown as they are written."""

Figure = str
"""``cost_usd``, ``duration_days``, ``carbon_t`` or ``energy_mwh`` of a plan."""

FIGURES: Mapping[str, Figure] = {
    "cost": "cost_usd",
    "time": "duration_days",
    "carbon": "carbon_t",
    "energy": "energy_mwh",
}


def label(value: Any) -> str:
    """A value as tables and pictures show it."""
    if isinstance(value, str):
        return value
    if value == []:
        return "any"  # an empty list is no limit
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ", ".join(value)
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        return json.dumps(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _title(key: str) -> str:
    """A key in words, without its first part if it has several."""
    first, _, rest = key.partition(".")
    return (rest or first).replace("_", " ").replace(".", " ")


def short(text: str) -> str:
    """A label with a number of at most four digits: ``21.46 days``."""
    found = quantity(text)
    if found is None or abs(found.number) >= _WHOLE:
        return text
    return f"{found.before}{float(found.number):.4g}{found.after}"


@dataclass(frozen=True)
class Dimension:
    """What varies by listed values: an axis, a zipped group, or the overlays.

    Parameters
    ----------
    name
        Keys of the axis, such as ``model, workload.tokens``.
    keys
        The keys one by one; ``overlay`` for the overlays.
    values
        Labels of its values, in the order of the sweep.
    """

    name: str
    keys: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def title(self) -> str:
        """Its keys without their first part, for narrow tables: ``deadline``."""
        return ", ".join(_title(key) for key in self.keys)

    def of(self, record: Record) -> str:
        """The label of the value that a point has."""
        if self.keys == (OVERLAY,):
            return str(record.overlay)
        return " · ".join(label(record.inputs[key]) for key in self.keys)


@dataclass(frozen=True)
class Results:
    """What a file of results holds.

    Parameters
    ----------
    facts
        What is noted of the sweep, by key.
    dimensions
        What varies by listed values.
    drawn
        Keys that are drawn from distributions.
    total
        Points of the sweep; more than ``records`` where some are not answered yet.
    objective
        What was minimised first: cost, time, carbon or energy.
    records
        The answers, in the order of the points.
    """

    facts: Mapping[str, Any]
    dimensions: tuple[Dimension, ...]
    drawn: tuple[str, ...]
    total: int
    objective: str
    records: tuple[Record, ...]

    @property
    def planned(self) -> tuple[Record, ...]:
        """Points with a plan."""
        return tuple(record for record in self.records if record.plan is not None)

    @property
    def figure(self) -> Figure:
        """The figure of a plan that was minimised."""
        return FIGURES.get(self.objective, FIGURES["cost"])

    def objective_of(self, record: Record) -> float:
        """The minimised figure of a point with a plan."""
        return figure_of(record, self.figure)

    def best(self, records: Iterable[Record]) -> Record | None:
        """The best of some points; None: none of them has a plan."""
        able = [record for record in records if record.plan is not None]
        key = lambda r: (self.objective_of(r), figure_of(r, "duration_days"), r.number)  # noqa: E731
        return min(able, key=key, default=None)

    def coordinates(self, record: Record) -> tuple[str, ...]:
        """The labels of a point, one a dimension."""
        return tuple(dimension.of(record) for dimension in self.dimensions)


def figure_of(record: Record, figure: Figure) -> float:
    """A figure of a point's plan; inf where there is none or it is not known."""
    found = None if record.plan is None else record.plan.get(figure)
    return float("inf") if found is None else float(found)


def facts_of(sweep: Sweep, count: int, objective: str) -> dict[str, Any]:
    """What `results_of` needs to know of a sweep, to be noted with its results."""
    groups = [list(axis.keys) for axis in sweep.axes]
    groups += [[OVERLAY]] if sweep.has_overlays else []
    return {
        "name": sweep.name,
        "file": sweep.source.name,
        "base": sweep.base.stem,
        "groups": groups,
        "drawn": list(sweep.drawn),
        "points": count,
        "objective": objective,
    }


def results_of(meta: Mapping[str, str], records: Iterable[Record]) -> Results:
    """The results of a file from its facts, as text by key, and its rows."""
    facts: dict[str, Any] = dict(meta)
    for key in ("groups", "drawn", "points"):
        facts[key] = json.loads(meta.get(key, "[]" if key != "points" else "0"))
    listed = tuple(records)
    dimensions = []
    for keys in facts["groups"]:
        bare = Dimension(", ".join(keys), tuple(keys), ())
        values = tuple(dict.fromkeys(bare.of(record) for record in listed))
        dimensions.append(Dimension(bare.name, bare.keys, values))
    return Results(
        facts=facts,
        dimensions=tuple(dimensions),
        drawn=tuple(facts["drawn"]),
        total=max(facts["points"], len(listed)),
        objective=facts.get("objective", "cost"),
        records=listed,
    )

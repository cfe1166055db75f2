"""What the results of a sweep say: best values, sensitivity, where there is no plan."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from solver.sweeps.record import Record
from solver.sweeps.results import Dimension, Results, figure_of
from solver.sweeps.written import quantity

__all__ = [
    "Correlation",
    "Effect",
    "Scatter",
    "PlanMap",
    "ValueRow",
    "best_by_value",
    "correlations",
    "effects",
    "main_reason",
    "plan_map",
    "scatters",
    "status_counts",
    "summary_dict",
]

FEWEST_DRAWS = 3
"""Draws from which a correlation is told."""


@dataclass(frozen=True)
class ValueRow:
    """All points with one value of a dimension."""

    dimension: str
    title: str
    """The dimension in few words."""
    value: str
    points: int
    planned: int
    best: Record | None
    reason: str | None
    """What mostly rules out the points without a plan: id of a message."""


@dataclass(frozen=True)
class Effect:
    """What changing one dimension does while all others stay as they are.

    Parameters
    ----------
    dimension, title
        The one that changes, and in few words.
    groups
        Groups of points alike in all else, of which two at least have a plan.
    cost_median, cost_most
        Largest cost over the least within a group, less one: median and maximum.
    time_median, time_most
        The same of the durations.
    opened
        Groups in which some values have a plan and others have none.
    all_groups
        All groups.
    """

    dimension: str
    title: str
    groups: int
    cost_median: float | None
    cost_most: float | None
    time_median: float | None
    time_most: float | None
    opened: int
    all_groups: int


@dataclass(frozen=True)
class Scatter:
    """The draws at one combination of the listed values."""

    coordinates: tuple[str, ...]
    draws: int
    planned: int
    cost_usd: tuple[float, float, float] | None
    """10th, 50th and 90th percentile."""
    duration_days: tuple[float, float, float] | None


@dataclass(frozen=True)
class Correlation:
    """How a drawn quantity moves cost and time: mean rank correlation, -1 to 1."""

    key: str
    cost: float | None
    time: float | None
    groups: int


def status_counts(results: Results) -> dict[str, int]:
    """Status to its number of points, and those that are not answered yet."""
    counts = Counter(record.status for record in results.records)
    left = results.total - len(results.records)
    return {**dict(sorted(counts.items())), **({"unanswered": left} if left else {})}


def best_by_value(results: Results) -> list[ValueRow]:
    """For each value of each dimension its best point."""
    rows = []
    for dimension in results.dimensions:
        by_value = _by(results.records, dimension)
        for value in dimension.values:
            having = by_value[value]
            planned = sum(record.plan is not None for record in having)
            best, reason = results.best(having), main_reason(having)
            rows.append(
                ValueRow(
                    dimension.name,
                    dimension.title,
                    value,
                    len(having),
                    planned,
                    best,
                    reason,
                )
            )
    return rows


def _by(records: Iterable[Record], dimension: Dimension) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[dimension.of(record)].append(record)
    return found


def main_reason(records: Iterable[Record]) -> str | None:
    """The id of the message that tells most often why there is no plan."""
    counts = Counter(
        record.reasons[0]["id"] if record.reasons else record.status
        for record in records
        if record.plan is None
    )
    return counts.most_common(1)[0][0] if counts else None


@dataclass(frozen=True)
class PlanMap:
    """Where there are plans over the two dimensions that decide it most.

    ``cells`` has points, those of them with a plan, and what mostly rules out the
    others, by the values of ``down`` and ``across``.
    """

    down: Dimension
    across: Dimension
    cells: Mapping[tuple[str, str], tuple[int, int, str | None]]


def plan_map(results: Results) -> PlanMap | None:
    """Where there is no plan; None where all points have one, or one axis is all."""
    if len(results.dimensions) < 2 or len(results.planned) == len(results.records):
        return None
    share = {effect.dimension: effect.opened for effect in effects(results)}
    ordered = sorted(results.dimensions, key=lambda d: -share[d.name])
    down, across = sorted(ordered[:2], key=lambda d: -len(d.values))
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in results.records:
        groups[down.of(record), across.of(record)].append(record)
    cells = {
        place: (
            len(group),
            sum(record.plan is not None for record in group),
            main_reason(group),
        )
        for place, group in groups.items()
    }
    return PlanMap(down, across, cells)


def effects(results: Results) -> list[Effect]:
    """What each dimension does, the one that moves the cost most first."""
    found = [_effect(results, i) for i in range(len(results.dimensions))]
    return sorted(found, key=lambda e: -(e.cost_median or 0.0))


def _effect(results: Results, position: int) -> Effect:
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in results.records:
        own = results.coordinates(record)
        groups[(*own[:position], *own[position + 1 :], record.draw)].append(record)
    cost, time, opened, several = [], [], 0, 0
    for group in groups.values():
        able = [record for record in group if record.plan is not None]
        refused = sum(record.status == "infeasible" for record in group)
        several += len(group) > 1
        opened += bool(able) and bool(refused)
        if len(able) > 1:
            cost.append(_spread(able, "cost_usd"))
            time.append(_spread(able, "duration_days"))
    return Effect(
        results.dimensions[position].name,
        results.dimensions[position].title,
        len(cost),
        median(cost) if cost else None,
        max(cost, default=None),
        median(time) if time else None,
        max(time, default=None),
        opened,
        several,
    )


def _spread(records: list[Record], figure: str) -> float:
    """Largest over least figure, less one; 0 where nothing costs anything."""
    values = [figure_of(record, figure) for record in records]
    return max(values) / min(values) - 1.0 if min(values) > 0 else 0.0


def scatters(results: Results) -> list[Scatter]:
    """How cost and time scatter over the draws; empty: nothing is drawn."""
    if not results.drawn:
        return []
    rows = []
    for coordinates, group in _by_coordinates(results).items():
        able = [record for record in group if record.plan is not None]
        rows.append(
            Scatter(
                coordinates,
                len(group),
                len(able),
                _percentiles(able, "cost_usd"),
                _percentiles(able, "duration_days"),
            )
        )
    return rows


def _by_coordinates(results: Results) -> dict[tuple[str, ...], list[Record]]:
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in results.records:
        groups[results.coordinates(record)].append(record)
    return groups


def _percentiles(
    records: list[Record], figure: str
) -> tuple[float, float, float] | None:
    if not records:
        return None
    values = [figure_of(record, figure) for record in records]
    low, middle, high = np.percentile(values, (10, 50, 90))
    return float(low), float(middle), float(high)


def correlations(results: Results) -> list[Correlation]:
    """How much each drawn number moves cost and time, the strongest first."""
    rows = []
    for key in results.drawn:
        cost, time = [], []
        for group in _by_coordinates(results).values():
            able = [r for r in group if r.plan is not None]
            drawn = [quantity(r.inputs[key]) for r in able]
            if len(able) < FEWEST_DRAWS or None in drawn:
                continue
            numbers = [float(q.number) for q in drawn if q is not None]
            cost += _ranked(numbers, [figure_of(r, "cost_usd") for r in able])
            time += _ranked(numbers, [figure_of(r, "duration_days") for r in able])
        rows.append(Correlation(key, _mean(cost), _mean(time), len(cost)))
    return sorted(rows, key=lambda row: -abs(row.cost or 0.0))


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _ranked(one: list[float], other: list[float]) -> list[float]:
    """Spearman's rank correlation as a list of one; 0 where one does not vary."""
    if len(set(one)) < 2:
        return []
    if len(set(other)) < 2:
        return [0.0]
    return [float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])]


def _ranks(values: list[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Ranks of values, equal ones sharing the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[place], dtype=np.float64)


def summary_dict(results: Results) -> dict[str, Any]:
    """The summary as the JSON contract has it."""
    return {
        "points": results.total,
        "answered": len(results.records),
        "statuses": status_counts(results),
        "objective": results.objective,
        "best_by_value": [
            asdict(replace(row, best=None)) | {"best": _short(row.best)}
            for row in best_by_value(results)
        ],
        "plan_map": _map_dict(plan_map(results)),
        "effects": [asdict(effect) for effect in effects(results)],
        "scatters": [asdict(scatter) for scatter in scatters(results)],
        "correlations": [asdict(each) for each in correlations(results)],
    }


def _map_dict(found: PlanMap | None) -> dict[str, Any] | None:
    """A map as the JSON contract has it, one cell an entry of a list."""
    if found is None:
        return None
    cells = [
        {"down": down, "across": across, "points": n, "planned": planned, "reason": why}
        for (down, across), (n, planned, why) in found.cells.items()
    ]
    return {"down": found.down.name, "across": found.across.name, "cells": cells}


def _short(record: Record | None) -> Mapping[str, Any] | None:
    """A point in few words: its id, inputs and main figures."""
    if record is None or record.plan is None:
        return None
    keys = ("cost_usd", "duration_days", "gpus", "gpu", "provider", "region")
    figures = {key: record.plan[key] for key in keys}
    return {"id": record.id, "inputs": record.inputs, **figures}

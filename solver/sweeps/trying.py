"""Every value of a sweep tried on its scenario before anything runs.

A value is wrong if no point that has it makes a scenario; a combination of good values
may still contradict itself, which is then told at its point.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from solver.catalog.consistency import faults_of
from solver.errors import InputError, Issue
from solver.sweeps.definition import PRICE_FACTOR, Sweep
from solver.sweeps.offers import catalog_under, folders_of
from solver.sweeps.points import Point
from solver.sweeps.question import Question, override_places, scenario_at
from solver.sweeps.written import as_factor, quantity
from solver.units import QuantityError

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["try_values"]

MOST_TRIES = 6
"""Points on which a value is tried before it counts as wrong."""
MOST_FAULTS = 50
"""Faults after which looking for more helps nobody."""


def try_values(
    sweep: Sweep, points: tuple[Point, ...], question: Question, catalog: Catalog
) -> None:
    """Refuse values that the scenario takes at no point that has them.

    Raises
    ------
    InputError
        Every such value, with its place in the sweep file.
    """
    faults = _wrong_factors(sweep, points)
    catalogs = {question.folders: catalog}
    for overlay in sweep.overlays:
        folders = folders_of(overlay, question.folders)
        if folders not in catalogs:
            catalogs[folders] = catalog_under(folders)
            faults += faults_of(catalogs[folders])
    good: set[tuple[str, str]] = set()
    for value, having in _by_value(sweep, points).items():
        if value in good or len(faults) > MOST_FAULTS:
            continue
        refused: list[Issue] = []
        for point in _spread(having):
            folders = folders_of(point.overlay, question.folders)
            found = _faults(sweep, point, question, catalogs[folders])
            if not found:
                good.update(_values(point))
                break
            refused = refused or found
        else:
            faults += refused
    if faults:
        raise InputError(_told_once(faults))


def _values(point: Point) -> Iterable[tuple[str, str]]:
    """Each value of a point with its key, as something to look up."""
    return ((key, json.dumps(value)) for key, value in point.values.items())


def _by_value(
    sweep: Sweep, points: tuple[Point, ...]
) -> dict[tuple[str, str], list[Point]]:
    """The points that have each value; of what is drawn only the extreme ones."""
    drawn = {key: [point.values[key] for point in points] for key in sweep.drawn}
    ends = {key: {json.dumps(v) for v in _ends(vs)} for key, vs in drawn.items()}
    found: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        for key, value in _values(point):
            if key not in ends or value in ends[key]:
                found.setdefault((key, value), []).append(point)
    return found or {("", ""): list(points)}


def _ends(values: list[object]) -> list[object]:
    """The least and the largest of drawn values, or all different ones of a choice."""
    known = [(found.number, value) for value in values if (found := quantity(value))]
    if len(known) < len(values):
        return list({json.dumps(value): value for value in values}.values())
    ordered = sorted(known, key=lambda each: each[0])
    return [ordered[0][1], ordered[-1][1]]


def _spread(points: list[Point]) -> list[Point]:
    """A few points from first to last."""
    if len(points) <= MOST_TRIES:
        return points
    last = len(points) - 1
    return [points[i * last // (MOST_TRIES - 1)] for i in range(MOST_TRIES)]


def _faults(
    sweep: Sweep, point: Point, question: Question, catalog: Catalog
) -> list[Issue]:
    """What is wrong with the scenario of a point, placed in the sweep file."""
    try:
        scenario_at(question, point, catalog)
    except InputError as error:
        places = override_places(sweep, point)
        return [
            replace(i, where=places.get(i.where or "", i.where)) for i in error.issues
        ]
    return []


def _wrong_factors(sweep: Sweep, points: tuple[Point, ...]) -> list[Issue]:
    """Price factors that are none."""
    found = {}
    for point in points:
        try:
            as_factor(point.values.get(PRICE_FACTOR, 1.0))
        except QuantityError as error:
            where = sweep.source.where(point.places[PRICE_FACTOR])
            found[error.message] = Issue(error.code, error.message, where, PRICE_FACTOR)
    return list(found.values())


def _told_once(faults: Iterable[Issue]) -> list[Issue]:
    """Faults without those that say the same of other values of an axis."""
    first: dict[tuple[str, str | None, str], Issue] = {}
    for issue in faults:
        first.setdefault((issue.code, issue.path, issue.message), issue)
    return list(first.values())

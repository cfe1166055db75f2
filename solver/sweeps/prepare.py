"""A sweep from its file to points to be answered, and how long they take."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solver.catalog.consistency import faults_of
from solver.catalog.load import load_catalog
from solver.errors import InputError
from solver.resources import shipped_sweeps
from solver.scenario.gallery import Found, find_shipped
from solver.sweeps.definition import Sweep
from solver.sweeps.offers import catalog_under, folders_of
from solver.sweeps.points import Point, Points, points_of
from solver.sweeps.question import Question, question_of, scenario_at
from solver.sweeps.reading import read_sweep
from solver.sweeps.results import facts_of
from solver.sweeps.sharing import chunks_of, physics_key
from solver.sweeps.solving import solve_points
from solver.sweeps.trying import try_values

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["Estimate", "Prepared", "estimate", "find_sweep", "prepare"]

SAMPLE = 4
"""Solves, each of one point or several, by which all are estimated."""


@dataclass(frozen=True)
class Prepared:
    """A sweep whose file and values are known to be right.

    ``facts`` are noted with the results.
    """

    sweep: Sweep
    points: Points
    question: Question
    facts: dict[str, Any]

    @property
    def kinds(self) -> int:
        """Kinds of physics among the points: each evaluates its layouts once."""
        return len({physics_key(point) for point in self.points.points})


def find_sweep(path_or_name: str) -> Found:
    """The sweep file that a path or the name of a shipped one stands for.

    Raises
    ------
    InputError
        There is no such sweep.
    """
    return find_shipped(path_or_name, shipped_sweeps(), "sweep")


def prepare(path_or_name: str, folders: Iterable[Path], today: date) -> Prepared:
    """A sweep, read, multiplied out and tried.

    Parameters
    ----------
    path_or_name
        The sweep file.
    folders
        The user's catalog folders.
    today
        Day 0 of all plans.

    Raises
    ------
    InputError
        Everything that is wrong with it, its base and the catalog.
    """
    found = find_sweep(path_or_name)
    absolute = [folder.absolute() for folder in folders]
    catalog = load_catalog(absolute)
    faults = faults_of(catalog)
    if faults:
        raise InputError(faults)
    sweep = read_sweep(found.source(), catalog, found.folder, found.stem)
    points = points_of(sweep)
    places = tuple(str(folder) for folder in absolute)
    question = question_of(sweep, catalog, places, today)
    try_values(sweep, points.points, question, catalog)
    objective = _objective(points, question, catalog)
    question = replace(question, objective=objective)
    facts = facts_of(sweep, len(points.points), objective)
    compared = {
        "sweep": question.sweep,
        "catalog": question.catalog,
        "version": question.version,
        "today": question.today.isoformat(),
    }
    return Prepared(sweep, points, question, facts | compared)


def _objective(points: Points, question: Question, catalog: Catalog) -> str:
    """What the first point that makes a scenario minimises first."""
    for point in points.points:
        folders = folders_of(point.overlay, question.folders)
        under = catalog if folders == question.folders else catalog_under(folders)
        try:
            return scenario_at(question, point, under).objective.kind
        except InputError:
            continue
    return "cost"


@dataclass(frozen=True)
class Estimate:
    """How long a sweep takes, from points answered now, one after the other.

    Parameters
    ----------
    sampled
        Points that were answered.
    first_s, next_s
        Seconds of the first, which evaluates layouts, and the mean of the others,
        which share them.
    total_s
        Seconds of all points that are left, on that many workers.
    workers
        How many.
    """

    sampled: int
    first_s: float
    next_s: float
    total_s: float
    workers: int


def estimate(prepared: Prepared, workers: int, left: int) -> Estimate:
    """How long the points that are left take, measured on a few of them."""
    points, question = prepared.points.points, prepared.question
    alike = [p for p in points if physics_key(p) == physics_key(points[0])]
    chunks = chunks_of(alike, question.objective)
    last, steps = len(chunks) - 1, min(SAMPLE, len(chunks))
    places = {i * last // max(steps - 1, 1) for i in range(steps)}
    first = _seconds(question, chunks[0][:1])
    sampled, seconds = 1, []
    for place in sorted(places):
        chunk = chunks[place][1:] if place == 0 else chunks[place]
        if chunk:
            sampled += len(chunk)
            seconds.append(_seconds(question, chunk) / len(chunk))
    mean = sum(seconds) / len(seconds) if seconds else first
    share, kinds = left / len(points), prepared.kinds
    whole = (kinds * first + (len(points) - kinds) * mean) * share
    return Estimate(sampled, first, mean, whole / workers, workers)


def _seconds(question: Question, points: tuple[Point, ...]) -> float:
    """How long the answers to some points take here."""
    started = time.perf_counter()
    if len(solve_points(question, points)) < len(points):
        raise KeyboardInterrupt  # which the search has caught, to end early
    return time.perf_counter() - started

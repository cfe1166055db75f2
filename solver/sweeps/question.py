"""What every point of a sweep has in common, ready to be sent to a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solver import __version__
from solver.catalog.digest import catalog_digest
from solver.errors import InputError, Issue
from solver.files import is_file
from solver.scenario.load import resolve_scenario
from solver.sweeps.definition import PRICE_FACTOR, Sweep
from solver.sweeps.points import Point, digest
from solver.yaml_source import DataPath, Source

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

__all__ = ["Question", "question_of", "scenario_at"]


@dataclass(frozen=True)
class Question:
    """The base of a sweep and all that its answers depend on; can be pickled.

    Parameters
    ----------
    base
        The data of the base scenario, with places: a plan names them.
    folder
        Where the base lies, for the files that it names; None: it came with gpuplan.
    stem
        The base's name if it states none.
    set_values
        Values that hold for all points.
    folders
        The user's catalog folders, absolute.
    today
        Day 0 of all plans.
    sweep, catalog
        Digests of the sweep with all files that its base names, and of the catalog.
    version
        Of gpuplan.
    objective
        What the base minimises first.
    """

    base: Source
    folder: str | None
    stem: str
    set_values: tuple[tuple[str, Any], ...]
    folders: tuple[str, ...]
    today: date
    sweep: str
    catalog: str
    version: str = __version__
    objective: str = "cost"

    @property
    def key(self) -> str:
        """What tells this question from others."""
        parts = (self.sweep, self.catalog, self.version, self.today.isoformat())
        return digest([*parts, self.base.name, self.folder, *self.folders])


def question_of(
    sweep: Sweep, catalog: Catalog, folders: tuple[str, ...], today: date
) -> Question:
    """What the points of a sweep have in common."""
    base = sweep.base
    folder = None
    if not base.shipped and isinstance(base.folder, Path):
        folder = str(base.folder.resolve())
    return Question(
        base=sweep.base_source,
        folder=folder,
        stem=base.stem,
        set_values=tuple((key, value) for key, value, _ in sweep.set_values),
        folders=folders,
        today=today,
        sweep=_sweep_digest(sweep),
        catalog=catalog_digest(catalog),
    )


def scenario_at(question: Question, point: Point, catalog: Catalog) -> Scenario:
    """The scenario of a point; overlays and price factors are not in it.

    Raises
    ------
    InputError
        What is wrong with the scenario; a fault of an override is placed at
        ``--set #n``, the overrides being the set values and then the point's own.
    """
    from solver.resources import shipped_scenarios

    base: Path | Traversable = (
        shipped_scenarios() if question.folder is None else Path(question.folder)
    )
    scenario = resolve_scenario(
        question.base,
        catalog,
        [*question.set_values, *point.overrides],
        question.today,
        base=base,
        stem=question.stem,
    )
    if scenario.phases:
        message = "a sweep is of scenarios of one job, and the base has phases"
        raise InputError([Issue("bad-usage", message, scenario.file, "phases")])
    return scenario


def override_places(sweep: Sweep, point: Point) -> Mapping[str, str]:
    """Where each ``--set #n`` of a point stands in the sweep file."""
    paths: list[DataPath] = [path for _, _, path in sweep.set_values]
    paths += [point.places[k] for k in point.values if k != PRICE_FACTOR]
    return {
        f"--set #{number}": sweep.source.where(path)
        for number, path in enumerate(paths, start=1)
    }


def _sweep_digest(sweep: Sweep) -> str:
    """Digest of the sweep file, its base, and the files that both name."""
    named = _named_files(sweep)
    return digest([sweep.source.data, sweep.base_source.data, named])


def _named_files(sweep: Sweep) -> dict[str, str]:
    """Content of the files beside the base that a value of it or the sweep names."""
    written = {str(sweep.base_source.data.get(key)) for key in ("offers", "model")}
    for key, value, _ in sweep.set_values:
        written |= {str(value)} if key in ("offers", "model") else set()
    for axis in sweep.axes:
        for row in axis.rows:
            pairs = zip(axis.keys, row, strict=True)
            written |= {str(v) for k, v in pairs if k in ("offers", "model")}
    found = {}
    for name in sorted(written):
        file = sweep.base.folder / name if len(name) < 1_000 else None
        if file is not None and is_file(file):
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found

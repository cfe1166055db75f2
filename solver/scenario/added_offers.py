"""Offers of one's own given beside a scenario: ``--offers my.csv``, ``--only``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solver.errors import InputError
from solver.files import is_file, why_no_file
from solver.scenario.csv_offers import read_offers
from solver.scenario.overrides import ScenarioSource
from solver.scenario.reading import Reading
from solver.yaml_source import DataPath, Mark, Source

__all__ = ["AddedOffers", "add_offers"]

OFFERS = "offers"
CATALOG = "catalog"


@dataclass(frozen=True, slots=True)
class AddedOffers:
    """Tables of offers that a scenario does not name itself.

    Parameters
    ----------
    files
        CSV tables; their columns are the keys of an offer.
    only
        Whether they are all that may be chosen: neither the catalog's offers nor those
        of the scenario are.
    """

    files: tuple[Path, ...] = ()
    only: bool = False


def add_offers(reading: Reading, added: AddedOffers) -> None:
    """Put the rows of tables among a scenario's offers, logging what is wrong.

    Without ``only`` they come on top: of the catalog where the scenario has no offers
    of its own, else of those, and the catalog takes part as the scenario says.
    """
    tables: list[Source] = []
    for file in added.files:
        if not is_file(file):
            reading.log.add("file-not-found", why_no_file(file), str(file), OFFERS)
            continue
        try:
            tables.append(read_offers(file, str(file)))
        except InputError as error:
            reading.log.extend(error.issues)
    if not tables:
        return
    data = reading.source.data
    if added.only:
        data[OFFERS] = []
        data.pop(CATALOG, None)
        reading.broken.discard((OFFERS,))
    elif not data.get(OFFERS):
        data[OFFERS] = []
        data[CATALOG] = "include"
    rows = data[OFFERS]
    if isinstance(rows, list):  # anything else is a fault that reading it tells
        for table in tables:
            _append(reading.source, rows, table)


def _append(source: ScenarioSource, rows: list[Any], table: Source) -> None:
    """Append the rows of a table to the scenario's, each with its own place."""
    offset = len(rows)
    moved = Source(table.name, {}, _moved(table.marks, offset))
    for number, row in enumerate(table.data[OFFERS]):
        source.tables[OFFERS, offset + number] = moved
        rows.append(row)


def _moved(marks: Mapping[DataPath, Mark], offset: int) -> dict[DataPath, Mark]:
    """Return the places of a table's rows, moved to where they stand in the list."""
    return {
        (path[0], path[1] + offset, *path[2:]): mark
        for path, mark in marks.items()
        if len(path) > 1 and isinstance(path[1], int)
    }

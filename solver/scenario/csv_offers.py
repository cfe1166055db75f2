"""Offers in a CSV table, with the line and column of every cell.

The columns are the keys of an offer; those of its network are ``network.gbps_per_node``
and ``network.kind``. An empty cell is a key left out. Lists are separated by ``;``:
``available`` holds ``2027-01-01:16``, or ``16`` for now, ``storage`` names and
``fractions`` numbers. Lines that start with ``#`` are comments.
"""

from __future__ import annotations

import csv
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from solver.catalog.reading import read_text
from solver.errors import InputError, IssueLog, shown
from solver.yaml_source import DataPath, Mark, Source, load_plain

LISTS = ("available", "storage", "fractions")
MAX_ROWS = 20_000
OTHER_SEPARATORS = {";": "semicolon", "\t": "tab", "|": "bar"}
"""What spreadsheets also write between cells."""


def read_offers(file: Traversable | Path, name: str) -> Source:
    """Return the offers of a table as a scenario would have them, under ``offers``.

    Parameters
    ----------
    file
        The table.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        It cannot be read or is no table.
    """
    lines = _lines(read_text(file, name))
    log = IssueLog()
    marks: dict[DataPath, Mark] = {("offers",): (1, 1)}
    rows: list[dict[str, Any]] = []
    header: list[str] | None = None
    for number, line in lines:
        cells = _cells(line, f"{name}:{number}:1", log)
        if cells is None:
            continue
        if header is None:
            header = cells
            _check_header(header, f"{name}:{number}:1", log)
            log.raise_if_any()
        elif len(cells) != len(header):
            message = f"{len(cells)} cells, but the table has {len(header)} columns"
            log.add("wrong-columns", message, f"{name}:{number}:1")
        elif len(rows) < MAX_ROWS:
            path: DataPath = ("offers", len(rows))
            rows.append(_row(header, cells, path, number, line, marks))
        else:
            message = f"the table has more than {MAX_ROWS:,} rows"
            log.add("file-too-large", message, f"{name}:{number}:1")
            break
    if not rows and not log:
        log.add("missing-key", "the table has no rows", f"{name}:1:1", "offers")
    log.raise_if_any()
    return Source(name, {"offers": rows}, marks)


def _lines(text: str) -> list[tuple[int, str]]:
    """Return number and text of the lines that are no comments."""
    return [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _cells(line: str, where: str, log: IssueLog) -> list[str] | None:
    """Return the cells of a line, None after logging that it is no line of a table."""
    try:
        row = next(csv.reader([line], strict=True, skipinitialspace=True), [])
    except csv.Error as error:
        log.add("csv-syntax", f"not a line of a CSV table: {error}", where)
        return None
    return [cell.strip() for cell in row]


def _check_header(header: list[str], where: str, log: IssueLog) -> None:
    """Log columns without a name or with the same one, or a table of another kind."""
    for separator, name in OTHER_SEPARATORS.items():
        if len(header) == 1 and separator in header[0]:
            message = f"the table looks {name}-separated; expected commas"
            log.add("csv-syntax", message, where)
            return
    for column in header:
        if not column:
            log.add("missing-key", "a column has no name", where)
        elif header.count(column) > 1:
            message = f"the column {shown(column)} stands here twice"
            log.add("duplicate-key", message, where, column)
            return


def _row(
    header: list[str],
    cells: list[str],
    path: DataPath,
    number: int,
    line: str,
    marks: dict[DataPath, Mark],
) -> dict[str, Any]:
    """Return the offer of a line and note where its cells stand."""
    row: dict[str, Any] = {}
    marks[path] = (number, 1)
    start = 0
    for column, cell in zip(header, cells, strict=True):
        found = line.find(cell, start)
        mark = (number, found + 1 if cell and found >= 0 else 1)
        start = max(found, start) + len(cell)
        if not cell:
            continue
        parent, *rest = column.split(".", 1)
        value = _value(parent, cell)
        if rest:
            inner = row.setdefault(parent, {})
            if isinstance(inner, dict):
                inner[rest[0]] = value
            marks[(*path, parent, rest[0])] = mark
        else:
            row[column] = value
        marks.setdefault((*path, parent), mark)
    return row


def _value(column: str, cell: str) -> Any:
    """Return what a cell holds, as YAML would have it."""
    if column not in LISTS:
        return _scalar(cell)
    parts = [part.strip() for part in cell.split(";") if part.strip()]
    if column == "storage":
        return parts
    if column == "fractions":
        return [_scalar(part) for part in parts]
    deliveries = []
    for part in parts:
        start, separator, nodes = part.rpartition(":")
        deliveries.append(
            {"from": start.strip(), "nodes": _scalar(nodes)}
            if separator
            else {"nodes": _scalar(part)}
        )
    return deliveries


def _scalar(text: str) -> Any:
    """Return a number where the text is one, else the text."""
    try:
        value = load_plain(text, "cell")
    except InputError:
        return text
    return value if isinstance(value, int | float) else text

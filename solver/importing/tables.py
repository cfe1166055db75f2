"""CSV tables of other tools, read by header, with the line of every row."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from solver.catalog.reading import MAX_TABLE_BYTES, read_text
from solver.errors import IssueLog, nearest, shown
from solver.importing.quotes import Findings

__all__ = ["Row", "Source", "read_table"]

NEAR = 0.85
"""Likeness from which a column is taken for a misspelt one."""
MAX_FAULTS = 20
"""Faults of one file that are told; more say the same."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to import.

    Parameters
    ----------
    file
        The file.
    name
        What to call it in messages.
    provider
        Whose prices it holds.
    """

    file: Path
    name: str
    provider: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table.

    Parameters
    ----------
    where
        File and line.
    cells
        Text by column, without surrounding blanks; a column that is missing is empty.
    """

    where: str
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        """Return the text of a cell."""
        return self.cells.get(column, "")


def read_table(
    source: Source,
    required: Collection[str],
    optional: Collection[str],
    findings: Findings,
) -> list[Row]:
    """Return the rows of a table.

    Parameters
    ----------
    source
        The file.
    required, optional
        Columns that it has to have, and those that it may have.
    findings
        Takes a note of every other column.

    Raises
    ------
    InputError
        It cannot be read, is no table, or lacks a column; all faults at once.
    """
    text = read_text(source.file, source.name, MAX_TABLE_BYTES)
    log = IssueLog()
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        header = [column.strip() for column in next(reader, [])]
        _check_header(header, source.name, required, log)
        log.raise_if_any()
        for column in header:
            if column not in required and column not in optional:
                findings.skip(f"{source.name}:1", "unknown-column", column)
        rows.extend(_rows(reader, header, source.name, log))
    except csv.Error as error:
        message = f"not a CSV table: {error}"
        log.add("csv-syntax", message, f"{source.name}:{reader.line_num}:1")
    if not rows and not log:
        message = "the table has no rows"
        log.add("missing-key", message, f"{source.name}:1:1")
    log.raise_if_any()
    return rows


def _check_header(
    header: list[str], name: str, required: Collection[str], log: IssueLog
) -> None:
    """Log columns that are missing or there twice."""
    where = f"{name}:1:1"
    if not set(required) & set(header):
        message = f"not this tool's table: it needs the columns {', '.join(required)}"
        log.add("wrong-columns", message, where)
        return
    for column in required:
        if column not in header:
            others = [written for written in header if written not in required]
            hint = nearest(column, others, cutoff=NEAR)
            message = f"the table needs the column {shown(column)}"
            log.add("missing-key", message, where, column, hint)
    for index, column in enumerate(header):
        if column and column in header[:index]:
            log.add("duplicate-key", "the column stands here twice", where, column)


def _rows(
    reader: Iterator[list[str]], header: list[str], name: str, log: IssueLog
) -> Iterator[Row]:
    """Yield the rows below the header; log those of another length."""
    end = reader.line_num  # type: ignore[attr-defined]
    for cells in reader:
        line, end = end + 1, reader.line_num  # type: ignore[attr-defined]
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            message = f"{len(cells)} cells, but the table has {len(header)} columns"
            log.add("wrong-columns", message, f"{name}:{line}:1")
            if len(log) >= MAX_FAULTS:
                return
            continue
        texts = (cell.strip() for cell in cells)
        yield Row(f"{name}:{line}", dict(zip(header, texts, strict=True)))

"""Tables of measurements: rows of text cells, and what each row can be asked.

A table is known by its columns: one with ``step_time_s`` holds step times, one with
``peak_memory_gib`` or ``fits`` memory, one with ``tokens_b`` whole runs; a table may
hold both of the first two. What is wrong with a row is that row's reason to be
skipped, never a reason to stop.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from io import StringIO
from pathlib import Path

from solver.accuracy.columns import COLUMNS, UnreadColumn, expected_in, unread
from solver.catalog.reading import MAX_TABLE_BYTES, read_text
from solver.errors import InputError, Issue
from solver.resources import shipped_catalog

__all__ = [
    "Skipped",
    "SkippedRowError",
    "TableRow",
    "read_tables",
    "shipped_tables",
    "unread_columns",
]

FOLDER = "measurements"

TELLING_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "step_time": ("step_time_s",),
    "memory": ("peak_memory_gib", "fits"),
    "run": ("tokens_b",),
}
"""Metric to the columns by which a table of it is known."""

MAX_ROWS = 200_000

LARGEST: Mapping[str, int] = {"layers": 10_000, "pp": 4_096, "vpp": 1_000}
LARGEST_OTHER = 10**9
"""Whole numbers above these are taken for no number."""


class SkippedRowError(ValueError):
    """A row can't be predicted; the text says why, and ``what`` of the row it is."""

    def __init__(self, reason: str, what: str = "") -> None:
        super().__init__(reason)
        self.what = what


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that was left out, and why."""

    id: str
    source: str
    reason: str
    what: str = ""
    """What of the row it is, such as a name that is not known."""

    def as_dict(self) -> dict[str, str]:
        """Return the fields in the order of the JSON contract."""
        return {
            "id": self.id,
            "source": self.source,
            "reason": self.reason,
            "what": self.what,
        }


@dataclass(frozen=True)
class TableRow:
    """One row: its cells as text, empty where the table does not say."""

    id: str
    where: str
    metrics: tuple[str, ...]
    cells: Mapping[str, str] = field(repr=False)

    def text(self, column: str) -> str:
        """The cell without spaces around it; empty where there is none."""
        return self.cells.get(column, "")

    @property
    def source(self) -> str:
        """Where it was measured: the column, else the file."""
        return self.text("source") or self.file

    @property
    def file(self) -> str:
        """The table that it stands in."""
        return self.where.rpartition(":")[0]

    @property
    def is_run(self) -> bool:
        """Whether it is a whole run: no step and no peak was measured."""
        step_or_peak = (*TELLING_COLUMNS["step_time"], *TELLING_COLUMNS["memory"])
        return "run" in self.metrics and not any(map(self.text, step_or_peak))

    def unreadable(self) -> str | None:
        """What is wrong with the first cell that is none of its column's; or None."""
        for column in COLUMNS:
            cell = self.text(column)
            if cell and (expected := self._expected(column, cell)):
                return f"{column} {cell[:40]!r} is not {expected}"
        return None

    def _expected(self, column: str, cell: str) -> str | None:
        """What should stand in a cell; None: it is right."""
        reads = {"whole": self.whole, "positive": self.number, "flag": self.flag}
        read = reads.get(COLUMNS[column].kind, self.text)(column) is not None
        return expected_in(column, None if read else parsed(cell), read=read)

    def words(self, *columns: str) -> str:
        """Several cells as one text without case, to look for words in."""
        return " ".join(self.text(column) for column in columns).casefold()

    def number(self, column: str) -> float | None:
        """A positive number; None where the cell is empty or says no such number."""
        value = parsed(self.text(column))
        return value if value is not None and value > 0 else None

    def whole(self, column: str) -> int | None:
        """A whole number of 1 or more; None as for `number`, and where it is absurd."""
        value = self.number(column)
        if value is None or value != int(value):
            return None
        return int(value) if value <= LARGEST.get(column, LARGEST_OTHER) else None

    def flag(self, column: str) -> bool | None:
        """A yes or no."""
        word = self.text(column).casefold()
        if word in ("1", "1.0", "true", "yes", "y"):
            return True
        return False if word in ("0", "0.0", "false", "no", "n") else None


_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?")


def parsed(cell: str) -> float | None:
    """The finite number in a cell, None where it is none.

    Commas stand between thousands only: '3,5' is no number, and never 35.
    """
    if _THOUSANDS.fullmatch(cell):
        cell = cell.replace(",", "")
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e15 else None


def shipped_tables() -> list[tuple[Traversable, str]]:
    """The shipped tables and their names, in order."""
    folder = shipped_catalog() / FOLDER
    files = [file for file in folder.iterdir() if file.name.endswith(".csv")]
    return [(f, f.name) for f in sorted(files, key=lambda f: f.name)]


def read_tables(
    paths: Sequence[Path] | None,
) -> tuple[list[TableRow], list[Skipped]]:
    """Rows of the tables at ``paths``, or of the shipped ones.

    Raises
    ------
    InputError
        A file cannot be read, or is no table of measurements.
    """
    files: list[tuple[Traversable, str]] = (
        [(path, str(path)) for path in paths] if paths else shipped_tables()
    )
    rows: list[TableRow] = []
    skipped: list[Skipped] = []
    issues: list[Issue] = []
    for file, name in files:
        try:
            found, left = _read_table(read_text(file, name, MAX_TABLE_BYTES), name)
        except InputError as error:
            issues += error.issues
            continue
        rows += found
        skipped += left
    if issues:
        raise InputError(issues)
    return rows, skipped


def _read_table(text: str, name: str) -> tuple[list[TableRow], list[Skipped]]:
    """Rows of one table; rows that are no rows of it are skipped."""
    reader = csv.reader(StringIO(text, newline=""), skipinitialspace=True)
    header = _header(reader, name)
    metrics = tuple(
        metric
        for metric, columns in TELLING_COLUMNS.items()
        if any(column in header for column in columns)
    )
    _check_header(header, metrics, name)
    rows: list[TableRow] = []
    skipped: list[Skipped] = []
    while len(rows) < MAX_ROWS:
        where = f"{name}:{reader.line_num + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            skipped.append(Skipped(where, "", f"no row of a table: {error}"))
            continue
        if not any(cell.strip() for cell in cells):
            continue
        row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        row_id = row.get("id") or where
        if len(cells) > len(header):
            reason = f"{len(cells)} cells, but the table has {len(header)} columns"
            skipped.append(Skipped(row_id, row.get("source", ""), reason))
            continue
        found = TableRow(row_id, where, metrics, row)
        if wrong := found.unreadable():
            skipped.append(Skipped(row_id, found.source, wrong))
        else:
            rows.append(found)
    return rows, skipped


def unread_columns(rows: Iterable[TableRow]) -> list[UnreadColumn]:
    """Columns of the rows' tables that nothing reads."""
    headers: dict[str, dict[str, None]] = {}
    for row in rows:
        headers.setdefault(row.file, {}).update(dict.fromkeys(row.cells))
    return [found for file, names in headers.items() for found in unread(file, names)]


def _header(reader: Iterable[list[str]], name: str) -> list[str]:
    """Names of the columns, without case; lines with # before them are comments."""
    try:
        lines = (cells for cells in reader if not "".join(cells[:1]).startswith("#"))
        header = next(lines, [])
    except csv.Error as error:
        message = f"the first line holds no columns: {error}"
        raise InputError([Issue("wrong-columns", message, f"{name}:1:1")]) from None
    return [cell.strip().casefold() for cell in header]


def _check_header(header: Sequence[str], metrics: Sequence[str], name: str) -> None:
    """Refuse a header that tells nothing measured, or a column twice."""
    where = f"{name}:1:1"
    if not metrics:
        wanted = ", ".join(c for columns in TELLING_COLUMNS.values() for c in columns)
        message = f"no table of measurements: it has none of the columns {wanted}"
        for sign, word in ((";", "semicolons"), ("\t", "tabs")):
            if any(sign in cell for cell in header):
                message = f"commas are expected between the columns, not {word}"
        raise InputError([Issue("missing-key", message, where)])
    counts = Counter(cell for cell in header if cell)
    message = "the column stands here twice"
    issues = [
        Issue("duplicate-key", message, where, column)
        for column, count in counts.items()
        if count > 1
    ]
    if issues:
        raise InputError(issues)

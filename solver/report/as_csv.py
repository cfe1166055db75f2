"""Rows of a list as a table of comma-separated values."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

__all__ = ["rows_as_csv"]


def rows_as_csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as the catalog's own tables are written.

    Parameters
    ----------
    columns
        The head, and the keys to write.
    rows
        What is not known is an empty cell; several values have ``;`` between them.
    """
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in columns])
    return stream.getvalue()


def _cell(value: Any) -> str:
    """Return a value as a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, tuple | list):
        return ";".join(_cell(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, default=str)
    return str(value)

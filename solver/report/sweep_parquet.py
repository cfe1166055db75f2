"""The results of a sweep as a Parquet file (needs pyarrow, the extra ``parquet``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from solver.errors import InputError, Issue
from solver.report.sweep_rows import results_as_rows
from solver.sweeps.results import Results

__all__ = ["check_parquet", "write_parquet"]


def check_parquet() -> None:
    """Refuse a Parquet file that could not be written, before any work is done.

    Raises
    ------
    InputError
        Pyarrow is missing.
    """
    try:
        import pyarrow  # noqa: F401 (is it there?)
    except ImportError:
        message = "Parquet files need pyarrow: pip install 'gpuplan[parquet]'"
        raise InputError([Issue("bad-usage", message, "--parquet")]) from None


def write_parquet(results: Results, path: Path) -> None:
    """Write all points, with the columns of the CSV table and the plan as JSON.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    import pyarrow as pa
    from pyarrow import parquet

    columns, rows = results_as_rows(results)
    listed = list(rows)
    data: dict[str, list[Any]] = {
        name: _column([row.get(name) for row in listed]) for name in columns
    }
    data["plan"] = [
        None if record.plan is None else json.dumps(record.plan)
        for record in results.records
    ]
    try:
        parquet.write_table(pa.table(data), path)
    except OSError as error:
        message = f"the file cannot be written: {error}"
        issue = Issue("output-unwritable", message, f"--parquet {path}")
        raise InputError([issue]) from None


def _column(values: list[Any]) -> list[Any]:
    """Values of one type; those of several are text, as are lists."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        whole = kinds <= {int}
        return [v if v is None or whole else float(v) for v in values]
    if len(kinds) == 1 and kinds <= {str, bool}:
        return values
    return [
        None if v is None else v if isinstance(v, str) else _text(v) for v in values
    ]


def _text(value: Any) -> str:
    """A value as text: a date as ISO has it, anything with parts as JSON."""
    return json.dumps(value) if isinstance(value, list | tuple | dict) else str(value)

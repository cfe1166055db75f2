"""What was measured of a run, read from words or from a file, all faults at once."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from solver.errors import InputError, IssueLog, nearest, shown
from solver.units import (
    GIB,
    QuantityError,
    parse_bandwidth_bytes_per_s,
    parse_bytes,
    parse_count,
    parse_duration_s,
    parse_fraction,
    parse_rate_per_s,
)
from solver.yaml_source import load_plain

__all__ = ["NAMES", "PARTS", "Measured", "Measurement", "read_measured"]

Parser = Callable[[Any], float]

_SECONDS: Parser = partial(parse_duration_s, default_unit="s")

FIGURES: Mapping[str, tuple[str, Parser]] = {
    "step_time": ("s", _SECONDS),
    "tokens_per_s": ("tokens/s", parse_rate_per_s),
    "mfu": ("1", parse_fraction),
    "peak_memory": ("GiB", lambda v: parse_bytes(v, "GiB") / GIB),
    "checkpoint": ("s", _SECONDS),
    "data_read": (
        "GB/s",
        lambda v: parse_bandwidth_bytes_per_s(v, "GB/s") / 1e9,
    ),
}
"""Name to its canonical unit and its parser."""

PARTS = (
    "compute",
    "recompute",
    "tensor_parallel",
    "context_parallel",
    "expert_parallel",
    "pipeline",
    "data_parallel",
    "optimizer",
    "offload",
    "overhead",
    "generation",
    "scoring",
    "critic",
    "weight_sync",
    "data_stall",
)
"""Parts of a step, seconds each; ``data_stall`` is the wait for data beside it."""

NAMES = (*FIGURES, "failures", *PARTS)

_FAILURES = re.compile(r"\s*([^/]+?)\s*/\s*(.+?)\s*")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure: its value in its unit, and of many values the spread."""

    name: str
    value: float
    unit: str
    count: int = 1
    low: float | None = None
    high: float | None = None
    """10th and 90th percentile, where there are many values."""


@dataclass(frozen=True, slots=True)
class Measured:
    """All that was measured."""

    figures: dict[str, Measurement] = field(default_factory=dict)
    failures: tuple[float, float] | None = None
    """How many, in how many seconds."""

    def value(self, name: str) -> float | None:
        """The value of a figure; None where it was not measured."""
        found = self.figures.get(name)
        return None if found is None else found.value


def read_measured(words: Sequence[str], files: Sequence[Path] = ()) -> Measured:
    """What was measured, from ``name=value`` words and from files.

    Parameters
    ----------
    words
        As typed after ``--measured``; they win over files.
    files
        Tables with a column a figure (CSV), or mappings of figures to a value or a list
        of values (YAML, JSON). Of several values the median is taken.

    Raises
    ------
    InputError
        Every name, unit and value that is wrong.
    """
    log, values = IssueLog(), _Values({}, {})
    for file in files:
        _read_file(file, values, log)
    typed: set[str] = set()
    for number, word in enumerate(words, start=1):
        where = f"--measured #{number}"
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals:
            message = f"expected NAME=VALUE, such as step_time=5.9s, not {shown(word)}"
            log.add("wrong-value", message, where)
            continue
        if name in typed:
            message = f"{shown(name)} is measured twice"
            log.add("duplicate-name", message, where)
        typed.add(name)
        values.add(name, [text.strip()], where)
    found = _checked(values, log)
    if log:
        raise InputError(log.issues)
    return found


@dataclass(frozen=True)
class _Values:
    """Values by name, as written, and where."""

    written: dict[str, list[Any]]
    places: dict[str, str]

    def add(self, name: str, values: list[Any], where: str) -> None:
        """Take the values of a name, in place of earlier ones."""
        self.written[name] = values
        self.places[name] = where


def _read_file(file: Path, values: _Values, log: IssueLog) -> None:
    """Take what a file says."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        message = f"the file cannot be read: {reason}"
        log.add("file-unreadable", message, f"--measurements {file}")
        return
    try:
        is_table = file.suffix.lower() == ".csv"
        data = _columns(text) if is_table else load_plain(text, str(file))
    except InputError as error:
        log.extend(error.issues)
        return
    if not isinstance(data, dict) or not data:
        message = "expected figures by name, such as step_time: [5.8 s, 5.9 s]"
        log.add("wrong-type", message, str(file))
        return
    for name, value in data.items():
        each = value if isinstance(value, list) else [value]
        values.add(str(name).strip(), each, str(file))


def _columns(text: str) -> Any:
    """Return the cells of a table by column, empty ones left out."""
    head, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    return {
        name: [row[at] for row in rows if at < len(row) and row[at].strip()]
        for at, name in enumerate(head)
        if name.strip()
    }


def _checked(values: _Values, log: IssueLog) -> Measured:
    """Read every value; log what is unknown, empty or wrong."""
    figures: dict[str, Measurement] = {}
    failures = None
    for name, written in values.written.items():
        where = values.places[name]
        if name not in NAMES:
            message = f"nothing is measured as {shown(name)}; expected {_listed()}"
            log.add("unknown-name", message, where, hint=nearest(name, NAMES))
        elif not written:
            log.add("wrong-value", "there is no value", where, name)
        elif name == "failures":
            failures = _failures(written[-1], where, log)
        else:
            unit, parse = FIGURES.get(name, ("s", _SECONDS))
            read = [_read(value, name, parse, where, log) for value in written]
            known = [value for value in read if value is not None]
            if len(known) == len(written):
                figures[name] = _summed_up(name, known, unit)
    return Measured(figures, failures)


def _listed() -> str:
    """The names of figures."""
    return f"{', '.join((*FIGURES, 'failures'))} or a part of a step"


def _read(
    value: Any, name: str, parse: Parser, where: str, log: IssueLog
) -> float | None:
    """Return one value in its unit; None after logging why there is none."""
    try:
        number = parse(value)
    except QuantityError as error:
        log.add(error.code, error.message, where, name, error.hint)
        return None
    if number == 0 and name not in PARTS:
        message = f"expected more than zero, not {shown(value)}"
        log.add("out-of-range", message, where, name)
        return None
    return float(number)


def _failures(value: Any, where: str, log: IssueLog) -> tuple[float, float] | None:
    """Return a number of failures and the seconds in which they came."""
    match = _FAILURES.fullmatch(str(value))
    if match is None:
        message = f"expected failures in a time, such as '3/7 days', not {shown(value)}"
        log.add("wrong-type", message, where, "failures")
        return None
    try:
        count, time_s = float(parse_count(match[1])), parse_duration_s(match[2])
    except QuantityError as error:
        log.add(error.code, error.message, where, "failures", error.hint)
        return None
    if time_s == 0:
        log.add("out-of-range", "expected a time above zero", where, "failures")
        return None
    return count, time_s


def _summed_up(name: str, values: list[float], unit: str) -> Measurement:
    """Return the median of values, and where there are many what most lie between."""
    if len(values) == 1:
        return Measurement(name, values[0], unit)
    ordered = sorted(values)
    last = len(ordered) - 1
    low, high = ordered[round(0.1 * last)], ordered[round(0.9 * last)]
    return Measurement(name, median(values), unit, len(values), low, high)

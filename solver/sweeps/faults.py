"""The data of a sweep file, and its faults as they are found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from solver.errors import IssueLog, nearest, shown
from solver.scenario.overrides import parse_path
from solver.sweeps.written import as_factor
from solver.units import QuantityError
from solver.yaml_source import DataPath, Source, dotted

__all__ = ["Reader"]


@dataclass
class Reader:
    """A sweep file being read; every fault is logged with its place."""

    source: Source
    log: IssueLog = field(default_factory=IssueLog)

    def fault(
        self,
        code: str,
        message: str,
        path: DataPath,
        hint: str | None = None,
        *,
        key: bool = False,
    ) -> None:
        """Log a fault of what stands at a path, or of its key."""
        where = self.source.where(path, key=key)
        self.log.add(code, message, where, dotted(path) or None, hint)

    def refused(self, error: QuantityError, path: DataPath) -> None:
        """Log a quantity that cannot be read."""
        self.fault(error.code, error.message, path, error.hint)

    def mapping(
        self, value: Any, path: DataPath, known: Iterable[str]
    ) -> dict[str, Any]:
        """A mapping with keys of a list; unknown ones are logged and left out."""
        names = tuple(known)
        if not isinstance(value, dict):
            expected = f"expected keys and their values: {', '.join(names)}"
            self.fault("wrong-type", expected, path)
            return {}
        for key in value:
            if key not in names:
                self.unknown_key(key, names, (*path, key))
        return {k: v for k, v in value.items() if k in names and v is not None}

    def unknown_key(self, key: str, known: Iterable[str], path: DataPath) -> None:
        """Log a key that does not exist."""
        names = tuple(known)
        hint = nearest(key, names)
        message = "unknown key"
        if hint is None:
            message += f"; expected one of {', '.join(names)}"
        self.fault("unknown-key", message, path, hint, key=True)

    def items(
        self, value: Any, path: DataPath, what: str
    ) -> Iterator[tuple[DataPath, Any]]:
        """The items of a list with their paths; anything else is logged."""
        if not isinstance(value, list):
            self.fault("wrong-type", f"expected a list of {what}", path)
            return
        for position, item in enumerate(value):
            yield (*path, position), item

    def scenario_keys(
        self, value: Any, path: DataPath
    ) -> Iterator[tuple[str, Any, DataPath]]:
        """Keys of the scenario in their one spelling, with values and paths."""
        if not isinstance(value, dict):
            message = "expected keys of the scenario and their values"
            self.fault("wrong-type", message, path)
            return
        for written, item in value.items():
            place = (*path, written)
            parsed = parse_path(written)
            if parsed is None:
                message = "expected a key such as constraints.gpus.max"
                self.fault("wrong-value", message, place, key=True)
                continue
            yield dotted(parsed), item, place

    def whole(self, value: Any, path: DataPath, low: int, high: int) -> int | None:
        """A whole number within limits; None after logging that it is none."""
        if isinstance(value, bool) or not isinstance(value, int):
            self.fault("wrong-type", "expected a whole number", path)
        elif not low <= value <= high:
            message = f"expected {low:,} to {high:,}, not {shown(value)}"
            self.fault("out-of-range", message, path)
        else:
            return value
        return None

    def factor(self, value: Any, path: DataPath) -> float | None:
        """A factor on prices; None after logging that it is none."""
        try:
            return as_factor(value)
        except QuantityError as error:
            self.refused(error, path)
            return None

"""Values set from outside a scenario file: ``--set constraints.deadline="20 days"``."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from solver.errors import InputError, IssueLog, shown
from solver.yaml_source import DataPath, Source, dotted, load_plain

Override = str | tuple[str, Any]
"""``key=value`` as typed, its value YAML; or a path and a value."""

_PART = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")


@dataclass
class ScenarioSource:
    """The data of a scenario and where each part of it was written.

    Parameters
    ----------
    source
        The scenario file.
    data
        Its data with overrides, and with the rows of a table that it names.
    set_at
        Path of each override, to what the user calls it.
    tables
        Path of each part that stands in another file, to that file.
    """

    source: Source
    data: dict[str, Any]
    set_at: dict[DataPath, str] = field(default_factory=dict)
    tables: dict[DataPath, Source] = field(default_factory=dict)

    def shown(self, path: DataPath) -> DataPath:
        """Return the path of a value as the user wrote it."""
        return path

    def where(self, path: DataPath, *, key: bool = False) -> str:
        """Return the place of a value: ``file:line:column`` or ``--set #1``."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.set_at:
                return self.set_at[path[:length]]
            if path[:length] in self.tables:
                return self.tables[path[:length]].where(path, key=key)
        return self.source.where(path, key=key)

    def attach(self, path: DataPath, table: Source, value: Any) -> None:
        """Put what another file says in the place where that file is named."""
        parent = self.data
        for part in path[:-1]:
            parent = parent[str(part)]
        parent[str(path[-1])] = value
        self.tables[path] = table
        self.set_at.pop(path, None)


def scenario_source(source: Source) -> ScenarioSource:
    """Return a scenario file's data, ready to be changed."""
    return ScenarioSource(source, copy.deepcopy(source.data))


def apply_overrides(
    scenario: ScenarioSource, overrides: Iterable[Override], log: IssueLog
) -> None:
    """Set values in a scenario's data; log the overrides that cannot be.

    Parameters
    ----------
    scenario
        Changed in place.
    overrides
        In order; later ones win.
    log
        Receives a fault for each override that is not understood. That a key is
        unknown or a value is wrong comes out when the data is read.
    """
    for number, override in enumerate(overrides, start=1):
        where = f"--set #{number}"
        parsed = _parsed(override, where, log)
        if parsed is not None:
            _set(scenario, parsed[0], parsed[1], where, log)


def _parsed(
    override: Override, where: str, log: IssueLog
) -> tuple[DataPath, Any] | None:
    """Return the path and value of an override, or None after logging why not."""
    if isinstance(override, str):
        key, equals, text = override.partition("=")
        if not equals:
            message = (
                f"expected KEY=VALUE, such as constraints.budget=100k, not {shown(key)}"
            )
            log.add("override-syntax", message, where)
            return None
        try:
            value = load_plain(text, where)
        except InputError as error:
            if re.match(r"\s*[\[{\"']", text):
                # the place within the words typed would be read as that of a file
                log.extend(replace(issue, where=where) for issue in error.issues)
                return None
            value = text  # such as "@home": no YAML, but clearly text
    else:
        key, value = override
    path = parse_path(key.strip())
    if path is None:
        written = shown(key.strip())
        message = f"expected a key such as constraints.gpus.max, not {written}"
        log.add("override-syntax", message, where)
        return None
    return path, value


def parse_path(text: str) -> DataPath | None:
    """Return the path written as ``offers[0].max_nodes`` or ``offers.0.max_nodes``."""
    path: list[str | int] = []
    position = 0
    while position < len(text):
        if path and text[position] == ".":
            position += 1
        match = _PART.match(text, position)
        if match is None or (match[2] is not None and not path):
            return None
        name = match[1] if match[2] is None else match[2]
        path.append(int(name) if path and name.isascii() and name.isdigit() else name)
        position = match.end()
    return None if text.endswith(".") or not path else tuple(path)


def _set(
    scenario: ScenarioSource, path: DataPath, value: Any, where: str, log: IssueLog
) -> None:
    """Set one value, making the mappings on the way to it."""
    parent: Any = scenario.data
    for depth, part in enumerate(path):
        problem = _problem(parent, part, path[:depth])
        if problem is not None:
            log.add("override-path", problem, where, dotted(path))
            return
        if depth == len(path) - 1:
            parent[part] = value
        elif isinstance(parent, dict):
            if parent.get(part) is None and isinstance(path[depth + 1], int):
                name = dotted(path[: depth + 1])
                message = f"there is no list {shown(name)} to change: set all of it"
                log.add("override-path", message, where, dotted(path))
                return
            if parent.get(part) is None:
                parent[part] = {}
            parent = parent[part]
        else:
            parent = parent[part]
    for known in [known for known in scenario.set_at if known[: len(path)] == path]:
        del scenario.set_at[known]
    scenario.set_at[path] = where


def _problem(parent: Any, part: str | int, path: DataPath) -> str | None:
    """Return why a part cannot be set in its parent, or None."""
    if isinstance(parent, dict):
        if isinstance(part, str):
            return None
        return f"{shown(dotted(path))} has keys, not positions"
    if isinstance(parent, list):
        if isinstance(part, int) and part < len(parent):
            return None
        last = len(parent) - 1
        return f"{shown(dotted(path))} is a list with positions 0 to {last}"
    return f"{shown(dotted(path))} is a single value and has no parts"

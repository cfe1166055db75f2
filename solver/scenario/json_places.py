"""Where the keys of a JSON text stand; Python's own reader does not tell."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from solver.yaml_source import DataPath, Mark

__all__ = ["KeyPlaces", "key_places", "nested_too_deep"]

MAX_DEPTH = 60
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)


@dataclass(frozen=True)
class KeyPlaces:
    """Line and column of the keys of a JSON text, both from 1.

    Parameters
    ----------
    marks
        By path; of a key that is given twice the first.
    twice
        Path and place of each key that its object has already.
    """

    marks: dict[DataPath, Mark] = field(default_factory=dict)
    twice: list[tuple[DataPath, Mark]] = field(default_factory=list)

    def where(self, name: str, path: DataPath) -> str:
        """Return ``name:line:column`` of a key, or of the nearest one around it."""
        for length in range(len(path), 0, -1):
            mark = self.marks.get(path[:length])
            if mark is not None:
                return f"{name}:{mark[0]}:{mark[1]}"
        return name


def key_places(text: str) -> KeyPlaces:
    """Return where the keys of a JSON text, which has to be right, stand."""
    starts = _line_starts(text)
    places = KeyPlaces()
    for path, position in _keys(text):
        if path in places.marks:
            places.twice.append((path, _mark(starts, position)))
        else:
            places.marks[path] = _mark(starts, position)
    return places


def nested_too_deep(text: str) -> Mark | None:
    """Return where a text is nested deeper than any configuration is."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                return _mark(_line_starts(text), token.start())
        elif token[0] in "}]":
            depth -= 1
    return None


def _keys(text: str) -> Iterator[tuple[DataPath, int]]:
    """Yield the path and position of each key."""
    path: list[str | int] = []
    expects_key = False
    for token in _TOKEN.finditer(text):
        written = token[0]
        if written == "{":
            path.append("")
            expects_key = True
        elif written == "[":
            path.append(0)
            expects_key = False
        elif written in "}]":
            path.pop()
            expects_key = False
        elif written == ",":
            last = path[-1]
            expects_key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
        elif expects_key:
            path[-1] = str(json.loads(written))
            expects_key = False
            yield tuple(path), token.start()


def _line_starts(text: str) -> list[int]:
    """Return the positions at which lines start."""
    return [0, *(end.end() for end in re.finditer("\n", text))]


def _mark(starts: list[int], position: int) -> Mark:
    """Return line and column of a position."""
    line = bisect_right(starts, position)
    return line, position - starts[line - 1] + 1

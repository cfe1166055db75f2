"""JSON files that people hand over: read with the place of each key."""

from __future__ import annotations

import json
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from solver.catalog.reading import read_text
from solver.errors import InputError, Issue, IssueLog
from solver.scenario.json_places import (
    MAX_DEPTH,
    KeyPlaces,
    key_places,
    nested_too_deep,
)
from solver.yaml_source import dotted

__all__ = ["read_json"]


def read_json(file: Traversable | Path, name: str) -> tuple[dict[str, Any], KeyPlaces]:
    """Return the object of a JSON file, and where its keys stand.

    Parameters
    ----------
    file
        The file.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        It cannot be read, is no JSON object, or has a key twice.
    """
    text = read_text(file, name)
    try:
        data = json.loads(text)
    except RecursionError:
        line, column = nested_too_deep(text) or (1, 1)
        message = f"the file is nested deeper than {MAX_DEPTH} levels"
        where = f"{name}:{line}:{column}"
        raise InputError([Issue("json-syntax", message, where)]) from None
    except ValueError as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        message = f"not JSON: {getattr(error, 'msg', 'a number is too long')}"
        where = f"{name}:{line}:{column}"
        raise InputError([Issue("json-syntax", message, where)]) from None
    if not isinstance(data, dict):
        message = "expected an object with keys and values"
        raise InputError([Issue("wrong-type", message, f"{name}:1:1")])
    places = key_places(text)
    _refuse_duplicates(places, name)
    return data, places


def _refuse_duplicates(places: KeyPlaces, name: str) -> None:
    """Raise an error that tells every key that an object has twice."""
    log = IssueLog()
    for path, (line, column) in places.twice:
        first = places.marks[path][0]
        message = f"the key is given twice, first in line {first}"
        log.add("duplicate-key", message, f"{name}:{line}:{column}", dotted(path))
    log.raise_if_any()

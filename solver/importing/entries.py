"""Entries of a catalog as the YAML files that they are kept in."""

from __future__ import annotations

import json
import re
from typing import Any

from solver.catalog.schema import Entry

__all__ = ["entry_text"]

_PLAIN = re.compile(r"[A-Za-z][\w ./()-]*[\w)]")
_WORDS = ("true", "false", "null", "yes", "no", "on", "off", "none", "y", "n")
_LAST = ("source", "as_of", "note")


def entry_text(entry: Entry) -> str:
    """Return an entry as a YAML file named like its id, usual values left out."""
    fields = type(entry).model_fields
    return "".join(
        f"{key}: {_scalar(getattr(entry, key))}\n"
        for key in (*(k for k in fields if k not in _LAST), *_LAST)
        if key != "id" and getattr(entry, key) != fields[key].default
    )


def _scalar(value: Any) -> str:
    """Return a value in YAML's flow style."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    text = str(value)
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)

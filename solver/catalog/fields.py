"""What the columns and keys of a catalog mean, read from the schema itself."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from solver.catalog.bounds import bounds_of
from solver.catalog.load import PARTS
from solver.field_texts import field_texts

__all__ = ["Column", "columns_of"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, or key of a file.

    Parameters
    ----------
    name
        As written.
    needed
        Whether it has to be stated.
    meaning
        One or two sentences.
    limits
        What a number has to lie between, with its unit; empty for others.
    """

    name: str
    needed: bool
    meaning: str
    limits: str


def columns_of(kind: str) -> tuple[Column, ...]:
    """Return the columns or keys of a part of a catalog, in order of writing.

    Those that stand for themselves come first, source, date and note last. An entry
    whose file is named like its id has no column for it.

    Parameters
    ----------
    kind
        Name in `solver.catalog.load.PARTS`.
    """
    part = PARTS[kind]
    fields = part.model.model_fields
    texts = field_texts(part.model)
    last = ("source", "as_of", "note")
    names = [name for name in fields if name not in last]
    if part.form in ("folder", "mapping"):
        names.remove("id")
    needed = {name for name in names if fields[name].is_required()} - part.derived
    needed |= {"source", "as_of"}  # checks ask for the date, too
    return tuple(
        Column(
            name,
            name in needed,
            " ".join(texts.get(name, "").split()),
            _limits(part.model, name),
        )
        for name in (*names, *last)
    )


def _limits(model: type[BaseModel], name: str) -> str:
    """Return the limits of a number as people write them, empty without any."""
    bounds = bounds_of(model, name)
    return "" if bounds is None else str(bounds)

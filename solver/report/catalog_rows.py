"""The page of ``gpuplan catalog list``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from solver.catalog.date_checks import MAX_PRICE_AGE_DAYS
from solver.catalog_view.kinds import Column, Row
from solver.catalog_view.listing import Listing
from solver.messages import sentence
from solver.report import figures
from solver.report.figures import Grid, Page, Section, label
from solver.wording import listed

__all__ = ["listing_grid", "listing_page", "value_text"]

_INDENT = 2
_GAP = 2
_LONGEST = 22
"""Columns that a text may take before it is broken."""

_WHOLE_FROM = 1e6
"""A figure from here on is shown without decimals."""


def listing_page(listing: Listing, width: int) -> Page:
    """Return a list as a page.

    Parameters
    ----------
    listing
        What to show.
    width
        Columns of the terminal: what has no room is left out, and named.
    """
    words: dict[str, Any] = {"kind": label("catalog.kinds", listing.kind.part)}
    words |= {"total": listing.total}
    if not listing.rows:
        return Page(sentence("headline.catalog.none", **words), False, ())
    words |= {"shown": len(listing.rows), "sort": ", ".join(listing.sort)}
    cut = listing.total > len(listing.rows)
    headline = "headline.catalog.limited" if cut else "headline.catalog.list"
    grid, left_out = listing_grid(
        "section.catalog.list", listing.kind.columns, listing.rows, width
    )
    notes = _notes(listing, left_out)
    parts = (grid, notes) if notes.rows else (grid,)
    return Page(sentence(headline, **words), True, parts)


def _notes(listing: Listing, left_out: Sequence[str]) -> Section:
    """Return what has to be said beside a list."""
    found = []
    if left_out:
        columns = listed(left_out)
        found.append(sentence("note.catalog.left-out", columns=columns))
    if listing.kind.part == "offers":
        found.append(sentence("note.catalog.stock"))
        if any(row["purchase"] == "spot" for row in listing.rows):
            found.append(sentence("note.catalog.spot"))
        if any("old-price" in row["flags"] for row in listing.rows):
            found.append(sentence("note.catalog.old", days=MAX_PRICE_AGE_DAYS))
    return Section("section.notes", tuple(figures.Row("", text) for text in found))


def listing_grid(
    title: str, columns: Sequence[Column], rows: Sequence[Row], width: int
) -> tuple[Grid, tuple[str, ...]]:
    """Return rows as a table that fits a width, and the columns left out for it."""
    drawn = [_drawn(column, rows) for column in columns]
    room = width - _INDENT + _GAP
    kept: set[str] = set()
    for column in sorted(drawn, key=lambda column: column.rank):
        if column.rank == 0 or column.width + _GAP <= room:
            kept.add(column.key)
            room -= column.width + _GAP
    shown = [column for column in drawn if column.key in kept]
    grid = Grid(
        title,
        tuple(column.head for column in shown),
        tuple(zip(*(column.cells for column in shown), strict=True)),
        right=tuple(i for i, column in enumerate(shown) if column.numeric),
    )
    return grid, tuple(column.key for column in drawn if column.key not in kept)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A column as text, and how wide it is."""

    key: str
    rank: int
    head: str
    cells: tuple[str, ...]
    width: int
    numeric: bool


def _drawn(column: Column, rows: Sequence[Row]) -> _Drawn:
    """Return a column of a list as text."""
    values = [row[column.key] for row in rows]
    numeric = _are_numbers(values)
    if column.key == "flags":
        values = [listed(label("flag", f) for f in flags) or " " for flags in values]
    cells = tuple(value_text(value, column.decimals) for value in values)
    longest = max(map(cell_len, cells), default=0)
    head = _wrapped(label("column.catalog", column.key), longest)
    width = longest if numeric else min(longest, _LONGEST)
    width = max(width, *map(cell_len, head.split("\n")))
    return _Drawn(column.key, column.rank, head, cells, width, numeric)


def _wrapped(head: str, width: int) -> str:
    """Return the head of a column in lines that are no wider than need be."""
    pieces = re.split(r"(?<=\s)|(?=/)", head)
    room = max(width, *(cell_len(piece.rstrip()) for piece in pieces))
    lines = [""]
    for piece in pieces:
        if cell_len(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _are_numbers(values: Iterable[Any]) -> bool:
    """Return whether all values that are known are numbers, and one is."""
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in known
    )


def value_text(value: Any, decimals: int | None = None) -> str:
    """Return a value of an entry as shown.

    Parameters
    ----------
    value
        Anything that an entry holds; what is not known is a dash.
    decimals
        Digits after the point of a number; None: as many as it has.
    """
    if value is None or value == "" or value == ():
        return sentence("value.catalog.none")
    if isinstance(value, bool):
        return sentence("value.yes" if value else "value.no")
    if isinstance(value, int | float):
        return _number_text(value, decimals)
    if isinstance(value, tuple | list):
        return ", ".join(value_text(item) for item in value)
    if isinstance(value, dict):
        items = (f"{key}: {value_text(item)}" for key, item in value.items())
        return ", ".join(items)
    return str(value)


def _number_text(value: float, decimals: int | None) -> str:
    """Return a number with commas."""
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    if isinstance(value, int) or abs(value) >= _WHOLE_FROM:
        return f"{value:,.0f}"
    return f"{value:,.6g}"

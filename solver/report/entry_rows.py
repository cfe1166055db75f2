"""The page of one catalog entry, for ``gpuplan catalog show``."""

from __future__ import annotations

from solver.catalog_view.details import EntryDetails, Figure
from solver.catalog_view.listing import Listing
from solver.messages import sentence
from solver.provenance import source_text
from solver.report.catalog_rows import listing_grid, value_text
from solver.report.figures import Grid, Page, Row, Section, label

__all__ = ["entry_page"]

_ONE = {"GPUs": "GPU", "nodes": "node", "threads": "thread", "tokens": "token"}
"""Units that are counted, for one of them."""


def entry_page(details: EntryDetails, width: int) -> Page:
    """Return an entry as a page: figures, where they come from, what goes with it.

    Parameters
    ----------
    details
        The entry.
    width
        Columns of the terminal.
    """
    headline = sentence(
        "headline.catalog.show",
        id=details.entry.id,
        kind=label("catalog.part", details.part),
        file=details.file,
        folder=details.folder,
    )
    grids = (_related(details, listing, width) for listing in details.related)
    parts: tuple[Section | Grid, ...] = (
        _figures(details),
        _origin(details),
        *grids,
        _notes(details),
    )
    return Page(headline, True, tuple(part for part in parts if part.rows))


def _related(details: EntryDetails, listing: Listing, width: int) -> Grid:
    """Return what goes with an entry, without the column that names the entry."""
    same = listing.kind.filters.get(details.part.removesuffix("s"))
    keys = {column.key for column in listing.kind.columns} - ({same} - {"id"})
    columns = [column for column in listing.kind.columns if column.key in keys]
    title = f"section.catalog.{listing.kind.part}"
    return listing_grid(title, columns, listing.rows, width)[0]


def _figures(details: EntryDetails) -> Grid:
    """Return the fields of an entry that say something."""
    columns = tuple(
        label("column.catalog", name) for name in ("field", "value", "from")
    )
    rows = tuple(
        (figure.field, _value(figure), _source(figure))
        for figure in details.figures
        if figure.stated or figure.value not in (None, "", (), {})
    )
    return Grid("section.catalog.fields", columns, rows)


def _value(figure: Figure) -> str:
    """Return a value with its unit."""
    text = value_text(figure.value)
    unit = figure.unit if figure.value != 1 else _ONE.get(figure.unit, figure.unit)
    return f"{text} {unit}" if figure.value is not None and unit else text


def _source(figure: Figure) -> str:
    """Return where a value comes from; empty: from where the entry does."""
    if not figure.stated:
        return sentence("value.catalog.default")
    if figure.own_source:
        return source_text(figure.source)
    return ""


def _origin(details: EntryDetails) -> Section:
    """Return source, date and note of the entry, and what it replaces."""
    entry = details.entry
    facts = {
        "source": source_text(entry.source),
        "as_of": entry.as_of,
        "note": entry.note,
        "replaces": ", ".join(details.replaces),
    }
    rows = (Row(label("row.catalog", key), text) for key, text in facts.items() if text)
    return Section("section.catalog.origin", tuple(rows))


def _notes(details: EntryDetails) -> Section:
    """Return what has to be said beside the figures."""
    row, found = details.row, []
    for flag in row.get("flags", ()):
        words = {"days": row["age_days"], "hours": row["min_term_hours"]}
        found.append(sentence(f"note.catalog.entry.{flag}", **words))
    if row.get("stock") == "assumed" and not row["marketplace"]:
        found.append(sentence("note.catalog.entry.stock-assumed"))
    for listing in details.related:
        if listing.total > len(listing.rows):
            name = details.part.removesuffix("s")
            known = {"total": listing.total, "id": details.entry.id}
            found.append(sentence("note.catalog.more", filter=name, **known))
    return Section("section.notes", tuple(Row("", text) for text in found))

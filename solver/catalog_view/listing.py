"""Lists of one kind of entry: filtered, sorted, cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from solver.catalog.load import Catalog
from solver.catalog_view.filters import chosen_rows, wrong_filters
from solver.catalog_view.kinds import KINDS, ListedKind, Row
from solver.errors import InputError, Issue, nearest, shown

__all__ = ["Listing", "kind_of", "list_entries"]


@dataclass(frozen=True)
class Listing:
    """Entries of one kind as asked for.

    Parameters
    ----------
    kind
        What they are.
    sort
        Columns that they are sorted by, ``-`` for largest first.
    rows
        In order.
    total
        Rows that the filters let through; more than ``rows`` where a limit is set.
    columns
        Keys of every row, also where there is none.
    """

    kind: ListedKind
    sort: tuple[str, ...]
    rows: tuple[Row, ...]
    total: int
    columns: tuple[str, ...]


def kind_of(name: str) -> ListedKind:
    """Return the kind of entry of a name: ``gpus``, ``failure-rates``.

    Raises
    ------
    InputError
        There is no such kind.
    """
    spelled = name.strip().casefold().replace("_", "-")
    if spelled in KINDS:
        return KINDS[spelled]
    message = f"the catalog has no {shown(name)}; it has {', '.join(KINDS)}"
    hint = nearest(spelled, KINDS)
    raise InputError([Issue("unknown-name", message, hint=hint)])


def list_entries(
    catalog: Catalog,
    kind: ListedKind,
    day: date,
    *,
    filters: Mapping[str, Sequence[str]] | None = None,
    sort: str | None = None,
    limit: int | None = None,
) -> Listing:
    """Return the entries of one kind that are asked for.

    Parameters
    ----------
    catalog, kind
        What to list.
    day
        Today, from which ages count.
    filters
        Name of a filter to values any of which will do; all filters have to hold.
    sort
        Columns with commas between them, ``-`` before one for largest first; what is
        not known comes last. The kind's own order by default.
    limit
        Most rows.

    Raises
    ------
    InputError
        Filters that the kind does not have, values that name nothing, columns that are
        none: all faults at once.
    """
    asked = {name: texts for name, texts in (filters or {}).items() if texts}
    log = wrong_filters(kind, asked)
    keys = kind.keys(catalog)
    order = kind.sort if sort is None else _order(kind, keys, sort, log)
    entries = catalog.entries(kind.part).values()
    rows = [kind.row(catalog, entry, day) for entry in entries]
    usable = {name: texts for name, texts in asked.items() if name in kind.filters}
    chosen = chosen_rows(kind, rows, usable, catalog, log)
    if log:
        raise InputError(log)
    for column in reversed(order):  # sorting keeps what was sorted before
        chosen = _sorted(
            chosen, column.removeprefix("-"), largest_first=column[0] == "-"
        )
    shown_rows = chosen if limit is None else chosen[:limit]
    return Listing(kind, order, tuple(shown_rows), len(chosen), keys)


def _order(
    kind: ListedKind, keys: Sequence[str], sort: str, log: list[Issue]
) -> tuple[str, ...]:
    """Return the columns to sort by; log those that are none."""
    order = tuple(part.strip() for part in sort.split(","))
    wrong = [column for column in order if column.removeprefix("-") not in keys]
    for column in wrong:
        name = column.removeprefix("-")
        hint = nearest(name, keys) or next(
            (k for k in keys if name and name in k), None
        )
        message = f"{kind.name} have no column {shown(name)}"
        log.append(Issue("unknown-key", message, f"--sort {sort}", hint=hint))
    return tuple(column for column in order if column not in wrong)


def _sorted(rows: Sequence[Row], key: str, *, largest_first: bool) -> list[Row]:
    """Return rows in order of one column, equal ones as they were, unknown last."""
    known = [row for row in rows if row[key] not in (None, "")]
    known.sort(key=lambda row: _comparable(row[key]), reverse=largest_first)
    return [*known, *(row for row in rows if row[key] in (None, ""))]


def _comparable(value: Any) -> Any:
    """Return what a value is compared by."""
    if isinstance(value, tuple | list | dict):
        return str(value)
    return value.casefold() if isinstance(value, str) else value

"""Names in a catalog that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from solver.catalog.load import PARTS
from solver.errors import Issue, nearest, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["missing"]


def missing(
    catalog: Catalog, kind: str, entry_id: str, field: str, name: str, target: str
) -> Iterator[Issue]:
    """Yield the issue of a name that a part does not have."""
    entries = catalog.entries(target)
    if name not in entries:
        message = f"{PARTS[target].file} has no {shown(name)}"
        where = catalog.where(kind, entry_id, field)
        hint = nearest(name, entries)
        yield Issue("unknown-reference", message, where, f"{entry_id}.{field}", hint)

"""Whether the dates of a catalog's figures are possible, and how old its prices are.

These checks depend on the day on which they are made, so that they are no part of
`solver.catalog.consistency.CHECKS`, which are made whenever a folder is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING

from solver.dates import age_days, first_day, last_today
from solver.errors import Issue

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Entry

__all__ = ["MAX_PRICE_AGE_DAYS", "check_future_dates", "check_stale_prices"]

MAX_PRICE_AGE_DAYS = 180
"""Days from which a price is called old unless another age is asked for."""


def check_future_dates(
    catalog: Catalog, kinds: Mapping[str, Mapping[str, Entry]], day: date
) -> Iterator[Issue]:
    """Yield entries whose figures are of a day that is still to come.

    Parameters
    ----------
    catalog
        Where the entries are from.
    kinds
        The entries to look at, by part and id.
    day
        Today.
    """
    for kind, entries in kinds.items():
        for entry in entries.values():
            first = first_day(entry.as_of)
            if first is not None and first > last_today(day):
                message = f"{entry.as_of} is still to come; today is {day}"
                where = catalog.where(kind, entry.id, "as_of")
                yield Issue("future-date", message, where, f"{entry.id}.as_of")


def check_stale_prices(
    catalog: Catalog, day: date, max_age_days: float
) -> Iterator[Issue]:
    """Yield prices older than an age: one issue for all of a date in a file.

    Notes
    -----
    Only prices grow old. What a GPU can do stays as its data sheet had it.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for kind, entries in _priced(catalog).items():
        for entry in entries:
            age = age_days(entry.as_of, day)
            if age is not None and age > max_age_days:
                place = catalog.where(kind, entry.id) or kind
                key = place.rsplit(":", 2)[0], entry.as_of
                groups.setdefault(key, []).append(place)
    for (_, as_of), places in groups.items():
        count = len(places)
        what = "1 price is" if count == 1 else f"{count:,} prices are"
        message = f"{what} of {as_of}, {age_days(as_of, day):,} days old or more"
        yield Issue("stale-price", message, places[0])


def _priced(catalog: Catalog) -> dict[str, list[Entry]]:
    """Return the entries that hold a price, by part."""
    return {
        "offers": [o for o in catalog.offers.values() if o.usd_per_node_hour > 0],
        "storage": [t for t in catalog.storage.values() if t.usd_per_gb_month],
        "egress": [e for e in catalog.egress.values() if e.usd_per_gb],
    }

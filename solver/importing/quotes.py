"""What importers read: prices as one form for all tools, and what was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from solver.catalog.schema import PurchaseKind

__all__ = ["Findings", "Quote", "Remark", "grouped", "slug"]

MAX_USD_PER_HOUR = 1e6


@dataclass(frozen=True, slots=True)
class Quote:
    """One price of one kind of server in one place, as its source has it.

    Parameters
    ----------
    where
        File and line.
    provider
        Id of the provider.
    region, zone
        As written; the zone is empty where the source names none.
    instance
        The provider's name of the server.
    gpu
        The card's name as written.
    memory_gb
        Memory of a card, where the source states it reliably.
    count
        Cards of the server.
    purchase, usd_per_hour
        Kind and price of the whole server.
    country
        Two-letter code, where the source states it.
    vcpus, ram_gb, local_nvme_tb
        Host of the server, where the source states it.
    min_term_hours
        Hours that have to be paid for, whatever is used.
    marketplace
        A broker's or marketplace's quote.
    note
        What has to be known about the price.
    """

    where: str
    provider: str
    region: str
    zone: str
    instance: str
    gpu: str
    memory_gb: float | None
    count: int
    purchase: PurchaseKind
    usd_per_hour: float
    country: str | None = None
    vcpus: float | None = None
    ram_gb: float | None = None
    local_nvme_tb: float | None = None
    min_term_hours: float = 0.0
    marketplace: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that was left out or assumed.

    Parameters
    ----------
    where
        File and line.
    reason
        Last part of a message id, ``import.skipped.<reason>``, or
        ``import.assumed.<reason>``.
    what
        What it is about, as the source has it.
    """

    where: str
    reason: str
    what: str

    def as_dict(self) -> dict[str, str]:
        """Return the fields in the order of the JSON contract."""
        return {"where": self.where, "reason": self.reason, "what": self.what}


class Findings:
    """What the files of one import hold; nothing of them is in none of the lists."""

    def __init__(self) -> None:
        self.quotes: list[Quote] = []
        self._skipped: dict[Remark, None] = {}
        self._assumed: dict[Remark, None] = {}

    @property
    def skipped(self) -> tuple[Remark, ...]:
        """What was left out, in the order in which it was met."""
        return tuple(self._skipped)

    @property
    def assumed(self) -> tuple[Remark, ...]:
        """What was taken over on an assumption."""
        return tuple(self._assumed)

    def skip(self, where: str, reason: str, what: str) -> None:
        """Note, once, that something is left out."""
        self._skipped[Remark(where, reason, what)] = None

    def assume(self, where: str, reason: str, what: str) -> None:
        """Note, once, that something is taken over on an assumption."""
        self._assumed[Remark(where, reason, what)] = None

    def price(self, text: object, where: str, what: str) -> float | None:
        """Return a price in USD per hour; None, noted if unreadable, without one.

        Nothing, and zero, are how the tools write that there is no such offer.
        """
        value = self.number(text, where, what)
        if value is not None and value > MAX_USD_PER_HOUR:
            self.skip(where, "unreadable", f"{what} {text}")
            return None
        return value or None

    def number(self, text: object, where: str, what: str) -> float | None:
        """Return a number from zero up; None, noted if unreadable, without one."""
        if text is None or (isinstance(text, str) and not text.strip()):
            return None
        try:
            value = float(text)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            value = -1.0
        if isinstance(text, bool) or not 0.0 <= value < float("inf"):
            self.skip(where, "unreadable", f"{what} {text}")
            return None
        return value

    def count(self, text: object, where: str, what: str) -> int | None:
        """Return a number of cards; note why where there is no whole number."""
        value = self.number(text, where, what)
        if value is None:
            return None
        if value != int(value) or value < 1:
            self.skip(where, "part-of-a-gpu" if value else "cpu-only", f"{what} {text}")
            return None
        return int(value)


def grouped(remarks: Iterable[Remark]) -> list[tuple[str, list[Remark]]]:
    """Return remarks by reason, the most frequent first."""
    groups: dict[str, list[Remark]] = {}
    for remark in remarks:
        groups.setdefault(remark.reason, []).append(remark)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def slug(text: str) -> str:
    """Return a text in lower case with only letters, digits, dots and hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", text.casefold()).strip("-.")

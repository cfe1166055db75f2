"""What having nodes of one's own costs: depreciation, hosting and energy.

::

    depreciation an hour = price x (1 - resale) / (years x 8,760)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from solver.units import DAY, HOUR

if TYPE_CHECKING:
    from solver.catalog.schema import Offer

__all__ = [
    "OWN_KINDS",
    "YEAR_HOURS",
    "depreciation_usd_per_hour",
    "ownership_faults",
]

OWN_KINDS = ("owned", "bought")
"""Purchase kinds of nodes that are one's own: their energy and hosting are paid."""

YEAR_HOURS = 365 * DAY // HOUR

SAME_PRICE = 1e-3
"""Relative difference up to which a stated price is the one that follows."""


def depreciation_usd_per_hour(
    buy_usd_per_node: float, years: float, resale: float = 0.0
) -> float:
    """Return what a bought node loses of its price in an hour of its years of use."""
    return buy_usd_per_node * (1.0 - resale) / (years * YEAR_HOURS)


def ownership_faults(offer: Offer) -> Iterator[tuple[str, str]]:
    """Yield field and fault of what an offer states of nodes of one's own."""
    if offer.purchase not in OWN_KINDS:
        rented = f"is part of the rent of what is {offer.purchase}"
        if offer.usd_per_kwh:
            yield "usd_per_kwh", f"energy {rented}; expected an owned or bought offer"
        if offer.hosting_usd_per_node_month:
            message = f"hosting {rented}; expected an owned or bought offer"
            yield "hosting_usd_per_node_month", message
    if offer.purchase == "bought":
        yield from _bought_faults(offer)
        return
    stated = [f for f in ("buy_usd_per_node", "years", "resale") if getattr(offer, f)]
    if stated:
        needed = "only an offer with buy_usd_per_node is bought"
        yield stated[0], f"what is {offer.purchase} is not bought; {needed}"


def _bought_faults(offer: Offer) -> Iterator[tuple[str, str]]:
    """Yield what is missing of a bought offer, or does not follow from its price."""
    buy, years = offer.buy_usd_per_node, offer.years
    if buy is None:
        yield "buy_usd_per_node", "a bought offer needs the price of a node"
    if years is None:
        yield "years", "a bought offer needs the years of use"
    if buy is None or years is None:
        return
    usd = depreciation_usd_per_hour(buy, years, offer.resale)
    if abs(offer.usd_per_node_hour - usd) > SAME_PRICE * usd:
        message = f"the depreciation is {usd:.4f} USD per node-hour"
        yield "usd_per_node_hour", message
    if offer.min_term_hours not in (0.0, years * YEAR_HOURS):
        message = "a bought node has no term but its years of use"
        yield "min_term_hours", message
    if offer.billing_unit != "second":
        yield "billing_unit", "what is bought is not billed by the unit"

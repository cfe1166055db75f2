"""How many nodes an offer has and from when on, and what of them one job may use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from solver.catalog.ownership import ownership_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solver.catalog.load import Catalog
    from solver.catalog.schema import Offer, Server

__all__ = [
    "Stock",
    "stock_by_date",
    "stock_limit",
    "supply_faults",
]


def supply_faults(offer: Offer) -> Iterator[tuple[str, str]]:
    """Yield field and fault of what an offer's nodes and terms contradict."""
    cluster, term = offer.max_nodes_per_cluster, offer.min_term_hours
    if cluster is not None and offer.min_nodes > cluster:
        least = f"at least {offer.min_nodes:,} nodes are rented"
        yield "min_nodes", f"{least}, but a job can use {cluster:,} on one fabric"
    if offer.purchase == "reserved" and not term:
        yield "min_term_hours", "a reserved offer needs the term that is committed to"
    if offer.purchase in ("spot", "owned") and term:
        yield "min_term_hours", f"what is {offer.purchase} has no term to be paid"
    yield from ownership_faults(offer)


def stock_limit(
    catalog: Catalog,
    offer: Offer,
    server: Server,
    unknown_nodes: int,
    on: date | None = None,
) -> tuple[int, bool]:
    """Return how many nodes an offer has at most, and whether its stock is known.

    Parameters
    ----------
    unknown_nodes
        What a stock that is not known is taken as (``stock.unknown_nodes``).
    on
        Day on which the nodes are wanted: later deliveries do not count. None: all do.

    Notes
    -----
    A price list says nothing of stock. Where an offer states none, a marketplace's or
    broker's is one node and every other has ``unknown_nodes``. Without a known network
    between nodes a job can use one node, whatever the stock.
    """
    connected = server.network is not None and server.network in catalog.networks
    most = None if connected else 1
    stock = offer.max_nodes
    if offer.available:
        there = sum(
            delivery.nodes
            for delivery in offer.available
            if on is None or delivery.start is None or delivery.start <= on
        )
        stock = there if stock is None else min(stock, there)
    known = stock is not None
    if stock is None:
        stock = 1 if offer.marketplace else unknown_nodes
    return (stock if most is None else min(stock, most)), known


@dataclass(frozen=True, slots=True)
class Stock:
    """Nodes of an offer from a day on."""

    start: date | None
    """None: today."""
    nodes: int
    known: bool


def stock_by_date(
    catalog: Catalog,
    offer: Offer,
    server: Server,
    unknown_nodes: int,
    today: date,
    lead_days: int = 0,
) -> tuple[Stock, ...]:
    """Return the stock of an offer at the earliest and after each delivery that adds.

    A job keeps its size, so it starts small at once or waits for a delivery. At least
    one entry; what is not there then has 0 nodes.

    Parameters
    ----------
    today
        Day of the order.
    lead_days
        Days from an order until any node can be used: a delivery before then is
        there then.
    """
    earliest = today + timedelta(days=lead_days)
    later = {d.start for d in offer.available if d.start and d.start > earliest}
    found: list[Stock] = []
    for day in (earliest, *sorted(later)):
        nodes, known = stock_limit(catalog, offer, server, unknown_nodes, day)
        if not found or nodes > found[-1].nodes:
            found.append(Stock(None if day == today else day, nodes, known))
    return tuple(found)

"""What is on offer at a point: overlays and price factors put onto the catalog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from solver.catalog.load import load_catalog
from solver.sweeps.definition import Overlay, PriceChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from solver.catalog.load import Catalog
    from solver.catalog.schema import Offer, Server
    from solver.scenario.scenario import Scenario

__all__ = ["catalog_under", "changed", "folders_of", "own_changed"]

NOT_RENTED = ("owned", "bought")
"""Purchase kinds whose price is not a rent: no factor changes it."""


def folders_of(overlay: Overlay, folders: Iterable[str]) -> tuple[str, ...]:
    """The user's catalog folders at a point, lowest precedence first."""
    return (*folders, *(() if overlay.folder is None else (overlay.folder,)))


def catalog_under(folders: Iterable[str]) -> Catalog:
    """The shipped catalog and the user's folders over it."""
    return load_catalog([Path(folder) for folder in folders])


def changed(
    scenario: Scenario, catalog: Catalog, overlay: Overlay, factor: float
) -> tuple[Scenario, Catalog]:
    """Both with prices changed and offers left out; the scenario's own offers too.

    ``factor`` is multiplied with every rent, beside those of the overlay.
    """
    own = own_changed(scenario, catalog, overlay, factor)
    nothing = scenario.supply.offers and not own.supply.offers
    if nothing and not scenario.supply.with_catalog:
        return own, catalog.with_entries(alone=("offers",), offers=[])
    return own, listed_changed(catalog, overlay, factor)


def own_changed(
    scenario: Scenario, catalog: Catalog, overlay: Overlay, factor: float
) -> Scenario:
    """A scenario whose own offers are changed, as `changed`."""
    supply = scenario.supply
    if not supply.offers:
        return scenario
    servers = {server.id: server for server in supply.servers}

    def find(server_id: str) -> Server:
        return servers.get(server_id) or catalog.servers[server_id]

    offers = _changed(supply.offers, overlay, factor, catalog, find)
    return replace(scenario, supply=replace(supply, offers=offers))


def listed_changed(catalog: Catalog, overlay: Overlay, factor: float) -> Catalog:
    """A catalog whose offers are changed, as `changed`."""
    if factor == 1.0 and not overlay.prices and not overlay.exclude:
        return catalog
    listed = catalog.offers.values()
    find = catalog.servers.__getitem__
    offers = _changed(listed, overlay, factor, catalog, find)
    return catalog.with_entries(alone=("offers",), offers=offers)


def _changed(
    offers: Iterable[Offer],
    overlay: Overlay,
    price_factor: float,
    catalog: Catalog,
    find: Callable[[str], Server],
) -> tuple[Offer, ...]:
    """The offers that are left, at their new prices."""
    kept = []
    for offer in offers:
        gpu = find(offer.server).gpu
        if _is_excluded(offer, gpu, overlay, catalog):
            continue
        factor = price_factor
        for change in overlay.prices:
            if _matches(offer, gpu, change):
                factor *= change.factor
        if factor == 1.0 or offer.purchase in NOT_RENTED:
            kept.append(offer)
        else:
            usd = offer.usd_per_node_hour * factor
            kept.append(offer.model_copy(update={"usd_per_node_hour": usd}))
    return tuple(kept)


def _matches(offer: Offer, gpu: str, change: PriceChange) -> bool:
    """Whether a price change is about an offer."""
    return (
        (change.providers is None or offer.provider in change.providers)
        and (change.regions is None or offer.region in change.regions)
        and (change.gpus is None or gpu in change.gpus)
        and (change.purchase is None or offer.purchase in change.purchase)
    )


def _is_excluded(offer: Offer, gpu: str, overlay: Overlay, catalog: Catalog) -> bool:
    """Whether an overlay leaves an offer out."""
    out = overlay.exclude
    region = catalog.regions.get(offer.region)
    country = None if region is None else region.country
    return (
        gpu in out.get("gpus", ())
        or offer.provider in out.get("providers", ())
        or offer.region in out.get("regions", ())
        or offer.purchase in out.get("purchase", ())
        or (country is not None and country in out.get("countries", ()))
    )

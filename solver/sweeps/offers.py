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

__all__ = ["catalog_under", "changed", "folders_of"]

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
    changes = overlay.prices
    if factor != 1.0:
        changes = (*changes, PriceChange(factor))
    if not changes and not overlay.exclude:
        return scenario, catalog
    servers = {server.id: server for server in scenario.supply.servers}

    def find(server_id: str) -> Server:
        return servers.get(server_id) or catalog.servers[server_id]

    own = _changed(scenario.supply.offers, changes, overlay, catalog, find)
    if own or not scenario.supply.offers:
        scenario = replace(scenario, supply=replace(scenario.supply, offers=own))
    else:  # all of the user's own offers are left out: nothing is on offer
        with_catalog = scenario.supply.with_catalog
        scenario = replace(scenario, supply=replace(scenario.supply, offers=()))
        if not with_catalog:
            return scenario, catalog.with_entries(alone=("offers",), offers=[])
    listed = _changed(catalog.offers.values(), changes, overlay, catalog, find)
    return scenario, catalog.with_entries(alone=("offers",), offers=listed)


def _changed(
    offers: Iterable[Offer],
    changes: tuple[PriceChange, ...],
    overlay: Overlay,
    catalog: Catalog,
    find: Callable[[str], Server],
) -> tuple[Offer, ...]:
    """The offers that are left, at their new prices."""
    kept = []
    for offer in offers:
        gpu = find(offer.server).gpu
        if _is_excluded(offer, gpu, overlay, catalog):
            continue
        factor = 1.0
        for change in changes:
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

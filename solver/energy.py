"""Power of nodes, and what a run draws and emits: estimates from data sheets.

::

    energy = nodes x power of a node x PUE x hours;  carbon = energy x grid intensity
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from solver.cost import FloatArray

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, Offer, Server

__all__ = [
    "DEFAULT_PUE",
    "DEFAULT_PUE_SOURCE",
    "HOST_FACTOR",
    "HOST_FACTOR_SOURCE",
    "carbon_kg",
    "energy_sources",
    "grid_of",
    "kg_per_kwh",
    "node_power_kw",
    "offer_power_kw",
    "offer_pue",
    "site_kw",
    "site_pue",
]

HOST_FACTOR = 1.5
"""Power of a node in training over the power limits of its GPUs."""

HOST_FACTOR_SOURCE = (
    "estimate: 1.5 x the GPUs' power limits, as 8 H100 of 700 W drew 8.4 kW at most in "
    "training (Latif et al. 2025, IEEE Access 13, Single-Node Power Demand During AI "
    "Training)"
)
"""Where it comes from, and that it is an estimate."""

DEFAULT_PUE = 1.58
"""Power of a site over that of its computers where the catalog does not say."""

DEFAULT_PUE_SOURCE = (
    "estimate: the 1.58 that sites average (Uptime Institute, Global Data Center "
    "Survey 2023); new halls are below it"
)
"""Where that comes from."""

COUNTRY_AVERAGE = "country average"
"""How the source of a region's grid ends where it is that of the whole country."""


def node_power_kw(server: Server, gpu: Gpu) -> float:
    """Return the power that a node draws in training, kW, without cooling.

    Notes
    -----
    ``GPUs x power limit x HOST_FACTOR``: hosts, fans, NICs and losses are in the
    factor. An estimate, rather too high for jobs that leave the GPUs waiting.
    """
    return server.gpus_per_node * gpu.tdp_w * HOST_FACTOR / 1000.0


def site_pue(catalog: Catalog, region_id: str) -> tuple[float, str]:
    """Return the PUE of a region's sites, and where it was read."""
    region = catalog.regions.get(region_id)
    if region is None or region.pue is None:
        return DEFAULT_PUE, DEFAULT_PUE_SOURCE
    return region.pue, region.pue_source


def site_kw(catalog: Catalog, offer: Offer, server: Server, gpu: Gpu) -> float:
    """Return the power of a node of an offer with what cools it, kW."""
    return offer_power_kw(offer, server, gpu) * offer_pue(catalog, offer)


def kg_per_kwh(catalog: Catalog, offer: Offer) -> float:
    """Return the CO2 of a kWh where an offer stands, kg; inf where it is not known."""
    grams, _ = grid_of(catalog, offer.region)
    return math.inf if grams is None else grams / 1000.0


def energy_sources(catalog: Catalog, offer: Offer) -> dict[str, str]:
    """Return where the figures of an offer's energy and carbon come from."""
    estimated = offer.node_power_kw is None
    pue_source = site_pue(catalog, offer.region)[1]
    found = {
        "power": HOST_FACTOR_SOURCE if estimated else offer.source,
        "pue": pue_source if offer.pue is None else offer.source,
    }
    grams, source = grid_of(catalog, offer.region)
    return found if grams is None else {**found, "grid": source}


def carbon_kg(kwh: FloatArray, kg_per_kwh: FloatArray) -> FloatArray:
    """Return the CO2 of so much energy, kg, (n,); inf where the grid is not known."""
    known = np.isfinite(kg_per_kwh)
    return np.where(known, kwh * np.where(known, kg_per_kwh, 0.0), np.inf)


def grid_of(catalog: Catalog, region_id: str) -> tuple[float | None, str]:
    """Return the CO2 of a kWh from a region's grid, g, and where it was read.

    A region without a figure of its own has its country's average, if another region
    of the catalog has that; else None, not known.
    """
    region = catalog.regions.get(region_id)
    if region is None:
        return None, ""
    if region.grid_gco2_per_kwh is not None:
        return region.grid_gco2_per_kwh, region.grid_source
    return _country_averages(catalog).get(region.country or "", (None, ""))


def _country_averages(catalog: Catalog) -> dict[str, tuple[float | None, str]]:
    """Country to the average of its grid, as far as regions state it as such."""
    key = ("country_averages",)
    if key not in catalog.memo:
        catalog.memo[key] = {
            region.country: (region.grid_gco2_per_kwh, region.grid_source)
            for _, region in sorted(catalog.regions.items())
            if region.country and region.grid_source.endswith(COUNTRY_AVERAGE)
        }
    found: dict[str, tuple[float | None, str]] = catalog.memo[key]
    return found


def offer_power_kw(offer: Offer, server: Server, gpu: Gpu) -> float:
    """Return the power of an offer's node: the stated one, or `node_power_kw`."""
    stated = offer.node_power_kw
    return node_power_kw(server, gpu) if stated is None else stated


def offer_pue(catalog: Catalog, offer: Offer) -> float:
    """Return the PUE of an offer's site: the stated one, or `site_pue`."""
    return site_pue(catalog, offer.region)[0] if offer.pue is None else offer.pue

"""Prices of moving data between regions and out of a cloud."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import EgressPrice

__all__ = ["copies_usd", "egress_steps", "egress_usd", "unpriced"]


def egress_steps(
    catalog: Catalog, origin: str, destination: str
) -> tuple[EgressPrice, ...]:
    """Return the price of moving data between two regions, as steps of volume.

    Parameters
    ----------
    origin, destination
        Region ids; between providers data crosses the internet.

    Returns
    -------
    tuple
        Empty if the catalog does not know the price. Of several that apply, that of the
        narrowest origin, then the narrowest destination, then the one bound to
        continents.
    """
    same = origin.partition("/")[0] == destination.partition("/")[0]
    target = destination if same else "internet"
    found: dict[tuple[int, int, int, str], list[EgressPrice]] = {}
    for price in catalog.egress.values():
        if _applies(catalog, price, origin, target):
            bound = bool(price.continents) + (price.reach != "any")
            widths = (_literals(price.origin), _literals(price.destination), bound)
            found.setdefault((*widths, _row(price)), []).append(price)
    if not found:
        return ()
    return tuple(sorted(found[max(found)], key=lambda price: price.from_gb))


def _applies(catalog: Catalog, price: EgressPrice, origin: str, target: str) -> bool:
    """Whether a price is for these ends; what lies nowhere is on no continent."""
    if not fnmatchcase(origin, price.origin):
        return False
    if not fnmatchcase(target, price.destination):
        return False
    here, there = _continent(catalog, origin), _continent(catalog, target)
    if price.continents and here not in price.continents:
        return False
    if price.reach == "any":
        return True
    near = price.reach == "same-continent"
    return bool(here and there) and (here == there) == near


def _continent(catalog: Catalog, region_id: str) -> str:
    """Return the continent of a region, empty if it is not known."""
    region = catalog.regions.get(region_id)
    country = catalog.countries.get(region.country or "") if region else None
    return country.continent if country else ""


def _row(price: EgressPrice) -> str:
    """Return what the steps of one price have in common."""
    ends = (price.origin, price.destination, ";".join(price.continents), price.reach)
    return ">".join(ends)


def _literals(pattern: str) -> int:
    """Return how many characters of a pattern are fixed."""
    return len(pattern) - pattern.count("*")


def copies_usd(
    catalog: Catalog,
    origin: str | None,
    destinations: Iterable[str],
    size_bytes: float,
) -> float:
    """Return the price of copying data once to each of several regions, dollars.

    Parameters
    ----------
    origin
        Region id where the data lies; None: it comes with the job.
    destinations
        Region ids; copies of one price add up in its steps of volume.
    size_bytes
        Bytes of one copy; a GB of egress is 1e9 bytes.

    Notes
    -----
    Steps of volume, and what is free, are those of one month. A price that the catalog
    does not know counts as 0; `unpriced` tells where.
    """
    if origin is None:
        return 0.0
    volumes: dict[tuple[EgressPrice, ...], float] = {}
    for destination in dict.fromkeys(destinations):
        if destination != origin:
            steps = egress_steps(catalog, origin, destination)
            volumes[steps] = volumes.get(steps, 0.0) + size_bytes / 1e9
    return sum(_stepped_usd(steps, gb) for steps, gb in volumes.items())


def _stepped_usd(steps: tuple[EgressPrice, ...], gigabytes: float) -> float:
    """Return the price of a volume by its steps, dollars."""
    usd, free = 0.0, steps[0].free_gb_per_month if steps else 0.0
    for step in steps:
        upper = gigabytes if step.to_gb is None else min(gigabytes, step.to_gb)
        volume = max(0.0, upper - max(step.from_gb, free))
        usd += volume * (step.usd_per_gb or 0.0)
    return usd


def egress_usd(
    catalog: Catalog, origin: str | None, destination: str, size_bytes: float
) -> float:
    """Return the price of copying data once from one region to another, dollars."""
    return copies_usd(catalog, origin, [destination], size_bytes)


def unpriced(catalog: Catalog, origin: str, destination: str) -> bool:
    """Return whether the price of a copy between two regions is not known."""
    if origin == destination:
        return False
    steps = egress_steps(catalog, origin, destination)
    return not steps or any(step.usd_per_gb is None for step in steps)

"""Where the data lies and may lie, and where the weights will serve."""

from __future__ import annotations

from typing import Any

from solver.scenario import lookup
from solver.scenario.data_schema import DataFileSpec
from solver.scenario.reading import Reading
from solver.scenario.scenario import DEFAULT_TRANSFER
from solver.scenario.schema import ServingSpec
from solver.yaml_source import DataPath

DATA: DataPath = ("data",)
BYTES_PER_S = 1e9 / 8
"""Of a Gb/s."""


def resolve_places(spec: DataFileSpec, reading: Reading) -> dict[str, Any]:
    """Return the fields of a `DataSpec` about places, its names resolved.

    Data that lies outside of where it may is told: it may be on its way.
    """
    location = None
    if spec.location is not None:
        location = lookup.one_region(reading, spec.location, (*DATA, "location"))
    residency = _residency(spec, reading)
    region = reading.catalog.regions.get(location or "")
    country = region.country if region is not None else None
    country = reading.supply.countries.get(location or "", country)
    if residency and country is not None and country not in residency:
        reading.notice("notice.residency.location", location=location, country=country)
    return {
        "location": location,
        "storage": _storage(spec, reading),
        "residency": residency,
        "transfer_bytes_per_s": (
            DEFAULT_TRANSFER if spec.transfer is None else spec.transfer * BYTES_PER_S
        ),
        "transfer_is_assumed": spec.transfer is None,
    }


def _residency(spec: DataFileSpec, reading: Reading) -> tuple[str, ...] | None:
    """Return the countries in which the data may lie; None: any."""
    found: list[str] = []
    for path, name in reading.items((*DATA, "residency"), spec.residency):
        found.extend(lookup.countries(reading, name, path))
    return tuple(dict.fromkeys(found)) or None


def _storage(spec: DataFileSpec, reading: Reading) -> str | None:
    """Return the tier that the data lies in."""
    if spec.storage is None:
        return None
    path = (*DATA, "storage")
    if spec.location is None:
        message = "the tier of the data is of use with its location alone"
        reading.fault("conflicting-keys", message, path, key=True)
    found = lookup.storage(reading, spec.storage, path)
    if len(found) > 1:
        message = "expected one tier, not a kind of tiers"
        reading.fault("ambiguous-name", message, path, found[0])
    return found[0] if found else None


def resolve_serving(spec: ServingSpec, reading: Reading) -> tuple[str, ...]:
    """Return the regions that the weights are copied to, each once."""
    path = ("serving", "regions")
    found = [
        lookup.one_region(reading, name, place)
        for place, name in reading.items(path, spec.regions)
    ]
    return tuple(dict.fromkeys(region for region in found if region is not None))

"""The numbers of one's own offers, held against the limits of the catalog's records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from solver.catalog.bounds import bounds_of
from solver.catalog.schema import Delivery, Offer, Server, StorageTier
from solver.scenario.reading import Reading
from solver.scenario.spec import Spec
from solver.scenario.supply_schema import OfferSpec, OwnStorageSpec
from solver.units import GB, MONTH_HOURS, TB
from solver.yaml_source import DataPath

__all__ = ["within_bounds"]

SpecT = TypeVar("SpecT", bound=Spec)

Limit = tuple[type[BaseModel], str, float]
"""Record and field of the catalog that a key becomes, and what a unit of the key is
in the unit of the field."""

NETWORK: Mapping[str, Limit] = {"gbps_per_node": (Server, "network_gbps", 1.0)}
DELIVERY: Mapping[str, Limit] = {"nodes": (Delivery, "nodes", 1.0)}
STORAGE: Mapping[str, Limit] = {
    "read": (StorageTier, "read_gb_per_s_per_node", 1 / GB),
    "write": (StorageTier, "write_gb_per_s_per_node", 1 / GB),
    "total_read": (StorageTier, "aggregate_read_gb_per_s", 1 / GB),
    "total_write": (StorageTier, "aggregate_write_gb_per_s", 1 / GB),
    "usd_per_gb_month": (StorageTier, "usd_per_gb_month", 1.0),
    "capacity": (StorageTier, "capacity_tb", 1 / TB),
}


def _offer_limits(gpus_per_node: int) -> Mapping[str, Limit]:
    """Return the limits of an offer's own keys."""
    return {
        "max_nodes": (Offer, "max_nodes", 1.0),
        "min_nodes": (Offer, "min_nodes", 1.0),
        "usd_per_gpu_hour": (Offer, "usd_per_node_hour", gpus_per_node),
        "spot_usd_per_gpu_hour": (Offer, "usd_per_node_hour", gpus_per_node),
        "usd_per_node_hour": (Offer, "usd_per_node_hour", 1.0),
        "usd_per_node_month": (Offer, "usd_per_node_hour", 1 / MONTH_HOURS),
        "ram_gb": (Server, "ram_gb", 1.0),
        "vcpus": (Server, "vcpus", 1.0),
        "local_nvme_tb": (Server, "local_nvme_tb", 1.0),
    }


def within_bounds(spec: OfferSpec, path: DataPath, reading: Reading) -> OfferSpec:
    """Return an offer whose numbers a record of the catalog can hold.

    Each number that it cannot hold is logged, and left out or replaced by the nearest
    that it can, so that the rest of the offer can be read.
    """
    found = _clipped(spec, _offer_limits(spec.gpus_per_node), path, reading)
    changes: dict[str, object] = {}
    if found.network is not None:
        place = (*path, "network")
        changes["network"] = _clipped(found.network, NETWORK, place, reading)
    changes["available"] = tuple(
        _clipped(delivery, DELIVERY, place, reading)
        for place, delivery in reading.items((*path, "available"), found.available)
    )
    changes["storage"] = tuple(
        _clipped(tier, STORAGE, place, reading)
        if isinstance(tier, OwnStorageSpec)
        else tier
        for place, tier in reading.items((*path, "storage"), found.storage)
    )
    return found.model_copy(update=changes)


def _clipped(
    spec: SpecT, limits: Mapping[str, Limit], path: DataPath, reading: Reading
) -> SpecT:
    """Return a mapping with its numbers within limits, after logging those outside."""
    changes = {}
    for key, (record, field, scale) in limits.items():
        value = getattr(spec, key)
        bounds = bounds_of(record, field)
        # zero is told, or taken as not stated, where it is read
        if not value or bounds is None or bounds.allows(value * scale):
            continue
        reading.fault("out-of-range", f"expected {bounds}", (*path, key))
        nearest = bounds.low if value * scale < bounds.low else bounds.high
        changes[key] = type(value)(nearest / scale)
    return spec.model_copy(update=changes)

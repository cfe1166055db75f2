"""Quotas of the user's account, their names resolved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solver.catalog.schema import Offer
from solver.scenario import lookup
from solver.scenario.reading import Reading
from solver.scenario.scenario import Quota
from solver.scenario.schema import ScenarioFile
from solver.scenario.supply_schema import QuotaSpec
from solver.yaml_source import DataPath

UNITS: dict[str, Any] = {
    "max_nodes": "nodes",
    "max_gpus": "gpus",
    "max_vcpus": "vcpus",
}
"""Key of a limit to what it counts."""

QUOTAS: DataPath = ("stock", "quota")

Find = Callable[[Reading, str, DataPath], tuple[str, ...]]


def resolve_quotas(file: ScenarioFile, reading: Reading) -> tuple[Quota, ...]:
    """Return the quotas that a scenario states.

    Notes
    -----
    A family of GPUs and a bare region name stand for several, which share the quota. A
    quota that no offer falls under is told: a name in it may be meant otherwise.
    """
    found = []
    for path, spec in reading.items(QUOTAS, file.stock.quota):
        quota = _quota(spec, path, reading)
        if quota is not None:
            found.append(quota)
            if not _covers_any(quota, reading):
                shown = ", ".join(f"{k}: {v}" for k, v in quota.written.items())
                number = len(found)
                reading.notice("notice.quota.unused", number=number, quota=shown)
    return tuple(found)


def covers(quota: Quota, offer: Offer, gpu: str) -> bool:
    """Return whether an offer of a GPU falls under a quota."""
    return (
        (quota.providers is None or offer.provider in quota.providers)
        and (quota.regions is None or offer.region in quota.regions)
        and (quota.gpus is None or gpu in quota.gpus)
        and quota.purchase in (None, offer.purchase)
    )


def _quota(spec: QuotaSpec, path: DataPath, reading: Reading) -> Quota | None:
    """Return one quota, None after logging why it is none."""

    def ids(key: str, find: Find) -> tuple[str, ...] | None:
        written = getattr(spec, key)
        return None if written is None else find(reading, written, (*path, key))

    names = {
        "providers": ids("provider", lookup.providers),
        "regions": ids("region", lookup.regions),
        "gpus": ids("gpu", lookup.gpus),
    }
    limits = [key for key in UNITS if getattr(spec, key) is not None]
    if not limits and _is_faulty(path, reading):
        return None  # the limit is what was written wrongly
    if len(limits) != 1:
        message = f"expected one of {', '.join(UNITS)}"
        if limits:
            message += f", not {' and '.join(limits)}"
        code = "conflicting-keys" if limits else "missing-key"
        place = (*path, limits[1]) if limits else path
        reading.fault(code, message, place, key=bool(limits))
        return None

    return Quota(
        limit=getattr(spec, limits[0]),
        unit=UNITS[limits[0]],
        **names,
        purchase=spec.purchase,
        written=spec.model_dump(exclude_none=True),
    )


def _is_faulty(path: DataPath, reading: Reading) -> bool:
    """Return whether a fault of a quota's keys or values has been logged."""
    written = reading.value(path)
    unknown = set(written) - set(QuotaSpec.keys()) if isinstance(written, dict) else ()
    return bool(unknown) or any(bad[: len(path)] == path for bad in reading.broken)


def _covers_any(quota: Quota, reading: Reading) -> bool:
    """Return whether an offer that may be used falls under a quota."""
    supply, catalog = reading.supply, reading.catalog
    own = {server.id: server.gpu for server in supply.servers}
    if any(covers(quota, offer, own[offer.server]) for offer in supply.offers):
        return True
    return supply.with_catalog and any(
        covers(quota, offer, catalog.servers[offer.server].gpu)
        for offer in catalog.offers.values()
        if offer.server in catalog.servers
    )

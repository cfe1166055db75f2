"""gpuhunt's ``<provider>.csv`` to quotes: one row an instance, location and kind.

Source: dstackai/gpuhunt, ``storage.py`` and ``models.py`` (columns and their meaning).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from solver.importing.quotes import Findings, Quote
from solver.importing.tables import Row, Source, read_table

__all__ = ["read_gpuhunt"]

REQUIRED = (
    *("instance_name", "location", "price", "gpu_count", "gpu_name", "gpu_memory"),
    "spot",
)
OPTIONAL = (
    *("cpu", "memory", "disk_size", "gpu_vendor", "flags", "cpu_arch"),
    *("provider_data", "provider"),
)
_ZONE = re.compile(r"(?P<region>[a-z]+-[a-z]+\d+)-[a-z]\w*")
"""How Google names its zones, which gpuhunt lists as locations: us-central1-a."""


def read_gpuhunt(source: Source, findings: Findings) -> None:
    """Add the prices of a table to the findings.

    Raises
    ------
    InputError
        The file is no such table.
    """
    for row in read_table(source, REQUIRED, OPTIONAL, findings):
        findings.quotes.extend(_quotes(row, source, findings))


def _quotes(row: Row, source: Source, findings: Findings) -> Iterator[Quote]:
    """Yield the price of a row, if it is one of a server with GPUs."""
    name = row["gpu_name"]
    vendor = row["gpu_vendor"].casefold()
    if name.casefold().startswith("tpu") or vendor == "google":
        findings.skip(row.where, "tpu", name)
        return
    if not name and row["gpu_count"] in ("", "0"):
        findings.skip(row.where, "cpu-only", row["instance_name"])
        return
    count = findings.count(row["gpu_count"], row.where, "gpu_count")
    spot = row["spot"].casefold()
    if spot not in ("true", "false"):
        findings.skip(row.where, "unreadable", f"spot {row['spot']}")
    if count is None or spot not in ("true", "false"):
        return
    price = findings.price(row["price"], row.where, "price")
    if price is None:
        findings.skip(row.where, "no-price", row["instance_name"])
        return
    region, zone = _place(row["location"])
    yield Quote(
        where=row.where,
        provider=row["provider"] or source.provider,
        region=region,
        zone=zone,
        instance=row["instance_name"],
        gpu=name,
        memory_gb=findings.number(row["gpu_memory"], row.where, "gpu_memory") or None,
        count=count,
        purchase="spot" if spot == "true" else "on_demand",
        usd_per_hour=price,
        vcpus=findings.number(row["cpu"], row.where, "cpu") or None,
        ram_gb=findings.number(row["memory"], row.where, "memory") or None,
    )


def _place(location: str) -> tuple[str, str]:
    """Return region and zone of a location."""
    match = _ZONE.fullmatch(location)
    return (match["region"], location) if match else (location, "")

"""SkyPilot's ``vms.csv`` to quotes.

One row an instance type and zone; the columns and their order differ from cloud to
cloud. Google's table is split: rows without an accelerator are hosts, rows without an
instance type are accelerators, and a server costs the sum of one of each. They are
joined within a region, by zone where both are listed in one.

Sources: skypilot-org/skypilot-catalog (formats); Google's documentation of machine
types, as general knowledge (`HOSTS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from solver.importing.quotes import Findings, Quote
from solver.importing.tables import Row, Source, read_table
from solver.units import GB, GIB

__all__ = ["read_skypilot"]

REQUIRED = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region")
OPTIONAL = (
    *("SpotPrice", "AvailabilityZone", "vCPUs", "MemoryGiB", "GpuInfo", "Arch"),
    *("LocalDiskType", "NVMeSupported", "LocalDiskSize (GB)", "LocalDiskSize"),
    *("LocalDiskCount", "Generation", "StorageGiB", "UpstreamCloudId"),
)

MEMORY_GB: Mapping[str, float] = {"A100": 40, "V100": 16, "H100": 80, "H100-MEGA": 80}
"""SkyPilot's short names of cards that come with several sizes of memory."""

HOSTS: tuple[tuple[str, str], ...] = (
    (r"a2-(?:high|mega)gpu-(?P<n>\d+)g", "A100"),
    (r"a2-ultragpu-(?P<n>\d+)g", "A100-80GB"),
    (r"a3-(?:high|edge)gpu-(?P<n>\d+)g", "H100"),
    (r"a3-megagpu-(?P<n>\d+)g", "H100-MEGA"),
    (r"a3-ultragpu-(?P<n>\d+)g", "H200"),
    (r"a4-highgpu-(?P<n>\d+)g", "B200"),
    (r"a4x-highgpu-(?P<n>\d+)g", "GB200"),
    (r"g2-standard-(?:4|8|12|16|32)(?P<one>)", "L4"),
    (r"g2-standard-24(?P<two>)", "L4"),
    (r"g2-standard-48(?P<four>)", "L4"),
    (r"g2-standard-96(?P<eight>)", "L4"),
    (r"g4-standard-48(?P<one>)", "RTXPRO6000"),
    (r"g4-standard-96(?P<two>)", "RTXPRO6000"),
    (r"g4-standard-192(?P<four>)", "RTXPRO6000"),
    (r"g4-standard-384(?P<eight>)", "RTXPRO6000"),
)
"""Machine types of Google with GPUs of their own, and which."""

NUMBERS = {"one": 1, "two": 2, "four": 4, "eight": 8}
ATTACHED = ("T4", "P4", "P100", "K80", "V100")
"""Cards that are attached to a host of the user's choice."""

BROKERS = ("shadeform", "primeintellect")


@dataclass(frozen=True, slots=True)
class _Prices:
    """The two prices of a row; None where there is no such offer."""

    on_demand: float | None
    spot: float | None


def read_skypilot(source: Source, findings: Findings) -> None:
    """Add the prices of a table to the findings.

    Raises
    ------
    InputError
        The file is no such table.
    """
    rows = read_table(source, REQUIRED, OPTIONAL, findings)
    apart = [r for r in rows if r["AcceleratorName"] and not r["InstanceType"]]
    whole = [r for r in rows if r["AcceleratorName"] and r["InstanceType"]]
    hosts = [r for r in rows if not r["AcceleratorName"]]
    for row in whole:
        findings.quotes.extend(_whole(row, source, findings))
    if apart:
        findings.quotes.extend(_joined(hosts, apart, source, findings))
        return
    for row in hosts:
        findings.skip(row.where, "cpu-only", row["InstanceType"])


def _whole(row: Row, source: Source, findings: Findings) -> Iterator[Quote]:
    """Yield the prices of a row that has instance and accelerator."""
    if _is_tpu(row["AcceleratorName"]):
        findings.skip(row.where, "tpu", row["AcceleratorName"])
        return
    count = findings.count(row["AcceleratorCount"], row.where, "AcceleratorCount")
    if count is None:
        if not row["AcceleratorCount"]:
            findings.skip(row.where, "unreadable", "AcceleratorCount is empty")
        return
    base = _placed(_quote(row, row["AcceleratorName"], count, source, findings), row)
    yield from _priced(base, _prices(row, findings), findings)


def _quote(row: Row, gpu: str, count: int, source: Source, findings: Findings) -> Quote:
    """Return a quote of a row's server, its price still open."""
    ram = findings.number(row["MemoryGiB"], row.where, "MemoryGiB")
    return Quote(
        where=row.where,
        provider=source.provider,
        region=row["Region"],
        zone=row["AvailabilityZone"],
        instance=row["InstanceType"],
        gpu=gpu,
        memory_gb=MEMORY_GB.get(gpu),
        count=count,
        purchase="on_demand",
        usd_per_hour=0.0,
        vcpus=findings.number(row["vCPUs"], row.where, "vCPUs") or None,
        ram_gb=None if not ram else round(ram * GIB / GB, 1),
        local_nvme_tb=_local_nvme_tb(row, findings),
        marketplace=source.provider in BROKERS,
    )


def _local_nvme_tb(row: Row, findings: Findings) -> float | None:
    """Return the local NVMe of a server, TB, where the table has it."""
    size = row["LocalDiskSize (GB)"] or row["LocalDiskSize"]
    each = findings.number(size, row.where, "LocalDiskSize")
    drives = findings.number(row["LocalDiskCount"], row.where, "LocalDiskCount")
    if not each or not drives or row["NVMeSupported"].casefold() in ("false", "no"):
        return None
    return round(each * drives / 1000.0, 3)


def _placed(quote: Quote, row: Row) -> Quote:
    """Return a quote with its provider, server and place as the catalog has them.

    Notes
    -----
    Shadeform and Prime Intellect sell the servers of other clouds, whose name stands
    before the server's. Some tables have a country for the region and name the region
    as the zone.
    """
    if quote.provider == "shadeform":
        cloud, _, server = quote.instance.partition("_")
        quote = replace(quote, provider=cloud, instance=server or cloud)
    elif quote.provider == "primeintellect":
        cloud = quote.instance.partition("__")[0]
        server = (row["UpstreamCloudId"] or quote.instance).removesuffix("_SPOT")
        quote = replace(quote, provider=f"primeintellect-{cloud}", instance=server)
    if re.fullmatch("[A-Z]{2}", quote.region):
        quote = replace(quote, country=quote.region)
        if quote.zone:
            quote = replace(quote, region=quote.zone, zone="")
    return quote


def _prices(row: Row, findings: Findings) -> _Prices:
    """Return the prices of a row."""
    return _Prices(
        findings.price(row["Price"], row.where, "Price"),
        findings.price(row["SpotPrice"], row.where, "SpotPrice"),
    )


def _priced(quote: Quote, prices: _Prices, findings: Findings) -> Iterator[Quote]:
    """Yield a quote for each of its prices; note where there is none."""
    if prices.on_demand is None and prices.spot is None:
        findings.skip(quote.where, "no-price", quote.instance)
    if prices.on_demand is not None:
        yield replace(quote, usd_per_hour=prices.on_demand)
    if prices.spot is not None:
        yield replace(quote, purchase="spot", usd_per_hour=prices.spot)


def _is_tpu(name: str) -> bool:
    """Return whether an accelerator is one of Google's own."""
    return name.casefold().startswith("tpu")


Key = tuple[str, str, int]
"""Region, accelerator and count."""


def _joined(
    hosts: list[Row], apart: list[Row], source: Source, findings: Findings
) -> Iterator[Quote]:
    """Yield the prices of a split table: host and accelerators of one region."""
    accelerators = _accelerators(apart, findings)
    used: set[Key] = set()
    for host in hosts:
        fitting = _gpus_of(host["InstanceType"])
        if fitting is None:
            findings.skip(host.where, "cpu-only", host["InstanceType"])
            continue
        key = (host["Region"], *fitting)
        if key not in accelerators:
            findings.skip(host.where, "no-accelerator-price", host["InstanceType"])
            continue
        used.add(key)
        base = _quote(host, *fitting, source, findings)
        there = accelerators[key]
        zone = host["AvailabilityZone"]
        same = [prices for row, prices in there if row["AvailabilityZone"] == zone]
        prices = same or [prices for _, prices in there]
        note = "host and GPUs are priced apart; this is the sum"
        if not same:
            note += " (the GPUs' price is that of another zone of the region)"
        sums = _sum(_prices(host, findings), _cheapest(prices))
        yield from _priced(replace(base, note=note), sums, findings)
    for (region, name, count), rows in accelerators.items():
        reason = "attached-gpu" if name.startswith(ATTACHED) else "no-host-price"
        for row, _ in () if (region, name, count) in used else rows:
            findings.skip(row.where, reason, f"{count} x {name}")


def _accelerators(
    apart: list[Row], findings: Findings
) -> dict[Key, list[tuple[Row, _Prices]]]:
    """Return the accelerators' rows and prices, by region, name and count.

    Notes
    -----
    An on-demand price below the spot price is that of another product: a 'flexible
    start' of the Dynamic Workload Scheduler, which begins when it can and ends after
    days. It is left out, so that nothing is planned on it.
    """
    found: dict[Key, list[tuple[Row, _Prices]]] = {}
    for row in apart:
        name = row["AcceleratorName"]
        if _is_tpu(name):
            findings.skip(row.where, "tpu", name)
            continue
        count = findings.count(row["AcceleratorCount"], row.where, "AcceleratorCount")
        if count is None:
            continue
        prices = _prices(row, findings)
        if prices.on_demand and prices.spot and prices.on_demand < prices.spot:
            what = f"{count} x {name}, ${prices.on_demand} (spot ${prices.spot})"
            findings.skip(row.where, "flexible-start", what)
            prices = _Prices(None, prices.spot)
        place = found.setdefault((row["Region"], name, count), [])
        place.append((row, prices))
    return found


def _gpus_of(instance: str) -> tuple[str, int] | None:
    """Return accelerator and count of a host that comes with GPUs of its own."""
    for pattern, name in HOSTS:
        match = re.fullmatch(f"{pattern}(?:-nolssd|-lowmem)?", instance)
        if match is not None:
            ((key, text),) = match.groupdict().items()
            return name, int(text) if key == "n" else NUMBERS[key]
    return None


def _cheapest(prices: list[_Prices]) -> _Prices:
    """Return the lowest price of each kind."""
    return _Prices(
        min((p.on_demand for p in prices if p.on_demand is not None), default=None),
        min((p.spot for p in prices if p.spot is not None), default=None),
    )


def _sum(host: _Prices, accelerators: _Prices) -> _Prices:
    """Return what host and accelerators cost together; None if either has no price."""

    def both(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else round(one + other, 6)

    return _Prices(
        both(host.on_demand, accelerators.on_demand),
        both(host.spot, accelerators.spot),
    )

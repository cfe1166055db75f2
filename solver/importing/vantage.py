"""ec2instances.info's ``instances.json`` to quotes: a list of AWS instances.

Prices stand by region and operating system, as strings. Of the operating systems
Linux is read, which is the price without a licence.

Source: vantage-sh/ec2instances.info, ``scraper/aws/ec2/ec2_instance.go`` (keys).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from solver.catalog.reading import read_text
from solver.errors import InputError, Issue
from solver.importing.quotes import Findings, Quote
from solver.importing.tables import Source
from solver.units import GB, GIB

__all__ = ["read_vantage"]

MAX_JSON_BYTES = 500_000_000
LINUX = "linux"
YEAR_HOURS = 8760
_TERM = re.compile(r"yrTerm(?P<years>[1-9])(?:Standard|Convertible|Savings)\.\w+")
"""Names of the terms: yrTerm1Standard.noUpfront."""
_SPREAD = "what is paid at the start is spread over the term"
CHINA = "cn-"
"""Beginning of the regions whose prices are in yuan."""
_UNITS_TB = {"GB": 1e-3, "GiB": GIB / 1e12, "TB": 1.0}
NEEDED = ("instance_type", "pricing")


def read_vantage(source: Source, findings: Findings) -> None:
    """Add the prices of a file to the findings.

    Raises
    ------
    InputError
        The file is no JSON list of instances.
    """
    for instance, where in _instances(source):
        base = _server(instance, where, source, findings)
        if base is None:
            continue
        pricing = instance["pricing"]
        _skip_systems(pricing, where, findings)
        for region, systems in sorted(pricing.items()):
            findings.quotes.extend(
                _quotes(replace(base, region=region), systems, where, findings)
            )


def _instances(source: Source) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the instances of a file and what to call their places."""
    text = read_text(source.file, source.name, MAX_JSON_BYTES)
    try:
        data = json.loads(text)
    except RecursionError:
        raise _refusal(
            "json-syntax", "nested too deeply", f"{source.name}:1:1"
        ) from None
    except ValueError as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        message = f"not JSON: {getattr(error, 'msg', 'a number is too long')}"
        where = f"{source.name}:{line}:{column}"
        raise _refusal("json-syntax", message, where) from None
    if not isinstance(data, list) or not data:
        message = "expected a list of instances, as in instances.json"
        raise _refusal("wrong-type", message, f"{source.name}:1:1")
    faults = [
        Issue("wrong-type", f"expected an instance with {' and '.join(NEEDED)}", where)
        for where, item in _placed(data, source.name)
        if not isinstance(item, dict)
        or not isinstance(item.get("instance_type"), str)
        or not isinstance(item.get("pricing"), dict)
    ]
    if faults:
        raise InputError(faults[:20])
    for where, item in _placed(data, source.name):
        yield item, where


def _placed(data: list[Any], name: str) -> Iterator[tuple[str, Any]]:
    """Yield each item of the file's list and its place: the file and its number."""
    for number, item in enumerate(data):
        title = item.get("instance_type") if isinstance(item, dict) else None
        yield (
            f"{name}[{number}]" + (f" {title}" if isinstance(title, str) else ""),
            item,
        )


def _refusal(code: str, message: str, where: str) -> InputError:
    """Return the error of a single fault."""
    return InputError([Issue(code, message, where)])


def _server(
    instance: Mapping[str, Any], where: str, source: Source, findings: Findings
) -> Quote | None:
    """Return a quote of an instance, place and price open; None if it has no GPU."""
    name = instance["instance_type"]
    if not instance.get("GPU"):
        findings.skip(where, "cpu-only", name)
        return None
    count = findings.count(instance.get("GPU"), where, "GPU")
    if count is None:
        return None
    memory = findings.number(instance.get("GPU_memory"), where, "GPU_memory")
    ram = findings.number(_known(instance.get("memory")), where, "memory")
    vcpus = findings.number(_known(instance.get("vCPU")), where, "vCPU")
    return Quote(
        where=where,
        provider=source.provider,
        region="",
        zone="",
        instance=name,
        gpu=str(instance.get("GPU_model") or ""),
        memory_gb=memory / count if memory else None,
        count=count,
        purchase="on_demand",
        usd_per_hour=0.0,
        vcpus=vcpus or None,
        ram_gb=round(ram * GIB / GB, 1) if ram else None,
        local_nvme_tb=_local_nvme_tb(instance.get("storage"), where, findings),
    )


def _known(value: object) -> object:
    """Return a value, None for how the source writes that it has none."""
    return None if value in ("N/A", "unknown") else value


def _local_nvme_tb(storage: object, where: str, findings: Findings) -> float | None:
    """Return the local NVMe of an instance, TB."""
    if not isinstance(storage, dict) or not storage.get("nvme_ssd"):
        return None
    size = findings.number(storage.get("size"), where, "storage.size")
    devices = findings.number(storage.get("devices"), where, "storage.devices")
    written = storage.get("size_unit", "GB")
    unit = _UNITS_TB.get(str(written))
    if unit is None:
        findings.skip(where, "unreadable", f"storage.size_unit {written}")
    if not size or not devices or unit is None:
        return None
    return round(size * devices * unit, 3)


def _quotes(
    quote: Quote, systems: object, where: str, findings: Findings
) -> Iterator[Quote]:
    """Yield the prices of an instance in one region."""
    place = f"{where} {quote.region}"
    quote = replace(quote, where=place)
    if quote.region.startswith(CHINA):
        findings.skip(place, "other-currency", quote.instance)
        return
    if not isinstance(systems, dict):
        findings.skip(place, "unreadable", f"pricing.{quote.region}")
        return
    prices = systems.get(LINUX)
    if not isinstance(prices, dict):
        findings.skip(place, "no-price", quote.instance)
        return
    on_demand = findings.price(prices.get("ondemand"), place, "ondemand")
    if on_demand is not None:
        yield replace(quote, usd_per_hour=on_demand)
    spot = findings.price(_known(prices.get("spot_min")), place, "spot_min")
    if spot is not None:
        note = _spot_note(prices)
        yield replace(quote, purchase="spot", usd_per_hour=spot, note=note)
    if on_demand is None and spot is None:
        findings.skip(place, "no-price", quote.instance)
    yield from _reserved(quote, prices.get("reserved"), findings)


def _skip_systems(pricing: Mapping[str, Any], where: str, findings: Findings) -> None:
    """Note the operating systems of an instance that are not read."""
    systems = {
        system
        for prices in pricing.values()
        if isinstance(prices, dict)
        for system in prices
    }
    for system in sorted(systems - {LINUX}):
        findings.skip(where, "other-system", system)


def _spot_note(prices: Mapping[str, Any]) -> str:
    """Return what has to be known about a spot price."""
    notes = ["least of the region's zones at one moment"]
    if prices.get("spot_avg"):
        notes.append(f"mean {prices['spot_avg']}")
    if prices.get("pct_interrupt") not in (None, "", "N/A"):
        notes.append(f"interrupted {prices['pct_interrupt']} a month")
    return "; ".join(notes)


def _reserved(quote: Quote, reserved: object, findings: Findings) -> Iterator[Quote]:
    """Yield the lowest price of each term that one can commit to.

    Notes
    -----
    What is paid at the start is in the source's price already, spread over the term's
    hours (``reserved_pricing.go``); the whole term is paid either way, so that the
    ways of paying differ in their price alone.
    """
    if not isinstance(reserved, dict):
        return
    offered: dict[int, list[tuple[float, str]]] = {}
    for name, written in sorted(reserved.items()):
        term = _TERM.fullmatch(name)
        price = findings.price(written, quote.where, name)
        if term is None:
            findings.skip(quote.where, "term", name)
        elif price is not None:
            offered.setdefault(int(term["years"]), []).append((price, name))
    for years, prices in sorted(offered.items()):
        price, name = min(prices)
        spread = "" if name.endswith(".noUpfront") else f"; {_SPREAD}"
        yield replace(
            quote,
            purchase="reserved",
            usd_per_hour=price,
            min_term_hours=float(years * YEAR_HOURS),
            note=f"{name}{spread}",
        )

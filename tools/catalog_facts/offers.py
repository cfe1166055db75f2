"""Offers: one row a region, server and purchase kind."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog_facts.places import region_id
from catalog_facts.servers import instance_key, provider_id, server_ids
from catalog_facts.writing import as_of, dump_table, number, shorten_source

COLUMNS = (
    "region",
    "server",
    "purchase",
    "usd_per_node_hour",
    "marketplace",
    "source",
    "as_of",
    "note",
)

_MARKETPLACES = ("vast", "runpod", "primeintellect", "hyperbolic")
_BROKERS = ("shadeform", "primeintellect")


def is_marketplace(row: Mapping[str, str]) -> bool:
    """Return whether a row is a marketplace's or a broker's quote."""
    return row["provider"].startswith(_MARKETPLACES) or any(
        broker in row["source"] for broker in _BROKERS
    )


def build_offers(offers: list[dict[str, str]], out: Path) -> dict[str, Any]:
    """Write ``offers/<provider>.csv``; return what was counted."""
    (out / "offers").mkdir()
    ids = server_ids(offers)
    tables: dict[str, list[dict[str, Any]]] = {}
    counts: Counter[str] = Counter()
    without_price = []
    for row in offers:
        server = ids[instance_key(row)]
        found = _priced(row, server)
        counts.update(offer["purchase"] for offer in found)
        if not found:
            without_price.append(
                f"{region_id(row['provider'], row['region'])}/{server}"
            )
        tables.setdefault(provider_id(row["provider"]), []).extend(found)
    for provider, table in sorted(tables.items()):
        if table:
            table.sort(key=lambda o: (o["region"], o["server"], o["purchase"]))
            dump_table(out / "offers" / f"{provider}.csv", COLUMNS, table)
    return {**counts, "without_price": sorted(without_price)}


def _priced(row: Mapping[str, str], server: str) -> list[dict[str, Any]]:
    """Return the offers of one row: on demand, spot, both or none."""
    on_demand = number(row["on_demand_usd_per_hour"])
    spot = number(row["spot_usd_per_hour"])
    base = {
        "region": region_id(row["provider"], row["region"]),
        "server": server,
        "marketplace": is_marketplace(row),
        "source": shorten_source(row["source"]),
        "as_of": as_of(row["as_of"]),
    }
    found = []
    if on_demand is not None:
        note = _on_demand_note(row["note"])
        found.append(
            {
                **base,
                "purchase": "on_demand",
                "usd_per_node_hour": on_demand,
                "note": note,
            }
        )
    if spot is not None:
        note = _spot_note(row, on_demand, spot)
        found.append(
            {**base, "purchase": "spot", "usd_per_node_hour": spot, "note": note}
        )
    return found


_WORDING: tuple[tuple[str, str], ...] = (
    # what a note of the facts holds -> what we say
    (r"one price listed in every zone", "one list price for every zone"),
    (r"OCI list price per GPU-h from memory", "per-GPU list price from memory"),
    (r"OCI list price is uniform", "one list price world-wide"),
    (r"Lambda API gives one price", "one list price for every region"),
    (r"via Shadeform broker", "broker's quote (Shadeform) of the cloud's list price"),
    (r"marketplace low quote", "low quote of a marketplace, single host"),
    (
        r"broker price for upstream",
        "broker's quote (Prime Intellect) for the named cloud",
    ),
    (r"per-GPU list price x8", "8 x the per-GPU list price; region not stored"),
    (r"GPU part read", "GPU part read, host part derived from memory by region ratio"),
    (r"2 x p3.8xlarge", "derived: twice the p3.8xlarge price"),
    (r"corrected to 8", "source lists 12 GPUs, corrected to 8"),
    (r"US regions only", "source holds US regions only"),
)


def _on_demand_note(text: str) -> str:
    """Return what has to be known about an on-demand price, in our own words."""
    family = re.search(
        r"us-east-1 list price ([\d.]+) \(memory\) x region multiplier ([\d.]+)", text
    )
    if family:
        price, ratio = family.groups()
        return f"derived: ${price} in us-east-1 (memory) x {ratio}, the family's ratio"
    host = re.search(r"on-demand x host-region multiplier ([\d.]+)", text)
    if host:
        return f"derived: US price of the GPUs x {host[1]}, the hosts' ratio; uncertain"
    if "DERIVED as US on-demand" in text:
        return "derived: US price of the GPUs plus this region's host"
    if "DERIVED = listed/" in text:
        return "derived: listed flexible-start price scaled to on-demand; uncertain"
    if "prices host and GPU separately" in text:
        return "host and GPUs are priced apart; this is the sum"
    for pattern, words in _WORDING:
        if re.search(pattern, text):
            return words
    return ""


def _spot_note(row: Mapping[str, str], on_demand: float | None, spot: float) -> str:
    """Return what has to be known about a spot price."""
    notes = []
    if row["provider"] == "aws":
        notes.append("least of the region's zones at one moment")
    if "prices host and GPU separately" in row["note"]:
        notes.append("host and GPUs are priced apart; this is the sum")
    if on_demand is None:
        notes.append("no on-demand price known")
    elif spot >= on_demand:
        notes.append("equals the on-demand price: no discount")
    return "; ".join(notes)

"""Egress prices and round trips."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from catalog_facts.writing import as_of, dump_table, number, rows, slug

_METRO_NAMES: Mapping[str, str] = {
    "US-West (Oregon/N.California)": "us-west",
    "US-East (Virginia)": "us-east",
    "US-Central (Iowa)": "us-central",
    "same region cross-AZ": "same-region",
    "same DC IB": "same-building",
}

_ASIA = {
    "aws": ("aws/ap-*",),
    "gcp": ("gcp/asia-*",),
    "azure": ("azure/*asia", "azure/japan*", "azure/korea*", "azure/*india*"),
    "oci": ("oci/ap-*",),
}
_AMERICA_EUROPE = {
    "gcp": ("gcp/us-*", "gcp/europe-*"),
    "azure": (
        "azure/*us*",
        "azure/*europe",
        "azure/uk*",
        "azure/france*",
        "azure/germany*",
    ),
}


def _scopes(provider: str, text: str) -> tuple[str, ...]:
    """Return the patterns over region ids that a scope of the facts means."""
    simple = {
        "us-east-1": "aws/*",
        "us region": "aws/us-*",
        "eastus": "azure/*",
        "us-east1": "gcp/*",
        "us-ashburn-1": "oci/*",
        "any region": f"{provider}/*",
        "any": "*/*" if provider == "all" else f"{provider}/*",
        "us": "gcp/us-*",
        "europe": "gcp/europe-*",
        "internet": "internet",
        "other region same cloud (same continent)": f"{provider}/*",
        "any other region": f"{provider}/*",
        "other OCI region": "oci/*",
        "same region cross-AZ": f"{provider}/*",
        "same continent": "azure/*",
        "cross-AZ each direction": "availability-zone",
        "other continent": "azure/*",
    }
    if text in simple:
        return (simple[text],)
    if text == "asia" or text.startswith(("ap-northeast/", "apac/")):
        return _ASIA[provider]
    if text in ("us/eu", "na/eu", "north america/europe"):
        return _AMERICA_EUROPE[provider]
    return (f"{provider}/{text}",)


def build_egress(facts: Path, out: Path) -> int:
    """Write ``egress.csv``; return the number of rows."""
    table = []
    for row in rows(facts, "egress.csv"):
        ends = [
            _scopes(row["provider"], row[key]) for key in ("src_scope", "dst_scope")
        ]
        table += [_egress(row, origin, target) for origin, target in product(*ends)]
    columns = (
        "id",
        "origin",
        "destination",
        "from_gb",
        "to_gb",
        "usd_per_gb",
        "free_gb_per_month",
        "source",
        "as_of",
        "note",
    )
    unique = {row["id"]: row for row in table}
    dump_table(out / "egress.csv", columns, [unique[key] for key in sorted(unique)])
    return len(unique)


def _egress(row: Mapping[str, str], origin: str, destination: str) -> dict[str, Any]:
    """Return one step of an egress price."""
    start = number(row["from_gb"]) or 0
    notes = []
    if row["src_scope"] in ("us-east-1", "eastus", "us-east1", "us-ashburn-1"):
        notes.append(f"read for {row['src_scope']}, taken for all that have no own row")
    if "first 10 TB" in row["note"] or "0-1 TB" in row["note"]:
        notes.append("first step of the price; later steps are not recorded")
    if "set by host" in row["note"]:
        notes.append("set by the host, about $0.001 to $0.03")
    if "billed at times" in row["note"]:
        notes.append("object storage may charge")
    return {
        "id": f"{origin}>{destination}>{start}",
        "origin": origin,
        "destination": destination,
        "from_gb": start,
        "to_gb": number(row["to_gb"]),
        "usd_per_gb": number(row["usd_per_gb"]),
        "free_gb_per_month": number(row["free_gb_month"]),
        "source": row["source"],
        "as_of": as_of(row["as_of"]),
        "note": "; ".join(notes),
    }


def build_round_trips(facts: Path, out: Path) -> int:
    """Write ``round_trips.csv``; return the number of rows."""
    table = []
    for row in rows(facts, "rtt.csv"):
        ends = [
            _METRO_NAMES.get(row[key], slug(row[key])) for key in ("metro_a", "metro_b")
        ]
        table.append(
            {
                "id": ">".join(ends),
                "metro_a": ends[0],
                "metro_b": ends[1],
                "rtt_ms": number(row["rtt_ms"]),
                "as_of": "2026-11",
                "source": "memory: typical backbone round trip, +-15 %",
            }
        )
    dump_table(
        out / "round_trips.csv",
        ("id", "metro_a", "metro_b", "rtt_ms", "source", "as_of"),
        table,
    )
    return len(table)

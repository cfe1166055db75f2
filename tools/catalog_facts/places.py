"""Regions, countries, egress prices, round trips and failure rates."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from catalog_facts.writing import as_of, dump_table, number, rows, slug

REGION_COLUMNS = (
    "id",
    "name",
    "city",
    "country",
    "metro",
    "grid_gco2_per_kwh",
    "grid_source",
    "pue",
    "pue_source",
    "source",
    "as_of",
    "note",
)


def region_id(provider: str, region: str) -> str:
    """Return ``provider/region`` in lower case; a blank region is ``unstated``."""
    return f"{slug(provider)}/{slug(region) or 'unstated'}"


# metro of round_trips.csv by city, else by country
_METROS_BY_CITY: Mapping[str, str] = {
    "tokyo": "tokyo",
    "osaka": "osaka",
    "osaka/tokyo": "tokyo",
    "seoul": "seoul",
    "busan": "seoul",
    "chuncheon": "seoul",
    "mumbai": "mumbai",
    "hyderabad": "mumbai",
    "sydney": "sydney",
    "ashburn": "us-east",
    "boydton": "us-east",
    "dulles": "us-east",
    "washington": "us-east",
    "moncks corner": "us-east",
    "columbus": "ohio",
    "council bluffs": "us-central",
    "chicago": "us-central",
    "dallas": "us-central",
    "austin": "us-central",
    "san antonio": "us-central",
    "the dalles": "us-west",
    "los angeles": "us-west",
    "san jose": "us-west",
    "salt lake city": "us-west",
    "phoenix": "us-west",
    "las vegas": "us-west",
    "boardman": "us-west",
    "san francisco": "us-west",
    "beijing": "beijing",
    "shanghai": "shanghai",
    "shenzhen": "guangzhou-shenzhen",
    "guangzhou": "guangzhou-shenzhen",
    "london": "london",
    "frankfurt": "frankfurt",
    "paris": "paris",
    "dublin": "dublin",
    "stockholm": "stockholm",
    "helsinki": "helsinki",
    "hamina": "helsinki",
    "milan": "milan",
    "dubai": "dubai-uae",
    "jakarta": "jakarta",
    "sao paulo": "sao-paulo",
    "osasco": "sao-paulo",
}
_METROS_BY_COUNTRY: Mapping[str, str] = {
    "SG": "singapore",
    "HK": "hong-kong",
    "TW": "taiwan",
    "KR": "seoul",
    "AE": "dubai-uae",
    "IE": "dublin",
    "FI": "helsinki",
    "GB": "london",
    "ID": "jakarta",
}

_METRO_NAMES: Mapping[str, str] = {
    "US-West (Oregon/N.California)": "us-west",
    "US-East (Virginia)": "us-east",
    "US-Central (Iowa)": "us-central",
    "same region cross-AZ": "same-region",
    "same DC IB": "same-building",
}

# ISO code: name, Chinese name, other names
COUNTRIES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "AE": ("United Arab Emirates", "阿联酋", ("UAE", "阿拉伯联合酋长国")),
    "AT": ("Austria", "奥地利", ()),
    "AU": ("Australia", "澳大利亚", ("澳洲",)),
    "BE": ("Belgium", "比利时", ()),
    "BG": ("Bulgaria", "保加利亚", ()),
    "BH": ("Bahrain", "巴林", ()),
    "BR": ("Brazil", "巴西", ("Brasil",)),
    "CA": ("Canada", "加拿大", ()),
    "CH": ("Switzerland", "瑞士", ("Schweiz", "Suisse")),
    "CL": ("Chile", "智利", ()),
    "CN": ("China", "中国", ("Mainland China", "中国大陆")),
    "CZ": ("Czechia", "捷克", ("Czech Republic",)),
    "DE": ("Germany", "德国", ("Deutschland",)),
    "DK": ("Denmark", "丹麦", ()),
    "ES": ("Spain", "西班牙", ()),
    "FI": ("Finland", "芬兰", ()),
    "FR": ("France", "法国", ()),
    "GB": ("United Kingdom", "英国", ("UK", "Great Britain", "Britain")),
    "HK": ("Hong Kong", "香港", ("中国香港",)),
    "HR": ("Croatia", "克罗地亚", ()),
    "ID": ("Indonesia", "印度尼西亚", ("印尼",)),
    "IE": ("Ireland", "爱尔兰", ()),
    "IL": ("Israel", "以色列", ()),
    "IN": ("India", "印度", ()),
    "IS": ("Iceland", "冰岛", ()),
    "IT": ("Italy", "意大利", ()),
    "JP": ("Japan", "日本", ()),
    "KR": ("South Korea", "韩国", ("Korea", "Republic of Korea")),
    "MX": ("Mexico", "墨西哥", ()),
    "MY": ("Malaysia", "马来西亚", ()),
    "NL": ("Netherlands", "荷兰", ("Holland", "The Netherlands")),
    "NO": ("Norway", "挪威", ()),
    "NZ": ("New Zealand", "新西兰", ()),
    "PH": ("Philippines", "菲律宾", ()),
    "PL": ("Poland", "波兰", ()),
    "QA": ("Qatar", "卡塔尔", ()),
    "RO": ("Romania", "罗马尼亚", ()),
    "SA": ("Saudi Arabia", "沙特阿拉伯", ("沙特",)),
    "SE": ("Sweden", "瑞典", ()),
    "SG": ("Singapore", "新加坡", ()),
    "SI": ("Slovenia", "斯洛文尼亚", ()),
    "TH": ("Thailand", "泰国", ()),
    "TW": ("Taiwan", "台湾", ("中国台湾",)),
    "US": ("United States", "美国", ("USA", "America", "United States of America")),
    "VN": ("Vietnam", "越南", ("Viet Nam",)),
    "ZA": ("South Africa", "南非", ()),
}


def build_regions(facts: Path, out: Path) -> dict[str, dict[str, Any]]:
    """Write ``regions.csv`` and ``countries.csv``; coordinates are left out."""
    found = {}
    for row in rows(facts, "regions.csv"):
        identifier = region_id(row["provider"], row["region"])
        found[identifier] = {
            "id": identifier,
            "name": row["name"] or "location not stated",
            "city": row["city"],
            "country": row["country"],
            "metro": _metro(row),
            "grid_gco2_per_kwh": number(row["grid_gco2_per_kwh"]),
            "grid_source": _grid_source(row["grid_source"]),
            "pue": number(row["pue"]),
            "pue_source": row["pue_source"],
            "source": _region_source(row["source"]),
            "as_of": as_of(row["as_of"]),
            "note": row["note"],
        }
    dump_table(
        out / "regions.csv", REGION_COLUMNS, [found[key] for key in sorted(found)]
    )
    used = {row["country"] for row in found.values() if row["country"]}
    countries = [
        {
            "id": code,
            "name": name,
            "name_zh": chinese,
            "aliases": others,
            "source": "ISO 3166-1",
            "as_of": "2026-11",
        }
        for code, (name, chinese, others) in COUNTRIES.items()
        if code in used
    ]
    columns = ("id", "name", "name_zh", "aliases", "source", "as_of")
    dump_table(out / "countries.csv", columns, countries)
    missing = used - COUNTRIES.keys()
    if missing:
        raise SystemExit(f"countries without a name: {sorted(missing)}")
    return found


def _metro(row: Mapping[str, str]) -> str:
    """Return the metro whose network distances a region shares, if it is known."""
    city = row["city"].casefold().replace("ã", "a")
    return _METROS_BY_CITY.get(city, _METROS_BY_COUNTRY.get(row["country"], ""))


def _grid_source(text: str) -> str:
    """Return where a grid's carbon intensity comes from, shortened."""
    return re.sub(r"; as other rows of the same (country|state)", r" (by \1)", text)


def _region_source(text: str) -> str:
    """Return where a region's place was read; its coordinates are not shipped."""
    return text.replace(
        "SpareCores/sc-data-dumps data/region @e8749be (CC BY-SA 4.0)",
        "SpareCores/sc-data-dumps data/region @e8749be (city, country)",
    )


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


HOURS_PER_MONTH = 730
# id: applies to, per GPU-hour, per node-hour, low, high, source, as of, note
_LLAMA = 419 / (16384 * 54 * 24)
_OPT = 105 / (992 * 60 * 24)
_RSC1 = 6.5 / 1000 / 24
_RSC2 = 2.34 / 1000 / 24
_RSC1_JOBS = 1 / (7.9 * 1024)
_BLOOM = 1.5 / (7 * 24) / 384
_C4 = 19 / (30 * 24) / 2400
_RATES: tuple[tuple[Any, ...], ...] = (
    (
        "default",
        "default",
        _RSC1 / 8,
        None,
        _LLAMA,
        _RSC1_JOBS,
        "derived: RSC-1 node failures; spread from Llama 3 405B and RSC-1's jobs of "
        "1,024 GPUs",
        "2024-10",
        "mean time between interruptions of N GPUs is 29,538 h / N",
    ),
    (
        "hopper",
        "hopper",
        _LLAMA,
        None,
        _LLAMA / 1.5,
        _RSC1_JOBS,
        "derived: Llama 3 405B, 419 interruptions of 16,384 GPUs in 54 days "
        "(memory: arXiv 2407.21783)",
        "2024-07",
        "50,679 h / N",
    ),
    (
        "ampere",
        "ampere",
        _RSC1 / 8,
        None,
        _BLOOM,
        _RSC1_JOBS,
        "derived: RSC-1, 6.5 node failures in 1,000 node-days (memory: arXiv "
        "2410.21680)",
        "2024-10",
        "29,538 h / N",
    ),
    (
        "llama-3-405b",
        "run:h100-sxm-80gb",
        _LLAMA,
        None,
        None,
        None,
        "memory: arXiv 2407.21783",
        "2024-07",
        "419 unexpected interruptions in 54 days",
    ),
    (
        "opt-175b",
        "run:a100-sxm-80gb",
        _OPT,
        None,
        None,
        None,
        "memory: arXiv 2205.01068",
        "2022-05",
        "about 105 restarts of 992 GPUs in 60 days",
    ),
    (
        "rsc-1-nodes",
        "run:a100-sxm-80gb",
        _RSC1 / 8,
        _RSC1,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "16,384 GPUs, 11 months",
    ),
    (
        "rsc-2-nodes",
        "run:a100-sxm-80gb",
        _RSC2 / 8,
        _RSC2,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "8,192 GPUs, 11 months",
    ),
    (
        "rsc-1-jobs-8",
        "run:a100-sxm-80gb",
        1 / (1144.8 * 8),
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "jobs of 8 GPUs",
    ),
    (
        "rsc-1-jobs-1024",
        "run:a100-sxm-80gb",
        _RSC1_JOBS,
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "jobs of 1,024 GPUs: 8,090 h / N",
    ),
    (
        "rsc-1-jobs-16384",
        "run:a100-sxm-80gb",
        1 / (1.8 * 16384),
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "projection",
    ),
    (
        "rsc-1-jobs-131072",
        "run:a100-sxm-80gb",
        1 / (0.23 * 131072),
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "projection",
    ),
    (
        "bloom-176b",
        "run:a100-sxm-80gb",
        _BLOOM,
        None,
        None,
        None,
        "memory: BigScience; stas00/ml-engineering fault-tolerance",
        "2022",
        "1 to 2 GPU failures a week of 384",
    ),
    (
        "pai-c4",
        "run:a100-h800",
        _C4,
        None,
        None,
        None,
        "memory: arXiv 2406.04594",
        "2024-06",
        "19 crashes a month of a 2,400-GPU job; low confidence",
    ),
)
# id: applies to, interruptions a month, source, note
_SPOT: tuple[tuple[str, str, float, str, str], ...] = (
    (
        "spot-default",
        "spot:default",
        0.25,
        "memory: estimate",
        "no figure known; taken as the band above 20 % a month",
    ),
    (
        "spot-aws",
        "spot:aws",
        0.25,
        "memory: AWS Spot Advisor band above 20 % a month (p4d, p5)",
        "0.25 a month is an estimate within the band",
    ),
    (
        "spot-aws-g5",
        "spot:aws-g5",
        0.125,
        "memory: AWS Spot Advisor band 5 to 20 % a month",
        "middle of the band",
    ),
    (
        "spot-aws-g6",
        "spot:aws-g6",
        0.125,
        "memory: AWS Spot Advisor band 5 to 20 % a month",
        "middle of the band",
    ),
    (
        "spot-gcp",
        "spot:gcp",
        0.25,
        "memory: estimate; no figure published",
        "30 s notice, no cap on run time",
    ),
    (
        "spot-azure",
        "spot:azure",
        0.25,
        "memory: band 5 to above 20 % a month",
        "30 s notice",
    ),
    (
        "spot-runpod",
        "spot:runpod",
        0.25,
        "memory: estimate; no figure published",
        "5 s notice",
    ),
)


def build_failure_rates(out: Path) -> int:
    """Write ``failure_rates.csv``; return the number of rows."""
    table: list[dict[str, Any]] = []
    for name, applies, gpu, node, low, high, source, date, note in _RATES:
        table.append(
            {
                "id": name,
                "applies_to": applies,
                "per_gpu_hour": _short(gpu),
                "per_node_hour": _short(node),
                "low": _short(low),
                "high": _short(high),
                "source": source,
                "as_of": date,
                "note": note,
            }
        )
    for name, applies, monthly, source, note in _SPOT:
        table.append(
            {
                "id": name,
                "applies_to": applies,
                "per_node_hour": _short(monthly / HOURS_PER_MONTH),
                "source": source,
                "as_of": "2026-11",
                "note": note,
            }
        )
    dump_table(
        out / "failure_rates.csv",
        (
            "id",
            "applies_to",
            "per_gpu_hour",
            "per_node_hour",
            "low",
            "high",
            "source",
            "as_of",
            "note",
        ),
        table,
    )
    return len(table)


def _short(value: float | None) -> float | None:
    """Return a rate to five digits."""
    return None if value is None else float(f"{value:.5g}")

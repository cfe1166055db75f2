"""Regions, countries, egress prices, round trips and failure rates."""

import re
from collections.abc import Mapping
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

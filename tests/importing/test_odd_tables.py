"""Tests that no cell of a price list, however odd, makes an importer fail."""

import random
from pathlib import Path

import pytest

from solver.catalog.load import load_catalog
from solver.catalog.schema import Offer, Region, Server
from solver.errors import InputError
from solver.importing.overlay import Stamp, overlay_of
from solver.importing.prices import TOOLS
from solver.importing.quotes import Findings
from solver.importing.tables import Source
from tests.importing.lists import AWS, GCP, GPUHUNT, LAMBDA, PRIME, SHADEFORM, write

CATALOG = load_catalog(environment={})
ODD = (
    *("", " ", "0", "-1", "nan", "inf", "1e400", "9" * 400, "1e-9", "0.5", "1000000"),
    *("true", "東京", "#", "/", "../..", "a/b/c", "'", "\x00", "é" * 500, "2e6", "-"),
    *("A100", "tpu-v5", "US", "[]", "{}", "NULL", "None", "1,5", "$3.00"),
)
TABLES = {
    "aws": ("skypilot", AWS),
    "gcp": ("skypilot", GCP),
    "lambda": ("skypilot", LAMBDA),
    "primeintellect": ("skypilot", PRIME),
    "shadeform": ("skypilot", SHADEFORM),
    "hunted": ("gpuhunt", GPUHUNT),
}


def spoiled(table: str, chance: random.Random) -> str:
    """Return a table some of whose cells are replaced by odd ones."""
    lines = table.splitlines()
    for _ in range(chance.randint(1, 6)):
        number = chance.randint(1, len(lines) - 1)
        cells = lines[number].split(",")
        cells[chance.randrange(len(cells))] = f'"{chance.choice(ODD)}"'
        lines[number] = ",".join(cells)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", TABLES)
def test_odd_cells(tmp_path: Path, name: str) -> None:
    """Tests that entries are valid, or the table is refused with its faults."""
    tool, table = TABLES[name]
    chance = random.Random(name)
    made = 0
    for number in range(120):
        file = write(tmp_path, f"{number}.csv", spoiled(table, chance))
        findings = Findings()
        try:
            TOOLS[tool](Source(file, file.name, name), findings)
        except InputError as error:
            assert all(issue.code and issue.where for issue in error.issues)
            continue
        stamp = Stamp("test", "2026-10")
        overlay = overlay_of([(q, stamp) for q in findings.quotes], CATALOG, findings)
        for model, entries in (
            (Offer, overlay.offers),
            (Server, overlay.servers),
            (Region, overlay.regions),
        ):
            for entry in entries:
                model.model_validate(entry.model_dump(by_alias=True))
                made += 1
        servers = {**CATALOG.servers, **{s.id: s for s in overlay.servers}}
        regions = {*CATALOG.regions, *(r.id for r in overlay.regions)}
        for offer in overlay.offers:
            assert servers[offer.server].provider == offer.provider
            assert offer.region in regions
            assert offer.usd_per_node_hour > 0
    assert made > 50

"""Small price lists in the forms of the tools, written for the tests.

Columns and their order are those of the tools' own files, which differ from cloud to
cloud; prices are of the size of real ones.
"""

import json
import os
from pathlib import Path
from typing import Any

from solver.importing.prices import ImportOptions, PriceImport, import_prices
from tests.project.source import ROOT

LISTS = ROOT / "tests" / "data" / "price_lists"


def text_of(name: str) -> str:
    """Return the text of a price list."""
    return (LISTS / name).read_text(encoding="utf-8")


AWS = text_of("skypilot/aws/vms.csv")
GCP = text_of("skypilot/gcp/vms.csv")
LAMBDA = text_of("skypilot/lambda/vms.csv")
PRIME = text_of("skypilot/primeintellect/vms.csv")
SHADEFORM = text_of("skypilot/shadeform/vms.csv")
GPUHUNT = text_of("gpuhunt/gcp.csv")
VANTAGE: list[dict[str, Any]] = json.loads(text_of("vantage/instances.json"))


def write(folder: Path, name: str, content: object) -> Path:
    """Write a price list, last changed on 2026-10-05."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, encoding="utf-8")
    os.utime(file, (1_791_201_600, 1_791_201_600))
    return file


def imported(
    folder: Path, tool: str, name: str, content: object, **options: Any
) -> PriceImport:
    """Import one price list into ``folder/out``."""
    file = write(folder, name, content)
    return import_prices(tool, [file], folder / "out", ImportOptions(**options))


def skipped(done: PriceImport) -> dict[str, list[str]]:
    """Return what was left out, by reason."""
    found: dict[str, list[str]] = {}
    for remark in done.findings.skipped:
        found.setdefault(remark.reason, []).append(remark.what)
    return found


def prices(done: PriceImport) -> dict[str, float]:
    """Return the price of each offer."""
    return {offer.id: offer.usd_per_node_hour for offer in done.overlay.offers}

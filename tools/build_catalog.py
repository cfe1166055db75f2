"""Convert gathered facts into the catalog's own files.

    python tools/build_catalog.py --facts FACTS --out catalog

Writes everything but what people write by hand: frameworks, optimizers, calibration and
the catalog's README stay as they are. Notes are shortened in our own words; coordinates
of regions are not taken over because of their licence.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from catalog_facts.distances import build_egress, build_round_trips
from catalog_facts.failures import build_failure_rates
from catalog_facts.gpus import build_gpus
from catalog_facts.models import build_architectures
from catalog_facts.offers import build_offers
from catalog_facts.places import build_regions
from catalog_facts.servers import build_servers
from catalog_facts.storage import build_storage
from catalog_facts.tiers import build_intra_node, build_networks
from catalog_facts.writing import rows

WRITTEN = ("gpus", "networks", "storage", "offers", "architectures")
"""Folders that are emptied first."""


def main() -> None:
    """Run the conversion and print what was written."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--facts", type=Path, required=True, help="folder of the facts")
    parser.add_argument("--out", type=Path, required=True, help="the catalog's folder")
    arguments = parser.parse_args()
    counts = build(arguments.facts, arguments.out)
    sys.stdout.write(json.dumps(counts, indent=2) + "\n")


def build(facts: Path, out: Path) -> dict[str, object]:
    """Write the catalog; return counts of what was written."""
    out.mkdir(exist_ok=True)
    for name in WRITTEN:
        shutil.rmtree(out / name, ignore_errors=True)
    gpus = build_gpus(facts, out)
    networks = build_networks(out)
    tiers = build_intra_node(facts, out)
    offers = rows(facts, "offers.csv")
    servers = build_servers(offers, gpus, tiers, out)
    return {
        "gpus": len(gpus),
        "networks": len(networks),
        "intra_node": len(tiers),
        "servers": len(servers),
        "offers": build_offers(offers, out),
        "storage": build_storage(facts, out),
        "regions": len(build_regions(facts, out)),
        "egress": build_egress(facts, out),
        "round_trips": build_round_trips(facts, out),
        "failure_rates": build_failure_rates(out),
        "architectures": build_architectures(facts, out),
    }


if __name__ == "__main__":
    main()

"""Tests that each check of a catalog finds what it is for."""

from pathlib import Path

import pytest

from solver.catalog.consistency import CHECKS, WARNINGS, check_catalog, faults_of
from solver.catalog.load import load_catalog
from tests.catalog.small import copy_of_small, small_catalog

DEFECTS = [
    # file, text, replaced by, code, end of the place
    (
        "servers.csv",
        "8x-small-a,,small-a",
        "8x-small-a,,small-x",
        "unknown-reference",
        "2:13",
    ),
    ("servers.csv", "fabric-400,1600", "fabric-40,1600", "unknown-reference", "2:47"),
    ("offers/acme.csv", "acme/island", "acme/iland", "unknown-reference", "4:1"),
    ("regions.csv", "East,US", "East,UX", "unknown-reference", "2:16"),
    ("gpus/small-a.yaml", 'as_of: "2026-01"', "as_of: lately", "missing-date", "14:8"),
    (
        "gpus/small-a.yaml",
        "\nsource: made up",
        '\nsource: " "',
        "missing-source",
        "13:9",
    ),
    ("gpus/small-b.yaml", "aliases: [SB]", "aliases: [sa]", "ambiguous-alias", "3:1"),
    ("gpus/small-a.yaml", "gib: 39", "gib: 41", "impossible-value", "6:20"),
    (
        "gpus/small-b.yaml",
        "fp8_tflops: 2000",
        "fp8_tflops: 20",
        "impossible-value",
        "1:1",
    ),
    (
        "servers.csv",
        "switched,nvswitch,300",
        "switched,pcie,300",
        "impossible-value",
        "2:1",
    ),
    ("servers.csv", "nvswitch,300,8", "nvswitch,300,4", "impossible-value", "2:1"),
    ("servers.csv", "nvswitch,300,8", "nvswitch,0,8", "impossible-value", "2:1"),
    ("servers.csv", "fabric-400,1600", ",1600", "impossible-value", "2:1"),
    (
        "storage/shared.yaml",
        "kind:",
        "aggregate_read_gb_per_s: 1\nkind:",
        "impossible-value",
        "1:1",
    ),
    (
        "servers.csv",
        "8x-small-b,,small-b",
        "8x-small-b,,small-a",
        "duplicate-standard",
        "3:1",
    ),
    (
        "gpus/small-b.yaml",
        "fp8_tflops: 2000",
        "fp8_tflops: 20000",
        "impossible-value",
        "11:13",
    ),
    ("servers.csv", "nvswitch,300,8", "nvswitch,900,8", "impossible-value", "2:41"),
    (
        "intra_node.yaml",
        "efficiency: 0.75",
        "efficiency: 0.75, bus_8_gb_per_s: 9999",
        "impossible-value",
        "2:93",
    ),
    (
        "failure_rates.csv",
        "0.00001,0.0001",
        "0.001,0.0001",
        "impossible-value",
        "2:26",
    ),
    ("failure_rates.csv", "0.0001,made", "0.00001,made", "impossible-value", "2:34"),
    ("failure_rates.csv", ",0.0004,", ",,", "impossible-value", "3:27"),
    ("gpus/small-a.yaml", 'as_of: "2026-01"', "as_of: 2026-13", "missing-date", "14:8"),
    (
        "offers/acme.csv",
        "island,8x-small-b,spot,12",
        "east,8x-small-b,spot,24",
        "spot-not-cheaper",
        "4:27",
    ),
]


def test_the_small_catalog_has_no_faults():
    """Tests that the checks are silent on a catalog that fits together."""
    assert check_catalog(small_catalog()) == []


@pytest.mark.parametrize(("file", "old", "new", "code", "place"), DEFECTS)
def test_each_defect_is_found(tmp_path, file, old, new, code, place):
    """Tests that one change of one file is told with its code and place."""
    folder = copy_of_small(tmp_path)
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    issues = check_catalog(load_catalog([folder], shipped=False))
    found = [issue for issue in issues if issue.code == code]
    assert found, issues
    assert found[0].where == f"{folder}/{file}:{place}"


def test_another_providers_server_is_told(tmp_path):
    """Tests that an offer's region and server belong to its provider."""
    folder = copy_of_small(tmp_path)
    path = folder / "servers.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("8x-small-b,,", "8x-small-b,other,"), encoding="utf-8")
    issues = check_catalog(load_catalog([folder], shipped=False))
    assert [(issue.code, issue.where) for issue in issues] == [
        ("wrong-provider", f"{folder}/offers/acme.csv:{line}:1") for line in (3, 4)
    ]


def test_an_id_in_capitals_is_told(tmp_path):
    """Tests that ids are lower case."""
    folder = copy_of_small(tmp_path)
    (folder / "gpus/small-a.yaml").rename(folder / "gpus/Small_C.yaml")
    issues = check_catalog(load_catalog([folder], shipped=False))
    assert ("wrong-id", "Small_C") in [(issue.code, issue.path) for issue in issues]


def test_prices_far_from_their_peers_are_told(tmp_path):
    """Tests that a price in cents among prices in dollars is found, and no other."""
    folder = copy_of_small(tmp_path)
    rows = ["region,server,purchase,usd_per_node_hour,source,as_of,id"]
    rows += [
        f"acme/east,8x-small-a,on_demand,{price},made up,2026-01,{price}"
        for price in (8, 9, 10, 12, 880)
    ]
    (folder / "offers/acme.csv").write_text("\n".join(rows), encoding="utf-8")
    (issue,) = check_catalog(load_catalog([folder], shipped=False))
    assert (issue.code, issue.path) == ("price-outlier", "880")
    assert "$110.00 a GPU-hour" in issue.message
    assert issue.where == f"{folder}/offers/acme.csv:6:32"


def test_every_check_is_named_after_a_problem():
    """Tests that checks are found by their names, and that warnings are few."""
    assert all(check.__name__.startswith("check_") for check in CHECKS)
    assert len(WARNINGS) == 7


def test_own_folders_are_checked_and_the_shipped_one_is_not(tmp_path: Path) -> None:
    """Tests that an offer of a server that nobody knows is told with its line."""
    assert faults_of(load_catalog()) == []
    (tmp_path / "offers").mkdir()
    (tmp_path / "offers" / "mine.csv").write_text(
        "region,server,purchase,usd_per_node_hour,source,as_of\n"
        "aws/us-east-1,no-such-server,on_demand,10,me,2026-11\n"
    )
    (fault,) = faults_of(load_catalog([tmp_path]))
    assert fault.code == "unknown-reference"
    assert fault.where is not None
    assert "mine.csv:2" in fault.where


@pytest.mark.parametrize(
    ("purchase", "term", "nodes", "cluster", "field"),
    [
        ("reserved", "", "", "", "min_term_hours"),
        ("spot", "720", "", "", "min_term_hours"),
        ("owned", "720", "", "", "min_term_hours"),
        ("on_demand", "720", "8", "4", "min_nodes"),
        ("reserved", "8760", "4", "4", None),
    ],
)
def test_terms_that_contradict_are_told(
    tmp_path, purchase, term, nodes, cluster, field
):
    """Tests reserved without a term, a term where there is none, and fabrics."""
    folder = copy_of_small(tmp_path)
    rows = [
        "region,server,purchase,usd_per_node_hour,min_term_hours,min_nodes,"
        "max_nodes_per_cluster,source,as_of",
        f"acme/east,8x-small-a,{purchase},6,{term},{nodes},{cluster},made up,2026-01",
    ]
    (folder / "offers/acme.csv").write_text("\n".join(rows), encoding="utf-8")
    issues = check_catalog(load_catalog([folder], shipped=False))
    told = [(issue.code, (issue.path or "").rsplit(".", 1)[-1]) for issue in issues]
    assert told == ([("impossible-value", field)] if field else [])
